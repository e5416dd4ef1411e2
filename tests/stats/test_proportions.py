"""One proportion: the ends, symmetry, monotony, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from plumbline.base.errors import ParameterError
from plumbline.stats import clopper_pearson, proportion, proportion_bounds, wilson
from plumbline.stats.proportions import METHODS, SIDES, lower_bounds
from tests.stats.reference_loop import SHARED

FIT_FOR_ENDS = ["wilson", "wilson_cc", "clopper_pearson", "agresti_coull"]
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("c", "n", "low", "high"),
    [(0, 50, 0.0, 0.07134759913335872), (50, 50, 0.9286524008666413, 1.0), (2, 2, 2 / (2 + 1.959963984540054**2), 1.0)],
)
def test_wilson_at_the_ends(c, n, low, high):
    found = wilson(c, n)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    assert found.high > found.low
    assert (found.low == 0.0) == (c == 0)
    assert (found.high == 1.0) == (c == n)


def test_no_runs_have_no_estimate_and_no_interval():
    for method in METHODS:
        found = proportion(0, 0, method=method)
        assert not found.known
        assert (found.value, found.low, found.high, found.scope) == (None, None, None, "none")
        assert "cannot tell" in str(found)
    low, high = proportion_bounds([0, 3], [0, 4])
    assert np.isnan([low[0], high[0]]).all()
    assert not np.isnan([low[1], high[1]]).any()


def test_case_c15():
    file = SHARED / "cases" / "C15-wilson-at-the-ends.json"
    if not file.exists():
        pytest.skip("the shared cases are not beside this checkout")
    case = json.loads(file.read_text(encoding="utf-8"))
    for c, n in case["input"]["counts"]:
        found, expected = wilson(c, n, confidence=case["input"]["confidence"]), case["expected"][f"{c}/{n}"]
        if expected == "undefined":
            assert not found.known
            assert found.n == 0
        else:
            assert (found.low, found.high) == pytest.approx(expected, abs=case["expected"]["tolerance"])
            assert 0 <= found.low < found.high <= 1


@settings(max_examples=60, deadline=None)
@given(counts, st.sampled_from(sorted(METHODS)), st.sampled_from(SIDES), st.floats(0.5, 0.999))
def test_bounds_stay_in_range_mirror_and_rise_with_successes(pair, method, sidedness, confidence):
    n = pair[1]
    every = np.arange(n + 1)
    low, high = proportion_bounds(every, np.full(n + 1, n), method=method, confidence=confidence, sidedness=sidedness)
    assert ((low >= 0) & (high <= 1) & (low <= high)).all()
    assert (np.diff(low) >= -1e-12).all()
    assert (np.diff(high) >= -1e-12).all()
    if sidedness == "two-sided":
        assert low == pytest.approx(1 - high[::-1], abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(counts, st.sampled_from(["wilson", "clopper_pearson"]))
def test_interval_holds_its_estimate_and_one_sided_is_tighter(pair, method):
    c, n = pair
    two = proportion(c, n, method=method)
    one = proportion(c, n, method=method, sidedness="lower")
    assert two.low <= two.value <= two.high
    assert one.high is None
    assert one.low >= two.low
    assert proportion(c, n, method=method, confidence=0.99).low <= two.low


@settings(max_examples=40, deadline=None)
@given(counts, st.floats(0.5, 0.999))
def test_both_wilson_ends_at_once_are_the_two_ends(pair, confidence):
    c, n = pair
    low, high = proportion_bounds([c], [n], confidence=confidence)
    tail = (1 - confidence) / 2
    assert low[0] == lower_bounds(c, n, tail=tail, method="wilson")
    assert high[0] == 1 - lower_bounds(n - c, n, tail=tail, method="wilson")


@settings(max_examples=30, deadline=None)
@given(counts)
def test_equal_to_scipy(pair):
    c, n = pair
    for name, method in (("wilson", "wilson"), ("exact", "clopper_pearson"), ("wilsoncc", "wilson_cc")):
        theirs = binomtest(c, n).proportion_ci(method=name)
        ours = proportion(c, n, method=method)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", FIT_FOR_ENDS)
def test_ends_are_exact(method):
    assert proportion(0, 17, method=method).low == 0.0
    assert proportion(17, 17, method=method).high == 1.0


def test_clean_runs_have_a_closed_form():
    assert clopper_pearson(64, 64).low == pytest.approx(0.05 ** (1 / 64), rel=1e-14)
    z = 1.959963984540054
    assert wilson(64, 64).low == pytest.approx(64 / (64 + z * z), rel=1e-14)


def test_what_is_unfit_for_a_gate_says_so():
    assert "not for a gate" in proportion(60, 64, method="jeffreys").caution[0]
    assert "not for a gate" in wilson(60, 64, sidedness="lower").caution[0]
    assert clopper_pearson(60, 64).caution == ()
    assert wilson(60, 64).caution == ()


@pytest.mark.parametrize(
    ("c", "n"), [(-1, 5), (6, 5), (1, -5), (math.nan, 5), (2.5, 5), (True, 5), ("3", 5), (None, 5), (math.inf, 5)]
)
def test_impossible_counts_raise(c, n):
    with pytest.raises(ParameterError, match=r"successes|n is"):
        wilson(c, n)


@pytest.mark.parametrize("confidence", [0, 1, -0.1, math.nan, None, True, "0.95"])
def test_impossible_confidence_raises(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        wilson(3, 5, confidence=confidence)


def test_messages_say_what_to_write():
    with pytest.raises(ParameterError, match=r"write it as a share: 0\.95"):
        wilson(3, 5, confidence=95)
    with pytest.raises(ParameterError, match="choose one of 'wilson'"):
        proportion(3, 5, method="wald")
    with pytest.raises(ParameterError, match="'two-sided', 'lower', 'upper'"):
        wilson(3, 5, sidedness="left")
    with pytest.raises(ParameterError, match="cell 1 has 6 successes of 5 runs"):
        proportion_bounds([1, 6], [5, 5])
    with pytest.raises(ParameterError, match="empty"):
        proportion_bounds([], [])
    with pytest.raises(ParameterError, match="not all whole"):
        proportion_bounds([0.5], [1])
    with pytest.raises(ParameterError, match="shape"):
        proportion_bounds([1, 2, 3], [5, 5])
