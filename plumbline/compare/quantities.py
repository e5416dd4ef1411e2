"""Reading recorded values exactly: numbers, money, dates and instants, and when two recorded values are the same.

Nothing here passes through a binary float. A Python float is taken as the decimal number it is written as, because
that is what a trace stores.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from plumbline.base.errors import ParameterError

__all__ = [
    "Instant",
    "Money",
    "as_exact",
    "gap_between",
    "identity_key",
    "is_number",
    "json_type",
    "ratio_of",
    "read_date",
    "read_instant",
    "read_money",
    "same_value",
    "seconds_between",
    "times",
    "zone_named",
]

_EXACT = Context(prec=400, traps=[])  # digits enough that no difference of recorded numbers is rounded away
_MONEY = re.compile(r"(?:([A-Z]{3})\s?)?([+-]?\d+(?:\.\d+)?)(?:\s?([A-Z]{3}))?", re.ASCII)


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number. A boolean is not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def as_exact(value: int | float | Decimal) -> int | Decimal:
    """Return the number a value is written as: an integer, or a Decimal for a number with a point."""
    return Decimal(float.__repr__(value)) if isinstance(value, float) else value


def json_type(value: Any) -> str:
    """Return the JSON type of a value: null, boolean, integer, real, text, list or object.

    Raises
    ------
    ParameterError
        A value that JSON does not have.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "integer" if isinstance(value, int) else "real"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    if isinstance(value, Mapping):
        return "object"
    raise ParameterError(
        f"a {type(value).__name__} cannot be an argument; allowed are null, booleans, numbers, text, lists and objects."
    )


def identity_key(value: Any) -> Hashable:
    """Return a key that two values share exactly if they are the same recorded value.

    ``1``, ``1.0``, ``"1"`` and ``true`` have four keys; ``1.0`` and ``1.00`` have one, and so has NaN with itself: a
    run compared with itself is equal.
    """
    kind = json_type(value)
    if kind in ("integer", "real"):
        number = as_exact(value)
        return (kind, "NaN" if isinstance(number, Decimal) and number.is_nan() else number)
    if kind == "list":
        return (kind, tuple(identity_key(item) for item in value))
    if kind == "object":
        for key in value:
            if not isinstance(key, str):
                raise ParameterError(f"an argument's key must be text, not {type(key).__name__} {key!r}.")
        return (kind, frozenset((key, identity_key(item)) for key, item in value.items()))
    return (kind, value)


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are the same recorded value, JSON types included.

    Examples
    --------
    >>> same_value({"a": 1, "b": [2]}, {"b": [2], "a": 1}), same_value(1, 1.0), same_value(1, True)
    (True, False, False)
    """
    return identity_key(one) == identity_key(other)


@dataclass(frozen=True)
class Money:
    """An exact amount, and its currency if one is stated."""

    amount: Decimal
    currency: str | None


def read_money(value: Any, currency: str | None = None) -> Money | None:
    """Read an amount of money: a number, ``"EUR 4500.00"``, ``"4500.00 EUR"``, or an object of amount and currency.

    Parameters
    ----------
    value : object
        The recorded value.
    currency : str, optional
        The currency of an amount that states none.

    Returns
    -------
    Money or None
        None if the value cannot be read as money: a thousands separator or a symbol is never guessed at.
    """
    stated = currency
    if isinstance(value, Mapping):
        if not {"amount"} <= set(value) <= {"amount", "currency"}:
            return None
        code = value.get("currency")
        if code is not None and not isinstance(code, str):
            return None
        inner = read_money(value["amount"], code or currency)
        return inner if inner is None or code is None or inner.currency == code else None
    if isinstance(value, str):
        found = _MONEY.fullmatch(value.strip())
        if not found or (found[1] and found[3]):
            return None
        return Money(Decimal(found[2]), found[1] or found[3] or stated)
    if not is_number(value):
        return None
    amount = Decimal(as_exact(value))
    return Money(amount, stated) if amount.is_finite() else None


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of a name such as ``Europe/Vienna``.

    Raises
    ------
    ParameterError
        No zone has that name.
    """
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ParameterError(
            f"time zone {name!r} is unknown; give an IANA name such as 'Europe/Vienna' or 'UTC'."
        ) from None


@dataclass(frozen=True)
class Instant:
    """A point in time; ``zoned`` is False if only the wall clock is known."""

    when: datetime
    zoned: bool


def _plain_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def read_instant(value: Any, zone: str | None = None) -> Instant | None:
    """Read an ISO 8601 date and time.

    A time without an offset is taken in ``zone``; without a declared zone only its wall clock is known. A wall time
    that happens twice or never in the zone (clock changes) cannot be read.
    """
    if not isinstance(value, str) or _plain_date(value) is not None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    if found.tzinfo is None and zone is None:
        return Instant(found, False)
    if found.tzinfo is None and zone is not None:
        found = found.replace(tzinfo=zone_named(zone))
        if found.utcoffset() != found.replace(fold=1).utcoffset():
            return None
    try:
        return Instant(found.astimezone(UTC), True)
    except OverflowError:
        return None


def read_date(value: Any, zone: str | None = None) -> date | None:
    """Read an ISO 8601 calendar date; a date with a time is read only if ``zone`` says whose calendar is meant."""
    if not isinstance(value, str):
        return None
    plain = _plain_date(value)
    if plain is not None:
        return plain
    found = read_instant(value, zone)
    if found is None or not found.zoned or zone is None:
        return None
    return found.when.astimezone(zone_named(zone)).date()


def seconds_between(one: Instant, other: Instant) -> float:
    """Seconds between two instants of the same kind."""
    return abs((one.when - other.when) / timedelta(seconds=1))


def gap_between(one: int | Decimal, other: int | Decimal) -> Decimal:
    """The exact distance of two numbers (NaN or infinite if one of them is not finite)."""
    return _EXACT.abs(_EXACT.subtract(Decimal(one), Decimal(other)))


def ratio_of(candidate: int | Decimal, reference: int | Decimal) -> float | None:
    """Candidate over reference; None if the reference is zero or the ratio is not finite."""
    found = _EXACT.divide(Decimal(candidate), Decimal(reference)) if reference else Decimal("nan")
    ratio = float(found)
    return ratio if math.isfinite(ratio) else None


def times(factor: Decimal, size: Decimal) -> Decimal:
    """The product of two decimals, not rounded at the digits a default context keeps."""
    return _EXACT.multiply(factor, size)
