"""Langfuse exports: a trace with its observations, pages of either, or observations one a line; camel or snake case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from plumbline.exchange.reader import Reader
from plumbline.exchange.readers.exports import reading, record
from plumbline.exchange.readers.payloads import flattened, messages_in, opened, records_in
from plumbline.exchange.readers.span import Span, nanoseconds
from plumbline.exchange.readers.span_columns import SPAN_COLUMNS
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["READER"]

_TYPES = (
    "SPAN", "GENERATION", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
)  # fmt: skip
_SNAKE = re.compile(r"_([a-z])")


def _spans(found: Any) -> Iterator[Span]:
    for one in records_in(found, "data", "traces"):
        row = _camel(record(one, "an observation or a trace"))
        observations = row.get("observations")
        if isinstance(observations, list):
            about = _about(row)
            for item in observations:
                if isinstance(item, Mapping):
                    yield _span(_camel(item), str(row.get("id") or ""), about)
        else:
            yield _span(row, str(row.get("traceId") or ""), {})


def _span(row: Mapping[str, Any], trace: str, about: dict[str, Any]) -> Span:
    kind = str(row.get("type", "SPAN")).upper()
    given, gave = opened(row.get("input")), opened(row.get("output"))
    attributes: dict[str, Any] = {"langfuse.observation.type": kind.lower()}
    attributes |= {f"langfuse.observation.{n}": v for n, v in (("input", given), ("output", gave)) if v is not None}
    if kind == "GENERATION":
        attributes["gen_ai.input.messages"] = messages_in(given, "user")
        attributes["gen_ai.output.messages"] = messages_in(gave, "assistant")
    elif kind == "TOOL":
        attributes["gen_ai.tool.name"] = row.get("name") or ""
        if isinstance(gave, Mapping) and isinstance(gave.get("tool_call_id"), str):
            attributes["gen_ai.tool.call.id"] = gave["tool_call_id"]
    elif kind == "AGENT":
        attributes["gen_ai.agent.name"] = row.get("name") or ""
    model = row.get("model") or row.get("providedModelName")
    usage = row.get("usageDetails") or row.get("usage") or {}
    usage = usage if isinstance(usage, Mapping) else {}
    counts = {
        "gen_ai.request.model": model, "gen_ai.usage.input_tokens": usage.get("input", row.get("promptTokens")),
        "gen_ai.usage.output_tokens": usage.get("output", row.get("completionTokens")),
        "gen_ai.usage.cost": row.get("calculatedTotalCost", row.get("totalCost")),
    }  # fmt: skip
    attributes |= {name: value for name, value in counts.items() if value is not None}
    metadata = opened(row.get("metadata"))
    if isinstance(metadata, Mapping):
        attributes |= flattened(metadata, "metadata.")
    message = row.get("statusMessage")
    parent = row.get("parentObservationId") or row.get("parentId")
    return Span(
        trace_id=str(row.get("traceId") or trace), span_id=str(row.get("id") or ""),
        parent_id=None if parent in (None, "", trace) else str(parent), name=str(row.get("name") or ""),
        start=nanoseconds(row.get("startTime")), end=nanoseconds(row.get("endTime")),
        status="error" if row.get("level") == "ERROR" else "unset",
        message=message if isinstance(message, str) and message else None, attributes=attributes, events=[],
        resource=about, scope="langfuse", place=0,
    )  # fmt: skip


def _about(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = opened(row.get("metadata"))
    made = flattened(metadata, "metadata.") if isinstance(metadata, Mapping) else {}
    for name in ("name", "sessionId", "userId", "environment", "release", "version"):
        if isinstance(row.get(name), str):
            made[f"trace.{name}"] = row[name]
    if isinstance(row.get("tags"), list):
        made["trace.tags"] = row["tags"]
    return made


def _camel(row: Mapping[str, Any]) -> dict[str, Any]:
    return {_SNAKE.sub(lambda found: found[1].upper(), str(name)): value for name, value in row.items()}


def _sniff(source: Source) -> str | None:
    found = source.peek()
    if found is NO_JSON:
        return None
    rows = records_in(found, "data", "traces")
    if not rows or not isinstance(rows[0], Mapping):
        return None
    row = _camel(rows[0])
    if isinstance(row.get("observations"), list) and "id" in row:
        return "it has a trace with observations"
    known = str(row.get("type", "")).upper() in _TYPES
    return "it has observations" if known and "traceId" in row and "startTime" in row and "spanId" not in row else None


_read, _together = reading(_spans)
READER = Reader("langfuse", "Langfuse export", SPAN_COLUMNS, _sniff, _read, _together)
