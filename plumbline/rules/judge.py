"""How each rule about calls is decided, for all trials at once; the registry that rules about arguments join.

A call without a result may or may not have happened. A verdict is given only if it is the same in every world, that is,
whichever of those calls happened. Where the worlds disagree it is unobservable. The witness and the listed violations
are those that stand in every world.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from plumbline.rules.base import Rule
from plumbline.rules.invariants import CallAtMost, MustCall, MustNotCall, Ordering
from plumbline.rules.scan import Calls, Row, Scan, before
from plumbline.rules.words import HELD, UNOBSERVABLE, VACUOUS, VIOLATED, Reason

__all__ = ["judge", "offenders"]


@singledispatch
def judge(rule: Rule, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    """Write a rule's verdict, witness and reason on every trial, as if every trial had completed.

    Parameters
    ----------
    rule : Rule
    scan : Scan
    out : Row
        Arrays to write into; reasons arrive as zeros.
    applies : array of bool, trials, or None
        Where the rule's condition is true; only code that calls a person's function needs to look at it.
    """
    raise NotImplementedError(type(rule).__name__)


@singledispatch
def offenders(rule: Rule, scan: Scan, applies: np.ndarray | None) -> Calls:
    """Return every call that violates a rule in every world, in order; a rule without such steps returns none."""
    raise NotImplementedError(type(rule).__name__)


@judge.register
def _(rule: MustCall, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    never = scan.first(rule.tool) < 0
    out.verdict[:] = never.view(np.int8)  # HELD is 0, VIOLATED is 1
    out.witness.fill(-1)
    maybe = scan.perhaps(rule.tool).trials
    _unobservable(out, maybe[never[maybe]])


@offenders.register
def _(rule: MustCall, scan: Scan, applies: np.ndarray | None) -> Calls:
    return _nothing(scan)


@judge.register
def _(rule: MustNotCall, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    out.witness[:] = scan.first(rule.tool)
    np.greater_equal(out.witness, 0, out=out.verdict.view(bool))
    maybe = scan.perhaps(rule.tool).trials
    _unobservable(out, maybe[out.verdict[maybe] == HELD])


@offenders.register
def _(rule: MustNotCall, scan: Scan, applies: np.ndarray | None) -> Calls:
    return scan.done(rule.tool)


@judge.register
def _(rule: CallAtMost, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    scan.earliest(*offenders(rule, scan, applies), out.witness)
    np.greater_equal(out.witness, 0, out=out.verdict.view(bool))
    maybe = scan.perhaps(rule.tool).trials
    if maybe.size:
        trials, extra = np.unique(maybe, return_counts=True)
        done = scan.done(rule.tool).trials
        sure = np.searchsorted(done, trials, side="right") - np.searchsorted(done, trials)
        _unobservable(out, trials[(sure + extra > rule.limit) & (out.verdict[trials] == HELD)])


@offenders.register
def _(rule: CallAtMost, scan: Scan, applies: np.ndarray | None) -> Calls:
    rows, trials = scan.done(rule.tool)
    if not rule.limit:
        return Calls(rows, trials)
    over = np.flatnonzero(trials[rule.limit :] == trials[: -rule.limit]) + rule.limit
    return Calls(rows[over], trials[over])


@judge.register
def _(rule: Ordering, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    then, first = scan.first(rule.then), scan.first_perhaps(rule.first)
    too_early, never = before(then, first), then < 0
    np.bitwise_or(too_early.view(np.int8), never.view(np.int8) * np.int8(VACUOUS), out=out.verdict)
    out.witness[:] = np.where(too_early, then, np.int32(-1))
    out.reason[:] = never.view(np.int8)  # Reason.NEVER_ACTIVATED is 1
    maybe = np.concatenate([scan.perhaps(rule.first).trials, scan.perhaps(rule.then).trials])
    if maybe.size:
        open_ended = np.unique(maybe)
        then_perhaps = scan.first_perhaps(rule.then)[open_ended]
        could_be_early = before(then_perhaps, scan.first(rule.first)[open_ended])
        could_be_vacuous = never[open_ended] & (then_perhaps >= 0)
        undecided = ~too_early[open_ended] & (could_be_early | could_be_vacuous)
        _unobservable(out, open_ended[undecided])


@offenders.register
def _(rule: Ordering, scan: Scan, applies: np.ndarray | None) -> Calls:
    rows, trials = scan.done(rule.then)
    first = scan.first_perhaps(rule.first)[trials]
    early = before((rows - scan.table.starts[trials]).astype(np.int32), first)
    return Calls(rows[early], trials[early])


def _unobservable(out: Row, trials: np.ndarray) -> None:
    if not trials.size:
        return
    out.verdict[trials] = UNOBSERVABLE
    out.witness[trials] = -1
    out.reason[trials] = Reason.NO_RESULT


def _nothing(scan: Scan) -> Calls:
    return Calls(scan.table.order[:0], scan.table.trial[:0])


assert (HELD, VIOLATED, VACUOUS, int(Reason.NEVER_ACTIVATED)) == (0, 1, 2, 1)  # the bit arithmetic above rests on it
