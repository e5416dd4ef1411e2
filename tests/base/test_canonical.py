"""Canonical JSON keeps every digit and every difference."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json, parse_json

names = st.text("ab\u00e9\U0001f600", max_size=3)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\u00e9\U0001f600", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_text_and_value_go_back_and_forth(value):
    text = canonical_json(value)
    assert canonical_json(parse_json(text)) == text
    json.loads(text)


@given(values)
def test_nothing_is_lost(value):
    back = parse_json(canonical_json(value))
    assert back == value
    assert _types(back) == _types(value)


def _types(value):
    if isinstance(value, dict):
        return {k: _types(v) for k, v in value.items()}
    return [_types(v) for v in value] if isinstance(value, list) else type(value)


def test_money_is_stored_as_it_is_spelled():
    assert canonical_json({"amount": Decimal("4500.00")}) == '{"amount":4500.00}'
    assert str(parse_json('{"amount":4500.10}')["amount"]) == "4500.10"


def test_one_and_one_point_zero_and_text_stay_three():
    assert len({canonical_json(v) for v in (1, Decimal(1), 1.5, "1", True)}) == 5


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), Decimal("NaN"), {1: 2}, "\ud800", Decimal("1e9999")])
def test_what_json_cannot_hold_is_refused(bad):
    with pytest.raises(ValueError, match=r"JSON|text|surrogate|digit"):
        canonical_json({"a": bad})


def test_an_unknown_type_is_named():
    with pytest.raises(TypeError, match="set"):
        canonical_json({"a": {1}})


@pytest.mark.parametrize("text", ["NaN", '{"a":Infinity}', "{'a':1}", '{"a":1', '{"a":1,"a":2}', ""])
def test_text_that_is_not_json_is_refused(text):
    with pytest.raises(ValueError):
        parse_json(text)
