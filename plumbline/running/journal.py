"""The journal of a study: one line a finished trial, on disk before the trial counts as finished.

A killed process leaves at most one torn line at the end, which the next one cuts off. Lines are only ever added; if a
trial stands twice, the later line counts. One process at a time may write.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plumbline.base.errors import RunError
from plumbline.running.trial import TrialRecord

__all__ = ["Journal"]


class Journal:
    """Appends trial records durably; safe to use from several threads.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there.
    seal : str
        Digest of the sealed plan. It stands on the first line, so no journal serves another plan.

    Raises
    ------
    RunError
        Another process is writing to it, it belongs to another plan, or a line inside it cannot be read.
    """

    def __init__(self, path: Path, *, seal: str) -> None:
        self.path, self.seal = path, seal
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._mend()
        except BlockingIOError:
            os.close(self._file)
            raise RunError(f"{path}: another process is running this study; wait for it or stop it") from None
        except BaseException:
            os.close(self._file)
            raise
        self._state = threading.Condition()
        self._written = self._synced = 0
        self._syncing = False

    def _mend(self) -> None:
        """Cut a torn line off; write or check the first line."""
        size = os.fstat(self._file).st_size
        keep = _whole(self._file, size)
        if keep < size:
            os.ftruncate(self._file, keep)
        if keep == 0:
            self._write(json.dumps({"seal": self.seal}).encode() + b"\n")
            os.fsync(self._file)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            return
        with open(self.path, encoding="utf-8") as file:
            found = _parsed(self.path, 1, file.readline()).get("seal")
        if found != self.seal:
            raise RunError(f"{self.path} belongs to the plan {found}, not to {self.seal}; name another folder")

    def append(self, record: TrialRecord) -> None:
        """Write one trial and return when it is on the disk; threads that come together share one sync."""
        line = _line(record)
        with self._state:
            self._write(line)
            self._written += 1
            mine = self._written
            while self._syncing and self._synced < mine:
                self._state.wait()
            if self._synced >= mine:
                return
            self._syncing, upto = True, self._written
        try:
            os.fsync(self._file)
        finally:
            with self._state:
                self._syncing, self._synced = False, max(self._synced, upto)
                self._state.notify_all()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]

    def statuses(self) -> dict[str, str]:
        """Return the status of every trial in the journal; the last line of a trial counts."""
        return {record.trial["trial_id"]: record.trial["status"] for record in self.records()}

    def records(self) -> Iterator[TrialRecord]:
        """Yield every line, one at a time, also those that a later line of the same trial replaces."""
        with open(self.path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                values = _parsed(self.path, number, text)
                if number == 1:
                    continue
                effects = values.get("effects")
                yield TrialRecord(
                    values["trial"], tuple(values["steps"]), None if effects is None else tuple(effects),
                    tuple(values.get("attempts", ())),
                )  # fmt: skip

    def close(self) -> None:
        """Let another process in."""
        os.close(self._file)


def _line(record: TrialRecord) -> bytes:
    values: dict[str, Any] = {"trial": _told(record.trial), "steps": [_told(step) for step in record.steps]}
    if record.effects is not None:
        values["effects"] = list(record.effects)
    if record.attempts:
        values["attempts"] = list(record.attempts)
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def _told(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _parsed(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
        if isinstance(values, dict):
            return values
    except ValueError:
        pass
    raise RunError(f"{path} line {number} is not a line of a journal; restore the file, or run the study anew")


def _whole(file: int, size: int) -> int:
    """Return how many bytes there are up to the last end of a line."""
    end = size
    while end > 0:
        start = max(0, end - 65536)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
