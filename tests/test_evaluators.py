"""Rules as evaluators, as an Inspect scorer, as an assertion."""

from __future__ import annotations

import asyncio
import json
import sys
from types import SimpleNamespace

import pytest

import plumbline as plumb
from plumbline import evaluators
from plumbline.base.errors import ParameterError, PlumblineError
from plumbline.evaluators import ViolationError, assert_conforms, evaluator, inspect_scorer


def call(number, name, arguments):
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def talk(*calls):
    said = [{"role": "user", "content": "Pay INV-1."}]
    for number, (name, arguments) in enumerate(calls):
        said.append({"role": "assistant", "content": None, "tool_calls": [call(number, name, arguments)]})
        said.append({"role": "tool", "tool_call_id": f"c{number}", "content": '{"done": true}'})
    return [*said, {"role": "assistant", "content": "Done."}]


POLICY = plumb.Policy(
    "payments",
    [
        plumb.MustCall("check", severity="critical"),
        plumb.Ordering("check", "pay", severity="critical"),
        plumb.ArgEquals("pay", "amount", from_context="amount", severity="high"),
    ],
)
GOOD = talk(("check", {"id": "INV-1"}), ("pay", {"amount": 12.5}))
BAD = talk(("pay", {"amount": 99}), ("check", {"id": "INV-1"}))
UNANSWERED = [message for message in talk(("check", {"id": "INV-1"})) if message["role"] != "tool"]


def test_an_evaluator_takes_messages_and_gives_key_score_and_comment():
    judge = evaluator(POLICY)
    good = judge(inputs="Pay INV-1.", outputs=GOOD, reference_outputs={"amount": 12.5})
    assert (good["key"], good["score"]) == ("payments", True)
    assert good["comment"] == "3 of 3 verdicts were decided, and all of these held"
    bad = judge(outputs={"messages": BAD}, reference_outputs={"amount": 12.5})
    assert bad["score"] is False
    for part in ("ordering:check-before-pay", "at step", "arg_equals:pay.amount", "99"):
        assert part in bad["comment"]


def test_what_cannot_be_told_is_no_pass_and_no_failure():
    found = evaluator(POLICY)(outputs=UNANSWERED, reference_outputs={"amount": 12.5})
    assert found["score"] is None
    assert "must_call:check cannot be told" in found["comment"]


def test_a_rule_without_its_ground_truth_did_not_apply_and_the_comment_says_so():
    found = evaluator(POLICY)(outputs=GOOD)
    assert found["score"] is True
    assert found["comment"].startswith("2 of 3 verdicts were decided")
    assert "arg_equals:pay.amount did not apply" in found["comment"]


def test_one_rule_is_an_evaluator_too():
    judge = evaluator(plumb.MustNotCall("pay"), key="never_pays")
    assert judge(outputs=GOOD)["key"] == "never_pays"
    assert judge(outputs=GOOD)["score"] is False


@pytest.mark.parametrize("outputs", [None, [], {"nothing": 1}, "words"])
def test_what_is_no_trajectory_is_refused(outputs):
    with pytest.raises(PlumblineError):
        evaluator(POLICY)(outputs=outputs)


def test_a_failing_assertion_names_rule_and_step():
    assert_conforms(GOOD, POLICY, context={"amount": 12.5})
    with pytest.raises(ViolationError, match=r"ordering:check-before-pay .critical. violated at step \d"):
        assert_conforms(BAD, POLICY, context={"amount": 12.5})
    with pytest.raises(ViolationError, match="cannot be told"):
        assert_conforms(UNANSWERED, POLICY)
    assert issubclass(ViolationError, AssertionError)


def test_a_whole_run_is_asserted_with_its_own_ground_truth():
    domain = plumb.load_domain("procure_to_pay")
    run = plumb.run_study(domain, arms=["plan_execute"], tasks=["INV-7002"], variants=1, repetitions=1, clock=None)
    assert_conforms(run, domain.policy)
    assert evaluator(domain.policy)(outputs=run)["score"] is True


def test_an_inspect_scorer_judges_the_messages_of_a_sample():
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    assert inspect_ai
    messages = [
        ChatMessageUser(content="Pay INV-1."),
        ChatMessageAssistant(
            content="", tool_calls=[ToolCall(id="c0", function="pay", arguments={"amount": 12.5}, type="function")]
        ),
        ChatMessageTool(content="done", tool_call_id="c0", function="pay"),
        ChatMessageAssistant(content="Done."),
    ]
    state = SimpleNamespace(messages=messages, metadata={"amount": 12.5})
    score = asyncio.run(inspect_scorer(POLICY)(state, None))
    assert score.value == 0.0
    assert "must_call:check" in score.explanation


def test_without_inspect_the_line_that_installs_it_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", None)
    with pytest.raises(ParameterError, match="pip install inspect-ai"):
        inspect_scorer(POLICY)
    assert evaluators.__all__
