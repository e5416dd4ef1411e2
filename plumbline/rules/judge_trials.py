"""How rules that read one trial at a time are decided: each trial once, the answers kept for the listing."""

from __future__ import annotations

import numpy as np

from plumbline.rules.explain import Told, explain
from plumbline.rules.judge import judge, offenders
from plumbline.rules.scan import Calls, Row, Scan
from plumbline.rules.trial_rules import Judged, TrialRule

__all__: list[str] = []


def _answers(rule: TrialRule, scan: Scan, applies: np.ndarray | None) -> dict[int, Judged]:
    values = scan.contexts.values
    wanted = range(scan.table.n_trials) if applies is None else np.flatnonzero(applies).tolist()
    return {trial: rule.of_trial(scan.steps_of(trial), dict(values[scan.table.task[trial]])) for trial in wanted}


@judge.register
def _(rule: TrialRule, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    out.verdict.fill(0)
    out.witness.fill(-1)
    for trial, said in _answers(rule, scan, applies).items():
        out.verdict[trial], out.reason[trial] = said.verdict, said.reason
        if said.found:
            out.witness[trial] = said.found[0].step


@offenders.register
def _(rule: TrialRule, scan: Scan, applies: np.ndarray | None) -> Calls:
    rows, trials = [], []
    for trial, said in _answers(rule, scan, applies).items():
        rows += [int(scan.table.offsets[trial]) + one.step for one in said.found]
        trials += [trial] * len(said.found)
    return Calls(np.array(rows, scan.table.order.dtype), np.array(trials, np.int32))


@explain.register
def _(rule: TrialRule, scan: Scan, calls: Calls) -> list[Told]:
    told: list[Told] = []
    trials = sorted(set(calls.trials.tolist()))
    applies = np.zeros(scan.table.n_trials, bool)
    applies[trials] = True
    for trial, said in _answers(rule, scan, applies).items():
        steps = scan.steps_of(trial)
        told += [(str(steps[one.step].name or steps[one.step].kind), one.expected, one.observed) for one in said.found]
    return told
