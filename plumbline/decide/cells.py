"""Conditions of one arm, counted against the plan: every planned trial has a place, also one without a record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.analysis import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.base.schema import TRIAL_STATUSES, trial_id
from plumbline.decide.counting import CountingRule
from plumbline.stats.estimate import Result
from plumbline.traces import Plan, Recording

__all__ = ["NO_RECORD", "Cell", "Exposed", "TaskCount", "arm_rows", "checked_ignorable", "count_cells", "fault_names"]

NO_RECORD = "no_record"
_CAUSES = tuple(status for status in TRIAL_STATUSES if status not in BEHAVIOUR)


@dataclass(frozen=True, kw_only=True)
class Exposed(Result):
    """Trials of a perturbation that plans faults: how many were to meet one, did, did not, or left no record."""

    planned: int
    delivered: int
    not_delivered: int
    unknown: int


@dataclass(frozen=True, kw_only=True)
class TaskCount(Result):
    """One task within a condition: planned trials, ``k`` successes of ``n`` counted, and known failures."""

    task_id: str
    planned: int
    k: int
    n: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Cell(Result):
    """One condition: counts with every denominator, exposure, and the bound.

    ``k`` of ``n`` is what the rule counts; ``succeeded`` and ``failed`` are known results, ``missing`` trials that say
    nothing about the agent, ``undecided`` finished trials whose success the record cannot tell, ``ignored`` missing
    trials left out because their cause was declared ignorable. ``state`` is ``known``, ``blocked`` (planned faults were
    not met), ``no_runs`` or ``no_claim``; ``bound`` of a blocked cell is about the input under that name, not about
    faults.
    """

    perturbation: str
    planned: int
    recorded: int
    completed: int
    missing: int
    undecided: int
    ignored: int
    succeeded: int
    failed: int
    k: int
    n: int
    causes: dict[str, int]
    exposure: Exposed | None
    uncovered: int
    by_task: tuple[TaskCount, ...]
    value: float | None = None
    bound: float | None = None
    effective_n: float | None = None
    state: str = "no_runs"
    reason: str = ""

    @property
    def unresolved(self) -> int:
        """Planned trials that are neither a known success nor a known failure."""
        return self.planned - self.succeeded - self.failed

    def can_pass(self, threshold: float) -> bool:
        """Whether the condition could reach a threshold if every result on record were a success."""
        return self.planned > 0 and (self.planned - self.unresolved) / self.planned >= threshold


def checked_ignorable(ignorable: Mapping[str, str] | Collection[str]) -> dict[str, str]:
    """Return declared causes with their reasons; a cause is a status on record, and a reason is not empty."""
    if not isinstance(ignorable, Mapping):
        if ignorable:
            raise ParameterError(
                'ignorable maps a cause to its reason, for example {"budget_stop": "cap of the study"}'
            )
        return {}
    for cause, reason in ignorable.items():
        if cause == NO_RECORD:
            raise ParameterError(
                "a trial without a record has no cause on record, so it cannot be declared ignorable; "
                "record it (status 'not_run' with the error) or leave it a failure"
            )
        if cause not in _CAUSES:
            raise ParameterError(f"ignorable cause {cause!r} is not one of {', '.join(_CAUSES)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ParameterError(
                f"ignorable cause {cause!r} needs a reason: why it cannot depend on what the agent does"
            )
    return dict(ignorable)


def fault_names(recording: Recording, declared: Collection[str] = ()) -> tuple[str, ...]:
    """Return the perturbations that plan faults: those declared, and those in which any trial on record had one."""
    if isinstance(declared, str):
        raise ParameterError(f"faults is the text {declared!r}; give a list of perturbations")
    trials = recording.trials
    armed = trials[(trials["exposure"] != "none_planned") | trials["fault"].notna()]
    return tuple(sorted({*declared, *armed["perturbation"].unique()}))


def arm_rows(recording: Recording, arm: str, plan: Plan | None) -> pd.DataFrame:
    """Return one row a planned trial of an arm: ``trial_id, task_id, perturbation, status, exposure``."""
    known = plan.arms if plan is not None else recording.arms
    if arm not in known:
        raise ParameterError(f"the plan of run {recording.run_id!r} has no arm {arm!r}; it has {', '.join(known)}")
    trials = recording.trials[recording.trials["arm"] == arm]
    trials = trials[["trial_id", "task_id", "perturbation", "status", "exposure"]]
    if plan is None:
        return trials.reset_index(drop=True)
    planned = [
        (trial_id(arm, task, perturbation, variant, repetition), task, perturbation)
        for perturbation in plan.perturbations
        for task in plan.tasks
        for variant in plan.variants
        for repetition in range(plan.repetitions)
    ]
    rows = pd.DataFrame(planned, columns=["trial_id", "task_id", "perturbation"])
    rows = rows.merge(trials[["trial_id", "status", "exposure"]], how="left", on="trial_id")
    return rows.assign(status=rows["status"].fillna(NO_RECORD))


def count_cells(
    rows: pd.DataFrame,
    ok: pd.Series,
    rule: CountingRule,
    *,
    perturbations: Collection[str],
    ignorable: Mapping[str, str],
    faults: Collection[str],
) -> tuple[Cell, ...]:
    """Count every condition; the bounds are put in later."""
    success = ok.astype("boolean").reindex(rows["trial_id"]).reset_index(drop=True)
    behaved = rows["status"].isin(BEHAVIOUR)
    failed = (success == False).fillna(False).astype(bool)  # noqa: E712  three-valued: missing is not False
    rows = rows.assign(
        recorded=~rows["status"].isin([NO_RECORD, "not_run"]),
        completed=rows["status"] == "completed",
        missing=~behaved,
        undecided=behaved & success.isna(),
        ignored=rows["status"].isin(list(ignorable)) & ~failed,
        failed=failed,
        succeeded=behaved & success.fillna(False).astype(bool),
        delivered=rows["exposure"] == "delivered",
    )
    counted = {
        "planned": ~rows["ignored"],
        "completed": rows["completed"] & success.notna(),
        "recorded": rows["recorded"],
    }[rule.counts]
    rows = rows.assign(
        counted=counted, hit=rows["succeeded"] & (rows["completed"] if rule.counts != "planned" else True)
    )
    groups = dict(iter(rows.groupby("perturbation", sort=False)))
    return tuple(_cell(name, groups.get(name, rows.iloc[:0]), faulty=name in faults) for name in perturbations)


def _cell(name: str, rows: pd.DataFrame, *, faulty: bool) -> Cell:
    def total(column: str) -> int:
        return int(rows[column].sum())

    armed = rows[~rows["ignored"]]
    exposure = None
    if faulty:
        met, unknown = int(armed["delivered"].sum()), int((armed["status"] == NO_RECORD).sum())
        exposure = Exposed(planned=len(armed), delivered=met, not_delivered=len(armed) - met - unknown, unknown=unknown)
    causes: dict[Any, int] = rows.loc[rows["missing"], "status"].value_counts().sort_index().to_dict()
    return Cell(
        perturbation=name,
        planned=len(rows),
        recorded=total("recorded"),
        completed=total("completed"),
        missing=total("missing"),
        undecided=total("undecided"),
        ignored=total("ignored"),
        succeeded=total("succeeded"),
        failed=total("failed"),
        k=total("hit"),
        n=total("counted"),
        causes={str(cause): int(number) for cause, number in causes.items()},
        exposure=exposure,
        uncovered=int((~armed["delivered"] & ~armed["failed"]).sum()) if faulty else 0,
        by_task=tuple(_task(str(task), part) for task, part in rows.groupby("task_id", sort=False)),
    )


def _task(task: str, rows: pd.DataFrame) -> TaskCount:
    hit, counted, failed = (int(rows[column].sum()) for column in ("hit", "counted", "failed"))
    return TaskCount(task_id=task, planned=len(rows), k=hit, n=counted, failed=failed)
