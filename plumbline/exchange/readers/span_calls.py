"""Tool calls of a trace: what each was given and gave back, whether it failed, which spans tell of the same call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.exchange.arguments import read_arguments, read_result
from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, Unreadable
from plumbline.exchange.readers.langchain_turns import plain_message
from plumbline.exchange.readers.span import Event, iso_time
from plumbline.exchange.readers.span_columns import Lookup
from plumbline.exchange.readers.span_kinds import AGENT, MODEL, TOOL, tool_name_of
from plumbline.exchange.readers.span_messages import tool_event_fields
from plumbline.exchange.readers.span_tree import Node
from plumbline.exchange.readers.texts import shown, words_of

__all__ = ["merge_calls", "read_call", "same_arguments", "step_of"]

_FAILED = ("error", "failed", "failure", "exception", "timeout", "cancelled")
_EXCEPTIONS = ("exception",)
_READ_EVENTS = ("exception", "gen_ai.tool.message", "gen_ai.choice", "gen_ai.client.inference.operation.details")
_SURROUNDINGS = (
    "gen_ai.", "openinference.", "llm.", "session.", "user.", "metadata", "tag.", "service.", "telemetry.", "thread.",
    "code.", "server.", "network.", "http.", "url.", "traceloop.", "ai.", "langfuse.", "mlflow.", "langsmith.",
    "logfire.", "event_loop.", "gcp.vertex.", "mcp.", "otel.", "input.", "output.", "tool.", "host.", "process.",
    "os.", "client.", "rpc.", "jsonrpc.", "langgraph", "plumbline.", "error.", "peer.", "deployment.", "cloud.",
    "operation.", "resource.", "graph.node.", "exception.", "aws.", "k8s.", "enduser.", "parent_agent",
)  # fmt: skip
"""What describes the world around a call, or repeats in another dialect what was read; everything else is kept."""


def read_call(node: Node) -> None:
    """Read what a tool's span says of its call."""
    fields = node.fields
    if node.span.events:
        for name, value in tool_event_fields(node.span).items():
            fields.setdefault(name, value)
    node.arguments = read_arguments(fields.get("arguments", NOT_RECORDED))
    call_id = fields.get("call_id")
    node.call_id = call_id if call_id is None or isinstance(call_id, str) else shown(call_id)
    node.result = _unwrapped(node, read_result(fields.get("result", NOT_RECORDED)))


def _unwrapped(node: Node, result: Any) -> Any:
    """Return what a tool gave back where a framework recorded the message it made of it; that names the call too."""
    message = plain_message(result) if result.__class__ is dict or isinstance(result, Mapping) else None
    if message is None or message["type"] != "tool" or not isinstance(message.get("tool_call_id"), str):
        return result
    node.call_id = node.call_id or message["tool_call_id"]
    if message.get("status") == "error":
        node.fields |= {"tool_status": "error", "error": node.fields.get("error") or words_of(message["content"])}
    return read_result(message["content"])


def merge_calls(nodes: Sequence[Node]) -> list[str]:
    """Mark spans that tell of a call another span tells of, and say how many.

    A span inside another of the same tool is the same call if their ids do not differ and their arguments do not; of
    several such, one is, the rest are attempts of their own. Spans beside each other are one call if they have one id
    and overlap in time; one after the other they are a retry.
    """
    calls = [node for node in nodes if node.kind == TOOL]
    nested = beside = attempts = 0
    inside: dict[int, tuple[Node, list[Node]]] = {}
    for node in calls:
        outer = None if node.up is None else next(_calls_around(node), None)
        if outer is not None and _same_call(outer, node):
            inside.setdefault(id(outer), (outer, []))[1].append(node)
    for outer, inner in inside.values():
        one = _partner(outer, inner)
        _absorb(outer, one)
        nested += 1
        attempts += len(inner) - 1
    by_id: dict[str, list[Node]] = {}
    for node in calls:
        if node.merged is None and node.call_id is not None:
            earlier = by_id.setdefault(node.call_id, [])
            twin = next((n for n in earlier if _same_call(n, node) and _overlap(n, node)), None)
            if twin is None:
                earlier.append(node)
            else:
                _absorb(twin, node)
                beside += 1
    said = []
    if nested:
        said.append(f"{nested} spans inside another of the same call were merged with it")
    if beside:
        said.append(f"{beside} spans that tell of a call another span tells of were merged with it")
    if attempts:
        said.append(f"{attempts} further attempts inside one call stay calls of their own")
    return said


def step_of(node: Node, lookup: Lookup) -> StepDraft:
    """Return the step a tool's span tells of."""
    span = node.span
    step = StepDraft(
        kind="tool_call", name=tool_name_of(span, node.fields), arguments=node.arguments, result=node.result,
        status="ok", call_id=node.call_id, started_at=iso_time(span.start), ended_at=iso_time(span.end),
        unread=list(node.notes),
    )  # fmt: skip
    failure = failure_of(node)
    if failure is not None:
        step.status, step.error_type, step.error = "failed", *failure
    elif span.end is None and span.start is not None and node.result is NOT_RECORDED:
        step.status = "no_result"
        step.unread.append("the span has no end")
    for name in lookup.shape(span.attributes).others:
        if not name.startswith(_SURROUNDINGS):
            value = span.attributes[name]
            step.unread.append(f"attribute {name}: {value if isinstance(value, str) else shown(value)}")
    if span.events:
        step.unread += [f"event {e.name}: {shown(e.attributes)}" for e in span.events if e.name not in _READ_EVENTS]
    return step


def failure_of(node: Node) -> tuple[str | None, str | None] | None:
    """Return type and words of a failure: by error status, exception event, error type, or what the tool said."""
    span, fields = node.span, node.fields
    exception = next((event for event in span.events if event.name in _EXCEPTIONS), None) if span.events else None
    said = fields.get("tool_status")
    bad = isinstance(said, str) and said.strip().lower() in _FAILED
    kind = fields.get("error_type")
    if not (span.status == "error" or exception is not None or bad or kind):
        return None
    told = _words(exception, "exception.message") or span.message or fields.get("error")
    kind = kind or _words(exception, "exception.type")
    return (kind if isinstance(kind, str) else None), (told if isinstance(told, str) else None)


def same_arguments(one: Any, two: Any) -> bool:
    """Say whether two arguments are the same, as far as both are recorded."""
    if one is NOT_RECORDED or two is NOT_RECORDED:
        return True
    if isinstance(one, Unreadable) or isinstance(two, Unreadable):
        return one == two
    return one == two and canonical_json(one) == canonical_json(two)


def _words(event: Event | None, name: str) -> str | None:
    found = None if event is None else event.attributes.get(name)
    return found if isinstance(found, str) and found else None


def _calls_around(node: Node) -> Iterator[Node]:
    """Give the calls a span is directly inside: an agent or a model between them makes it another matter."""
    for outer in node.above():
        if outer.kind in (AGENT, MODEL):
            return
        yield outer


def _same_call(one: Node, two: Node) -> bool:
    ids = {one.call_id, two.call_id} - {None}
    names = tool_name_of(one.span, one.fields), tool_name_of(two.span, two.fields)
    return names[0] == names[1] and len(ids) < 2 and same_arguments(one.arguments, two.arguments)


def _partner(outer: Node, inner: Sequence[Node]) -> Node:
    """Return which of the spans inside is the call itself: that of its id, else the last that ended as it did."""
    named = [node for node in inner if node.call_id is not None and node.call_id == outer.call_id]
    alike = [node for node in inner if (failure_of(node) is None) == (failure_of(outer) is None)]
    return (named or alike or list(inner))[-1]


def _overlap(one: Node, two: Node) -> bool:
    a, b = one.span, two.span
    if None in (a.start, a.end, b.start, b.end):
        return a.start == b.start and a.end == b.end
    return bool(a.start <= b.end and b.start <= a.end)  # type: ignore[operator]


def _absorb(node: Node, other: Node) -> None:
    other.merged = node
    told = None if failure_of(node) else failure_of(other)
    if node.arguments is NOT_RECORDED:
        node.arguments = other.arguments
    if node.result is NOT_RECORDED:
        node.result = other.result
        if told is not None:  # nothing says that the outer call came to an end of its own
            node.fields |= {"tool_status": "error", "error_type": told[0], "error": told[1]}
            told = None
    elif not (other.result is NOT_RECORDED or other.result == node.result):
        node.notes.append(f"result, as another span of this call tells it: {shown(other.result)}")
    node.call_id = node.call_id or other.call_id
    if told is not None:
        node.notes.append(f"a span inside this call failed: {' '.join(filter(None, told))}".rstrip(": "))
