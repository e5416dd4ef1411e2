"""The threshold of a score that separates two kinds under stated costs, with its uncertainty and its held-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, confidence_level, finite_vector, generator_required, whole
from plumbline.stats.estimate import Result

__all__ = ["HeldOut", "cost_threshold", "family_folds", "held_out_errors", "threshold_interval"]


def cost_threshold(
    scores: ArrayLike, different: ArrayLike, *, cost_false_alarm: float = 1.0, cost_miss: float = 1.0
) -> float:
    """Return the threshold below which to alarm that costs least on these scores.

    A score of an equal pair below the threshold is a false alarm, a score of a different pair at or above it a miss.
    The threshold lies in the middle of the gap that costs least; of several gaps it is the widest, of equal ones the
    highest, which misses less.

    Parameters
    ----------
    scores : array of float
        Similarities in [0, 1].
    different : array of bool
        Whether each pair was judged different.
    cost_false_alarm, cost_miss : float
        What one of each costs, above zero.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ParameterError
        Not one label a score, only one kind, or a cost that is not positive.

    Examples
    --------
    >>> cost_threshold([0.9, 0.95, 0.6, 0.7], [False, False, True, True])
    0.8
    """
    x, label = _pairs(scores, different)
    for name, cost in (("cost_false_alarm", cost_false_alarm), ("cost_miss", cost_miss)):
        if not np.isfinite(cost) or cost <= 0:
            raise ParameterError(f"{name} is {cost!r}; give a cost above zero")
    return _threshold(x, label, cost_false_alarm, cost_miss)


def _threshold(x: Floats, label: np.ndarray, cost_false_alarm: float, cost_miss: float) -> float:
    """Candidates lie in the gaps between neighbouring scores, below the lowest and above the highest."""
    order = np.argsort(x, kind="stable")
    x, label = x[order], label[order]
    new = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0)  # first place of each distinct score
    cuts = np.append(new, x.size)  # everything before a cut alarms
    alarms = np.concatenate([[0], np.cumsum(~label)])[cuts]
    misses = label.sum() - np.concatenate([[0], np.cumsum(label)])[cuts]
    cost = cost_false_alarm * alarms + cost_miss * misses
    low = np.concatenate([[0.0], x[cuts[1:] - 1]])  # the highest score that alarms
    high = np.concatenate([x[new], [1.0]])
    best = np.flatnonzero(cost <= cost.min() + 1e-12)
    width = (high - low)[best]
    at = best[np.flatnonzero(width >= width.max() - 1e-15)[-1]]
    return float((low[at] + high[at]) / 2)


def threshold_interval(
    scores: ArrayLike,
    different: ArrayLike,
    families: ArrayLike,
    *,
    cost_false_alarm: float = 1.0,
    cost_miss: float = 1.0,
    confidence: float = 0.95,
    draws: int = 1_000,
    generator: np.random.Generator,
) -> tuple[float, float]:
    """Return a percentile interval of the threshold, whole families resampled.

    Parameters
    ----------
    scores, different, cost_false_alarm, cost_miss
        As in :func:`cost_threshold`.
    families : array
        Label of the family of each pair: pairs of one family are alike.
    confidence : float
        In (0, 1).
    draws : int
        Resamples; one that lacks a kind is drawn again.
    generator : numpy.random.Generator
        Source of chance.

    Returns
    -------
    (float, float)

    Examples
    --------
    >>> scores, different = [0.9, 0.95, 0.6, 0.7], [False, False, True, True]
    >>> chance = np.random.default_rng(1)
    >>> low, high = threshold_interval(scores, different, [1, 2, 1, 2], draws=50, generator=chance)
    >>> 0.7 <= low <= high <= 0.95
    True

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
    """
    x, label = _pairs(scores, different)
    chance, times = generator_required(generator, "resampling is random"), whole(draws, "draws", 1)
    level = confidence_level(confidence)
    _, of = np.unique(np.asarray(families), return_inverse=True)
    if of.size != x.size:
        raise ParameterError(f"families holds {of.size} labels for {x.size} scores")
    members = [np.flatnonzero(of == family) for family in range(int(of.max()) + 1)]
    found = []
    for _ in range(times):
        for _ in range(100):
            rows = np.concatenate([members[i] for i in chance.integers(0, len(members), len(members))])
            if 0 < label[rows].sum() < rows.size:
                break
        else:
            raise ParameterError(
                "families are so uneven that resamples lack a kind; judge pairs of both in more of them"
            )
        found.append(_threshold(x[rows], label[rows], cost_false_alarm, cost_miss))
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class HeldOut(Result):
    """Errors on families that the threshold was not fitted on.

    ``false_alarms`` of ``equivalent`` and ``misses`` of ``different``, counted over all folds; ``wrong`` one flag a
    pair, in the order given.
    """

    false_alarms: int
    equivalent: int
    misses: int
    different: int
    folds: int
    wrong: tuple[bool, ...]


def family_folds(families: ArrayLike, *, folds: int, generator: np.random.Generator) -> np.ndarray:
    """Return the fold of each pair, whole families together, as even in size as they come.

    Examples
    --------
    >>> family_folds([1, 1, 2, 2], folds=2, generator=np.random.default_rng(1)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    _, of = np.unique(np.asarray(families), return_inverse=True)
    count = int(of.max()) + 1
    if not 2 <= folds <= count:
        raise ParameterError(f"folds is {folds}; give from 2 to the number of families, {count}")
    return np.asarray(generator_required(generator, "the split is random").permutation(count) % folds)[of]


def held_out_errors(
    scores: ArrayLike,
    different: ArrayLike,
    families: ArrayLike,
    *,
    cost_false_alarm: float = 1.0,
    cost_miss: float = 1.0,
    folds: int = 5,
    generator: np.random.Generator,
) -> HeldOut:
    """Count the errors of thresholds on families that they were not fitted on.

    Parameters
    ----------
    scores, different, families, cost_false_alarm, cost_miss
        As in :func:`threshold_interval`.
    folds : int
        From 2 to the number of families.
    generator : numpy.random.Generator
        Source of chance.

    Returns
    -------
    HeldOut

    Examples
    --------
    >>> chance = np.random.default_rng(1)
    >>> found = held_out_errors([0.9, 0.6] * 4, [False, True] * 4, [1, 1, 2, 2, 3, 3, 4, 4], folds=2, generator=chance)
    >>> found.false_alarms, found.misses, found.equivalent
    (0, 0, 4)
    """
    x, label = _pairs(scores, different)
    fold = family_folds(families, folds=folds, generator=generator)
    wrong = np.zeros(x.size, bool)
    for at in range(folds):
        held = fold == at
        own = label[~held]
        if not 0 < own.sum() < own.size:
            raise ParameterError(f"without fold {at + 1} only one kind is left; give more families or fewer folds")
        threshold = _threshold(x[~held], own, cost_false_alarm, cost_miss)
        wrong[held] = (x[held] < threshold) != label[held]
    return HeldOut(
        false_alarms=int(wrong[~label].sum()),
        equivalent=int((~label).sum()),
        misses=int(wrong[label].sum()),
        different=int(label.sum()),
        folds=folds,
        wrong=tuple(wrong.tolist()),
    )


def _pairs(scores: ArrayLike, different: ArrayLike) -> tuple[Floats, np.ndarray]:
    x = finite_vector(scores, "scores", 2)
    label = np.asarray(different)
    if label.shape != x.shape or label.dtype != bool:
        raise ParameterError(f"different holds {label.size} values of {label.dtype}; give one truth value a score")
    if label.all() or not label.any():
        only = "different" if label.all() else "equivalent"
        raise ParameterError(f"every pair is {only}; judge pairs of both kinds, most of all different ones")
    return x, label
