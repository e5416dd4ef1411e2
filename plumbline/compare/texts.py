"""Columns of a steps frame as codes of distinct texts, so that each text is read once however often it stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ArgumentsError, Failure, ParameterError

__all__ = ["TEXT", "Texts", "arrow_text", "distinct", "distinct_runs", "need_columns", "no_text"]


TEXT: Final[Any] = "str" if pd.__version__ >= "3" else "object"
"""The dtype of text columns: pandas 3 has one that keeps missing values, before it only ``object`` does."""
_MARK = '"\\u0000between two texts"'


@dataclass(frozen=True)
class Texts:
    """A text column: a code per row (-1 for null) and the distinct texts.

    Parameters
    ----------
    codes : ndarray of int32
        Index into ``values``; -1 where the column is null.
    values : tuple of str
        The distinct texts, in the order in which they first stand.
    """

    codes: np.ndarray
    values: tuple[str, ...]

    @cached_property
    def _read(self) -> dict[int, Mapping[str, Any]]:
        return {}

    def object(self, code: int) -> Mapping[str, Any]:
        """Return the arguments that one distinct text holds; each text is read once, when it is asked for.

        Raises
        ------
        ArgumentsError
            The text is not JSON, or no JSON object.
        """
        if code not in self._read:
            text = self.values[code]
            try:
                found = parse_json(text)
            except ValueError as error:
                self._refuse(code, text, f"not JSON ({error})")
            if not isinstance(found, dict):
                self._refuse(code, text, "no JSON object")
            self._read[code] = found
        return self._read[code]

    @property
    def objects(self) -> list[Mapping[str, Any]]:
        """The arguments that each distinct text holds."""
        self.read(range(len(self.values)))
        return [self.object(code) for code in range(len(self.values))]

    def read(self, codes: Iterable[int]) -> None:
        """Read many texts in one go, which takes a third of the time; what is not right is left to ``object``.

        The texts are joined into one list with a mark between them. The list holds a mark in every other place, and
        objects in the rest, only if each text by itself is one object.
        """
        wanted = [code for code in codes if code not in self._read]
        try:
            found = parse_json("[" + f",{_MARK},".join([self.values[code] for code in wanted]) + "]")
        except (ValueError, RecursionError):
            return
        marks, objects = found[1::2], found[::2]
        mark = parse_json(_MARK)
        if (
            len(objects) == len(wanted)
            and all(each == mark for each in marks)
            and all(isinstance(each, dict) for each in objects)
        ):
            self._read.update(zip(wanted, objects, strict=True))

    def _refuse(self, code: int, text: str, why: str) -> NoReturn:
        row = int(np.flatnonzero(self.codes == code)[0]) if (self.codes == code).any() else -1
        mend = "Arguments are canonical JSON text of an object; keep what cannot be read in 'unread'."
        found = f"{text[:80]!r}, {why}"
        raise ArgumentsError("arguments cannot be read", [Failure("steps", row, None, "arguments", found, mend)])


def need_columns(steps: object, columns: Sequence[str], what: str = "steps") -> pd.DataFrame:
    """Return the frame; raise unless it is one and has the columns."""
    if not isinstance(steps, pd.DataFrame):
        raise ParameterError(f"{what} is a {type(steps).__name__}; give a steps frame (a pandas DataFrame).")
    lacking = [column for column in columns if column not in steps.columns]
    if lacking:
        raise ParameterError(
            f"{what} lacks the columns {', '.join(lacking)}; it has {', '.join(map(str, steps.columns))}."
        )
    return steps


def arrow_text(column: pd.Series, name: str) -> pa.Array:
    """Return a text column as one Arrow array, without copying where pandas already holds Arrow."""
    try:
        found = pa.array(column, from_pandas=True)
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks() if found.num_chunks != 1 else found.chunk(0)
        if found.null_count == len(found):
            return pa.nulls(len(found), pa.large_string())
        if pa.types.is_dictionary(found.type):
            found = found.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ParameterError(f"column {name!r} holds something that is not text: {error}.") from None
    if not (pa.types.is_string(found.type) or pa.types.is_large_string(found.type)):
        raise ParameterError(f"column {name!r} holds {found.type}; it must hold text or null.")
    return found


def distinct(*columns: pd.Series, name: str) -> tuple[Texts, ...]:
    """Return text columns as codes of one common list of distinct texts."""
    arrays = [arrow_text(column, name).cast(pa.large_string()) for column in columns]
    encoded = pa.chunked_array([array for array in arrays if len(array)], pa.large_string()).dictionary_encode()
    values = tuple(encoded.chunk(0).dictionary.to_pylist()) if encoded.num_chunks else ()
    codes = (chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks)
    return tuple(Texts(next(codes) if len(array) else np.empty(0, np.int32), values) for array in arrays)


def distinct_runs(column: pd.Series, *, name: str) -> Texts:
    """Return a text column as codes; faster where equal texts stand together, as trial ids do."""
    texts = arrow_text(column, name).cast(pa.large_string())
    if len(texts) < 2 or texts.null_count:
        return distinct(column, name=name)[0]
    parted = pc.not_equal(texts[1:], texts[:-1]).to_numpy(zero_copy_only=False)
    heads = np.concatenate([[0], np.flatnonzero(parted) + 1])
    if heads.size > len(texts) // 2:
        return distinct(column, name=name)[0]
    encoded = texts.take(pa.array(heads)).dictionary_encode()
    lengths = np.diff(np.append(heads, len(texts)))
    codes = np.repeat(encoded.indices.to_numpy(zero_copy_only=False), lengths)
    return Texts(codes, tuple(encoded.dictionary.to_pylist()))


def no_text(column: pd.Series | None, rows: int) -> np.ndarray:
    """Return where a text column is null; everywhere if there is no such column."""
    return np.ones(rows, bool) if column is None else column.isna().to_numpy()
