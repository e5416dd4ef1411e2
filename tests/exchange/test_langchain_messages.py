"""LangChain messages: the same conversation in every way in which it can be written down."""

from __future__ import annotations

import json

import pytest

from plumbline.exchange import read_traces
from plumbline.exchange.drafts import Unreadable
from plumbline.exchange.readers.langchain_turns import langchain_turns, plain_message

FLAT = [
    {"type": "system", "content": "be brief"},
    {"type": "human", "content": "compare"},
    {
        "type": "ai",
        "content": [
            {"type": "text", "text": "two"},
            {"type": "tool_use", "id": "a", "name": "quote", "input": {"sym": "AB"}},
        ],
        "tool_calls": [{"name": "quote", "args": {"sym": "AB"}, "id": "a", "type": "tool_call"}],
        "invalid_tool_calls": [{"name": "quote", "args": '{"sym":', "id": "b", "error": "cut off"}],
        "usage_metadata": {"input_tokens": 3, "output_tokens": 4},
        "response_metadata": {"model_name": "m-1"},
    },
    {"type": "tool", "content": "no such symbol", "tool_call_id": "a", "status": "error", "name": "quote"},
    {"type": "ai", "content": "done", "usage_metadata": {"input_tokens": 5, "output_tokens": 6}},
]
KINDS = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}


def without_type(message):
    return {key: value for key, value in message.items() if key != "type"}


FORMS = {
    "flat": FLAT,
    "data": [{"type": m["type"], "data": without_type(m)} for m in FLAT],
    "lc": [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", KINDS[m["type"]]],
            "kwargs": without_type(m),
        }
        for m in FLAT
    ],
    "chunk": [{**m, "type": f"{KINDS[m['type']]}Chunk"} for m in FLAT],
    "state": {"messages": FLAT, "task": "t"},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_way_of_writing_gives_the_same_steps(form):
    run = read_traces(json.loads(json.dumps(FORMS[form])))
    assert run.notes["import"]["format"] == "langchain"
    calls = run.steps[run.steps["kind"] == "tool_call"]
    assert calls[["name", "call_id", "status", "group"]].values.tolist() == [
        ["quote", "a", "failed", 0],
        ["quote", "b", "no_result", 0],
    ]
    assert calls["arguments"].fillna("").tolist() == ['{"sym":"AB"}', ""]
    assert calls["unread"].tolist()[1] == 'arguments: truncated: {"sym":\ninvalid call: cut off'
    row = run.trials.iloc[0]
    assert (row["prompt"], row["final_output"], row["model"]) == ("compare", "done", "m-1")
    assert (row["tokens_in"], row["tokens_out"]) == (8, 10)
    assert run.steps["agent"].dropna().tolist() == ["system", "user", "assistant", "assistant"]


def test_message_objects_give_the_same_steps():
    core = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load")
    objects = [
        core.SystemMessage("be brief"),
        core.HumanMessage("compare"),
        core.AIMessage("two", tool_calls=[{"name": "quote", "args": {"sym": "AB", "n": 1.5}, "id": "a"}]),
        core.ToolMessage("12.50", tool_call_id="a"),
        core.AIMessage("done"),
    ]
    forms = [
        objects,
        core.messages_to_dict(objects),
        [m.model_dump() for m in objects],
        [load.dumpd(m) for m in objects],
    ]
    digests = {read_traces(form, run_id="x", task="t").digest for form in [*forms, {"messages": objects}]}
    assert len(digests) == 1


def test_an_invalid_call_is_never_a_call_without_arguments():
    for text in ("", None, "{}"):
        message = {"type": "ai", "content": "", "invalid_tool_calls": [{"name": "pay", "args": text, "id": "a"}]}
        (step,) = langchain_turns([message])[0].steps
        assert isinstance(step.arguments, Unreadable)


def test_a_provider_s_own_calls_are_read_where_langchain_kept_only_those():
    raw = {"tool_calls": [{"id": "a", "function": {"name": "pay", "arguments": '{"n": 1}'}}]}
    (step,) = langchain_turns([{"type": "ai", "content": "", "additional_kwargs": raw}])[0].steps
    assert (step.name, step.arguments, step.call_id) == ("pay", {"n": 1}, "a")


def test_other_messages_are_told_apart():
    assert plain_message({"role": "user", "content": "hi"}) is None
    assert plain_message({"type": "message", "role": "user", "content": "hi"}) is None
    assert plain_message({"type": "remove", "id": "x"}) is None
    assert plain_message("hi") is None
    talk, _ = langchain_turns([{"type": "remove", "id": "x", "content": ""}, FLAT[1]])
    assert talk.unread == ['message 0: {"type": "remove", "id": "x", "content": ""}']
