"""A span, whichever file it came from: names, times and status in one spelling."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

__all__ = ["Event", "Span", "iso_time", "nanoseconds", "plain_id", "plain_status"]

_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{32}|[0-9a-fA-F]{16})")
_ZEROS = re.compile(r"0*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:?\d\d)?$")
_LATEST = 253_402_300_799 * 10**9
_STATUS = {
    0: "unset", 1: "ok", 2: "error", "0": "unset", "1": "ok", "2": "error", "UNSET": "unset", "OK": "ok",
    "ERROR": "error", "STATUS_CODE_UNSET": "unset", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error",
    "StatusCode.UNSET": "unset", "StatusCode.OK": "ok", "StatusCode.ERROR": "error", "IN_PROGRESS": "unset",
    "SUCCESS": "ok", "FAILED": "error",
}  # fmt: skip


@dataclass(slots=True)
class Event:
    """Something that happened within a span."""

    name: str
    attributes: dict[str, Any]
    time: int | None = None


@dataclass(slots=True)
class Span:
    """One span.

    Parameters
    ----------
    trace_id, span_id, parent_id : str or None
        Lower-case hex where they were hex or base64.
    name : str
        As found.
    start, end : int or None
        Nanoseconds since 1970.
    status : str
        ``unset``, ``ok`` or ``error``.
    attributes : dict
        Plain values by name.
    resource : dict
        Attributes of the process; shared by its spans.
    place : int
        Position in the file.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int | None
    end: int | None
    status: str
    message: str | None
    attributes: dict[str, Any]
    events: list[Event]
    resource: dict[str, Any]
    scope: str
    place: int
    unread: list[str] = field(default_factory=list)


def plain_id(value: Any) -> str | None:
    """Return an id as lower-case hex if it is hex or base64 of the length of one, else as it stands; None for none.

    Examples
    --------
    >>> plain_id("0x00F067AA0BA902B7"), plain_id("APBnqgupArc="), plain_id("run-1"), plain_id("0000000000000000")
    ('00f067aa0ba902b7', '00f067aa0ba902b7', 'run-1', None)
    """
    if value is None or value == "":
        return None
    if type(value) is str and len(value) in (16, 32) and value.islower():
        return value  # hex as it should be, or no hex at all
    if not isinstance(value, str):
        return str(value)
    if found := _HEX.fullmatch(value):
        return None if _ZEROS.fullmatch(found[1]) else found[1].lower()
    if len(value) in (12, 24) and value.endswith("="):
        try:
            spelled = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return value
        if len(spelled) in (8, 16):
            return spelled.hex() if any(spelled) else None
    return value


def nanoseconds(value: Any) -> int | None:
    """Return a time as nanoseconds since 1970; None if there is none or it is no time.

    Parameters
    ----------
    value : object
        Digits or a number (seconds, milliseconds, microseconds or nanoseconds by size), ISO 8601 text, or a datetime.

    Examples
    --------
    >>> nanoseconds("1772355600000000000") == nanoseconds("2026-03-01T09:00:00Z") == nanoseconds(1772355600)
    True
    """
    if isinstance(value, str):
        if value.isdecimal() and len(value) < 25:
            return int(value) if len(value) == 19 and value < "2" else _scaled(int(value))
        return _from_iso(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return _scaled(value)
    if isinstance(value, float | Decimal):
        number = Decimal(str(value))
        return _scaled(number) if number.is_finite() else None
    if isinstance(value, datetime):
        return _from_iso(value.isoformat())
    return None


def iso_time(time: int | None) -> str | None:
    """Return nanoseconds since 1970 as ISO 8601 text with zone, with as many digits as there are.

    Examples
    --------
    >>> iso_time(1772355600100000000)
    '2026-03-01T09:00:00.1+00:00'
    """
    if time is None:
        return None
    seconds, rest = divmod(time, 10**9)
    digits = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{_second(seconds)}{digits}+00:00"


def plain_status(value: Any) -> str:
    """Return ``ok``, ``error`` or ``unset`` of a status code, a name or nothing."""
    try:
        found = _STATUS.get(value)
    except TypeError:
        return "unset"
    if found is None and isinstance(value, str):
        found = _STATUS.get(value.upper())
    return found or "unset"


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def _scaled(number: int | Decimal) -> int | None:
    if number <= 0:
        return None
    for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
        if number < limit:
            return int(number * factor)
    return int(number) if number <= _LATEST else None


def _from_iso(text: str) -> int | None:
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(found[1].replace(" ", "T") + (found[3] or "+00:00").replace("Z", "+00:00"))
        since = moment - _EPOCH
    except (ValueError, OverflowError):
        return None
    whole = (since.days * 86400 + since.seconds) * 10**9 + int((found[2] or "0").ljust(9, "0"))
    return whole if 0 < whole <= _LATEST else None
