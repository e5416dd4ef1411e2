"""How rules that read one trial at a time are decided: each trial once, the answers kept for the listing."""

from __future__ import annotations

import numpy as np

from plumbline.rules.explain import Told, explain
from plumbline.rules.judge import judge, offenders
from plumbline.rules.scan import Calls, Row, Scan
from plumbline.rules.trial_rules import Judged, TrialRule

__all__: list[str] = []


def _wanted(scan: Scan, applies: np.ndarray | None) -> np.ndarray:
    return np.arange(scan.table.n_trials) if applies is None else np.flatnonzero(applies)


def _answers(rule: TrialRule, scan: Scan, applies: np.ndarray | None) -> dict[int, Judged]:
    wanted = _wanted(scan, applies)
    return {
        trial: scan.said(rule, twin)
        for trial, twin in zip(wanted.tolist(), scan.twins(rule)[wanted].tolist(), strict=True)
    }


@judge.register
def _(rule: TrialRule, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    out.verdict.fill(0)
    out.witness.fill(-1)
    wanted = _wanted(scan, applies)
    twins, place = np.unique(scan.twins(rule)[wanted], return_inverse=True)
    said = [scan.said(rule, twin) for twin in twins.tolist()]
    for row, values in (
        (out.verdict, [one.verdict for one in said]),
        (out.reason, [one.reason for one in said]),
        (out.witness, [one.found[0].step if one.found else -1 for one in said]),
    ):
        row[wanted] = np.array(values, row.dtype)[place]


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
