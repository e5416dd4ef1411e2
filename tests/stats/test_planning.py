"""How many runs: against brute force, because the power of a gate is a saw-tooth."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    clopper_pearson,
    equivalence,
    gate_failures,
    noninferiority_clean_runs,
    noninferiority_runs,
    pass_probability,
    plan_runs,
    proportion,
    questions_needed,
    runs_for_power,
    runs_needed,
    worst_miss_rate,
)

thresholds = st.floats(0.3, 0.95)


@settings(max_examples=30, deadline=None)
@given(thresholds, st.integers(0, 4), st.sampled_from(["clopper_pearson", "wilson"]))
def test_runs_needed_is_the_first_that_is_enough(threshold, failures, method):
    n = runs_needed(threshold, failures=failures, method=method)
    assert proportion(n - failures, n, method=method, sidedness="lower").low >= threshold
    if n - 1 > failures:
        assert proportion(n - 1 - failures, n - 1, method=method, sidedness="lower").low < threshold


@settings(max_examples=15, deadline=None)
@given(thresholds, st.integers(1, 60))
def test_allowed_failures_equal_trying_each(threshold, n):
    table = gate_failures(n, threshold)
    assert len(table) == n + 1
    for runs in range(1, n + 1):
        passing = [f for f in range(runs + 1) if clopper_pearson(runs - f, runs).low >= threshold]
        assert table[runs] == max(passing, default=-1)


@pytest.mark.parametrize(("rate", "threshold", "power"), [(0.9, 0.7, 0.8), (0.95, 0.8, 0.9), (0.6, 0.3, 0.5)])
def test_power_is_searched_over_the_saw_tooth(rate, threshold, power):
    found = runs_for_power(rate, threshold, power=power)
    curve = {n: pass_probability(rate, n, threshold) for n in range(1, found.n + 30)}
    assert found.n == min(n for n, value in curve.items() if value >= power)
    assert curve[found.n] == pytest.approx(found.power)
    assert found.power == pytest.approx(binom.cdf(found.failures_allowed, found.n, 1 - rate))
    assert any(curve[n] < curve[n - 1] for n in curve if n > 1), "the curve rises only: no saw-tooth to search"


def test_ends_of_the_pass_probability():
    assert pass_probability(0.99, 10, 0.95) == 0.0
    assert pass_probability(1.0, 59, 0.95) == 1.0
    assert pass_probability(0.0, 59, 0.95) == 0.0


def test_noninferiority_runs_are_the_first_that_show_it():
    n = noninferiority_clean_runs(0.05)
    assert equivalence([n, n], [n, n], margin=0.05).noninferior
    assert not equivalence([n - 1, n - 1], [n - 1, n - 1], margin=0.05).noninferior
    assert noninferiority_runs(0.95, 0.05, power=0.9) > noninferiority_runs(0.95, 0.05)


def test_questions_needed_scales_as_it_must():
    base = questions_needed(0.03, between_variance=1 / 9)
    assert questions_needed(0.06, between_variance=1 / 9) == pytest.approx(base / 4)
    noisy = questions_needed(0.03, between_variance=1 / 9, noise_first=1 / 6, noise_second=1 / 6)
    assert noisy == pytest.approx(base * (1 / 9 + 1 / 3) * 9)


def test_a_plan_answers_for_these_tasks_and_for_tasks_like_these():
    plan = plan_runs(0.95, true_rate=0.99, tasks=8, runs_per_task=8, cells=6)
    assert plan.needed == runs_for_power(0.99, 0.95)
    assert plan.clean_pass == pytest.approx(0.99**59)
    assert plan.total_runs == 6 * plan.needed.n
    assert plan.planned_pass == pass_probability(0.99, 64, 0.95)
    needed = [row.tasks_needed for row in plan.scenarios]
    assert needed == sorted(needed)
    for row in plan.scenarios:
        assert row.tasks_needed * 8 / row.design_effect >= plan.needed.n - 1e-6
        assert (row.tasks_needed - 1) * 8 / row.design_effect < plan.needed.n
        assert row.enough is False
    assert any("no number of repetitions is enough" in sentence for sentence in plan.caution)
    assert "tasks like these, rho 0.4" in str(plan)


def test_two_tasks_are_never_enough():
    plan = plan_runs(0.5, true_rate=0.99, tasks=2, runs_per_task=100)
    assert all(row.enough is False and row.tasks_needed >= 5 for row in plan.scenarios)
    assert any("fewer than 5" in sentence for sentence in plan.caution)


def test_all_cells_at_once_cost_more_and_the_minimum_costs_nothing():
    one, six = plan_runs(0.95, true_rate=0.99), plan_runs(0.95, true_rate=0.99, cells=6)
    joint = plan_runs(0.95, true_rate=0.99, cells=6, simultaneous=True)
    assert one.needed == six.needed
    assert (one.clean_runs, joint.clean_runs) == (59, 94)
    assert joint.needed.n > six.needed.n


def test_miss_rates_tell_methods_apart():
    exact, naive = worst_miss_rate(20), worst_miss_rate(20, method="wilson")
    assert exact.rate <= 0.05 + 1e-12
    assert naive.rate > 0.05
    assert binom.sf(naive.successes - 1, 20, naive.true_rate) == pytest.approx(naive.rate)
    assert worst_miss_rate(5, at_least=0.99).rate is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: runs_needed(1.0), "threshold"),
        (lambda: runs_needed(0.9, failures=-1), "failures"),
        (lambda: runs_needed(0.9, sidedness="upper"), "choose one of"),
        (lambda: runs_needed(0.9999999), "more than"),
        (lambda: runs_for_power(0.9, 0.95), "no number of runs"),
        (lambda: pass_probability(1.1, 5, 0.5), "true_rate"),
        (lambda: plan_runs(0.95, true_rate=0.9), "no number of runs"),
        (lambda: plan_runs(0.95, true_rate=0.99, tasks=0), "tasks"),
        (lambda: plan_runs(0.95, true_rate=0.99, confidence=95), "0.95"),
        (lambda: noninferiority_clean_runs(5), "0.05"),
        (lambda: questions_needed(0, between_variance=1), "difference"),
        (lambda: questions_needed(0.1, between_variance=math.nan), "between_variance"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
