"""Claims about tasks like these: Korn-Graubard intervals found from the data, and whole clean tasks.

Two rules go beyond the textbook. When all runs end alike the data hold no information on how alike the runs of one task
are, so a correlation is declared, never estimated as 0. And a failure must never raise the lower end: the estimated
design effect can fall when a failure makes the tasks more even, so the lower end is the smallest over all outcomes
that are at least as good (see ``_monotone_lower``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, Ints, choice, confidence_level, count_arrays, probability
from plumbline.stats.blocks import FEWEST_TASKS
from plumbline.stats.cluster_intervals import KORN_GRAUBARD, effective_interval, freedom_factor, no_claim, tail_of
from plumbline.stats.clusters import DECLARED_RHO, anova_icc, cluster_variance, design_effect
from plumbline.stats.estimate import Estimate
from plumbline.stats.proportions import SIDES, lower_bounds

__all__ = ["clean_tasks", "tasks_estimate"]

_CELLS = 1_000_000
_VISIBLE = 0.0005


def tasks_estimate(
    successes: ArrayLike,
    n: ArrayLike,
    *,
    rho: float = DECLARED_RHO,
    confidence: float = 0.95,
    sidedness: str = "two-sided",
) -> Estimate:
    """Estimate a rate for tasks like these, from successes and runs of each task.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each task, at least one run each. Missing runs must already be at one end: a planned run
        that did not finish is a run here.
    rho : float
        Correlation of the runs of one task, in [0, 1], declared for outcomes that cannot show it (all runs alike).
    confidence, sidedness
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Scope ``tasks``, with the estimated ``icc``, the declared ``rho`` and ``effective_n``. Fewer than five tasks:
        cannot tell, however many runs.

    Raises
    ------
    ParameterError
        Impossible counts, a task without runs, or a correlation outside [0, 1].

    Examples
    --------
    >>> print(tasks_estimate([4, 8, 8, 8, 4, 8, 8, 4], [8] * 8))
    52/64 = 0.8125 [0.5107, 0.9713] Korn-Graubard Clopper-Pearson 95% two-sided, tasks
    >>> tasks_estimate([100, 100], [100, 100]).known
    False

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24, 193.
    """
    x, size = count_arrays(successes, n, minimum=1, what="task")
    if x.ndim != 1:
        raise ParameterError(f"successes has shape {x.shape}; give one count per task")
    declared = probability(rho, "rho", closed=True)
    tail, level = tail_of(confidence, sidedness), confidence_level(confidence)
    total, runs, tasks = int(x.sum()), int(size.sum()), len(x)
    described: dict[str, Any] = {
        "n": runs,
        "successes": total,
        "confidence": level,
        "sidedness": sidedness,
        "method": KORN_GRAUBARD,
    }
    if tasks < FEWEST_TASKS:
        return no_claim(tasks, **described)
    freedom = freedom_factor(runs, tasks, level)
    icc = anova_icc(x, size)
    alike = _alike_n(size, declared, freedom)
    effective = alike if total in (0, runs) else runs * freedom / _effect(x, size)
    low, low_moved = _monotone_lower(x, size, alike, freedom, tail)
    miss, high_moved = _monotone_lower(size - x, size, alike, freedom, tail)
    caution: list[str] = []
    if total in (0, runs):
        caution.append(f"all runs ended alike, so rho cannot be estimated: rho = {declared:g} is declared")
    if (low_moved and sidedness != "upper") or (high_moved and sidedness != "lower"):
        caution.append("an end is taken from a more one-sided outcome, so that a failure never raises a bound")
    return Estimate(
        value=total / runs,
        low=None if sidedness == "upper" else low,
        high=None if sidedness == "lower" else 1 - miss,
        scope="tasks",
        clusters=tasks,
        icc=None if icc is None else float(icc),
        rho=declared,
        effective_n=effective,
        caution=tuple(caution),
        **described,
    )


def _effect(x: Ints, size: Ints) -> float:
    """Return the estimated design effect, at least 1: clustered variance over that of a simple random sample."""
    total, runs = int(x.sum()), int(size.sum())
    simple = total / runs * (1 - total / runs) / (runs - 1)
    return max(1.0, cluster_variance(x, size) / simple)


def _alike_n(size: Ints, rho: float, freedom: float) -> float:
    """Return what the runs are worth when all end alike: the declared correlation, never better than no correlation."""
    runs = int(size.sum())
    return min(runs / design_effect(float((size**2).sum()) / runs, rho), runs * freedom)


def _monotone_lower(x: Ints, size: Ints, alike: float, freedom: float, tail: float) -> tuple[float, bool]:
    """Return the smallest Korn-Graubard lower bound over all outcomes at least as good, and whether it visibly moved.

    For each total s' >= s the largest clustered variance among outcomes y >= x with that total is bounded from above by
    the chord of each task's (convex) squared residual between x_k and n_k, filled greedily: the linear relaxation.
    Raising any x_k shortens its chord and drops totals, so the result can only rise: a failure never raises it.
    """
    total, runs, tasks = int(x.sum()), int(size.sum()), len(x)
    best = float(lower_bounds(alike, alike, tail=tail, method="clopper_pearson"))
    if total == runs:
        return best, False
    if total == 0:
        return 0.0, False
    own = float("nan")
    step = max(1, _CELLS // tasks)
    for start in range(total, runs, step):
        totals = np.arange(start, min(start + step, runs), dtype=np.float64)
        rate = totals / runs
        simple = rate * (1 - rate) / (runs - 1)
        spread = _largest_spread(x, size, totals) / runs**2 * tasks / (tasks - 1)
        worth = runs * freedom / np.maximum(1.0, spread / simple)
        bounds = lower_bounds(rate * worth, worth, tail=tail, method="clopper_pearson")
        if start == total:
            own = float(bounds[0])
        best = min(best, float(bounds.min()))
    return best, best < own - _VISIBLE


def _largest_spread(x: Ints, size: Ints, totals: Floats) -> Floats:
    """Bound the sum over tasks of (y_k - p n_k)^2 from above, for each total of y with x <= y <= n."""
    rate = (totals / size.sum())[:, None]
    now = ((x - rate * size) ** 2).sum(axis=1)
    gain = size * (1 - 2 * rate) + x  # slope of the chord from x_k to n_k
    order = np.argsort(-gain, axis=1, kind="stable")
    room = np.take_along_axis(np.broadcast_to((size - x).astype(np.float64), gain.shape), order, axis=1)
    filled = np.clip((totals - x.sum())[:, None] - (room.cumsum(axis=1) - room), 0, room)
    return np.asarray(now + (filled * np.take_along_axis(gain, order, axis=1)).sum(axis=1))


def clean_tasks(successes: ArrayLike, n: ArrayLike, *, confidence: float = 0.95, sidedness: str = "lower") -> Estimate:
    """Estimate the share of tasks like these on which every run succeeds, tasks as the only units.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each task, at least one run each.
    confidence, sidedness
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Clopper-Pearson on tasks, scope ``tasks``; no claim with fewer than five tasks.

    Raises
    ------
    ParameterError
        Impossible counts or a task without runs.

    Examples
    --------
    >>> print(clean_tasks([8] * 8, [8] * 8))
    8/8 = 1.0000, at least 0.6877 Clopper-Pearson on whole tasks 95% one-sided lower, tasks

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404.
    """
    x, size = count_arrays(successes, n, minimum=1, what="task")
    clean, tasks, words = int((x == size).sum()), x.size, "Clopper-Pearson on whole tasks"
    level = confidence_level(confidence)
    if tasks < FEWEST_TASKS:
        choice(sidedness, "sidedness", SIDES)
        return no_claim(tasks, n=tasks, successes=clean, confidence=level, sidedness=sidedness, method=words)
    found = effective_interval(clean, tasks, tasks, method="clopper_pearson", confidence=level, sidedness=sidedness)
    return Estimate(**{**vars(found), "method": words, "clusters": tasks})
