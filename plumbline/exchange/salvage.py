"""What is whole of a JSON text that ends too early."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

__all__ = ["salvaged"]

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder(parse_float=Decimal)


def salvaged(text: str, *, deep: bool = False) -> tuple[Any, int]:
    """Return what is whole of a JSON text that is cut off, and the byte at which it stops being whole.

    Parameters
    ----------
    text : str
        Starts with a list or an object.
    deep : bool
        Keep whole items of inner lists and whole values of inner objects too. Otherwise only whole items of the
        outermost list are kept, and of an object nothing.

    Examples
    --------
    >>> salvaged('[{"a": 1}, {"a": 2}, {"a"')
    ([{'a': 1}, {'a': 2}], 19)
    >>> salvaged('{"spans": [{"a": 1}, {"a"', deep=True)
    ({'spans': [{'a': 1}, {}]}, 22)
    """
    start = _skip(text, 0)
    value, end, _ = _value(text, start, deep=deep, top=True)
    return value, len(text[:end].encode())


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, *, deep: bool, top: bool = False) -> tuple[Any, int, bool]:
    """Return what can be read at a place, where it ends, and whether it is whole."""
    try:
        value, end = _decoder.raw_decode(text, at)
        return value, end, True
    except (ValueError, RecursionError):
        pass
    opening = text[at : at + 1]
    if opening == "[" and (deep or top):
        return _items(text, at + 1, deep)
    if opening == "{" and deep:
        return _fields(text, at + 1)
    return ({} if opening == "{" else [] if opening == "[" else None), at, False


def _items(text: str, at: int, deep: bool) -> tuple[list[Any], int, bool]:
    items: list[Any] = []
    end = at
    while True:
        at = _skip(text, at)
        if at >= len(text):
            return items, end, False
        value, at, whole = _value(text, at, deep=deep)
        if not whole:
            if deep and isinstance(value, dict | list):
                items.append(value)
                return items, at, False
            return items, end, False
        items.append(value)
        end = at
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            return items, end, False
        at += 1


def _fields(text: str, at: int) -> tuple[dict[str, Any], int, bool]:
    fields: dict[str, Any] = {}
    end = at
    while True:
        at = _skip(text, at)
        if text[at : at + 1] != '"':
            return fields, end, False
        key, at, whole = _value(text, at, deep=False)
        at = _skip(text, at)
        if not whole or text[at : at + 1] != ":":
            return fields, end, False
        value, at, whole = _value(text, _skip(text, at + 1), deep=True)
        if not whole:
            if isinstance(value, dict | list):
                fields[key] = value
                return fields, at, False
            return fields, end, False
        fields[key] = value
        end = at
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            return fields, end, False
        at += 1
