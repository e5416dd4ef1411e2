"""Which step stands beside which: calls as they are aligned, other steps where they were, beside one of their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.compare import ArgumentRules, align, compare_call, show_ratio
from plumbline.compare.verdicts import show_value
from plumbline.show.diff.steps import DiffRow, FieldDifference, ShownStep, text_of

__all__ = ["aligned_rows"]

_WHOLE: Final = 2**62
Steps = Sequence[ShownStep]


def aligned_rows(
    frames: tuple[pd.DataFrame, pd.DataFrame],
    steps: tuple[Steps, Steps],
    *,
    rules: ArgumentRules,
    tools: Mapping[str, Any] | None,
) -> tuple[DiffRow, ...]:
    """Return the rows of two traces in the order of the left one; every step stands in exactly one row."""
    left, right = steps
    rows: list[DiffRow] = []
    waiting = [_others(left), _others(right)]
    for row in _call_rows(frames, steps, rules=rules, tools=tools):
        ours = _take(waiting[0], row.left)
        theirs = _take(waiting[1], None if row.edit == "moved" else row.right)
        rows += _beside(ours, theirs, rules)
        rows.append(row)
    return tuple(rows + _beside(waiting[0], waiting[1], rules))


def _others(steps: Steps) -> list[ShownStep]:
    return [step for step in steps if step.kind != "tool_call"]


def _take(waiting: list[ShownStep], anchor: ShownStep | None) -> list[ShownStep]:
    """Remove and return the steps that come before the anchor."""
    taken = [] if anchor is None else [step for step in waiting if step.position < anchor.position]
    del waiting[: len(taken)]
    return taken


def _beside(left: Steps, right: Steps, rules: ArgumentRules) -> list[DiffRow]:
    """Pair steps that are no calls: in order, where kind and name are the same."""
    rows: list[DiffRow] = []
    start = 0
    for step in left:
        match = next((n for n in range(start, len(right)) if _same_kind(step, right[n])), None)
        if match is None:
            rows.append(DiffRow("skipped", step, None))
            continue
        rows += [DiffRow("extra", None, other) for other in right[start:match]]
        rows.append(_other_pair(step, right[match], rules))
        start = match + 1
    return rows + [DiffRow("extra", None, other) for other in right[start:]]


def _same_kind(one: ShownStep, other: ShownStep) -> bool:
    return (one.kind, one.name) == (other.kind, other.name)


def _other_pair(left: ShownStep, right: ShownStep, rules: ArgumentRules) -> DiffRow:
    """Compare two steps that are no calls; neither needs arguments."""
    if left.arguments is None and right.arguments is None:
        return DiffRow("match", left, right)
    texts = [_joined(step) for step in (right, left)]
    found = compare_call(*texts, tool=left.name, rules=rules)
    differences = tuple(
        FieldDifference(
            field.field,
            field.verdict,
            field.severity,
            field.counted,
            show_value(field.reference, _WHOLE),
            show_value(field.candidate, _WHOLE),
            show_ratio(field.ratio),
            field.reason,
        )
        for field in found.fields
        if not field.agrees and field.verdict != "not_recorded"
    )
    return DiffRow("match", left, right, found.verdict, differences)


def _joined(step: ShownStep) -> str | None:
    if step.arguments is None:
        return None
    return "{" + ",".join(f"{canonical_json(name)}:{value}" for name, value in step.arguments.items()) + "}"


def _call_rows(
    frames: tuple[pd.DataFrame, pd.DataFrame],
    steps: tuple[Steps, Steps],
    *,
    rules: ArgumentRules,
    tools: Mapping[str, Any] | None,
) -> Iterator[DiffRow]:
    """Yield one row for each edit of the refined script."""
    calls = [[step for step in side if step.kind == "tool_call"] for side in steps]
    if not all(calls):
        yield from (DiffRow("skipped", step, None) for step in calls[0])
        yield from (DiffRow("extra", None, step) for step in calls[1])
        return
    found = align(
        _readable(frames[1], steps[1], "right"), _readable(frames[0], steps[0], "left"), rules=rules, tools=tools
    )
    known = [{step.step: step for step in side} for side in calls]
    differences = _by_pair(found.differences)
    for edit in found.edits.to_dict("records"):
        at = (_number(edit["reference_step"]), _number(edit["candidate_step"]))
        left, right = (None if n is None else side[n] for side, n in zip(known, at, strict=True))
        here = tuple(differences.get(at, ()))
        yield DiffRow(str(edit["edit"]), left, right, text_of(edit["arguments"]), here, text_of(edit["note"]))


def _readable(frame: pd.DataFrame, steps: Steps, side: str) -> pd.DataFrame:
    """The frame as alignment reads it: one trial, with kinds and step numbers filled in."""
    made = frame.reset_index(drop=True).assign(trial_id=side)
    made["kind"] = [step.kind for step in steps]
    made["step"] = [step.step for step in steps]
    return made


def _by_pair(frame: pd.DataFrame) -> dict[tuple[int | None, int | None], list[FieldDifference]]:
    found: dict[tuple[int | None, int | None], list[FieldDifference]] = {}
    for row in frame.to_dict("records"):
        if row["verdict"] in ("not_recorded", "unreadable") and not text_of(row["field"]):
            continue  # the mark of the row says it
        at = (_number(row["reference_step"]), _number(row["candidate_step"]))
        values = [text_of(row[name]) for name in ("value_reference", "value_candidate", "times", "reason")]
        found.setdefault(at, []).append(
            FieldDifference(
                text_of(row["field"]), str(row["verdict"]), str(row["severity"]), bool(row["counted"]), *values
            )
        )
    return found


def _number(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
