"""What is whole of a JSON text that ends too early."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from decimal import Decimal
from typing import Any

__all__ = ["salvaged"]

_SPACE = re.compile(r"[ \t\r\n]*")
_CUT: Any = object()
_decoder = json.JSONDecoder(parse_float=Decimal)


def salvaged(text: str, *, within: Collection[str] | None = ()) -> tuple[Any, int]:
    """Return what is whole of a JSON text that is cut off, and the byte at which it stops being whole.

    An object that is cut off is not kept, since what is missing of it cannot be told from what it never had. Only
    the envelopes around records are, so that the whole records in them can be reached.

    Parameters
    ----------
    text : str
        Starts with a list or an object.
    within : collection of str or None
        Keys whose values hold records. Of an object that is cut off inside the value of such a key, the fields before
        it and what is whole of that value are kept. None looks into everything, to recognise a format, never to read.

    Returns
    -------
    value : object
        None if nothing is whole.
    end : int
        Offset in bytes.

    Examples
    --------
    >>> salvaged('[{"a": 1}, {"a": 2}, {"a"')
    ([{'a': 1}, {'a': 2}], 19)
    >>> salvaged('{"spans": [{"a": 1}, {"a": 2, "b"', within=["spans"])
    ({'spans': [{'a': 1}]}, 19)
    >>> salvaged('{"spans": [{"a": 1}, {"a": 2, "b"', within=None)
    ({'spans': [{'a': 1}, {'a': 2}]}, 28)
    """
    start = _skip(text, 0)
    value, end, whole = _value(text, start, within, descend=True)
    return (value if whole or value is not _CUT else None), len(text[:end].encode())


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, within: Collection[str] | None, *, descend: bool) -> tuple[Any, int, bool]:
    """Return what can be read at a place, `_CUT` if nothing is to be kept of it, where it ends, and if it is whole."""
    try:
        value, end = _decoder.raw_decode(text, at)
        if end < len(text) or not isinstance(value, int | Decimal) or isinstance(value, bool):
            return value, end, True  # a number that the text ends with may have had more digits
    except (ValueError, RecursionError):
        pass
    opening = text[at : at + 1] if descend else ""
    try:
        if opening == "[":
            return _items(text, at + 1, within)
        if opening == "{":
            return _fields(text, at + 1, within)
    except RecursionError:
        pass
    return _CUT, at, False


def _items(text: str, at: int, within: Collection[str] | None) -> tuple[list[Any], int, bool]:
    items: list[Any] = []
    end = at
    while True:
        at = _skip(text, at)
        value, at, whole = _value(text, at, within, descend=True)
        if not whole:
            if value is not _CUT:
                items.append(value)
                end = at
            return items, end, False
        items.append(value)
        end = at
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            return items, end, False
        at += 1


def _fields(text: str, at: int, within: Collection[str] | None) -> tuple[Any, int, bool]:
    fields: dict[str, Any] = {}
    end = at
    kept = fields if within is None else _CUT
    while True:
        at = _skip(text, at)
        if text[at : at + 1] != '"':
            return kept, end, False
        key, at, whole = _value(text, at, within, descend=False)
        at = _skip(text, at)
        if not whole or text[at : at + 1] != ":":
            return kept, end, False
        envelope = within is None or key in within
        value, at, whole = _value(text, _skip(text, at + 1), within, descend=envelope)
        if not whole:
            if value is _CUT:
                return kept, end, False
            fields[key] = value
            return fields, at, False
        fields[key] = value
        end = at
        if envelope and isinstance(value, list | dict):
            kept = fields
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            return kept, end, False
        at += 1
