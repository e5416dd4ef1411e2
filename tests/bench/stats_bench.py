"""How fast the statistics are: goals P9 and P10, as ratios measured in one run against scipy, statsmodels, a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plumbline.stats import bootstrap_rates, exact_permutation, proportion_bounds, stratified_permutation
from tests.bench.race import race, row

FAMILIES, STRATA = 30, 30


CALLS = 20
"""Calls a round of the Wilson row, for both sides: one call is too short to time against a cold cache."""


def scipy_permutation(a: np.ndarray, b: np.ndarray, resamples: int) -> Callable[[], float]:
    """Return scipy's Monte Carlo permutation test of a difference in means, vectorised."""
    from scipy.stats import permutation_test

    def gap(x: np.ndarray, y: np.ndarray, axis: int) -> Any:
        return x.mean(axis) - y.mean(axis)

    return lambda: float(permutation_test((a, b), gap, n_resamples=resamples, vectorized=True, rng=1).pvalue)


def outcomes(successes: int, n: int) -> np.ndarray:
    """Return successes first, then failures."""
    return (np.arange(n) < successes).astype(float)


def families(count: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return successes and runs of each family, and the outcomes that a loop would resample."""
    chance = np.random.default_rng(5)
    parts = [(chance.random(50) < rate).astype(float) for rate in chance.random(count)]
    return np.array([int(part.sum()) for part in parts]), np.full(count, 50), parts


def looped_bootstrap(parts: list[np.ndarray], draws: int, seed: int) -> np.ndarray:
    """Resample whole families one draw after another."""
    chance = np.random.default_rng(seed)
    picks = (chance.integers(0, len(parts), len(parts)) for _ in range(draws))
    return np.array([np.concatenate([parts[i] for i in pick]).mean() for pick in picks])


def bench(rounds: int = 5, tiny: bool = False) -> list[dict[str, Any]]:
    """Measure P9 and P10; tiny runs the same code on small data."""
    from statsmodels.stats.proportion import proportion_confint

    resamples, large, cells, draws = (99, 100, 20, 50) if tiny else (9_999, 1_000, 1_000, 2_000)
    chance = np.random.default_rng(5)
    x = chance.binomial(50, 0.7, (STRATA, 2))
    counts, n = chance.integers(0, 51, cells), np.full(cells, 50)
    c, size, parts = families(FAMILIES)
    source = np.random.default_rng(6)
    big = [int(0.80 * large), int(0.76 * large)]
    times = race(
        {
            "exact 50+50": lambda: exact_permutation([40, 30], [50, 50]),
            "scipy 50+50": scipy_permutation(outcomes(40, 50), outcomes(30, 50), resamples),
            "exact strata": lambda: stratified_permutation(x, np.full_like(x, 50)),
            "exact large": lambda: exact_permutation(big, [large, large]),
            "scipy large": scipy_permutation(outcomes(big[0], large), outcomes(big[1], large), resamples),
            "wilson": lambda: [proportion_bounds(counts, n) for _ in range(CALLS)],
            "statsmodels": lambda: [proportion_confint(counts, n, method="wilson") for _ in range(CALLS)],
            "bootstrap": lambda: bootstrap_rates(c, size, draws=draws, generator=source),
            "loop": lambda: looped_bootstrap(parts, draws, 6),
        },
        rounds=rounds,
    )
    return [
        row("P9a", f"exact p 50+50 against scipy permutation_test {resamples}",
            times.ratio("scipy 50+50", "exact 50+50"), 200, ">="),
        row("P9b", f"exact p in {STRATA} strata of 50+50 against scipy permutation_test {resamples} of one",
            times.ratio("scipy 50+50", "exact strata"), 5, ">="),
        row("P9c", f"exact p {large}+{large} against scipy permutation_test {resamples}",
            times.ratio("scipy large", "exact large"), 1, ">="),
        row("P10a", f"Wilson of {cells} cells against the statsmodels array call",
            times.ratio("wilson", "statsmodels"), 0.5, "<="),
        row("P10b", f"family bootstrap {draws} x {FAMILIES} against a loop",
            times.ratio("loop", "bootstrap"), 6, ">="),
    ]  # fmt: skip
