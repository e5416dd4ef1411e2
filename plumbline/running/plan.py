"""A whole plan, trial by trial, into one recording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pandas as pd

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.running.faults import FaultPlan
from plumbline.running.system import Agent, System, Task, TrialKey, Variant
from plumbline.running.toolbox import Clock
from plumbline.running.trial import TrialRecord, run_trial
from plumbline.traces import Plan, Recording

__all__ = ["run_plan"]


def run_plan(
    domain: System,
    arms: Mapping[str, Agent],
    plan: Plan,
    *,
    run_id: str,
    faults: FaultPlan | None = None,
    variants: Callable[[Task, str, str], Variant] | None = None,
    only: Collection[str] | None = None,
    provenance: str | Mapping[str, str] = "live",
    models: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Recording:
    """Run every trial of a plan, one after the other, and record it.

    Parameters
    ----------
    domain : System
        The domain whose tasks are run.
    arms : mapping of str to Agent
        An agent for every arm of the plan.
    plan : Plan
        What is to be run.
    run_id : str
        Name of the recording.
    faults : FaultPlan, optional
        Which trial meets which fault; by default what ``domain.fault`` says of every trial.
    variants : callable, optional
        ``variant(task, perturbation, variant)``; by default ``domain.variant``.
    only : collection of str, optional
        Ids of the trials to run; the others stay in the plan and count as ``not_run``.
    provenance : str or mapping
        Where the records come from, of all arms or by arm.
    models : mapping, optional
        Model that decides, by arm.
    clock : callable, optional
        Gives the time with its zone. Without one no times are recorded and two runs are equal, row for row.
    progress : callable, optional
        Called after each trial with the number done and the number due.
    notes : mapping, optional
        Where the run comes from, in JSON values.

    Returns
    -------
    Recording
        Rows in canonical order; ``tasks`` holds the ground truth that ``domain.truth`` derives.

    Raises
    ------
    ParameterError
        Arms and plan do not agree, or a fault, a trial in ``only`` or an arm's provenance has no place in the plan.
    NotFoundError
        The plan names a task that the domain does not have.
    """
    due = _due(plan, only)
    tasks = _tasks(domain, plan)
    faults = FaultPlan.build(plan, domain.fault) if faults is None else faults
    sources = dict.fromkeys(plan.arms, provenance) if isinstance(provenance, str) else dict(provenance)
    _agree(plan, {"arms": arms, "provenance": sources}, faults)
    _known_tools(domain, faults)
    records: list[TrialRecord] = []
    for key in due:
        task = tasks[key.task_id]
        given = (variants or domain.variant)(task, key.perturbation, key.variant)
        records.append(
            run_trial(
                arms[key.arm], task, domain, arm=key.arm, perturbation=key.perturbation, variant=key.variant,
                repetition=key.repetition, given=given, fault=faults.get(key.trial_id), provenance=sources[key.arm],
                model=(models or {}).get(key.arm), clock=clock,
            )
        )  # fmt: skip
        if progress is not None:
            progress(len(records), len(due))
    trials = pd.DataFrame([record.trial for record in records])
    rows = [step for record in records for step in record.steps]
    steps = pd.DataFrame(rows, columns=None if rows else ["trial_id", "kind"], dtype=object)
    truth = {name: {"context": dict(domain.truth(task))} for name, task in tasks.items()}
    return Recording(
        trials, steps, run_id=run_id, tasks=truth, plan=plan, domain=domain.name, notes=notes or {},
    )  # fmt: skip


def _due(plan: Plan, only: Collection[str] | None) -> list[TrialKey]:
    planned = plan.trial_ids()
    if only is None:
        return [TrialKey.parse(name) for name in planned]
    if lost := sorted(set(only) - set(planned)):
        raise ParameterError(f"{len(lost)} trials to run are not in the plan, the first is {lost[0]!r}")
    if not only:
        raise ParameterError("no trial is left to run; leave 'only' out to run the whole plan")
    wanted = set(only)
    return [TrialKey.parse(name) for name in planned if name in wanted]


def _tasks(domain: System, plan: Plan) -> dict[str, Task]:
    known = {task.id: task for task in domain.tasks}
    if lost := [name for name in plan.tasks if name not in known]:
        raise NotFoundError(f"domain {domain.name!r} has no task {lost}; it has {', '.join(known)}")
    return {name: known[name] for name in plan.tasks}


def _agree(plan: Plan, by_arm: Mapping[str, Mapping[str, Any]], faults: FaultPlan) -> None:
    for what, given in by_arm.items():
        if set(given) != set(plan.arms):
            raise ParameterError(f"{what} must be given for the arms {list(plan.arms)}; found {list(given)}")
    planned = set(plan.trial_ids())
    if lost := [name for name in faults if name not in planned]:
        raise ParameterError(f"{len(lost)} faults are for trials outside the plan, the first is {lost[0]!r}")


def _known_tools(domain: System, faults: FaultPlan) -> None:
    known = {tool.name for tool in domain.tools}
    if lost := sorted({fault.tool for fault in faults.faults.values()} - known):
        raise ParameterError(f"faults are planned for {lost}; domain {domain.name!r} has {', '.join(sorted(known))}")
