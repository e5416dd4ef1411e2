"""Intervals for a difference of two proportions: Newcombe, Miettinen-Nurminen, Mee.

Written by hand because the score interval of statsmodels 0.15 uses a wrong cubic coefficient (upstream issue 10269) and
raises on tables such as 64/64 against 55/56. Here the restricted estimate is found by bisection on the derivative of
the log likelihood, which falls monotonically, so no root can be picked wrongly and no table is special.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, choice, confidence_level, two_arms
from plumbline.stats.estimate import Estimate
from plumbline.stats.proportions import SIDES, lower_bounds

__all__ = ["mee", "miettinen_nurminen", "newcombe", "score_z", "score_z_table"]

_HALVINGS = 60


def restricted_second(x1: Floats, n1: float, x2: Floats, n2: float, delta: float) -> Floats:
    """Return the second arm's most likely rate when first minus second is held at ``delta``; arrays of one shape."""
    low = np.full(np.shape(x1), max(0.0, -delta))
    high = np.full(np.shape(x1), min(1.0, 1.0 - delta))
    f1, f2 = n1 - x1, n2 - x2
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            first = middle + delta
            slope = np.where(x1 > 0, x1 / first, 0.0) - np.where(f1 > 0, f1 / (1 - first), 0.0)
            slope = slope + np.where(x2 > 0, x2 / middle, 0.0) - np.where(f2 > 0, f2 / (1 - middle), 0.0)
            up = slope > 0
            low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.asarray((low + high) / 2)


def score_z_table(n1: int, n2: int, delta: float, *, inflate: bool = True) -> Floats:
    """Return the score statistic of every table (x1, x2) against a difference ``delta``, shape (n1 + 1, n2 + 1)."""
    x1, x2 = np.meshgrid(np.arange(n1 + 1.0), np.arange(n2 + 1.0), indexing="ij")
    second = restricted_second(x1, n1, x2, n2, delta)
    first = np.clip(second + delta, 0, 1)
    variance = first * (1 - first) / n1 + second * (1 - second) / n2
    if inflate:
        variance = variance * (n1 + n2) / (n1 + n2 - 1)
    gap = x1 / n1 - x2 / n2 - delta
    gap[np.abs(gap) < 1e-13] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gap == 0, 0.0, gap / np.sqrt(np.maximum(variance, 0)))


def score_z(successes: Sequence[int], n: Sequence[int], *, delta: float, inflate: bool = True) -> float:
    """Return the score statistic of one table against a difference of two proportions.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm.
    delta : float
        Hypothetical difference first minus second, in (-1, 1).
    inflate : bool
        Miettinen and Nurminen's factor N / (N - 1) on the variance; without it the statistic is Mee's.

    Returns
    -------
    float
        Standard normal under the hypothesis, in large samples.

    Raises
    ------
    ParameterError
        Impossible counts or a difference outside (-1, 1).

    Examples
    --------
    >>> round(score_z([64, 55], [64, 56], delta=-0.05), 6)
    2.138302

    References
    ----------
    Miettinen and Nurminen (1985), Statistics in Medicine 4, 213. Mee (1984), Biometrics 40, 1175.
    """
    x1, n1, x2, n2 = two_arms(successes, n)
    if not -1 < delta < 1:
        raise ParameterError(f"delta is {delta!r}; give a difference of proportions between -1 and 1")
    return _z(x1, n1, x2, n2, float(delta), inflate)


def _z(x1: int, n1: int, x2: int, n2: int, delta: float, inflate: bool) -> float:
    """Return the score statistic of one table; plain floats, because a bound asks for it a hundred times."""
    low, high = max(0.0, -delta), min(1.0, 1.0 - delta)
    f1, f2 = n1 - x1, n2 - x2
    for _ in range(_HALVINGS):
        p2 = (low + high) / 2
        p1 = p2 + delta
        slope = (x1 / p1 if x1 else 0.0) - (f1 / (1 - p1) if f1 and p1 < 1 else math.inf if f1 else 0.0)
        slope += (x2 / p2 if x2 else 0.0) - (f2 / (1 - p2) if f2 and p2 < 1 else math.inf if f2 else 0.0)
        if slope > 0:
            low = p2
        else:
            high = p2
    p2 = (low + high) / 2
    p1 = min(1.0, max(0.0, p2 + delta))
    variance = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    if inflate:
        variance *= (n1 + n2) / (n1 + n2 - 1)
    gap = x1 / n1 - x2 / n2 - delta
    if gap == 0 or variance <= 0:
        return 0.0 if gap == 0 else math.copysign(math.inf, gap)
    return gap / math.sqrt(variance)


def _score_lower(x1: int, n1: int, x2: int, n2: int, z: float, inflate: bool) -> float:
    """Return the smallest difference whose score statistic is at most z."""
    low, high = -1.0, x1 / n1 - x2 / n2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _z(x1, n1, x2, n2, middle, inflate) > z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _interval(successes: Sequence[int], n: Sequence[int], confidence: float, sidedness: str, method: str) -> Estimate:
    x1, n1, x2, n2 = two_arms(successes, n)
    level = confidence_level(confidence)
    tail = (1 - level) / 2 if choice(sidedness, "sidedness", SIDES) == "two-sided" else 1 - level
    low: float | None
    if method == "Newcombe":
        low, high = _newcombe(x1, n1, x2, n2, tail), -_newcombe(x2, n2, x1, n1, tail)
    else:
        z, inflate = NormalDist().inv_cdf(1 - tail), method == "Miettinen-Nurminen"
        low, high = _score_lower(x1, n1, x2, n2, z, inflate), -_score_lower(x2, n2, x1, n1, z, inflate)
    return Estimate(
        value=x1 / n1 - x2 / n2,
        low=None if sidedness == "upper" else low,
        high=None if sidedness == "lower" else high,
        n=n1 + n2,
        confidence=level,
        sidedness=sidedness,
        method=f"{method} difference",
    )


def _newcombe(x1: int, n1: int, x2: int, n2: int, tail: float) -> float:
    low1 = float(lower_bounds(x1, n1, tail=tail, method="wilson"))
    high2 = 1 - float(lower_bounds(n2 - x2, n2, tail=tail, method="wilson"))
    p1, p2 = x1 / n1, x2 / n2
    return p1 - p2 - math.hypot(p1 - low1, high2 - p2)


def newcombe(
    successes: Sequence[int], n: Sequence[int], *, confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate a difference of two proportions with Newcombe's hybrid score interval.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm; the difference is first minus second.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        In [-1, 1], scope ``suite``.

    Raises
    ------
    ParameterError
        Not two arms, impossible counts, or an arm without runs.

    Examples
    --------
    >>> print(newcombe([56, 48], [70, 80]))
    n=150 = 0.2000 [0.0524, 0.3339] Newcombe difference 95% two-sided, suite

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873, method 10.
    """
    return _interval(successes, n, confidence, sidedness, "Newcombe")


def miettinen_nurminen(
    successes: Sequence[int], n: Sequence[int], *, confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate a difference of two proportions with the Miettinen-Nurminen score interval.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm; the difference is first minus second.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        In [-1, 1], scope ``suite``.

    Raises
    ------
    ParameterError
        Not two arms, impossible counts, or an arm without runs.

    Examples
    --------
    >>> print(miettinen_nurminen([56, 48], [70, 80]))
    n=150 = 0.2000 [0.0528, 0.3382] Miettinen-Nurminen difference 95% two-sided, suite

    References
    ----------
    Miettinen and Nurminen (1985), Statistics in Medicine 4, 213.
    """
    return _interval(successes, n, confidence, sidedness, "Miettinen-Nurminen")


def mee(
    successes: Sequence[int], n: Sequence[int], *, confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate a difference of two proportions with Mee's score interval (no N / (N - 1) factor).

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm; the difference is first minus second.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        In [-1, 1], scope ``suite``.

    Raises
    ------
    ParameterError
        Not two arms, impossible counts, or an arm without runs.

    Examples
    --------
    >>> print(mee([56, 48], [70, 80]))
    n=150 = 0.2000 [0.0533, 0.3377] Mee difference 95% two-sided, suite

    References
    ----------
    Mee (1984), Biometrics 40, 1175.
    """
    return _interval(successes, n, confidence, sidedness, "Mee")
