"""Numbers with their units as people write them, read exactly into one spelling per quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

__all__ = ["UNITS", "find", "is_quantity", "parse_number", "spell"]


def _words_of(text: str) -> list[str]:
    return text.split()


_TABLE: tuple[tuple[str, str, Fraction | int], ...] = (
    ("ms millisecond milliseconds", "s", Fraction(1, 1000)),
    ("s sec secs second seconds", "s", 1),
    ("min mins minute minutes", "s", 60),
    ("h hr hrs hour hours", "s", 3600),
    ("day days", "day", 1),
    ("week weeks", "day", 7),
    ("fortnight fortnights", "day", 14),
    ("month months", "month", 1),
    ("quarter quarters", "month", 3),
    ("year years", "month", 12),
    ("mm millimetre millimetres millimeter millimeters", "m", Fraction(1, 1000)),
    ("cm centimetre centimetres centimeter centimeters", "m", Fraction(1, 100)),
    ("m metre metres meter meters", "m", 1),
    ("km kilometre kilometres kilometer kilometers", "m", 1000),
    ("inch inches", "m", Fraction(254, 10000)),
    ("ft foot feet", "m", Fraction(3048, 10000)),
    ("mile miles", "m", Fraction(1609344, 1000)),
    ("mg milligram milligrams", "g", Fraction(1, 1000)),
    ("g gram grams", "g", 1),
    ("kg kilogram kilograms", "g", 1000),
    ("t tonne tonnes", "g", 1000000),
    ("oz ounce ounces", "g", Fraction(45359237, 1600000)),
    ("lb lbs pound-weight", "g", Fraction(45359237, 100000)),
    ("ml millilitre millilitres milliliter milliliters", "l", Fraction(1, 1000)),
    ("l litre litres liter liters", "l", 1),
    ("% percent per-cent", "%", 1),
    ("percentage-point percentage-points", "percentage point", 1),
    ("kb kilobyte kilobytes", "kB", 1),
    ("mb megabyte megabytes", "MB", 1),
    ("gb gigabyte gigabytes", "GB", 1),
    ("tb terabyte terabytes", "TB", 1),
    ("°c", "°C", 1),
    ("°f", "°F", 1),
    ("€ eur euro euros", "EUR", 1),
    ("£ gbp sterling", "GBP", 1),
    ("us$ usd", "USD", 1),
    ("$ dollar dollars", "dollar", 1),
    ("¥ jpy yen", "JPY", 1),
    ("chf", "CHF", 1),
    ("inr ₹ rupee rupees", "INR", 1),
    ("cad", "CAD", 1),
    ("aud", "AUD", 1),
    ("sek", "SEK", 1),
    ("pence", "GBP", Fraction(1, 100)),
    ("eur-cents euro-cents eur-cent euro-cent", "EUR", Fraction(1, 100)),
    ("us-cents usd-cents us-cent usd-cent", "USD", Fraction(1, 100)),
    ("cents cent", "", Fraction(1, 100)),
)
UNITS: dict[str, tuple[str, Fraction]] = {
    name: (base, Fraction(factor)) for names, base, factor in _TABLE for name in _words_of(names)
}
"""Unit in lower case (blanks as hyphens) to its base unit and how many of that it is, exactly. Working days, and the
powers of a byte, convert to nothing; days are
not hours, because not every day has 24; a cent of no named currency is a hundredth of a plain number."""

_SMALL = _words_of(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _words_of("twenty thirty forty fifty sixty seventy eighty ninety")
_WORD_VALUE = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_OTHER = {"half": Fraction(1, 2), "dozen": Fraction(12), "twice": Fraction(2), "double": Fraction(2)}
_OTHER |= {"triple": Fraction(3), "thrice": Fraction(3)}
_ORDINAL = {
    word: n for n, word in enumerate(_words_of("first second third fourth fifth sixth seventh eighth ninth tenth"), 1)
}

_ADVERBS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "fortnightly": "fortnight", "monthly": "month",
    "quarterly": "quarter", "yearly": "year", "annually": "year",
}  # fmt: skip

_PLAIN = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:\.\d+)?"
_PREFIX = r"us\$|[€£$¥₹]|\b(?:eur|gbp|usd|jpy|chf|inr|cad|aud|sek)\b"
_UNIT = "|".join(re.escape(u).replace(r"\-", r"[\s-]") for u in sorted(UNITS, key=len, reverse=True))
_AFTER = rf"(?:{_UNIT})(?![\w%°€£$])"
_WORDS = "|".join([*_SMALL, *_TENS, *_SCALE, "dozen"])
_SPELLED = rf"\b(?:{_WORDS})(?:(?:[\s-]+|\s+and\s+)(?:{_WORDS}))*\b"
_DIGITS = re.compile(
    rf"(?<![\w.,])(?:(?P<before>{_PREFIX})\s?)?(?P<sign>[-−+])?(?P<number>{_PLAIN})"
    rf"(?:\s?(?P<scale>k|thousand|million|m(?=\b)|bn|billion)\b(?!\s?/))?(?:[\s-]?(?P<unit>{_AFTER}))?(?![\d])",
    re.I,
)
_IN_WORDS = re.compile(rf"(?P<number>{_SPELLED})(?:[\s-](?P<unit>{_AFTER}))?", re.I)
_ODD = re.compile(rf"\b(?P<number>{'|'.join(_OTHER)}|an?|one)\b(?:\s+(?:an?\s+)?(?P<unit>{_AFTER}))?", re.I)
_WORKING = re.compile(r"^[\s-](?:working|business)[\s-]days?\b", re.I)
_RATE = re.compile(rf"\b(?:(?:every|each|per)\s+(?P<unit>{_AFTER})|(?P<adverb>{'|'.join(_ADVERBS)})\b)", re.I)
_PLACE = re.compile(rf"\b(?:(\d+)(?:st|nd|rd|th)|({'|'.join(_ORDINAL)}))\b", re.I)

Found = tuple[str, str, str, int, int, bool]


def parse_number(text: str) -> Fraction | None:
    """Return the number that digits spell, None if they spell none.

    Examples
    --------
    >>> parse_number("4,500.00") == parse_number("4500") == parse_number("4.500,00")
    True
    """
    if not re.fullmatch(_PLAIN, text):
        return None
    continental = "," in text and "." in text and text.rindex(",") > text.rindex(".")
    return Fraction(text.replace(".", "").replace(",", ".") if continental else text.replace(",", ""))


def spell(value: Fraction, unit: str) -> str:
    """Return the key of a quantity: the number exactly, and its base unit."""
    number = str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    return f"{number} {unit}".rstrip()


def is_quantity(text: str) -> bool:
    """Whether a text as a whole is a number with or without a unit."""
    match = _DIGITS.fullmatch(text)
    return match is not None


def find(text: str) -> list[Found]:
    """Return the quantities and ordinals of a text as (kind, key, text, start, end, soft)."""
    found: list[Found] = []
    taken = [False] * len(text)

    def take(kind: str, key: str | None, start: int, end: int, soft: bool = False) -> None:
        if key is not None and not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            found.append((kind, key, text[start:end], start, end, soft))

    for m in _PLACE.finditer(text):
        place = int(m[1]) if m[1] else _ORDINAL[m[2].lower()]
        if not (
            m[2] and m[2].lower() == "second" and re.search(rf"(?:{_WORDS}|an?|per)[\s-]$", text[: m.start()], re.I)
        ):
            take("ordinal", str(place), *m.span())
    for m in _RATE.finditer(text):
        unit = m["unit"] or _ADVERBS[m["adverb"].lower()]
        take("quantity", f"each {_key(Fraction(1), unit)}", *m.span())
    for m in _DIGITS.finditer(text):
        take("quantity", *_digits(m, text))
    for m in _IN_WORDS.finditer(text):
        take("quantity", *_in_words(m, text))
    for m in _ODD.finditer(text):
        value = _OTHER.get(m["number"].lower(), Fraction(1))
        if value != 1 or m["unit"]:
            take("quantity", _key(value, m["unit"]), *m.span(), soft=value == 1)
    return found


def _digits(m: re.Match[str], text: str) -> tuple[str | None, int, int]:
    value = parse_number(m["number"])
    if value is None:
        return None, *m.span()
    scale = (m["scale"] or "").lower()
    unit, end = m["before"] or m["unit"], m.end()
    if scale == "m" and not m["before"]:
        unit = "m"
    elif scale:
        value *= {"k": 1000, "m": 10**6, "bn": 10**9}.get(scale) or _SCALE[scale]
    value = -value if m["sign"] in ("-", "−") else value
    if not unit and (working := _WORKING.match(text[end:])):
        return spell(value, "working day"), m.start(), end + working.end()
    return _key(value, unit), m.start(), end


def _in_words(m: re.Match[str], text: str) -> tuple[str | None, int, int, bool]:
    total, part, spoken = 0, 0, [w for w in re.split(r"[\s-]+", m["number"].lower()) if w != "and"]
    for word in spoken:
        if word in _WORD_VALUE:
            part += _WORD_VALUE[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word == "dozen":
            part = max(part, 1) * 12
        else:
            total, part = total + max(part, 1) * _SCALE[word], 0
    value, soft = Fraction(total + part), spoken == ["one"]
    if not m["unit"] and (working := _WORKING.match(text[m.end() :])):
        return spell(value, "working day"), m.start(), m.end() + working.end(), soft
    return _key(value, m["unit"]), *m.span(), soft


def _key(value: Fraction, unit: str | None) -> str | None:
    if not unit:
        return spell(value, "")
    base, factor = UNITS[re.sub(r"\s+", "-", unit.lower())]
    return spell(value * factor, base)


def amounts_in(text: str) -> Iterator[tuple[Fraction, re.Match[str]]]:
    """Yield the numbers in digits that stand in a text, each with its match."""
    for m in _DIGITS.finditer(text):
        if (value := parse_number(m["number"])) is not None:
            yield value, m
