"""What stands where a call's arguments or result should be: read if that loses nothing, else kept as found.

Stacks write arguments as an object, as JSON text, as JSON text inside JSON text, or as a Python dict in print. All four
are read when what comes out can be written back without loss. Everything else is kept as text with a reason; nothing
becomes an empty object because it could not be read.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.exchange.drafts import NotRecorded, Unreadable

__all__ = ["read_arguments", "read_result", "read_text"]

_DEEPEST_NESTING = 200
_DEEPEST_ENCODING = 8
_LONGEST_LITERAL = 1_000_000
_LONG_NUMBER = re.compile(r"\d(?:[eE][+-]?\d{3}|\d{299})")
"""ASCII text without ``\\u`` that does not match holds neither a lone surrogate nor a number too long to store."""
_WORDS = re.compile(r"\b(?:NaN|Infinity)\b")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)
"""Strings, closed or cut off, and brackets outside them; linear, whatever stands in the text."""
_AS_IT_IS = (NotRecorded, Unreadable)
_READ = (dict, Unreadable)
_NO_ARGUMENTS: tuple[str, ...] = ("", "null")


def read_arguments(found: object) -> Any:
    """Read the arguments of a call as a stack wrote them.

    Parameters
    ----------
    found : object
        An object, text, None, or ``NOT_RECORDED``. None, empty text and ``null`` mean a call without arguments; a
        format in which a missing field means the same passes ``""`` for it.

    Returns
    -------
    dict, Unreadable or NOT_RECORDED
        Text is decoded, several times if need be, until an object appears; values inside it are never decoded. Numbers
        with a point are ``Decimal``.

    Examples
    --------
    >>> read_arguments('"{\\\\"city\\\\": \\\\"Porto\\\\", \\\\"max\\\\": 4.50}"')
    {'city': 'Porto', 'max': Decimal('4.50')}
    >>> read_arguments(""), read_arguments(None)
    ({}, {})
    >>> read_arguments('{"path":"a.txt"}{"path":"b.txt"}').reason
    'two values'
    """
    if found.__class__ is not str:
        if isinstance(found, _AS_IT_IS):
            return found
        if found is None:
            return {}
    if isinstance(found, bytes):
        try:
            return read_arguments(found.decode("utf-8"))
        except UnicodeDecodeError:
            return Unreadable(found.decode("utf-8", "backslashreplace"), "not UTF-8")
    if isinstance(found, str):
        value = _decoded(found)
        if isinstance(value, _READ):
            return value
        return Unreadable(_kept(found), "not an object")
    return _checked(found) if isinstance(found, Mapping) else Unreadable(_shown(found), "not an object")


def read_result(found: object) -> Any:
    """Read what a call gave back as a stack wrote it.

    Parameters
    ----------
    found : object
        Any JSON value, text, None, or ``NOT_RECORDED``.

    Returns
    -------
    object, Unreadable or NOT_RECORDED
        Text that is one JSON object or list is read as such; all other text stays the text it is, ``"12.50"`` too.

    Examples
    --------
    >>> read_result('{"total": 4500.10}'), read_result("12.50")
    ({'total': Decimal('4500.10')}, '12.50')
    """
    if not isinstance(found, str):
        return found if found is None or isinstance(found, _AS_IT_IS) else _checked(found)
    if found.lstrip()[:1] in ("{", "[") and _depth(found) <= _DEEPEST_NESTING:
        try:
            value = parse_json(found)
        except (ValueError, RecursionError):
            pass
        else:
            return _storable(value, found)
    return _storable(found, found)


def read_text(found: str) -> str | Unreadable:
    """Read words that are words even where they spell JSON.

    Examples
    --------
    >>> read_text('{"a": 1}')
    '{"a": 1}'
    """
    kept = _storable(found, found)
    return kept if isinstance(kept, Unreadable) else found


def _decoded(text: str) -> Any:
    """Return the value that JSON or Python text spells, decoded while it is itself text that spells one."""
    value: Any = text
    for _ in range(_DEEPEST_ENCODING):
        stripped = value.strip()
        if stripped in _NO_ARGUMENTS:
            return {}
        value = _parsed(stripped)
        if isinstance(value, Unreadable):
            return Unreadable(_kept(text), value.reason)
        if not isinstance(value, str):
            return value if _writable(value, text) else Unreadable(_kept(text), "cannot be stored")
    return Unreadable(_kept(text), "encoded too often")


def _parsed(text: str) -> Any:
    if _depth(text) > _DEEPEST_NESTING:
        return Unreadable(text, "nested too deeply")
    try:
        return parse_json(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    except ValueError as error:  # JSON, but not JSON that can be read without loss
        return Unreadable(text, _reason(error))
    literal = _literal(text)
    return literal if literal is not None else Unreadable(text, _fault(text))


def _reason(error: ValueError) -> str:
    words = str(error)
    if "stands twice" in words:
        return "a key twice"
    return "NaN" if "is not a JSON number" in words else "number too long"


def _fault(text: str) -> str:
    """Say what is wrong with text that is neither JSON nor a Python dict."""
    start = text[:1]
    if start not in ('"', "{", "["):
        return "not JSON"
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        if _WORDS.search(text) and not isinstance(error, json.JSONDecodeError):
            return "NaN"
        cut = isinstance(error, json.JSONDecodeError) and (
            error.pos >= len(text) or error.msg.startswith("Unterminated") or _open(text)
        )
        return "truncated" if cut else "not JSON"
    rest = text[end:].lstrip(" \t\r\n,;")
    return "two values" if rest[:1] in ("{", "[", '"') else "text after the value"


def _open(text: str) -> bool:
    """Say whether text ends inside a bracket or a string."""
    depth = 0
    for token in _BRACKETS.findall(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token, 0)
    return depth > 0


def _depth(text: str) -> int:
    if len(text) <= _DEEPEST_NESTING or text.count("{") + text.count("[") <= _DEEPEST_NESTING:
        return 0
    depth = deepest = 0
    for token in _BRACKETS.findall(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token, 0)
        deepest = max(deepest, depth)
    return deepest


class _LossyError(ValueError):
    """A Python literal that JSON cannot hold as it is."""


def _literal(text: str) -> Any:
    """Return what a Python dict or text literal spells, None if it is none or would lose something."""
    if text[:1] not in ("{", "'") or len(text) > _LONGEST_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a doubtful escape is no literal that can be trusted
            tree = ast.parse(text, mode="eval")
        return _plain(tree.body, text.encode("utf-8").splitlines(keepends=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return None


def _plain(node: ast.expr, lines: list[bytes]) -> Any:
    if isinstance(node, ast.Dict):
        keys = [_plain(key, lines) if key is not None else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys) or len(set(keys)) != len(keys):
            raise _LossyError("keys")
        return {key: _plain(value, lines) for key, value in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.List):
        return [_plain(item, lines) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _plain(node.operand, lines)
        if isinstance(number, bool) or not isinstance(number, int | Decimal):
            raise _LossyError("sign")
        return -number
    if isinstance(node, ast.Constant):
        if isinstance(node.value, float):  # as spelled: money never passes through a binary float
            spelled = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            return Decimal(spelled.decode("ascii"))
        if node.value is None or isinstance(node.value, bool | int | str):
            return node.value
    raise _LossyError(type(node).__name__)


def _checked(value: object) -> Any:
    """Return a value that came as an object, if it can be stored."""
    try:
        canonical_json(value)
    except (ValueError, TypeError, RecursionError) as error:
        words = str(error)
        reason = "NaN" if "is not a JSON number" in words else "cannot be stored"
        return Unreadable(_shown(value), reason)
    return dict(value) if isinstance(value, Mapping) else value


def _writable(value: Any, text: str) -> bool:
    if text.isascii() and "\\u" not in text and not _LONG_NUMBER.search(text):
        return True
    try:
        canonical_json(value)
    except ValueError:
        return False
    return True


def _storable(value: Any, text: str) -> Any:
    if _writable(value, text):
        return value
    return _storable(text, _kept(text)) if not isinstance(value, str) else Unreadable(_kept(text), "cannot be stored")


def _shown(value: object) -> str:
    """Return an object as text: JSON if only NaN keeps it from being one, else as Python prints it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_spelled)
        return _kept(text if _named(value) else repr(value))
    except (ValueError, TypeError, RecursionError):
        return _kept(repr(value))


def _named(value: object) -> bool:
    """Say whether every key is text; json.dumps would turn others into text without a word."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _named(item) for key, item in value.items())
    return all(map(_named, value)) if isinstance(value, list | tuple) else True


def _spelled(value: object) -> Any:
    if isinstance(value, Decimal):
        return float(value) if math.isfinite(value) and Decimal(float(value)) == value else str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _kept(text: str) -> str:
    """Return text that a file can hold; a lone surrogate is spelled out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
