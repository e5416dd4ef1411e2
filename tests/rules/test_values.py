"""Values are compared exactly, in kind and in value."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.rules.values import compare, equal, exact_number, kind_of
from tests.rules.oracle import same
from tests.strategies import CLOSE_VALUES

NAN = float("nan")


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        (1, 1.0, True),
        (1, Decimal("1.00"), True),
        (1, "1", False),
        (1.0, "1.0", False),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (0.1, Decimal("0.1"), True),
        (0.1 + 0.2, 0.3, False),
        (0.0, -0.0, True),
        (2**53, 2**53 + 1, False),
        (100000000000000000, 100000000000000001, False),
        (NAN, NAN, False),
        (Decimal("NaN"), Decimal("NaN"), False),
        (float("inf"), float("inf"), True),
        ("INV-1", "inv-1", False),
        ("INV-1", "INV-1 ", False),
        ([1, "a"], [1.0, "a"], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1}, {"a": Decimal("1.0")}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([], {}, False),
    ],
)
def test_equality(found, expected, same):
    assert equal(found, expected) is same
    assert equal(expected, found) is same
    assert compare(found, "==", expected) is same
    assert compare(found, "!=", expected) is (not same)


def test_tolerance_is_inclusive_and_exact():
    cent = Decimal("0.01")
    assert equal(Decimal("4500.01"), 4500, tolerance=cent)
    assert not equal(Decimal("4500.0100000000000000000000000000000001"), 4500, tolerance=cent)
    assert equal(1.01, 1.0, tolerance=cent)  # in binary the difference is more than a cent
    assert equal(10**40 + 1, 10**40, tolerance=Decimal(1))
    assert not equal(10**40 + 2, 10**40, tolerance=Decimal(1))
    assert not equal(NAN, 1, tolerance=Decimal(10))
    assert not equal(float("inf"), 1, tolerance=Decimal(10))
    assert not equal(True, 1, tolerance=Decimal(10))
    assert equal([1.005], [1], tolerance=cent)


@pytest.mark.parametrize(
    ("name", "found", "same"),
    [
        (None, "acme", False),
        ("casefold", "acme", True),
        ("casefold", " Acme", False),
        ("strip", " Acme ", True),
        ("strip", "acme", False),
        ("strip_casefold", "\tACME ", True),
        ("strip_casefold", "Acme Ltd", False),
    ],
)
def test_normalisers_change_text_only_as_named(name, found, same):
    assert equal(found, "Acme", normalise=name) is same


@pytest.mark.parametrize(
    ("found", "op", "expected", "holds"),
    [
        (1, "<=", 1.0, True),
        (1, "<", 1.0, False),
        (Decimal("0.1"), ">=", 0.1, True),
        (2**53 + 1, ">", 2**53, True),
        ("2026-07-01", "<", "2026-07-15", True),
        ("b", "<", "B", False),
        ("1", "<", 2, False),
        (True, "<=", 2, False),
        (None, "<=", 2, False),
        ([1], "<", [2], False),
        (NAN, "<=", 1, False),
        (1, ">=", NAN, False),
        (float("inf"), ">", 10**400, True),
        ("EUR", "in", ("EUR", "GBP"), True),
        ("eur", "in", ("EUR",), False),
        (1, "in", (True, "1"), False),
        (1, "not in", (True, "1"), True),
        (None, "in", (None,), True),
    ],
)
def test_comparison(found, op, expected, holds):
    assert compare(found, op, expected) is holds


@given(st.sampled_from(CLOSE_VALUES), st.sampled_from(CLOSE_VALUES))
def test_equality_agrees_with_fractions(a, b):
    assert equal(a, b) == same(a, b) == equal(b, a)


def test_kinds_and_numbers():
    assert [kind_of(v) for v in (None, True, 1, 1.5, Decimal(1), "x", (1,), {})] == [
        "null", "boolean", "number", "number", "number", "text", "list", "object",
    ]  # fmt: skip
    assert kind_of({1}) == "Python set"
    assert exact_number(0.1) == Decimal("0.1")
    assert exact_number(True) is None
    assert exact_number("1") is None
