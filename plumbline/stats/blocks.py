"""Tasks as the units: exact block sign flips, and intervals on per-task differences.

Runs of one task succeed and fail together, so a claim about tasks like these must exchange whole tasks. With T tasks
that differ at all, no two-sided p can be smaller than 2 / 2^T: fewer than six can never reach 0.05.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from plumbline.stats._checks import (
    Floats,
    choice,
    confidence_level,
    finite_vector,
    generator_required,
    one_sided_alpha,
    seed_of,
    whole,
)
from plumbline.stats.estimate import Contrast, Estimate
from plumbline.stats.margins import Equivalence, margin_of
from plumbline.stats.proportions import SIDES
from plumbline.stats.two_arms import ALTERNATIVES

__all__ = ["FEWEST_TASKS", "sign_flip", "task_difference", "task_equivalence"]

FEWEST_TASKS = 5
"""With fewer tasks than this, nothing is claimed about tasks like these."""

_ENUMERATED = 20
_COUNTED = 62


def sign_flip(
    differences: Sequence[float],
    *,
    alternative: str = "two-sided",
    draws: int = 9_999,
    generator: np.random.Generator | None = None,
) -> Contrast:
    """Test whether per-task differences are centred at zero, by flipping the sign of whole tasks.

    Parameters
    ----------
    differences : sequence of float
        First minus second for each task: counts of successes, or rates. Finite, at least one.
    alternative : {'two-sided', 'greater', 'less'}
        About first minus second.
    draws : int
        Random flips, used only for differences without a common unit 1/q (q up to 100) on more than 20 tasks.
    generator : numpy.random.Generator, optional
        Needed only then.

    Returns
    -------
    Contrast
        Unit ``task``; ``smallest_attainable_p`` is 2 / 2^T two-sided, with T the tasks whose difference is not zero.

    Raises
    ------
    ParameterError
        Differences that are not finite or are none, or random flips without a generator.

    Examples
    --------
    >>> print(sign_flip([4, 0, 0, 0, 4, 0, 0, 4]))
    p = 0.25 (1/4) block sign flip two-sided, 8 tasks

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21.
    """
    values = finite_vector(differences, "differences")
    choice(alternative, "alternative", ALTERNATIVES)
    affected = values[values != 0]
    sides = 2 if alternative == "two-sided" else 1
    smallest = min(1.0, sides / 2.0 ** len(affected))
    caution: tuple[str, ...] = ()
    if smallest > 0.05:
        caution = (f"{len(affected)} of {len(values)} tasks differ: no p below {smallest:g} is possible",)
    common: dict[str, Any] = {
        "difference": float(values.mean()),
        "statistic": float(values.sum()),
        "sidedness": alternative,
        "unit": "task",
        "n": len(values),
        "caution": caution,
    }
    counted = _as_counts(affected)
    if counted is not None:
        p, fraction = _whole_flips(counted, alternative)
    elif len(affected) <= _ENUMERATED:
        p, fraction = _enumerated_flips(affected, alternative)
    else:
        return _random_flips(affected, alternative, whole(draws, "draws", 1), generator, common)
    return Contrast(p=p, fraction=fraction, method="block sign flip", smallest_attainable_p=smallest, **common)


def _as_counts(affected: Floats) -> Floats | None:
    """Return differences as whole numbers of a common unit 1/q, q up to 100 (rates over q runs are); else None."""
    for unit in range(1, 101):
        scaled = affected * unit
        nearest = np.rint(scaled)
        if np.abs(scaled - nearest).max(initial=0.0) < 1e-9 and np.abs(nearest).sum() < 1e6:
            return nearest
    return None


def _whole_flips(affected: Floats, alternative: str) -> tuple[float, Fraction | None]:
    """Count flips by their sum: the sums of whole numbers are few, so any number of tasks is exact."""
    steps = [abs(int(value)) for value in affected]
    reach = sum(steps)
    exact = len(steps) <= _COUNTED
    counts: np.ndarray = np.zeros(2 * reach + 1, dtype=np.int64 if exact else np.float64)
    counts[reach] = 1
    for step in steps:
        up, down = np.zeros_like(counts), np.zeros_like(counts)
        up[step:], down[: counts.size - step] = counts[: counts.size - step], counts[step:]
        counts = up + down if exact else (up + down) / 2
    sums = np.arange(-reach, reach + 1)
    extreme = _extreme(sums, int(affected.sum()), alternative, 0)
    hits = counts[extreme].sum()
    if exact:
        fraction = Fraction(int(hits), 2 ** len(steps))
        return float(fraction), fraction
    return min(1.0, float(hits)), None


def _enumerated_flips(affected: Floats, alternative: str) -> tuple[float, Fraction]:
    sums = np.zeros(1)
    for step in np.abs(affected):
        sums = np.concatenate([sums + step, sums - step])
    extreme = _extreme(sums, float(affected.sum()), alternative, 1e-11 * float(np.abs(affected).sum()))
    fraction = Fraction(int(extreme.sum()), len(sums))
    return float(fraction), fraction


def _extreme(sums: np.ndarray, observed: float, alternative: str, tie: float) -> np.ndarray:
    if alternative == "greater":
        return np.asarray(sums >= observed - tie)
    if alternative == "less":
        return np.asarray(sums <= observed + tie)
    return np.asarray(np.abs(sums) >= abs(observed) - tie)


def _random_flips(
    affected: Floats, alternative: str, draws: int, generator: np.random.Generator | None, common: dict[str, Any]
) -> Contrast:
    why = f"{len(affected)} tasks whose differences have no common unit are too many to enumerate"
    chance = generator_required(generator, why)
    tie = 1e-11 * float(np.abs(affected).sum())
    hits = 0
    for start in range(0, draws, 4096):
        signs = chance.integers(0, 2, size=(min(4096, draws - start), len(affected))) * 2 - 1
        hits += int(_extreme(signs @ affected, float(affected.sum()), alternative, tie).sum())
    p = (hits + 1) / (draws + 1)
    return Contrast(
        p=p,
        method=f"block sign flip, {draws} random flips",
        smallest_attainable_p=1 / (draws + 1),
        mc_se=math.sqrt(p * (1 - p) / draws),
        seed=seed_of(chance),
        **common,
    )


def task_difference(
    differences: Sequence[float], *, confidence: float = 0.95, sidedness: str = "two-sided"
) -> Estimate:
    """Estimate the mean per-task difference for tasks like these, with a t interval over tasks.

    Parameters
    ----------
    differences : sequence of float
        First minus second rate of each task, in [-1, 1] for proportions.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        Scope ``tasks``. Cannot tell with fewer than five tasks, and has no interval when all differences are equal.

    Raises
    ------
    ParameterError
        Differences that are not finite or are none.

    Examples
    --------
    >>> print(task_difference([0.5, 0, 0, 0, 0.5, 0, 0, 0.5]))
    n=8 = 0.1875 [-0.0288, 0.4038] t over tasks 95% two-sided, tasks

    References
    ----------
    Miller (2024), arXiv 2411.00640, section on paired differences.
    """
    from scipy.special import stdtrit

    values = finite_vector(differences, "differences")
    level = confidence_level(confidence)
    tail = (1 - level) / 2 if choice(sidedness, "sidedness", SIDES) == "two-sided" else 1 - level
    tasks = len(values)
    common: dict[str, Any] = {
        "n": tasks,
        "clusters": tasks,
        "confidence": level,
        "sidedness": sidedness,
        "method": "t over tasks",
    }
    if tasks < FEWEST_TASKS:
        reason = f"{tasks} tasks are fewer than {FEWEST_TASKS}: no claim about tasks like these"
        return Estimate(value=None, low=None, high=None, scope="none", caution=(reason,), **common)
    mean, se = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(tasks)
    if np.ptp(values) == 0:
        reason = "every task has the same difference: the spread over tasks cannot be estimated, so no interval"
        return Estimate(value=mean, low=None, high=None, scope="tasks", caution=(reason,), **common)
    reach = float(stdtrit(tasks - 1, 1 - tail)) * se
    return Estimate(
        value=mean,
        low=None if sidedness == "upper" else mean - reach,
        high=None if sidedness == "lower" else mean + reach,
        se=se,
        scope="tasks",
        **common,
    )


def task_equivalence(differences: Sequence[float], *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test whether per-task differences are within a margin, tasks as the units (two one-sided t tests).

    Parameters
    ----------
    differences : sequence of float
        Replacement minus incumbent rate of each task.
    margin : float
        The largest difference that does not matter, as a share in (0, 1).
    alpha : float
        Level of each one-sided test.

    Returns
    -------
    Equivalence
        Unit ``task``. Cannot tell with fewer than five tasks or when all differences are equal.

    Raises
    ------
    ParameterError
        Differences that are not finite or are none, or a margin outside (0, 1).

    Examples
    --------
    >>> task_equivalence([0, 0, 0, 0, 0, 0, 0.125, 0], margin=0.05).verdict
    'equivalent'

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657.
    """
    from scipy.special import stdtr

    limit, level = margin_of(margin), one_sided_alpha(alpha)
    interval = task_difference(differences, confidence=1 - 2 * level)
    below = above = t_lower = t_upper = None
    if interval.value is not None and interval.se is not None:
        t_lower, t_upper = (interval.value + limit) / interval.se, (interval.value - limit) / interval.se
        below, above = float(stdtr(interval.n - 1, -t_lower)), float(stdtr(interval.n - 1, t_upper))
    return Equivalence(
        margin=limit,
        alpha=level,
        difference=interval.value,
        z_lower=t_lower,
        z_upper=t_upper,
        p_noninferior=below,
        p_nonsuperior=above,
        interval=interval,
        method="t over tasks",
        unit="task",
        n=interval.n,
        caution=interval.caution,
    )
