"""How many runs or tasks a comparison of two arms needs."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import one_sided_alpha, probability
from plumbline.stats.differences import score_z
from plumbline.stats.margins import margin_of

__all__ = ["noninferiority_clean_runs", "noninferiority_runs", "questions_needed"]


def noninferiority_clean_runs(margin: float, *, alpha: float = 0.05) -> int:
    """Return the fewest clean runs per arm that show non-inferiority when both arms are clean (score test).

    Parameters
    ----------
    margin : float
        Margin, as a share in (0, 1).
    alpha : float
        One-sided level, in (0, 0.5).

    Returns
    -------
    int
        Runs per arm.

    Raises
    ------
    ParameterError
        A margin or level outside its range.

    Examples
    --------
    >>> noninferiority_clean_runs(0.05), noninferiority_clean_runs(0.1)
    (52, 25)

    References
    ----------
    Farrington and Manning (1990), Statistics in Medicine 9, 1447.
    """
    limit, wall = margin_of(margin), NormalDist().inv_cdf(1 - one_sided_alpha(alpha))
    low, high = 0, 1
    while score_z((high, high), (high, high), delta=-limit) < wall:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = score_z((middle, middle), (middle, middle), delta=-limit) >= wall
        low, high = (low, middle) if enough else (middle, high)
    return high


def noninferiority_runs(rate: float, margin: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the runs per arm that show non-inferiority of two arms with one rate, by the normal approximation.

    Parameters
    ----------
    rate : float
        The rate of both arms, in (0, 1).
    margin : float
        Margin, as a share in (0, 1).
    alpha, power : float
        One-sided level and power.

    Returns
    -------
    int
        Runs per arm; rough for rates near 1, where :func:`noninferiority_clean_runs` is a floor.

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> noninferiority_runs(0.98, 0.05)
    97

    References
    ----------
    Blackwelder (1982), Controlled Clinical Trials 3, 345.
    """
    p, limit = probability(rate, "rate"), margin_of(margin)
    normal = NormalDist()
    total = normal.inv_cdf(1 - one_sided_alpha(alpha)) + normal.inv_cdf(probability(power, "power"))
    return math.ceil(total**2 * 2 * p * (1 - p) / limit**2)


def questions_needed(
    difference: float,
    *,
    between_variance: float,
    noise_first: float = 0.0,
    noise_second: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return how many tasks show a paired difference of two arms, by Miller's formula.

    Parameters
    ----------
    difference : float
        The difference to be seen, above 0.
    between_variance : float
        Variance over tasks of the difference in true rates, at least 0.
    noise_first, noise_second : float
        Within-task variance of each arm divided by its repetitions, at least 0.
    alpha, power : float
        Two-sided level and power.

    Returns
    -------
    float
        Tasks, not rounded up.

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> round(questions_needed(0.03, between_variance=1 / 9), 1)
    969.0

    References
    ----------
    Miller (2024), arXiv 2411.00640, section on power analysis.
    """
    for name, value in (
        ("between_variance", between_variance),
        ("noise_first", noise_first),
        ("noise_second", noise_second),
    ):
        if not (isinstance(value, int | float | np.number) and 0 <= value < math.inf):
            raise ParameterError(f"{name} is {value!r}; give a variance of at least 0")
    if not (isinstance(difference, int | float | np.number) and 0 < difference < math.inf):
        raise ParameterError(f"difference is {difference!r}; give a number above 0")
    normal = NormalDist()
    total = normal.inv_cdf(1 - probability(alpha, "alpha") / 2) + normal.inv_cdf(probability(power, "power"))
    return float(total**2 * (between_variance + noise_first + noise_second) / difference**2)
