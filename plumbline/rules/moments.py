"""Dates and times of day as people write them, read into one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

__all__ = ["MONTHS", "find", "numeric_dates", "read_day"]

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NUMBER = {name.lower(): n for n, name in enumerate(MONTHS, 1)} | {
    name[:3].lower(): n for n, name in enumerate(MONTHS, 1)
} | {"sept": 9}  # fmt: skip
_MONTH = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = (
    re.compile(rf"\b(?:the\s+)?{_DAY}\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?(?:,?\s+{_YEAR}\b)?", re.I),
    re.compile(rf"\b(?P<month>{_MONTH})\b\.?\s+(?:the\s+)?{_DAY}\b(?:,?\s+{_YEAR}\b)?", re.I),
)
_MONTH_ONLY = re.compile(
    r"\b(?P<month>January|February|April|June|July|August|September|October|November|December"
    rf"|(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=\bfor )|(?<=\bsince )|(?<=\buntil )|(?<=\bfrom ))(?:March|May))\b"
    rf"(?:\s+{_YEAR}\b)?"
)
_ISO = re.compile(r"(?<![\w-])(\d{4})-(\d{2})-(\d{2})(?![\w-]*\d)")
_SLASHED = re.compile(r"(?<![\w/.])(\d{1,4})([/.])(\d{1,2})\2(\d{1,4})(?![\w/]|\.\d)")
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})(s?)\b", re.I)
_RELATIVE = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|weekends?"
    r"|(?:this|next|last|previous|coming|past|current)\s+(?:week|month|quarter|year|weekend|morning|afternoon|evening))\b",
    re.I,
)
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\b\.?)?", re.I)
_HOUR = re.compile(r"\b(\d{1,2})\s*([ap])\.?\s?m\b\.?(?!\w)", re.I)
_NAMED_HOUR = re.compile(r"\b(noon|midday|midnight)\b", re.I)

Found = tuple[str, str, str, int, int]


def read_day(year: int | None, month: int, day: int) -> str | None:
    """Return a day in one spelling, ``2026-07-03`` or ``--07-03``; None if there is no such day."""
    try:
        made = date(year if year is not None else 2000, month, day)
    except ValueError:
        return None
    return made.isoformat() if year is not None else f"--{month:02}-{day:02}"


def numeric_dates(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield dates in digits: ISO dates as days; ``03/07/2026``, which is two days to two readers, as it is spelled."""
    for match in _ISO.finditer(text):
        key = read_day(*map(int, match.groups()))
        yield key or f"as spelled {match[0]}", match[0], *match.span()
    for match in _SLASHED.finditer(text):
        first, second, third = int(match[1]), int(match[3]), int(match[4])
        days = {key for key in _readings(match[1], match[4], first, second, third) if key is not None}
        if days:
            yield days.pop() if len(days) == 1 else f"as spelled {match[0]}", match[0], *match.span()


def _readings(left: str, right: str, first: int, second: int, third: int) -> Iterator[str | None]:
    if len(left) == 4:
        yield read_day(first, second, third)
    elif len(right) == 4:
        yield read_day(third, second, first)
        yield read_day(third, first, second)


def find(text: str) -> list[Found]:
    """Return the dates in words, weekdays, words like tomorrow, and times of day that stand in a text."""
    found: list[Found] = []
    taken = [False] * len(text)

    def take(kind: str, key: str | None, start: int, end: int) -> None:
        if key is not None and not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            found.append((kind, key, text[start:end], start, end))

    for form in _FORMS:
        for m in form.finditer(text):
            year = int(m["year"]) if m["year"] else None
            take("date", read_day(year, _MONTH_NUMBER[m["month"].lower()], int(m["day"])), *m.span())
    for m in _MONTH_ONLY.finditer(text):
        take("date", f"{m['year'] or '-'}-{_MONTH_NUMBER[m['month'].lower()]:02}", *m.span())
    for m in _RELATIVE.finditer(text):
        take("date", " ".join(m[0].lower().split()), *m.span())
    for m in _WEEKDAY.finditer(text):
        take("date", m[1].lower(), *m.span())
    for m in _CLOCK.finditer(text):
        take("time", _clock(int(m[1]), int(m[2]), int(m[3] or 0), m[4]), *m.span())
    for m in _HOUR.finditer(text):
        take("time", _clock(int(m[1]), 0, 0, m[2]), *m.span())
    for m in _NAMED_HOUR.finditer(text):
        take("time", "00:00:00" if m[1].lower() == "midnight" else "12:00:00", *m.span())
    return found


def _clock(hour: int, minute: int, second: int, half: str | None) -> str | None:
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return f"{hour:02}:{minute:02}:{second:02}" if hour < 24 and minute < 60 and second < 60 else None
