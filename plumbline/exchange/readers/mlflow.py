"""MLflow traces: ``info`` and ``data.spans``, one object, a list, or one a line; both schemas of their spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.exchange.reader import Reader
from plumbline.exchange.readers.exports import reading, record
from plumbline.exchange.readers.otlp_values import spans_in
from plumbline.exchange.readers.payloads import flattened, messages_in
from plumbline.exchange.readers.span import Span
from plumbline.exchange.readers.span_columns import SPAN_COLUMNS
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["READER"]

_NUMBERED = re.compile(r"(.+)_\d+")
_MODELS = ("LLM", "CHAT_MODEL")


def _spans(found: Any) -> Iterator[Span]:
    for one in found if isinstance(found, list) else [found]:
        trace = record(one, "an MLflow trace")
        spans = [_span(item, trace) for item in record(trace.get("data"), "data").get("spans") or []]
        _unnumber(spans)
        yield from spans


def _span(found: Any, trace: Mapping[str, Any]) -> Span:
    (span,) = spans_in(found)
    attributes = {name: _decoded(value) for name, value in span.attributes.items()}
    for field, name in (
        ("inputs", "mlflow.spanInputs"),
        ("outputs", "mlflow.spanOutputs"),
        ("span_type", "mlflow.spanType"),
    ):
        if found.get(field) is not None:
            attributes.setdefault(name, found[field])
    if attributes.get("mlflow.spanType") in _MODELS:
        told = attributes.get("mlflow.chat.messages")
        attributes["gen_ai.input.messages"] = messages_in(attributes.get("mlflow.spanInputs"), "user")
        attributes["gen_ai.output.messages"] = messages_in(attributes.get("mlflow.spanOutputs"), "assistant")
        if isinstance(told, list) and told and not attributes["gen_ai.input.messages"]:
            attributes["gen_ai.input.messages"], attributes["gen_ai.output.messages"] = told[:-1], told[-1:]
    usage = attributes.get("mlflow.chat.tokenUsage")
    if isinstance(usage, Mapping):
        attributes |= {f"gen_ai.usage.{n}": usage[n] for n in ("input_tokens", "output_tokens") if n in usage}
    span.attributes = attributes
    span.resource = _about(trace)
    span.trace_id = str(trace_id) if (trace_id := _trace_id(trace)) is not None else span.trace_id
    return span


def _trace_id(trace: Mapping[str, Any]) -> Any:
    info = trace.get("info")
    return (info.get("trace_id") or info.get("request_id")) if isinstance(info, Mapping) else None


def _about(trace: Mapping[str, Any]) -> dict[str, Any]:
    info = trace.get("info")
    if not isinstance(info, Mapping):
        return {}
    made: dict[str, Any] = {}
    for name in ("tags", "request_metadata", "trace_metadata"):
        if isinstance(info.get(name), Mapping):
            made |= flattened(info[name], f"{name}.")
    return made


def _decoded(value: Any) -> Any:
    """Attributes are stored as JSON text, text too."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except (ValueError, RecursionError):
        return value


def _unnumber(spans: list[Span]) -> None:
    """Older versions number spans of one name; the tool's name is what stands before the number."""
    names = Counter(span.name for span in spans)
    for span in spans:
        found = _NUMBERED.fullmatch(span.name)
        twins = {other.name for other in spans if (f := _NUMBERED.fullmatch(other.name)) and found and f[1] == found[1]}
        if found and span.attributes.get("mlflow.spanType") == "TOOL" and (names[found[1]] or len(twins) > 1):
            span.attributes.setdefault("gen_ai.tool.name", found[1])


def _sniff(source: Source) -> str | None:
    found = source.peek()
    if found is NO_JSON:
        return None
    one = found[0] if isinstance(found, list) and found else found
    if not isinstance(one, dict) or not isinstance(one.get("info"), dict) or not isinstance(one.get("data"), dict):
        return None
    return "it has info and data.spans" if isinstance(one["data"].get("spans"), list) else None


_read, _together = reading(_spans)
READER = Reader("mlflow", "MLflow traces", SPAN_COLUMNS, _sniff, _read, _together)
