"""Conditions of one arm, counted against the plan: every planned trial has a place, also one without a record."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plumbline.analysis import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.base.schema import TRIAL_STATUSES, trial_id
from plumbline.decide.counting import CountingRule
from plumbline.stats.estimate import Result
from plumbline.traces import Plan, Recording

__all__ = ["NO_RECORD", "Cell", "Exposed", "TaskCount", "arm_rows", "checked_ignorable", "count_cells", "fault_names"]

NO_RECORD = "no_record"
_COUNTS = ("planned", "recorded", "completed", "missing", "undecided", "ignored", "succeeded", "failed", "k", "n")
_SEEN = ["trial_id", "status", "exposure"]
_OF_TASK = ("planned", "k", "n", "failed")
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
    trials = recording.trials[recording.trials["arm"].to_numpy(object) == arm]
    trials = trials[["trial_id", "task_id", "perturbation", "status", "exposure"]]
    if plan is None:
        return trials.reset_index(drop=True)
    known_trials = {name: (status, met) for name, status, met in trials[_SEEN].itertuples(index=False, name=None)}
    nothing = (NO_RECORD, None)
    planned = []
    for perturbation, task in itertools.product(plan.perturbations, plan.tasks):
        for variant, repetition in itertools.product(plan.variants, range(plan.repetitions)):
            name = trial_id(arm, task, perturbation, variant, repetition)
            planned.append((name, task, perturbation, *known_trials.get(name, nothing)))
    return pd.DataFrame(planned, columns=list(trials.columns), dtype=object)


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
    success = ok.astype("boolean").reindex(rows["trial_id"])
    known, won = success.notna().to_numpy(), success.fillna(False).to_numpy(bool)
    status = rows["status"].to_numpy(object)
    behaved, completed = np.isin(status, BEHAVIOUR), status == "completed"
    recorded, failed = ~np.isin(status, [NO_RECORD, "not_run"]), known & ~won
    ignored = np.isin(status, list(ignorable)) & ~failed
    delivered = (rows["exposure"] == "delivered").to_numpy(bool)
    of_rule = {"planned": ~ignored, "completed": completed & known, "recorded": recorded}
    columns = {
        "planned": np.ones(len(rows), bool), "recorded": recorded, "completed": completed, "missing": ~behaved,
        "undecided": behaved & ~known, "ignored": ignored, "succeeded": behaved & won, "failed": failed,
        "k": behaved & won & (completed if rule.counts != "planned" else True), "n": of_rule[rule.counts],
        "armed": ~ignored, "met": delivered & ~ignored, "unknown": ~ignored & (status == NO_RECORD),
        "uncovered": ~ignored & ~delivered & ~failed,
    }  # fmt: skip
    keys = [rows["perturbation"].to_numpy(object), rows["task_id"].to_numpy(object)]
    whole = pd.DataFrame({name: flags.astype(np.int64) for name, flags in columns.items()})
    sums = whole.groupby(keys, sort=False).sum()
    by_task: dict[str, list[dict[str, Any]]] = {name: [] for name in perturbations}
    for (name, task), *counts in zip(sums.index, *(sums[column] for column in columns), strict=True):
        by_task[name].append({"task_id": task, **dict(zip(columns, counts, strict=True))})
    causes: dict[str, Counter[str]] = {name: Counter() for name in perturbations}
    for name, cause in zip(keys[0][~behaved], status[~behaved], strict=True):
        causes[name][cause] += 1
    return tuple(_cell(name, by_task[name], causes[name], faulty=name in faults) for name in perturbations)


def _cell(name: str, tasks: Collection[Mapping[str, Any]], causes: Mapping[str, int], *, faulty: bool) -> Cell:
    names = (*_COUNTS, "armed", "met", "unknown", "uncovered")
    total: dict[str, Any] = {key: sum(int(task[key]) for task in tasks) for key in names}
    exposure = None
    if faulty:
        armed, met, unknown = total["armed"], total["met"], total["unknown"]
        exposure = Exposed(planned=armed, delivered=met, not_delivered=armed - met - unknown, unknown=unknown)
    return Cell(
        perturbation=name,
        causes=dict(sorted(causes.items())),
        exposure=exposure,
        uncovered=total["uncovered"] if faulty else 0,
        by_task=tuple(TaskCount(task_id=str(t["task_id"]), **{key: int(t[key]) for key in _OF_TASK}) for t in tasks),
        **{key: total[key] for key in _COUNTS},
    )
