"""Rules say what they mean, refuse what they cannot mean, and carry stable ids."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from plumbline.base.errors import PolicyError
from plumbline.rules import ArgEquals, ArgSatisfies, CallAtMost, Context, MustCall, MustNotCall, Ordering, When


@pytest.mark.parametrize(
    ("rule", "id", "severity"),
    [
        (MustCall("check"), "must_call:check", "critical"),
        (MustNotCall("pay"), "must_not_call:pay", "critical"),
        (Ordering("check", "pay"), "ordering:check-before-pay", "critical"),
        (CallAtMost("pay"), "at_most:pay", "critical"),
        (ArgEquals("pay", "amount", from_context="total"), "arg_equals:pay.amount", "critical"),
        (ArgSatisfies("pay", id="small", arg="amount", op="<", value=5), "small", "high"),
    ],
)
def test_default_id_severity_and_sentence(rule, id, severity):
    assert (rule.id, rule.severity, rule.when) == (id, severity, None)
    assert rule.description.endswith(".")
    assert all(tool in rule.description for tool in rule.tools)
    own = dataclasses.replace(rule, id="mine", description="My words.", severity="low")
    assert (own.id, own.description, own.severity) == ("mine", "My words.", "low")
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.severity = "low"


def test_none_means_the_default():
    assert MustCall("check", id=None, description=None) == MustCall("check")
    assert CallAtMost("pay").limit == 1
    assert ArgEquals("pay", "a", from_context="b").tolerance == 0


def test_sentences():
    assert CallAtMost("pay", 3).description == "The agent calls pay at most 3 times."
    assert ArgEquals("pay", "a", from_context="b", tolerance=0.010).description == (
        "pay.a equals the task's b within 0.01."
    )
    rule = ArgSatisfies("pay", id="x", arg="a", op="<=", value=Context("limit"))
    assert rule.description == "pay.a <= the task's limit."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MustCall(""), "tool must be text"),
        (lambda: MustCall(" check"), "without spaces"),
        (lambda: MustCall(None), "found None"),
        (lambda: MustCall("a", severity="severe"), "Allowed: critical, high, medium, low"),
        (lambda: MustCall("a", severity="criticl"), "Did you mean 'critical'"),
        (lambda: MustCall("a", severity=None), "severity None"),
        (lambda: MustCall("a", when=3), "when must be"),
        (lambda: MustCall("a", when=" "), "when must be"),
        (lambda: MustCall("a", id=3), "id must be text"),
        (lambda: When(""), "key must be text"),
        (lambda: When("a", equals=float("nan")), "finite"),
        (lambda: When("a", equals=object()), "JSON values"),
        (lambda: Context(3), "key must be text"),
        (lambda: Ordering("a", "a"), "both 'a'"),
        (lambda: CallAtMost("a", -1), "0 or more"),
        (lambda: CallAtMost("a", True), "whole number"),
        (lambda: CallAtMost("a", 1.0), "whole number"),
        (lambda: ArgEquals("a", "b", from_context=""), "from_context"),
        (lambda: ArgEquals("a", "b", from_context="c", tolerance=-1), "tolerance"),
        (lambda: ArgEquals("a", "b", from_context="c", tolerance=float("nan")), "tolerance"),
        (lambda: ArgEquals("a", "b", from_context="c", tolerance=float("inf")), "tolerance"),
        (lambda: ArgEquals("a", "b", from_context="c", tolerance=True), "tolerance"),
        (lambda: ArgEquals("a", "b", from_context="c", tolerance="a cent"), "tolerance"),
        (lambda: ArgEquals("a", "b", from_context="c", normalise="lower"), "strip_casefold"),
        (lambda: ArgSatisfies("a", id="x"), "found neither"),
        (lambda: ArgSatisfies("a", id="x", arg="b", op="<"), r"\['arg', 'op'\]"),
        (lambda: ArgSatisfies("a", id="x", arg="b", op="~", value=1), "not in"),
        (lambda: ArgSatisfies("a", id="x", arg="b", op="in", value="EUR"), "needs a list"),
        (lambda: ArgSatisfies("a", id="x", arg="b", op="==", value=float("inf")), "finite"),
        (lambda: ArgSatisfies("a", id="x", arg="b", op="==", value=b"x"), "JSON values"),
        (lambda: ArgSatisfies("a", id="x", arg="b", predicate=print), r"predicate with \['arg'\]"),
        (lambda: ArgSatisfies("a", id="x", predicate="amount < 3"), "predicate 'amount < 3'"),
        (lambda: ArgSatisfies("a", id="", predicate=print), "id must be text"),
    ],
)
def test_what_a_rule_cannot_mean_is_refused(make, message):
    with pytest.raises(PolicyError, match=message):
        make()


def test_values_are_frozen_and_exact():
    members = ["EUR", [1, 2]]
    rule = ArgSatisfies("pay", id="x", arg="ccy", op="in", value=members)
    members.append("USD")
    assert rule.value == ("EUR", (1, 2))
    assert ArgEquals("p", "a", from_context="c", tolerance=0.1).tolerance == Decimal("0.1")
    assert ArgEquals("p", "a", from_context="c", tolerance="0.10") == ArgEquals(
        "p", "a", from_context="c", tolerance=0.1
    )
