"""The foot of a diff: how each trial ended, its outcome beside the ground truth, and what the rules say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from plumbline.analysis import BEHAVIOUR
from plumbline.base.canonical import canonical_json, parse_json
from plumbline.compare import compare_values, show_ratio
from plumbline.compare.verdicts import MISSING
from plumbline.show.diff.sides import Grade, Side
from plumbline.show.diff.words import short

__all__ = ["FootRow", "foot_rows"]

Line = tuple[str, str]
"""A class for colour (empty, ``differs``, ``good``, ``bad``, ``caution``) and words that say the same."""

NOT_RECORDED: Final[Line] = ("", "not recorded")


@dataclass(frozen=True)
class FootRow:
    """One line of the foot: what it is about, and what holds on each side, or of both (``shared``)."""

    label: str
    left: tuple[Line, ...]
    right: tuple[Line, ...]
    shared: bool = False


def foot_rows(left: Side, right: Side, grade: Grade | None) -> tuple[FootRow, ...]:
    """Return what stands below the steps; a side of which nothing is known says so."""
    rows = [
        FootRow("ended", _ended(left), _ended(right)),
        FootRow("planned fault", _fault(left), _fault(right)),
        FootRow("outcome", *_outcomes(left, right)),
        FootRow("against ground truth", _graded(left, grade), _graded(right, grade)),
        _truths(_truth(left), _truth(right)),
        FootRow("rules", _rules(left), _rules(right)),
        _missing_calls(left, right),
    ]
    return tuple(row for row in rows if row.left or row.right)


def _ended(side: Side) -> tuple[Line, ...]:
    if not side.trial:
        return (("", "not known: only steps were given"),)
    words = str(side.trial["status"])
    lines: list[Line] = [("" if words == "completed" else "caution", words.replace("_", " "))]
    if side.trial["error"] is not None:
        lines.append(("caution", short(str(side.trial["error"]))))
    return tuple(lines)


def _fault(side: Side) -> tuple[Line, ...]:
    if not side.trial or side.trial["exposure"] == "none_planned":
        return ()
    met = side.trial["exposure"] == "delivered"
    head: Line = ("", "met") if met else ("caution", "planned and not met")
    fault = side.trial["fault"]
    return (head, *_facts({} if fault is None else parse_json(str(fault))))


def _outcome_of(side: Side) -> Any:
    text = side.trial.get("outcome")
    return MISSING if text is None else parse_json(str(text))


def _outcomes(left: Side, right: Side) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The outcomes field by field; what differs between the two is marked, with the ratio of numbers."""
    values = _outcome_of(left), _outcome_of(right)
    differing: dict[str, str] = {}
    if all(isinstance(value, Mapping) for value in values):
        for key in {*values[0], *values[1]}:
            found = compare_values(values[1].get(key, MISSING), values[0].get(key, MISSING), field="value")
            apart = [each for each in found if not each.agrees]
            if apart:
                differing[key] = show_ratio(apart[0].ratio if len(found) == 1 else None)
    elif values[0] != values[1] and MISSING not in values:
        differing[""] = ""
    return _told(values[0], differing, ""), _told(values[1], differing, "right")


def _told(value: Any, differing: Mapping[str, str], side: str) -> tuple[Line, ...]:
    if value is MISSING:
        return (NOT_RECORDED,)
    if not isinstance(value, Mapping):
        return (("differs" if "" in differing else "", _value(value)),)
    lines: list[Line] = []
    for key in sorted(value):
        times = f" ({differing[key]})" if side and differing.get(key) else ""
        sign = "≠ " if key in differing else ""
        lines.append(("differs" if key in differing else "", f"{sign}{key} {_value(value[key])}{times}"))
    return tuple(lines) or (("", "empty"),)


def _value(value: Any) -> str:
    return short(canonical_json(value))


def _context(side: Side) -> Mapping[str, Any]:
    return {} if side.run is None else side.run.context(str(side.trial["task_id"]))


def _graded(side: Side, grade: Grade | None) -> tuple[Line, ...]:
    if grade is None:
        return (("", "not judged: no grader was given"),)
    context, outcome = _context(side), _outcome_of(side)
    if not context:
        return (("caution", "cannot tell: the run holds no ground truth of this task"),)
    if outcome is MISSING or not isinstance(outcome, Mapping):
        return (("caution", "cannot tell: no outcome was recorded"),)
    if side.trial["status"] not in BEHAVIOUR:
        return (("caution", "cannot tell: how the trial ended says nothing about the agent"),)
    return (("good", "✓ right"),) if grade(outcome, context) else (("bad", "✗ wrong"),)


def _truth(side: Side) -> tuple[Line, ...]:
    return _facts(_context(side))


def _facts(value: Any, prefix: str = "") -> tuple[Line, ...]:
    """Every fact of an object on its own line, with the path to it."""
    if not isinstance(value, Mapping) or (prefix and not value):
        return (("", f"{prefix} {_value(value)}".strip()),)
    below = (_facts(value[key], f"{prefix}.{key}" if prefix else key) for key in sorted(value))
    return tuple(line for lines in below for line in lines)


def _rules(side: Side) -> tuple[Line, ...]:
    if side.findings is None:
        return (("", "not checked against rules"),)
    counts = [(word, count) for word, count in side.findings.counts.items() if count]
    bad = side.findings.counts["violated"] > 0
    return (("bad" if bad else "", ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counts)),)


def _truths(left: tuple[Line, ...], right: tuple[Line, ...]) -> FootRow:
    if not left and not right:
        return FootRow("ground truth", (), ())
    return FootRow("ground truth", left or (NOT_RECORDED,), right or (NOT_RECORDED,), left == right)


def _missing_calls(left: Side, right: Side) -> FootRow:
    if not any(side.findings is not None and side.findings.missing for side in (left, right)):
        return FootRow("calls not made", (), ())
    return FootRow("calls not made", _missing(left), _missing(right))


def _missing(side: Side) -> tuple[Line, ...]:
    if side.findings is None:
        return (("", "not checked against rules"),)
    lines = [line for found in side.findings.missing for line in found.lines()]
    return tuple(lines) or (("", "none"),)
