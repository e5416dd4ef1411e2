"""The cases C01 to C06 by what they expect, and the same kinds with other names, values, nesting and order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.exchange import read_traces
from tests.exchange.otlp_made import agent, arguments, calls, chat, envelope, span, tool

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
QUICK = settings(max_examples=25, deadline=None)
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not there")
names = st.text("abcdefghij_-.", min_size=1, max_size=12)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.booleans(), texts, st.floats(allow_nan=False, allow_infinity=False)
)
objects = st.dictionaries(names, st.recursive(leaves, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)), max_leaves=6), max_size=4)  # fmt: skip


def stored(value: Any) -> str:
    """The text under which a run stores a value."""
    return canonical_json(parse_json(json.dumps(value)))


def case(name: str) -> dict[str, Any]:
    (file,) = CASES.glob(f"{name}-*.json")
    return json.loads(file.read_text(encoding="utf-8"))


@needs_cases
def test_c01_typed_values():
    found = case("C01")
    run = read_traces(found["input"]["file"])
    expected, got = found["expected"], arguments(run)
    assert list(calls(run)["name"]) == expected["tools"]
    assert got == expected["args"]
    types = {"int": int, "float": float, "bool": bool}
    assert all(type(got[0][key]) is types[word] for key, word in expected["types"].items())
    assert list(calls(run)["call_id"]) == expected["call_ids"]
    assert list(calls(run)["status"]) == expected["status"]


@needs_cases
def test_c02_old_and_new_names():
    found = case("C02")
    run = read_traces(found["input"]["file"])
    assert len(run.trials) == found["expected"]["n_trajectories"]
    assert calls(run).groupby("trial_id").size().tolist() == found["expected"]["calls_per_trajectory"]
    assert arguments(run) == found["expected"]["args"]
    assert [json.loads(r) for r in calls(run)["result"]] == found["expected"]["results"]
    assert calls(run)["arguments"].nunique() == 1


@needs_cases
def test_c03_encoded_twice():
    found = case("C03")
    run = read_traces(found["input"]["file"])
    assert list(calls(run)["name"]) == found["expected"]["tools"]
    assert list(calls(run)["call_id"]) == found["expected"]["call_ids"]
    assert arguments(run) == found["expected"]["args"]
    assert list(calls(run)["status"]) == ["no_result"] * 4, "nothing in the file answers them"


@needs_cases
def test_c04_tool_definitions_are_not_calls():
    found = case("C04")
    run = read_traces(found["input"]["file"])
    assert list(calls(run)["name"]) == found["expected"]["tools"]


@needs_cases
def test_c05_one_call_two_spans():
    found = case("C05")
    run = read_traces(found["input"]["file"])
    assert list(calls(run)["call_id"]) == found["expected"]["call_ids"]
    assert any("merged" in line for line in run.notes["import"]["said"])


@needs_cases
def test_c06_failures_under_an_ok_status():
    found = case("C06")
    run = read_traces(found["input"]["file"])
    status = dict(zip(calls(run)["call_id"], calls(run)["status"], strict=True))
    assert [c for c, s in status.items() if s == "failed"] == found["expected"]["failed"]
    assert [c for c, s in status.items() if s != "failed"] == found["expected"]["not_failed"]


@QUICK
@given(objects, names.filter(lambda n: n.strip("-._")), st.booleans())
def test_any_typed_arguments_come_back_as_they_were(values, name, structured):
    given_as = values if structured else json.dumps(values)
    run = read_traces(envelope(agent(1, "a"), tool(2, name, given_as, parent=1)))
    assert list(calls(run)["arguments"]) == [stored(values)]
    assert list(calls(run)["name"]) == [name]


OLD = ("gen_ai.tool.call.arguments", "tool_arguments", "gen_ai.tool.arguments", "ai.toolCall.args", "input.value",
       "gcp.vertex.agent.tool_call_args", "gen_ai.tool.input", "tool.parameters")  # fmt: skip


@QUICK
@given(objects, st.sampled_from(OLD), st.integers(1, 3))
def test_every_name_and_every_encoding_of_arguments_gives_the_same_call(values, attribute, layers):
    text: Any = values
    for _ in range(layers):
        text = json.dumps(text)
    made = span(2, "running tool", values={"gen_ai.tool.name": "t", attribute: text})
    assert list(calls(read_traces(envelope(made)))["arguments"]) == [stored(values)]


@QUICK
@given(st.lists(st.integers(0, 40), min_size=1, max_size=8, unique=True), st.randoms())
def test_numbered_attributes_are_ordered_by_number_whatever_order_they_stand_in(numbers, random):
    start = "llm.output_messages.0.message.tool_calls."
    values = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant"}
    pairs = []
    for n in numbers:
        pairs += [(f"{start}{n}.tool_call.id", f"k{n}"), (f"{start}{n}.tool_call.function.name", f"t{n}"),
                  (f"{start}{n}.tool_call.function.arguments", json.dumps({"n": n}))]  # fmt: skip
    random.shuffle(pairs)
    run = read_traces(envelope(span(1, "llm", values=values | dict(pairs))))
    assert list(calls(run)["call_id"]) == [f"k{n}" for n in sorted(numbers)]
    assert arguments(run) == [{"n": n} for n in sorted(numbers)]


@QUICK
@given(st.lists(names, min_size=1, max_size=4))
def test_definitions_in_any_spelling_are_no_calls(tools):
    definitions = [{"type": "function", "name": n, "parameters": {"type": "object"}} for n in tools]
    more: dict[str, Any] = {"gen_ai.tool.definitions": json.dumps(definitions), "gen_ai.agent.tools": json.dumps(tools)}
    more |= {f"llm.tools.{i}.tool.json_schema": json.dumps(d) for i, d in enumerate(definitions)}
    more |= {f"llm.tools.{i}.tool.name": d["name"] for i, d in enumerate(definitions)}
    more["llm.request.functions.0.name"] = tools[0]
    run = read_traces(envelope(agent(1, "a", values=more), chat(2, [], [], more, parent=1), tool(3, "t", {}, parent=1)))
    assert list(calls(run)["name"]) == ["t"]


@QUICK
@given(st.integers(1, 4), st.integers(0, 3), st.booleans(), objects)
def test_each_pair_of_nested_spans_is_one_call_whatever_lies_between(repeats, between, ids, values):
    spans = [agent(1, "a", took=1000)]
    number = 2
    for turn in range(repeats):
        spans.append(tool(number, "weather", values, call_id=f"w{turn}" if ids else None, parent=1, took=8))
        parent = number
        for _ in range(between):
            number += 1
            spans.append(span(number, "wrapper", parent=parent, at=parent * 10 + 1, took=6))
            parent = number
        number += 1
        spans.append(tool(number, "weather", values, parent=parent, at=parent * 10 + 2, took=4,
                          more={"mcp.method.name": "tools/call"}))  # fmt: skip
        number += 1
    run = read_traces(envelope(*spans))
    assert len(calls(run)) == repeats
    assert arguments(run) == [json.loads(stored(values))] * repeats


@QUICK
@given(
    st.sampled_from(["event", "type", "tool", "status", "none"]),
    st.sampled_from([None, {}, {"code": 1}, {"code": "STATUS_CODE_OK"}, {"code": "OK"}, {"code": 0}]),
)  # fmt: skip
def test_each_way_to_fail_counts_whatever_the_status_says(way, status):
    events = [("exception", {"exception.type": "Slow", "exception.message": "too slow"})] if way == "event" else None
    more = {"type": {"error.type": "Slow"}, "tool": {"gen_ai.tool.status": "error"}}.get(way, {})
    status = {"code": 2, "message": "no"} if way == "status" else status
    run = read_traces(envelope(tool(1, "pay", {}, more=more, events=events, status=status)))
    assert list(calls(run)["status"]) == ["ok" if way == "none" else "failed"]
