"""What a gate asks of the evidence, one question at a time; each answer is pass, fail or cannot tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from plumbline.analysis import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.decide.cells import Cell
from plumbline.decide.measures import Measured
from plumbline.decide.settings import Settings
from plumbline.rules import VERDICTS
from plumbline.stats import proportion, runs_needed, tasks_estimate
from plumbline.stats.estimate import Result
from plumbline.traces import Recording

__all__ = ["Check", "best_end", "cell_checks", "digits", "rule_checks"]

_VIOLATED, _UNOBSERVABLE = VERDICTS.index("violated"), VERDICTS.index("unobservable")
_MOST_TASKS = 512
_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Check(Result):
    """One question and its answer.

    ``kind`` is ``cell``, ``rule``, ``plan`` or ``comparison``; ``status`` is ``pass``, ``fail`` or ``cannot_tell``;
    ``code`` names the ground, ``sentence`` says it, ``numbers`` hold its figures unrounded.
    """

    kind: str
    name: str
    status: str
    code: str
    sentence: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status.replace('_', ' ')}: {self.kind} {self.name}: {self.sentence} [{self.code}]"


def digits(value: float | None, threshold: float) -> str:
    """Return a figure with as many decimals as it takes to see on which side of the threshold it lies.

    Examples
    --------
    >>> digits(0.9499998, 0.95), digits(0.9, 0.95)
    ('0.9499998', '0.9000')
    """
    if value is None:
        return "not available"
    for places in range(4, 17):
        if (round(value, places) < threshold) == (value < threshold):
            return f"{value:.{places}f}"
    return repr(value)


def best_end(cells: Sequence[Cell], settings: Settings) -> dict[str, float | None]:
    """Return the upper bound of every condition with all that is open going well, jointly at the confidence.

    Missing runs, undecided ones and faults that were not met are taken as successes; what remains are failures on
    record. The bounds are corrected for the number of conditions (Bonferroni), since the smallest one is read.
    """
    level = 1 - (1 - settings.confidence) / len(cells)
    found: dict[str, float | None] = {}
    for cell in cells:
        if cell.planned == 0:
            found[cell.perturbation] = None
        elif settings.scope == "suite":
            best = proportion(
                cell.planned - cell.failed, cell.planned, method="clopper_pearson", confidence=level, sidedness="upper"
            )
            found[cell.perturbation] = best.high
        else:
            wins = [task.planned - task.failed for task in cell.by_task]
            sizes = [task.planned for task in cell.by_task]
            best = tasks_estimate(wins, sizes, rho=settings.rho, confidence=level, sidedness="upper")
            found[cell.perturbation] = best.high
    return found


def cell_checks(cells: Sequence[Cell], settings: Settings, threshold: float) -> list[Check]:
    """Ask of every planned condition whether its bound reaches the threshold."""
    best = best_end(cells, settings)
    return [_cell(cell, best[cell.perturbation], settings, threshold) for cell in cells]


def _cell(cell: Cell, best: float | None, settings: Settings, threshold: float) -> Check:
    numbers: dict[str, Any] = {
        "planned": cell.planned, "completed": cell.completed, "missing": cell.missing, "k": cell.k, "n": cell.n,
        "failed": cell.failed, "bound": cell.bound, "best": best, "threshold": threshold,
    }  # fmt: skip
    here: dict[str, Any] = {"kind": "cell", "name": cell.perturbation, "numbers": numbers}
    if best is not None and best < threshold:
        said = (
            f"{cell.failed} of {cell.planned} runs failed: even if every open one went well, the rate is at most "
            f"{digits(best, threshold)}, below {threshold:g}"
        )
        return Check(status="fail", code="below_threshold", sentence=said, **here)
    open_: dict[str, Any] = {"status": "cannot_tell", **here}
    if cell.state == "blocked":
        return Check(code="exposure", sentence=cell.reason, **open_)
    if cell.state == "no_claim":
        return Check(code="too_few_tasks", sentence=cell.reason, **open_)
    if cell.bound is not None and cell.bound >= threshold and cell.can_pass(threshold):
        said = f"bound {digits(cell.bound, threshold)} ({cell.k}/{cell.n}) reaches {threshold:g}"
        return Check(status="pass", code="bound_reached", sentence=said, **here)
    needs, numbers["more_runs"] = _more(cell, settings, threshold)
    if cell.bound is None:
        return Check(code="no_runs", sentence=f"{cell.reason}; {needs}", **open_)
    bound = f"bound {digits(cell.bound, threshold)} ({cell.k}/{cell.n})"
    if not cell.can_pass(threshold):
        said = f"{cell.unresolved} of {cell.planned} runs have no known result, more than {threshold:g} leaves room for"
        return Check(code="missing_share", sentence=f"{said}; {bound}; {needs}", **open_)
    return Check(code="bound_below", sentence=f"{bound} is below {threshold:g}; {needs}", **open_)


def _more(cell: Cell, settings: Settings, threshold: float) -> tuple[str, int | None]:
    """Say how many more clean runs would do, those that are missing among them."""
    if settings.scope == "tasks":
        return _more_tasks(cell, settings, threshold)
    needed = runs_needed(threshold, failures=cell.failed, confidence=settings.confidence)
    more = max(needed - cell.succeeded - cell.failed, cell.unresolved)
    filled = f", {cell.unresolved} of them in place of runs without a result" if cell.unresolved else ""
    return f"{more} more clean runs would do{filled}", more


def _more_tasks(cell: Cell, settings: Settings, threshold: float) -> tuple[str, int | None]:
    tasks = [task for task in cell.by_task if task.n]
    if not tasks:
        return "run the planned tasks first", None
    wins, sizes = [task.k for task in tasks], [task.n for task in tasks]
    each = max(sizes)

    def enough(extra: int) -> bool:
        found = tasks_estimate(
            [*wins, *[each] * extra], [*sizes, *[each] * extra], rho=settings.rho, confidence=settings.confidence,
            sidedness="lower",
        )  # fmt: skip
        return found.low is not None and found.low >= threshold

    high = 1
    while high < _MOST_TASKS and not enough(high):
        high *= 2
    if not enough(high):
        return f"more than {high} further clean tasks of {each} runs would be needed", None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return f"{high} further clean tasks of {each} runs would do", high * each


def rule_checks(recording: Recording, found: Measured, arm: str, rules: Sequence[str]) -> list[Check]:
    """Ask of every critical rule whether any trial of the arm violated it."""
    if not rules:
        return []
    if found.verdicts is None or found.policy is None:
        raise ParameterError("critical_rules are ids of a policy's rules; give policy=")
    known = found.policy.ids
    if strange := [rule for rule in rules if rule not in known]:
        names = ", ".join(known)
        raise ParameterError(f"critical_rules names {', '.join(strange)}; policy {found.policy.name!r} has {names}")
    keys = found.verdicts.table.keys
    status = recording.trials.set_index("trial_id")["status"].reindex(keys["trial_id"]).reset_index(drop=True)
    own = (keys["arm"] == arm).reset_index(drop=True)
    behaved = own & status.isin(BEHAVIOUR)
    verdicts = found.verdicts.verdict
    return [
        _rule(rule, pd.Series(verdicts[known.index(rule)]), keys["trial_id"].reset_index(drop=True), own, behaved)
        for rule in rules
    ]


def _rule(rule: str, verdict: pd.Series, names: pd.Series, own: pd.Series, behaved: pd.Series) -> Check:
    violated = list(names[own & (verdict == _VIOLATED)])
    unseen = list(names[behaved & (verdict == _UNOBSERVABLE)])
    held = int((own & (verdict == VERDICTS.index("held"))).sum())
    numbers = {"violated": len(violated), "unobservable": len(unseen), "held": held, "trials": violated or unseen}
    here: dict[str, Any] = {"kind": "rule", "name": rule, "numbers": numbers}
    if violated:
        said = f"violated in {len(violated)} of {int(own.sum())} trials: {_some(violated)}"
        return Check(status="fail", code="rule_violated", sentence=said, **here)
    if unseen:
        said = f"cannot be observed in {len(unseen)} finished trials: {_some(unseen)}"
        return Check(status="cannot_tell", code="rule_unobservable", sentence=said, **here)
    if not held:
        said = "no trial puts it to the test, so it was not upheld either"
        return Check(status="cannot_tell", code="rule_vacuous", sentence=said, **here)
    return Check(status="pass", code="rule_held", sentence=f"violated in no trial, held in {held}", **here)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
