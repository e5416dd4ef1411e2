"""Trajectories against reference trajectories: what was skipped, added, replaced, moved or repeated, and where."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.calls import ArgumentComparison, compare_arguments
from plumbline.compare.divergence import Divergence, find_divergences
from plumbline.compare.edit_rows import EditRows, refined_rows, script_rows, to_frame
from plumbline.compare.kernel import Scoring
from plumbline.compare.paths import PathKind, Paths, in_one_vocabulary, read_paths
from plumbline.compare.scripts import OPS, Scripts, align_paths
from plumbline.compare.sides import DIFFERENT, UNTOLD, TextJudge, argument_texts, step_facts
from plumbline.compare.texts import TEXT, Texts
from plumbline.compare.tools import ToolTraits, tool_traits
from plumbline.compare.verdicts import as_html

__all__ = ["Alignment", "align"]

_READ = ("name", "arguments", "unread")


@dataclass(frozen=True, eq=False)
class Alignment:
    """Candidate trials aligned with reference trials.

    ``script`` is the published edit script, exactly; ``edits`` refines it. Both are made when they are asked for.

    Parameters
    ----------
    pairs : DataFrame
        One row per pair: ``pair``, ``candidate`` and ``reference`` (trial ids), ``score``, ``match``, ``substitute``,
        ``skipped``, ``extra`` (counts in the published script), ``same_path``.
    candidate, reference : DataFrame
        The steps that were aligned.
    candidate_paths, reference_paths : Paths
        One path per pair on each side.
    scripts : Scripts
    scoring : Scoring
    rules : ArgumentRules
        How arguments inside aligned steps are compared.
    tools : mapping of tool to ToolTraits
        Marks that say which order and which repetition does not matter.
    """

    pairs: pd.DataFrame
    candidate: pd.DataFrame
    reference: pd.DataFrame
    candidate_paths: Paths
    reference_paths: Paths
    scripts: Scripts
    scoring: Scoring
    rules: ArgumentRules
    tools: Mapping[str, ToolTraits]

    @cached_property
    def _script_rows(self) -> EditRows:
        return script_rows(self.candidate_paths, self.reference_paths, self.scripts)

    @cached_property
    def _arguments(self) -> tuple[Texts, Texts]:
        return argument_texts(self.candidate, self.reference)

    @cached_property
    def _edit_rows(self) -> EditRows:
        facts = step_facts(self.candidate, self.reference, self._arguments)
        sides = (self.candidate_paths, facts[0]), (self.reference_paths, facts[1])
        return refined_rows(*sides, self._script_rows, self.scoring, self.rules, self.tools)

    @cached_property
    def script(self) -> pd.DataFrame:
        """The published edit script, one row per edit.

        ``pair``, ``edit`` (``match``, ``substitute``, ``skipped``, ``extra``), ``at`` (position in the reference path;
        for ``extra`` that of the step it follows, -1 at the front), ``reference_step`` and ``candidate_step`` (step
        numbers, NA where a side has nothing), ``name_reference``, ``name_candidate``, ``severity``.
        """
        return to_frame(self._script_rows, self.candidate, self.reference)

    @cached_property
    def edits(self) -> pd.DataFrame:
        """The refined edit script, one row per edit.

        As ``script``, with the edits ``moved`` and ``repeated`` besides, and ``arguments`` (verdict inside a step that
        both made), ``differences`` (counted fields that differ) and ``note``.
        """
        frame = to_frame(self._edit_rows, self.candidate, self.reference)
        compared, at = self._compared, self._edit_rows.both
        words = np.full(len(frame), None, object)
        words[at] = compared.verdicts.to_numpy()
        counted = compared.differences.loc[compared.differences["counted"], "row"].to_numpy()
        numbers = pd.array([pd.NA] * len(frame), dtype="Int64")
        numbers[at] = np.bincount(counted.astype(np.int64), minlength=at.size)
        frame["arguments"], frame["differences"] = pd.Series(words, dtype=TEXT), numbers
        frame["note"] = pd.Series(self._edit_rows.notes, dtype=TEXT)
        return frame

    @cached_property
    def _compared(self) -> ArgumentComparison:
        return self._compare(self._edit_rows)

    def _compare(self, rows: EditRows) -> ArgumentComparison:
        new = _calls(self.candidate, rows.candidate_row[rows.both])
        return compare_arguments(new, _calls(self.reference, rows.reference_row[rows.both]), self.rules)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Argument differences inside the steps of ``edits`` that both sides made.

        ``pair, at, reference_step, candidate_step``, then as in ``ArgumentComparison.differences``.
        """
        return self._differences(self._edit_rows, self._compared, self.edits)

    @cached_property
    def script_differences(self) -> pd.DataFrame:
        """Argument differences inside the matched steps of the published ``script``; columns as in ``differences``."""
        return self._differences(self._script_rows, self._compare(self._script_rows), self.script)

    def _differences(self, rows: EditRows, compared: ArgumentComparison, frame: pd.DataFrame) -> pd.DataFrame:
        found = compared.differences
        where = frame[["pair", "at", "reference_step", "candidate_step"]].iloc[rows.both[found["row"].to_numpy()]]
        return pd.concat([where.reset_index(drop=True), found.drop(columns="row")], axis=1)

    @cached_property
    def divergences(self) -> tuple[Divergence, ...]:
        """Every stretch in which a pair of trials parts, in order: an edit, or arguments that differ."""
        return find_divergences(self.pairs, self.edits, self.differences)

    @cached_property
    def same_calls(self) -> pd.Series:
        """Whether each pair made the same calls in the same order, arguments agreeing; NA if it cannot be told."""
        same = self.pairs["same_path"].to_numpy()
        left, right = self.candidate_paths, self.reference_paths
        lengths = left.lengths
        asked = np.repeat(same, lengths)
        pair, symbols = np.repeat(np.arange(same.size), lengths)[asked], left.codes[asked]
        new, old = self._arguments
        codes = new.codes[left.rows[asked]], old.codes[right.rows[np.repeat(same, right.lengths)]]
        verdicts = TextJudge(new, left.symbols, self.rules).verdicts(symbols, *codes)
        answer = pd.array(same, dtype="boolean")
        answer[np.unique(pair[verdicts == UNTOLD])] = pd.NA
        answer[np.unique(pair[verdicts == DIFFERENT])] = False
        return pd.Series(answer, name="same_calls")

    def first_divergence(self, pair: int) -> Divergence | None:
        """Return where a pair parts first, or None if it never does.

        Raises
        ------
        ParameterError
            There is no such pair.
        """
        if pair not in range(len(self.pairs)):
            raise ParameterError(f"pair {pair!r} does not exist; pairs run from 0 to {len(self.pairs) - 1}.")
        return next((found for found in self.divergences if found.pair == pair), None)

    def to_frame(self) -> pd.DataFrame:
        """Return the edits."""
        return self.edits

    def __str__(self) -> str:
        total, same = len(self.pairs), int(self.pairs["same_path"].sum())
        counts = ", ".join(f"{int(self.pairs[op].sum())} {op}" for op in OPS)
        return f"{total} pairs of trials, {same} with the same path; {counts}"

    def _repr_html_(self) -> str:
        return as_html(self)


def align(
    candidate: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    pairs: Mapping[str, str] | None = None,
    path: PathKind = "effect",
    rules: ArgumentRules | None = None,
    tools: Mapping[str, ToolTraits | Mapping[str, Any]] | None = None,
    scoring: Scoring | None = None,
    empty: Collection[str] = (),
) -> Alignment:
    """Align candidate trials with reference trials, step by step.

    Parameters
    ----------
    candidate, reference : DataFrame
        Steps with ``trial_id``, ``step``, ``kind``, ``name``; ``arguments``, ``unread``, ``group``, ``status`` and
        ``result`` are used where they are there. A failed step is still in the path.
    pairs : mapping of candidate trial id to reference trial id, optional
        Without it, ``reference`` holds one trial and every candidate trial is aligned with it.
    path : {'effect', 'control'}
        Tool calls, or tool calls and decisions.
    rules : ArgumentRules, optional
        How arguments inside aligned steps are compared; exactly by default.
    tools : mapping of tool to ToolTraits or mapping, optional
        ``{"fetch_invoice": {"read_only": True}}``; see ``tool_traits``. It decides which order and which repetition
        does not matter, in ``edits`` only.
    scoring : Scoring, optional
        Match 2, mismatch -1, gap -2 by default.
    empty : collection of str
        Trials named in ``pairs`` that recorded no step, so that a misspelt id is not taken for an empty trial.

    Returns
    -------
    Alignment

    Raises
    ------
    ParameterError
        A trial of ``pairs`` is not known, or there is no pair at all.

    Examples
    --------
    >>> steps = {"step": [0, 1], "kind": "tool_call", "name": ["fetch", "pay"]}
    >>> old = pd.DataFrame({"trial_id": "a", **steps})
    >>> found = align(pd.DataFrame({"trial_id": "b", **steps}).iloc[1:], old)
    >>> found.script[["edit", "name_reference"]].values.tolist()
    [['skipped', 'fetch'], ['match', 'pay']]

    References
    ----------
    Needleman, S. B. and Wunsch, C. D. (1970). A general method applicable to the search for similarities in the amino
    acid sequence of two proteins. Journal of Molecular Biology, 48(3), 443-453.
    """
    scoring, marks = scoring or Scoring(), tool_traits(tools)
    if isinstance(empty, str):
        raise ParameterError(f"empty is the text {empty!r}; give a collection of trial ids.")
    left, right = in_one_vocabulary(read_paths(candidate, path=path), read_paths(reference, path=path))
    ids = _paired_ids(left, right, pairs, empty)
    left, right = _located(left, ids[0], empty, "candidate"), _located(right, ids[1], empty, "reference")
    scripts = align_paths((left.codes, left.offsets), (right.codes, right.offsets), np.arange(len(right)), scoring)
    counts = scripts.counts()
    table = pd.DataFrame(
        {
            "pair": np.arange(len(left)),
            "candidate": pd.Series(left.trials, dtype=TEXT),
            "reference": pd.Series(right.trials, dtype=TEXT),
            "score": scripts.scores[scripts.of],
            **{op: counts[:, code] for code, op in enumerate(OPS)},
            "same_path": counts[:, 1:].sum(axis=1) == 0,
        }
    )
    return Alignment(table, candidate, reference, left, right, scripts, scoring, rules or ArgumentRules(), marks)


def _paired_ids(
    left: Paths, right: Paths, pairs: Mapping[str, str] | None, empty: Collection[str]
) -> tuple[list[str], list[str]]:
    """Trial ids of each pair on both sides."""
    if pairs is None:
        if len(right) != 1:
            raise ParameterError(
                f"the reference holds {len(right)} trials; name pairs={{candidate trial: reference trial}}, "
                "or give the steps of one reference trial."
            )
        known = set(left.trials)
        every = [*left.trials, *(trial for trial in dict.fromkeys(empty) if trial not in known)]
        ids = every, [right.trials[0]] * len(every)
    elif isinstance(pairs, Mapping):
        ids = list(pairs), list(pairs.values())
    else:
        raise ParameterError(
            f"pairs is a {type(pairs).__name__}; give a mapping of candidate trial to reference trial."
        )
    if not ids[0]:
        raise ParameterError("no pair of trials to align; the candidate holds no trial or pairs is empty.")
    return ids


def _located(paths: Paths, ids: list[str], empty: Collection[str], side: str) -> Paths:
    """The paths of some trials, in that order; trials named as empty have an empty one."""
    named = frozenset(empty)
    at = paths.positions(ids, named)
    missing = [ids[position] for position in np.flatnonzero(at < 0)]
    if missing:
        if strange := [trial for trial in missing if trial not in named]:
            raise ParameterError(
                f"the {side} holds no step of trial {strange[0]!r} ({len(strange)} such trials); "
                "if it recorded none, name it in empty=."
            )
        added = {trial: len(paths) + place for place, trial in enumerate(dict.fromkeys(missing))}
        at[at < 0] = [added[trial] for trial in missing]
        paths = paths.with_empty(added)
    return paths.take(at)


def _calls(steps: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """What an argument comparison reads of some rows; without the column, no arguments are recorded."""
    found = steps[[name for name in _READ if name in steps]].iloc[rows]
    if "arguments" not in found:
        return found.assign(arguments=pd.Series([None] * len(found), index=found.index, dtype=TEXT))
    return found
