"""Tasks as a sample: no claim from few tasks, no correlation from clean data, and no reward for a failure."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    anova_icc,
    bootstrap_rates,
    clean_tasks,
    cluster_bootstrap,
    cluster_counts,
    cluster_se,
    cluster_t,
    design_effect,
    effective_interval,
    korn_graubard,
    proportion,
    rho_scenarios,
    tasks_estimate,
    wilson,
)

suites = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=5, max_size=12
)


@pytest.mark.parametrize("tasks", [1, 2, 3, 4])
def test_few_tasks_repeated_a_hundred_times_claim_nothing(tasks):
    for function in (tasks_estimate, clean_tasks, cluster_t):
        found = function([100] * tasks, [100] * tasks)
        assert (found.value, found.low, found.high, found.scope) == (None, None, None, "none")
        assert "fewer than 5" in found.caution[0]
    if tasks > 1:
        assert not korn_graubard(100 * tasks, 100 * tasks, tasks).known


def test_clean_data_hold_no_information_on_correlation():
    assert anova_icc([8] * 8, [8] * 8) is None
    assert anova_icc([0] * 8, [8] * 8) is None
    assert anova_icc([1, 0, 1], [1, 1, 1]) is None
    found = tasks_estimate([8] * 8, [8] * 8, sidedness="lower")
    assert found.icc is None
    assert found.rho == 0.4
    assert "declared" in found.caution[0]
    table = rho_scenarios(64, 64, runs_per_cluster=8, rhos=[0.4])
    assert found.low == pytest.approx(table[0].clopper_pearson_lower, rel=1e-12)
    lows = [tasks_estimate([8] * 8, [8] * 8, rho=rho, sidedness="lower").low for rho in (0, 0.2, 0.4, 1)]
    assert lows == sorted(lows, reverse=True)
    assert lows[-1] == pytest.approx(0.05 ** (1 / 8))
    assert lows[0] == pytest.approx(korn_graubard(64, 64, 8).low)


def test_task_scope_is_wider_than_the_suite():
    c, n = [4, 8, 8, 8, 4, 8, 8, 4], [8] * 8
    task, suite = tasks_estimate(c, n), wilson(52, 64)
    assert task.low < suite.low
    assert task.high > suite.high
    assert task.scope == "tasks"
    assert suite.scope == "suite"
    assert task.icc == pytest.approx(1 / 3)
    assert task.effective_n < 64 / 3.3


@pytest.mark.parametrize("sizes", [(3, 3, 3, 3, 3), (1, 2, 3, 4, 2)])
def test_a_failure_never_raises_a_bound(sizes):
    """Every outcome of a small suite: turning one success into a failure lowers both ends or leaves them."""
    bounds = {}
    for outcome in product(*(range(size + 1) for size in sizes)):
        found = tasks_estimate(outcome, sizes)
        bounds[outcome] = (found.low, found.high)
        assert found.low <= found.value <= found.high
    for outcome, (low, high) in bounds.items():
        for task, successes in enumerate(outcome):
            if successes:
                worse = bounds[(*outcome[:task], successes - 1, *outcome[task + 1 :])]
                assert worse[0] <= low + 1e-12
                assert worse[1] <= high + 1e-12


@settings(max_examples=25, deadline=None)
@given(suites, st.data())
def test_dropping_runs_never_raises_the_bound(suite, data):
    """Runs that go missing are failures at the worst end; half of them gone lowers the bound."""
    c, n = [pair[0] for pair in suite], [pair[1] for pair in suite]
    kept = [data.draw(st.integers(0, count)) for count in c]
    whole = tasks_estimate(c, n, sidedness="lower")
    dropped = tasks_estimate(kept, n, sidedness="lower")
    assert dropped.low <= whole.low + 1e-12


@settings(max_examples=25, deadline=None)
@given(suites)
def test_ends_mirror_and_equal_tasks_need_no_order(suite):
    c, n = [pair[0] for pair in suite], [pair[1] for pair in suite]
    if sum(n) == len(n):
        n = [size + 1 for size in n]
    found = tasks_estimate(c, n)
    mirrored = tasks_estimate([size - count for count, size in zip(c, n, strict=True)], n)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    back = tasks_estimate(c[::-1], n[::-1])
    assert (found.low, found.high) == pytest.approx((back.low, back.high), abs=1e-12)


def test_one_run_a_task_is_a_plain_sample():
    found = tasks_estimate([1] * 18 + [0, 0], [1] * 20, sidedness="lower")
    plain = proportion(18, 20, method="clopper_pearson", sidedness="lower")
    assert found.low == pytest.approx(plain.low, rel=1e-9)


def test_clustered_error_is_the_sum_of_cross_products():
    """Miller's form: n^-2 times the sum, over pairs of runs of one cluster, of the products of their residuals."""
    chance = np.random.default_rng(8)
    c, n = chance.integers(0, 5, 12), np.full(12, 4)
    y = np.concatenate([[1.0] * k + [0.0] * (4 - k) for k in c])
    groups = np.repeat(np.arange(12), 4)
    residual = y - y.mean()
    products = np.outer(residual, residual)[groups[:, None] == groups[None, :]].sum()
    assert cluster_se(c, n, correction="CR0") == pytest.approx(float(products) ** 0.5 / len(y), rel=1e-9)
    counted = cluster_counts(y, groups.tolist())
    assert list(counted.successes) == c.tolist()
    assert counted.n == (4,) * 12
    assert cluster_se([2, 2, 2], [4, 4, 4]) is None
    assert cluster_se([2], [4]) is None


def test_degenerate_intervals_are_not_printed():
    flat = cluster_t([8] * 8, [8] * 8)
    assert flat.value == 1.0
    assert (flat.low, flat.high, flat.se) == (None, None, None)
    outside = cluster_t([4, 8, 8, 8, 4, 8, 8, 4], [8] * 8)
    assert outside.high > 1
    assert "outside" in outside.caution[0]


def test_bootstrap_is_seeded_and_cautioned():
    c, n = [4, 8, 8, 8, 4, 8, 8, 4], [8] * 8
    one, two = (cluster_bootstrap(c, n, generator=np.random.default_rng(7)) for _ in range(2))
    assert one == two
    assert one.seed == 7
    assert "too narrow" in one.caution[0]
    clean = cluster_bootstrap([8] * 8, [8] * 8, generator=np.random.default_rng(7))
    assert (clean.low, clean.high) == (None, None)
    rates = bootstrap_rates(c, n, draws=4000, generator=np.random.default_rng(1))
    assert rates.mean() == pytest.approx(52 / 64, abs=0.01)
    assert rates.std() == pytest.approx(cluster_se(c, n, correction="CR0"), rel=0.06)
    with pytest.raises(ParameterError, match="generator"):
        cluster_bootstrap(c, n, generator=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tasks_estimate([1, 0], [1, 0]), "n is at least 1"),
        (lambda: tasks_estimate([[1]], [[1]]), "one count per task"),
        (lambda: tasks_estimate([1] * 5, [2] * 5, rho=1.5), "rho"),
        (lambda: tasks_estimate([1] * 5, [2] * 5, confidence=95), "0.95"),
        (lambda: design_effect(0.5, 0.1), "at least 1"),
        (lambda: design_effect(8, -0.1), "rho"),
        (lambda: effective_interval(3, 4, 5.0), "at most n"),
        (lambda: effective_interval(3, 4, float("nan")), "above 0"),
        (lambda: korn_graubard(3, 4, 5), "K <= n"),
        (lambda: korn_graubard(8, 8, 5, effect=0.5), "effect >= 1"),
        (lambda: cluster_counts([1, 0], ["a"]), "one label per outcome"),
        (lambda: cluster_counts([1, 2], ["a", "b"]), "other than 0 and 1"),
        (lambda: cluster_counts([1, 0], ["a", None]), "no cluster label"),
        (lambda: cluster_se([1], [2], correction="CR2"), "choose one of"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
