"""Arguments are read where that loses nothing; whatever cannot be read is kept as text and never becomes {}."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.exchange.arguments import read_arguments, read_result, read_text
from plumbline.exchange.drafts import NOT_RECORDED, Unreadable

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        TEXTS,
        st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.parametrize("nothing", ["", "  \n", None, "null", "{}", {}, '""', '"{}"', b"{}"])
def test_a_call_without_arguments_has_an_empty_object(nothing):
    assert read_arguments(nothing) == {}
    assert read_arguments(nothing) is not NOT_RECORDED


def test_what_is_not_recorded_stays_so():
    assert read_arguments(NOT_RECORDED) is NOT_RECORDED
    assert read_result(NOT_RECORDED) is NOT_RECORDED


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ('{"path":"a.txt"}{"path":"b.txt"}', "two values"),
        ('{"a":1}\n{"b":2}', "two values"),
        ('{"a":1} and so on', "text after the value"),
        ('{"a":1', "truncated"),
        ('{"a":"one', "truncated"),
        ('{"a":[1,2', "truncated"),
        ('{"a":tru', "truncated"),
        ('"{\\"a\\": 1', "truncated"),
        ('"{\\"a\\": 1"', "truncated"),
        ("[1, 2]", "not an object"),
        ("12", "not an object"),
        ("true", "not an object"),
        ([1], "not an object"),
        (7, "not an object"),
        ("place the order", "not JSON"),
        ("{a: 1}", "not JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": [1, -Infinity]}', "NaN"),
        ({"a": float("nan")}, "NaN"),
        ({"a": [Decimal("Infinity")]}, "NaN"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ("{'a': 1, 'a': 2}", "not JSON"),
        ("{'a': (1, 2)}", "not JSON"),
        ("{'a': {1, 2}}", "not JSON"),
        ("{'a': b'x'}", "not JSON"),
        ("{1: 2}", "not JSON"),
        ("{'a': __import__('os')}", "not JSON"),
        ("{'a': '\\d'}", "not JSON"),
        ({1: 2}, "cannot be stored"),
        ({"a": object}, "cannot be stored"),
        ('{"a": "\\ud800"}', "cannot be stored"),
        ('{"a": 1e999}', "cannot be stored"),
        ('{"a":' + "9" * 5000 + "}", "number too long"),
        ("[" * 5000, "nested too deeply"),
        ('{"a":' * 5000, "nested too deeply"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_kept_with_its_reason(found, reason):
    read = read_arguments(found)
    assert isinstance(read, Unreadable)
    assert read.reason == reason
    assert read.text
    assert "" != read.text != "{}"
    if isinstance(found, str) and found.isascii():
        assert read.text == found


def test_values_inside_an_object_are_never_decoded():
    once = '{"city": "Porto", "filter": "{\\"open\\": true}"}'
    for found in (once, json.dumps(once), json.dumps(json.dumps(once)), repr(once), str(parse_json(once))):
        assert read_arguments(found) == {"city": "Porto", "filter": '{"open": true}'}


def test_money_keeps_its_digits_from_every_spelling():
    for found in ('{"amount": 4500.10}', "{'amount': 4500.10}", json.dumps('{"amount": 4500.10}')):
        assert canonical_json(read_arguments(found)) == '{"amount":4500.10}'


def test_a_number_beyond_a_double_is_exact():
    assert read_arguments('{"order": 9007199254740993}') == {"order": 9007199254740993}


@given(OBJECTS, st.integers(0, 4))
def test_however_often_it_is_encoded_an_object_comes_back(value, layers):
    text = canonical_json(value)
    for _ in range(layers):
        text = json.dumps(text)
    assert canonical_json(read_arguments(text)) == canonical_json(value)
    assert canonical_json(read_arguments(value)) == canonical_json(value)


@given(st.dictionaries(TEXTS, st.one_of(st.none(), st.booleans(), st.integers(), TEXTS, st.lists(TEXTS)), max_size=4))
def test_a_printed_python_dict_comes_back(value):
    assert read_arguments(repr(value)) == value


@given(OBJECTS.filter(bool), st.data())
def test_no_part_of_an_object_is_taken_for_a_whole_one(value, data):
    text = canonical_json(value)
    read = read_arguments(text[: data.draw(st.integers(1, len(text) - 1))])
    assert isinstance(read, Unreadable)
    assert read.reason == "truncated"


@given(OBJECTS, OBJECTS)
def test_two_objects_are_never_one(first, second):
    glued = canonical_json(first) + canonical_json(second)
    read = read_arguments(glued)
    assert (read.reason, read.text) == ("two values", glued)


@given(st.text() | st.binary() | st.floats() | VALUES)
def test_nothing_stops_the_reader_and_nothing_is_lost(found):
    read = read_arguments(found)
    if isinstance(read, Unreadable):
        assert read.reason
        read.text.encode("utf-8")
    else:
        assert isinstance(read, dict)
        canonical_json(read)
        if read == {}:
            spelled = found.decode() if isinstance(found, bytes) else found
            assert spelled is None or spelled == {} or (isinstance(spelled, str) and len(spelled.strip()) <= 8)


@pytest.mark.parametrize(
    "text", ["12.50", "09:00", "null", "true", '"quoted"', "", '{"a": NaN}', '{"a":', "[1", "{'a': 1}"]
)
def test_a_result_that_is_text_stays_the_text_it_is(text):
    assert read_result(text) == text


def test_a_result_that_is_one_object_or_list_is_read():
    assert read_result('{"total": 10.50, "ok": true}') == {"total": Decimal("10.50"), "ok": True}
    assert read_result(" [1, 2] ") == [1, 2]
    assert read_result({"a": [None]}) == {"a": [None]}
    assert read_result(None) is None


@given(st.text() | VALUES)
def test_every_result_can_be_stored_or_is_kept_as_text(found):
    read = read_result(found)
    if isinstance(read, Unreadable):
        read.text.encode("utf-8")
    else:
        canonical_json(read)


@given(st.text())
def test_words_are_never_taken_for_json(text):
    read = read_text(text)
    assert read == text if not isinstance(read, Unreadable) else "\\ud" in read.text


def test_a_long_string_of_quotes_is_read_in_no_time():
    hostile = '{"a": "' + '\\"' * 200_000
    assert read_arguments("[" * 300 + hostile).reason == "nested too deeply"
    assert read_arguments(hostile).reason == "truncated"
