"""How a bound behaves when the truth is known: exact miss rates, for one proportion, for a suite and over cells.

These are facts about methods, not about data. They are why Clopper-Pearson certifies and the others do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, finite_vector, probability, whole
from plumbline.stats.estimate import Result
from plumbline.stats.proportions import proportion_bounds

__all__ = ["CellsCoverage", "MissRate", "SuiteMiss", "cells_coverage", "suite_miss_rate", "worst_miss_rate"]


def _lows(n: int, method: str, confidence: float, sidedness: str) -> Floats:
    counts = np.arange(n + 1)
    return proportion_bounds(counts, np.full(n + 1, n), method=method, confidence=confidence, sidedness=sidedness)[0]


def _at_least(c: int, n: int, rate: float) -> float:
    """Return P(c or more successes of n)."""
    from scipy.special import betainc

    if c <= 0:
        return 1.0
    return 0.0 if c > n else float(betainc(c, n - c + 1, rate))


@dataclass(frozen=True, kw_only=True)
class MissRate(Result):
    """The largest chance that a lower bound lies above the true rate, and where; None when no bound is in range."""

    rate: float | None
    successes: int | None
    true_rate: float | None


def worst_miss_rate(
    n: int,
    *,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
    at_least: float = 0.5,
) -> MissRate:
    """Return the largest chance, over true rates, that a lower bound lies above the true rate.

    Parameters
    ----------
    n : int
        Runs, at least 1.
    method, confidence, sidedness
        The bound, as in :func:`plumbline.stats.proportion`.
    at_least : float
        Smallest true rate looked at, in [0, 1); rates up to 1 are.

    Returns
    -------
    MissRate
        Exact: the supremum is approached from below each value the bound can take.

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> round(worst_miss_rate(64, method="jeffreys").rate, 4), round(worst_miss_rate(64).rate, 4)
    (0.1476, 0.05)

    References
    ----------
    Brown, Cai and DasGupta (2001), Statistical Science 16, 101.
    """
    runs, floor = whole(n, "n", 1), probability(at_least, "at_least", closed=True)
    lows = _lows(runs, method, confidence, sidedness)
    found = [
        (_at_least(c, runs, float(low)), c, float(low)) for c, low in enumerate(lows) if c > 0 and floor <= low < 1
    ]
    if not found:
        return MissRate(rate=None, successes=None, true_rate=None)
    rate, successes, where = max(found)
    return MissRate(rate=rate, successes=successes, true_rate=where)


@dataclass(frozen=True, kw_only=True)
class SuiteMiss(Result):
    """How a bound that treats a suite's runs as one sample behaves when its tasks have fixed, known rates."""

    suite_mean: float
    miss_rate: float
    sd_ratio: float | None


def suite_miss_rate(
    task_rates: Sequence[float],
    runs_per_task: int,
    *,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> SuiteMiss:
    """Return the chance that a naive lower bound lies above the mean rate of fixed tasks.

    Parameters
    ----------
    task_rates : sequence of float
        True rate of each task, in [0, 1].
    runs_per_task : int
        Runs of each task, at least 1.
    method, confidence, sidedness
        The bound, as in :func:`plumbline.stats.proportion`.

    Returns
    -------
    SuiteMiss
        Exact, by convolution. ``sd_ratio`` compares the spread with that of one binomial sample: at most 1, which is
        why the naive bound is valid for the suite.

    Raises
    ------
    ParameterError
        A rate outside [0, 1] or no tasks.

    Examples
    --------
    >>> round(suite_miss_rate([1, 1, 1, 1, 1, 1, 1, 0.6], 8).miss_rate, 4)
    0.0168

    References
    ----------
    Hoeffding (1956), Annals of Mathematical Statistics 27, 713.
    """
    rates = finite_vector(task_rates, "task_rates")
    if ((rates < 0) | (rates > 1)).any():
        raise ParameterError(f"task_rates holds {rates.tolist()}; rates lie from 0 to 1")
    runs = whole(runs_per_task, "runs_per_task", 1)
    chances = np.ones(1)
    for rate in rates.tolist():
        each = [math.comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(runs + 1)]
        chances = np.convolve(chances, each)
    total, mean = runs * len(rates), math.fsum(rates.tolist()) / len(rates)
    lows = _lows(total, method, confidence, sidedness)
    binomial = total * mean * (1 - mean)
    own = runs * float((rates * (1 - rates)).sum())
    return SuiteMiss(
        suite_mean=mean,
        miss_rate=float(chances[lows > mean].sum()),
        sd_ratio=math.sqrt(own / binomial) if binomial > 0 else None,
    )


@dataclass(frozen=True, kw_only=True)
class CellsCoverage(Result):
    """How the minimum of per-cell bounds behaves when every cell's true rate is known (independent cells).

    ``minimum_covered`` is the chance that the minimum bound is not above the smallest rate, ``all_covered`` that no
    cell's bound is above its rate, ``worst_interval_covers`` that the upper end of the observed worst cell is not below
    the smallest rate (None for one-sided bounds).
    """

    minimum_covered: float
    all_covered: float
    expected_minimum: float
    bias: float
    expected_bound: float
    worst_interval_covers: float | None


def cells_coverage(
    true_rates: Sequence[float],
    n: int,
    *,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> CellsCoverage:
    """Return how the minimum over cells behaves when every true rate is known.

    Parameters
    ----------
    true_rates : sequence of float
        True rate of each cell, in [0, 1].
    n : int
        Runs of each cell, at least 1.
    method, confidence, sidedness
        The bound, as in :func:`plumbline.stats.proportion`.

    Returns
    -------
    CellsCoverage
        Exact, by enumeration.

    Raises
    ------
    ParameterError
        A rate outside [0, 1] or no cells.

    Examples
    --------
    >>> found = cells_coverage([0.95] * 6, 64)
    >>> round(found.minimum_covered, 6), round(found.all_covered, 4), round(found.bias, 4)
    (1.0, 0.7949, -0.0363)

    References
    ----------
    Berger (1982), Technometrics 24, 295.
    """
    rates = finite_vector(true_rates, "true_rates").tolist()
    if min(rates) < 0 or max(rates) > 1:
        raise ParameterError(f"true_rates holds {rates}; rates lie from 0 to 1")
    runs, smallest = whole(n, "n", 1), min(rates)
    lows = _lows(runs, method, confidence, sidedness)
    above_all = math.prod(_at_least(_first_above(lows, smallest), runs, rate) for rate in rates)
    covered = math.prod(1 - _at_least(_first_above(lows, rate), runs, rate) for rate in rates)
    survival = np.array([math.prod(_at_least(c, runs, rate) for rate in rates) for c in range(runs + 2)])
    chances = survival[:-1] - survival[1:]  # of the smallest count
    expected = float(survival[1:].sum()) / runs
    covers: float | None = None
    if sidedness == "two-sided":
        highs = 1 - lows[::-1]
        covers = float(chances[highs >= smallest].sum())
    return CellsCoverage(
        minimum_covered=1 - above_all,
        all_covered=covered,
        expected_minimum=expected,
        bias=expected - smallest,
        expected_bound=float((chances * lows).sum()),
        worst_interval_covers=covers,
    )


def _first_above(lows: Floats, rate: float) -> int:
    """Return the smallest count whose bound is above a rate; one more than the runs when there is none."""
    above = np.flatnonzero(lows > rate)
    return int(above[0]) if above.size else len(lows)
