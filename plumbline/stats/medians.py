"""Medians and ratios of medians with intervals that hold for any distribution; too few values have none and say so."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import confidence_level
from plumbline.stats.estimate import Estimate

__all__ = ["median_interval", "median_ratio", "values_needed"]


@lru_cache(maxsize=64)
def values_needed(confidence: float = 0.95) -> int:
    """Return how many values the exact interval of a median needs.

    Examples
    --------
    >>> values_needed(0.95)
    6
    """
    level = confidence_level(confidence)
    n = 2
    while 1 - 2 * 0.5**n < level:
        n += 1
    return n


def median_interval(values: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Estimate a median with the exact interval of order statistics.

    Parameters
    ----------
    values : array of float
        At least one finite number.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        Two-sided; no interval where there are too few values, with a caution that says how many are needed.

    Raises
    ------
    ParameterError
        No value, or one that is not finite.

    Examples
    --------
    >>> found = median_interval([1, 2, 3, 4, 5, 6])
    >>> found.value, found.low, found.high
    (3.5, 1.0, 6.0)

    References
    ----------
    David and Nagaraja (2003), Order Statistics, section 7.1.
    """
    level = confidence_level(confidence)
    x = np.sort(_numbers(values, "values"))
    n = int(x.size)
    low = high = None
    caution: tuple[str, ...] = ()
    rank = _rank(n, level)
    if rank >= 1:
        low, high = float(x[rank - 1]), float(x[n - rank])
    else:
        caution = (f"{n} {_runs(n)}: no interval at {level:.4g}, which needs {values_needed(level)}",)
    return Estimate(
        value=_middle(x),
        low=low,
        high=high,
        n=n,
        confidence=level,
        method="median, exact order statistics",
        caution=caution,
    )


@lru_cache(maxsize=1024)
def _rank(n: int, level: float) -> int:
    """Return the largest rank, from each end, whose order statistics hold the median at this level; 0 if none does."""
    below = int(binom.ppf((1 - level) / 2, n, 0.5))
    return below if binom.cdf(below - 1, n, 0.5) <= (1 - level) / 2 else below - 1


def median_ratio(candidate: ArrayLike, baseline: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Estimate the ratio of two medians, conservatively.

    Each median gets half of the error (Bonferroni), so that the interval holds however the two sides depend on each
    other; for paired measurements it is wider than it need be.

    Parameters
    ----------
    candidate, baseline : array of float
        Positive measurements of each side, at least one.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        Two-sided, ``n`` the smaller number of values; value None where the baseline's median is zero.

    Raises
    ------
    ParameterError
        No value, a negative one, or one that is not finite.

    Examples
    --------
    >>> median_ratio([2.1, 2.1, 2.1], [1.8, 1.8, 1.8]).caution
    ('3 runs against 3: no interval at 0.95, which needs 7 on each side',)

    References
    ----------
    Price and Bonett (2002), Distribution-free confidence intervals for difference and ratio of medians.
    """
    level = confidence_level(confidence)
    new, old = _numbers(candidate, "candidate"), _numbers(baseline, "baseline")
    if min(new.min(), old.min()) < 0:
        raise ParameterError("a ratio of medians needs measurements of at least 0")
    each = 1 - (1 - level) / 2
    top, bottom = median_interval(new, confidence=each), median_interval(old, confidence=each)
    value = None if not bottom.value or top.value is None else top.value / bottom.value
    low = high = None
    caution: tuple[str, ...] = ()
    if value is None:
        caution = ("the baseline's median is zero: no ratio",)
    elif top.low is None or bottom.low is None or top.high is None or bottom.high is None:
        said = f"{new.size} {_runs(int(new.size))} against {old.size}"
        caution = (f"{said}: no interval at {level:g}, which needs {values_needed(each)} on each side",)
    else:
        low = top.low / bottom.high if bottom.high else None
        high = top.high / bottom.low if bottom.low else None
    return Estimate(
        value=value,
        low=low,
        high=high,
        n=int(min(new.size, old.size)),
        confidence=level,
        method="ratio of medians, exact order statistics with half the error each",
        caution=caution,
    )


def _middle(ordered: np.ndarray) -> float:
    n = ordered.size
    return float(ordered[n // 2]) if n % 2 else float((ordered[n // 2 - 1] + ordered[n // 2]) / 2)


def _runs(n: int) -> str:
    return "run" if n == 1 else "runs"


def _numbers(values: ArrayLike, name: str) -> np.ndarray:
    x = np.asarray(values, dtype=float).ravel()
    if not x.size or not np.isfinite(x).all():
        raise ParameterError(f"{name} holds {x.size} values; give at least one, all of them finite")
    return x
