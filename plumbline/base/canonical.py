"""Canonical JSON text: the one spelling in which arguments, results and outcomes are stored and compared.

Keys sorted, no spaces, no NaN, text not escaped to ASCII. A ``Decimal`` is written as the number it spells, so money
never passes through a binary float: ``Decimal("4500.00")`` is stored as ``4500.00`` and read back equal and as spelled.
A Decimal always keeps a point, so a number with a fraction part never turns into an integer on the way.
``1``, ``1.0`` and ``"1"`` stay three different texts; whether they count as equal is for a rule to say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

__all__ = ["canonical_json", "parse_json"]

_LONGEST = 400
_TEXTS = frozenset((str,))
_quoted = json.encoder.encode_basestring
"""As the encoder below writes text: quoted, escaped only where JSON must be."""
_plain = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a value.

    Parameters
    ----------
    value : object
        Mappings with text keys, lists, tuples, text, booleans, None, integers, finite floats and finite Decimals.

    Returns
    -------
    str
        The text; equal values of equal type give equal text in every process.

    Raises
    ------
    ValueError
        NaN or infinity, a key that is not text, or a lone surrogate that no file could hold.
    TypeError
        A type that JSON cannot hold.

    Examples
    --------
    >>> from decimal import Decimal
    >>> canonical_json({"b": 1, "a": Decimal("4500.00")})
    '{"a":4500.00,"b":1}'
    """
    text = _encode(value)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"text holds a lone surrogate at character {error.start}, which no file can store") from None
    return text


def _encode(value: Any) -> str:
    kind = value.__class__  # the usual kinds first: asking an abstract class is slow
    if kind is str:
        return _quoted(value)
    if kind is int:
        return int.__repr__(value)
    if kind is dict and _TEXTS.issuperset(map(type, value)):
        return "{" + ",".join([f"{_quoted(key)}:{_encode(value[key])}" for key in sorted(value)]) + "}"
    if kind is list:
        return "[" + ",".join(map(_encode, value)) + "]"
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a JSON number")
        if abs(value.adjusted()) > _LONGEST:
            raise ValueError(f"{value} is too large or too small to store digit by digit")
        text = format(value, "f")
        return text if "." in text else text + ".0"
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"a JSON key must be text, not {type(key).__name__} {key!r}")
        return "{" + ",".join(f"{_plain.encode(key)}:{_encode(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_encode, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    if isinstance(value, int | float | str):
        return _plain.encode(value)
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


def parse_json(text: str) -> Any:
    """Parse JSON text without losing a digit: numbers with a point or exponent become ``Decimal``.

    Raises
    ------
    ValueError
        The text is not JSON, holds NaN or Infinity, or names a key twice in one object.

    Examples
    --------
    >>> parse_json('{"amount":4500.10}')
    {'amount': Decimal('4500.10')}
    """
    try:  # most text is one value without a space around it
        value, end = _scan(text, 0)
    except StopIteration:
        return _exact.decode(text)
    return value if end == len(text) else _exact.decode(text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found


_exact = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_unique)
_scan: Callable[[str, int], tuple[Any, int]] = _exact.scan_once  # type: ignore[attr-defined]
