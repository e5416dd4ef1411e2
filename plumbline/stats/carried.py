"""A violation rate that carries the errors of whatever made and judged the pairs, with families as the unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Ints, confidence_level, count_arrays, count_pair
from plumbline.stats.blocks import FEWEST_TASKS
from plumbline.stats.estimate import Estimate
from plumbline.stats.task_scope import tasks_estimate

__all__ = ["carried_rate"]

_METHOD = "carried errors, families as units"


def carried_rate(
    violated: ArrayLike, judged: ArrayLike, *, wrong: tuple[int, int] | None = None,
    found: tuple[int, int] | None = None, cleared: tuple[int, int] | None = None, confidence: float = 0.95,
) -> Estimate:  # fmt: skip
    """Estimate how often valid pairs violate a relation, from pairs that a fallible chain made and judged.

    The share of judged pairs called violated mixes three things: pairs whose transformation is wrong although it passed
    validation (they may end either way), violations the grader finds or misses, and clean pairs it accuses. Each of
    these rates comes from a sample of its own and is known only within an interval; the distances to their ends are
    added in squares (MOVER), and how wrong pairs ended is taken the worst way for either end.

    Parameters
    ----------
    violated, judged : array of int, one entry a family
        Pairs called violated, and pairs judged at all. A family counts once however many pairs descend from it.
    wrong : tuple of int, optional
        Transformations found wrong in a blind review, of how many reviewed; by default none can be wrong.
    found : tuple of int, optional
        True violations the grader called so in its audit, of how many.
    cleared : tuple of int, optional
        Clean pairs it called satisfied, of how many. Without both, judging is taken as free of error (deterministic).
    confidence : float
        Of the whole, in (0, 1).

    Returns
    -------
    Estimate
        Scope ``tasks``: families like these. The value takes wrong pairs to end like the others. Cannot tell where the
        grader may be no better than chance.

    Raises
    ------
    ParameterError
        Impossible counts, a family without a judged pair, or only one of ``found`` and ``cleared``.

    Examples
    --------
    >>> print(carried_rate([0, 2, 0, 0, 1], [5, 5, 5, 5, 5], wrong=(3, 60), found=(57, 60), cleared=(54, 60)))
    n=25 = 0.0235 [0.0000, 0.5387] carried errors, families as units 95% two-sided, tasks

    Notes
    -----
    From five families on, the share called violated has the Korn-Graubard interval of ``tasks_estimate``; with fewer,
    each family is one trial of a Clopper-Pearson interval: its share lies in [0, 1], and of all such variables a
    yes-or-no one spreads most. ``tests/quality`` shows by simulation that the whole covers.

    References
    ----------
    Donner and Zou (2012), Statistical Methods in Medical Research 21, 347 (MOVER).
    """
    x, size = count_arrays(violated, judged, minimum=1, what="family")
    if x.ndim != 1:
        raise ParameterError(f"violated has shape {x.shape}; give one count a family")
    if (found is None) != (cleared is None):
        raise ParameterError("a grader's errors are found= and cleared= together, or neither for deterministic judging")
    level, families = confidence_level(confidence), len(x)
    tail = (1 - level) / 2
    known = {
        "share": _of_families(x, size, level),
        "wrong": (0.0, 0.0, 0.0) if wrong is None else _sampled(wrong, "wrong", tail),
        "sees": (1.0, 1.0, 1.0) if found is None else _sampled(found, "found", tail),
        "spares": (1.0, 1.0, 1.0) if cleared is None else _sampled(cleared, "cleared", tail),
    }
    described: dict[str, Any] = {"n": int(size.sum()), "confidence": level, "method": _METHOD, "clusters": families}
    if known["sees"][1] + known["spares"][1] <= 1 or known["wrong"][2] >= 1:
        why = "within its audit's uncertainty the grader may be no better than chance, or every transformation wrong"
        return Estimate(value=None, low=None, high=None, scope="none", caution=(why,), **described)
    best = {name: value for name, (value, *_) in known.items()}
    cautions = () if families > 1 else ("all pairs descend from one seed: this says little of other seeds",)
    return Estimate(
        value=_inside(_true_rate(best | {"wrong": 0.0}, 0)), low=_end(known, best, 1), high=_end(known, best, 0),
        scope="tasks", caution=cautions, **described,
    )  # fmt: skip


def _of_families(x: Ints, size: Ints, level: float) -> tuple[float, float, float]:
    """The share called violated: by the spread between families where there are enough, else one trial a family."""
    families = len(x)
    if families >= FEWEST_TASKS:
        made = tasks_estimate(x, size, confidence=level)
        if made.value is not None and made.low is not None and made.high is not None:
            return made.value, made.low, made.high
    share = float((x / size).sum())
    return (share / families, *_bounds(share, families, (1 - level) / 2))


def _end(known: Mapping[str, tuple[float, float, float]], best: Mapping[str, float], all_wrong_end: int) -> float:
    """The lower end, where all wrong pairs are taken to be called violated (1), or the upper end, where none is (0)."""
    middle, sign = _true_rate(best, all_wrong_end), -1 if all_wrong_end else 1
    far = 0.0
    for name, (_, low, high) in known.items():
        away = max(sign * (_true_rate({**best, name: end}, all_wrong_end) - middle) for end in (low, high))
        far += max(0.0, away) ** 2
    return _inside(middle + sign * math.sqrt(far))


def _true_rate(at: Mapping[str, float], all_wrong_end: int) -> float:
    among_valid = (at["share"] - at["wrong"] * all_wrong_end) / (1 - at["wrong"])
    return (among_valid - (1 - at["spares"])) / (at["sees"] + at["spares"] - 1)


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))


def _sampled(given: tuple[int, int], name: str, tail: float) -> tuple[float, float, float]:
    k, n = count_pair(*given)
    if not n:
        raise ParameterError(f"{name} is {given!r}: a rate that carries it needs at least one reviewed pair")
    return (k / n, *_bounds(k, n, tail))


def _bounds(k: float, n: int, tail: float) -> tuple[float, float]:
    """Clopper-Pearson bounds, also of a sum of shares."""
    from scipy.special import betaincinv

    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high
