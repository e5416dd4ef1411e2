"""The numbers of a band file with their units: a score from 0 to 1, a ratio such as ``1.5x``, a share."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

__all__ = ["Ratio", "Score", "read_ratio", "read_score", "show_ratio"]

_RATIO = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*x")
_RATIO_SCHEMA = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?|\.[0-9]+)\s*x$"}


def read_score(given: Any) -> float:
    """Read a number from 0 to 1.

    Examples
    --------
    >>> read_score(0.92)
    0.92
    """
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal):
        raise ValueError("write a number from 0 to 1 without a unit, such as 0.92")
    if not 0 <= given <= 1:
        raise ValueError("a score and a share lie from 0 to 1, such as 0.92")
    return float(given)


def read_ratio(given: Any) -> float:
    """Read a ratio of the candidate to the baseline, written with its unit ``x``.

    Examples
    --------
    >>> read_ratio("1.5x")
    1.5
    """
    if isinstance(given, str) and (found := _RATIO.fullmatch(given.strip())):
        value = float(found.group(1))
        if value > 0 and math.isfinite(value):
            return value
        raise ValueError("a ratio is above zero, such as 0.7x")
    if isinstance(given, int | float | Decimal) and not isinstance(given, bool):
        raise ValueError(f"the unit is missing: a ratio to the baseline is written {given}x")
    raise ValueError("write a ratio to the baseline with the unit x, such as 1.5x")


def show_ratio(value: float) -> str:
    """Write a ratio as a band file holds it.

    Examples
    --------
    >>> show_ratio(1.5)
    '1.5x'
    """
    return f"{value!r}x".replace(".0x", "x")


Score = Annotated[float, BeforeValidator(read_score), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Ratio = Annotated[
    float, BeforeValidator(read_ratio), PlainSerializer(show_ratio, return_type=str), WithJsonSchema(_RATIO_SCHEMA)
]
