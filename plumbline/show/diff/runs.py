"""Diffs by what a person knows: a task and two arms of a run, or a row of its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from plumbline.analysis import Rules
from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.base.schema import trial_id
from plumbline.rules import Policy, Verdicts, check
from plumbline.show.diff.model import TraceDiff, diff
from plumbline.show.diff.sides import Grade, trial_row
from plumbline.traces import Recording

__all__ = ["diff_row", "diff_run"]


def diff_run(
    run: Recording,
    *,
    task: str,
    arms: tuple[str, str],
    perturbation: str = "baseline",
    variant: str = "0",
    repetition: int = 0,
    policy: Policy | None = None,
    argument_rules: Rules = None,
    tools: Mapping[str, Any] | None = None,
    grade: Grade | None = None,
) -> TraceDiff:
    """Set the same trial of two arms side by side.

    Parameters
    ----------
    run : Recording
        The run.
    task : str
        Task id.
    arms : (str, str)
        Left and right; the left is the reference.
    perturbation, variant : str
        Which input both were given.
    repetition : int
        Which time, from 0.
    policy : Policy, optional
        Rules that both trials are checked against; without them the diff says that nothing was checked.
    argument_rules, tools, grade
        See ``diff``.

    Returns
    -------
    TraceDiff

    Raises
    ------
    ParameterError
        The run has no such arm, or not two arms were named.
    NotFoundError
        One of the trials left no record.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["a", "b"], "task_id": "t"})
    >>> steps = pd.DataFrame({"trial_id": ["a/t/baseline/0/0"], "kind": "tool_call", "name": "pay", "arguments": "{}"})
    >>> diff_run(Recording(trials, steps, run_id="r"), task="t", arms=("a", "b")).to_frame()["mark"].tolist()
    ['gone']
    """
    if isinstance(arms, str) or len(arms) != 2:
        raise ParameterError(f"arms is {arms!r}; name two, the reference first: arms=({run.arms[0]!r}, …)")
    names = [trial_id(_arm(run, arm), task, perturbation, variant, repetition) for arm in arms]
    for name in names:
        _recorded(run, name)
    verdicts = None if policy is None else check(run, policy)
    return diff(
        (run, names[0]), (run, names[1]), verdicts=verdicts, argument_rules=argument_rules, tools=tools, grade=grade
    )


def diff_row(
    run: Recording,
    row: Mapping[str, Any] | pd.Series,
    *,
    against: str,
    verdicts: Verdicts | None = None,
    argument_rules: Rules = None,
    tools: Mapping[str, Any] | None = None,
    grade: Grade | None = None,
) -> TraceDiff:
    """Set the trial of a verdict beside the same trial of another arm, and start at the verdict's witness.

    Parameters
    ----------
    run : Recording
        The run.
    row : Series or mapping
        A row of ``verdicts.to_frame()`` or ``verdicts.violations()``: ``trial_id``, and ``witness`` or ``step``.
    against : str
        The other arm; it stands left, as the reference.
    verdicts, argument_rules, tools, grade
        See ``diff``.

    Returns
    -------
    TraceDiff
        ``first`` is the row of the witness, where the row names one.

    Raises
    ------
    ParameterError
        The row names no trial, or the run has no such arm, or the trial is of that arm itself.
    NotFoundError
        One of the trials left no record.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["a", "b"], "task_id": "t"})
    >>> ids = ["a/t/baseline/0/0", "b/t/baseline/0/0", "b/t/baseline/0/0"]
    >>> steps = pd.DataFrame({"trial_id": ids, "kind": "tool_call", "name": ["ask", "ask", "pay"], "arguments": "{}"})
    >>> row = {"trial_id": "b/t/baseline/0/0", "witness": 1}
    >>> diff_row(Recording(trials, steps, run_id="r"), row, against="a").first
    1
    """
    name = row.get("trial_id")
    if not isinstance(name, str):
        raise ParameterError("the row names no trial; give a row of verdicts.to_frame() or verdicts.violations()")
    _recorded(run, name)
    found = trial_row(run, name)
    if found["arm"] == _arm(run, against):
        raise ParameterError(f"trial {name} is of arm {against!r} itself; name another arm")
    other = trial_id(against, *(found[part] for part in ("task_id", "perturbation", "variant", "repetition")))
    _recorded(run, other)
    made = diff((run, other), (run, name), verdicts=verdicts, argument_rules=argument_rules, tools=tools, grade=grade)
    step = row.get("witness", row.get("step"))
    at = [] if step is None or pd.isna(step) else [n for n, each in enumerate(made.rows) if _is(each.right, int(step))]
    return replace(made, start=at[0]) if at else made


def _is(step: Any, number: int) -> bool:
    return step is not None and step.step == number


def _arm(run: Recording, arm: str) -> str:
    if arm not in run.arms:
        raise ParameterError(f"run {run.run_id!r} has no arm {arm!r}; it has {', '.join(run.arms)}")
    return arm


def _recorded(run: Recording, name: str) -> None:
    if name in set(run.trials["trial_id"]):
        return
    if run.plan is not None and name in run.plan.trial_ids():
        raise NotFoundError(f"trial {name!r} was planned, but left no record in run {run.run_id!r}")
    task = name.split("/")[1]
    same = run.trials.loc[run.trials["task_id"] == task, "trial_id"].tolist()
    hint = f"of that task it holds {', '.join(same[:3])}" if same else f"its tasks are {_tasks(run)}"
    raise NotFoundError(f"run {run.run_id!r} holds no trial {name!r}; {hint}")


def _tasks(run: Recording) -> str:
    tasks = run.trials["task_id"].unique().tolist()
    return ", ".join(tasks[:5]) + (f" and {len(tasks) - 5} more" if len(tasks) > 5 else "")
