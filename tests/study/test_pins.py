"""A pin that does not hold says what was expected, what was found and how to walk back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import InputError, NotFoundError, ParameterError, PinError
from plumbline.study import Figures, Pin, check_pins, read_pins
from plumbline.study.pins import same

PINS = {"a": Pin("a", 1, "counted", "published"), "b": Pin("b", {"p": 0.5}, "summed", "computed here")}
WAY = "type this {id}"


def test_figures_that_equal_their_pins_hold():
    report = check_pins("s", PINS, {"a": 1, "b": {"p": 0.5 * (1 + 1e-12)}}, way_back=WAY)
    assert report.ok
    assert report.require() is report
    assert str(report) == "s: 2 of 2 pins hold"


def test_a_mismatch_raises_with_all_three():
    report = check_pins("s", PINS, {"a": 2, "b": {"p": 0.5}}, way_back=WAY)
    with pytest.raises(PinError, match=r"pin a: expected 1, found 2\. type this a"):
        report.require()


def test_a_figure_that_is_gone_and_one_without_a_pin_fail():
    report = check_pins("s", PINS, {"b": {"p": 0.5}, "c": 3}, way_back=WAY)
    assert not report.ok
    assert "found nothing" in str(report)
    assert "figure c has no pin" in str(report)


def test_no_pin_at_all_is_no_success():
    assert not check_pins("s", {}, {}, way_back=WAY).ok


@pytest.mark.parametrize(
    ("expected", "found", "decimals", "equal"),
    [
        (1, 1.0, None, True),
        (1, True, None, False),
        ("7/15", "7/15", None, True),
        ("7/15", 7 / 15, None, False),
        (None, None, None, True),
        (None, 0.0, None, False),
        (0.0, None, None, False),
        (float("nan"), float("nan"), None, False),
        (0.943376, 0.9433759402, 6, True),
        (0.943376, 0.9433749402, 6, False),
        (81.2, 81.25, 1, True),
        (0.5, 0.500001, None, False),
        ({"k": 1, "n": 2}, {"k": 1}, None, False),
        ([1, 2], [1, 2], None, True),
        ([1, 2], [2, 1], None, False),
        (1e-17, 2e-17, None, True),
        (64, 65, 6, False),
    ],
)
def test_what_counts_as_the_same(expected, found, decimals, equal):
    assert same(expected, found, decimals) is equal


@given(st.floats(1e-6, 1e6), st.floats(1.0001, 2))
def test_a_number_moved_by_more_than_rounding_is_noticed(value, factor):
    assert same(value, value)
    assert not same(value, value * factor)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("{", "not JSON"),
        ("[]", "no pin"),
        ('[{"id": "a"}]', "entry 0 needs"),
        (json.dumps([{"id": "a", "value": 1, "method": "m", "source": "s"}] * 2), "stands twice"),
    ],
)
def test_a_broken_file_of_pins_is_refused(tmp_path, content, match):
    (tmp_path / "pins.json").write_text(content)
    with pytest.raises(InputError, match=match):
        read_pins(tmp_path / "pins.json")
    with pytest.raises(InputError, match="missing"):
        read_pins(tmp_path / "none.json")


def test_figures_remember_their_trials():
    figures = Figures()
    figures.add("k", 1, trials=["a/t/b/0/0"])
    figures.add("p", 0.5)
    assert figures.behind("k") == ["a/t/b/0/0"]
    assert figures.behind("p") == []
    with pytest.raises(NotFoundError, match="no figure 'q'"):
        figures.behind("q")
    with pytest.raises(ParameterError, match="computed twice"):
        figures.add("k", 2)
