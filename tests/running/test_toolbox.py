from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.base.schema import KEYS, STEPS
from plumbline.running import Call, Fault, HarnessError, Reply, Tool, Toolbox, exact

SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "n": {"type": "integer"}, "mode": {"enum": ["a", "b"]}},
    "required": ["id"],
}


def box(**options) -> Toolbox:
    tools = [
        Tool("echo", lambda world, **arguments: arguments, SCHEMA),
        Tool(
            "amount", lambda world, x: {"x": x}, {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}
        ),
        Tool("broken", lambda world: {}["nothing"], {"type": "object", "properties": {}}),
        Tool("unstorable", lambda world: {"x": object()}, {"type": "object", "properties": {}}),
    ]
    return Toolbox(tools, None, **options)


def test_a_step_has_exactly_the_columns_of_the_steps_frame_without_its_keys():
    b = box()
    b.call("echo", {"id": "A"})
    assert list(b.steps[0]) == [c.name for c in STEPS[len(KEYS) :]]


@pytest.mark.parametrize(
    ("name", "arguments", "error_type", "told"),
    [
        ("nothing", {}, "no_such_tool", "no such tool: nothing; there are echo"),
        ("lookup", {}, "no_such_tool", "no such tool: lookup"),
        ("echo", {}, "bad_arguments", "needs id"),
        ("echo", {"id": "A", "ID": "B"}, "bad_arguments", "does not take ID; it takes id, n, mode"),
        ("echo", {"id": 4}, "bad_arguments", "id must be string; found 4"),
        ("echo", {"id": "A", "n": True}, "bad_arguments", "n must be integer; found True"),
        ("echo", {"id": "A", "n": 1.5}, "bad_arguments", "n must be integer"),
        ("echo", {"id": "A", "mode": "c"}, "bad_arguments", "mode must be one of"),
        ("amount", {"x": "12"}, "bad_arguments", "x must be number or null; found '12'"),
    ],
)
def test_a_call_that_does_not_fit_is_a_failed_step(name, arguments, error_type, told):
    b = box(decoys=[Tool("lookup", lambda world: None, {"type": "object", "properties": {}})])
    with pytest.raises(ToolError, match=told) as caught:
        b.call(name, arguments)
    step = b.steps[0]
    assert (step["kind"], step["name"], step["status"]) == ("tool_call", name, "failed")
    assert (step["error_type"], step["error"]) == (error_type, str(caught.value))
    assert parse_json(step["arguments"]) == exact(arguments)
    assert step["result"] is None
    assert step["injected"] is None


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"id": "A"', '{"id": "A"'),
        (["A"], "['A']"),
        ({"id": float("nan")}, "nan"),
        ({"x": Decimal("Infinity")}, "Infinity"),
        ({1: "A"}, "{1: 'A'}"),
        ("\ud800", "\\ud800"),
    ],
)
def test_arguments_that_are_no_json_object_are_kept_as_text_and_never_become_an_empty_object(arguments, kept):
    b = box()
    with pytest.raises(ToolError, match="not a JSON object"):
        b.call("echo", arguments)
    step = b.steps[0]
    assert step["arguments"] is None
    assert kept in step["unread"]
    assert (step["status"], step["error_type"]) == ("failed", "bad_arguments")


def test_numbers_stay_exact_on_the_way_in_and_out():
    b = box()
    for given, text in [(0.1, "0.1"), (4500.0, "4500.0"), (Decimal("4500.00"), "4500.00"), (4500, "4500")]:
        assert b.call("amount", {"x": given}) == {"x": Decimal(str(given))}
        assert b.steps[-1]["arguments"] == b.steps[-1]["result"] == f'{{"x":{text}}}'
    assert not isinstance(b.call("amount", {"x": 0.1})["x"], float)


def test_what_the_agent_holds_is_a_copy():
    kept = {"list": [1]}
    b = Toolbox([Tool("state", lambda world: kept, {"type": "object", "properties": {}})], None)
    b.call("state", {})["list"].append(2)
    assert kept == {"list": [1]}
    arguments = {"id": "A"}
    b = box()
    b.call("echo", arguments)
    arguments["id"] = "B"
    assert b.steps[0]["arguments"] == '{"id":"A"}'


@pytest.mark.parametrize("name", ["broken", "unstorable"])
def test_a_mistake_in_a_tool_is_the_harness_problem_and_is_remembered(name):
    b = box()
    with pytest.raises(HarnessError, match=f"tool '{name}' broke"):
        b.call(name, {})
    assert (b.steps[0]["status"], b.steps[0]["error_type"]) == ("failed", "tool_bug")
    assert b.problem is not None
    assert b.problem.__cause__ is not None


def test_a_transport_that_breaks_leaves_the_call_undecided():
    class Cut:
        def send(self, call: Call) -> Reply:
            raise HarnessError("the line was cut")

    b = box(transport=Cut())
    with pytest.raises(HarnessError, match="cut"):
        b.call("echo", {"id": "A"})
    assert (b.steps[0]["status"], b.steps[0]["error"]) == ("no_result", "the line was cut")


def test_a_transport_may_change_the_reply_and_says_so():
    class Short:
        def send(self, call: Call) -> Reply:
            return Reply({"number": call.number}, "truncated")

    b = box(transport=Short())
    assert [b.call("echo", {"id": "A"}) for _ in range(2)] == [{"number": 1}, {"number": 2}]
    assert [s["injected"] for s in b.steps] == ["truncated", "truncated"]


def test_decisions_refusals_messages_and_last_words_are_steps():
    b = box()
    b.say("hello")
    b.decide("plan", {"id": "A"}, {"next": 1.5})
    b.block("echo", {"id": "A"}, "not before the checks", group=3)
    b.finish("first")
    b.finish("second")
    assert [(s["step"], s["kind"], s["name"], s["status"]) for s in b.steps] == [
        (0, "message", None, "ok"),
        (1, "decision", "plan", "ok"),
        (2, "tool_call", "echo", "blocked"),
        (3, "final", None, "ok"),
        (4, "final", None, "ok"),
    ]
    assert (b.steps[0]["result"], b.steps[1]["result"]) == ('"hello"', '{"next":1.5}')
    assert (b.steps[2]["error"], b.steps[2]["group"]) == ("not before the checks", 3)
    assert b.final_text == "second"
    with pytest.raises(ParameterError, match="text"):
        b.finish(None)


def test_parallel_calls_share_a_group_and_keep_their_ids():
    b = box()
    b.call("echo", {"id": "A"}, group=0, call_id="c1", evidence="published")
    b.call("echo", {"id": "B"}, group=0, call_id="c2")
    assert [(s["group"], s["call_id"], s["evidence"]) for s in b.steps] == [(0, "c1", "published"), (0, "c2", None)]


def test_times_come_from_the_clock_that_was_given_and_from_no_other():
    ticks = iter(range(100))
    b = box(clock=lambda: datetime(2026, 7, 1, tzinfo=UTC) + timedelta(seconds=next(ticks)))
    b.call("echo", {"id": "A"})
    assert b.steps[0]["started_at"] == "2026-07-01T00:00:00+00:00"
    assert b.steps[0]["ended_at"] == "2026-07-01T00:00:01+00:00"
    with pytest.raises(ParameterError, match="zone"):
        box(clock=lambda: datetime(2026, 7, 1)).say("hello")
    b = box()
    b.call("echo", {"id": "A"})
    assert b.steps[0]["started_at"] is b.steps[0]["ended_at"] is None


def test_two_tools_of_one_name_and_a_fault_for_no_tool_are_refused():
    tool = Tool("same", lambda world: None, {"type": "object", "properties": {}})
    with pytest.raises(ParameterError, match="name of its own"):
        Toolbox([tool], None, decoys=[tool])
    with pytest.raises(ParameterError, match="the tools are same"):
        Toolbox([tool], None, fault=Fault("other", "http_503"))


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "type 'object'"),
        ({"type": "object"}, "'properties'"),
        ({"type": "object", "properties": {}, "required": ["x"]}, "do not describe"),
        ({"type": "object", "properties": {"x": {"type": "text"}}}, "unknown type"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused(schema, told):
    with pytest.raises(ParameterError, match=told):
        Tool("t", lambda world: None, schema)


def test_what_is_offered_holds_the_decoys_and_what_a_model_is_told():
    decoy = Tool("lookup", lambda world: None, {"type": "object", "properties": {}}, description="Look.")
    offered = box(decoys=[decoy]).offered
    assert [tool.name for tool in offered] == ["echo", "amount", "broken", "unstorable", "lookup"]
    assert offered[-1].to_dict() == {
        "name": "lookup", "description": "Look.", "parameters": {"type": "object", "properties": {}},
    }  # fmt: skip
