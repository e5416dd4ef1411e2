"""One arm, counted and bounded under one rule: what certificates, ladders and gates are made of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from plumbline.base.errors import ParameterError
from plumbline.decide.bounds import Figure, bounded, figure
from plumbline.decide.cautions import cautions
from plumbline.decide.cells import Cell, arm_rows, checked_ignorable, count_cells, fault_names
from plumbline.decide.counting import CountingRule, counting_rule
from plumbline.decide.measures import Measured
from plumbline.decide.settings import Settings, share
from plumbline.traces import Plan, Recording

__all__ = ["Counted", "count_arm"]


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The conditions of an arm with their bounds, the figure over them, and what a reader must know."""

    rule: CountingRule
    sidedness: str
    cells: tuple[Cell, ...]
    figure: Figure
    tasks: tuple[str, ...]
    faults: tuple[str, ...]
    ignorable: dict[str, str]
    plan: Plan | None
    caution: tuple[str, ...]


def count_arm(
    recording: Recording, found: Measured, *, arm: str, settings: Settings, plan: Plan | None = None
) -> Counted:
    """Count an arm against a plan, by default the run's own.

    Raises
    ------
    ParameterError
        An arm, rule, scope, cause or value that is not possible.
    """
    rule, side = counting_rule(settings.rule, scope=settings.scope, sidedness=settings.sidedness)
    if settings.threshold is not None:
        share(settings.threshold, "threshold")
    against = recording.plan if plan is None else plan
    rows = arm_rows(recording, arm, against)
    ignorable = checked_ignorable(settings.ignorable)
    if ignorable and not rule.guards:
        raise ParameterError(f"rule {rule.name!r} takes no ignorable causes; its missing runs are {rule.missing}")
    names = against.perturbations if against is not None else _own(recording, arm)
    faults = _known_faults(fault_names(recording, settings.faults), settings.faults, names)
    counts = count_cells(rows, found.ok, rule, perturbations=names, ignorable=ignorable, faults=faults)
    cells, known = bounded(
        counts, rule, scope=settings.scope, confidence=settings.confidence, sidedness=side, rho=settings.rho
    )  # fmt: skip
    return Counted(
        rule=rule,
        sidedness=side,
        cells=cells,
        figure=figure(cells, known, rule),
        tasks=against.tasks if against is not None else tuple(map(str, rows["task_id"].unique())),
        faults=faults,
        ignorable=ignorable,
        plan=against,
        caution=cautions(recording, arm, found, cells, rule, ignorable, against, settings),
    )


def _own(recording: Recording, arm: str) -> tuple[str, ...]:
    recorded = set(recording.trials.loc[recording.trials["arm"] == arm, "perturbation"])
    return tuple(name for name in recording.perturbations if name in recorded)


def _known_faults(found: tuple[str, ...], declared: Collection[str], names: Collection[str]) -> tuple[str, ...]:
    if strange := [name for name in declared if name not in names]:
        raise ParameterError(f"faults names {', '.join(strange)}, which is not planned; planned are {', '.join(names)}")
    return tuple(name for name in names if name in found)
