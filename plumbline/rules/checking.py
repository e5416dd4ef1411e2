"""Check a recorded run against a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import plumbline.rules.judge_args
import plumbline.rules.judge_trials  # noqa: F401  both register ways of judging
from plumbline.base.errors import ParameterError, PolicyError
from plumbline.rules.base import Rule
from plumbline.rules.contexts import APPLIES, LACKS_KEY, TaskContexts
from plumbline.rules.judge import judge
from plumbline.rules.policy import Policy
from plumbline.rules.scan import Row, Scan
from plumbline.rules.steptable import StepTable, prepare
from plumbline.rules.verdicts import Verdicts
from plumbline.rules.words import NOT_APPLICABLE, UNOBSERVABLE, Reason
from plumbline.traces import Recording

__all__ = ["check"]


def check(
    recording: Recording | StepTable,
    policy: Policy,
    *,
    contexts: Mapping[str, Mapping[str, Any]] | None = None,
) -> Verdicts:
    """Say of every trial and every rule whether it held, and where it did not.

    Only tool calls count. A call that failed or was blocked did not happen. A call without a result may have happened:
    the verdict is given if it is the same either way, otherwise it is unobservable. Where a trial ended for reasons of
    infrastructure, a violation already committed stands, a required call already made stands, and everything else is
    unobservable; a trial that ended in an error of the agent is behaviour and is judged like a completed one.

    Parameters
    ----------
    recording : Recording or StepTable
        The run; a table made by ``prepare`` can be checked against several policies.
    policy : Policy
        The rules.
    contexts : mapping of str to mapping, optional
        What the system of record says of each task, by task id; by default what the run holds.

    Returns
    -------
    Verdicts

    Raises
    ------
    ParameterError
        The run holds no trials, or contexts lack a task of the run.
    PolicyError
        A condition or a predicate raised, or answered something other than True or False.

    Examples
    --------
    >>> import pandas as pd
    >>> from plumbline.rules import MustCall
    >>> trials = pd.DataFrame({"arm": ["react"], "task_id": ["t1"]})
    >>> steps = pd.DataFrame({"trial_id": ["react/t1/baseline/0/0"], "kind": ["tool_call"], "name": ["pay"]})
    >>> check(Recording(trials, steps, run_id="demo"), Policy("p", [MustCall("pay")])).to_frame()["verdict"].tolist()
    ['held']
    """
    if not isinstance(policy, Policy):
        raise ParameterError(f"policy must be a Policy; found {type(policy).__name__}. Write Policy('name', [rules]).")
    if isinstance(recording, StepTable):
        table, run_id = recording, None
        known = {task: dict[str, Any]() for task in table.tasks} if contexts is None else contexts
    elif isinstance(recording, Recording):
        table, run_id = prepare(recording.steps, recording.trials), recording.run_id
        known = {task: recording.context(task) for task in table.tasks} if contexts is None else contexts
    else:
        raise ParameterError(f"recording must be a Recording or a StepTable; found {type(recording).__name__}")
    if not table.n_trials:
        raise ParameterError(f"run {run_id!r} holds no trials; there is nothing to check, and nothing is not a pass")
    scan = Scan(table, TaskContexts(table.tasks, known))
    shape = len(policy), table.n_trials
    verdict, witness, reason = np.empty(shape, np.int8), np.empty(shape, np.int32), np.zeros(shape, np.int8)
    for i, rule in enumerate(policy):
        _judge_one(rule, scan, Row(verdict[i], witness[i], reason[i]))
    return Verdicts(policy, table, scan.contexts, verdict, witness, reason, run_id=run_id)


def _judge_one(rule: Rule, scan: Scan, out: Row) -> None:
    of_task = scan.contexts.condition(rule)
    states = None if of_task is None or (of_task == APPLIES).all() else of_task[scan.table.task]
    try:
        judge(rule, scan, out, None if states is None else states == APPLIES)
    except NotImplementedError:
        raise PolicyError(f"rule {rule.id!r}: there is no way to check a {type(rule).__name__}") from None
    _incomplete(rule, scan.table.incomplete, out)
    if states is not None:
        _conditional(states, out)


def _incomplete(rule: Rule, trials: np.ndarray, out: Row) -> None:
    """In trials that did not complete, keep only what no later step could have changed."""
    if trials.size:
        found = out.verdict[trials]
        lost = trials[(found != rule.settled) & (found != NOT_APPLICABLE)]
        out.verdict[lost], out.witness[lost], out.reason[lost] = UNOBSERVABLE, -1, Reason.INCOMPLETE


def _conditional(states: np.ndarray, out: Row) -> None:
    other = np.flatnonzero(states != APPLIES)
    lacks = states[other] == LACKS_KEY
    out.witness[other] = -1
    out.verdict[other] = np.where(lacks, UNOBSERVABLE, NOT_APPLICABLE)
    out.reason[other] = np.where(lacks, Reason.NO_CONDITION_KEY, Reason.CONDITION_FALSE)
