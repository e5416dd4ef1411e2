"""One trajectory as each platform exports it, and as each dialect of spans tells it: the same two calls come out."""

from __future__ import annotations

import json

import pytest

from plumbline.exchange import read_traces
from tests.exchange.otlp_made import span

FETCH, PAY = ("fetch", {"id": "INV-1"}, {"total": 120.5}), ("pay", {"id": "INV-1", "amount": 120.5}, {"paid": True})
CALLS = (FETCH, PAY)
WANTED = [(n, a, r, "ok") for n, a, r in CALLS]


def langfuse():
    observations = [
        {"id": f"o{i}", "traceId": "t1", "type": "TOOL", "name": n, "startTime": f"2026-07-01T10:00:0{i}.000Z",
         "endTime": f"2026-07-01T10:00:0{i}.500Z", "input": a, "output": r,
         "level": "DEFAULT", "parentObservationId": None}
        for i, (n, a, r) in enumerate(CALLS)
    ]  # fmt: skip
    return {"id": "t1", "name": "payer", "timestamp": "2026-07-01T10:00:00.000Z", "observations": observations}


def langsmith():
    children = [
        {"id": f"r{i}", "trace_id": "t1", "parent_run_id": "root", "name": n, "run_type": "tool",
         "start_time": f"2026-07-01T10:00:0{i}", "end_time": f"2026-07-01T10:00:0{i}.500", "inputs": a,
         "outputs": {"output": r}, "error": None, "dotted_order": f"2026070110000{i}", "status": "success"}
        for i, (n, a, r) in enumerate(CALLS, 1)
    ]  # fmt: skip
    root = {"id": "root", "trace_id": "t1", "parent_run_id": None, "name": "payer", "run_type": "chain", "error": None,
            "start_time": "2026-07-01T10:00:00", "end_time": "2026-07-01T10:00:09", "inputs": {"input": "Pay INV-1."},
            "outputs": {"output": "Done."}, "status": "success"}  # fmt: skip
    return [root, *children]


def mlflow():
    def one(number, parent, name, kind, given, gave):
        start = 1_760_000_000_000_000_000 + number
        values = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": gave}
        return {
            "trace_id": "tr-1", "span_id": f"{number:016x}", "parent_id": parent, "name": name,
            "start_time_unix_nano": start, "end_time_unix_nano": start + 1, "events": [],
            "status": {"code": "OK", "message": ""},
            "attributes": {k: json.dumps(v) for k, v in values.items()} | {"mlflow.traceRequestId": '"tr-1"'},
        }  # fmt: skip

    root = one(1, None, "payer", "AGENT", {"text": "Pay INV-1."}, "Done.")
    tools = [one(i, f"{1:016x}", n, "TOOL", a, r) for i, (n, a, r) in enumerate(CALLS, 2)]
    return {"info": {"trace_id": "tr-1", "state": "OK"}, "data": {"spans": [root, *tools]}}


def dialect(values):
    def made():
        spans = [span(1, "payer", values={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "payer"})]
        spans += [span(i, n, 1, values=values(n, json.dumps(a), json.dumps(r))) for i, (n, a, r) in enumerate(CALLS, 2)]
        return {
            "resourceSpans": [
                {"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}
            ]
        }

    return made


FORMS = {
    "langfuse": langfuse,
    "langsmith": langsmith,
    "mlflow": mlflow,
    "gen_ai": dialect(lambda n, a, r: {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": n, "gen_ai.tool.call.arguments": a,
        "gen_ai.tool.call.result": r,
    }),
    "openinference": dialect(lambda n, a, r: {
        "openinference.span.kind": "TOOL", "tool.name": n, "input.value": a, "output.value": r,
        "input.mime_type": "application/json", "output.mime_type": "application/json",
    }),
    "openllmetry": dialect(lambda n, a, r: {
        "traceloop.span.kind": "tool", "traceloop.entity.name": n, "traceloop.entity.input": a,
        "traceloop.entity.output": r,
    }),
    "vercel": dialect(lambda n, a, r: {
        "ai.operationId": "ai.toolCall", "operation.name": "ai.toolCall", "ai.toolCall.name": n, "ai.toolCall.args": a,
        "ai.toolCall.result": r,
    }),
    "google_adk": dialect(lambda n, a, r: {
        "gen_ai.operation.name": "execute_tool", "gen_ai.system": "gcp.vertex.agent", "gen_ai.tool.name": n,
        "gcp.vertex.agent.tool_call_args": a, "gcp.vertex.agent.tool_response": r,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FORMS))
def test_each_platform_and_dialect_gives_the_same_calls(name, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(FORMS[name]()))
    run = read_traces(path)
    calls = run.steps[run.steps["kind"] == "tool_call"]
    told = [
        (n, json.loads(a), json.loads(r), s)
        for n, a, r, s in calls[["name", "arguments", "result", "status"]].itertuples(index=False)
    ]
    assert told == WANTED
    assert run.counts().recorded == 1
    expected = name if name in ("langfuse", "langsmith", "mlflow") else "otlp"
    assert run.notes["import"]["format"] == expected


def test_dialects_may_be_mixed_in_one_trace():
    mixed = dialect(lambda n, a, r: (
        {"openinference.span.kind": "TOOL", "tool.name": n, "input.value": a, "output.value": r}
        if n == "fetch"
        else {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": n, "gen_ai.tool.call.arguments": a,
              "gen_ai.tool.call.result": r}
    ))()  # fmt: skip
    run = read_traces(json.dumps(mixed).encode())
    assert list(run.steps.query("kind == 'tool_call'")["name"]) == ["fetch", "pay"]
