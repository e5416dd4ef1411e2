"""Comparing one value of a trace with one value of the system of record, exactly.

Numbers are compared as the decimals they are written as: ``0.1`` is one tenth, not its binary neighbour, and a float
counts as its shortest spelling. A boolean is not a number, text is not a number, and NaN equals nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from numbers import Integral, Real
from typing import Any

__all__ = ["COMPARISONS", "EXACT", "NORMALISERS", "between", "bounds", "compare", "equal", "exact_number", "kind_of"]

NORMALISERS: Mapping[str, Callable[[str], str]] = {
    "casefold": str.casefold,
    "strip": str.strip,
    "strip_casefold": lambda text: text.strip().casefold(),
}
"""Named ways in which two texts may differ and still be equal. Without one, every character counts."""

COMPARISONS = ("<=", "<", ">=", ">", "==", "!=", "in", "not in")

_ZERO = Decimal(0)
EXACT = Context(prec=2_000, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Arithmetic that keeps 2,000 digits; comparisons of decimals are exact without it."""


def exact_number(value: Any) -> Decimal | None:
    """Return a number as the decimal it is written as, or None for anything that is not a number.

    Examples
    --------
    >>> exact_number(0.1), exact_number(True), exact_number("1")
    (Decimal('0.1'), None, None)
    """
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return Decimal(int(value))
    if isinstance(value, Real):
        return Decimal(repr(float(value)))
    return None


def kind_of(value: Any) -> str:
    """Return the JSON kind of a value: null, boolean, number, text, list, object, or ``Python …``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Decimal | Real):
        return "number"
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping) else f"Python {type(value).__name__}"


def between(value: Decimal, low: Decimal, high: Decimal) -> bool:
    """Whether a number lies in a closed interval; NaN lies in none."""
    return not value.is_nan() and not low.is_nan() and not high.is_nan() and low <= value <= high


def bounds(expected: Decimal, tolerance: Decimal) -> tuple[Decimal, Decimal]:
    """Return the closed interval of the numbers that count as equal to `expected`."""
    if not tolerance or not expected.is_finite():
        return expected, expected
    return EXACT.subtract(expected, tolerance), EXACT.add(expected, tolerance)


def equal(found: Any, expected: Any, *, tolerance: Decimal = _ZERO, normalise: str | None = None) -> bool:
    """Whether two JSON values are equal in kind and value.

    Parameters
    ----------
    found, expected : JSON value
        Lists are compared element by element, objects key by key.
    tolerance : Decimal
        Largest absolute difference of two numbers that still counts as equal, inclusive; exact to 2,000 digits.
    normalise : str, optional
        A name from ``NORMALISERS``, applied to text on both sides.

    Returns
    -------
    bool

    Examples
    --------
    >>> equal(1, 1.0), equal(1, "1"), equal(1, True), equal(float("nan"), float("nan"))
    (True, False, False, False)
    """
    kind = kind_of(found)
    if kind != kind_of(expected):
        return False
    if kind == "number":
        x, y = exact_number(found), exact_number(expected)
        return x is not None and y is not None and between(x, *bounds(y, tolerance))
    if kind == "text" and normalise is not None:
        return NORMALISERS[normalise](found) == NORMALISERS[normalise](expected)
    if kind == "list":
        return len(found) == len(expected) and all(
            equal(x, y, tolerance=tolerance, normalise=normalise) for x, y in zip(found, expected, strict=True)
        )
    if kind == "object":
        return found.keys() == expected.keys() and all(
            equal(found[key], expected[key], tolerance=tolerance, normalise=normalise) for key in found
        )
    return bool(found == expected)


def compare(found: Any, op: str, expected: Any) -> bool:
    """Whether ``found op expected`` holds.

    Order is defined between two numbers and between two texts (by code point, so ISO dates sort); between anything
    else it does not hold. ``!=`` and ``not in`` are the negations of ``==`` and ``in``.

    Examples
    --------
    >>> compare(99.5, "<=", 100), compare("99.5", "<=", 100), compare("GBP", "in", ("EUR", "GBP"))
    (True, False, True)
    """
    if op == "==":
        return equal(found, expected)
    if op == "!=":
        return not equal(found, expected)
    if op in ("in", "not in"):
        return any(equal(found, member) for member in expected) == (op == "in")
    if isinstance(found, str) and isinstance(expected, str):
        return _ordered(found, op, expected)
    x, y = exact_number(found), exact_number(expected)
    if x is None or y is None or math.isnan(x) or math.isnan(y):
        return False
    return _ordered(x, op, y)


def _ordered(x: Any, op: str, y: Any) -> bool:
    return bool({"<=": x <= y, "<": x < y, ">=": x >= y, ">": x > y}[op])
