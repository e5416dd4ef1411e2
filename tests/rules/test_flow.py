"""Rules that read a trial step by step: data flow, words before a call, one call a turn, and rules of one's own."""

from __future__ import annotations

import json
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import PolicyError
from plumbline.rules import ArgFromEarlier, CallAtMost, Custom, MessageBefore, OneCallATurn, Policy, check, read_policy
from plumbline.traces import Recording

YES = r"\byes\b"


def call(name, arguments, result=None, status="ok", group=None, **more):
    return {
        "kind": "tool_call", "name": name, "arguments": None if arguments is None else json.dumps(arguments),
        "result": None if result is None else json.dumps(result), "status": status, "group": group, **more,
    }  # fmt: skip


def says(agent, text):
    return {"kind": "message", "agent": agent, "result": json.dumps(text), "status": "ok"}


def verdict(rule, *steps, context=None, status="completed"):
    trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"], "status": [status]})
    columns = ("kind", "name", "arguments", "result", "status", "group", "agent", "unread")
    rows = [{"trial_id": "a/t/baseline/0/0", **dict.fromkeys(columns), **step} for step in steps]
    frame = pd.DataFrame(rows, columns=["trial_id", *columns], dtype=object)
    run = Recording(trials, frame, run_id="r", tasks={"t": {"context": context or {}}})
    return check(run, Policy("p", [rule]))


def word(rule, *steps, **more):
    return verdict(rule, *steps, **more).to_frame()["verdict"].iloc[0]


CANCEL = ArgFromEarlier("cancel", "order")


class TestArgFromEarlier:
    def test_a_value_from_a_result_a_key_of_one_or_the_users_words_is_known(self):
        for before in (
            call("list", {}, {"orders": [{"id": "A-17"}]}),
            call("list", {}, {"A-17": {"open": True}}),
            call("find", {}, "A-17"),
            says("user", "Cancel (A-17), please."),
        ):
            assert word(CANCEL, before, call("cancel", {"order": "A-17"})) == "held"

    def test_a_value_that_came_from_nowhere_is_the_witness(self):
        found = verdict(CANCEL, says("user", "Cancel A-170."), call("cancel", {"order": "A-17"}))
        row = found.violations().iloc[0]
        assert (row["rule"], row["step"], row["name"]) == ("arg_from_earlier:cancel.order", 1, "cancel")
        assert row["observed"] == "'A-17' seen nowhere"
        assert found.to_frame()["witness"].iloc[0] == 1

    def test_what_comes_later_what_failed_and_what_the_assistant_said_is_no_source(self):
        late = call("list", {}, {"id": "A-17"})
        assert word(CANCEL, call("cancel", {"order": "A-17"}), late) == "violated"
        failed = call("list", {}, {"id": "A-17"}, status="failed")
        assert word(CANCEL, failed, call("cancel", {"order": "A-17"})) == "violated"
        assert word(CANCEL, says("assistant", "A-17"), call("cancel", {"order": "A-17"})) == "violated"

    def test_numbers_are_found_by_value_and_a_truth_value_is_none(self):
        rule = ArgFromEarlier("pay", "amount")
        assert word(rule, call("fetch", {}, {"total": 12.5}), call("pay", {"amount": 12.50})) == "held"
        assert word(rule, call("fetch", {}, {"ok": True}), call("pay", {"amount": 1})) == "violated"
        assert word(rule, call("fetch", {}, {"n": 1}), call("pay", {"amount": True})) == "violated"

    def test_nested_arguments_and_lists_are_looked_for_member_by_member(self):
        rule = ArgFromEarlier("book", "payments.id")
        known = call("user", {}, {"methods": {"c1": {}, "c2": {}}})
        assert word(rule, known, call("book", {"payments": [{"id": "c1"}, {"id": "c2"}]})) == "held"
        found = verdict(rule, known, call("book", {"payments": [{"id": "c1"}, {"id": "c9"}]}))
        assert found.violations()["observed"].iloc[0] == "'c9' seen nowhere"

    def test_what_the_record_does_not_hold_is_not_decided(self):
        cancel = call("cancel", {"order": "A-17"})
        blind = call("list", {}, None)
        assert verdict(CANCEL, blind, cancel).to_frame()["reason"].iloc[0].startswith("a result is not on record")
        assert word(CANCEL, call("cancel", None, unread="arguments: truncated: {")) == "unobservable"
        assert word(CANCEL, call("cancel", {"order": "A-17"}, status="no_result")) == "unobservable"
        assert word(CANCEL, call("other", {})) == "vacuous"
        assert word(CANCEL, call("cancel", {"order": "A-17"}, status="blocked")) == "vacuous"

    def test_sources_can_be_narrowed(self):
        rule = ArgFromEarlier("cancel", "order", sources=("result",))
        assert word(rule, says("user", "A-17"), call("cancel", {"order": "A-17"})) == "violated"
        for sources in ("result", (), ("prompt",)):
            with pytest.raises(PolicyError, match="sources"):
                ArgFromEarlier("cancel", "order", sources=sources)

    @given(st.text(min_size=1, max_size=8).filter(str.strip), st.integers(0, 4))
    def test_any_text_is_found_in_any_nesting(self, text, depth):
        value = text
        for level in range(depth):
            value = [value] if level % 2 else {"k": value}
        assert word(CANCEL, call("list", {}, {"v": value}), call("cancel", {"order": text})) == "held"


class TestMessageBefore:
    rule = MessageBefore("cancel", YES)

    def test_the_last_words_before_the_call_count(self):
        assert word(self.rule, says("user", "Yes, go on."), call("cancel", {})) == "held"
        again = [says("user", "Yes."), says("assistant", "Sure?"), says("user", "Wait."), call("cancel", {})]
        found = verdict(self.rule, *again)
        assert found.to_frame()["witness"].iloc[0] == 3
        assert found.violations()["observed"].iloc[0] == "the last words were 'Wait.'"
        assert word(self.rule, says("user", "yesterday"), call("cancel", {})) == "violated"

    def test_words_of_somebody_else_are_not_the_users(self):
        steps = [says("user", "Cancel it."), says("assistant", "Yes"), call("cancel", {})]
        assert word(self.rule, *steps) == "violated"
        assert word(MessageBefore("cancel", YES, role="assistant"), *steps) == "held"

    def test_where_nobody_spoke_on_record_nothing_can_be_said(self):
        found = verdict(self.rule, call("cancel", {}))
        assert found.to_frame()[["verdict", "reason"]].iloc[0].tolist() == [
            "unobservable", "nobody's words are on record",
        ]  # fmt: skip
        assert word(self.rule, says("user", "Hi"), call("other", {})) == "vacuous"

    def test_a_pattern_must_be_one(self):
        with pytest.raises(PolicyError, match="no regular expression"):
            MessageBefore("cancel", "(")


class TestOneCallATurn:
    def test_calls_of_one_turn_are_named_with_the_first_of_it(self):
        steps = [call("a", {}, group=0), call("b", {}, group=1), call("c", {}, status="failed", group=1)]
        found = verdict(OneCallATurn(), *steps)
        assert found.violations()[["step", "observed"]].values.tolist() == [[2, "asked for together with step 1"]]
        assert word(OneCallATurn(), *steps[:2]) == "held"

    def test_without_turns_on_record_it_cannot_be_told(self):
        assert word(OneCallATurn(), call("a", {}), call("b", {})) == "unobservable"
        assert word(OneCallATurn(), call("a", {})) == "held"
        assert word(OneCallATurn(), says("user", "Hi")) == "vacuous"


class TestCustom:
    def test_a_function_names_the_violating_steps(self):
        def dear(steps, context):
            pays = [s for s in steps if s.happened and s.name == "pay"]
            return [s.step for s in pays if s.arguments["amount"] > context["cap"]] if pays else None

        rule = Custom(dear, id="cap", description="No payment above the cap.")
        steps = [call("pay", {"amount": 5}), call("pay", {"amount": 12.5})]
        found = verdict(rule, *steps, context={"cap": Decimal(10)})
        assert found.violations()[["step", "expected", "observed"]].values.tolist() == [
            [1, "No payment above the cap.", "tool_call pay (ok)"]
        ]
        assert word(rule, *steps[:1], context={"cap": Decimal(10)}) == "held"
        assert word(rule, call("x", {})) == "vacuous"

    @pytest.mark.parametrize("answer", [True, [7], ["0"], "0", [True]])
    def test_an_answer_that_is_no_step_is_an_error_not_a_pass(self, answer):
        rule = Custom(lambda steps, context: answer, id="odd", description="Odd.")
        with pytest.raises(PolicyError, match="numbers of violating steps"):
            verdict(rule, call("a", {}))

    def test_an_error_in_the_function_names_the_rule(self):
        rule = Custom(lambda steps, context: 1 / 0, id="broken", description="Broken.")
        with pytest.raises(PolicyError, match=r"'broken'.*ZeroDivisionError"):
            verdict(rule, call("a", {}))
        for wrong in ({"id": "", "description": "x"}, {"id": "x", "description": ""}):
            with pytest.raises(PolicyError):
                Custom(lambda steps, context: [], **wrong)


def test_in_a_trial_that_did_not_complete_only_a_violation_stands():
    steps = [says("user", "Hi"), call("cancel", {"order": "A-17"})]
    assert word(CANCEL, *steps, status="no_response") == "violated"
    assert word(CANCEL, says("user", "A-17"), *steps[1:], status="no_response") == "unobservable"


def test_they_stand_in_policy_files_and_beside_the_other_rules(tmp_path):
    text = """
name: p
rules:
- {rule: arg_from_earlier, tool: cancel, arg: order, severity: high}
- {rule: message_before, tool: cancel, pattern: '\\byes\\b'}
- {rule: one_call_a_turn, severity: low}
- {rule: call_at_most, tool: cancel, limit: 1}
"""
    (tmp_path / "p.yaml").write_text(text)
    policy = read_policy(tmp_path / "p.yaml")
    assert policy.rules == (
        ArgFromEarlier("cancel", "order", severity="high"), MessageBefore("cancel", YES),
        OneCallATurn(severity="low"), CallAtMost("cancel", 1),
    )  # fmt: skip
    assert Policy.from_dict(policy.to_dict()).digest == policy.digest


def test_a_condition_leaves_other_tasks_alone():
    rule = OneCallATurn(when="strict")
    steps = [call("a", {}, group=0), call("b", {}, group=0)]
    assert word(rule, *steps, context={"strict": True}) == "violated"
    assert word(rule, *steps, context={"strict": False}) == "not_applicable"


def test_trials_of_one_task_with_equal_steps_are_read_once_and_others_apart():
    read = []

    def quiet(steps, context):
        read.append((context["name"], [one.name for one in steps]))
        return [one.step for one in steps if one.name == "b" and context["name"] == "t2"]

    told = {"r/t1": "ab", "s/t1": "ab", "s/t2": "ab", "r/t2": "a"}
    rows = [
        {"trial_id": f"{cell}/baseline/0/0", **call(name, {})} for cell, names in told.items() for name in names
    ]  # fmt: skip
    trials = pd.DataFrame([{"arm": cell[0], "task_id": cell[2:]} for cell in told])
    contexts = {task: {"context": {"name": task}} for task in ("t1", "t2")}
    run = Recording(trials, pd.DataFrame(rows), run_id="r", tasks=contexts)
    rule = Custom(quiet, id="quiet", description="Nothing is done.")
    found = check(run, Policy("p", [rule]))
    assert sorted((name, "".join(names)) for name, names in read) == [("t1", "ab"), ("t2", "a"), ("t2", "ab")]
    assert found.to_frame().set_index("trial_id")["verdict"].to_dict() == {
        "r/t1/baseline/0/0": "held", "s/t1/baseline/0/0": "held", "s/t2/baseline/0/0": "violated",
        "r/t2/baseline/0/0": "held",
    }  # fmt: skip
