"""Latency, tokens, cost and steps: ratios of the candidate to the baseline, of one fixture or of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plumbline.decide.bands.parts import RatioRule
from plumbline.decide.bands.rows import Found, graded_ratio
from plumbline.decide.bands.trials import Trial
from plumbline.stats.estimate import Estimate
from plumbline.stats.medians import median_ratio

__all__ = ["fixture_ratio", "suite_ratio"]

_UNITS = {"latency": "ms", "tokens": "tokens", "cost": "USD", "steps": "steps"}


def _measured(field: str, trials: Sequence[Trial]) -> list[float]:
    name = {"latency": "latency_ms"}.get(field, field)
    values = (getattr(trial, name) for trial in trials if trial.behaved)
    return [float(value) for value in values if value is not None]


def fixture_ratio(field: str, rule: RatioRule, before: Sequence[Trial], after: Sequence[Trial]) -> Found:
    """Grade the ratio of the medians over the repetitions of one fixture."""
    old, new = _measured(field, before), _measured(field, after)
    if not old or not new:
        which = "baseline" if not old else "candidate"
        return Found("cannot_tell", note=f"not judged: no {field} of the {which} on record")
    if len(old) == len(new) == 1:  # the usual case, without the machinery
        if not old[0]:
            return Found("cannot_tell", note="the baseline's median is zero: no ratio")
        found = graded_ratio(rule.pass_, rule.warn, new[0] / old[0])
        evidence = f"{old[0]:g} → {new[0]:g} {_UNITS[field]}, one run each: no interval"
        return replace(found, evidence=evidence)
    estimate = median_ratio(new, old)
    if estimate.value is None:
        return Found("cannot_tell", note=estimate.caution[0])
    found = graded_ratio(rule.pass_, rule.warn, estimate.value)
    return replace(found, evidence=_said(field, estimate, old, new))


def suite_ratio(field: str, rule: RatioRule, members: Sequence[tuple[Sequence[Trial], Sequence[Trial]]]) -> Found:
    """Grade the ratio of the medians over many fixtures, each counted once."""
    from statistics import median

    both = [(_measured(field, before), _measured(field, after)) for before, after in members]
    told = [(median(old), median(new)) for old, new in both if old and new]
    if not told:
        return Found("cannot_tell", note=f"not judged: no fixture has {field} on record on both sides")
    old, new = [pair[0] for pair in told], [pair[1] for pair in told]
    estimate = median_ratio(new, old)
    if estimate.value is None:
        return Found("cannot_tell", note=estimate.caution[0])
    found = graded_ratio(rule.pass_, rule.warn, estimate.value)
    evidence = _said(field, estimate, old, new)
    if len(told) < len(members):
        evidence += f"; {len(members) - len(told)} of {len(members)} fixtures not counted: not measured on both sides"
    note = found.note
    beyond = estimate.low is not None and estimate.high is not None and not estimate.low <= 1 <= estimate.high
    if found.verdict == "pass" and (beyond or (estimate.low is None and estimate.value != 1)):
        way = "up" if estimate.value > 1 else "down"
        note = f"p50 {way} {estimate.value:.3g}x, within the band"
    return replace(found, evidence=evidence, note=note)


def _said(field: str, estimate: Estimate, old: Sequence[float], new: Sequence[float]) -> str:
    from statistics import median

    unit = _UNITS[field]
    middle = f"median {median(old):g} → {median(new):g} {unit}"
    if estimate.low is None or estimate.high is None:
        return f"{middle}, ratio {estimate.value:.3g}; {estimate.caution[0] if estimate.caution else 'no interval'}"
    return f"{middle}, ratio {estimate.value:.3g} [{estimate.low:.3g}, {estimate.high:.3g}] over {len(old)} pairs"
