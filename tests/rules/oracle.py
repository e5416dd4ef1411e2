"""The rules once more, in plain Python and from their definition: every world in which the record could be true.

Each call without a result happened or did not; each call whose arguments could not be read was right or wrong. A
verdict is given if all worlds agree. Nothing here is shared with the engine: numbers are fractions, worlds are listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plumbline.rules import ArgEquals, ArgSatisfies, CallAtMost, Context, MustCall, MustNotCall, Ordering, Rule, When

INFRASTRUCTURE = ("not_run", "no_response", "budget_stop", "harness_error")
ORDERS = {
    "<=": lambda a, b: a <= b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b,
}  # fmt: skip

Answer = tuple[str, int | None, list[int]]
"""Verdict, witness, every violating step."""


def answer(rule: Rule, status: str, steps: Sequence[Mapping[str, Any]], context: Mapping[str, Any]) -> Answer:
    applies = condition(rule, context)
    if applies != "yes":
        return ("not_applicable" if applies == "no" else "unobservable"), None, []
    key = rule.from_context if isinstance(rule, ArgEquals) else None
    if isinstance(rule, ArgSatisfies) and isinstance(rule.value, Context):
        key = rule.value.key
    if key is not None and context.get(key) is None:
        return "not_applicable", None, []
    calls = [(i, s) for i, s in enumerate(steps) if s["kind"] == "tool_call" and s["name"] in rule.tools]
    calls = [(i, s) for i, s in calls if s["status"] in ("ok", "no_result")]
    found = [in_world(rule, world) for world in worlds(rule, calls, context)]
    verdicts = {verdict for verdict, _ in found}
    verdict = verdicts.pop() if len(verdicts) == 1 else "unobservable"
    settled = "held" if isinstance(rule, MustCall) else "violated"
    if status in INFRASTRUCTURE and verdict != settled:
        verdict = "unobservable"
    if verdict != "violated":
        return verdict, None, []
    certain = sorted(set.intersection(*(set(steps) for _, steps in found)))
    return verdict, (certain[0] if certain else None), certain


def condition(rule: Rule, context: Mapping[str, Any]) -> str:
    if rule.when is None:
        return "yes"
    if callable(rule.when):
        return "yes" if rule.when(context) else "no"
    key = rule.when.key if isinstance(rule.when, When) else rule.when
    if key not in context:
        return "lacks"
    truth = same(context[key], rule.when.equals) if isinstance(rule.when, When) else bool(context[key])
    return "yes" if truth else "no"


def worlds(rule: Rule, calls: Sequence[tuple[int, Mapping[str, Any]]], context: Mapping[str, Any]) -> Any:
    """Every world as a list of (step, tool, whether its arguments are right)."""
    about_arguments = isinstance(rule, ArgEquals | ArgSatisfies)
    options = []
    for i, step in calls:
        truth = right(rule, step, context) if about_arguments else True
        ways: list[Any] = [(i, step["name"], t) for t in ((True, False) if truth is None else (truth,))]
        options.append([*ways, None] if step["status"] == "no_result" else ways)
    for choice in itertools.product(*options):
        yield [call for call in choice if call is not None]


def in_world(rule: Rule, calls: list[tuple[int, str, bool]]) -> tuple[str, list[int]]:
    if isinstance(rule, MustCall):
        return ("held" if calls else "violated"), []
    if isinstance(rule, MustNotCall):
        bad = [i for i, _, _ in calls]
    elif isinstance(rule, CallAtMost):
        bad = [i for i, _, _ in calls][rule.limit :]
    elif isinstance(rule, Ordering):
        firsts = [i for i, name, _ in calls if name == rule.first]
        thens = [i for i, name, _ in calls if name == rule.then]
        if not thens:
            return "vacuous", []
        bad = [i for i in thens if not firsts or i < firsts[0]]
    else:
        if not calls:
            return "vacuous", []
        bad = [i for i, _, truth in calls if not truth]
    return ("violated" if bad else "held"), bad


def right(rule: ArgEquals | ArgSatisfies, step: Mapping[str, Any], context: Mapping[str, Any]) -> bool | None:
    """Whether a call's arguments obey the rule; None if the record cannot tell."""
    arguments, partial = step["arguments"], step.get("unread") is not None
    if not isinstance(arguments, dict):
        return None
    if isinstance(rule, ArgSatisfies) and rule.predicate is not None:
        return None if partial else bool(rule.predicate(arguments, context))
    if rule.arg not in arguments:
        return None if partial else False
    found = arguments[rule.arg]
    if isinstance(rule, ArgEquals):
        return same(found, context[rule.from_context], Fraction(rule.tolerance), rule.normalise)
    wanted = context[rule.value.key] if isinstance(rule.value, Context) else rule.value
    if rule.op in ("==", "!="):
        return same(found, wanted) == (rule.op == "==")
    if rule.op in ("in", "not in"):
        return any(same(found, one) for one in wanted) == (rule.op == "in")
    if isinstance(found, str) and isinstance(wanted, str):
        return ORDERS[rule.op](found, wanted)
    a, b = number(found), number(wanted)
    return a is not None and b is not None and ORDERS[rule.op](a, b)


def number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or value != value:
        return None
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def same(a: Any, b: Any, tolerance: Fraction = Fraction(0), normalise: str | None = None) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        if normalise and "strip" in normalise:
            a, b = a.strip(), b.strip()
        if normalise and "casefold" in normalise:
            a, b = a.casefold(), b.casefold()
        return a == b
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return abs(x - y) <= tolerance
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(p, q, tolerance, normalise) for p, q in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance, normalise) for k in a)
    if isinstance(a, bool) and isinstance(b, bool):
        return a is b
    return a is None and b is None
