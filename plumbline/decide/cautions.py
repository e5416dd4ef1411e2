"""The sentences a reader of a certificate must not miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plumbline.decide.cells import Cell
from plumbline.decide.counting import CountingRule
from plumbline.decide.measures import Measured
from plumbline.decide.settings import Settings
from plumbline.traces import Plan, Recording

__all__ = ["cautions"]

_FIRST_HAND = ("live", "re_executed")


def cautions(
    recording: Recording,
    arm: str,
    found: Measured,
    cells: Sequence[Cell],
    rule: CountingRule,
    ignorable: Mapping[str, str],
    plan: Plan | None,
    settings: Settings,
) -> tuple[str, ...]:
    """Return the cautions of a certificate, in the order in which they matter."""
    said = []
    if plan is None:
        said.append(_no_plan(recording, arm, cells))
    said += _outside(recording, arm, plan)
    for cause, reason in ignorable.items():
        number = sum(min(cell.causes.get(cause, 0), cell.ignored) for cell in cells)
        said.append(f"{number} runs left out, cause {cause} declared ignorable: {reason}")
        said += _emptied(cells, cause)
    if not rule.guards:
        said += _unguarded(cells, rule)
    if undecided := sum(cell.undecided for cell in cells):
        fate = "counted as failures" if rule.counts == "planned" else "not counted as successes"
        said.append(f"{undecided} finished runs have no known result; {fate}")
    if settings.threshold is not None:
        said += [_too_many(cell, settings.threshold) for cell in cells if not cell.can_pass(settings.threshold)]
    said += _second_hand(recording, arm)
    said += [f"policy: {note}" for note in found.notes]
    return tuple(said)


def _no_plan(recording: Recording, arm: str, cells: Sequence[Cell]) -> str:
    here = {cell.perturbation for cell in cells}
    elsewhere = [name for name in recording.perturbations if name not in here]
    other = f"; other arms also recorded {', '.join(elsewhere)}" if elsewhere else ""
    return f"the run holds no plan: only what was recorded is certified, and a run left out cannot be noticed{other}"


def _outside(recording: Recording, arm: str, plan: Plan | None) -> list[str]:
    if plan is None or plan is recording.plan:
        return []
    recorded = set(recording.trials.loc[recording.trials["arm"] == arm, "trial_id"])
    extra = sorted(recorded - set(plan.trial_ids()))
    if not extra:
        return []
    return [f"{len(extra)} recorded runs are outside the plan and left out, the first is {extra[0]}"]


def _emptied(cells: Sequence[Cell], cause: str) -> list[str]:
    """Name tasks of which nothing is left: a claim about the suite is then a claim without them."""
    gone = {
        cell.perturbation: [t.task_id for t in cell.by_task if t.n == 0] for cell in cells if cell.causes.get(cause)
    }
    return [f"{name}: nothing is left of task {', '.join(tasks)}" for name, tasks in gone.items() if tasks]


def _unguarded(cells: Sequence[Cell], rule: CountingRule) -> list[str]:
    empty = [] if rule.true_minimum else [cell for cell in cells if cell.n == 0]
    said = [f"{cell.perturbation} is skipped: it has no counted run" for cell in empty]
    for cell in cells:
        met = cell.exposure
        if met is not None and cell.uncovered:
            said.append(
                f"{cell.perturbation}: {met.delivered} of {met.planned} planned faults were met, which this rule does "
                "not look at; the figure is about the input under that name"
            )
    return said


def _too_many(cell: Cell, threshold: float) -> str:
    return (
        f"{cell.perturbation} cannot pass: {cell.unresolved} of {cell.planned} runs have no known result, more than "
        f"the share of {1 - threshold:.3g} that a threshold of {threshold:g} leaves"
    )


def _second_hand(recording: Recording, arm: str) -> list[str]:
    origin = recording.trials.loc[recording.trials["arm"] == arm, "provenance"].value_counts().sort_index()
    return [f"{number} runs are {name}, not live" for name, number in origin.items() if name not in _FIRST_HAND]
