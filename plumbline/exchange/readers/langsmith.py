"""LangSmith runs: one run with its children, a list, a page, or one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plumbline.exchange.arguments import read_arguments
from plumbline.exchange.drafts import Unreadable
from plumbline.exchange.reader import Reader
from plumbline.exchange.readers.exports import reading, record
from plumbline.exchange.readers.payloads import flattened, messages_in, opened, records_in
from plumbline.exchange.readers.span import Span, nanoseconds
from plumbline.exchange.readers.span_columns import SPAN_COLUMNS
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["READER"]

_KINDS = {"tool": "tool", "llm": "llm"}


def _spans(found: Any) -> Iterator[Span]:
    for one in records_in(found, "runs", "data"):
        yield from _with_children(record(one, "a run"), None)


def _with_children(run: Mapping[str, Any], parent: Mapping[str, Any] | None) -> Iterator[Span]:
    waiting: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]] = [(run, parent)]
    while waiting:
        run, parent = waiting.pop(0)
        yield _span(run, parent)
        waiting += [
            (child, {**run, "child_runs": None}) for child in run.get("child_runs") or [] if isinstance(child, Mapping)
        ]


def _span(run: Mapping[str, Any], parent: Mapping[str, Any] | None) -> Span:
    given, gave = opened(run.get("inputs")), opened(run.get("outputs"))
    kind = str(run.get("run_type", "chain"))
    extra = run.get("extra") if isinstance(run.get("extra"), Mapping) else {}
    attributes: dict[str, Any] = {"langsmith.span.kind": _KINDS.get(kind, "chain")}
    attributes |= flattened(_mapping(extra, "metadata"), "metadata.")
    failed = None
    if kind == "tool":
        failed = _tool(run, given, gave, attributes)
    elif kind == "llm":
        attributes["gen_ai.input.messages"] = messages_in(given, "user")
        attributes["gen_ai.output.messages"] = messages_in(gave, "assistant")
        model = attributes.get("metadata.ls_model_name") or _mapping(extra, "invocation_params").get("model")
        counts = {
            "gen_ai.request.model": model, "gen_ai.usage.input_tokens": run.get("prompt_tokens"),
            "gen_ai.usage.output_tokens": run.get("completion_tokens"), "gen_ai.usage.cost": run.get("total_cost"),
        }  # fmt: skip
        attributes |= {name: value for name, value in counts.items() if value is not None}
    error = run.get("error") or failed
    owner = parent if parent is not None else {}
    trace = run.get("trace_id") or owner.get("trace_id") or owner.get("id") or run.get("id")
    above = run.get("parent_run_id") or owner.get("id")
    return Span(
        trace_id=str(trace or ""), span_id=str(run.get("id") or ""), parent_id=None if not above else str(above),
        name=str(run.get("name") or ""), start=nanoseconds(run.get("start_time")), end=nanoseconds(run.get("end_time")),
        status="error" if error else "unset", message=error if isinstance(error, str) else None,
        attributes=attributes, events=[], resource=_about(run), scope="langsmith", place=0,
    )  # fmt: skip


def _tool(run: Mapping[str, Any], given: Any, gave: Any, attributes: dict[str, Any]) -> str | None:
    """Fill in a tool's call, and return the failure that the reply reports."""
    attributes["gen_ai.tool.name"] = str(run.get("name") or "")
    if isinstance(given, Mapping) and set(given) == {"input"}:
        inner = read_arguments(given["input"])
        given = given if isinstance(inner, Unreadable) else inner
    if given is not None:
        attributes["gen_ai.tool.call.arguments"] = given
    if isinstance(gave, Mapping) and set(gave) == {"output"}:
        gave = opened(gave["output"])
    reply = gave.get("kwargs", gave) if isinstance(gave, Mapping) else {}
    if isinstance(reply, Mapping) and "tool_call_id" in reply:
        attributes["gen_ai.tool.call.id"] = reply["tool_call_id"]
        gave = reply.get("content")
    if gave is not None:
        attributes["gen_ai.tool.call.result"] = gave
    if isinstance(reply, Mapping) and reply.get("status") == "error":
        return str(reply.get("content") or "the tool reported an error")
    return None


def _about(run: Mapping[str, Any]) -> dict[str, Any]:
    made = {}
    for name in ("session_id", "session_name", "reference_example_id"):
        if isinstance(run.get(name), str):
            made[f"run.{name}"] = run[name]
    if isinstance(run.get("tags"), list):
        made["run.tags"] = run["tags"]
    return made


def _mapping(found: Any, name: str) -> Mapping[str, Any]:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _sniff(source: Source) -> str | None:
    found = source.peek()
    if found is NO_JSON:
        return None
    rows = records_in(found, "runs", "data")
    row = rows[0] if rows else None
    return "it has runs with a run_type" if isinstance(row, Mapping) and "run_type" in row and "id" in row else None


_read, _together = reading(_spans)
READER = Reader("langsmith", "LangSmith runs", SPAN_COLUMNS, _sniff, _read, _together)
