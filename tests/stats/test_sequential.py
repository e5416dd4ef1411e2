"""Looking more than once: the e-process is a fair bet, and what peeking does to a fixed bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    anytime_lower,
    clean_runs_anytime,
    clopper_pearson,
    combine_e_values,
    confidence_sequence,
    e_process,
    pass_probability,
    peeking_probability,
    sprt_expected_runs,
    wilson,
)

rates = st.floats(0.05, 0.98)
counts = st.integers(1, 150).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 120), st.integers(0, 40), rates)
def test_the_e_process_is_a_fair_bet_at_the_threshold(s, f, p0):
    """At the threshold the next e-value equals the present one on average, which is what makes looking free."""
    now = e_process(s, f, threshold=p0)
    won, lost = e_process(s + 1, f, threshold=p0), e_process(s, f + 1, threshold=p0)
    assert p0 * won.e + (1 - p0) * lost.e == pytest.approx(now.e, rel=1e-8)
    assert won.e >= lost.e
    assert 0 < now.anytime_p <= 1


def test_nothing_seen_is_no_evidence():
    assert e_process(0, 0, threshold=0.9).e == pytest.approx(1.0)
    assert e_process(0, 0, threshold=0.9).anytime_p == pytest.approx(1.0)


@pytest.mark.parametrize(("s", "f", "p0"), [(30, 2, 0.8), (12, 0, 0.5), (3, 9, 0.6)])
def test_the_e_value_is_the_integral_it_says(s, f, p0):
    ratio, _ = quad(lambda q: (q / p0) ** s * ((1 - q) / (1 - p0)) ** f, p0, 1)
    assert e_process(s, f, threshold=p0).e == pytest.approx(ratio / (1 - p0), rel=1e-8)


def test_hopeless_counts_neither_crash_nor_help():
    found = e_process(10, 5000, threshold=0.95)
    ratio, _ = quad(lambda q: math.exp(10 * math.log(q / 0.95) + 5000 * math.log((1 - q) / 0.05)), 0.95, 0.951)
    assert found.e == pytest.approx(ratio / 0.05, rel=1e-2)
    assert found.anytime_p == 1.0
    assert e_process(10**6, 0, threshold=0.5).e == math.inf
    assert e_process(10**6, 0, threshold=0.5).rejects()


@settings(max_examples=40, deadline=None)
@given(counts)
def test_anytime_bounds_are_below_fixed_ones(pair):
    c, n = pair
    low = anytime_lower(c, n)
    assert 0 <= low.low <= low.value
    assert low.low <= clopper_pearson(c, n).low + 1e-9
    both = confidence_sequence(c, n)
    assert both.low <= both.value <= both.high
    assert both.low <= wilson(c, n).low + 1e-9
    mirrored = confidence_sequence(n - c, n)
    assert both.low == pytest.approx(1 - mirrored.high, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(counts, rates)
def test_bound_and_evidence_agree(pair, p0):
    c, n = pair
    low = anytime_lower(c, n).low
    if abs(low - p0) > 1e-6:
        assert (low > p0) == (e_process(c, n - c, threshold=p0).rejects() and c / n > p0)


def test_no_runs_cannot_tell():
    assert not anytime_lower(0, 0).known
    assert not confidence_sequence(0, 0).known
    assert anytime_lower(0, 5).low == 0.0
    assert confidence_sequence(0, 5).low == 0.0


@pytest.mark.parametrize("method", ["e_process", "confidence_sequence"])
def test_clean_runs_are_the_first_that_certify(method):
    n = clean_runs_anytime(0.9, method=method)
    bound = anytime_lower if method == "e_process" else confidence_sequence
    assert bound(n, n).low >= 0.9 - 1e-12
    assert bound(n - 1, n - 1).low < 0.9


def test_false_alarms_of_the_e_process_stay_below_alpha():
    chance = np.random.default_rng(20260)
    runs = chance.random((400, 150)) < 0.8
    s = runs.cumsum(axis=1)
    known: dict[tuple[int, int], bool] = {}
    crossed = 0
    for path in s:
        for n, wins in enumerate(path.tolist(), 1):
            if (wins, n) not in known:
                known[wins, n] = e_process(wins, n - wins, threshold=0.8).rejects(0.05)
            if known[wins, n]:
                crossed += 1
                break
    assert 0 < crossed / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_peeking_starts_at_one_look_and_only_grows():
    found = peeking_probability(0.9, 0.9, looks=[29, 60, 120])
    assert found[0] == pytest.approx(0.9**29)
    assert found[0] == pytest.approx(pass_probability(0.9, 29, 0.9))
    assert list(found) == sorted(found)
    assert found[-1] > 0.05
    assert peeking_probability(1.0, 0.9, looks=[28, 29]) == (0.0, 1.0)


def test_peeking_equals_simulation():
    chance = np.random.default_rng(3)
    runs = (chance.random((3000, 80)) < 0.95).cumsum(axis=1)
    n = np.arange(1, 81)
    from plumbline.stats import proportion_bounds

    table = {}
    for wins in range(81):
        low, _ = proportion_bounds(np.minimum(wins, n), n, method="wilson", sidedness="lower")
        table[wins] = low >= 0.9
    reached = np.array([[table[w][i] for i, w in enumerate(path)] for path in runs[:600].tolist()]).any(axis=1)
    exact = peeking_probability(0.95, 0.9, looks=[80], method="wilson")[0]
    assert reached.mean() == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 600))


def test_e_values_combine():
    assert combine_e_values([2.0, 3.0], dependence="independent") == 6.0
    assert combine_e_values([2.0, 4.0], dependence="arbitrary") == 3.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: e_process(-1, 0, threshold=0.9), "successes"),
        (lambda: e_process(1, 0, threshold=1.0), "threshold"),
        (lambda: combine_e_values([-1.0], dependence="independent"), "at least 0"),
        (lambda: combine_e_values([1.0], dependence="none"), "choose one of"),
        (lambda: combine_e_values([], dependence="arbitrary"), "at least 1"),
        (lambda: clean_runs_anytime(0.95, method="sprt", alternative=0.9), "above the threshold"),
        (lambda: sprt_expected_runs(0.9, 0.9), "two different rates"),
        (lambda: peeking_probability(0.9, 0.9, looks=[]), "looks is empty"),
        (lambda: confidence_sequence(1, 2, mixture="normal"), "choose one of"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
