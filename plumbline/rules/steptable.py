"""The columns that checking reads, prepared once for a whole run: codes instead of words, rows grouped by tool.

The one costly question of checking is "which rows are calls of this tool?". It is answered for all tools at once by a
stable sort of one small code a step; every rule then works on its own tools' rows only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.base.schema import KEYS, KINDS, STEP_STATUSES, TRIAL_STATUSES
from plumbline.rules.arguments import JsonArguments, Reader, TypedArguments, fixed_width, not_null
from plumbline.rules.trial_rules import Steps, StepView

__all__ = ["StepTable", "prepare"]

_VIEWED = ("kind", "name", "status", "group", "agent", "arguments", "result", "unread")

OK, FAILED, NO_RESULT, BLOCKED = range(4)
"""Codes of a step's status, positions in ``base.schema.STEP_STATUSES``."""


@dataclass(frozen=True, eq=False)
class StepTable:
    """Steps and trials of a run as arrays.

    Parameters
    ----------
    tools : tuple of str
        Names that steps have, by code; which of them were called as tools, ``attempted`` says.
    offsets : int64 array, trials + 1
        First row of each trial.
    trial, trial_in_order : int32 arrays, steps
        Trial of each row, and of each row in `order`.
    called : integer array, steps
        Tool code of every tool call, -1 for other steps.
    status : int8 array, steps
        Position in ``STEP_STATUSES``.
    order, bounds : integer arrays
        Rows sorted by group, and where each group begins: group 0 holds what did not happen, then one group a tool for
        its successful calls, then one a tool for its calls without a result.
    task : int32 array, trials
        Task code of each trial.
    tasks : tuple of str
        Task ids, by code.
    incomplete : int64 array
        Trials that ended by an infrastructure status, so that their record is not the whole behaviour.
    trials : DataFrame or Arrow table
        The trials, for their key columns.
    arguments : Reader
        Arguments of the calls.
    steps : DataFrame or Arrow table, optional
        The steps themselves, for rules that read one trial at a time.
    """

    tools: tuple[str, ...]
    offsets: np.ndarray
    trial: np.ndarray
    called: np.ndarray
    status: np.ndarray
    order: np.ndarray
    trial_in_order: np.ndarray
    bounds: np.ndarray
    task: np.ndarray
    tasks: tuple[str, ...]
    incomplete: np.ndarray
    trials: pd.DataFrame | pa.Table
    arguments: Reader
    steps: pd.DataFrame | pa.Table | None = None

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.offsets) - 1

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        return len(self.trial)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """Code of each tool."""
        return {tool: code for code, tool in enumerate(self.tools)}

    @cached_property
    def attempted(self) -> frozenset[str]:
        """Names of the tools that were called at all, whether or not a call succeeded."""
        counts = np.bincount(self.called.astype(np.int64) + 1, minlength=len(self.tools) + 1)[1:]
        return frozenset(tool for tool, count in zip(self.tools, counts.tolist(), strict=True) if count)

    @cached_property
    def starts(self) -> np.ndarray:
        """First row of each trial, as int32 where rows allow it."""
        return self.offsets[:-1].astype(self.order.dtype)

    @cached_property
    def keys(self) -> pd.DataFrame:
        """Key columns of the trials, as far as the trials have them."""
        names = self.trials.column_names if isinstance(self.trials, pa.Table) else list(self.trials.columns)
        kept = [column.name for column in KEYS if column.name in names]
        if isinstance(self.trials, pa.Table):
            columns = {name: _column(self.trials, name) for name in kept}
            plain = {k: c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for k, c in columns.items()}
            return pa.table(plain).to_pandas()
        return self.trials[kept].reset_index(drop=True)

    @cached_property
    def _columns(self) -> tuple[list[Any], ...]:
        """The columns that rules read step by step, as lists; a column that is not there is empty."""
        return tuple(_listed(self.steps, name, self.n_steps) for name in _VIEWED)

    def views(self, trial: int) -> Steps:
        """Return the steps of one trial, one object each."""
        first, last = int(self.offsets[trial]), int(self.offsets[trial + 1])
        rows = zip(*(column[first:last] for column in self._columns), strict=True)
        return Steps(
            StepView(n, kind, name, status, None if group is None else int(group), *rest)
            for n, (kind, name, status, group, *rest) in enumerate(rows)
        )

    @cached_property
    def _contents(self) -> np.ndarray:
        """What each row holds, and its place in its trial, as one number."""
        seen: dict[tuple[Any, ...], int] = {}
        codes = [seen.setdefault(row, len(seen)) for row in zip(*self._columns, strict=True)]
        place = np.arange(self.n_steps) - self.offsets[:-1][self.trial]
        return np.array(codes, np.int64) * (int(place.max(initial=0)) + 1) + place

    def twins(self, reads: frozenset[str] | None = None) -> np.ndarray:
        """Return for each trial the first one of the same task with the same steps at the same places.

        Parameters
        ----------
        reads : frozenset of str, optional
            Only steps of these names are compared.
        """
        rows = np.arange(self.n_steps)
        if reads is not None:
            rows = np.flatnonzero(np.isin(np.array(self._columns[_VIEWED.index("name")], object), list(reads)))
        trials = self.trial[rows]
        counts = np.bincount(trials, minlength=self.n_trials)
        table = np.full((self.n_trials, 1 + int(counts.max(initial=0))), -1, np.int64)
        table[:, 0] = self.task
        starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
        table[trials, 1 + np.arange(len(rows)) - starts[trials]] = self._contents[rows]
        _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first[place.reshape(-1)]

    def group(self, tool: str, status: int = OK) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a tool's successful calls (or of those without a result), ascending, and their trials."""
        code = self.codes.get(tool)
        if code is None:
            return self.order[:0], self.trial_in_order[:0]
        at = 1 + code + (len(self.tools) if status == NO_RESULT else 0)
        here = slice(int(self.bounds[at]), int(self.bounds[at + 1]))
        return self.order[here], self.trial_in_order[here]


def prepare(
    steps: pa.Table | pd.DataFrame,
    trials: pa.Table | pd.DataFrame,
    *,
    arguments: Mapping[str, Any] | None = None,
) -> StepTable:
    """Prepare the steps of a run for checking.

    Parameters
    ----------
    steps : DataFrame or Arrow table
        ``trial_id``, ``kind``, ``name``, ``status``, and ``arguments`` as JSON text or as an Arrow struct; rows in the
        order of the trials, then of steps. ``unread``, if there, marks rows whose arguments are known only in part.
    trials : DataFrame or Arrow table
        ``trial_id`` and ``task_id``, one row a trial; ``status`` defaults to completed; other key columns are kept.
    arguments : mapping of str to Arrow array, optional
        Typed columns, one an argument, instead of the ``arguments`` column.

    Returns
    -------
    StepTable

    Raises
    ------
    ParameterError
        A column is missing or holds an unknown word, steps are not in the order of the trials, a trial stands twice.

    Examples
    --------
    >>> trials = pd.DataFrame({"trial_id": ["a"], "task_id": ["t"]})
    >>> steps = pd.DataFrame({"trial_id": ["a"], "kind": ["tool_call"], "name": ["pay"], "status": ["ok"]})
    >>> prepare(steps, trials).group("pay")
    (array([0], dtype=int32), array([0], dtype=int32))
    """
    for table, needed, label in ((steps, ("trial_id", "kind", "name", "status"), "steps"),
                                 (trials, ("trial_id", "task_id"), "trials")):  # fmt: skip
        if absent := [name for name in needed if name not in _names(table)]:
            raise ParameterError(f"{label} lack the columns {absent}; found {_names(table)}")
    n, m = len(trials), len(steps)
    trial = _trial_of_step(_column(steps, "trial_id"), _column(trials, "trial_id"))
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(trial, minlength=n), out=offsets[1:])
    trial = trial.astype(np.int32)
    tools, called, status = _calls(steps)
    group = _groups(called, status, len(tools))
    order = np.argsort(group, kind="stable")  # a radix sort, for codes of one or two bytes
    bounds = np.searchsorted(group[order], np.arange(2 * len(tools) + 2)).astype(np.int64)
    order = order.astype(np.int32 if m < 2**31 else np.int64, copy=False)
    task, tasks = _coded(_column(trials, "task_id"), "trials", "task_id", None)
    ended, words = (
        _coded(_column(trials, "status"), "trials", "status", TRIAL_STATUSES)
        if "status" in _names(trials)
        else (np.zeros(n, np.int32), ["completed"])
    )
    broken = [code for code, word in enumerate(words) if word not in ("completed", "agent_error")]
    reader = _reader(steps, m) if arguments is None else _typed(arguments, m)
    return StepTable(
        tuple(tools), offsets, trial, called, status, order, trial[order], bounds, task, tuple(map(str, tasks)),
        np.flatnonzero(np.isin(ended, broken)), trials, reader, steps,
    )  # fmt: skip


def _calls(steps: pa.Table | pd.DataFrame) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names, and tool code and status of every step; arithmetic on single bytes is the fastest there is."""
    kind, kinds = _coded(_column(steps, "kind"), "steps", "kind", KINDS)
    stated, words = _coded(_column(steps, "status"), "steps", "status", STEP_STATUSES)
    names = _column(steps, "name")
    code, every = _coded(names, "steps", "name", None, nulls=True)
    small: Any = np.int8 if len(every) < 63 else np.int16 if len(every) < 16_383 else np.int32
    is_call = kind == (kinds.index("tool_call") if "tool_call" in kinds else -1)
    if names.null_count:
        valid = not_null(names)
        if (bare := np.flatnonzero(is_call & ~valid)).size:
            raise ParameterError(f"steps row {bare[0]} is a tool call without a name; every call needs its tool's name")
    called = (code.astype(small) + small(1)) * is_call.astype(small) - small(1)
    status = np.zeros(len(stated), np.int8)
    for at, word in enumerate(words):
        if place := STEP_STATUSES.index(word):
            status += (stated == at).view(np.int8) * np.int8(place)
    return every, called, status


def _groups(called: np.ndarray, status: np.ndarray, n_tools: int) -> np.ndarray:
    """Return the group of each row: 0 nothing happened, then successful calls by tool, then those without a result."""
    group = called + called.dtype.type(1)
    if status.any():
        open_ended = status == NO_RESULT
        group *= (open_ended | (status == OK)).astype(group.dtype)
        group += (open_ended & (group > 0)).astype(group.dtype) * group.dtype.type(n_tools)
    return group


def _trial_of_step(of_step: pa.Array, ids: pa.Array) -> np.ndarray:
    n = len(ids)
    if of_step.null_count or ids.null_count:
        raise ParameterError("trial_id may not be empty, in steps or in trials")
    if pa.types.is_integer(of_step.type) and pa.types.is_integer(ids.type) and _counts_up(ids):
        trial = of_step.to_numpy().astype(np.int64, copy=False)
        if trial.size and (trial.min() < 0 or trial.max() >= n):
            raise ParameterError(f"steps name trial {trial[(trial < 0) | (trial >= n)][0]}; trials count 0 to {n - 1}")
    else:
        if pc.count_distinct(ids).as_py() != n:
            raise ParameterError("a trial_id stands on more than one row of trials")
        encoded = of_step if pa.types.is_dictionary(of_step.type) else of_step.dictionary_encode()
        ids = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        at = pc.index_in(encoded.dictionary.cast(ids.type), value_set=ids)
        if at.null_count:
            lost = encoded.dictionary.filter(at.is_null())[0].as_py()
            raise ParameterError(f"steps name the trial {lost!r}, which trials do not hold")
        trial = np.asarray(at, dtype=np.int64)[np.asarray(encoded.indices)]
    if (trial[1:] < trial[:-1]).any():
        row = int(np.flatnonzero(trial[1:] < trial[:-1])[0]) + 1
        raise ParameterError(f"steps are not in the order of the trials: row {row} belongs to an earlier trial")
    return trial


def _counts_up(ids: pa.Array) -> bool:
    return bool((ids.to_numpy() == np.arange(len(ids))).all())


def _coded(
    array: pa.Array, table: str, column: str, allowed: Sequence[str] | None, *, nulls: bool = False
) -> tuple[np.ndarray, list[Any]]:
    """Return a code a row and the words; where nulls are allowed, what stands under one is arbitrary."""
    if array.null_count and not nulls:
        raise ParameterError(f"{table} row {np.flatnonzero(np.asarray(array.is_null()))[0]}: {column} may not be empty")
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    if allowed is not None and (odd := [word for word in words if word not in allowed]):
        raise ParameterError(f"{table} column {column!r} holds {odd[0]!r}; allowed: {', '.join(allowed)}")
    return fixed_width(encoded.indices), words


def _reader(steps: pa.Table | pd.DataFrame, m: int) -> Reader:
    if "arguments" not in _names(steps):
        return JsonArguments(pa.nulls(m, pa.string()))
    array = _column(steps, "arguments")
    if pa.types.is_struct(array.type):
        return TypedArguments.from_struct(array)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        raise ParameterError(f"steps column 'arguments' must be JSON text or a struct; found {array.type}")
    partial = None
    if "unread" in _names(steps) and (unread := _column(steps, "unread")).null_count < m:
        partial = np.asarray(unread.is_valid())
    return JsonArguments(array, partial)


def _typed(arguments: Mapping[str, Any], m: int) -> Reader:
    columns = {name: _whole(column) for name, column in arguments.items()}
    if wrong := [name for name, column in columns.items() if len(column) != m]:
        raise ParameterError(f"argument column {wrong[0]!r} has {len(columns[wrong[0]])} rows; the steps have {m}")
    return TypedArguments(columns)


def _names(table: pa.Table | pd.DataFrame) -> list[str]:
    return table.column_names if isinstance(table, pa.Table) else [str(name) for name in table.columns]


def _column(table: pa.Table | pd.DataFrame, name: str) -> pa.Array:
    return _whole(table[name] if isinstance(table, pa.Table) else pa.array(table[name], from_pandas=True))


def _listed(table: pa.Table | pd.DataFrame | None, name: str, rows: int) -> list[Any]:
    if table is None or name not in _names(table):
        return [None] * rows
    values = _column(table, name).to_pylist()
    return [None if value is None else canonical_json(value) for value in values] if _is_struct(table, name) else values


def _is_struct(table: pa.Table | pd.DataFrame, name: str) -> bool:
    return isinstance(table, pa.Table) and pa.types.is_struct(table.schema.field(name).type)


def _whole(array: Any) -> pa.Array:
    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()  # combining copies even one chunk
