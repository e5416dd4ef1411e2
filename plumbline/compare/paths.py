"""The paths of trials as codes: which steps a trial took, in order, and which trials took the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plumbline.base.errors import ParameterError
from plumbline.compare.texts import distinct, distinct_runs, need_columns
from plumbline.compare.verdicts import check_word

__all__ = ["PATH_KINDS", "PathKind", "Paths", "UniquePaths", "in_one_vocabulary", "read_paths", "unique_paths"]

PathKind = Literal["effect", "control"]
PATH_KINDS: Final = {"effect": ("tool_call",), "control": ("tool_call", "decision")}
"""Effect steps are the tool calls; control steps are tool calls and decisions."""

Symbol = tuple[str, str | None]


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths of trials, one after the other.

    Parameters
    ----------
    codes : ndarray of int8, int16 or int32
        Index into ``symbols`` of each step of each path.
    offsets : ndarray of int64
        Where each path begins, and the end of the last.
    symbols : tuple of (kind, name)
        What a code stands for.
    trials : tuple of str
        The trial of each path.
    rows : ndarray of int64
        Position of each step's row in the frame the paths were read from.
    """

    codes: np.ndarray
    offsets: np.ndarray
    symbols: tuple[Symbol, ...]
    trials: tuple[str, ...]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def lengths(self) -> np.ndarray:
        """Number of steps of each path."""
        return np.diff(self.offsets)

    def positions(self, trials: Sequence[str], absent: Set[str] = frozenset()) -> np.ndarray:
        """Return the position of each trial's path, -1 for a trial that has none.

        ``absent`` names trials that may have none; it saves a search where all others are asked for in their order.
        """
        few = 0 <= len(trials) - len(self) <= len(absent)
        if few and tuple(filterfalse(absent.__contains__, trials)) == self.trials:
            here = ~np.fromiter(map(absent.__contains__, trials), bool, len(trials))
            return np.where(here, np.cumsum(here) - 1, -1)
        try:
            asked = pa.array(trials, pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ParameterError(f"a trial id is no text: {error}.") from None
        found = pc.index_in(asked, value_set=pa.array(self.trials, pa.large_string()))
        return found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)

    def take(self, positions: np.ndarray) -> Paths:
        """Return the paths at some positions, in that order."""
        if np.array_equal(positions, np.arange(len(self))):
            return self
        lengths = self.lengths[positions]
        ends = np.cumsum(lengths)
        flat = np.repeat(self.offsets[positions] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        trials = tuple(np.array([*self.trials, None], object)[positions])
        return replace(self, codes=self.codes[flat], offsets=offsets, trials=trials, rows=self.rows[flat])

    def with_empty(self, trials: Iterable[str]) -> Paths:
        """Return the paths with further trials that took no step."""
        added = tuple(trials)
        offsets = np.concatenate([self.offsets, np.full(len(added), self.offsets[-1])])
        return replace(self, offsets=offsets, trials=(*self.trials, *added))

    def path(self, position: int) -> list[Symbol]:
        """Return one path as (kind, name) pairs."""
        return [self.symbols[code] for code in self.codes[self.offsets[position] : self.offsets[position + 1]]]


@dataclass(frozen=True, eq=False)
class UniquePaths:
    """The different paths among many, and which one each trial took.

    Parameters
    ----------
    of : ndarray of int32
        The path of each trial, an index into the different ones.
    codes, offsets : ndarray
        The different paths, in the order in which they first occur.
    """

    of: np.ndarray
    codes: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return self.offsets.size - 1


def read_paths(steps: pd.DataFrame, *, path: PathKind = "effect", empty: Collection[str] = ()) -> Paths:
    """Return the path of every trial of a steps frame.

    A step that failed is still in the path. Rows need not be sorted; within a trial, ``step`` orders them.

    Parameters
    ----------
    steps : DataFrame
        Steps with ``trial_id``, ``step``, ``kind`` and ``name``.
    path : {'effect', 'control'}
        Tool calls only, or tool calls and decisions.
    empty : collection of str
        Trials that have no step; their path is empty.

    Returns
    -------
    Paths
        Trials in the order in which they first stand, then those of ``empty``.

    Raises
    ------
    ParameterError
        A trial id is null, or belongs to two runs; a trial of ``empty`` has steps.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"trial_id": ["a", "a"], "step": [1, 0], "kind": "tool_call", "name": ["pay", "fetch"]})
    >>> read_paths(frame).path(0)
    [('tool_call', 'fetch'), ('tool_call', 'pay')]
    """
    check_word(path, tuple(PATH_KINDS), "path")
    need_columns(steps, ["trial_id", "step", "kind", "name"])
    trial = distinct_runs(steps["trial_id"], name="trial_id")
    if (trial.codes < 0).any():
        raise ParameterError(
            f"row {int(np.flatnonzero(trial.codes < 0)[0])} has no trial_id; every step belongs to one."
        )
    _one_run(steps, trial.codes)
    known = set(trial.values)
    added = tuple(dict.fromkeys(empty))
    if wrong := [name for name in added if name in known]:
        raise ParameterError(f"trial {wrong[0]!r} is named as empty and has steps; name only trials without steps.")
    kind, (name,) = distinct_runs(steps["kind"], name="kind"), distinct(steps["name"], name="name")
    wanted = np.array([word in PATH_KINDS[path] for word in kind.values] + [False])
    every = bool(wanted[:-1].all()) and bool((kind.codes >= 0).all())
    rows = np.arange(len(steps)) if every else np.flatnonzero(wanted[kind.codes])
    step = steps["step"].to_numpy()
    order = _in_order(*((trial.codes, step) if every else (trial.codes[rows], step[rows])))
    rows = rows if order is None else rows[order]
    whole = every and order is None
    trials, kinds, names = (each.codes if whole else each.codes[rows] for each in (trial, kind, name))
    width = len(name.values) + 1
    pairs, codes = _compact(kinds * np.int32(width) + names % np.int32(width), len(kind.values) * width)
    symbols = tuple((kind.values[pair // width], [*name.values, None][pair % width]) for pair in pairs)
    counts = np.bincount(trials, minlength=len(trial.values))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    found = Paths(codes.astype(_small(len(symbols))), offsets, symbols, trial.values, rows)
    return found.with_empty(added) if added else found


def _compact(keys: np.ndarray, size: int) -> tuple[list[int], np.ndarray]:
    """The keys that occur, in their order, and for each key which of them it is."""
    seen = np.zeros(size + 1, bool)
    seen[keys] = True
    slot = np.cumsum(seen) - 1
    return np.flatnonzero(seen).tolist(), slot[keys]


def _small(symbols: int) -> Any:
    return np.int8 if symbols < 127 else np.int16 if symbols < 32_767 else np.int32


def _in_order(trial: np.ndarray, step: np.ndarray) -> np.ndarray | None:
    """The order by trial and step; None if the rows stand in it already."""
    same = trial[1:] == trial[:-1]
    if ((trial[1:] > trial[:-1]) | (same & (step[1:] > step[:-1]))).all():
        return None
    order = np.lexsort((step, trial))
    twice = np.flatnonzero((np.diff(trial[order]) == 0) & (np.diff(step[order]) == 0))
    if twice.size:
        raise ParameterError(
            f"step {step[order][twice[0]]} of one trial stands twice; steps are numbered within a trial."
        )
    return order


def _one_run(steps: pd.DataFrame, trial: np.ndarray) -> None:
    if "run_id" not in steps:
        return
    run = distinct_runs(steps["run_id"], name="run_id")
    if len(run.values) < 2:
        return
    first = np.full(int(trial.max()) + 1, -1)
    first[trial[::-1]] = run.codes[::-1]
    wrong = np.flatnonzero(first[trial] != run.codes)
    if wrong.size:
        name = steps["trial_id"].iloc[int(wrong[0])]
        raise ParameterError(f"trial {name!r} stands in two runs; select one run before comparing trials by id.")


def in_one_vocabulary(*paths: Paths) -> tuple[Paths, ...]:
    """Return paths whose codes stand for the same steps."""
    symbols = tuple(dict.fromkeys(symbol for each in paths for symbol in each.symbols))
    where = {symbol: code for code, symbol in enumerate(symbols)}
    found = []
    for each in paths:
        table = np.array([where[symbol] for symbol in each.symbols], _small(len(symbols)))
        codes = table[each.codes] if table.size else each.codes.astype(_small(len(symbols)))
        found.append(replace(each, codes=codes, symbols=symbols))
    return tuple(found)


def unique_paths(paths: Sequence[tuple[np.ndarray, np.ndarray]]) -> UniquePaths:
    """Return the different paths of several (codes, offsets) with one vocabulary; exact, by their bytes."""
    width = max(codes.dtype.itemsize for codes, _ in paths)
    arrays = []
    for codes, offsets in paths:
        flat = np.ascontiguousarray(codes, dtype=f"i{width}")
        at = (offsets * width).astype(np.int64)
        small = at[-1] < 2**31 and sum(codes.size for codes, _ in paths) * width < 2**31
        kind, offset_type = (pa.binary(), np.int32) if small else (pa.large_binary(), np.int64)
        buffers = [None, pa.py_buffer(at.astype(offset_type)), pa.py_buffer(flat)]
        arrays.append(pa.Array.from_buffers(kind, offsets.size - 1, buffers))
    encoded = (arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)).dictionary_encode()
    words = encoded.dictionary
    _, ends, data = words.buffers()
    offset_type = np.int32 if pa.types.is_binary(words.type) else np.int64
    at = np.frombuffer(ends, offset_type)[words.offset : words.offset + len(words) + 1].astype(np.int64) // width
    codes = np.frombuffer(data, f"i{width}") if data is not None else np.empty(0, f"i{width}")
    return UniquePaths(encoded.indices.to_numpy(zero_copy_only=False), codes, at)
