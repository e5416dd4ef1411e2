"""Opened input: a file, a folder, bytes or a Python object; every fault is named with its byte and its line."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Final

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError, TraceFormatError
from plumbline.exchange.salvage import salvaged

__all__ = ["NO_JSON", "NO_VALUE", "Source", "open_source"]

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_PIECE = 1 << 20
LENIENT = "Mend the file, or pass strict=False to keep what is whole."


class _Sign:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


NO_VALUE: Final = _Sign("NO_VALUE")
"""`Source.value` of a file: there is no Python object."""
NO_JSON: Final = _Sign("NO_JSON")
"""`Source.peek()` of what is not JSON: protobuf, a zip file, a folder."""


class Source:
    """One input of ``read_traces``.

    Parameters
    ----------
    name : str
        File name, or what stands for it in messages.
    path : Path, optional
        The file or folder.
    data : bytes, optional
        Content, where there is no file.
    value : object
        A Python object, where there is neither.
    strict : bool
        Whether malformed input is refused; otherwise what is whole is kept and `broken` says what was left out.

    Examples
    --------
    >>> source = Source("two lines", data=b'{"a": 1}\\n{"a": 2}\\n')
    >>> [(offset, line, value["a"]) for offset, line, value in source.records()]
    [(0, 1, 1), (9, 2, 2)]
    """

    def __init__(
        self,
        name: str,
        *,
        path: Path | None = None,
        data: bytes | None = None,
        value: object = NO_VALUE,
        strict: bool = True,
    ) -> None:
        self.name, self.path, self.value, self.strict = name, path, value, strict
        self._data = data
        self._broken: dict[int, TraceFormatError] = {}

    @property
    def broken(self) -> list[TraceFormatError]:
        """What was left out because it was not whole; empty unless `strict` is False."""
        return [self._broken[byte] for byte in sorted(self._broken)]

    @property
    def is_folder(self) -> bool:
        """Say whether this is a folder."""
        return self.path is not None and self.path.is_dir()

    @property
    def is_object(self) -> bool:
        """Say whether this is a Python object."""
        return self.value is not NO_VALUE

    @cached_property
    def digest(self) -> str | None:
        """Digest of the file as stored, as ``sha256:…``; of an object its canonical JSON, None if it has none."""
        if self.is_folder:
            return None
        if self.is_object:
            try:
                return f"sha256:{hashlib.sha256(canonical_json(self.value).encode()).hexdigest()}"
            except (ValueError, TypeError, RecursionError):
                return None
        found = hashlib.sha256()
        with self._raw() as file:
            while piece := file.read(_PIECE):
                found.update(piece)
        return f"sha256:{found.hexdigest()}"

    @cached_property
    def data(self) -> bytes:
        """The whole content, decompressed.

        Raises
        ------
        TraceFormatError
            A gzip file is cut off or damaged, or this is no file.
        """
        with self.open() as file:
            return self._read(file, 0, -1)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, decompressed."""
        if self.is_object or self.is_folder:
            return b""
        with self.open() as file:
            return self._read(file, 0, 1 << 16)

    def open(self) -> BinaryIO:
        """Open the content for reading, decompressed."""
        if self.is_object or self.is_folder:
            raise TraceFormatError("a file is needed here", source=self.name)
        raw = self._raw()
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        return gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[return-value]

    def fault(self, what: str, *, byte: int | None = None, line: int | None = None, mend: str = "") -> TraceFormatError:
        """Return an error that names this source."""
        return TraceFormatError(what, source=self.name, byte=byte, line=line, mend=mend)

    def leave_out(self, error: TraceFormatError) -> None:
        """Note what a reader left out because it was not whole."""
        self._broken.setdefault(error.byte or 0, error)

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Give byte offset, line number and bytes of each line that is not blank, reading piece by piece."""
        offset = number = 0
        with self.open() as file:
            while line := self._read_line(file, offset):
                number += 1
                start = len(_BOM) if offset == 0 and line.startswith(_BOM) else 0
                text = line[start:].rstrip(b"\r\n")
                if text.strip():
                    yield offset + start, number, text
                offset += len(line)

    def records(self, *, exact: bool = True) -> Iterator[tuple[int, int, Any]]:
        """Give byte offset, line number and JSON value of each line; one value an item of an object that is a list.

        Raises
        ------
        TraceFormatError
            A line is not JSON. With ``strict=False`` it is left out and stands in `broken`.
        """
        if self.is_object:
            values = self.value if isinstance(self.value, list | tuple) else [self.value]
            yield from ((place, place + 1, value) for place, value in enumerate(values))
            return
        for offset, number, text in self.lines():
            try:
                value = self.parse(text, offset, number, exact=exact)
            except TraceFormatError as error:
                if self.strict:
                    raise
                self._broken[offset] = error
                continue
            yield offset, number, value

    def json(self, *, exact: bool = True) -> Any:
        """Return the content as one JSON value; of an object, the object.

        Parameters
        ----------
        exact : bool
            Numbers with a point become ``Decimal`` and a key twice is refused. False reads faster where no number
            matters beyond what a double holds.

        Raises
        ------
        TraceFormatError
            Not JSON, or cut off. With ``strict=False`` the whole items of a list that is cut off are kept.
        """
        if self.is_object:
            return self.value
        try:
            return self._exact if exact else self._fast
        except TraceFormatError as error:
            if self.strict or not self._start.startswith(b"["):
                raise
            self._broken[error.byte or 0] = error
            return self.rescued()

    def rescued(self, *, within: Collection[str] = ()) -> Any:
        """Return what is whole of a JSON text that is cut off: items of the list, and of lists under these keys.

        None if nothing is whole; a record that is cut off is never kept.
        """
        value, end = salvaged(self._spelled, within=within)
        self._broken.setdefault(end, self.fault("the text ends inside a value", byte=end))
        return value

    def peek(self) -> Any:
        """Return the JSON value, or of JSON lines the first one; ``NO_JSON`` for anything else."""
        if self.is_object:
            return self.value
        if not self._start.startswith((b"{", b"[")):
            return NO_JSON
        if self.is_lines:
            return next(iter(self.records()), (0, 1, NO_JSON))[2]
        try:
            return self._fast
        except TraceFormatError:
            if self.strict:
                raise
            return salvaged(self._spelled, within=None)[0]

    @cached_property
    def is_lines(self) -> bool:
        """Say whether this holds several JSON values, one a line."""
        if self.is_object or not self._start.startswith((b"{", b"[")):
            return False
        found = self.lines()
        first = next(found, None)
        if first is None or next(found, None) is None:
            return False
        try:
            self.parse(first[2], first[0], first[1])
        except TraceFormatError as error:
            text = first[2].rstrip()
            return error.byte is not None and error.byte < first[0] + len(text) and text.endswith((b"}", b"]"))
        return True

    def parse(self, text: bytes, offset: int = 0, line: int | None = 1, *, exact: bool = True) -> Any:
        """Parse one JSON value that stands at a byte offset.

        Raises
        ------
        TraceFormatError
            Not JSON; names the byte.
        """
        if not exact:
            fast = _fast_parser()
            if fast is not None:
                try:
                    return fast(text)
                except ValueError:
                    pass  # the exact parser decides, and says where
        try:
            spelled = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fault(
                "the bytes are not UTF-8", byte=offset + error.start, line=line, mend="Trace files are UTF-8."
            ) from None
        try:
            return parse_json(spelled)
        except json.JSONDecodeError as error:
            at = offset + len(spelled[: error.pos].encode())
            inside = line if line is None else line + spelled.count("\n", 0, error.pos)
            cut = not spelled[error.pos :].strip() or error.msg.startswith("Unterminated string")
            what = f"cut off inside a JSON value ({error.msg})" if cut else f"not JSON ({error.msg})"
            if cut:
                at = offset + len(text)
            raise self.fault(what, byte=at, line=inside, mend=LENIENT) from None
        except RecursionError:
            raise self.fault("nested too deeply to read", byte=offset, line=line) from None
        except ValueError as error:
            raise self.fault(f"JSON that cannot be read without loss ({error})", byte=offset, line=line) from None

    @cached_property
    def _start(self) -> bytes:
        return self.head.removeprefix(_BOM).lstrip()

    @property
    def _spelled(self) -> str:
        return self.data.decode("utf-8", "replace").removeprefix("\ufeff")

    @cached_property
    def _exact(self) -> Any:
        return self._whole(True)

    @cached_property
    def _fast(self) -> Any:
        return self._whole(False)

    def _whole(self, exact: bool) -> Any:
        text = self.data
        start = len(_BOM) if text.startswith(_BOM) else 0
        if not text[start:].strip():
            raise self.fault("the file is empty", byte=0, mend="Nothing was recorded in it.")
        return self.parse(text[start:], start, exact=exact)

    def _raw(self) -> BinaryIO:
        if self.path is not None:
            return self.path.open("rb")
        return io.BytesIO(self._data or b"")

    def _read(self, file: BinaryIO, offset: int, size: int) -> bytes:
        try:
            return file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._torn(error) from None

    def _read_line(self, file: BinaryIO, offset: int) -> bytes:
        try:
            return file.readline()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            torn = self._torn(error)
            if self.strict:
                raise torn from None
            self._broken[offset] = torn
            return b""

    def _torn(self, error: Exception) -> TraceFormatError:
        with self._raw() as raw:
            size = raw.seek(0, io.SEEK_END)
        what = "the gzip file is cut off" if isinstance(error, EOFError) else f"the gzip file is damaged ({error})"
        return self.fault(what, byte=size if isinstance(error, EOFError) else None, mend=LENIENT)


def open_source(given: object, *, strict: bool = True) -> Source:
    """Open a path, bytes or a Python object as a source.

    Raises
    ------
    NotFoundError
        There is no such file or folder.

    Examples
    --------
    >>> open_source({"messages": []}).peek()
    {'messages': []}
    """
    if isinstance(given, Source):
        return given
    if isinstance(given, str | Path):
        path = Path(given)
        if not path.exists():
            raise NotFoundError(f"there is no file or folder {str(given)!r}; give a path, bytes, or the parsed object")
        return Source(path.name or str(path), path=path, strict=strict)
    if isinstance(given, bytes | bytearray):
        return Source("bytes", data=bytes(given), strict=strict)
    kind = "object" if isinstance(given, Mapping) else type(given).__name__
    return Source(f"({kind})", value=given, strict=strict)


def _fast_parser() -> Any:
    try:
        import orjson
    except ImportError:
        return None
    return orjson.loads
