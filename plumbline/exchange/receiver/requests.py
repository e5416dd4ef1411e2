"""What a request says: its body unpacked within limits, read as OTLP, and its spans sorted into usable and not."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any, NamedTuple

from plumbline.exchange.readers.otlp_protobuf import request_of
from plumbline.exchange.readers.otlp_values import ValueFault, spans_in

__all__ = ["BadRequestError", "Sorted", "TooLargeError", "read_request", "sort_spans", "unpack"]

_TRACE, _SPAN = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")
_IDS = ("traceId", "spanId", "parentSpanId")


class BadRequestError(ValueError):
    """The body is not what it claims to be."""


class TooLargeError(ValueError):
    """The body is larger than allowed, packed or unpacked."""


class Sorted(NamedTuple):
    """A request with its usable spans, and what was wrong with the others."""

    request: dict[str, Any]
    spans: int
    rejected: int
    reasons: tuple[str, ...]


def unpack(body: bytes, encoding: str, *, most: int) -> bytes:
    """Return a body without its content encoding; a small body that unpacks to a huge one is refused early.

    Raises
    ------
    TooLargeError
        More than `most` bytes.
    BadRequestError
        Another encoding than gzip and identity, or a broken one.
    """
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise BadRequestError(f"content encoding {encoding!r} is not known; gzip and identity are")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(body, most + 1)
    except zlib.error as error:
        raise BadRequestError(f"the body is not gzip ({error})") from None
    if len(text) > most:
        raise TooLargeError(f"the body unpacks to more than {most:,} bytes")
    if not unpacker.eof:
        raise BadRequestError("the gzip body is cut off")
    if unpacker.unused_data:  # a second member may hold spans, and what is not read must not be acknowledged
        raise BadRequestError(f"{len(unpacker.unused_data):,} bytes follow the end of the gzip body")
    return text


def read_request(body: bytes, *, protobuf: bool) -> dict[str, Any]:
    """Return the request as OTLP JSON values with ids in hexadecimal.

    Raises
    ------
    BadRequestError
        Not a trace request.
    """
    try:
        found = request_of(body) if protobuf else json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not a trace request ({error})") from None
    if isinstance(found, dict) and found.get("resourceSpans") is None:  # null and absent are the same in OTLP JSON
        found["resourceSpans"] = []
    if not isinstance(found, dict) or not isinstance(found["resourceSpans"], list):
        raise BadRequestError("a trace request is an object with the list resourceSpans")
    if protobuf:
        for span in _spans(found):
            for place in (span, *(link for link in span.get("links", []))):
                for name in _IDS:
                    if place.get(name):
                        place[name] = base64.b64decode(place[name]).hex()
    return found


def sort_spans(request: dict[str, Any]) -> Sorted:
    """Leave out spans that no trace can hold: without an id of their own or of a trace, or not to be read again.

    One span that cannot be read would take the whole spool with it, long after its sender was told that it arrived.

    Raises
    ------
    BadRequestError
        The request is not built as a trace request is.
    """
    kept = rejected = 0
    reasons: dict[str, None] = {}
    resources = []
    for resource in request.get("resourceSpans", []):
        scopes = []
        for scope in _list(resource, "scopeSpans"):
            usable = []
            for span in _list(scope, "spans"):
                if reason := _wrong(span) or _unreadable(span, resource, scope):
                    rejected += 1
                    reasons[reason] = None
                else:
                    usable.append(span)
            kept += len(usable)
            if usable:
                scopes.append({**scope, "spans": usable})
        if scopes:
            resources.append({**resource, "scopeSpans": scopes})
    return Sorted({"resourceSpans": resources}, kept, rejected, tuple(reasons))


def _spans(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span
        for resource in request.get("resourceSpans", [])
        for scope in resource.get("scopeSpans", [])
        for span in scope.get("spans", [])
    ]


def _list(holder: Any, name: str) -> list[Any]:
    if not isinstance(holder, dict):
        raise BadRequestError(f"what holds {name} must be an object; found {type(holder).__name__}")
    found = holder.get(name)
    if found is not None and not isinstance(found, list):
        raise BadRequestError(f"{name} must be a list of objects")
    return found or []


def _wrong(span: Any) -> str:
    if not isinstance(span, dict):
        return "a span is not an object"
    for name, pattern in (("traceId", _TRACE), ("spanId", _SPAN)):
        value = span.get(name)
        if not isinstance(value, str) or not pattern.fullmatch(value.lower()) or not value.strip("0"):
            return f"a span without a valid {name}"
    return "" if isinstance(span.get("attributes") or [], list) else "a span whose attributes are no list"


def _unreadable(span: dict[str, Any], resource: dict[str, Any], scope: dict[str, Any]) -> str:
    """Say why a span could not be read from the spool, by reading it as the spool is read."""
    alone = {"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": [span]}]}]}
    try:
        json.dumps(alone, ensure_ascii=False, allow_nan=False).encode()
        list(spans_in(alone))
    except ValueFault as fault:
        return f"a span that cannot be read ({fault})"
    except (ValueError, RecursionError) as error:  # not a number of JSON, half a surrogate pair, nested too deeply
        return f"a span that no JSON can hold ({error})"
    return ""
