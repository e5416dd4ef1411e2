"""What a request says: its body unpacked within limits, read as OTLP, and its spans sorted into usable and not."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any, NamedTuple

from plumbline.exchange.readers.otlp_protobuf import request_of

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
    if not isinstance(found, dict) or not isinstance(found.get("resourceSpans", []), list):
        raise BadRequestError("a trace request is an object with the list resourceSpans")
    if protobuf:
        for span in _spans(found):
            for place in (span, *(link for link in span.get("links", []))):
                for name in _IDS:
                    if place.get(name):
                        place[name] = base64.b64decode(place[name]).hex()
    return found


def sort_spans(request: dict[str, Any]) -> Sorted:
    """Leave out spans that no trace can hold: those without an id of their own or of a trace.

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
                if reason := _wrong(span):
                    rejected += 1
                    reasons[reason] = None
                else:
                    usable.append(span)
            kept += len(usable)
            scopes.append({**scope, "spans": usable})
        resources.append({**resource, "scopeSpans": scopes})
    return Sorted({**request, "resourceSpans": resources}, kept, rejected, tuple(reasons))


def _spans(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span
        for resource in request.get("resourceSpans", [])
        for scope in resource.get("scopeSpans", [])
        for span in scope.get("spans", [])
    ]


def _list(holder: Any, name: str) -> list[Any]:
    found = holder.get(name, []) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        raise BadRequestError(f"{name} must be a list of objects")
    return found


def _wrong(span: Any) -> str:
    if not isinstance(span, dict):
        return "a span is not an object"
    for name, pattern in (("traceId", _TRACE), ("spanId", _SPAN)):
        value = span.get(name)
        if not isinstance(value, str) or not pattern.fullmatch(value.lower()) or not value.strip("0"):
            return f"a span without a valid {name}"
    return "" if isinstance(span.get("attributes", []), list) else "a span whose attributes are no list"
