"""OTLP protobuf: one request, or several with their length in four bytes before each, as the Collector writes them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.exchange.readers.otlp_values import ValueFault, spans_in
from plumbline.exchange.readers.span import Span
from plumbline.exchange.source import Source

__all__ = ["looks_like", "request_of", "spans_of"]

_FIRST_FIELD = 0x0A
INSTALL = "pip install 'plumbline-studies[otlp]'"


def looks_like(source: Source) -> bool:
    """Say whether a source looks like protobuf whose first field is a list of resource spans."""
    head = source.head
    if len(head) < 2:
        return False
    if head[0] == _FIRST_FIELD and not source.is_lines:
        size, width = _varint(head, 1)
        return (
            width > 0 and head[1] not in b" \t\r\n{[" and size > 0 and head[1 + width : 2 + width] in (b"\x0a", b"\x12")
        )
    return _prefixed(head)


def spans_of(source: Source) -> Iterator[Span]:
    """Give the spans of a protobuf source.

    Raises
    ------
    ParameterError
        The package that reads protobuf is not installed.
    TraceFormatError
        Not a trace request, or cut off; names the byte.
    """
    place = 0
    for offset, text in _messages(source):
        for span in _spans(source, offset, text, place):
            place += 1
            yield span


def request_of(data: bytes) -> dict[str, Any]:
    """Return an OTLP trace request as OTLP JSON.

    Raises
    ------
    ParameterError
        The package that reads protobuf is not installed.
    ValueError
        Not a trace request.
    """
    try:
        json_format = importlib.import_module("google.protobuf.json_format")
        message = importlib.import_module("google.protobuf.message")
        service = importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    except ImportError:
        raise ParameterError(f"OTLP protobuf needs the package opentelemetry-proto: {INSTALL}") from None
    request = service.ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
    except message.DecodeError as error:
        raise ValueError(str(error)) from None
    found: dict[str, Any] = json_format.MessageToDict(request)
    return found


def _spans(source: Source, offset: int, text: bytes, place: int) -> list[Span]:
    try:
        found = request_of(text)
        return list(spans_in(found, place)) if found else []
    except (ValueError, ValueFault) as fault:
        error = source.fault(
            f"not a whole OTLP trace request ({fault})", byte=offset + _whole(text), mend="Mend the file."
        )
        if source.strict:
            raise error from None
        source.leave_out(error)
        return []


def _messages(source: Source) -> Iterator[tuple[int, bytes]]:
    data = source.data
    if not _prefixed(data):
        yield 0, data
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if at + 4 + size > len(data):
            error = source.fault(
                "cut off inside a message", byte=len(data), mend="Mend the file, or pass strict=False."
            )
            if source.strict:
                raise error
            source.leave_out(error)
            return
        yield at + 4, data[at + 4 : at + 4 + size]
        at += 4 + size


def _prefixed(head: bytes) -> bool:
    return len(head) > 5 and head[0] == 0 and head[4] == _FIRST_FIELD and int.from_bytes(head[:4], "big") > 1


def _whole(data: bytes) -> int:
    """Return how many bytes hold whole fields of a message."""
    at = 0
    while at < len(data) and data[at] == _FIRST_FIELD:
        size, width = _varint(data, at + 1)
        if not width or at + 1 + width + size > len(data):
            break
        at += 1 + width + size
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of the wire and how many bytes it takes; no bytes if it is not whole."""
    value = 0
    for width in range(10):
        if at + width >= len(data):
            return 0, 0
        value |= (data[at + width] & 0x7F) << (7 * width)
        if not data[at + width] & 0x80:
            return value, width + 1
    return 0, 0
