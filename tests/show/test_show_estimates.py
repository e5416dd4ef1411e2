"""How a figure is written, and which figures are refused."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.show import format_estimate
from plumbline.show.estimates import estimate_rows, format_share, in_order


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"value": 52 / 64, "low": 0.700256, "high": 0.889354, "n": 64}, "81.2 % [70.0, 88.9]  n=64"),
        ({"value": 1.0, "low": 0.943376, "high": 1.0, "n": 64, "k": 64}, "100.0 % [94.3, 100.0]  n=64"),
        ({"value": 0.0, "low": 0.0, "high": 0.056, "n": 64, "k": 0}, "0.0 % [0.0, 5.6]  n=64"),
        ({"value": 0.5}, "50.0 %"),
        ({"value": 0.5, "n": 1200}, "50.0 %  n=1,200"),
        ({"value": None, "n": 0, "k": 0}, "cannot tell (0 of 0)"),
        ({"value": None, "n": 0}, "cannot tell (0 of 0)"),
        ({"value": None, "n": 7}, "cannot tell (? of 7)"),
        ({"value": None}, "cannot tell"),
        ({"value": 0.1875, "low": 0.1, "high": 0.3, "unit": "points"}, "+18.8 points [+10.0, +30.0]"),
        ({"value": -0.01786, "unit": "points"}, "−1.8 points"),
        ({"value": 0.0, "unit": "points"}, "0.0 points"),
    ],
)
def test_written_with_interval_and_n(given, written):
    assert format_estimate(**given) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [(1.0, "100.0"), (0.9996, ">99.9"), (0.99949, "99.9"), (0.0004, "<0.1"), (0.0, "0.0"), (0.0006, "0.1")],
)
def test_almost_all_is_never_written_as_all(share, written):
    assert format_share(share) == written


def test_a_difference_that_is_not_zero_is_never_written_as_zero():
    assert format_share(0.0001, unit="points") == "<0.1"
    assert format_share(-0.0001, unit="points") == ">−0.1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"value": math.nan}, "value is nan"),
        ({"value": 1.2}, "a share lies from 0 to 1"),
        ({"value": -0.1}, "a share lies from 0 to 1"),
        ({"value": -1.1, "unit": "points"}, "a share lies from -1 to 1"),
        ({"value": 0.5, "low": 0.4}, "half an interval"),
        ({"value": None, "low": 0.1, "high": 0.2}, "without a value"),
        ({"value": 0.5, "low": 0.6, "high": 0.7}, "outside its interval"),
        ({"value": 0.5, "n": -1}, "0 or more"),
        ({"value": 0.5, "n": 2, "k": 3}, "more successes than trials"),
        ({"value": 0.0, "n": 0}, "0 of 0 is None"),
        ({"value": 0.9, "n": 10, "k": 5}, "is not 5 of 10"),
        ({"value": 0.5, "unit": "percents"}, "allowed are"),
    ],
)
def test_impossible_figures_are_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        format_estimate(**given)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"group": ["a"]}, "lacking: \\['value'\\]"),
        ({"group": ["a"], "value": [0.5], "lower": [0.1]}, "not known: \\['lower'\\]"),
        ({"group": [], "value": []}, "no row"),
        ({"group": ["a", "a"], "value": [0.5, 0.5]}, "stands twice"),
        ({"group": [None], "value": [0.5]}, "group is empty"),
        ({"group": ["a"], "value": [None], "n": [64]}, "no note says why"),
        ({"group": ["a"], "value": [None]}, "no note says why"),
        ({"group": ["a"], "value": [True]}, "a number is needed"),
        ({"group": ["a"], "value": ["0.5"]}, "a number is needed"),
        ({"group": ["a"], "value": [0.5], "n": [1.5]}, "whole number"),
    ],
)
def test_frames_that_cannot_be_shown_are_refused(columns, said):
    with pytest.raises(ParameterError, match=said):
        estimate_rows(pd.DataFrame(columns))


def test_a_missing_value_stays_missing_whatever_pandas_made_of_it():
    frame = pd.DataFrame(
        {
            "group": ["a", "b"],
            "value": [0.5, None],
            "n": pd.array([4, pd.NA], dtype="Int64"),
            "k": [2.0, None],
            "note": ["", "not run"],
        }
    )
    one, other = estimate_rows(frame)
    assert (one.value, one.n, one.k) == (0.5, 4, 2)
    assert (other.value, other.n, other.k, other.note) == (None, None, None, "not run")
    assert other.text() == "cannot tell"


def test_an_order_names_every_label_once():
    assert in_order(["b", "a", "b"], None, "groups") == ["b", "a"]
    assert in_order(["b", "a"], ["a", "b"], "groups") == ["a", "b"]
    for order in (["a"], ["a", "b", "c"], ["a", "b", "b"]):
        with pytest.raises(ParameterError, match="order of groups"):
            in_order(["b", "a"], order, "groups")
