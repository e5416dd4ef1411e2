"""The receiver as an ASGI application: ``POST /v1/traces``, JSON or protobuf, answered in the protocol's own words."""

from __future__ import annotations

import asyncio
import hmac
import json
from dataclasses import dataclass
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.exchange.receiver.requests import BadRequestError, TooLargeError, read_request, sort_spans, unpack
from plumbline.exchange.receiver.spool import Spool, SpoolFullError

__all__ = ["Limits", "receiver_app"]

_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_INSTALL = "pip install 'plumbline-studies[server]'"
_INVALID, _EXHAUSTED, _UNAVAILABLE, _UNAUTHENTICATED = 3, 8, 14, 16
"""Codes of ``google.rpc.Code``."""


@dataclass(frozen=True)
class Limits:
    """What the receiver takes.

    Parameters
    ----------
    body : int
        Bytes of a request as sent, at least 1.
    unpacked : int
        Bytes of a request without its compression, at least 1.
    retry_after_s : int
        Seconds after which a sender should try again when the receiver is busy.
    """

    body: int = 4 * 2**20
    unpacked: int = 32 * 2**20
    retry_after_s: int = 1

    def __post_init__(self) -> None:
        for name in ("body", "unpacked", "retry_after_s"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"limits.{name} must be a whole number of at least 1; found {value!r}")


def receiver_app(spool: Spool, *, limits: Limits | None = None, token: str | None = None) -> Any:
    """Make the application.

    Parameters
    ----------
    spool : Spool
        Where requests are written before they are answered.
    limits : Limits, optional
        Sizes.
    token : str, optional
        What ``Authorization: Bearer …`` must hold; without one nobody is asked.

    Returns
    -------
    Starlette

    Raises
    ------
    ParameterError
        The package starlette is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route
    except ModuleNotFoundError:
        raise ParameterError(f"the receiver needs the package starlette: {_INSTALL}") from None
    bounds = limits or Limits()

    def answer(status: int, protobuf: bool, code: int, message: str, **headers: str) -> Response:
        body = _status_bytes(code, message) if protobuf else json.dumps({"code": code, "message": message}).encode()
        kind = _PROTOBUF if protobuf else _JSON
        return Response(body, status, {name.replace("_", "-"): value for name, value in headers.items()}, kind)

    async def traces(request: Any) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        protobuf = kind == _PROTOBUF
        if token is not None and not _known(request.headers.get("authorization", ""), token):
            return answer(401, protobuf, _UNAUTHENTICATED, "no valid bearer token", www_authenticate="Bearer")
        if kind not in (_JSON, _PROTOBUF):
            return answer(415, False, _INVALID, f"content type {kind!r} is not taken; {_JSON} and {_PROTOBUF} are")
        try:
            body = await _body(request, bounds.body)
            text = unpack(body, request.headers.get("content-encoding", "").strip().lower(), most=bounds.unpacked)
            found = await asyncio.to_thread(lambda: sort_spans(read_request(text, protobuf=protobuf)))
        except TooLargeError as error:
            return answer(413, protobuf, _INVALID, str(error))
        except BadRequestError as error:
            return answer(400, protobuf, _INVALID, str(error))
        if found.spans:
            try:
                await asyncio.wrap_future(spool.add(found.request))
            except SpoolFullError as error:
                return answer(503, protobuf, _UNAVAILABLE, str(error), retry_after=str(bounds.retry_after_s))
            except OSError as error:
                told = f"nothing could be written ({error.strerror})"
                return answer(503, protobuf, _UNAVAILABLE, told, retry_after=str(bounds.retry_after_s))
        message = "; ".join(found.reasons)
        kind = _PROTOBUF if protobuf else _JSON
        return Response(_success(found.rejected, message, protobuf=protobuf), 200, media_type=kind)

    async def health(request: Any) -> Response:
        return Response(json.dumps({"requests": spool.lines}), media_type=_JSON)

    return Starlette(routes=[Route("/v1/traces", traces, methods=["POST"]), Route("/healthz", health)])


async def _body(request: Any, most: int) -> bytes:
    """Read a body piece by piece, and no further than allowed."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLargeError(f"the body is larger than {most:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _known(header: str, token: str) -> bool:
    scheme, _, given = header.partition(" ")
    same = hmac.compare_digest(given.strip().encode(), token.encode())
    return scheme.lower() == "bearer" and same


def _success(rejected: int, message: str, *, protobuf: bool) -> bytes:
    if not protobuf:
        partial = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": message}} if rejected else {}
        return json.dumps(partial).encode()
    if not rejected:
        return b""
    inner = b"\x08" + _varint(rejected) + _text(2, message)
    return b"\x0a" + _varint(len(inner)) + inner


def _status_bytes(code: int, message: str) -> bytes:
    """Spell ``google.rpc.Status``: its code and its message."""
    return b"\x08" + _varint(code) + _text(2, message)


def _text(field: int, text: str) -> bytes:
    data = text.encode()
    return bytes([field << 3 | 2]) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
