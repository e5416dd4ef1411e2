"""Facts are read exactly, and two spellings of one fact are one fact."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.rules.lexicon import actions_in, classes_in
from plumbline.rules.moments import MONTHS
from plumbline.rules.quantities import UNITS, parse_number
from plumbline.rules.readings import masked, read


def keys(text, *kinds):
    return [(r.kind, r.key) for r in read(text).found if not kinds or r.kind in kinds]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("4,500.00", "4500"), ("4.500,00", "4500"), ("EUR 45.00", "4500 EUR cents"), ("€45", "45 euros"),
        ("GBP 12.50", "1250 pence"), ("US$ 3", "3 USD"), ("$1.2k", "1,200 dollars"), ("1.2 million", "1200000"),
        ("90 minutes", "1.5 hours"), ("two weeks", "14 days"), ("1.5 km", "1500 m"), ("250 g", "0.25 kg"),
        ("thirty-five", "35"), ("two dozen", "24"), ("four thousand five hundred", "4500"),
        ("half an hour", "30 minutes"),
        ("5 working days", "five business days"), ("5%", "five percent"), ("every month", "monthly"),
        ("per day", "daily"),
        ("3 July 2026", "2026-07-03"), ("July 3rd, 2026", "the 3rd of July 2026"), ("3 Jul", "July 3"),
        ("14:30", "2:30 pm"), ("noon", "12:00"), ("12 am", "midnight"), ("13/07/2026", "2026-07-13"), ("3rd", "third"),
    ],
)  # fmt: skip
def test_two_spellings_are_one_fact(first, second):
    assert keys(f"It is {first} then") == keys(f"It is {second} then")
    assert keys(f"It is {first} then")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("4,500", "4.5"), ("4500 EUR", "4500 USD"), ("$5", "5 USD"), ("24 hours", "1 day"),
        ("5 days", "5 working days"),
        ("30 days", "1 month"), ("5 GB", "5000 MB"), ("03/07/2026", "3 July 2026"), ("03/07/2026", "07/03/2026"),
        ("3 July", "3 July 2026"), ("2:30", "2:30 pm"), ("5%", "5 percentage points"), ("INV-7002", "inv-7002"),
        ("INV-7002", "INV-7020"), ("every week", "every month"), ("4471-09", "4471-90"),
        ("30 February 2026", "30 March 2026"),
    ],
)  # fmt: skip
def test_what_differs_is_read_as_different(first, second):
    assert keys(f"It is {first} then") != keys(f"It is {second} then")


def test_identifiers_of_many_kinds_are_read_whole():
    text = (
        "See INV-7002, svc_backup on db-01.internal, ops@acme.org, /etc/hosts, #4411, https://a.example/x?y=1, 9f31c2a."
    )
    assert [key for _, key in keys(text, "identifier")] == [
        "INV-7002", "svc_backup", "db-01.internal", "ops@acme.org", "/etc/hosts", "#4411", "https://a.example/x?y=1",
        "9f31c2a",
    ]  # fmt: skip


def test_prose_is_not_taken_for_facts():
    found = read("Please re-read the e-mail and/or the well-known follow-up; it's one of ours, you may march on.").found
    assert [r.text for r in found if not r.soft] == []
    assert [r.text for r in found] == ["one"], "as often a pronoun as a number, so it may be absent elsewhere"


def test_names_are_capitals_inside_a_sentence():
    text = "Ask Dana Reyes. Delmar's order is with HR; see \"Plan B\" (Later). I'm Ana."
    assert [key for _, key in keys(text, "name")] == ["Dana", "Reyes", "HR", "Ana"]
    assert keys(text, "quote") == [("quote", "Plan B")]


@settings(deadline=None, max_examples=30)
@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_in_each_of_its_spellings(day):
    month = MONTHS[day.month - 1]
    spelled = (
        day.isoformat(),
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month[:3]} {day.year}",
    )
    for text in spelled:
        assert keys(f"Due on {text}, as agreed", "date", "quantity", "identifier") == [("date", day.isoformat())]
        later = (day + timedelta(days=1)).isoformat()
        assert keys(f"Due on {text}", "date") != [("date", later)]


@settings(deadline=None, max_examples=30)
@given(st.decimals(min_value=0, max_value=10**12, places=2))
def test_every_amount_is_read_exactly_in_each_of_its_spellings(amount):
    exact = Fraction(amount)
    swapped = f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))
    spelled = [f"{amount:.2f}", f"{amount:,.2f}", *([swapped] if amount >= 1000 else [])]
    for text in spelled:
        assert parse_number(text) == exact
        assert keys(f"Pay {text} EUR now", "quantity")[0][1] == keys(f"Pay {amount:.2f} EUR now", "quantity")[0][1]


UNITS_IN_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999_999))
def test_numbers_in_words_are_read(number):
    def below_hundred(n):
        return UNITS_IN_WORDS[n] if n < 20 else TENS[n // 10 - 2] + (f"-{UNITS_IN_WORDS[n % 10]}" if n % 10 else "")

    def below_thousand(n):
        rest = below_hundred(n % 100) if n % 100 or n < 100 else ""
        return " and ".join(part for part in (f"{UNITS_IN_WORDS[n // 100]} hundred" if n >= 100 else "", rest) if part)

    words = f"{below_thousand(number // 1000)} thousand " if number >= 1000 else ""
    words += below_thousand(number % 1000) if number % 1000 or number < 1000 else ""
    read_ = [r for r in read(f"There are {words.strip()} of them").found if r.kind == "quantity"]
    assert [r.key for r in read_] == [str(number)]


def test_units_convert_exactly():
    assert UNITS["mile"][1] * 1000 == 1609344
    assert all(isinstance(factor, Fraction) and factor > 0 for _, factor in UNITS.values())
    assert keys("7 lb") == [("quantity", f"{Fraction(Decimal('453.59237')) * 7} g")]


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=80))
def test_any_text_can_be_read_and_readings_do_not_overlap(text):
    found = read(text).found
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= r.start < r.end <= len(text) for r in found)
    classes_in(masked(read(text)))
    actions_in(masked(read(text)))
