"""One trajectory told by real emitters to a real receiver: every one of them gives the same steps."""

from __future__ import annotations

import json

import pytest

import plumbline as plumb
from tests.exchange.receiver.receiver_help import receiver
from tests.running.clients.loopback import Act, Provider, messages_body

CALLS = (("fetch", {"id": "INV-1"}, {"total": 120.5}), ("pay", {"id": "INV-1", "amount": 120.5}, {"paid": True}))
WANTED = [(name, json.dumps(given, sort_keys=True), json.dumps(result), "ok") for name, given, result in CALLS]


def fetch(id: str) -> dict:
    """Fetch an invoice."""
    return {"total": 120.5}


def pay(id: str, amount: float) -> dict:
    """Pay an invoice."""
    return {"paid": True}


def the_sdk(provider):
    """Spans made by hand with OpenTelemetry's SDK, in the GenAI conventions."""
    tracer = provider.get_tracer("by-hand")
    with tracer.start_as_current_span("invoke_agent payer") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "payer"})
        for number, (name, given, result) in enumerate(CALLS):
            with tracer.start_as_current_span(f"execute_tool {name}") as span:
                span.set_attributes({
                    "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
                    "gen_ai.tool.call.id": f"c{number}",
                    "gen_ai.tool.call.arguments": json.dumps(given), "gen_ai.tool.call.result": json.dumps(result),
                })  # fmt: skip


def pydantic_ai(provider):
    """A pydantic-ai agent on its scripted model, with its own instrumentation."""
    ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    said = iter([
        *(ModelResponse(parts=[ToolCallPart(n, g, tool_call_id=f"c{i}")]) for i, (n, g, _) in enumerate(CALLS)),
        ModelResponse(parts=[TextPart("Done.")]),
    ])  # fmt: skip
    settings = InstrumentationSettings(tracer_provider=provider, include_content=True)
    agent = ai.Agent(FunctionModel(lambda messages, info: next(said)), tools=[fetch, pay], name="payer")
    agent.instrument = settings
    agent.run_sync("Pay INV-1.")


def langgraph(provider):
    """A LangGraph agent on a scripted chat model, instrumented by OpenInference."""
    instrumentation = pytest.importorskip("openinference.instrumentation.langchain")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    asked = [AIMessage("", tool_calls=[{"name": n, "args": g, "id": f"c{i}", "type": "tool_call"}])
             for i, (n, g, _) in enumerate(CALLS)]  # fmt: skip
    model = GenericFakeChatModel(messages=iter([*asked, AIMessage("Done.")]))
    graph = StateGraph(MessagesState)
    graph.add_node("ask", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([fetch, pay]))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    made = graph.compile()
    one = instrumentation.LangChainInstrumentor()
    one.instrument(tracer_provider=provider)
    try:
        made.invoke({"messages": [("user", "Pay INV-1.")]})
    finally:
        one.uninstrument()


def anthropic(provider):
    """Anthropic's client against a server on loopback, instrumented by OpenInference: only the model's side is told."""
    instrumentation = pytest.importorskip("openinference.instrumentation.anthropic")
    from anthropic import Anthropic

    server, one = Provider(), instrumentation.AnthropicInstrumentor()
    turns = [
        messages_body([{"type": "tool_use", "id": f"c{i}", "name": n, "input": g}], "tool_use")
        for i, (n, g, _) in enumerate(CALLS)
    ]
    server.will(*(Act(json.dumps(turn)) for turn in [*turns, messages_body([{"type": "text", "text": "Done."}])]))
    one.instrument(tracer_provider=provider)
    try:
        client = Anthropic(api_key="none", base_url=server.url)
        messages = [{"role": "user", "content": "Pay INV-1."}]
        tools = [{"name": n, "description": n, "input_schema": {"type": "object"}} for n, _, _ in CALLS]
        with provider.get_tracer("app").start_as_current_span("payer"):
            for number in range(len(CALLS) + 1):
                said = client.messages.create(model="m-1", max_tokens=50, messages=messages, tools=tools)
                messages.append({"role": "assistant", "content": [b.model_dump() for b in said.content]})
                if said.stop_reason == "tool_use":
                    result = {
                        "type": "tool_result",
                        "tool_use_id": f"c{number}",
                        "content": json.dumps(CALLS[number][2]),
                    }
                    messages.append({"role": "user", "content": [result]})
    finally:
        one.uninstrument()
        server.stop()


@pytest.mark.parametrize("emitter", [the_sdk, pydantic_ai, langgraph, anthropic], ids=lambda e: e.__name__)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_one_trajectory_told_by_every_emitter_gives_the_same_steps(emitter, tmp_path):
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    http = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    with receiver(tmp_path / "run") as made:
        provider = trace.TracerProvider()
        provider.add_span_processor(export.BatchSpanProcessor(http.OTLPSpanExporter(endpoint=made.url)))
        emitter(provider)
        assert provider.force_flush()
        provider.shutdown()
        code, printed, err = made.stop()
    assert code == 0, err
    run = plumb.read_run(tmp_path / "run")
    calls = run.steps[run.steps["kind"] == "tool_call"]
    told = [
        (name, json.dumps(json.loads(given), sort_keys=True), json.dumps(json.loads(result)), status)
        for name, given, result, status in calls[["name", "arguments", "result", "status"]].itertuples(index=False)
    ]
    assert told == WANTED
    assert run.counts().recorded == 1
    assert "rules on arguments" in printed
