"""Foreign agents, recorded as they stand: each runs on its framework's own scripted model, offline."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest

from plumbline.base.errors import ParameterError, ToolError
from plumbline.running import Fault, Toolbox, run_trial
from plumbline.running.adapters import function_agent, langgraph_agent, pydantic_ai_agent, tool_from_function


def told(record):
    return [(s["name"], s["arguments"], s["status"], s["group"], s["call_id"]) for s in record.steps if s["name"]]


# plain functions


def test_plain_functions_are_recorded(counting):
    def run(prompt, tools):
        tools["read"]()
        tools["add"](2)
        return f"{prompt} {tools['add'](by=3)['value']}"

    record = run_trial(function_agent(run), counting.tasks[0], counting, arm="a")
    assert [(n, a, s) for n, a, s, _, _ in told(record)] == [
        ("read", "{}", "ok"), ("add", '{"by":2}', "ok"), ("add", '{"by":3}', "ok"),
    ]  # fmt: skip
    assert (record.trial["final_output"], record.trial["outcome"]) == ("Count. 5", '{"value":5}')


def test_a_plain_coroutine_is_recorded_and_may_run_inside_an_event_loop(counting):
    async def run(prompt, tools):
        await asyncio.sleep(0)
        return str(tools["add"](by=1)["value"])

    agent = function_agent(run)
    outside = run_trial(agent, counting.tasks[0], counting, arm="a")

    async def notebook():
        return run_trial(agent, counting.tasks[0], counting, arm="a")

    assert asyncio.run(notebook()) == outside
    assert outside.trial["final_output"] == "1"


def test_a_plain_function_called_wrongly_fails_as_python_would(counting):
    box = Toolbox(counting.tools, counting.new_world())
    problems = []

    def run(prompt, tools):
        for call in (lambda: tools["add"](1, 2), lambda: tools["add"](1, by=2), lambda: tools["add"](by="x")):
            try:
                call()
            except (TypeError, ToolError) as error:
                problems.append(type(error).__name__)

    function_agent(run)(counting.tasks[0], box)
    assert problems == ["TypeError", "TypeError", "ToolError"]
    assert [s["error_type"] for s in box.steps] == ["bad_arguments"]


def test_a_function_becomes_a_tool():
    def route(order: str, urgent: bool = False, to: Literal["a", "b"] = "a", note: str | None = None) -> dict:
        """Route an order.

        More for people.
        """
        return {"order": order, "to": to}

    tool = tool_from_function(route, mutating=True)
    assert (tool.description, tool.required, tool.mutating) == ("Route an order.", ("order",), True)
    assert tool.parameters["properties"] == {
        "order": {"type": "string"}, "urgent": {"type": "boolean"}, "to": {"type": "string", "enum": ["a", "b"]},
        "note": {"type": ["string", "null"]},
    }  # fmt: skip
    box = Toolbox([tool], None)
    assert box.call("route", {"order": "7", "note": None}) == {"order": "7", "to": "a"}
    with pytest.raises(ToolError, match="must be one of"):
        box.call("route", {"order": "7", "to": "c"})


@pytest.mark.parametrize("takes", ["x", "*x: int", "x: object", "**x: int"])
def test_a_function_that_no_schema_describes_is_refused(takes):
    space: dict = {}
    exec(f"def f({takes}): ...", space)
    with pytest.raises(ParameterError, match="tool 'f'"):
        tool_from_function(space["f"])


# LangGraph


def lang_model(script):
    """LangChain's own scripted chat model, which a graph may bind tools to."""
    models = pytest.importorskip(
        "langchain_core.language_models.fake_chat_models", reason="langchain-core not installed"
    )

    class Scripted(models.GenericFakeChatModel):
        def bind_tools(self, tools, **_):
            return self

    return Scripted(messages=iter(script))


def lang_graph(model):
    """A small graph of LangGraph's own parts: model, tools, back to the model."""
    graph = pytest.importorskip("langgraph.graph", reason="langgraph not installed")
    prebuilt = pytest.importorskip("langgraph.prebuilt", reason="langgraph not installed")

    def build(tools):
        bound = model.bind_tools(tools)

        async def ask(state):
            return {"messages": [await bound.ainvoke(state["messages"])]}

        made = graph.StateGraph(graph.MessagesState)
        made.add_node("ask", ask)
        made.add_node("tools", prebuilt.ToolNode(tools))
        made.add_edge(graph.START, "ask")
        made.add_conditional_edges("ask", prebuilt.tools_condition)
        made.add_edge("tools", "ask")
        return made.compile()

    return build


def lang_say(text="", *calls):
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core not installed")
    asked = [{"name": n, "args": a, "id": i, "type": "tool_call"} for n, a, i in calls]
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    return messages.AIMessage(text, tool_calls=asked, usage_metadata=usage)


def test_a_langgraph_agent_is_recorded_with_groups_and_errors(counting):
    script = [
        lang_say("", ("read", {}, "c1"), ("add", {"by": 2}, "c2")),
        lang_say("", ("add", {"by": -1}, "c3")),
        lang_say("", ("add", {"by": 5}, "c4")),
        lang_say("Counted."),
    ]
    agent = langgraph_agent(lang_graph(lang_model(script)))
    record = run_trial(agent, counting.tasks[0], counting, arm="a", fault=Fault("add", "http_503", on_call=3))
    assert record.trial["status"] == "completed", record.trial["error"]
    assert told(record) == [
        ("read", "{}", "ok", 0, "c1"), ("add", '{"by":2}', "ok", 0, "c2"), ("add", '{"by":-1}', "failed", 1, "c3"),
        ("add", '{"by":5}', "failed", 2, "c4"),
    ]  # fmt: skip
    assert (record.trial["final_output"], record.trial["exposure"]) == ("Counted.", "delivered")
    assert (record.trial["tokens_in"], record.trial["tokens_out"]) == (40, 8)


def test_a_langgraph_agent_that_never_ends_keeps_its_steps(counting):
    script = [lang_say("", ("read", {}, f"c{n}")) for n in range(20)]
    agent = langgraph_agent(lang_graph(lang_model(script)), recursion_limit=6)
    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert record.trial["status"] == "agent_error"
    assert "TurnLimitError" in record.trial["error"]
    assert [s["name"] for s in record.steps] == ["read"] * 3


def test_a_call_that_langchain_could_not_read_is_kept_as_text(counting):
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core not installed")
    broken = {"name": "add", "args": '{"by": ', "id": "c1", "error": "not JSON", "type": "invalid_tool_call"}
    script = [messages.AIMessage("", invalid_tool_calls=[broken])]
    record = run_trial(langgraph_agent(lang_graph(lang_model(script))), counting.tasks[0], counting, arm="a")
    step = record.steps[0]
    assert (step["name"], step["arguments"], step["unread"], step["status"]) == ("add", None, '{"by": ', "failed")
    assert record.trial["outcome"] == '{"value":0}'


# pydantic-ai


def pydantic_agent(script):
    """pydantic-ai's own scripted model."""
    ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim not installed")
    function = pytest.importorskip("pydantic_ai.models.function", reason="pydantic-ai-slim not installed")
    said = iter(script)
    return ai.Agent(function.FunctionModel(lambda messages, info: next(said)))


def pydantic_say(text, *calls):
    messages = pytest.importorskip("pydantic_ai.messages", reason="pydantic-ai-slim not installed")
    parts = [messages.ToolCallPart(n, a, tool_call_id=i) for n, a, i in calls]
    return messages.ModelResponse([*parts, *([messages.TextPart(text)] if text else [])])


def test_a_pydantic_ai_agent_is_recorded_with_groups_and_errors(counting):
    script = [
        pydantic_say("", ("read", {}, "c1"), ("add", {"by": 2}, "c2")),
        pydantic_say("", ("add", {"by": -1}, "c3")),
        pydantic_say("Counted."),
    ]
    record = run_trial(
        pydantic_ai_agent(pydantic_agent(script)), counting.tasks[0], counting, arm="a",
        fault=Fault("add", "timeout_after"),
    )  # fmt: skip
    assert record.trial["status"] == "completed", record.trial["error"]
    assert told(record) == [
        ("read", "{}", "ok", 0, "c1"), ("add", '{"by":2}', "no_result", 0, "c2"),
        ("add", '{"by":-1}', "failed", 1, "c3"),
    ]  # fmt: skip
    assert (record.trial["final_output"], record.trial["exposure"]) == ("Counted.", "delivered")
    assert record.trial["outcome"] == '{"value":2}'


def test_one_of_several_calls_of_a_pydantic_ai_turn_can_fail(counting):
    script = [pydantic_say("", ("read", {}, "c1"), ("add", {"by": 2}, "c2")), pydantic_say("Done.")]
    agent, fault = pydantic_ai_agent(pydantic_agent(script)), Fault("add", "parallel_503")
    record = run_trial(agent, counting.tasks[0], counting, arm="a", fault=fault)
    assert [(s["name"], s["status"]) for s in record.steps[:2]] == [("read", "ok"), ("add", "failed")]


def test_a_pydantic_ai_agent_that_never_ends_keeps_its_steps(counting):
    script = [pydantic_say("", ("read", {}, f"c{n}")) for n in range(20)]
    agent = pydantic_ai_agent(pydantic_agent(script), request_limit=3)
    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert record.trial["status"] == "agent_error"
    assert "TurnLimitError" in record.trial["error"]
    assert [s["name"] for s in record.steps] == ["read"] * 3


def test_the_test_model_of_pydantic_ai_calls_every_tool(counting):
    ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim not installed")
    models = pytest.importorskip("pydantic_ai.models.test", reason="pydantic-ai-slim not installed")
    model = models.TestModel(call_tools=["read", "add"])
    record = run_trial(pydantic_ai_agent(ai.Agent(model)), counting.tasks[0], counting, arm="a")
    assert [s["name"] for s in record.steps if s["kind"] == "tool_call"] == ["read", "add"]
