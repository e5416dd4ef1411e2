"""The benchmark of the statistics gives right answers; how fast it is, is measured elsewhere and never gates a test."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from plumbline.stats import bootstrap_rates, exact_permutation, proportion_bounds
from tests.bench.stats_bench import bench, families, looped_bootstrap, outcomes, scipy_permutation


def test_bench_measures_every_goal_it_names():
    rows = bench(rounds=1, tiny=True)
    assert [r["id"] for r in rows] == ["P9a", "P9b", "P9c", "P10a", "P10b"]
    assert all(r["ratio"] > 0 and r["ok"] in (True, False) for r in rows)


def test_the_exact_p_is_what_scipy_draws_around():
    exact = exact_permutation([40, 30], [50, 50]).p
    drawn = scipy_permutation(outcomes(40, 50), outcomes(30, 50), 4_999)()
    assert drawn == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 4_999) ** 0.5)


def test_wilson_equals_the_statsmodels_array():
    n = np.repeat(np.arange(1, 30), 5)
    counts = np.minimum(np.tile(np.arange(0, 5) * 7, 29), n)
    low, high = proportion_bounds(counts, n)
    theirs = proportion_confint(counts, n, method="wilson")
    assert low == pytest.approx(theirs[0], rel=1e-9, abs=1e-15)
    assert high == pytest.approx(theirs[1], rel=1e-9)


def test_both_bootstraps_draw_from_one_distribution():
    c, n, parts = families(30)
    ours = bootstrap_rates(c, n, draws=4_000, generator=np.random.default_rng(1))
    loop = looped_bootstrap(parts, 2_000, 2)
    assert ours.mean() == pytest.approx(loop.mean(), abs=0.006)
    assert ours.std() == pytest.approx(loop.std(), rel=0.1)
