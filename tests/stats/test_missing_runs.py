"""Missing runs: both ends, what a gate may use, and no reward for losing runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import missing_bounds, missingness_homogeneity


@st.composite
def trials(draw):
    planned = draw(st.integers(1, 200))
    finished = draw(st.integers(0, planned))
    return draw(st.integers(0, finished)), finished, planned


@settings(max_examples=40, deadline=None)
@given(trials(), st.data())
def test_dropping_finished_runs_never_raises_the_worst_end(counts, data):
    c, done, planned = counts
    lost_passes = data.draw(st.integers(0, c))
    lost_failures = data.draw(st.integers(0, done - c))
    before = missing_bounds(c, done, planned)
    after = missing_bounds(c - lost_passes, done - lost_passes - lost_failures, planned)
    assert after.worst.low <= before.worst.low
    assert after.best.high >= before.best.high
    assert after.width >= before.width


@settings(max_examples=40, deadline=None)
@given(trials())
def test_ends_bracket_the_finished_runs(counts):
    found = missing_bounds(*counts)
    assert found.worst.value <= found.best.value
    if found.finished:
        assert found.worst.value <= found.complete.value <= found.best.value
    else:
        assert not found.complete.known
    assert found.width == pytest.approx(found.best.value - found.worst.value)


def test_the_gate_uses_the_worst_end_unless_a_cause_is_named():
    plain = missing_bounds(56, 56, 64)
    assert plain.gate is plain.worst
    assert "each counted as a failure" in plain.gate.caution[-1]
    declared = missing_bounds(56, 56, 64, ignorable_cause="the provider refused the call")
    assert declared.gate.value == 1.0
    assert "the provider refused the call" in declared.gate.caution[-1]
    assert missing_bounds(56, 56, 56, ignorable_cause="nothing missing").gate.caution == ()
    assert "planned 64, finished 56, missing 8" in str(plain)


def test_a_cell_that_misses_too_much_cannot_pass():
    assert not missing_bounds(34, 34, 64).can_pass(0.95)
    assert missing_bounds(64, 64, 64).can_pass(0.95)
    assert not missing_bounds(0, 0, 0).can_pass(0.5)
    assert missing_bounds(0, 0, 0).width is None
    assert not missing_bounds(0, 0, 0).known


@pytest.mark.parametrize(
    ("counts", "cause", "message"),
    [
        ((5, 6, 4), None, "planned"),
        ((7, 6, 8), None, "successes"),
        ((5, 6, -1), None, "planned"),
        ((5, 6, math.nan), None, "planned"),
        ((5, 6, 8), " ", "name the cause"),
    ],
)
def test_what_is_refused(counts, cause, message):
    with pytest.raises(ParameterError, match=message):
        missing_bounds(*counts, ignorable_cause=cause)


def test_even_and_uneven_loss():
    assert missingness_homogeneity([5, 5, 5], [45, 45, 45]).p == pytest.approx(1.0)
    assert missingness_homogeneity([0, 0, 30], [50, 50, 20]).p < 1e-6
    nothing = missingness_homogeneity([0, 0], [5, 5])
    assert not nothing.known
    assert "no run is missing" in nothing.caution[0]
    assert missingness_homogeneity([1, 0], [5, 5]).caution
    with pytest.raises(ParameterError, match="two or more"):
        missingness_homogeneity([1], [5])
    with pytest.raises(ParameterError, match="no planned run"):
        missingness_homogeneity([1, 0], [5, 0])
