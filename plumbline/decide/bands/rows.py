"""One row a fixture and field: what was measured, the band, the verdict, how far from the edge, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plumbline.decide.bands.parts import RatioBand, ScoreBand
from plumbline.decide.bands.units import show_ratio
from plumbline.decide.bands.words import rule_text

__all__ = ["COLUMNS", "SUITE", "VERDICTS", "WORST", "Found", "Row", "graded_ratio", "graded_score", "row"]

VERDICTS = ("pass", "warn", "fail", "cannot_tell", "unusable", "waived")
"""``warn`` is for a reviewer; ``unusable`` says that the incumbent itself does not keep the band; a waived failure is
no pass."""
WORST = {"pass": 0, "warn": 1, "waived": 2, "unusable": 3, "cannot_tell": 4, "fail": 5}
SUITE = "(suite)"
"""Stands for a fixture where a row is about all of them; ``(slice NAME)`` where it is about a slice."""
COLUMNS = (
    "fixture", "field", "verdict", "value", "unit", "band", "distance", "severity", "scope", "note", "evidence",
    "baseline", "candidate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What one comparison found: verdict, measured value, distance to the edge of what passes, a note, evidence."""

    verdict: str
    value: float | None = None
    unit: str = ""
    distance: float | None = None
    note: str = ""
    evidence: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One verdict.

    Parameters
    ----------
    fixture : str
        Name, or ``(suite)`` and ``(slice NAME)`` for what is measured over many.
    field : str
        What was judged.
    verdict : {'pass', 'warn', 'fail', 'cannot_tell', 'unusable', 'waived'}
    value : float or None
        What was measured, None where there is no number.
    unit : str
        ``score``, ``x`` or empty.
    band : str
        What passes and warns.
    distance : float or None
        From the edge of what passes, in the unit; negative outside.
    severity : {'block', 'warning'}
    scope : str
        Empty for the rule of every fixture, else the override that holds.
    note : str
        What a reviewer should know; a row that passes without a note did not move.
    evidence : str
        Where to look: values and steps.
    baseline, candidate : str
        Trials that were compared.
    """

    fixture: str
    field: str
    verdict: str
    value: float | None
    unit: str
    band: str
    distance: float | None
    severity: str
    scope: str
    note: str
    evidence: str
    baseline: str
    candidate: str

    @property
    def moved(self) -> bool:
        """Whether a reviewer is shown this row."""
        return self.verdict != "pass" or bool(self.note)


def row(
    fixture: str, field: str, rule: Any, scope: str, found: Found, *, baseline: str = "", candidate: str = ""
) -> Row:
    """Return the row of a finding."""
    return Row(
        fixture=fixture,
        field=field,
        verdict=found.verdict,
        value=found.value,
        unit=found.unit,
        band=band_of(rule),
        distance=found.distance,
        severity=rule.severity,
        scope=scope,
        note=found.note,
        evidence=found.evidence,
        baseline=baseline,
        candidate=candidate,
    )


_SAID: dict[int, tuple[Any, str]] = {}


def band_of(rule: Any) -> str:
    """Return what a rule passes and warns, in words, worked out once a rule."""
    known = _SAID.get(id(rule))
    if known is None or known[0] is not rule:
        known = _SAID[id(rule)] = (rule, rule_text(rule))
    return known[1]


def graded_score(
    passed: ScoreBand, warned: ScoreBand | None, value: float, *, note: str = "", evidence: str = ""
) -> Found:
    """Grade a similarity.

    Examples
    --------
    >>> graded_score(ScoreBand(at_least=0.92), ScoreBand(at_least=0.85), 0.9).verdict
    'warn'
    """
    inside = value >= passed.at_least
    verdict = "pass" if inside else "warn" if warned is not None and value >= warned.at_least else "fail"
    return Found(verdict, value, "score", value - passed.at_least, note, evidence)


def graded_ratio(passed: RatioBand, warned: RatioBand | None, value: float) -> Found:
    """Grade a ratio to the baseline.

    Examples
    --------
    >>> graded_ratio(RatioBand(at_least="0.7x", at_most="1.4x"), None, 1.6).verdict
    'fail'
    """
    distance = _inside(passed, value)
    verdict = "pass" if distance >= 0 else "warn" if warned is not None and _inside(warned, value) >= 0 else "fail"
    return Found(verdict, value, "x", distance, "" if verdict == "pass" else _outside(passed, value))


def _inside(band: RatioBand, value: float) -> float:
    edges = []
    if band.at_least is not None:
        edges.append(value - band.at_least)
    if band.at_most is not None:
        edges.append(band.at_most - value)
    return min(edges)


def _outside(band: RatioBand, value: float) -> str:
    if band.at_most is not None and value > band.at_most:
        return f"above {show_ratio(band.at_most)}"
    return f"below {show_ratio(band.at_least or 0.0)}"
