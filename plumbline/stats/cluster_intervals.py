"""Intervals at a reduced number of runs: given a design effect, given an effective number, and a t over clusters.

``task_scope`` finds the design effect from the data and is what a report should use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, confidence_level, count_arrays, count_pair, whole
from plumbline.stats.blocks import FEWEST_TASKS
from plumbline.stats.clusters import cluster_se
from plumbline.stats.estimate import Estimate
from plumbline.stats.proportions import METHODS, SIDES, lower_bounds

__all__ = ["cluster_t", "effective_interval", "korn_graubard"]

KORN_GRAUBARD = "Korn-Graubard Clopper-Pearson"


def freedom_factor(n: int, clusters: int, confidence: float) -> float:
    """Return Korn and Graubard's factor (t_{n-1} / t_{K-1})^2, always at the two-sided level of the confidence."""
    from scipy.special import stdtrit

    upper = 1 - (1 - confidence) / 2
    return float(stdtrit(n - 1, upper) / stdtrit(clusters - 1, upper)) ** 2


def tail_of(confidence: float, sidedness: str) -> float:
    level = confidence_level(confidence)
    return (1 - level) / 2 if choice(sidedness, "sidedness", SIDES) == "two-sided" else 1 - level


def no_claim(tasks: int, **described: Any) -> Estimate:
    reason = f"{tasks} tasks are fewer than {FEWEST_TASKS}: no claim about tasks like these"
    return Estimate(value=None, low=None, high=None, scope="none", clusters=tasks, caution=(reason,), **described)


def effective_interval(
    successes: int,
    n: int,
    effective_n: float,
    *,
    method: str = "wilson",
    confidence: float = 0.95,
    sidedness: str = "two-sided",
) -> Estimate:
    """Estimate a rate as if its runs were worth a given number of independent ones.

    Parameters
    ----------
    successes, n : int
        Successes among n runs, n at least 1.
    effective_n : float
        Independent runs they are worth, above 0 and at most n; need not be whole.
    method : {'wilson', 'clopper_pearson'}
        The interval.
    confidence, sidedness
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Scope ``tasks``.

    Raises
    ------
    ParameterError
        Impossible counts, or an effective number that is not in (0, n].

    Examples
    --------
    >>> print(effective_interval(52, 64, 19.2))
    52/64 = 0.8125 [0.5927, 0.9281] Wilson at effective n 95% two-sided, tasks

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.
    """
    c, runs = count_pair(successes, whole(n, "n", 1))
    choice(method, "method", ("wilson", "clopper_pearson"))
    if not (isinstance(effective_n, int | float | np.number) and 0 < effective_n <= runs * (1 + 1e-12)):
        raise ParameterError(f"effective_n is {effective_n!r}; give a number above 0 and at most n, which is {runs}")
    tail, size, rate = tail_of(confidence, sidedness), float(effective_n), c / runs
    low = float(lower_bounds(rate * size, size, tail=tail, method=method))
    high = 1 - float(lower_bounds((1 - rate) * size if c < runs else 0.0, size, tail=tail, method=method))
    return Estimate(
        value=rate,
        low=None if sidedness == "upper" else low,
        high=None if sidedness == "lower" else high,
        n=runs,
        successes=c,
        confidence=float(confidence),
        sidedness=sidedness,
        method=f"{METHODS[method][0]} at effective n",
        scope="tasks",
        effective_n=size,
    )


def korn_graubard(
    successes: int,
    n: int,
    clusters: int,
    *,
    effect: float = 1.0,
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> Estimate:
    """Bound a clustered rate by Clopper-Pearson at a reduced number of runs, the design effect given.

    The runs are divided by the design effect and by (t_{K-1} / t_{n-1})^2, which pays for having seen K clusters only.
    :func:`tasks_estimate` finds the design effect from the data.

    Parameters
    ----------
    successes, n : int
        Successes among n runs, n at least 2.
    clusters : int
        Tasks, at least 2.
    effect : float
        Design effect, at least 1.
    confidence, sidedness
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Scope ``tasks``, ``effective_n`` the reduced number of runs; no claim with fewer than five tasks.

    Raises
    ------
    ParameterError
        Impossible counts, more clusters than runs, or a design effect below 1.

    Examples
    --------
    >>> bound = korn_graubard(64, 64, 8)
    >>> round(bound.effective_n, 4), round(bound.low, 4)
    (45.7083, 0.9366)

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24, 193.
    """
    c, runs = count_pair(successes, whole(n, "n", 2))
    tasks = whole(clusters, "clusters", 2)
    if tasks > runs or not (isinstance(effect, int | float | np.number) and 1 <= effect < float("inf")):
        raise ParameterError(f"{tasks} clusters, {runs} runs, design effect {effect!r}: give K <= n and an effect >= 1")
    level = confidence_level(confidence)
    if tasks < FEWEST_TASKS:
        choice(sidedness, "sidedness", SIDES)
        return no_claim(tasks, n=runs, successes=c, confidence=level, sidedness=sidedness, method=KORN_GRAUBARD)
    size = runs / float(effect) * freedom_factor(runs, tasks, level)
    found = effective_interval(c, runs, size, method="clopper_pearson", confidence=level, sidedness=sidedness)
    return Estimate(**{**vars(found), "method": KORN_GRAUBARD, "clusters": tasks})


def cluster_t(
    successes: ArrayLike, n: ArrayLike, *, confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate a clustered rate with a t interval over clusters, to check against other reports.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each task, at least one run each.
    confidence, sidedness
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Scope ``tasks``; ends are not clipped to [0, 1]. No interval when all tasks have one rate, no claim with fewer
        than five tasks.

    Raises
    ------
    ParameterError
        Impossible counts or a task without runs.

    Examples
    --------
    >>> round(cluster_t([4, 8, 8, 8, 4, 8, 8, 4], [8] * 8).high, 3)
    1.029

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, 13.
    """
    from scipy.special import stdtrit

    x, size = count_arrays(successes, n, minimum=1, what="task")
    total, runs, tasks = int(x.sum()), int(size.sum()), x.size
    described: dict[str, Any] = {
        "n": runs,
        "successes": total,
        "confidence": confidence_level(confidence),
        "sidedness": sidedness,
        "method": "cluster t",
    }
    tail = tail_of(confidence, sidedness)
    if tasks < FEWEST_TASKS:
        return no_claim(tasks, **described)
    rate, se = total / runs, cluster_se(x, size)
    if se is None:
        reason = "all tasks have one rate: the spread over tasks cannot be estimated, so no interval"
        return Estimate(value=rate, low=None, high=None, scope="tasks", clusters=tasks, caution=(reason,), **described)
    reach = float(stdtrit(tasks - 1, 1 - tail)) * se
    outside = rate + reach > 1 or rate - reach < 0
    return Estimate(
        value=rate,
        low=None if sidedness == "upper" else rate - reach,
        high=None if sidedness == "lower" else rate + reach,
        se=se,
        scope="tasks",
        clusters=tasks,
        caution=("an end lies outside 0 to 1: not a valid interval for a rate",) if outside else (),
        **described,
    )
