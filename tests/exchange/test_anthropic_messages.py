"""Anthropic messages: calls of one message belong together, replies are joined by id, is_error decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.exchange import read_traces
from plumbline.exchange.drafts import NOT_RECORDED
from plumbline.exchange.readers.anthropic_turns import anthropic_turns

CASE = Path(__file__).parents[2].parent / "shared" / "cases" / "C08-anthropic-parallel-results.json"


def use(call_id, name="quote", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id, content, **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def calls(talk):
    return [step for step in talk.steps if step.kind == "tool_call"]


@pytest.mark.skipif(not CASE.exists(), reason="the shared cases are not here")
def test_c08_as_given():
    case = json.loads(CASE.read_text(encoding="utf-8"))
    run, expected = read_traces(case["input"]["messages"]), case["expected"]
    assert run.notes["import"]["format"] == "anthropic"
    steps = run.steps[run.steps["kind"] == "tool_call"]
    assert steps["call_id"].tolist() == expected["call_ids"]
    assert [json.loads(text) for text in steps["arguments"]] == expected["args"]
    assert [json.loads(text) for text in steps["result"]] == expected["results"]
    assert (steps["status"] == "failed").tolist() == expected["failed"]
    assert (steps["group"].nunique() == 1) is expected["same_step"]
    assert run.trials["final_output"].tolist() == [expected["final_text"]]


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["quote", "pay"]), st.integers(0, 9), st.booleans(), st.booleans()),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=3,
    ),
    st.data(),
)
def test_parallel_calls_answered_in_any_order(turns, data):
    messages, expected = [], []
    for turn, group in enumerate(turns):
        blocks, replies = [], []
        for place, (name, number, wrong, worded) in enumerate(group):
            call_id = f"tu_{turn}_{place}"
            blocks += [*([{"type": "text", "text": "and"}] if worded else []), use(call_id, name, n=number)]
            content = data.draw(st.sampled_from([f"r{number}", [{"type": "text", "text": f"r{number}"}]]))
            replies.append(result(call_id, content, **({"is_error": True} if wrong else {})))
            expected.append((call_id, name, {"n": number}, f"r{number}", "failed" if wrong else "ok", turn))
        messages.append({"role": "assistant", "content": blocks})
        messages.append(
            {"role": "user", "content": [*data.draw(st.permutations(replies)), {"type": "text", "text": "go on"}]}
        )
    found = [(s.call_id, s.name, s.arguments, s.result, s.status, s.group) for s in calls(anthropic_turns(messages))]
    assert found == expected


def test_words_thoughts_and_calls_keep_the_order_in_which_they_stand():
    blocks = [
        {"type": "thinking", "thinking": "two", "signature": "s"},
        {"type": "text", "text": "first"},
        use("a"),
        {"type": "text", "text": "then"},
        use("b"),
    ]
    talk = anthropic_turns([{"role": "assistant", "content": blocks}], system="be brief")
    assert [(s.kind, s.agent, s.group) for s in talk.steps] == [
        ("message", "system", None), ("thought", "assistant", None), ("message", "assistant", None),
        ("tool_call", None, 0), ("message", "assistant", None), ("tool_call", None, 0),
    ]  # fmt: skip
    assert [s.status for s in calls(talk)] == ["no_result", "no_result"]


def test_tools_of_the_server_answer_within_the_message():
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "AB"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "CD"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s2",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
    ]
    steps = calls(anthropic_turns([{"role": "assistant", "content": blocks}]))
    assert [(s.status, s.error_type, s.group) for s in steps] == [("ok", None, 0), ("failed", "max_uses_exceeded", 1)]
    assert steps[0].result == [{"type": "web_search_result", "url": "u"}]


def test_a_result_of_several_blocks_is_kept_as_it_stands_and_a_missing_input_is_not_an_empty_one():
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "url", "url": "u"}}]
    asked = {"type": "tool_use", "id": "a", "name": "look"}
    (step,) = calls(
        anthropic_turns([{"role": "assistant", "content": [asked]}, {"role": "user", "content": [result("a", blocks)]}])
    )
    assert (step.arguments, step.result) == (NOT_RECORDED, blocks)


def test_a_flag_that_is_no_flag_is_kept():
    talk = anthropic_turns(
        [{"role": "assistant", "content": [use("a")]}, {"role": "user", "content": [result("a", "x", is_error="yes")]}]
    )
    assert calls(talk)[0].status == "ok"
    assert talk.unread == ["is_error of the reply to 'a': \"yes\""]


def test_answers_as_the_client_returns_them_carry_model_and_tokens():
    answer = {
        "id": "msg", "type": "message", "role": "assistant", "content": [use("a")], "model": "m-1",
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 7},
    }  # fmt: skip
    run = read_traces({"system": "s", "messages": [{"role": "user", "content": "hi"}, answer, answer]})
    assert run.trials[["model", "tokens_in", "tokens_out"]].values.tolist() == [["m-1", 10, 14]]
    assert run.notes["import"]["unread"] == {}


def test_anthropic_blocks_in_a_file_that_began_as_plain_chat_are_still_calls(tmp_path):
    plain = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    asked = [
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [result("a", "no", is_error=True)]},
    ]
    path = tmp_path / "mixed.jsonl"
    path.write_text("".join(json.dumps({"messages": m}) + "\n" for m in (plain, asked)), encoding="utf-8")
    run = read_traces(path)
    assert run.notes["import"]["format"] == "openai"
    assert run.steps[run.steps["kind"] == "tool_call"]["status"].tolist() == ["failed"]


def test_client_objects_are_read_as_what_they_say():
    types = pytest.importorskip("anthropic.types")
    block = types.ToolUseBlock(type="tool_use", id="a", name="quote", input={"sym": "AB"})
    run = read_traces([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [block]}])
    assert run.steps["arguments"].dropna().tolist() == ['{"sym":"AB"}']
