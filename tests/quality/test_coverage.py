"""Promised coverage, by simulation: 8 tasks of 8 runs whose rates vary from task to task.

Tasks are drawn with rate Beta(p (1 - rho) / rho, (1 - p) (1 - rho) / rho), so that two runs of one task correlate by
rho. Everything is seeded; bars leave room for the Monte Carlo error of the number of suites drawn.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from plumbline.stats import (
    cluster_bootstrap,
    cluster_se,
    cluster_t,
    effective_interval,
    korn_graubard,
    suite_miss_rate,
    tasks_estimate,
    wilson,
)
from plumbline.stats.clusters import design_effect
from tests.stats.reference_loop import OWN

TASKS, RUNS = 8, 8
SIZES = (RUNS,) * TASKS
ROWS = {(row["p"], row["rho"]): row["results"] for row in OWN["simulated"]["rows"]}
HONEST = sorted(key for key, results in ROWS.items() if results["Korn-Graubard CP"]["coverage"] >= 0.93)


def suites(p, rho, draws, seed):
    """Draw successes per task, sorted: every interval here ignores the order of tasks."""
    chance = np.random.default_rng(seed)
    rates = chance.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, (draws, TASKS)) if rho else p
    return [tuple(row) for row in np.sort(chance.binomial(RUNS, rates, (draws, TASKS)), axis=1).tolist()]


def coverage(method, p, rho, *, draws, seed):
    """Share of suites whose interval holds the true rate, and mean width; an interval not given covers nothing."""
    method, held, width = cache(method), 0, 0.0
    for suite in suites(p, rho, draws, seed):
        low, high = method(suite)
        held += low is not None and low <= p <= high
        width += 0.0 if low is None else high - low
    return held / draws, width / draws


def ends(estimate):
    return estimate.low, estimate.high


def task_scope(suite):
    return ends(tasks_estimate(suite, SIZES))


def naive(suite):
    return ends(wilson(sum(suite), TASKS * RUNS))


def textbook(suite):
    """Korn and Graubard's interval with the design effect estimated from the data, and 1 when nothing varies."""
    total, n = sum(suite), TASKS * RUNS
    se, rate = cluster_se(suite, SIZES), sum(suite) / (TASKS * RUNS)
    effect = 1.0 if se is None else max(1.0, se**2 / (rate * (1 - rate) / (n - 1)))
    return ends(korn_graubard(total, n, TASKS, effect=effect, sidedness="two-sided"))


def t_over_tasks(suite):
    return ends(cluster_t(suite, SIZES))


def declared(suite):
    return ends(effective_interval(sum(suite), TASKS * RUNS, TASKS * RUNS / design_effect(RUNS, 0.3)))


@pytest.mark.parametrize(("p", "rho"), HONEST)
def test_the_task_scope_covers_where_korn_graubard_does(p, rho):
    held, _ = coverage(task_scope, p, rho, draws=400, seed=71)
    assert held >= 0.93


@pytest.mark.parametrize(("p", "rho"), [(0.9, 0.6), (0.8, 0.6)])
def test_the_task_scope_covers_beyond_the_textbook(p, rho):
    """Where the textbook interval falls to 0.85, the declared correlation of clean data keeps the promise."""
    ours, width = coverage(task_scope, p, rho, draws=400, seed=72)
    book, narrower = coverage(textbook, p, rho, draws=400, seed=72)
    assert ours >= 0.92
    assert ours > book
    assert width < 1.25 * narrower


@pytest.mark.parametrize(("p", "rho"), [(0.9, 0.3), (0.9, 0.6), (0.8, 0.3)])
def test_naive_wilson_fails_for_tasks_like_these(p, rho):
    held, width = coverage(naive, p, rho, draws=400, seed=73)
    honest, wider = coverage(task_scope, p, rho, draws=400, seed=73)
    assert held < 0.85
    assert honest - held > 0.1
    assert wider > 1.7 * width


def test_naive_wilson_is_fine_for_these_tasks():
    """With the same uneven tasks held fixed, the naive bound misses less often than it promises."""
    for rates in ([1.0] * 7 + [0.6], [1, 1, 1, 1, 0.9, 0.9, 0.9, 0.9], [1, 1, 1, 1, 1, 1, 0.5, 0.5]):
        assert suite_miss_rate(rates, RUNS).miss_rate <= 0.05
        assert suite_miss_rate(rates, RUNS, method="wilson", sidedness="two-sided").miss_rate <= 0.05


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (naive, "wilson"),
        (textbook, "Korn-Graubard CP"),
        (t_over_tasks, "cluster-t"),
        (declared, "wilson-neff(rho=0.3)"),
    ],
)
@pytest.mark.parametrize(("p", "rho"), [(0.9, 0.3), (0.95, 0.1)])
def test_simulated_reference(method, name, p, rho):
    held, width = coverage(method, p, rho, draws=2000, seed=74)
    assert held == pytest.approx(ROWS[p, rho][name]["coverage"], abs=0.03)
    if method is not t_over_tasks:  # without an interval at all-success, where the reference has one of no width
        assert width == pytest.approx(ROWS[p, rho][name]["mean_width"], abs=0.02)


def test_the_bootstrap_is_as_narrow_as_its_caution_says():
    chance = np.random.default_rng(75)

    def resampled(suite):
        return ends(cluster_bootstrap(suite, SIZES, draws=400, generator=chance))

    held, _ = coverage(resampled, 0.95, 0.3, draws=400, seed=75)
    assert held == pytest.approx(ROWS[0.95, 0.3]["cluster-bootstrap"]["coverage"], abs=0.08)
    assert held < 0.75


@pytest.mark.parametrize(("p", "rho"), [(0.95, 0.3), (0.9, 0.3), (0.9, 0.6)])
def test_certifying_tasks_like_these_is_rarely_wrong(p, rho):
    """A one-sided 95% bound above the truth is a false certificate."""

    @cache
    def low(suite):
        return tasks_estimate(suite, SIZES, sidedness="lower").low

    drawn = suites(p, rho, 600, 76)
    assert sum(low(suite) > p for suite in drawn) / len(drawn) <= 0.05
