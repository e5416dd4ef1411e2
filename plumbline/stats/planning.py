"""How many runs a bound needs: by search, because the power of a gate is a saw-tooth that no formula inverts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Ints, choice, confidence_level, probability, whole
from plumbline.stats.estimate import Result
from plumbline.stats.proportions import METHODS, lower_bounds

__all__ = [
    "GatePower",
    "gate_failures",
    "pass_probability",
    "runs_for_power",
    "runs_needed",
]

_MOST_RUNS = 10_000_000


def _level_tail(method: str, confidence: float, sidedness: str) -> float:
    choice(method, "method", METHODS)
    level = confidence_level(confidence)
    side = choice(sidedness, "sidedness", ("two-sided", "lower"))
    return (1 - level) / 2 if side == "two-sided" else 1 - level


def runs_needed(
    threshold: float,
    *,
    failures: int = 0,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> int:
    """Return the fewest runs whose lower bound reaches a threshold with a given number of failures.

    Parameters
    ----------
    threshold : float
        What the lower bound must reach, in (0, 1).
    failures : int
        Failures among the runs.
    method : str
        As in :func:`plumbline.stats.proportion`.
    confidence : float
        In (0, 1).
    sidedness : {'lower', 'two-sided'}
        Which bound is read.

    Returns
    -------
    int
        Runs, failures included.

    Raises
    ------
    ParameterError
        A value outside its range, or more than ten million runs.

    Examples
    --------
    >>> [runs_needed(0.95, failures=f) for f in range(3)]
    [59, 93, 124]

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404.
    """
    wall, lost = probability(threshold, "threshold"), whole(failures, "failures")
    tail = _level_tail(method, confidence, sidedness)

    def enough(n: int) -> bool:
        return float(lower_bounds(float(n - lost), float(n), tail=tail, method=method)) >= wall

    low, high = lost, lost + 1
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_RUNS:
            raise ParameterError(f"a bound of {wall} with {lost} failures needs more than {_MOST_RUNS} runs")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def gate_failures(
    n: int,
    threshold: float,
    *,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> Ints:
    """Return, for 0 to n runs, the most failures with which the lower bound still reaches a threshold.

    Parameters
    ----------
    n : int
        Most runs.
    threshold, method, confidence, sidedness
        As in :func:`runs_needed`.

    Returns
    -------
    numpy.ndarray of int64, length n + 1
        -1 where not even clean runs are enough.

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> gate_failures(93, 0.95)[[58, 59, 93]].tolist()
    [-1, 0, 1]
    """
    runs, wall = np.arange(whole(n, "n") + 1, dtype=np.float64), probability(threshold, "threshold")
    tail = _level_tail(method, confidence, sidedness)
    allowed = np.full(len(runs), -1)
    for lost in range(len(runs)):
        reach = runs > lost
        good = np.zeros(len(runs), dtype=bool)
        good[reach] = lower_bounds(runs[reach] - lost, runs[reach], tail=tail, method=method) >= wall
        if not good.any():
            break
        allowed[good] = lost
    return allowed


def _at_most(failures: int, n: int, true_rate: float) -> float:
    """Return P(failures or fewer among n runs); 0 for a negative number of failures."""
    from scipy.special import bdtr

    if failures < 0:
        return 0.0
    return 1.0 if failures >= n else float(bdtr(failures, n, 1 - true_rate))


def pass_probability(
    true_rate: float,
    n: int,
    threshold: float,
    *,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> float:
    """Return the chance that n runs of an agent with a known rate pass a gate.

    Parameters
    ----------
    true_rate : float
        The agent's rate, in [0, 1].
    n : int
        Runs, independent.
    threshold, method, confidence, sidedness
        As in :func:`runs_needed`.

    Returns
    -------
    float
        Exact binomial chance.

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> round(pass_probability(0.99, 73, 0.95, method="wilson", sidedness="two-sided"), 4)
    0.4801

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404.
    """
    rate, runs = probability(true_rate, "true_rate", closed=True), whole(n, "n", 1)
    allowed = gate_failures(runs, threshold, method=method, confidence=confidence, sidedness=sidedness)
    return _at_most(int(allowed[runs]), runs, rate)


@dataclass(frozen=True, kw_only=True)
class GatePower(Result):
    """Fewest runs with which a gate passes an agent of a known rate often enough, and the failures it then allows."""

    n: int
    failures_allowed: int
    power: float


def runs_for_power(
    true_rate: float,
    threshold: float,
    *,
    power: float = 0.8,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> GatePower:
    """Return the fewest runs with which an agent of a known rate passes a gate often enough.

    Power rises where one more failure becomes allowed and falls in between, so those places are searched in order. A
    few more runs than the answer can have less power.

    Parameters
    ----------
    true_rate : float
        The agent's rate, above the threshold and at most 1.
    threshold : float
        What the lower bound must reach, in (0, 1).
    power : float
        Chance to pass, in (0, 1).
    method, confidence, sidedness
        As in :func:`runs_needed`.

    Returns
    -------
    GatePower
        Runs, failures allowed and the power reached.

    Raises
    ------
    ParameterError
        A rate that is not above the threshold, or a value outside its range.

    Examples
    --------
    >>> found = runs_for_power(0.99, 0.95)
    >>> found.n, found.failures_allowed, round(found.power, 4)
    (124, 2, 0.8716)

    References
    ----------
    Chernick and Liu (2002), The American Statistician 56, 149 (the saw-tooth).
    """
    rate, wall = probability(true_rate, "true_rate", closed=True), probability(threshold, "threshold")
    wanted = probability(power, "power")
    if rate <= wall:
        raise ParameterError(f"true_rate is {rate} and threshold {wall}; no number of runs makes such an agent pass")
    failures = 0
    while True:
        n = runs_needed(wall, failures=failures, method=method, confidence=confidence, sidedness=sidedness)
        reached = _at_most(failures, n, rate)
        if reached >= wanted:
            return GatePower(n=n, failures_allowed=failures, power=reached)
        failures += 1
