"""Runs for the tests of this room, made trial by trial: one call of ``check`` is what the policy asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from plumbline.base.schema import trial_id
from plumbline.rules import MustCall, MustNotCall, Policy
from plumbline.traces import Plan, Recording

POLICY = Policy("pay", [MustCall("check", severity="critical"), MustNotCall("drop", severity="critical")])
ARM = "new"


@dataclass(frozen=True)
class Trial:
    """One trial to be recorded; a bad one calls ``drop``, an undecided one leaves a call without a result."""

    task: str = "t0"
    perturbation: str = "baseline"
    variant: str = "0"
    repetition: int = 0
    arm: str = ARM
    good: bool | None = True
    status: str = "completed"
    exposure: str = "none_planned"
    started_at: str | None = None

    @property
    def id(self) -> str:
        return trial_id(self.arm, self.task, self.perturbation, self.variant, self.repetition)


def run_of(trials: Iterable[Trial], *, plan: Plan | None = None, notes: Mapping[str, Any] | None = None) -> Recording:
    """Record trials."""
    rows, steps = [], []
    for trial in trials:
        rows.append(
            {
                "arm": trial.arm, "task_id": trial.task, "perturbation": trial.perturbation, "variant": trial.variant,
                "repetition": trial.repetition, "status": trial.status, "exposure": trial.exposure,
                "started_at": trial.started_at, "provenance": "live",
            }
        )  # fmt: skip
        if trial.good is False:
            steps.append({"trial_id": trial.id, "kind": "tool_call", "name": "drop", "status": "ok"})
        elif trial.status == "completed":
            status = "ok" if trial.good else "no_result"
            steps.append({"trial_id": trial.id, "kind": "tool_call", "name": "check", "status": status})
    frame = pd.DataFrame(steps, columns=["trial_id", "kind", "name", "status"], dtype=object)
    return Recording(pd.DataFrame(rows), frame, run_id="made", plan=plan, notes=notes or {})


def plan_of(
    *,
    tasks: int = 1,
    perturbations: tuple[str, ...] = ("baseline",),
    repetitions: int = 1,
    arms: tuple[str, ...] = (ARM,),
) -> Plan:
    """Plan one variant of every task and perturbation."""
    return Plan(arms, tuple(f"t{i}" for i in range(tasks)), perturbations, ("0",), repetitions)


def trials_of(plan: Plan, change: Callable[[Trial], Trial] = lambda trial: trial) -> list[Trial]:
    """Return every planned trial, changed one by one."""
    return [
        change(Trial(task, perturbation, variant, repetition, arm))
        for arm in plan.arms
        for task in plan.tasks
        for perturbation in plan.perturbations
        for variant in plan.variants
        for repetition in range(plan.repetitions)
    ]


def clean_run(plan: Plan, change: Callable[[Trial], Trial] = lambda trial: trial, **more: Any) -> Recording:
    """Record every planned trial of a plan."""
    return run_of(trials_of(plan, change), plan=plan, **more)


def met(trial: Trial) -> Trial:
    """Deliver the fault of every trial of the perturbation ``fault``."""
    return replace(trial, exposure="delivered") if trial.perturbation == "fault" else trial
