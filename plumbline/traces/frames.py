"""From whatever frame a person has to the exact frames of a run: every row is checked, every refusal names its row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import (
    ArgumentsError,
    DuplicateTrialError,
    Failure,
    OrphanStepError,
    SchemaError,
)
from plumbline.base.schema import KEYS, STEPS, TRIALS, Column, trial_id

__all__ = ["arrow_schema", "empty_steps", "listed", "steps_frame", "to_arrow", "to_frame", "trials_frame"]

_PARTS = ("arm", "task_id", "perturbation", "variant", "repetition")
_MOST = 1000
_NEVER_MISSING = frozenset((str, int, bool, list, dict, tuple, NoneType))
_NOTHING = frozenset((NoneType,))
_TEXT = frozenset((str, NoneType))
_STORED = {"string": _TEXT, "int64": frozenset((int, NoneType)), "float64": frozenset((int, float, NoneType))}
"""Types that a column takes without another look."""


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the Arrow schema of a table (no metadata)."""
    types = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64()}
    return pa.schema([pa.field(c.name, types[c.type], nullable=not c.required) for c in columns])


def to_frame(table: pa.Table, columns: Sequence[Column]) -> pd.DataFrame:
    """Return a pandas frame with pandas' default dtypes; integers that may be missing become ``Int64``."""
    frame = table.to_pandas(integer_object_nulls=True)
    text = "str" if pd.__version__ >= "3" else object
    for column, kind in zip(columns, frame.dtypes.tolist(), strict=True):
        wanted: Any = {"string": text, "int64": "int64" if column.required else "Int64"}.get(column.type, column.type)
        if kind != wanted:
            frame[column.name] = frame[column.name].astype(wanted)
    return frame


def to_arrow(frame: pd.DataFrame, columns: Sequence[Column]) -> pa.Table:
    """Return a fresh Arrow table, one chunk a column, whose bytes depend on the rows alone."""
    schema = arrow_schema(columns)
    arrays = []
    for column, field in zip(columns, schema, strict=True):
        arrays.append(pa.array(listed(frame[column.name]), type=field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def listed(values: pd.Series) -> list[Any]:
    """Return the values of a column, None where they are missing."""
    missing = values.isna().to_numpy()
    if missing.all():
        return [None] * len(values)
    found: list[Any] = values.tolist()
    return [None if gone else value for value, gone in zip(found, missing, strict=True)] if missing.any() else found


def trials_frame(frame: pd.DataFrame, run_id: str) -> pd.DataFrame:
    """Check and complete a trials frame.

    Parameters
    ----------
    frame : DataFrame
        One row a trial. ``arm`` and ``task_id`` are needed; ``family_id`` defaults to the task, ``perturbation`` to
        ``baseline``, ``variant`` to ``0``, ``repetition`` to 0, ``status`` to ``completed``, ``exposure`` to
        ``none_planned``, ``provenance`` to ``imported``. Other columns of the schema default to null.
    run_id : str
        Name of the run.

    Returns
    -------
    DataFrame
        Exactly the columns of ``base.schema.TRIALS``, sorted by arm, task, perturbation, variant and repetition.

    Raises
    ------
    SchemaError
        A column is unknown or missing, a word is not allowed, an id does not match its parts.
    DuplicateTrialError
        Two rows are the same trial.
    """
    frame = frame.reset_index(drop=True).copy()
    _known(frame, TRIALS, "trials", needed=("arm", "task_id"))
    defaults: dict[str, Any] = {
        "perturbation": "baseline",
        "variant": "0",
        "repetition": 0,
        "status": "completed",
        "exposure": "none_planned",
        "provenance": "imported",
    }
    for name, value in defaults.items():
        if name not in frame:
            frame[name] = value
    frame["run_id"] = run_id
    if "family_id" not in frame:
        frame["family_id"] = frame["task_id"]
    given = frame.get("trial_id")
    frame["variant"] = [v if pd.isna(v) else str(v) for v in frame["variant"]]
    frame["trial_id"] = [_id(row) for row in frame[list(_PARTS)].itertuples(index=False, name=None)]
    frame = _typed(frame, TRIALS, "trials")
    _slashes(frame)
    if given is not None and (wrong := np.flatnonzero(given.to_numpy() != frame["trial_id"].to_numpy())).size:
        _fail(
            "trials",
            wrong,
            given,
            "trial_id",
            given,
            lambda r: f"Its parts spell {frame['trial_id'][r]!r}; leave the column out to have it composed.",
        )
    if (twice := np.flatnonzero(frame["trial_id"].duplicated())).size:
        first = {t: i for i, t in reversed(list(enumerate(frame["trial_id"])))}
        failures = _failures(
            "trials",
            twice,
            frame["trial_id"],
            "trial_id",
            frame["trial_id"],
            lambda r: f"It also stands on row {first[frame['trial_id'][r]]}; give each execution its own repetition.",
        )
        raise DuplicateTrialError(f"{twice.size} trial ids stand more than once in trials", failures)
    rows = list(zip(*(frame[name].tolist() for name in _PARTS), strict=True))
    if all(one <= two for one, two in itertools.pairwise(rows)):
        return frame
    return frame.sort_values(list(_PARTS), kind="stable", ignore_index=True)


def steps_frame(frame: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Check and complete a steps frame against its trials.

    Parameters
    ----------
    frame : DataFrame
        One row an event. ``trial_id`` and ``kind`` are needed (``name`` too for tool calls); ``step`` defaults to the
        order of rows within each trial, ``status`` to ``ok``. ``arguments`` and ``result`` may be JSON text or plain
        Python values. Key columns are taken from the trials; where given they must agree.
    trials : DataFrame
        As ``trials_frame`` returns it.

    Returns
    -------
    DataFrame
        Exactly the columns of ``base.schema.STEPS``, in the order of the trials, then of steps.

    Raises
    ------
    OrphanStepError
        A step names a trial that the trials table does not hold.
    ArgumentsError
        Arguments or a result are not JSON.
    SchemaError
        A column is unknown or missing, a word is not allowed, step numbers repeat or leave a gap.
    """
    frame = frame.reset_index(drop=True).copy()
    _known(frame, STEPS, "steps", needed=("trial_id", "kind"))
    position = {t: i for i, t in enumerate(trials["trial_id"])}
    at = np.array([position.get(t, -1) for t in frame["trial_id"]], dtype=np.int64)
    if (lost := np.flatnonzero(at < 0)).size:
        ids = frame["trial_id"]
        failures = _failures(
            "steps", lost, ids, "trial_id", ids, lambda r: "Add its row to trials (status 'no_response' if it failed)."
        )
        raise OrphanStepError(f"{lost.size} steps belong to no trial of the run", failures)
    for key in (c.name for c in KEYS if c.name != "trial_id"):
        owner = trials[key].to_numpy()[at] if len(at) else trials[key].to_numpy()[:0]
        if key in frame and key != "run_id":
            said = frame[key].astype(str).to_numpy()
            if (wrong := np.flatnonzero(said != owner.astype(str))).size:
                _fail(
                    "steps", wrong, frame["trial_id"], key, frame[key], lambda r, o=owner: f"Its trial says {o[r]!r}."
                )
        frame[key] = owner
    if "step" not in frame:
        order = np.argsort(at, kind="stable")
        numbers = np.empty(len(at), np.int64)
        numbers[order] = _counted(at[order])
        frame["step"] = numbers
    if "status" not in frame:
        frame["status"] = "ok"
    frame = _typed(frame, STEPS, "steps")
    if (bare := np.flatnonzero(((frame["kind"] == "tool_call") & frame["name"].isna()).to_numpy(dtype=bool))).size:
        _fail("steps", bare, frame["trial_id"], "name", frame["name"], lambda r: "A tool call needs the tool's name.")
    order = np.lexsort((frame["step"].to_numpy(), at))
    if (order[1:] < order[:-1]).any():
        frame, at = frame.iloc[order].reset_index(drop=True), at[order]
    expected = _counted(at)
    if (off := np.flatnonzero(frame["step"].to_numpy() != expected)).size:
        _fail(
            "steps",
            off,
            frame["trial_id"],
            "step",
            frame["step"],
            lambda r: f"Steps of a trial count 0, 1, 2, …; {expected[r]} was due.",
        )
    return frame


def empty_steps() -> pd.DataFrame:
    """Return a steps frame without rows."""
    return to_frame(arrow_schema(STEPS).empty_table(), STEPS)


def _counted(owners: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2, … within each stretch of equal owners."""
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]) if len(owners) else np.array([], dtype=np.int64)
    return np.arange(len(owners)) - np.repeat(starts, np.diff(np.r_[starts, len(owners)]))


def _id(parts: tuple[Any, ...]) -> str | None:
    return None if any(pd.isna(p) for p in parts) else trial_id(*parts)


def _known(frame: pd.DataFrame, columns: Sequence[Column], table: str, *, needed: Iterable[str]) -> None:
    names = {c.name for c in columns}
    if extra := [str(c) for c in frame.columns if c not in names]:
        raise SchemaError(
            f"{table} holds unknown columns {extra}. Allowed: {[c.name for c in columns]}. "
            "Drop them, or keep their content as text in 'unread' (steps) or 'error' (trials)."
        )
    if missing := [name for name in needed if name not in frame]:
        raise SchemaError(f"{table} lacks the columns {missing}; found {list(map(str, frame.columns))}.")


def _typed(frame: pd.DataFrame, columns: Sequence[Column], table: str) -> pd.DataFrame:
    ids = frame["trial_id"]
    made = []
    for column, field in zip(columns, schema := arrow_schema(columns), strict=True):
        values = _values(frame, column.name)
        kinds = set(map(type, values))
        if not kinds <= _NEVER_MISSING:
            values = [v if v.__class__ in _NEVER_MISSING or not _missing(v) else None for v in values]
            kinds = set(map(type, values))
        if column.json and kinds != _NOTHING:
            values = _json(values, column, table, ids)
            kinds = set(map(type, values))
        if column.required and NoneType in kinds:
            gone = [i for i, v in enumerate(values) if v is None]
            _fail(table, gone, ids, column.name, values, lambda r: "This column may not be empty.")
        if column.words and not (kinds <= _TEXT and set(values) <= {*column.words, None}):
            odd = [i for i, v in enumerate(values) if v is not None and v not in column.words]
            allowed = ", ".join(column.words)
            if odd:
                _fail(table, odd, ids, column.name, values, lambda r, a=allowed: f"Allowed: {a}.")
        if not kinds <= _STORED[column.type]:
            values = _numbers_and_text(values, column, table, ids)
        made.append(pa.array(values, type=field.type))
    return to_frame(pa.Table.from_arrays(made, schema=schema), columns)


def _values(frame: pd.DataFrame, name: str) -> list[Any]:
    if name not in frame:
        return [None] * len(frame)
    values = frame[name]
    return values.tolist() if values.dtype == object else listed(values)


def _missing(value: Any) -> bool:
    if value.__class__ is float:
        return bool(value != value)
    return not isinstance(value, list | dict | tuple) and bool(pd.isna(value))


def _numbers_and_text(values: list[Any], column: Column, table: str, ids: Any) -> list[Any]:
    """Return values of unusual types as their column stores them."""
    wanted: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "int64": (int, np.integer),
        "float64": (int, float, np.integer, np.floating),
    }
    kinds = wanted[column.type]
    if column.type == "int64":  # a frame with missing values hands whole numbers over as floats
        values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    usual = kinds[0]
    odd = [
        i
        for i, v in enumerate(values)
        if v is not None and v.__class__ is not usual and (not isinstance(v, kinds) or isinstance(v, bool))
    ]
    if odd:
        _fail(table, odd, ids, column.name, values, lambda r: f"This column holds {column.type} values.")
    return values


def _json(values: list[Any], column: Column, table: str, ids: Any) -> list[str | None]:
    known: dict[str, str] = {}
    out: list[str | None] = []
    failures: list[Failure] = []
    for row, value in enumerate(values):
        try:
            if value is None:
                out.append(None)
            elif isinstance(value, str):
                if value not in known:
                    known[value] = canonical_json(parse_json(value))
                out.append(known[value])
            else:
                out.append(canonical_json(value))
        except (ValueError, TypeError, RecursionError) as error:
            out.append(None)
            mend = f"Not JSON ({error}). Keep the text in 'unread' and leave {column.name} empty, or mend it."
            failures.append(_failure(table, row, ids, column.name, value, mend))
    if failures:
        raise ArgumentsError(f"{len(failures)} values of {table}.{column.name} are not JSON", failures[:_MOST])
    return out


def _slashes(frame: pd.DataFrame) -> None:
    for name in ("arm", "task_id", "perturbation", "variant"):
        if (bad := np.flatnonzero(frame[name].str.contains("/", regex=False).to_numpy(dtype=bool))).size:
            _fail("trials", bad, frame["trial_id"], name, frame[name], lambda r: "'/' separates the parts of an id.")


def _failure(table: str, row: int, ids: Any, column: str, value: Any, mend: str) -> Failure:
    owner = ids[row]
    text = repr(value)
    return Failure(
        table,
        int(row),
        None if pd.isna(owner) else str(owner),
        column,
        text if len(text) < 80 else text[:77] + "…",
        mend,
    )


def _failures(
    table: str, rows: Iterable[int], ids: Any, column: str, values: Any, mend: Callable[[int], str]
) -> list[Failure]:
    return [_failure(table, r, ids, column, values[r], mend(r)) for r in list(rows)[:_MOST]]


def _fail(
    table: str, rows: Sequence[int] | np.ndarray, ids: Any, column: str, values: Any, mend: Callable[..., str]
) -> None:
    failures = _failures(table, rows, ids, column, values, mend)
    raise SchemaError(f"{len(rows)} rows of {table} do not fit column {column!r}", failures)


def checked_tasks(tasks: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the tasks of a manifest as plain JSON values, ``{task_id: {"context": {...}, ...}}``."""
    try:
        return parse_json(canonical_json(tasks or {}))
    except (ValueError, TypeError) as error:
        raise SchemaError(f"the tasks of a run must be JSON values: {error}") from None
