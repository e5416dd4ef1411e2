"""One value against another under one rule: the verdict, how far apart, and why."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from plumbline.compare import quantities as read
from plumbline.compare.field_rules import FieldRule, describe
from plumbline.compare.normalise import apply_normalisers
from plumbline.compare.published import judge_published
from plumbline.compare.verdicts import Verdict, show_value

__all__ = ["Judgement", "judge_value"]

LARGEST_FLOAT_INTEGER = 2**53
LONGEST_TEXT = 2_000


class Judgement(NamedTuple):
    """Verdict, distance, ratio and reason of one comparison."""

    verdict: Verdict
    distance: float | None = None
    ratio: float | None = None
    reason: str = ""


def judge_value(candidate: Any, reference: Any, rule: FieldRule) -> Judgement:
    """Compare two recorded values that are not walked into.

    The same recorded value is ``equal`` under every rule, even where it is not what the rule expects: two runs that
    make the same mistake agree with each other. The reason then says so.

    Parameters
    ----------
    candidate, reference : object
        JSON values, numbers exact; NaN is the same as NaN and equal to no number.
    rule : FieldRule
        A rule that is not a collection's.

    Returns
    -------
    Judgement
        Verdict ``equal``, ``different``, ``unreadable`` or ``ignored``.

    Examples
    --------
    >>> from plumbline.compare.field_rules import money
    >>> judge_value(Decimal("48200.00"), Decimal("4820.00"), money()).ratio
    10.0
    """
    if rule.kind == "ignore":
        return Judgement("ignored", reason="declared ignored")
    if rule.kind.startswith("published"):
        return Judgement(*judge_published(candidate, reference, rule))
    one, other = apply_normalisers(candidate, rule.normalise), apply_normalisers(reference, rule.normalise)
    if one is None or other is None:
        if one is other:
            return Judgement("equal", 0.0, reason="both null")
        return Judgement("different", reason=f"the {'candidate' if one is None else 'reference'} is null")
    return _JUDGES[rule.kind](one, other, rule)


def _exact(one: Any, other: Any, rule: FieldRule) -> Judgement:
    if read.same_value(one, other):
        return Judgement("equal", 0.0, _ratio(one, other), "the same recorded value")
    kinds = read.json_type(one), read.json_type(other)
    types = f"the candidate is {describe(one)}, the reference {describe(other)}" if kinds[0] != kinds[1] else ""
    if read.is_number(one) and read.is_number(other):
        distance = _gap(one, other) or None
        return Judgement("different", distance, _ratio(one, other), types or "another number")
    if types:
        return Judgement("different", None, None, types)
    return Judgement("different", 1.0, None, f"another {'value' if kinds[0] == 'boolean' else kinds[0]}")


def _identifier(one: Any, other: Any, rule: FieldRule) -> Judgement:
    found = _exact(one, other, rule)
    if found.verdict == "different" and isinstance(one, str) and isinstance(other, str):
        case = one.casefold() == other.casefold()
        return Judgement("different", 1.0, None, "differs in case only" if case else "another identifier")
    if found.verdict == "equal" and not isinstance(one, str):
        return found._replace(reason=f"the same recorded value, although {describe(one)} is no identifier")
    return found


def _number(one: Any, other: Any, rule: FieldRule) -> Judgement:
    if not (read.is_number(one) and read.is_number(other)):
        return _not_both(one, other, rule, "a number", "numeric_text" in rule.normalise)
    left, right = read.as_exact(one), read.as_exact(other)
    if read.same_value(one, other):
        return Judgement("equal", 0.0, _ratio(left, right), "the same recorded value")
    distance, ratio = _gap(left, right), _ratio(left, right)
    apart = read.gap_between(left, right)
    if apart.is_nan() or apart.is_infinite():
        return Judgement("different", None, None, "NaN and infinity equal no other number")
    if apart == 0:
        return Judgement("equal", 0.0, ratio, "the same number")
    larger = max(Decimal(left).copy_abs(), Decimal(right).copy_abs())
    both_integers = isinstance(left, int) and isinstance(right, int)
    relative = Decimal(0) if both_integers and larger > LARGEST_FLOAT_INTEGER else read.times(rule.relative, larger)
    if apart <= max(rule.absolute, relative):
        return Judgement("equal", distance, ratio, f"{apart:f} apart, within the declared tolerance")
    return Judgement("different", distance, ratio, f"{apart:f} apart")


def _money(one: Any, other: Any, rule: FieldRule) -> Judgement:
    left, right = read.read_money(one, rule.currency), read.read_money(other, rule.currency)
    if left is None or right is None:
        return _not_both(one, other, rule, "an amount of money", True)
    apart = read.gap_between(left.amount, right.amount)
    close = apart <= rule.absolute
    if left.currency and right.currency and left.currency != right.currency:
        return Judgement("different", None, None, f"{left.currency} against {right.currency}")
    ratio = read.ratio_of(left.amount, right.amount)
    if close and left.currency != right.currency:
        return Judgement("unreadable", None, None, "one side states a currency, the other none, and none is declared")
    if apart == 0:
        return Judgement("equal", 0.0, ratio, "the same amount")
    return Judgement(
        "equal" if close else "different",
        float(apart),
        ratio,
        f"{apart:f} apart{', within the declared tolerance' if close else ''}",
    )


def _date(one: Any, other: Any, rule: FieldRule) -> Judgement:
    left, right = read.read_date(one, rule.zone), read.read_date(other, rule.zone)
    if left is None or right is None:
        return _not_both(one, other, rule, "a date in ISO 8601", True)
    days = abs((left - right).days)
    return Judgement("equal" if days <= rule.absolute else "different", float(days), None, f"{days} days apart")


def _instant(one: Any, other: Any, rule: FieldRule) -> Judgement:
    left, right = read.read_instant(one, rule.zone), read.read_instant(other, rule.zone)
    if left is None or right is None:
        return _not_both(one, other, rule, "a time in ISO 8601", True)
    if left.zoned != right.zoned:
        return Judgement("unreadable", None, None, "one side states an offset, the other none, and no zone is declared")
    seconds = read.seconds_between(left, right)
    verdict: Verdict = "equal" if Decimal(seconds) <= rule.absolute else "different"
    return Judgement(verdict, seconds, None, f"{seconds:g} seconds apart")


def _enumeration(one: Any, other: Any, rule: FieldRule) -> Judgement:
    found = _exact(one, other, rule)
    declared = {read.identity_key(apply_normalisers(value, rule.normalise)) for value in rule.values}
    sides = (("candidate", one), ("reference", other))
    strange = [side for side, value in sides if read.identity_key(value) not in declared]
    return found._replace(reason=f"{found.reason}; not a declared value: {', '.join(strange)}") if strange else found


def _text(one: Any, other: Any, rule: FieldRule) -> Judgement:
    if not (isinstance(one, str) and isinstance(other, str)):
        return _not_both(one, other, rule, "text", False)
    if one == other:
        return Judgement("equal", 0.0, None, "the same text")
    return Judgement("different", edit_distance(one, other), None, "another text")


def _not_both(one: Any, other: Any, rule: FieldRule, expected: str, spelled: bool) -> Judgement:
    """At least one side is not what the rule expects: equal if recorded alike, else different or unreadable.

    ``spelled``: the rule reads its values from text, so a text it cannot read is unreadable rather than different.
    """
    if read.same_value(one, other):
        return Judgement("equal", 0.0, None, f"the same recorded value, although it is not {expected}")
    texts = [
        f"the {side} {show_value(value)} cannot be read as {expected}"
        for side, value in (("candidate", one), ("reference", other))
        if spelled and isinstance(value, str) and not _reads(value, rule)
    ]
    if texts:
        return Judgement("unreadable", None, None, "; ".join(texts))
    return Judgement(
        "different",
        None,
        None,
        f"{expected} is declared; the candidate is {describe(one)}, the reference {describe(other)}",
    )


def _reads(value: str, rule: FieldRule) -> bool:
    readers: dict[str, Callable[[], object]] = {
        "money": lambda: read.read_money(value, rule.currency),
        "date": lambda: read.read_date(value, rule.zone),
        "instant": lambda: read.read_instant(value, rule.zone),
    }
    return rule.kind in readers and readers[rule.kind]() is not None


def _gap(one: Any, other: Any) -> float | None:
    apart = float(read.gap_between(read.as_exact(one), read.as_exact(other)))
    return apart if apart < float("inf") else None


def _ratio(one: Any, other: Any) -> float | None:
    both = read.is_number(one) and read.is_number(other)
    return read.ratio_of(read.as_exact(one), read.as_exact(other)) if both else None


def edit_distance(one: str, other: str) -> float | None:
    """Characters to insert, delete or replace to turn one text into the other; None beyond 2,000 characters."""
    if max(len(one), len(other)) > LONGEST_TEXT:
        return None
    letters = np.frombuffer(other.encode("utf-32-le"), np.uint32)
    steps = np.arange(letters.size + 1)
    row = steps.copy()
    for letter in np.frombuffer(one.encode("utf-32-le"), np.uint32):
        best = np.minimum(row[1:] + 1, row[:-1] + (letters != letter))
        row = np.minimum.accumulate(np.concatenate(([row[0] + 1], best)) - steps) + steps
    return float(row[-1])


_JUDGES: dict[str, Callable[[Any, Any, FieldRule], Judgement]] = {
    "exact": _exact,
    "identifier": _identifier,
    "number": _number,
    "money": _money,
    "date": _date,
    "instant": _instant,
    "enumeration": _enumeration,
    "text": _text,
    "set": _exact,
    "multiset": _exact,
    "list": _exact,
}
