"""The arguments of calls, read for one tool's rows at a time: from JSON text, or from typed Arrow columns.

Every reader answers with a column over the rows it was asked for: either codes into the distinct values, or numbers.
``MISSING`` and ``UNREAD`` are told apart throughout: an argument that is not there is a fact about the agent, arguments
that could not be read are a fact about the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError

__all__ = ["MISSING", "UNREAD", "Coded", "JsonArguments", "Numbers", "Reader", "Selection", "TypedArguments"]

MISSING, UNREAD = -1, -2
"""Codes of an argument that is absent, and of one that could not be read."""


@dataclass(frozen=True)
class Coded:
    """One argument on some rows, as codes into its distinct values; negative codes are MISSING and UNREAD."""

    codes: np.ndarray
    values: list[Any]


@dataclass(frozen=True)
class Numbers:
    """One argument on some rows, as float64 or int64; `absent` is None or holds 0, MISSING or UNREAD a row."""

    values: np.ndarray
    absent: np.ndarray | None

    def coded(self) -> Coded:
        """Return the same column as codes into its distinct values."""
        values, codes = np.unique(self.values, return_inverse=True)
        codes = codes.astype(np.int32)
        if self.absent is not None:
            codes = np.where(self.absent < 0, self.absent, codes).astype(np.int32)
        return Coded(codes, [as_json(value) for value in values.tolist()])


class Selection(Protocol):
    """The arguments of the rows that were asked for."""

    def column(self, name: str) -> Coded | Numbers:
        """Return one argument on these rows."""

    def whole(self) -> tuple[np.ndarray, Callable[[int], dict[str, Any]]]:
        """Return a code a row for its whole arguments, or UNREAD, and how to make fresh arguments from a code."""


class Reader(Protocol):
    """Where the arguments of all steps of a run are."""

    def select(self, rows: np.ndarray) -> Selection:
        """Return the arguments of some rows."""


class JsonArguments:
    """Arguments as JSON text; each distinct text of the rows asked for is parsed once.

    Parameters
    ----------
    texts : Array of str
        A JSON object or null a row.
    partial : array of bool, optional
        Rows of which some part could not be read: what is there is judged, what is not there is unread.
    """

    def __init__(self, texts: pa.Array, partial: np.ndarray | None = None) -> None:
        self.texts = texts
        self.partial = partial

    def select(self, rows: np.ndarray) -> _JsonSelection:
        """Return the arguments of some rows."""
        encoded = self.texts.take(pa.array(rows)).dictionary_encode()
        codes = np.asarray(encoded.indices.fill_null(UNREAD), dtype=np.int32)
        return _JsonSelection(
            codes, encoded.dictionary.to_pylist(), None if self.partial is None else self.partial[rows]
        )


@dataclass(frozen=True)
class _JsonSelection:
    codes: np.ndarray
    texts: list[str]
    partial: np.ndarray | None

    @cached_property
    def _read(self) -> tuple[np.ndarray, list[dict[str, Any]]]:
        parsed = [_object(text) for text in self.texts]
        unread = np.array([p is None for p in parsed] + [True, True])  # codes -1 and -2 look at the end
        codes = np.where(unread[self.codes], UNREAD, self.codes) if unread[:-2].any() else self.codes
        return codes, [p or {} for p in parsed]

    def column(self, name: str) -> Coded:
        codes, parsed = self._read
        values: list[Any] = []
        of_text = np.full(len(parsed) + 2, UNREAD, np.int32)
        for i, arguments in enumerate(parsed):
            of_text[i] = len(values) if name in arguments else MISSING
            if name in arguments:
                values.append(arguments[name])
        found = of_text[codes]
        if self.partial is not None:
            found = np.where(self.partial & (found == MISSING), UNREAD, found)
        return Coded(found, values)

    def whole(self) -> tuple[np.ndarray, Callable[[int], dict[str, Any]]]:
        codes = self._read[0]
        if self.partial is not None:
            codes = np.where(self.partial, UNREAD, codes)
        return codes, lambda code: parse_json(self.texts[code])


class TypedArguments:
    """Arguments as one typed Arrow column each.

    A column cannot tell null from absent: a null counts as MISSING. A float is the number it is written as.

    Parameters
    ----------
    columns : mapping of str to Array
        Whole numbers, float64, decimals, booleans, text (plain or dictionary), lists or structs.
    valid : array of bool, optional
        False on rows whose arguments were not read at all.
    """

    def __init__(self, columns: Mapping[str, pa.Array], valid: np.ndarray | None = None) -> None:
        for name, column in columns.items():
            if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
                raise ParameterError(f"argument {name!r} is {column.type}; cast it to float64 or decimal first")
        self.columns = dict(columns)
        self.valid = valid
        self._present: dict[str, np.ndarray | None] = {}

    @classmethod
    def from_struct(cls, struct: pa.StructArray) -> TypedArguments:
        """Read the fields of a struct column; a null struct is unread."""
        columns = {field.name: struct.field(i) for i, field in enumerate(struct.type)}
        valid = np.asarray(struct.is_valid()) if struct.null_count else None
        return cls(columns, valid)

    def select(self, rows: np.ndarray) -> _TypedSelection:
        """Return the arguments of some rows."""
        return _TypedSelection(self, rows, None if self.valid is None else ~self.valid[rows])

    def absent(self, name: str, rows: np.ndarray) -> np.ndarray | None:
        """Return which rows hold a null in a column, None if none does."""
        if name not in self._present:
            array = self.columns[name]
            self._present[name] = not_null(array) if array.null_count else None
        present = self._present[name]
        if present is None or (found := present.take(rows)).all():
            return None
        return ~found


@dataclass(frozen=True)
class _TypedSelection:
    source: TypedArguments
    rows: np.ndarray
    unread: np.ndarray | None

    def column(self, name: str) -> Coded | Numbers:
        array = self.source.columns.get(name)
        if array is None:
            return Coded(self._mark(np.full(self.rows.size, MISSING, np.int32)), [])
        absent = self.source.absent(name, self.rows)
        if pa.types.is_float64(array.type) or (pa.types.is_integer(array.type) and array.type != pa.uint64()):
            values = fixed_width(array).take(self.rows)
            if values.dtype != np.float64:
                values = values.astype(np.int64, copy=False)
            if absent is None and self.unread is None:
                return Numbers(values, None)
            state = np.zeros(self.rows.size, np.int8)
            if absent is not None:
                state[absent] = MISSING
            return Numbers(values, self._mark(state))
        if pa.types.is_dictionary(array.type):
            codes, values = fixed_width(array.indices).take(self.rows).astype(np.int32, copy=False), array.dictionary
        else:
            codes, values = _distinct(array.take(pa.array(self.rows)))
        if absent is not None:
            codes = np.where(absent, MISSING, codes).astype(np.int32)
        return Coded(self._mark(codes), [as_json(value) for value in values.to_pylist()])

    def whole(self) -> tuple[np.ndarray, Callable[[int], dict[str, Any]]]:
        codes = self._mark(np.arange(self.rows.size, dtype=np.int64))

        def make(code: int) -> dict[str, Any]:
            row = int(self.rows[code])
            cells = {name: column[row].as_py() for name, column in self.source.columns.items()}
            return {name: as_json(value) for name, value in cells.items() if value is not None}

        return codes, make

    def _mark(self, codes: np.ndarray) -> np.ndarray:
        return codes if self.unread is None else np.where(self.unread, UNREAD, codes).astype(codes.dtype)


def as_json(value: Any) -> Any:
    """Return a Python value as it would be read from JSON: a float is the decimal it is written as."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Mapping):
        return {key: as_json(member) for key, member in value.items()}
    return [as_json(member) for member in value] if isinstance(value, list) else value


def spelled(value: Any) -> str:
    """Return a value as text for a table: its canonical JSON, or what Python prints where JSON cannot hold it."""
    try:
        return canonical_json(value)
    except (ValueError, TypeError):
        return str(value)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def fixed_width(array: pa.Array) -> np.ndarray:
    """Return the values of a fixed-width array without a copy; what stands under a null is arbitrary."""
    dtype = array.type.to_pandas_dtype()
    return np.frombuffer(array.buffers()[1], dtype, len(array) + array.offset)[array.offset :]


def not_null(array: pa.Array) -> np.ndarray:
    """Return which values of an array with nulls are not null."""
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    return np.unpackbits(bits, count=array.offset + len(array), bitorder="little")[array.offset :].view(bool)


def _distinct(array: pa.Array) -> tuple[np.ndarray, pa.Array]:
    try:
        encoded = array.dictionary_encode()
    except pa.ArrowNotImplementedError:  # lists and structs have no dictionary
        return np.arange(len(array), dtype=np.int32), array
    return np.asarray(encoded.indices.fill_null(MISSING), dtype=np.int32), encoded.dictionary
