"""Runs for the tests of this room, made trial by trial: one call of ``check`` is what the policy asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
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


def run_of(
    trials: Iterable[Trial], *, plan: Plan | None = None, notes: Mapping[str, Any] | None = None, check: bool = False
) -> Recording:
    """Record trials; with ``check``, through the validation of frames, otherwise quickly, into the same rows."""
    made = sorted(trials, key=lambda t: (t.arm, t.task, t.perturbation, t.variant, t.repetition))
    names = ("arm", "task_id", "perturbation", "variant", "repetition", "status", "exposure", "started_at")
    rows = {
        name: [getattr(trial, "task" if name == "task_id" else name) for trial in made] for name in names
    }  # fmt: skip
    calls = [(trial, *_call(trial)) for trial in made if _call(trial)]
    steps = {
        "trial_id": [trial.id for trial, *_ in calls],
        "kind": ["tool_call"] * len(calls),
        "name": [name for _, name, _ in calls],
        "status": [status for *_, status in calls],
    }
    if check:
        frames = pd.DataFrame(rows | {"provenance": "live"}), pd.DataFrame(steps, dtype=object)
        return Recording(*frames, run_id="made", plan=plan, notes=notes or {})
    rows |= {"trial_id": [trial.id for trial in made], "family_id": rows["task_id"]}
    keys = {name: [getattr(trial, "task" if name == "task_id" else name) for trial, *_ in calls] for name in names[:5]}
    steps |= keys | {"family_id": keys["task_id"]}
    fields = {"run_id": "made", "tasks": {}, "plan": plan, "domain": None, "notes": dict(notes or {})}
    template = _template()
    return Recording._trusted(_filled(template.trials, rows), _filled(template.steps, steps), **fields)


def _call(trial: Trial) -> tuple[str, ...]:
    if trial.good is False:
        return "drop", "ok"
    if trial.status != "completed":
        return ()
    return "check", "ok" if trial.good else "no_result"


@cache
def _template() -> Recording:
    return run_of([Trial()], check=True)


def _filled(template: pd.DataFrame, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Return a frame like the template with other rows, column types kept."""
    size = len(columns["trial_id"])
    frame = template.iloc[[0] * size].reset_index(drop=True)
    return frame.assign(**{name: pd.Series(values, dtype=template[name].dtype) for name, values in columns.items()})


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
