"""Each decision of meaning, as one small run that shows it."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError, PolicyError
from plumbline.rules import (
    VERDICTS,
    ArgEquals,
    ArgSatisfies,
    CallAtMost,
    Context,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    Reason,
    When,
    check,
    prepare,
)
from plumbline.traces import Recording

TRIAL = "a/t/baseline/0/0"


def frames(*calls, status="completed", kind="tool_call"):
    """Steps and trials of one trial; a call is a name, or (name, arguments), or (name, arguments, status)."""
    rows = []
    for call in calls:
        parts = (call, {}, "ok") if isinstance(call, str) else (*call, "ok")[:3]
        step = dict(zip(("name", "arguments", "status"), parts, strict=True))
        rows.append({"trial_id": TRIAL, "kind": kind, **step})
    trials = pd.DataFrame({"trial_id": [TRIAL], "arm": ["a"], "task_id": ["t"], "status": [status]})
    return pd.DataFrame(rows, columns=["trial_id", "kind", "name", "arguments", "status"]), trials


def recorded(*calls, context=None, **options):
    steps, trials = frames(*calls, **options)
    return Recording(trials, steps, run_id="r", tasks={"t": {"context": context or {}}})


def run(*calls, context=None, **options):
    """The same as a prepared table with its context: a recording checks every row, which takes longer."""
    steps, trials = frames(*calls, **options)
    texts = [None if a is None else canonical_json(a) for a in steps["arguments"]]
    steps["arguments"] = pd.Series(texts, dtype="str")
    return prepare(steps, trials), {"t": context or {}}


def judged(rule, made, contexts=None):
    recording, known = made
    verdicts = check(recording, Policy("p", [rule]), contexts=contexts or known)
    witness = int(verdicts.witness[0, 0])
    return VERDICTS[verdicts.verdict[0, 0]], None if witness < 0 else witness, Reason(int(verdicts.reason[0, 0]))


FAILED, LOST, BLOCKED = "failed", "no_result", "blocked"


def test_must_call():
    rule = MustCall("check")
    assert judged(rule, run("pay", "check"))[0] == "held"
    assert judged(rule, run("pay")) == ("violated", None, Reason.NONE)
    assert judged(rule, run())[0] == "violated"
    assert judged(rule, run("Check"))[0] == "violated"
    assert judged(rule, run(("check", {}, FAILED)))[0] == "violated"
    assert judged(rule, run(("check", {}, BLOCKED)))[0] == "violated"
    assert judged(rule, run(("check", {}, FAILED), "check"))[0] == "held"
    assert judged(rule, run(("check", {}, LOST))) == ("unobservable", None, Reason.NO_RESULT)
    assert judged(rule, run(("check", {}, LOST), "check"))[0] == "held"
    assert judged(rule, run("check", kind="decision"))[0] == "violated"


def test_must_not_call():
    rule = MustNotCall("pay")
    assert judged(rule, run("check"))[0] == "held"
    assert judged(rule, run("check", ("pay", {}, FAILED), "pay", "pay")) == ("violated", 2, Reason.NONE)
    assert judged(rule, run(("pay", {}, BLOCKED)))[0] == "held"
    assert judged(rule, run(("pay", {}, LOST))) == ("unobservable", None, Reason.NO_RESULT)
    assert judged(rule, run(("pay", {}, LOST), "pay")) == ("violated", 1, Reason.NONE)


def test_call_at_most():
    assert judged(CallAtMost("pay"), run())[0] == "held"
    assert judged(CallAtMost("pay"), run("pay", ("pay", {}, FAILED)))[0] == "held"
    assert judged(CallAtMost("pay"), run("pay", "check", "pay", "pay")) == ("violated", 2, Reason.NONE)
    assert judged(CallAtMost("pay", 2), run("pay", "pay", "pay")) == ("violated", 2, Reason.NONE)
    assert judged(CallAtMost("pay", 0), run("check", "pay")) == ("violated", 1, Reason.NONE)
    # a payment that timed out and was repeated may be a double payment
    assert judged(CallAtMost("pay"), run(("pay", {}, LOST), "pay")) == ("unobservable", None, Reason.NO_RESULT)
    assert judged(CallAtMost("pay"), run(("pay", {}, LOST)))[0] == "held"
    assert judged(CallAtMost("pay"), run("pay", ("pay", {}, LOST), "pay")) == ("violated", 2, Reason.NONE)


def test_ordering():
    rule = Ordering("check", "pay")
    assert judged(rule, run("check", "pay"))[0] == "held"
    assert judged(rule, run("check", "pay", "check"))[0] == "held"
    assert judged(rule, run("look", "pay", "check")) == ("violated", 1, Reason.NONE)
    assert judged(rule, run("pay")) == ("violated", 0, Reason.NONE)
    assert judged(rule, run("check")) == ("vacuous", None, Reason.NEVER_ACTIVATED)
    assert judged(rule, run(("pay", {}, FAILED))) == ("vacuous", None, Reason.NEVER_ACTIVATED)
    assert judged(rule, run(("check", {}, FAILED), "pay")) == ("violated", 1, Reason.NONE)


def test_ordering_in_every_world():
    rule = Ordering("check", "pay")
    unknown = ("unobservable", None, Reason.NO_RESULT)
    assert judged(rule, run(("check", {}, LOST), "pay")) == unknown
    assert judged(rule, run(("pay", {}, LOST), "check", "pay")) == unknown
    assert judged(rule, run("check", ("pay", {}, LOST))) == unknown  # held if it happened, vacuous if not
    assert judged(rule, run("pay", ("check", {}, LOST)))[:2] == ("violated", 0)
    assert judged(rule, run("check", "pay", ("pay", {}, LOST)))[0] == "held"
    assert judged(rule, run(("check", {}, LOST), "pay", ("check", {}, LOST))) == unknown
    # all lost calls happened: held; none happened: held; the second alone happened: violated
    assert judged(rule, run(("check", {}, LOST), ("pay", {}, LOST), "check", "pay")) == unknown


def test_arg_equals():
    rule = ArgEquals("pay", "amount", from_context="total")
    known = {"total": Decimal("4500.10")}
    assert judged(rule, run(("pay", {"amount": 4500.1}), context=known))[0] == "held"
    assert judged(rule, run(("pay", {"amount": 4500.1}), ("pay", {"amount": 45001}), context=known)) == (
        "violated", 1, Reason.NONE,
    )  # fmt: skip
    assert judged(rule, run(("pay", {"amount": 45001}, FAILED), context=known))[0] == "vacuous"
    assert judged(rule, run(("pay", {"amount": 1}), context={})) == ("not_applicable", None, Reason.NO_CONTEXT_VALUE)
    assert judged(rule, run(("pay", {"amount": 1}), context={"total": None}))[0] == "not_applicable"
    assert judged(rule, run(("pay", {"sum": 4500.1}), context=known))[:2] == ("violated", 0)
    assert judged(rule, run(("pay", {"amount": None}), context=known))[:2] == ("violated", 0)
    assert judged(rule, run(("pay", {"amount": "4500.10"}), context=known))[0] == "violated"


def test_numbers_kinds_and_case():
    def verdict(found, expected, **options):
        rule = ArgEquals("pay", "x", from_context="x", **options)
        return judged(rule, run(("pay", {"x": found})), contexts={"t": {"x": expected}})[0]

    assert verdict(1, 1.0) == "held"
    assert verdict(True, 1) == "violated"
    assert verdict(1, True) == "violated"
    assert verdict("1", 1) == "violated"
    assert verdict(1, float("nan")) == "violated"
    assert verdict(1, float("nan"), tolerance=5) == "violated"
    assert verdict(2**53 + 1, 2**53) == "violated"
    assert verdict(10, 10.01, tolerance=0.01) == "held"
    assert verdict(10, 10.011, tolerance=0.01) == "violated"
    assert verdict("INV-1", "inv-1") == "violated"
    assert verdict("INV-1 ", "inv-1", normalise="strip_casefold") == "held"
    assert verdict([1, {"a": "x"}], [1.0, {"a": "x"}]) == "held"


def test_arguments_that_could_not_be_read():
    rule = ArgEquals("pay", "amount", from_context="total")
    known = {"total": 5}
    unread = ("unobservable", None, Reason.UNREAD_ARGUMENTS)
    assert judged(rule, run(("pay", None, "ok"), context=known)) == unread
    assert judged(rule, run(("pay", [5], "ok"), context=known)) == unread
    assert judged(rule, run(("pay", None, "ok"), ("pay", {"amount": 5}), context=known)) == unread
    assert judged(rule, run(("pay", None, "ok"), ("pay", {"amount": 6}), context=known)) == (
        "violated", 1, Reason.NONE,
    )  # fmt: skip
    assert judged(MustCall("pay"), run(("pay", None, "ok")))[0] == "held"


def test_arguments_read_in_part_are_judged_where_they_were_read():
    trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    step = {"trial_id": "a/t/baseline/0/0", "kind": "tool_call", "name": "pay", "unread": "amount: 4,5"}

    def verdict(arguments, rule):
        steps = pd.DataFrame([{**step, "arguments": arguments}])
        recording = Recording(trials, steps, run_id="r", tasks={"t": {"context": {"total": 5}}})
        return judged(rule, (recording, None))[0]

    rule = ArgEquals("pay", "amount", from_context="total")
    assert verdict({"amount": 5}, rule) == "held"
    assert verdict({"amount": 6}, rule) == "violated"
    assert verdict({"vendor": "x"}, rule) == "unobservable"
    assert verdict({"amount": 5}, ArgSatisfies("pay", id="x", predicate=lambda a, c: False)) == "unobservable"


def test_a_call_without_a_result_and_its_arguments():
    rule = ArgEquals("pay", "amount", from_context="total")
    known = {"total": 5}
    unknown = ("unobservable", None, Reason.NO_RESULT)
    assert judged(rule, run(("pay", {"amount": 5}, LOST), context=known)) == unknown  # held or vacuous
    assert judged(rule, run(("pay", {"amount": 5}, LOST), ("pay", {"amount": 5}), context=known))[0] == "held"
    assert judged(rule, run(("pay", {"amount": 6}, LOST), ("pay", {"amount": 5}), context=known)) == unknown
    assert judged(rule, run(("pay", {"amount": 5}, LOST), ("pay", {"amount": 6}), context=known))[:2] == ("violated", 1)


def test_arg_satisfies_by_comparison():
    def verdict(arguments, op, value, context=None):
        rule = ArgSatisfies("pay", id="x", arg="amount", op=op, value=value)
        return judged(rule, run(("pay", arguments), context=context))[0]

    assert verdict({"amount": 100.0}, "<=", 100) == "held"
    assert verdict({"amount": 100.01}, "<=", 100) == "violated"
    assert verdict({"amount": "99"}, "<=", 100) == "violated"
    assert verdict({}, "!=", 100) == "violated"
    assert verdict({"amount": 3}, "!=", "3") == "held"
    assert verdict({"amount": "EUR"}, "in", ["EUR", "GBP"]) == "held"
    assert verdict({"amount": "eur"}, "in", ["EUR", "GBP"]) == "violated"
    assert verdict({"amount": 7}, "<", Context("limit"), {"limit": 8}) == "held"
    assert verdict({"amount": 7}, "<", Context("limit"), {"limit": 7}) == "violated"
    assert verdict({"amount": 7}, "<", Context("limit"), {}) == "not_applicable"
    assert verdict({"amount": 7}, "in", Context("allowed"), {"allowed": [7]}) == "held"
    with pytest.raises(PolicyError, match="needs a list"):
        verdict({"amount": 7}, "in", Context("allowed"), {"allowed": 7})


def test_arg_satisfies_by_predicate():
    seen = []

    def predicate(args, context):
        seen.append((args, dict(context)))
        return args["amount"] <= context["limit"]

    rule = ArgSatisfies("pay", id="x", predicate=predicate)
    pay = ("pay", {"amount": 3.5, "to": {"a": 1}})
    assert judged(rule, run(pay, pay, context={"limit": 4}))[0] == "held"
    assert seen == [({"amount": Decimal("3.5"), "to": {"a": 1}}, {"limit": 4})]  # once for equal arguments
    assert isinstance(seen[0][0]["amount"], Decimal)
    assert judged(rule, run(pay, ("pay", {"amount": 5}), context={"limit": 4}))[:2] == ("violated", 1)
    assert judged(rule, run("check", context={"limit": 4}))[0] == "vacuous"


def test_a_predicate_that_raises_or_says_neither_is_named():
    def run_with(predicate, *calls):
        return check(run(*calls)[0], Policy("p", [ArgSatisfies("pay", id="odd", predicate=predicate)]))

    place = r"predicate of rule 'odd' on trial 'a/t/baseline/0/0', step 1"
    with pytest.raises(PolicyError, match=f"{place}: it raised KeyError: 'amount'") as caught:
        run_with(lambda args, context: args["amount"] > 1, "check", ("pay", {"sum": 1}))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(PolicyError, match=f"{place}: it must return True or False; it returned None"):
        run_with(lambda args, context: None, "check", ("pay", {"sum": 1}))
    # nobody asks it about calls that did not happen
    assert run_with(lambda args, context: args["amount"], "check", ("pay", {}, FAILED)).conforms("high").all()


def test_a_predicate_is_not_asked_where_the_rule_does_not_apply():
    rule = ArgSatisfies("pay", id="x", when="payable", predicate=lambda args, context: 1 / 0)
    assert judged(rule, run(("pay", {}), context={"payable": False}))[0] == "not_applicable"
    assert judged(rule, run(("pay", {}), context={})) == ("unobservable", None, Reason.NO_CONDITION_KEY)


def test_a_predicate_cannot_change_what_others_see():
    def greedy(args, context):
        args.clear()
        return True

    rules = [ArgSatisfies("pay", id="greedy", predicate=greedy), ArgEquals("pay", "amount", from_context="total")]
    verdicts = check(recorded(("pay", {"amount": 5}), context={"total": 5}), Policy("p", rules))
    assert verdicts.verdict.tolist() == [[0], [0]]


@pytest.mark.parametrize(
    ("when", "context", "verdict"),
    [
        ("flag", {"flag": True}, "violated"),
        ("flag", {"flag": 2}, "violated"),
        ("flag", {"flag": ["blocker"]}, "violated"),
        ("flag", {"flag": False}, "not_applicable"),
        ("flag", {"flag": 0}, "not_applicable"),
        ("flag", {"flag": None}, "not_applicable"),
        ("flag", {"flag": []}, "not_applicable"),
        ("flag", {}, "unobservable"),
        (When("mode", equals="pay"), {"mode": "pay"}, "violated"),
        (When("mode", equals="pay"), {"mode": "Pay"}, "not_applicable"),
        (When("mode", equals=None), {"mode": None}, "violated"),
        (When("mode"), {"mode": 1}, "not_applicable"),
        (When("mode"), {}, "unobservable"),
        (lambda context: context["total"] > 10, {"total": 11}, "violated"),
        (lambda context: context["total"] > 10, {"total": 10}, "not_applicable"),
    ],
)
def test_conditions(when, context, verdict):
    assert judged(MustCall("check", when=when), run("pay", context=context))[0] == verdict


def test_conditions_that_cannot_be_answered():
    with pytest.raises(PolicyError, match=r"rule 'must_call:check', task 't': when='flag'.*'false'.*When"):
        judged(MustCall("check", when="flag"), run(context={"flag": "false"}))
    with pytest.raises(PolicyError, match="raised KeyError"):
        judged(MustCall("check", when=lambda context: context["flag"]), run())
    with pytest.raises(PolicyError, match="returned 1"):
        judged(MustCall("check", when=lambda context: 1), run())
    with pytest.raises(PolicyError, match="nan"):
        judged(MustCall("check", when="flag"), run(), contexts={"t": {"flag": float("nan")}})


INFRASTRUCTURE = ["not_run", "no_response", "budget_stop", "harness_error"]


@pytest.mark.parametrize("status", INFRASTRUCTURE)
def test_a_trial_that_did_not_complete(status):
    lost = ("unobservable", None, Reason.INCOMPLETE)
    assert judged(MustCall("check"), run("check", status=status))[0] == "held"
    assert judged(MustCall("check"), run("pay", status=status)) == lost
    assert judged(MustNotCall("pay"), run("pay", status=status))[:2] == ("violated", 0)
    assert judged(MustNotCall("pay"), run(status=status)) == lost
    assert judged(CallAtMost("pay"), run("pay", "pay", status=status))[:2] == ("violated", 1)
    assert judged(CallAtMost("pay"), run("pay", status=status)) == lost
    assert judged(Ordering("check", "pay"), run("pay", status=status))[:2] == ("violated", 0)
    assert judged(Ordering("check", "pay"), run("check", status=status)) == lost
    rule = ArgEquals("pay", "amount", from_context="total")
    assert judged(rule, run(("pay", {"amount": 1}), status=status, context={"total": 2}))[:2] == ("violated", 0)
    assert judged(rule, run(("pay", {"amount": 2}), status=status, context={"total": 2})) == lost
    assert judged(rule, run(status=status))[0] == "not_applicable"
    assert judged(MustCall("check", when="x"), run(status=status, context={"x": False}))[0] == "not_applicable"


def test_an_error_of_the_agent_is_behaviour():
    assert judged(MustCall("check"), run("pay", status="agent_error"))[0] == "violated"
    assert judged(MustNotCall("pay"), run(status="agent_error"))[0] == "held"
    assert judged(Ordering("check", "pay"), run(status="agent_error"))[0] == "vacuous"


def test_contexts_come_from_the_run_or_by_hand():
    policy = Policy("p", [ArgEquals("pay", "amount", from_context="total")])
    recording = recorded(("pay", {"amount": 5}), context={"total": 6})
    assert check(recording, policy).verdict.tolist() == [[VERDICTS.index("violated")]]
    assert check(recording, policy, contexts={"t": {"total": 5}, "other": {}}).verdict.tolist() == [[0]]
    for contexts, message in (
        ({}, "contexts lack 1 tasks of the run, such as 't'"),
        ({"t": {"total": {5}}}, "holds a Python set under 'total'"),
        ({"t": {"total": [1, object()]}}, "holds a Python object under 'total'"),
        ({"t": {3: 5}}, "holds the key 3"),
        ({"t": 5}, "must be a mapping"),
        ([], "must map"),
    ):
        with pytest.raises(ParameterError, match=message):
            check(recording, policy, contexts=contexts)


def test_what_cannot_be_checked_raises():
    with pytest.raises(ParameterError, match="policy must be a Policy"):
        check(recorded(), [MustCall("a")])
    with pytest.raises(ParameterError, match="recording must be"):
        check(recorded().steps, Policy("p", [MustCall("a")]))
    empty = Recording(recorded().trials.iloc[:0], run_id="r")
    with pytest.raises(ParameterError, match="holds no trials"):
        check(empty, Policy("p", [MustCall("a")]))
