"""OTLP JSON taken apart: typed values, envelopes, bare spans, what SDKs print, and log records that belong to spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from plumbline.exchange.readers.span import Event, Span, nanoseconds, plain_id, plain_status

__all__ = ["ENVELOPES", "ValueFault", "attributes_of", "looks_like", "spans_in", "value_of"]

_SHAPES = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "scopeSpans", "scope_spans")
ENVELOPES = (
    *_SHAPES, "scopeLogs", "scope_logs", "logRecords", "log_records", "instrumentationLibrarySpans", "spans",
)  # fmt: skip
"""Keys of OTLP JSON whose lists hold records."""
_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_NOTHING: dict[str, Any] = {}


class ValueFault(ValueError):
    """A typed value that is not of its type."""


def value_of(value: Any) -> Any:
    """Return the plain value of an OTLP typed value; what carries no type stays as it is.

    Examples
    --------
    >>> value_of({"kvlistValue": {"values": [{"key": "id", "value": {"intValue": "9007199254740993"}}]}})
    {'id': 9007199254740993}
    >>> value_of({"arrayValue": {}}), value_of({"doubleValue": 3}), value_of({})
    ([], Decimal('3.0'), None)
    """
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        return value or None
    ((kind, held),) = value.items()
    if kind in ("stringValue", "string_value", "boolValue", "bool_value", "bytesValue", "bytes_value"):
        return held
    if kind in ("intValue", "int_value"):
        return _whole(held)
    if kind in ("doubleValue", "double_value"):
        return _double(held)
    if kind in ("arrayValue", "array_value"):
        return [value_of(one) for one in _listed(held, "values")]
    if kind in ("kvlistValue", "kvlist_value"):
        return attributes_of(_listed(held, "values"))
    return value


def attributes_of(found: Any) -> dict[str, Any]:
    """Return attributes as a plain mapping, from a list of key and typed value or from a mapping."""
    if not found:
        return {}
    if isinstance(found, dict):
        return {key: value_of(value) for key, value in found.items()}
    if not isinstance(found, list):
        raise ValueFault(f"attributes must be a list or an object; found {type(found).__name__}")
    made: dict[str, Any] = {}
    pair: Any = None
    try:
        for pair in found:
            key, value = pair["key"], pair.get("value")
            if key.__class__ is not str:
                raise KeyError(key)
            made[key] = value["stringValue"] if value is not None and "stringValue" in value else value_of(value)
    except (AttributeError, KeyError, TypeError):
        raise ValueFault(f"an attribute must have a text as key, and a value; found {str(pair)[:60]!r}") from None
    return made


def looks_like(found: Any) -> str | None:
    """Say why a JSON value looks like spans, None if it does not."""
    if isinstance(found, list):
        return looks_like(found[0]) if found else None
    if not isinstance(found, dict):
        return None
    for name in _SHAPES:
        if isinstance(found.get(name), list):
            return f"it has {name}"
    spans = found.get("spans")
    if isinstance(spans, list) and spans and _is_span(spans[0]):
        return "it has a list of spans"
    return "it is a span" if _is_span(found) else None


def spans_in(found: Any, place: int = 0) -> Iterator[Span]:
    """Give the spans of an envelope, a list, or one span; log records of spans come as spans of their own.

    Parameters
    ----------
    found : object
        One JSON value.
    place : int
        Position of the first span.

    Raises
    ------
    ValueFault
        A value is not of its type, or something is no span.
    """
    if isinstance(found, list):
        for one in found:
            for span in spans_in(one, place):
                place += 1
                yield span
        return
    if not isinstance(found, dict):
        raise ValueFault(f"a span or an envelope must be an object; found {type(found).__name__}")
    envelope = next((name for name in (*_SHAPES, "spans") if isinstance(found.get(name), list)), None)
    if envelope is None:
        yield _span(found, attributes_of(_resource(found)), _scope_name(found), place)
        return
    if envelope in ("resourceLogs", "resource_logs"):
        yield from _logs(found[envelope], place)
        return
    groups = found[envelope] if envelope in ("resourceSpans", "resource_spans") else [found]
    for group in groups:
        for span in _grouped(group, place):
            place += 1
            yield span


def _grouped(group: Any, place: int) -> Iterator[Span]:
    if not isinstance(group, dict):
        raise ValueFault(f"resourceSpans holds objects; found {type(group).__name__}")
    resource = attributes_of(_resource(group))
    inner = next(
        (group[n] for n in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans") if group.get(n) is not None),
        None,
    )
    for scoped in _checked_list([group] if inner is None else inner, "scopeSpans"):
        if not isinstance(scoped, dict):
            raise ValueFault(f"scopeSpans holds objects; found {type(scoped).__name__}")
        scope = _scope_name(scoped)
        for span in _checked_list(scoped.get("spans") or [], "spans"):
            yield _span(span, resource, scope, place)
            place += 1


def _span(found: Any, resource: dict[str, Any], scope: str, place: int) -> Span:
    if not isinstance(found, dict):
        raise ValueFault(f"a span has traceId, spanId and name; found {str(found)[:60]!r}")
    get = found.get
    trace, own = get("traceId"), get("spanId")
    if not trace or not own:
        inner = get("context")
        context = inner if isinstance(inner, dict) else found
        trace = trace or context.get("traceId") or context.get("trace_id")
        own = own or context.get("spanId") or context.get("span_id")
        if not trace or not own:
            raise ValueFault(f"a span has traceId, spanId and name; found {str(found)[:60]!r}")
    status, events, name = get("status"), get("events"), get("name")
    state, message = ("unset", None) if not status and "status_code" not in found else _state(found, status)
    parent, start, end = get("parentSpanId"), get("startTimeUnixNano"), get("endTimeUnixNano")
    if parent is None:
        parent = _first(found, "parent_span_id", "parent_id", "parentId")
    if start is None:
        start = _first(found, "start_time_unix_nano", "start_time", "startTime")
    if end is None:
        end = _first(found, "end_time_unix_nano", "end_time", "endTime")
    return Span(
        plain_id(trace) or "", plain_id(own) or "", plain_id(parent), name if isinstance(name, str) else "",
        nanoseconds(start), nanoseconds(end), state, message, attributes_of(get("attributes")),
        [_event(event) for event in _checked_list(events, "events")] if events else [], resource, scope, place,
    )  # fmt: skip


def _state(found: Mapping[str, Any], status: Any) -> tuple[str, str | None]:
    """Return status and message, from a status object or from the fields of what SDKs print."""
    if isinstance(status, dict):
        state = plain_status(status.get("code", status.get("status_code")))
        message = status.get("message", status.get("description"))
    else:
        state = plain_status(status if status is not None else found.get("status_code", found.get("statusCode")))
        message = found.get("status_message", found.get("statusMessage"))
    return state, message if isinstance(message, str) and message else None


def _event(found: Any) -> Event:
    if not isinstance(found, dict):
        raise ValueFault(f"an event must be an object; found {type(found).__name__}")
    time = _first(found, "timeUnixNano", "time_unix_nano", "timestamp", "time")
    return Event(str(found.get("name", "")), attributes_of(found.get("attributes")), nanoseconds(time))


def _logs(groups: list[Any], place: int) -> Iterator[Span]:
    """Give log records that name their span as spans that hold nothing but an event; others say nothing of a trace."""
    for group in groups:
        if not isinstance(group, dict):
            raise ValueFault(f"resourceLogs holds objects; found {type(group).__name__}")
        resource = attributes_of(_resource(group))
        for scoped in _checked_list(group.get("scopeLogs", group.get("scope_logs")) or [], "scopeLogs"):
            scoped = scoped if isinstance(scoped, dict) else {}
            for record in _checked_list(scoped.get("logRecords", scoped.get("log_records")) or [], "logRecords"):
                record = record if isinstance(record, dict) else {}
                ids = [plain_id(_first(record, a, b)) for a, b in (("traceId", "trace_id"), ("spanId", "span_id"))]
                if None in ids:
                    continue
                attributes = attributes_of(record.get("attributes"))
                name = record.get("eventName") or record.get("event_name") or attributes.get("event.name") or "log"
                body = value_of(record.get("body"))
                attributes |= body if isinstance(body, dict) else {} if body is None else {"body": body}
                time = nanoseconds(_first(record, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano"))
                yield Span(
                    ids[0] or "", ids[1] or "", None, "", None, None, "unset", None, {},
                    [Event(str(name), attributes, time)], resource, "logs", place,
                )  # fmt: skip
                place += 1


def _is_span(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    inner = found.get("context")
    context = inner if isinstance(inner, dict) else found
    return bool(context.get("traceId") or context.get("trace_id")) and bool(
        context.get("spanId") or context.get("span_id")
    )


def _resource(found: Mapping[str, Any]) -> Any:
    resource = found.get("resource")
    return resource.get("attributes") if isinstance(resource, dict) else None


def _scope_name(found: Mapping[str, Any]) -> str:
    scope = found.get("scope", found.get("instrumentationLibrary", found.get("instrumentation_scope")))
    name = scope.get("name") if isinstance(scope, dict) else None
    return name if isinstance(name, str) else ""


def _first(found: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        value = found.get(name)
        if value is not None:
            return value
    return None


def _listed(found: Any, name: str) -> list[Any]:
    held = found.get(name) if isinstance(found, dict) else found
    return _checked_list(held or [], name)


def _checked_list(found: Any, name: str) -> list[Any]:
    if not isinstance(found, list):
        raise ValueFault(f"{name} must be a list; found {type(found).__name__}")
    return found


def _whole(held: Any) -> int:
    if isinstance(held, int) and not isinstance(held, bool):
        return held
    if isinstance(held, str) and held.lstrip("-").isdecimal() and held.isascii() and len(held) < 30:
        return int(held)
    raise ValueFault(f"intValue must be a whole number; found {held!r}")


def _double(held: Any) -> Decimal | float:
    """Return a double as the shortest decimal that spells it, as JSON text of it would be read."""
    if isinstance(held, int | float | Decimal) and not isinstance(held, bool):
        try:
            number = float(held)
        except OverflowError:
            raise ValueFault(f"doubleValue must be a number that a double holds; found {str(held)[:40]}") from None
        return Decimal(repr(number)) if number - number == 0 else number
    if isinstance(held, str) and held in _NUMBERS:
        return _NUMBERS[held]
    raise ValueFault(f"doubleValue must be a number; found {held!r}")
