"""From scripts to rows: the published ones for all pairs at once, the refined ones where a pair is not all equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.kernel import EXTRA, MATCH, SKIPPED, Scoring
from plumbline.compare.paths import Paths
from plumbline.compare.refine import EDITS, Edit, refine
from plumbline.compare.scripts import Scripts, align_paths
from plumbline.compare.sides import OrderJudge, StepFacts, TextJudge, canonical_groups, side_of
from plumbline.compare.texts import TEXT
from plumbline.compare.tools import ToolTraits

__all__ = ["EditRows", "refined_rows", "script_rows", "to_frame"]

_SEVERITY = {"substitute": "high", "skipped": "high", "extra": "medium", "moved": "medium", "repeated": "medium"}


@dataclass(frozen=True, eq=False)
class EditRows:
    """Edits as columns.

    Parameters
    ----------
    pair, edit, at : ndarray of int
        Pair, index into ``EDITS``, and position in the reference path (of the step before, for an additional step).
    reference_row, candidate_row : ndarray of int64
        Row of the step in each frame, -1 where a side has nothing.
    severity, notes : ndarray of object
    """

    pair: np.ndarray
    edit: np.ndarray
    at: np.ndarray
    reference_row: np.ndarray
    candidate_row: np.ndarray
    severity: np.ndarray
    notes: np.ndarray

    @property
    def both(self) -> np.ndarray:
        """Positions of the edits in which both sides made the same step."""
        same = (self.edit == EDITS.index("match")) | (self.edit == EDITS.index("moved"))
        return np.flatnonzero(same & (self.reference_row >= 0) & (self.candidate_row >= 0))


def script_rows(candidate: Paths, reference: Paths, scripts: Scripts) -> EditRows:
    """Return the published scripts as rows."""
    each = scripts.each()
    counts = np.diff(each.offsets)
    pair = np.repeat(np.arange(counts.size), counts)
    on_reference, on_candidate = each.ops != EXTRA, each.ops != SKIPPED
    reference_row = np.full(each.ops.size, -1, np.int64)
    candidate_row = np.full(each.ops.size, -1, np.int64)
    reference_row[on_reference] = reference.rows  # a script uses every step of both paths once, in order
    candidate_row[on_candidate] = candidate.rows
    at = np.cumsum(on_reference) - 1 - reference.offsets[pair]
    severity = np.array([_SEVERITY.get(edit) for edit in EDITS], object)[each.ops]
    return EditRows(pair, each.ops, at, reference_row, candidate_row, severity, np.full(pair.size, None, object))


def refined_rows(
    candidate: tuple[Paths, StepFacts],
    reference: tuple[Paths, StepFacts],
    script: EditRows,
    scoring: Scoring,
    rules: ArgumentRules,
    tools: Mapping[str, ToolTraits],
) -> EditRows:
    """Return the refined scripts as rows; pairs that match in all steps with equal texts are left as they are."""
    ordered = canonical_groups(*candidate), canonical_groups(*reference)
    if ordered[0] is not None or ordered[1] is not None:
        candidate = (candidate[0] if ordered[0] is None else ordered[0], candidate[1])
        reference = (reference[0] if ordered[1] is None else ordered[1], reference[1])
        flat = [(paths.codes, paths.offsets) for paths, _ in (candidate, reference)]
        script = script_rows(
            candidate[0], reference[0], align_paths(flat[0], flat[1], np.arange(len(candidate[0])), scoring)
        )
    pairs = len(candidate[0])
    codes = _codes(candidate[1], script.candidate_row), _codes(reference[1], script.reference_row)
    rough = (script.edit != MATCH) | ((codes[0] != codes[1]) & (codes[0] >= 0) & (codes[1] >= 0))
    dirty = np.bincount(script.pair[rough], minlength=pairs) > 0
    judge = TextJudge(candidate[1].arguments, candidate[0].symbols, rules)
    starts = np.searchsorted(script.pair, np.arange(pairs + 1))
    rows: list[tuple[Any, ...]] = []
    for pair in np.flatnonzero(dirty).tolist():
        ops = script.edit[starts[pair] : starts[pair + 1]].tolist()
        rows += _refine_pair(pair, (*candidate, pair), (*reference, pair), ops, judge, tools)
    clean = ~dirty[script.pair]
    plain = [
        column[clean] for column in (script.pair, script.edit, script.at, script.reference_row, script.candidate_row)
    ]
    new = list(zip(*rows, strict=True)) or [()] * 7
    columns = [np.concatenate([old, np.array(column, np.int64)]) for old, column in zip(plain, new[:5], strict=True)]
    order = np.argsort(columns[0], kind="stable")
    texts = [np.array([*script.severity[clean], *new[5]], object), np.array([*script.notes[clean], *new[6]], object)]
    return EditRows(*(column[order] for column in columns), *(text[order] for text in texts))


def _codes(facts: StepFacts, rows: np.ndarray) -> np.ndarray:
    """The argument text of each row, -1 where there is no row or no text."""
    return np.append(facts.arguments.codes, -1)[rows]


def _refine_pair(
    pair: int,
    candidate: tuple[Paths, StepFacts, int],
    reference: tuple[Paths, StepFacts, int],
    ops: list[int],
    judge: TextJudge,
    tools: Mapping[str, ToolTraits],
) -> list[tuple[Any, ...]]:
    order = OrderJudge(candidate, reference, tools)
    found = refine(side_of(*reference), side_of(*candidate), ops, judge.same, order.swap)
    rows = []
    for edit in found:
        severity, note = _weight(edit, candidate, tools)
        rows.append(
            (
                pair,
                EDITS.index(edit.edit),
                edit.at,
                _row(reference, edit.reference),
                _row(candidate, edit.candidate),
                severity,
                note,
            )
        )
    return rows


def _row(side: tuple[Paths, StepFacts, int], position: int | None) -> int:
    paths, _, path = side
    return -1 if position is None else int(paths.rows[paths.offsets[path] + position])


def _weight(
    edit: Edit, candidate: tuple[Paths, StepFacts, int], tools: Mapping[str, ToolTraits]
) -> tuple[str | None, str | None]:
    """The severity and the note of an edit."""
    severity = _SEVERITY.get(edit.edit)
    if edit.of is None:
        return severity, edit.note or None
    paths, facts, path = candidate
    row = _row(candidate, edit.of)
    step, name = facts.step[row], paths.symbols[paths.codes[paths.offsets[path] + edit.of]][1]
    if edit.edit == "moved":
        return severity, f"now on the other side of {name} (step {step})"
    traits, status = tools.get(name) if name is not None else None, facts.status[row]
    said = f"the same call as step {step}"
    if status in ("failed", "blocked"):
        return "low", f"{said}, which {'failed' if status == 'failed' else 'was blocked'}"
    if traits is not None and traits.harmless_again:
        return "low", f"{said}; the tool {'only reads' if traits.read_only else 'is idempotent'}"
    return severity, f"{said}, which may have happened" if status == "no_result" else said


def to_frame(rows: EditRows, candidate: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Return edits as a frame, with step numbers and names."""
    columns: dict[str, Any] = {
        "pair": rows.pair.astype(np.int64),
        "edit": pd.Categorical.from_codes(rows.edit.astype(np.int8), pd.Index(EDITS)),
        "at": rows.at.astype(np.int64),
        "reference_step": _steps(reference, rows.reference_row),
        "candidate_step": _steps(candidate, rows.candidate_row),
        "name_reference": _names(reference, rows.reference_row),
        "name_candidate": _names(candidate, rows.candidate_row),
        "severity": pd.Series(rows.severity, dtype=TEXT),
    }
    return pd.DataFrame(columns)


def _steps(frame: pd.DataFrame, rows: np.ndarray) -> Any:
    numbers = np.append(frame["step"].to_numpy().astype(np.int64), 0)[rows]
    return pd.arrays.IntegerArray(numbers, rows < 0)


def _names(frame: pd.DataFrame, rows: np.ndarray) -> Any:
    return frame["name"].astype(TEXT).array.take(rows, allow_fill=True)
