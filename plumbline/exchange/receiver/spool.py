"""The spool: one line of OTLP JSON a request, on disk before anybody is told that it arrived."""

from __future__ import annotations

import json
import os
import queue
import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError, PlumblineError, RunError

__all__ = ["SPOOL_FILE", "WAITING_BYTES", "Spool", "SpoolFullError"]

SPOOL_FILE = "spool.jsonl"
WAITING_BYTES = 256 * 2**20
"""Bytes of requests that may wait for the disk, unless told otherwise."""
_MOST_AT_ONCE = 256
_STOP = object()


class SpoolFullError(PlumblineError):
    """More requests are waiting to be written than the spool takes; the sender should try again."""


class Spool:
    """Requests on their way to the disk; one thread writes, many wait.

    Requests that arrive while the disk is busy are written together, with one ``fsync`` for all. A line that a kill
    left half written was never acknowledged; it is cut off when the spool is opened again.

    Parameters
    ----------
    folder : Path
        Folder of the run; made if it is not there.
    waiting : int
        Requests that may wait at most, at least 1.
    waiting_bytes : int
        Bytes of requests that may wait at most, at least 1; one request alone always may.

    Raises
    ------
    ParameterError
        A number that is not a whole number of at least 1.
    RunError
        Another process holds the spool.
    """

    def __init__(self, folder: Path, *, waiting: int = 1000, waiting_bytes: int = WAITING_BYTES) -> None:
        for name, value in (("waiting", waiting), ("waiting_bytes", waiting_bytes)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"{name} must be a whole number of at least 1; found {value!r}")
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / SPOOL_FILE
        self.lines = 0
        self.cut_off = 0
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._hold()
            self._mend()
            self._keep_name()
        except BaseException:
            os.close(self._file)
            raise
        self._most_bytes, self._bytes, self._counting = waiting_bytes, 0, threading.Lock()
        self._whole: int | None = None
        self._queue: queue.Queue[Any] = queue.Queue(maxsize=waiting)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write, name="plumbline-spool", daemon=True)
        self._thread.start()

    def _hold(self) -> None:
        try:
            import fcntl
        except ModuleNotFoundError:  # no such locks on this system
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(
                f"another process receives into {self.path.parent}; end it, or name another folder"
            ) from None

    def _keep_name(self) -> None:
        """Make the file's name as durable as its lines; a system whose folders cannot be opened does it by itself."""
        for folder in (self.path.parent, self.path.parent.parent):
            with suppress(OSError):
                place = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(place)
                finally:
                    os.close(place)

    def _mend(self) -> None:
        """Cut off a half-written last line, and count the whole ones."""
        whole = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                self.lines += 1
        size = os.fstat(self._file).st_size
        self.cut_off = size - whole
        if self.cut_off:
            os.ftruncate(self._file, whole)
            os.fsync(self._file)
        os.lseek(self._file, 0, os.SEEK_END)

    def add(self, request: dict[str, Any]) -> Future[None]:
        """Queue one request; the future is done when it is durable.

        Raises
        ------
        SpoolFullError
            Too many are waiting, or the spool is closing.
        """
        if self._closing.is_set():
            raise SpoolFullError("the receiver is stopping")
        line = json.dumps(request, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        done: Future[None] = Future()
        with self._counting:
            if self._bytes and self._bytes + len(line) > self._most_bytes:
                raise SpoolFullError("too many bytes are waiting to be written")
            try:
                self._queue.put_nowait((line, done))
            except queue.Full:
                raise SpoolFullError("too many requests are waiting to be written") from None
            self._bytes += len(line)
        return done

    @property
    def waiting_bytes(self) -> int:
        """Bytes of requests that are not yet on disk."""
        with self._counting:
            return self._bytes

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._queue.put(_STOP)
        self._thread.join()
        os.close(self._file)

    def _write(self) -> None:
        while True:
            first = self._queue.get()
            batch = [first]
            while len(batch) < _MOST_AT_ONCE:
                try:
                    batch.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            stop = _STOP in batch
            self._commit([one for one in batch if one is not _STOP])
            if stop:
                return

    def _commit(self, batch: list[tuple[bytes, Future[None]]]) -> None:
        if not batch:
            return
        try:
            self._to_disk(b"".join(line for line, _ in batch))
        except OSError as error:
            for _, done in batch:
                done.set_exception(error)
        else:
            self.lines += len(batch)
            for _, done in batch:
                done.set_result(None)
        finally:
            with self._counting:
                self._bytes -= sum(len(line) for line, _ in batch)

    def _to_disk(self, text: bytes) -> None:
        """Append and sync; what fails leaves no byte, at the latest before the next that succeeds."""
        if self._whole is not None:
            self._cut_back(self._whole)
        before = os.lseek(self._file, 0, os.SEEK_CUR)
        self._whole = before
        try:
            while text:
                text = text[os.write(self._file, text) :]
            os.fsync(self._file)
        except OSError:
            with suppress(OSError):  # the next batch tries again before it writes
                self._cut_back(before)
            raise
        self._whole = None

    def _cut_back(self, size: int) -> None:
        os.ftruncate(self._file, size)
        os.lseek(self._file, size, os.SEEK_SET)
        self._whole = None
