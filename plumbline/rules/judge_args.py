"""How the two rules about arguments are decided: each distinct value once, numbers in whole columns.

A whole column of numbers is compared with float64 or int64 bounds chosen so that the answer is the exact decimal one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, cast

import numpy as np

from plumbline.base.errors import PolicyError
from plumbline.rules.arguments import MISSING, UNREAD, Coded, Numbers
from plumbline.rules.base import Context
from plumbline.rules.invariants import ArgEquals, ArgSatisfies
from plumbline.rules.judge import judge, offenders
from plumbline.rules.scan import Calls, Row, Scan
from plumbline.rules.values import EXACT, bounds, compare, equal, exact_number
from plumbline.rules.words import HELD, NOT_APPLICABLE, UNOBSERVABLE, VACUOUS, VIOLATED, Reason

__all__ = ["GOOD", "call_outcomes"]

GOOD, BAD, UNKNOWN = range(3)
"""What is found of one call."""

_ArgRule = ArgEquals | ArgSatisfies
_Test = Callable[[Any, Any], bool]


def call_outcomes(rule: _ArgRule, scan: Scan, applies: np.ndarray | None) -> np.ndarray:
    """Judge the arguments of a tool's successful calls, then of those without a result: GOOD, BAD or UNKNOWN.

    What it says of calls in trials to which the rule does not apply, or whose context holds no value to compare with,
    means nothing; the verdict of those trials is decided elsewhere.
    """
    if isinstance(rule, ArgSatisfies) and rule.predicate is not None:
        return _by_predicate(rule, scan, scan.asked(rule.tool).trials, applies)
    column = scan.arguments(rule.tool).column(str(rule.arg))
    key = _context_key(rule)
    at: np.ndarray | None = None
    expected: list[Any] = [] if key else [cast(ArgSatisfies, rule).value]
    if key:
        of_task, expected = scan.contexts.expected(key)
        if len(expected) != 1 or (of_task < 0).any():
            at = np.maximum(of_task, 0)[scan.table.task[scan.asked(rule.tool).trials]]
    if not expected:
        return np.zeros(scan.asked(rule.tool).rows.size, np.int8)
    op = "==" if isinstance(rule, ArgEquals) else str(rule.op)
    tolerance = cast(Decimal, rule.tolerance) if isinstance(rule, ArgEquals) else Decimal(0)
    if isinstance(column, Numbers) and op not in ("in", "not in"):
        return _numbers(column, op, expected, at, tolerance)
    found = column.coded() if isinstance(column, Numbers) else column
    return _coded(found, _test(rule, op, tolerance), expected, at)


def _context_key(rule: _ArgRule) -> str | None:
    if isinstance(rule, ArgEquals):
        return rule.from_context
    return rule.value.key if isinstance(rule.value, Context) else None


def _test(rule: _ArgRule, op: str, tolerance: Decimal) -> _Test:
    if isinstance(rule, ArgEquals):
        return lambda found, expected: equal(found, expected, tolerance=tolerance, normalise=rule.normalise)

    def holds(found: Any, expected: Any) -> bool:
        if op in ("in", "not in") and not isinstance(expected, list | tuple):
            raise PolicyError(f"rule {rule.id!r}: {op!r} needs a list; the context holds {expected!r} under its key")
        return compare(found, op, expected)

    return holds


def _coded(column: Coded, test: _Test, expected: list[Any], at: np.ndarray | None) -> np.ndarray:
    """Judge coded values: every value against every expected one, or only the pairs that occur if those are fewer."""
    values, k = column.values, len(expected)
    if at is None or len(values) * k <= max(column.codes.size, 64):
        table = np.empty((len(values) + 2, k), np.int8)
        for i, value in enumerate(values):
            table[i] = [GOOD if test(value, want) else BAD for want in expected]
        table[MISSING], table[UNREAD] = BAD, UNKNOWN
        return table[:, 0].take(column.codes) if at is None else table[column.codes, at]
    readable = column.codes >= 0
    outcome = np.where(column.codes == UNREAD, UNKNOWN, BAD).astype(np.int8)
    pairs, back = np.unique(column.codes[readable].astype(np.int64) * k + at[readable], return_inverse=True)
    judged = [GOOD if test(values[pair // k], expected[pair % k]) else BAD for pair in pairs.tolist()]
    outcome[readable] = np.array(judged, np.int8)[back]
    return outcome


def _numbers(column: Numbers, op: str, expected: list[Any], at: np.ndarray | None, tolerance: Decimal) -> np.ndarray:
    floats = column.values.dtype == np.float64
    limits = [_limits(op, want, tolerance, floats) for want in expected]
    low, high = (np.array(side, column.values.dtype) for side in zip(*limits, strict=True))
    x = column.values
    if at is not None:
        inside = (x >= low[at]) & (x <= high[at])
    elif not low[0] <= high[0]:
        inside = np.zeros(x.size, bool)
    elif op in ("<=", "<"):
        inside = x <= high[0]  # the other end is the smallest number there is
    elif op in (">=", ">"):
        inside = x >= low[0]
    else:
        inside = (x >= low[0]) & (x <= high[0])
    bad = inside if op == "!=" else np.logical_not(inside, out=inside)
    outcome = bad.view(np.int8)
    if column.absent is not None:
        outcome[column.absent == MISSING] = BAD
        outcome[column.absent == UNREAD] = UNKNOWN
    return outcome


def _limits(op: str, want: Any, tolerance: Decimal, floats: bool) -> tuple[Any, Any]:
    """Return the closed interval of float64 or int64 numbers for which a comparison holds; low > high for none."""
    nothing: tuple[Any, Any] = (math.inf, -math.inf) if floats else (1, 0)
    number = exact_number(want)
    if number is None or number.is_nan():
        return nothing
    low, high = bounds(number, tolerance) if op in ("==", "!=") else (number, number)
    if op in ("<=", "<"):
        low = Decimal("-Infinity")
    if op in (">=", ">"):
        high = Decimal("Infinity")
    if floats:
        return _float_up(low, strict=op == ">"), -_float_up(high.copy_negate(), strict=op == "<")
    lo, hi = _int_up(low, strict=op == ">"), -_int_up(high.copy_negate(), strict=op == "<")
    least, most = -(2**63), 2**63 - 1
    return nothing if lo > most or hi < least else (int(max(lo, least)), int(min(hi, most)))


def _float_up(limit: Decimal, *, strict: bool) -> float:
    """Return the smallest float that, as the decimal it is written as, is at least (or above) a limit.

    It is the nearest one or its neighbour: every float is written as a decimal to which no other float is nearer.
    """
    x = float(limit)
    written = Decimal(repr(x))
    if written > limit or (written == limit and not strict):
        return x
    return math.nan if x == math.inf else math.nextafter(x, math.inf)  # nothing lies above infinity or equals NaN


def _int_up(limit: Decimal, *, strict: bool) -> float | int:
    """Return the smallest whole number that is at least (or above) a limit."""
    if limit.is_infinite():
        return math.inf if limit > 0 else -math.inf
    rounded = int(limit.to_integral_value(ROUND_FLOOR if strict else ROUND_CEILING, EXACT))
    return rounded + 1 if strict else rounded


def _by_predicate(rule: ArgSatisfies, scan: Scan, trials: np.ndarray, applies: np.ndarray | None) -> np.ndarray:
    """Ask a person's function once for each distinct pair of arguments and task, where the rule applies."""
    codes, make = scan.arguments(rule.tool).whole()
    outcome = np.where(codes == UNREAD, UNKNOWN, GOOD).astype(np.int8)
    asked = np.flatnonzero((codes >= 0) & (True if applies is None else applies[trials]))
    if not asked.size:
        return outcome
    n_tasks = max(len(scan.contexts.tasks), 1)
    pair = codes[asked].astype(np.int64) * n_tasks + scan.table.task[trials[asked]]
    pairs, first, back = np.unique(pair, return_index=True, return_inverse=True)
    answers = np.empty(pairs.size, np.int8)
    for i, value in enumerate(pairs.tolist()):
        code, task = divmod(value, n_tasks)
        answers[i] = GOOD if _ask(rule, make(code), task, scan, int(asked[first[i]])) else BAD
    outcome[asked] = answers[back]
    return outcome


def _ask(rule: ArgSatisfies, arguments: dict[str, Any], task: int, scan: Scan, position: int) -> bool:
    predicate = cast(Callable[..., Any], rule.predicate)
    try:
        answer = predicate(arguments, scan.contexts.values[task])
    except Exception as error:
        raise PolicyError(f"{_place(rule, scan, position)}: it raised {type(error).__name__}: {error}") from error
    if not isinstance(answer, bool | np.bool_):
        raise PolicyError(f"{_place(rule, scan, position)}: it must return True or False; it returned {answer!r}")
    return bool(answer)


def _place(rule: ArgSatisfies, scan: Scan, position: int) -> str:
    row = int(scan.asked(rule.tool).rows[position])
    trial = int(scan.table.trial[row])
    step = row - int(scan.table.offsets[trial])
    return f"predicate of rule {rule.id!r} on trial {scan.table.keys['trial_id'][trial]!r}, step {step}"


@judge.register(ArgEquals)
@judge.register(ArgSatisfies)
def _(rule: _ArgRule, scan: Scan, out: Row, applies: np.ndarray | None) -> None:
    done, perhaps = scan.done(rule.tool), scan.perhaps(rule.tool)
    outcome = call_outcomes(rule, scan, applies)
    sure, maybe = outcome[: done.rows.size], outcome[done.rows.size :]
    never = scan.first(rule.tool) < 0
    np.multiply(never.view(np.int8), np.int8(VACUOUS), out=out.verdict)  # HELD is 0
    out.reason[:] = never.view(np.int8)  # Reason.NEVER_ACTIVATED is 1
    if maybe.size:
        _set(out, perhaps.trials[(maybe != GOOD) | never[perhaps.trials]], UNOBSERVABLE, Reason.NO_RESULT)
    odd = np.flatnonzero(sure != GOOD)
    is_bad = sure[odd] == BAD
    _set(out, done.trials[odd[~is_bad]], UNOBSERVABLE, Reason.UNREAD_ARGUMENTS)
    bad = odd[is_bad]
    trials = done.trials[bad]
    scan.earliest(done.rows[bad], trials, out.witness)
    _set(out, trials, VIOLATED, Reason.NONE)
    key = _context_key(rule)
    if key is not None and (lacking := scan.contexts.expected(key)[0] < 0).any():
        trials = np.flatnonzero(lacking[scan.table.task])
        out.witness[trials] = -1
        _set(out, trials, NOT_APPLICABLE, Reason.NO_CONTEXT_VALUE)


def _set(out: Row, trials: np.ndarray, verdict: int, reason: Reason) -> None:
    if trials.size:
        out.verdict[trials] = verdict
        out.reason[trials] = reason


@offenders.register(ArgEquals)
@offenders.register(ArgSatisfies)
def _(rule: _ArgRule, scan: Scan, applies: np.ndarray | None) -> Calls:
    done = scan.done(rule.tool)
    bad = np.flatnonzero(call_outcomes(rule, scan, applies)[: done.rows.size] == BAD)
    return Calls(done.rows[bad], done.trials[bad])


assert (HELD, VACUOUS, GOOD, BAD, int(Reason.NEVER_ACTIVATED)) == (0, 2, 0, 1, 1)  # the arithmetic above rests on it
