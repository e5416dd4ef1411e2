"""Spans in OTLP JSON for tests, made from a few words."""

from __future__ import annotations

import json
from typing import Any

START = 1_772_355_600_000_000_000
TRACE = "7c1e000000000000000000000000000a"


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": typed(v)} for k, v in value.items()]}}
    return {} if value is None else {"stringValue": value}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in values.items()]


def span(
    number: int,
    name: str,
    parent: int | None = None,
    at: float | None = None,
    took: float | None = 1,
    values: dict[str, Any] | None = None,
    trace: str = TRACE,
    events: list[tuple[str, dict[str, Any]]] | None = None,
    status: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One span; `at` and `took` in milliseconds after START, by default in the order of the numbers."""
    start = START + int((number * 10 if at is None else at) * 1e6)
    made: dict[str, Any] = {
        "traceId": trace, "spanId": f"a{number:015x}", "name": name, "kind": 1, "startTimeUnixNano": str(start),
        "attributes": attributes(values or {}),
    }  # fmt: skip
    if took is not None:
        made["endTimeUnixNano"] = str(start + int(took * 1e6))
    if parent is not None:
        made["parentSpanId"] = f"a{parent:015x}"
    if events:
        made["events"] = [{"name": n, "timeUnixNano": str(start), "attributes": attributes(v)} for n, v in events]
    if status is not None:
        made["status"] = status
    return made


def tool(number: int, name: str, arguments: Any = None, *, call_id: str | None = None, result: Any = None,
         more: dict[str, Any] | None = None, **place: Any) -> dict[str, Any]:  # fmt: skip
    values = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **(more or {})}
    values |= {k: v for k, v in (("gen_ai.tool.call.id", call_id), ("gen_ai.tool.call.arguments", arguments),
                                 ("gen_ai.tool.call.result", result)) if v is not None}  # fmt: skip
    return span(number, f"execute_tool {name}", values=values, **place)


def chat(
    number: int, given: list[Any], said: list[Any], more: dict[str, Any] | None = None, **place: Any
) -> dict[str, Any]:
    values = {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps(said), **(more or {}),
    }  # fmt: skip
    return span(number, "chat m", values=values, **place)


def agent(number: int, name: str, **place: Any) -> dict[str, Any]:
    values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(number, f"invoke_agent {name}", values=values | place.pop("values", {}), **place)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def says(text: str | None = None, *calls: tuple[str | None, str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [] if text is None else [{"type": "text", "content": text}]
    parts += [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in calls]
    return {"role": "assistant", "parts": parts}


def reply(call_id: str, response: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": response}]}


def envelope(*spans: dict[str, Any], resource: dict[str, Any] | None = None) -> dict[str, Any]:
    scoped = [{"scope": {"name": "made"}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": attributes(resource or {})}, "scopeSpans": scoped}]}


def calls(run: Any) -> Any:
    """Tool calls of a run."""
    return run.steps[run.steps["kind"] == "tool_call"].reset_index(drop=True)


def arguments(run: Any) -> list[Any]:
    """Arguments of each call as Python values, None where not recorded."""
    return [json.loads(text) if isinstance(text, str) else None for text in calls(run)["arguments"]]
