"""Intervals for one proportion: Wilson to read and to reproduce, Clopper-Pearson to certify.

Every method is one function, the lower bound at a tail probability; the upper bound is its mirror image,
``upper(c, n) = 1 - lower(n - c, n)``, so symmetry holds exactly. Zero runs have no interval.
Neither scipy.stats nor statsmodels is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plumbline.stats._checks import Floats, choice, confidence_level, count_arrays, count_pair, smallest
from plumbline.stats.estimate import Estimate

__all__ = ["METHODS", "SIDES", "clopper_pearson", "lower_bounds", "proportion", "proportion_bounds", "wilson"]

SIDES = ("two-sided", "lower", "upper")


def _wilson(c: Floats, n: Floats, tail: float) -> Floats:
    # Written with the conjugate, so that c = 0 gives exactly 0 and c = n gives exactly n / (n + z^2).
    root = c + _wilson_root(c, n, tail)
    return c * c / (n * np.where(c > 0, root, 1.0))


def _wilson_root(c: Floats, n: Floats, tail: float) -> Floats:
    """Return what the bounds of c and of n - c have in common; above 0 when the tail is below one half."""
    z = NormalDist().inv_cdf(1 - tail)
    return z * z / 2 + z * np.sqrt(c * (n - c) / n + z * z / 4)


def _wilson_both(c: Floats, n: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return both bounds with one square root: the same numbers as two calls, for large tables."""
    f, root = n - c, _wilson_root(c, n, tail)
    return c * c / (n * (root + c)), 1 - f * f / (n * (root + f))


def _wilson_cc(c: Floats, n: Floats, tail: float) -> Floats:
    z = NormalDist().inv_cdf(1 - tail)
    root = np.sqrt(np.maximum(z * z - 2 - 1 / n + 4 * (c / n) * (n - c + 1), 0))
    low = (2 * c + z * z - 1 - z * root) / (2 * (n + z * z))
    return np.where(c == 0, 0.0, np.maximum(low, 0))


def _clopper_pearson(c: Floats, n: Floats, tail: float) -> Floats:
    from scipy.special import betaincinv

    low = betaincinv(np.where(c > 0, c, 1.0), n - c + 1, tail)
    return np.where(c > 0, np.where(c == n, tail ** (1 / n), low), 0.0)


def _jeffreys(c: Floats, n: Floats, tail: float) -> Floats:
    from scipy.special import betaincinv

    return np.asarray(betaincinv(c + 0.5, n - c + 0.5, tail))


def _agresti_coull(c: Floats, n: Floats, tail: float) -> Floats:
    z = NormalDist().inv_cdf(1 - tail)
    middle = (c + z * z / 2) / (n + z * z)
    return np.maximum(middle - z * np.sqrt(middle * (1 - middle) / (n + z * z)), 0)


METHODS: dict[str, tuple[str, Callable[[Floats, Floats, float], Floats]]] = {
    "wilson": ("Wilson", _wilson),
    "clopper_pearson": ("Clopper-Pearson", _clopper_pearson),
    "wilson_cc": ("Wilson with continuity correction", _wilson_cc),
    "jeffreys": ("Jeffreys", _jeffreys),
    "agresti_coull": ("Agresti-Coull", _agresti_coull),
}
"""Name -> (name in words, lower bound at a tail probability). Counts may be real-valued here."""

_NOT_FOR_GATES = {
    "jeffreys": "not for a gate: its one-sided 95% bound misses up to 14.8% of the time at n=64",
    "agresti_coull": "not for a gate: an approximation for reading only",
}
_WILSON_ONE_SIDED = "not for a gate: one-sided 95% Wilson misses up to 7.1% of the time at n=64; use Clopper-Pearson"


def lower_bounds(c: ArrayLike, n: ArrayLike, *, tail: float, method: str) -> Floats:
    """Return the lower bounds of real-valued counts at a tail probability; NaN where n is 0.

    Effective counts (a run count divided by a design effect) are not whole, so this takes any 0 <= c <= n.
    """
    function = METHODS[choice(method, "method", METHODS)][1]
    c, n = np.asarray(c, dtype=np.float64), np.asarray(n, dtype=np.float64)
    some = n > 0
    if some.all():
        return function(c, n, tail)
    return np.where(some, function(np.where(some, c, 0.0), np.where(some, n, 1.0), tail), np.nan)


def proportion_bounds(
    successes: ArrayLike,
    n: ArrayLike,
    *,
    method: str = "wilson",
    confidence: float = 0.95,
    sidedness: str = "two-sided",
) -> tuple[Floats, Floats]:
    """Return the interval of many proportions at once, as two arrays.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each cell, 0 <= successes <= n.
    method : {'wilson', 'clopper_pearson', 'wilson_cc', 'jeffreys', 'agresti_coull'}
        The interval.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        One-sided intervals spend the whole error on one side; the other end is then the trivial 0 or 1.

    Returns
    -------
    low, high : numpy.ndarray of float64
        In [0, 1]; both NaN where n is 0, because no runs give no interval.

    Raises
    ------
    ParameterError
        Counts that are negative, not whole, empty or larger than n; an unknown method; a confidence outside (0, 1).

    Examples
    --------
    >>> low, high = proportion_bounds([52, 64], [64, 64])
    >>> [round(float(x), 4) for x in low], [round(float(x), 4) for x in high]
    ([0.7003, 0.9434], [0.8894, 1.0])

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209. Clopper and Pearson (1934), Biometrika 26, 404.
    Newcombe (1998), Statistics in Medicine 17, 857 (with continuity correction).
    """
    c, total = count_arrays(successes, n)
    level = confidence_level(confidence)
    tail = (1 - level) / 2 if choice(sidedness, "sidedness", SIDES) == "two-sided" else 1 - level
    if method == "wilson" and sidedness == "two-sided" and smallest(total) > 0:
        return _wilson_both(c.astype(np.float64), total.astype(np.float64), tail)
    trivial = np.where(total > 0, 0.0, np.nan)
    low = trivial if sidedness == "upper" else lower_bounds(c, total, tail=tail, method=method)
    high = 1 - (trivial if sidedness == "lower" else lower_bounds(total - c, total, tail=tail, method=method))
    return low, high


def proportion(
    successes: int, n: int, *, method: str = "wilson", confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate one proportion, for these tasks (scope ``suite``).

    Treating the runs as one binomial sample is valid for the suite even if its tasks differ: fixed, unequal tasks make
    the interval wider than needed, never too narrow. It says nothing about tasks that were not run.

    Parameters
    ----------
    successes, n : int
        Successes among n runs.
    method : {'wilson', 'clopper_pearson', 'wilson_cc', 'jeffreys', 'agresti_coull'}
        The interval; see :func:`proportion_bounds`.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        Value None and scope ``none`` when n is 0.

    Raises
    ------
    ParameterError
        Impossible counts, method or confidence.

    Examples
    --------
    >>> print(proportion(64, 64, method="clopper_pearson", sidedness="lower"))
    64/64 = 1.0000, at least 0.9543 Clopper-Pearson 95% one-sided lower, suite
    >>> proportion(0, 0).known
    False

    References
    ----------
    Hoeffding (1956), Annals of Mathematical Statistics 27, 713 (unequal, fixed rates).
    """
    c, total = count_pair(successes, n)
    name = METHODS[choice(method, "method", METHODS)][0]
    lows, highs = proportion_bounds([c], [total], method=method, confidence=confidence, sidedness=sidedness)
    common: dict[str, Any] = {"confidence": float(confidence), "sidedness": sidedness, "method": name}
    if total == 0:
        reason = ("no finished runs",)
        return Estimate(value=None, low=None, high=None, n=0, successes=0, scope="none", caution=reason, **common)
    caution = (_NOT_FOR_GATES[method],) if method in _NOT_FOR_GATES else ()
    if method == "wilson" and sidedness != "two-sided":
        caution = (_WILSON_ONE_SIDED,)
    return Estimate(
        value=c / total,
        low=None if sidedness == "upper" else float(lows[0]),
        high=None if sidedness == "lower" else float(highs[0]),
        n=total,
        successes=c,
        confidence=float(confidence),
        sidedness=sidedness,
        method=name,
        caution=caution,
    )


def wilson(successes: int, n: int, *, confidence: float = 0.95, sidedness: str = "two-sided") -> Estimate:
    """Estimate one proportion with the Wilson score interval, to read and to reproduce published figures.

    Parameters
    ----------
    successes, n : int
        Successes among n runs.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        Scope ``suite``.

    Examples
    --------
    >>> print(wilson(52, 64))
    52/64 = 0.8125 [0.7003, 0.8894] Wilson 95% two-sided, suite

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209.
    """
    return proportion(successes, n, method="wilson", confidence=confidence, sidedness=sidedness)


def clopper_pearson(successes: int, n: int, *, confidence: float = 0.95, sidedness: str = "lower") -> Estimate:
    """Bound one proportion with the exact Clopper-Pearson interval, to certify; one-sided unless said otherwise.

    Parameters
    ----------
    successes, n : int
        Successes among n runs.
    confidence : float
        In (0, 1).
    sidedness : {'lower', 'two-sided', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        Scope ``suite``.

    Examples
    --------
    >>> round(clopper_pearson(64, 64).low, 10)
    0.9542702977

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404.
    """
    return proportion(successes, n, method="clopper_pearson", confidence=confidence, sidedness=sidedness)
