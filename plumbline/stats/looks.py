"""What looking after every run does to a fixed-sample bound, and what Wald's sequential test would cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, probability, whole
from plumbline.stats.planning import gate_failures
from plumbline.stats.proportions import SIDES

__all__ = ["peeking_probability", "sprt_expected_runs"]


def peeking_probability(
    true_rate: float,
    threshold: float,
    *,
    looks: Sequence[int],
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> tuple[float, ...]:
    """Return the chance that a fixed-sample lower bound reaches a threshold at some look, looking after every run.

    Parameters
    ----------
    true_rate : float
        The agent's rate, in [0, 1].
    threshold : float
        What the bound must reach, in (0, 1).
    looks : sequence of int
        Numbers of runs up to which to look, each at least 1.
    method, confidence, sidedness
        The bound, as in :func:`plumbline.stats.proportion`.

    Returns
    -------
    tuple of float
        One chance for each number of runs, exact.

    Raises
    ------
    ParameterError
        A value outside its range, or no looks.

    Examples
    --------
    >>> [round(chance, 4) for chance in peeking_probability(0.95, 0.95, looks=[73, 200])]
    [0.0485, 0.1172]

    References
    ----------
    Armitage, McPherson and Rowe (1969), J. R. Stat. Soc. A 132, 235.
    """
    rate = probability(true_rate, "true_rate", closed=True)
    choice(sidedness, "sidedness", SIDES)
    ends = [whole(look, "looks", 1) for look in looks]
    if not ends:
        raise ParameterError("looks is empty; give at least one number of runs")
    allowed = gate_failures(max(ends), threshold, method=method, confidence=confidence, sidedness=sidedness)
    alive = np.zeros(max(ends) + 2)
    alive[0], passed = 1.0, [0.0]
    for runs in range(1, max(ends) + 1):
        alive[1:] = alive[1:] * rate + alive[:-1] * (1 - rate)
        alive[0] *= rate
        stop = int(allowed[runs]) + 1
        passed.append(passed[-1] + float(alive[:stop].sum()))
        alive[:stop] = 0.0
    return tuple(passed[end] for end in ends)


def sprt_expected_runs(
    null: float, alternative: float, *, alpha: float = 0.05, beta: float = 0.1
) -> tuple[float, float]:
    """Return Wald's approximate mean number of runs of a sequential test, under each hypothesis.

    Parameters
    ----------
    null, alternative : float
        The two rates, different, in (0, 1).
    alpha, beta : float
        Error levels, in (0, 1).

    Returns
    -------
    (float, float)
        Runs expected if the null, and if the alternative, is true.

    Raises
    ------
    ParameterError
        Equal rates or a value outside (0, 1).

    Examples
    --------
    >>> [round(runs, 1) for runs in sprt_expected_runs(0.9, 0.8)]
    [54.4, 53.5]

    References
    ----------
    Wald (1945), Annals of Mathematical Statistics 16, 117.
    """
    p0, p1 = probability(null, "null"), probability(alternative, "alternative")
    a, b = probability(alpha, "alpha"), probability(beta, "beta")
    if p0 == p1:
        raise ParameterError(f"null and alternative are both {p0}; a test needs two different rates")
    upper, lower = math.log((1 - b) / a), math.log(b / (1 - a))
    win, loss = math.log(p1 / p0), math.log((1 - p1) / (1 - p0))
    under_null = ((1 - a) * lower + a * upper) / (p0 * win + (1 - p0) * loss)
    under_alternative = (b * lower + (1 - b) * upper) / (p1 * win + (1 - p1) * loss)
    return under_null, under_alternative
