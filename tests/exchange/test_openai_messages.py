"""OpenAI chat messages and Responses items: calls, replies and words keep their places, their ids and their text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import TraceFormatError
from plumbline.exchange import read_traces
from plumbline.exchange.drafts import NOT_RECORDED, Unreadable
from plumbline.exchange.formats import detect, reader_of
from plumbline.exchange.reader import Column
from plumbline.exchange.readers.openai_turns import chat_turns, responses_turns
from plumbline.exchange.source import Source

CASE = Path(__file__).parents[2].parent / "shared" / "cases" / "C07-openai-arguments-strings.json"
NAMES = st.sampled_from(["look", "pay", "read_file"])
GIVEN = st.dictionaries(
    st.sampled_from(["path", "n"]), st.integers(0, 3) | st.sampled_from(["a", '{"x":1}']), max_size=2
)


def call(call_id, name="now", **function):
    return {"id": call_id, "type": "function", "function": {"name": name, **function}}


def asked(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def told(call_id, content):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def calls(talk):
    return [step for step in talk.steps if step.kind == "tool_call"]


@pytest.mark.skipif(not CASE.exists(), reason="the shared cases are not here")
def test_c07_as_given():
    case = json.loads(CASE.read_text(encoding="utf-8"))
    run, expected = read_traces(case["input"]["messages"]), case["expected"]
    steps = run.steps[run.steps["kind"] == "tool_call"].reset_index(drop=True)
    assert len(steps) == expected["n_calls"]
    assert steps["arguments"][:5].tolist() == ["{}"] * 5
    assert steps["arguments"].isna().tolist() == [False] * 5 + [True]
    assert steps["unread"][5] == f"arguments: two values: {expected['t6_raw']}"
    assert steps["call_id"][steps["result"].notna()].tolist() == expected["with_result"]
    assert steps["status"].tolist() == ["ok", *["no_result"] * 5]


def test_empty_null_absent_and_empty_object_mean_no_arguments_and_glued_objects_mean_nothing():
    glued = '{"to":"x"}{"to":"y"}'
    spelled = [call("a", arguments=""), call("b", arguments=None), call("c"), call("d", arguments="{}")]
    talk = chat_turns([asked(*spelled, call("e", "send", arguments=glued)), told("a", "09:00")])
    assert [step.arguments for step in calls(talk)] == [{}, {}, {}, {}, Unreadable(glued, "two values")]
    assert [step.status for step in calls(talk)] == ["ok", *["no_result"] * 4]
    assert {step.group for step in calls(talk)} == {0}


@given(st.lists(st.lists(st.tuples(NAMES, GIVEN, st.booleans()), min_size=1, max_size=4), max_size=4), st.data())
def test_replies_find_their_calls_in_any_order(turns, data):
    messages, expected = [], []
    for turn, group in enumerate(turns):
        ids = [f"{turn}-{place}" for place in range(len(group))]
        pairs = list(zip(ids, group, strict=True))
        messages.append(asked(*(call(i, name, arguments=json.dumps(args)) for i, (name, args, _) in pairs)))
        answered = [i for i, (_, _, replied) in pairs if replied]
        messages += [told(i, f"for {i}") for i in data.draw(st.permutations(answered))]
        for i, (name, args, replied) in pairs:
            expected.append(
                (i, name, args, f"for {i}" if replied else NOT_RECORDED, turn, "ok" if replied else "no_result")
            )
    found = [(s.call_id, s.name, s.arguments, s.result, s.group, s.status) for s in calls(chat_turns(messages))]
    assert found == expected


def test_an_id_used_again_belongs_to_the_latest_call_that_has_it():
    talk = chat_turns(
        [
            asked(call("x", "think")),
            asked(call("x", "look")),
            told("x", "seen"),
            asked(call("x", "pay")),
            told("x", "paid"),
        ]
    )
    assert [(s.name, s.result, s.status) for s in calls(talk)] == [
        ("think", NOT_RECORDED, "no_result"),
        ("look", "seen", "ok"),
        ("pay", "paid", "ok"),
    ]


def test_a_reply_to_no_call_is_kept_and_never_joined_to_another():
    talk = chat_turns([asked(call("a")), told("b", "late"), told("a", "here"), told("a", "again")])
    assert [s.result for s in calls(talk)] == ["here"]
    assert [note.split(":")[0] for note in talk.unread] == [
        "reply to call 'b', which is not open",
        "reply to call 'a', which is not open",
    ]


def test_functions_of_the_old_kind_are_joined_by_name():
    old = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"n": 1}'}}
    (step,) = calls(chat_turns([old, {"role": "function", "name": "look", "content": "seen"}]))
    assert (step.name, step.arguments, step.result, step.status) == ("look", {"n": 1}, "seen", "ok")


def test_an_error_in_the_result_is_a_failure_by_the_declared_rule_only():
    replies = ['{"error": {"type": "not_found", "message": "no order"}}', '{"error": null, "n": 1}', "Error: none"]
    messages = [asked(*(call(str(i)) for i in range(3))), *(told(str(i), text) for i, text in enumerate(replies))]
    steps = calls(chat_turns(messages))
    assert [s.status for s in steps] == ["failed", "ok", "ok"]
    assert (steps[0].error_type, steps[0].error) == ("not_found", "no order")
    assert [s.status for s in calls(chat_turns(messages, failure=None))] == ["ok"] * 3


def test_who_said_what_is_kept_and_first_and_last_words_are_prompt_and_final_output():
    messages = [
        {"role": "developer", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "pay"}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
        {"role": "assistant", "content": "may I?", "reasoning_content": "ask first"},
        {"role": "user", "content": "yes", "name": "Ann"},
        asked(call("a", "pay"), content="paying"),
        told("a", "done"),
        {"role": "assistant", "content": None, "refusal": "no more"},
    ]
    run = read_traces(messages)
    rows = run.steps[["kind", "agent", "result"]].fillna("-").values.tolist()
    assert rows == [
        ["message", "system", '"be brief"'],
        ["message", "user", '"pay"'],
        ["message", "user", '{"image_url":{"url":"u"},"type":"image_url"}'],
        ["thought", "assistant", '"ask first"'],
        ["message", "assistant", '"may I?"'],
        ["message", "Ann", '"yes"'],
        ["message", "assistant", '"paying"'],
        ["tool_call", "-", '"done"'],
        ["message", "assistant", '"no more"'],
    ]
    assert run.trials[["prompt", "final_output"]].values.tolist() == [["pay", "no more"]]


def test_words_that_spell_json_stay_words():
    run = read_traces([{"role": "user", "content": '{"a": 1}'}, {"role": "assistant", "content": "[]"}])
    assert run.steps["result"].tolist() == ['"{\\"a\\": 1}"', '"[]"']


def test_tool_definitions_beside_the_messages_are_no_calls():
    given = {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "pay"}}],
    }
    run = read_traces(given)
    assert run.steps["kind"].tolist() == ["message"]
    assert run.notes["import"]["said"] == ["1 tool definitions stand beside the messages; they are no calls ((object))"]


def test_labels_beside_and_more_columns(tmp_path):
    lines = [
        {
            "messages": [asked(call("c")), told("c", "x")],
            "task": 7,
            "metadata": {"arm": "v2", "seed": 3},
            "case": "INV-1",
        },
        {"messages": [asked(call("c"))], "task": 7, "metadata": {"arm": "v2"}, "outcome": {"paid": True}, "model": "m"},
    ]
    path = tmp_path / "talks.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    run = read_traces(path)
    assert run.trials["trial_id"].tolist() == ["v2/7/baseline/0/0", "v2/7/baseline/0/1"]
    assert run.trials["outcome"].fillna("").tolist() == ["", '{"paid":true}']
    assert read_traces(Source("one", value=lines[0]), task={"attribute": "case"}).trials["task_id"].tolist() == [
        "INV-1"
    ]
    reader = reader_of("openai").with_columns(Column("arguments", ("function.args",)), Column("task", ("case",)))
    own = {"messages": [asked({"id": "c", "function": {"name": "now", "args": {"tz": "UTC"}}})], "case": "INV-2"}
    read = read_traces(own, format=reader)
    assert read.steps["arguments"].tolist() == ['{"tz":"UTC"}']
    assert read.trials["task_id"].tolist() == ["INV-2"]


def test_one_message_a_line_is_one_conversation_and_a_mixture_is_refused(tmp_path):
    path = tmp_path / "one.jsonl"
    messages = [{"role": "user", "content": "hi"}, asked(call("c")), told("c", "x")]
    path.write_text("".join(json.dumps(m) + "\n" for m in messages), encoding="utf-8")
    assert len(read_traces(path).trials) == 1
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"messages": messages}) + "\n")
    with pytest.raises(TraceFormatError, match="mixed") as caught:
        read_traces(path)
    assert caught.value.line == 4


def test_what_has_no_place_is_kept():
    odd = {"role": "assistant", "content": "hi", "audio": {"id": "a"}, "tool_calls": [7]}
    talk = chat_turns([odd, "words", {"content": "nobody"}])
    assert len(talk.unread) == 4
    assert '{"id": "a"}' in talk.unread[1]


def test_a_call_without_a_name_is_still_a_call():
    run = read_traces([asked({"id": "c", "function": {"arguments": "{}"}})])
    assert run.steps[["name", "unread"]].values.tolist() == [["(unnamed)", "name: absent"]]


def test_an_answer_beside_the_request_ends_the_conversation():
    answer = {"choices": [{"message": {"role": "assistant", "content": "done"}}], "usage": {"total_tokens": 9}}
    run = read_traces({"request": {"messages": [{"role": "user", "content": "hi"}]}, "response": answer})
    assert run.trials["final_output"].tolist() == ["done"]


def test_client_objects_are_read_as_what_they_say():
    chat = pytest.importorskip("openai.types.chat")
    message = chat.ChatCompletionMessage.model_validate(asked(call("c", "pay", arguments='{"n": 1}')))
    run = read_traces([{"role": "user", "content": "go"}, message, told("c", "ok")])
    assert run.steps["arguments"].dropna().tolist() == ['{"n":1}']


ITEMS = [
    {"role": "user", "content": "compare"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "two look-ups"}]},
    {"type": "function_call", "call_id": "a", "id": "fc_1", "name": "quote", "arguments": '{"sym": "AB"}'},
    {"type": "function_call", "call_id": "b", "id": "fc_2", "name": "quote", "arguments": '{"sym": '},
    {"type": "function_call_output", "call_id": "b", "output": '{"error": "bad arguments"}'},
    {"type": "function_call_output", "call_id": "a", "output": "12.50"},
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "AB"}},
    {"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "output": None, "error": "timed out"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "AB", "annotations": []}]},
]


def test_responses_items():
    talk = responses_turns(ITEMS)
    assert [(s.name, s.call_id, s.group, s.status, s.error) for s in calls(talk)] == [
        ("quote", "a", 0, "ok", None),
        ("quote", "b", 0, "failed", "bad arguments"),
        ("web_search", "ws", 1, "ok", None),
        ("roll", "m", 1, "failed", "timed out"),
    ]
    assert calls(talk)[0].result == "12.50"
    assert calls(talk)[1].arguments == Unreadable('{"sym": ', "truncated")
    assert [(s.kind, s.result) for s in talk.steps if s.kind != "tool_call"] == [
        ("message", "compare"),
        ("thought", "two look-ups"),
        ("message", "AB"),
    ]


def test_a_response_object_is_its_input_and_output():
    given = {
        "object": "response", "input": "compare", "instructions": "be brief", "output": ITEMS[2:],
        "usage": {"input_tokens": 5, "output_tokens": 7}, "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }  # fmt: skip
    run = read_traces(given)
    row = run.trials.iloc[0]
    assert run.notes["import"]["format"] == "openai_responses"
    assert (row["prompt"], row["final_output"], row["tokens_in"], row["tokens_out"]) == ("compare", "AB", 5, 7)
    assert (row["status"], row["error"]) == ("agent_error", 'response incomplete: {"reason": "max_output_tokens"}')


@pytest.mark.parametrize("nothing", [[], {}, {"messages": "hi"}, [1, 2], {"role": 3}])
def test_what_is_no_conversation_is_refused(nothing):
    with pytest.raises((TraceFormatError, ValueError)):
        read_traces(nothing)


def test_formats_are_not_mistaken_for_each_other():
    for value, name in (
        (ITEMS, "openai_responses"),
        ([told("a", "b")], "openai"),
        ([{"role": "user", "content": "a"}], "openai"),
    ):
        assert detect(Source("x", value=value))[0].name == name


@settings(max_examples=40)
@given(st.data())
def test_a_file_cut_off_anywhere_is_refused_with_its_byte(data):
    talks = [[asked(call("c", arguments='{"a": 1}')), told("c", "é ok")], [{"role": "user", "content": "hi"}]]
    whole = json.dumps([{"messages": talk} for talk in talks], ensure_ascii=False).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(TraceFormatError) as caught:
        read_traces(whole[:cut])
    assert caught.value.byte is not None
    assert caught.value.byte <= cut


def test_of_a_file_cut_off_only_whole_conversations_are_kept_when_asked():
    talk = [asked(call("c")), told("c", "ok")]
    many = json.dumps([{"messages": talk, "task": "one"}, {"messages": talk, "task": "two"}]).encode()[:-20]
    run = read_traces(many, strict=False)
    assert run.trials["task_id"].tolist() == ["one"]
    assert run.notes["import"]["left_out"]
    with pytest.raises(TraceFormatError, match="no execution"):
        read_traces(json.dumps(talk).encode()[:-8], strict=False)
