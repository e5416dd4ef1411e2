"""Temporal rules: entities, conditions on calls, what the record does not tell, words of a violation, policy files."""

from __future__ import annotations

import doctest
import importlib
import json
from decimal import Decimal

import pytest

import plumbline as plumb
from plumbline.base.errors import PolicyError
from plumbline.rules import (
    AlternatePrecedence,
    AlternateResponse,
    ArgFromResult,
    CallBudget,
    ChainPrecedence,
    ChainResponse,
    Context,
    NotCoExistence,
    NotSuccession,
    Policy,
    Precedence,
    RespondedExistence,
    Response,
    SumAtMost,
    Where,
    read_policy,
)
from plumbline.rules.policy import KINDS
from tests.rules.test_flow import call, verdict, word

CHECKED = Precedence("check", before="pay", by="invoice")
DOUBLE = Where("duplicate", of="result")


def check(invoice, **more):
    return call("check", {"invoice": invoice}, **more)


def pay(invoice, **more):
    return call("pay", {"invoice": invoice}, **more)


def told(rule, *steps, **more):
    return verdict(rule, *steps, **more).violations()[["step", "expected", "observed"]].values.tolist()


def reason(rule, *steps, **more):
    row = verdict(rule, *steps, **more).to_frame().iloc[0]
    assert row["verdict"] == "unobservable"
    return row["reason"]


class TestEntities:
    def test_a_check_of_another_invoice_satisfies_nothing(self):
        assert word(CHECKED, check("A"), pay("A")) == "held"
        assert told(CHECKED, check("A"), pay("A"), pay("B")) == [
            [2, "a successful check of invoice 'B' before", "check only of another entity, at step 0"]
        ]
        assert word(Precedence("check", before="pay"), check("A"), pay("B")) == "held"

    def test_a_failed_check_and_a_failed_payment_did_not_happen(self):
        assert told(CHECKED, check("A", status="failed"), pay("A"))[0][2] == "check at step 0 did not succeed (failed)"
        assert word(CHECKED, pay("A", status="failed"), pay("A", status="blocked")) == "vacuous"
        assert told(CHECKED, pay("A"), check("A"))[0][2] == "no check before"

    def test_a_call_that_names_no_entity_shares_one_with_none(self):
        nameless = [call("check", {}), call("pay", {})]
        assert told(CHECKED, *nameless)[0][1] == "a successful check of the same invoice (the call names none) before"
        assert word(CHECKED, call("check", {"invoice": None}), call("pay", {"invoice": None})) == "violated"
        assert word(CHECKED, call("check", {}), call("pay", None)) == "violated", "nobody's check is not its check"
        assert word(NotSuccession("check", "pay", by="invoice"), *nameless) == "held"
        assert word(NotSuccession("check", "pay", by="invoice"), pay("A"), check("A")) == "held"
        assert word(NotCoExistence("check", "pay", by="invoice"), *nameless) == "held"

    def test_entities_are_equal_in_kind_and_value(self):
        assert word(CHECKED, check(1), pay(1.0)) == "held"
        assert word(CHECKED, check("1"), pay(1)) == "violated"
        assert word(CHECKED, check(True), pay(1)) == "violated"
        assert word(CHECKED, check(["A", "B"]), pay(["A", "B"])) == "held"
        assert word(CHECKED, check(["A", "B"]), pay("A")) == "violated"

    def test_tools_may_name_the_entity_differently(self):
        rule = Precedence("find", before="pay", by={"find": "query.id", "pay": "invoice"})
        assert word(rule, call("find", {"query": {"id": "A"}}), pay("A")) == "held"
        assert word(rule, call("find", {"query": {"id": "B"}}), pay("A")) == "violated"
        with pytest.raises(PolicyError, match="by names no argument of 'pay'"):
            Precedence("find", before="pay", by={"find": "id"})

    def test_directly_means_among_the_calls_of_the_entity(self):
        rule = ChainResponse("check", "pay", by="invoice")
        steps = [check("A"), check("B"), call("log", {}), pay("A"), pay("B")]
        assert word(rule, *steps) == "held"
        assert told(ChainResponse("check", "pay"), *steps)[0] == [0, "pay as the next call", "check at step 1"]
        held_up = [check("A"), call("hold", {"invoice": "A"}), pay("A")]
        assert told(rule, *held_up) == [[0, "pay of invoice 'A' as the next call", "hold at step 1"]]
        assert word(ChainResponse("check", "pay", by={"check": "invoice", "pay": "invoice"}), *held_up) == "held"

    def test_where_the_entity_is_not_on_record_nothing_is_decided(self):
        assert reason(CHECKED, check("A"), call("pay", None)) == "the arguments of a call could not be read"
        assert reason(CHECKED, call("check", None), pay("A")) == "the arguments of a call could not be read"
        assert reason(CHECKED, check("A"), call("pay", {}, unread="arguments: cut")).startswith("the arguments")
        assert word(CHECKED, call("pay", None)) == "violated", "nothing came before it, whatever it pays"
        assert word(Precedence("check", before="pay"), call("check", None), call("pay", None)) == "held"
        assert word(CHECKED, check("A"), call("check", None), pay("A")) == "held"


class TestWorlds:
    def test_a_call_without_a_result_is_judged_both_ways(self):
        lost = "a call without a result may have happened"
        assert reason(CHECKED, check("A", status="no_result"), pay("A")) == lost
        assert reason(CHECKED, check("A"), pay("A", status="no_result")) == lost
        assert word(CHECKED, check("B", status="no_result"), pay("A")) == "violated"
        assert word(CHECKED, check("A"), check("A", status="no_result"), pay("A")) == "held"
        assert reason(NotSuccession("check", "pay"), check("A"), pay("A", status="no_result")) == lost
        assert reason(NotSuccession("check", "pay"), check("A", status="no_result")) == lost
        assert reason(ChainResponse("check", "pay"), check("A"), check("B", status="no_result"), pay("A")) == lost

    def test_either_way_is_an_answer_if_both_ways_are(self):
        rule = Response("check", "pay", within=1)
        assert word(rule, check("A"), pay("A", status="no_result"), pay("A")) == "held"
        assert word(rule, check("A"), check("B", status="no_result"), call("log", {})) == "violated"

    def test_in_a_trial_that_did_not_complete_a_response_might_still_have_come(self):
        assert word(Response("check", "pay"), check("A"), status="budget_stop") == "unobservable"
        assert word(Response("check", "pay"), check("A"), pay("A"), status="budget_stop") == "unobservable"
        assert word(RespondedExistence("check", "pay"), check("A"), status="budget_stop") == "unobservable"
        for rule in (CHECKED, NotSuccession("log", "pay"), NotCoExistence("log", "pay")):
            assert word(rule, call("log", {}), pay("A"), status="budget_stop") == "violated"

    def test_calls_of_one_turn_are_taken_in_recorded_order(self):
        assert word(CHECKED, check("A", group=1), pay("A", group=1)) == "held"
        assert word(CHECKED, pay("A", group=1), check("A", group=1)) == "violated"


class TestWhere:
    flag = Response("check", "flag", by="invoice", where=DOUBLE)
    hold = NotSuccession("check", "pay", by="invoice", where=DOUBLE)

    def test_a_duplicate_must_be_flagged_and_not_paid(self):
        double, single = check("A", result={"duplicate": True}), check("B", result={"duplicate": False})
        steps = [double, single, pay("A"), pay("B")]
        assert told(self.flag, *steps) == [[0, "a successful flag of invoice 'A' afterwards", "no flag afterwards"]]
        assert told(self.hold, *steps) == [
            [2, "no successful pay of invoice 'A' after check", "check succeeded at step 0"]
        ]
        good = [double, single, call("flag", {"invoice": "A"}), pay("B")]
        assert (word(self.flag, *good), word(self.hold, *good)) == ("held", "held")
        assert (word(self.flag, single, pay("B")), word(self.hold, single, pay("B"))) == ("vacuous", "vacuous")

    def test_a_result_that_is_not_on_record_decides_nothing(self):
        lost = "a result is not on record, from which the value may come"
        assert reason(self.flag, check("A")) == lost
        assert reason(self.hold, check("A", result="all fine"), pay("A")) == lost
        assert reason(self.flag, check("A"), call("flag", {"invoice": "A"})) == lost, "held, or vacuous"
        assert reason(self.flag, check("A", result="12")) == lost, "a bare number within text is no answer to a path"
        assert word(self.flag, check("A", result=json.dumps({"duplicate": True}))) == "violated", "JSON within text"
        assert word(self.flag, check("A", result=json.dumps({"duplicate": False}))) == "vacuous"

    def test_an_argument_that_is_not_on_record_decides_nothing(self):
        rule = Precedence("approve", before="pay", where=Where("amount", "gt", 100))
        assert reason(rule, call("pay", None)) == "the arguments of a call could not be read"
        assert word(rule, call("pay", {"amount": 100.01}, unread="arguments: note")) == "violated"
        assert word(rule, call("pay", {"amount": 100.00})) == "vacuous"

    @pytest.mark.parametrize(
        ("op", "value", "met", "unmet"),
        [
            ("eq", 10, [10, 10.0, [3, 10]], ["10", 11, None, []]),
            ("ne", 10, [11, "10", [3, 4]], [10, 10.0, [3, 10], None]),
            ("lt", 10, [9.99], [10, "9", None]),
            ("le", 10, [10, 9], [10.01]),
            ("gt", Decimal("0.3"), [0.31], [0.3, True]),
            ("ge", "b", ["b", "c"], ["a", 3]),
            ("in", ["x", 1], ["x", 1.0], ["y", True, None]),
            ("exists", True, [0, False, ""], [None]),
            ("exists", False, [None, []], [0]),
        ],
    )
    def test_operators(self, op, value, met, unmet):
        rule = NotSuccession("log", "pay", where=Where("v", op, value))
        for given, wanted in [*((v, "violated") for v in met), *((v, "vacuous") for v in unmet)]:
            assert word(rule, call("log", {"v": given}), pay("A")) == wanted, given
        if op == "ne":
            assert word(rule, call("log", {}), pay("A")) == "vacuous", "what is not there is not unequal either"

    def test_all_of_several_conditions_must_be_met(self):
        rule = NotSuccession("log", "pay", where=[Where("a"), {"path": "b", "op": "gt", "value": 1}])
        assert word(rule, call("log", {"a": True, "b": 2}), pay("A")) == "violated"
        assert word(rule, call("log", {"a": True, "b": 1}), pay("A")) == "vacuous"

    def test_the_context_may_hold_the_value(self):
        rule = Precedence("approve", before="pay", where=Where("amount", "gt", Context("limit")))
        steps = [call("pay", {"amount": 50})]
        assert word(rule, *steps, context={"limit": 49}) == "violated"
        assert word(rule, *steps, context={"limit": 50}) == "vacuous"
        for rule_ in (rule, NotSuccession("pay", "log", where=rule.where)):
            assert word(rule_, *steps, context={}) == "not_applicable"
            assert word(rule_, *steps, context={"limit": None}) == "not_applicable"

    def test_the_result_as_a_whole(self):
        rule = NotSuccession("ask", "pay", where=Where("", "eq", "no", of="result"))
        assert word(rule, call("ask", {}, "no"), pay("A")) == "violated"
        assert word(rule, call("ask", {}, "yes"), pay("A")) == "vacuous"

    def test_only_calls_that_meet_the_condition_count_as_called_again(self):
        rule = AlternateResponse("open", "close", where=Where("write"))
        steps = [call("open", {"write": True}), call("open", {"write": False}), call("close", {})]
        assert word(rule, *steps) == "held"
        unread = [steps[0], call("open", None), call("close", {})]
        assert reason(rule, *unread) == "the arguments of a call could not be read"
        assert told(AlternateResponse("open", "close"), *steps) == [
            [0, "a successful close before the next open", "open again at step 1"]
        ]


def test_within_counts_calls_that_happened():
    rule = Response("check", "pay", within=2)
    log, failed = call("log", {}), call("log", {}, status="failed")
    assert word(rule, check("A"), log, failed, pay("A")) == "held"
    assert told(rule, check("A"), log, log, pay("A")) == [
        [0, "a successful pay within the next 2 calls", "log at step 2"]
    ]


def test_each_approval_covers_one_payment():
    rule = AlternatePrecedence("approve", before="pay", by="invoice")
    approve = call("approve", {"invoice": "A"})
    assert word(rule, approve, pay("A"), approve, pay("A")) == "held"
    assert told(rule, approve, pay("A"), pay("A")) == [
        [2, "a successful approve of invoice 'A' since the last pay", "pay again at step 1"]
    ]


EVERY = [
    Response("a", "b", by="id", within=3, where=Where("amount", "gt", Decimal("1.50"))),
    Precedence("a", before="b", by={"a": "x.id", "b": "id"}, where=[DOUBLE, Where("kind", "in", ["u", 2])]),
    ChainResponse("a", "b", severity="low"),
    ChainPrecedence("a", "b", when="flag"),
    AlternateResponse("a", "b"),
    AlternatePrecedence("a", "b", where=Where("amount", "ge", Context("limit"))),
    NotSuccession("a", "b", where=Where("note", "exists", False)),
    RespondedExistence("a", "b"),
    NotCoExistence("a", "b", by="id"),
    CallBudget(["a", "b"], most=3, by="id", where=Where("x", "eq", 1), attempts="all"),
    CallBudget(most=20),
    SumAtMost("a", "amount", most="100.00", by="id"),
    SumAtMost("a", "amount", most=Context("limit"), id="by_context"),
    ArgFromResult("a", "amount", source="b", path="total", by="id"),
]


def test_every_rule_can_be_written_down_and_read_again(tmp_path):
    policy = Policy("p", EVERY)
    assert {rule.kind for rule in EVERY} | {"arg_from_earlier", "message_before", "one_call_a_turn"} == set(KINDS) - {
        "must_call", "must_not_call", "ordering", "call_at_most", "arg_equals", "arg_satisfies",
    }  # fmt: skip
    assert Policy.from_dict(policy.to_dict()) == policy
    path = tmp_path / "p.json"
    path.write_text(plumb.base.canonical.canonical_json(policy.to_dict()))
    assert read_policy(path) == policy
    assert read_policy(path).digest == policy.digest


def test_they_stand_in_policy_files(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("""
name: p
rules:
- rule: response
  first: check
  then: flag
  by: invoice
  where: {path: duplicate, of: result}
- {rule: precedence, first: approve, before: pay, where: [{path: amount, op: gt, value: {context: limit}}]}
- {rule: not_succession, first: check, then: pay, by: {check: invoice, pay: invoice_id}}
- {rule: call_budget, tools: [search, fetch], most: 20, attempts: all}
- {rule: sum_at_most, tool: refund, arg: amount, most: {context: paid}, by: order}
- {rule: sum_at_most, tool: pay, arg: amount, most: 100.10}
- {rule: arg_from_result, tool: pay, arg: amount, source: get, path: total, by: invoice}
""")
    assert read_policy(path).rules == (
        Response("check", "flag", by="invoice", where=DOUBLE),
        Precedence("approve", before="pay", where=Where("amount", "gt", Context("limit"))),
        NotSuccession("check", "pay", by={"check": "invoice", "pay": "invoice_id"}),
        CallBudget(["search", "fetch"], most=20, attempts="all"),
        SumAtMost("refund", "amount", most=Context("paid"), by="order"),
        SumAtMost("pay", "amount", most=Decimal("100.10")),
        ArgFromResult("pay", "amount", source="get", path="total", by="invoice"),
    )
    path.write_text(path.read_text().replace("of: result", "off: result"))
    with pytest.raises(PolicyError, match=r"line 4, rules\[0\]: response: .*where has the keys path, op, value and of"):
        read_policy(path)


def test_the_digest_sees_every_option():
    digests = [
        Policy("p", [Response("a", "b", id="x", description="x", **options)]).digest
        for options in ({}, {"by": "id"}, {"by": {"a": "id", "b": "id"}}, {"within": 1}, {"where": DOUBLE},
                        {"where": Where("duplicate")}, {"where": Where("duplicate", "ne", of="result")})
    ]  # fmt: skip
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Response("a", "a"), "Response: first and then are both 'a'"),
        (lambda: Precedence("a", before=" "), "Precedence: before must be text"),
        (lambda: Response("a", "b", within=0), "within must be a whole number of 1 or more"),
        (lambda: Response("a", "b", within=True), "within"),
        (lambda: Response("a", "b", by=3), "by must be text"),
        (lambda: Response("a", "b", where="amount"), "where must be a Where, a mapping"),
        (lambda: Response("a", "b", where={"op": "eq"}), "where has the keys"),
        (lambda: Where("x", "equals"), "op 'equals' is not known"),
        (lambda: Where("x", "eq", None), "For null, ask for op='exists', value=False"),
        (lambda: Where("x", "in", "abc"), "in needs a list"),
        (lambda: Where("x", "exists", 1), "exists takes True or False"),
        (lambda: Where("x", of="argument"), "Did you mean 'arguments'"),
        (lambda: Where(""), "path must be text"),
        (lambda: CallBudget("a", most=-1), "most must be a whole number of 0 or more"),
        (lambda: CallBudget("a", most=1, attempts="every"), "attempts 'every' is not known"),
        (lambda: CallBudget({"a"}, most=1), "tools must name a tool or list some"),
        (lambda: SumAtMost("a", "b", most="much"), "finite number of 0 or more"),
        (lambda: SumAtMost("a", "b", most=-1), "finite number of 0 or more"),
        (lambda: ArgFromResult("a", "b", source=""), "source must be text"),
    ],
)
def test_what_is_no_rule_is_refused(make, message):
    with pytest.raises(PolicyError, match=message):
        make()


@pytest.mark.parametrize("name", ["budgets", "coexistence", "conditions", "declare", "flow", "relations", "temporal"])
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(f"plumbline.rules.{name}")).failed == 0
