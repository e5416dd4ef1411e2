"""Other spellings of the same amounts, dates and quantities, after exact conversion, and only where they can be misread
by nobody: ``4,500`` and ``03/07/2026`` are never written, because readers differ on what they say.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction

from plumbline.base.errors import ParameterError
from plumbline.rules.moments import MONTHS
from plumbline.rules.quantities import UNITS, parse_number
from plumbline.rules.readings import Reading, read
from plumbline.rules.task_view import Facts

__all__ = ["AMOUNT_STYLES", "DATE_STYLES", "UNIT_STYLES", "respell", "respellings"]

AMOUNT_STYLES = ("as_given", "plain", "grouped", "minor")
"""``plain`` 4500.00, ``grouped`` 4,500.00, ``minor`` 450000 EUR cents."""
DATE_STYLES = ("as_given", "iso", "day_month", "month_day")
"""``iso`` 2026-07-03, ``day_month`` 3 July 2026, ``month_day`` July 3, 2026."""
UNIT_STYLES = ("as_given", "smaller")
"""``smaller`` 90 minutes for 1.5 hours; only where the result is a whole number."""

_AMOUNT = re.compile(r"^(?P<head>\D*?)(?P<number>\d[\d.,]*\d|\d)(?P<tail>\D*)$", re.S)
_MINOR = {"EUR": "EUR cents", "USD": "US cents", "GBP": "pence"}
_SMALLER = {
    "week": ("days", 7), "hour": ("minutes", 60), "minute": ("seconds", 60), "kilometre": ("metres", 1000),
    "metre": ("centimetres", 100), "kilogram": ("grams", 1000), "litre": ("millilitres", 1000),
}  # fmt: skip
_SHORT = {
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "km": "kilometre",
    "kilometer": "kilometre", "kg": "kilogram", "l": "litre", "liter": "litre", "meter": "metre",
}  # fmt: skip


def respell(
    text: str,
    *,
    amounts: str = "as_given",
    dates: str = "as_given",
    units: str = "as_given",
    facts: Facts | None = None,
) -> str:
    """Return a text with its amounts, dates and quantities spelled in another way.

    Parameters
    ----------
    text : str
        Prose.
    amounts : {'as_given', 'plain', 'grouped', 'minor'}
        Spelling of amounts of money: numbers with a currency, with exactly two decimals, with commas between thousands,
        or listed in ``facts.amounts``.
    dates : {'as_given', 'iso', 'day_month', 'month_day'}
        Spelling of dates that name their year.
    units : {'as_given', 'smaller'}
        Unit of times, lengths, masses and volumes.
    facts : Facts, optional
        Which plain numbers are amounts.

    Returns
    -------
    str
        What has no such spelling stays as it is.

    Raises
    ------
    ParameterError
        An unknown style.

    Examples
    --------
    >>> respell("Pay EUR 4,500.00 on 2026-07-03.", amounts="minor", dates="day_month")
    'Pay 450000 EUR cents on 3 July 2026.'
    """
    for word, style, known in (
        ("amounts", amounts, AMOUNT_STYLES),
        ("dates", dates, DATE_STYLES),
        ("units", units, UNIT_STYLES),
    ):
        if style not in known:
            raise ParameterError(f"{word} must be one of {', '.join(known)}; found {style!r}")
    listed = frozenset((facts or Facts()).amounts)
    for reading in reversed(read(text).found):
        new = _respelled(reading, amounts, dates, units, listed)
        text = text[: reading.start] + new + text[reading.end :]
    return text


def _respelled(reading: Reading, amounts: str, dates: str, units: str, listed: frozenset[str]) -> str:
    if reading.kind == "date" and dates != "as_given" and re.fullmatch(r"\d{4}-\d{2}-\d{2}", reading.key):
        return _DATE[dates](date.fromisoformat(reading.key))
    parts = _AMOUNT.match(reading.text) if reading.kind == "quantity" else None
    value = parse_number(parts["number"]) if parts else None
    if parts is None or value is None:
        return reading.text
    around = (parts["head"], parts["number"], parts["tail"])
    if _is_money(reading, parts["number"], listed):
        return _money(reading, value, around, amounts)
    return _smaller(value, around, reading.text) if units == "smaller" else reading.text


def _is_money(reading: Reading, number: str, listed: frozenset[str]) -> bool:
    unit = reading.key.partition(" ")[2]
    bare = unit == "" and (re.fullmatch(r"[\d,]*\d\.\d{2}|\d{1,3}(,\d{3})+", number) is not None or number in listed)
    return bare or unit in (*_MINOR, "dollar", "JPY", "CHF", "INR", "CAD", "AUD", "SEK")


def _money(reading: Reading, value: Fraction, around: tuple[str, str, str], style: str) -> str:
    """A scaled number (1.2k) or one with fractions of a cent keeps its spelling."""
    head, number, tail = around
    unit = reading.key.partition(" ")[2]
    cents = value * 100
    if (
        cents.denominator != 1
        or re.match(r"\s?(?:k|m|bn|thousand|million|billion)\b", tail, re.I)
        or "cent" in tail.lower()
    ):
        return reading.text
    if style == "plain":
        decimals = re.search(r"[.,]\d{2}$", number) is not None
        return (
            head + (f"{cents.numerator // 100}.{cents.numerator % 100:02}" if decimals else str(value.numerator)) + tail
        )
    if style == "grouped" and value >= 1000:
        return head + f"{cents.numerator // 100:,}.{cents.numerator % 100:02}" + tail
    if style == "minor" and unit in _MINOR and "-" not in head:
        return f"{cents.numerator} {_MINOR[unit]}"
    return reading.text


def _smaller(value: Fraction, around: tuple[str, str, str], given: str) -> str:
    head, _, tail = around
    word = tail.strip(" -").lower()
    name = _SHORT.get(word, word.removesuffix("s"))
    if word not in UNITS or name not in _SMALLER or head.strip():
        return given
    smaller, factor = _SMALLER[name]
    new = value * factor
    return (
        f"{head}{new.numerator} {smaller}" if new.denominator == 1 and new != 1 and not tail.startswith("-") else given
    )


_DATE: dict[str, Callable[[date], str]] = {
    "iso": date.isoformat,
    "day_month": lambda day: f"{day.day} {MONTHS[day.month - 1]} {day.year:04}",
    "month_day": lambda day: f"{MONTHS[day.month - 1]} {day.day}, {day.year:04}",
}


def respellings(
    text: str,
    *,
    facts: Facts | None = None,
    amounts: Sequence[str] = AMOUNT_STYLES,
    dates: Sequence[str] = DATE_STYLES,
    units: Sequence[str] = UNIT_STYLES,
) -> tuple[str, ...]:
    """Return the different spellings of a text, itself left out, in the order of the styles.

    Examples
    --------
    >>> respellings("Due 2026-07-03.")
    ('Due 3 July 2026.', 'Due July 3, 2026.')
    """
    made = (
        respell(text, amounts=amount, dates=day, units=unit, facts=facts)
        for amount, day, unit in itertools.product(amounts, dates, units)
    )
    return tuple(new for new in dict.fromkeys(made) if new != text)
