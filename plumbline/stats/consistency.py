"""How often two runs agree, and how often k runs all pass: U-statistics, exact where they can be.

The n (n - 1) / 2 pairs of n runs are not independent: errors come from deleting runs, not from counting pairs. When all
deletions give one value (all runs alike, or counts such as 5 and 5) the jackknife error is 0 and means nothing; then no
error is given, and a bound on the most common behaviour takes its place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import confidence_level, count_arrays, count_pair, whole
from plumbline.stats.blocks import task_difference
from plumbline.stats.estimate import Estimate, Result
from plumbline.stats.proportions import proportion

__all__ = [
    "Agreement",
    "PassK",
    "agreement_moments",
    "identical_counts",
    "pairwise_agreement",
    "pairwise_similarity",
    "pass_hat_suite",
    "pass_k",
]


@dataclass(frozen=True, kw_only=True)
class Agreement(Result):
    """Chance that two runs behave alike.

    ``value`` is unbiased (None with fewer than two runs); ``plug_in`` is the biased sum of squared shares; ``se`` is
    the jackknife error over runs, None when it cannot be told; ``modal_share`` bounds the share of the most common
    behaviour, and its square bounds the agreement from below.
    """

    value: float | None
    fraction: Fraction | None
    plug_in: float | None
    distinct: int | None
    n: int
    jackknife_variance: float | None
    se: float | None
    modal_share: Estimate | None = None
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there were runs to compare."""
        return self.value is not None

    @property
    def low(self) -> float | None:
        """A lower bound on the agreement, from the most common behaviour alone."""
        share = self.modal_share.low if self.modal_share is not None else None
        return None if share is None else share**2

    def __str__(self) -> str:
        if self.value is None:
            return f"agreement = cannot tell ({'; '.join(self.caution)})"
        error = f"s.e. {self.se:.4f}" if self.se is not None else "s.e. cannot be told"
        kinds = f", {self.distinct} distinct" if self.distinct is not None else ""
        return f"agreement = {self.value:.4f} ({error}), {self.n} runs{kinds}"


def identical_counts(behaviours: Iterable[Hashable]) -> tuple[int, ...]:
    """Count runs by identical behaviour, most common first.

    Parameters
    ----------
    behaviours : iterable of hashable
        One a run, for example the tuple of its tool names.

    Returns
    -------
    tuple of int
        One count a distinct behaviour.

    Examples
    --------
    >>> identical_counts(["abc", "abc", "acb"])
    (2, 1)
    """
    return tuple(count for _, count in Counter(behaviours).most_common())


def pairwise_agreement(counts: Sequence[int], *, confidence: float = 0.95) -> Agreement:
    """Estimate the chance that two runs of one task behave identically.

    Parameters
    ----------
    counts : sequence of int
        Runs of each distinct behaviour, at least 1 each.
    confidence : float
        Of the bound on the most common behaviour, corrected for its choice.

    Returns
    -------
    Agreement
        Cannot tell with fewer than two runs; no standard error when the jackknife is degenerate.

    Raises
    ------
    ParameterError
        No counts, or a count below 1.

    Examples
    --------
    >>> found = pairwise_agreement([6, 3, 1])
    >>> found.fraction, found.se
    (Fraction(2, 5), 0.15)

    References
    ----------
    Hoeffding (1948), Annals of Mathematical Statistics 19, 293. Arvesen (1969), same journal 40, 2076 (jackknife).
    """
    sizes = [whole(count, "a count", 1) for count in counts]
    if not sizes:
        raise ParameterError("counts is empty; give the runs of each distinct behaviour")
    n, distinct = sum(sizes), len(sizes)
    level = 1 - (1 - confidence_level(confidence)) / distinct
    shared: dict[str, Any] = {
        "plug_in": sum(count**2 for count in sizes) / n**2,
        "distinct": distinct,
        "n": n,
        "modal_share": proportion(max(sizes), n, method="clopper_pearson", confidence=level, sidedness="lower"),
    }
    if n < 2:
        reason = ("one run agrees with nothing",)
        return Agreement(value=None, fraction=None, jackknife_variance=None, se=None, caution=reason, **shared)
    alike = sum(count * (count - 1) for count in sizes)
    value = Fraction(alike, n * (n - 1))
    variance: Fraction | None = None
    if n > 2:
        without = [Fraction(alike - 2 * (count - 1), (n - 1) * (n - 2)) for count in sizes]
        centre = sum((count * part for count, part in zip(sizes, without, strict=True)), Fraction(0)) / n
        squares = sum((count * (part - centre) ** 2 for count, part in zip(sizes, without, strict=True)), Fraction(0))
        variance = squares * Fraction(n - 1, n)
    told = variance is not None and variance > 0
    caution = () if told else ("every deletion of a run gives one value: the error cannot be told, it is not 0",)
    return Agreement(
        value=float(value),
        fraction=value,
        jackknife_variance=None if variance is None else float(variance),
        se=math.sqrt(variance) if told and variance is not None else None,
        caution=caution,
        **shared,
    )


def agreement_moments(shares: Sequence[Any], n: int) -> tuple[Any, Any]:
    """Return the exact mean and variance of the pairwise agreement of n runs with known shares of behaviours.

    Parameters
    ----------
    shares : sequence of Fraction or float
        Probability of each behaviour, summing to 1.
    n : int
        Runs, at least 2.

    Returns
    -------
    (mean, variance)
        Fractions when the shares are Fractions.

    Raises
    ------
    ParameterError
        Shares outside [0, 1] or not summing to 1, or fewer than two runs.

    Examples
    --------
    >>> agreement_moments([Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)], 10)[1]
    Fraction(213, 12500)

    References
    ----------
    Hoeffding (1948), Annals of Mathematical Statistics 19, 293.
    """
    runs, total = whole(n, "n", 2), sum(shares)
    if not shares or any(not 0 <= share <= 1 for share in shares) or abs(total - 1) > 1e-9:
        raise ParameterError(f"shares sum to {total}; give probabilities that sum to 1")
    second, third = sum(share**2 for share in shares), sum(share**3 for share in shares)
    first_order, pair = third - second**2, second - second**2
    return second, (4 * (runs - 2) * first_order + 2 * pair) / (runs * (runs - 1))


def pairwise_similarity(similarity: ArrayLike) -> Agreement:
    """Estimate the mean similarity of two runs of one task from a matrix of similarities.

    Parameters
    ----------
    similarity : array of float, shape (n, n)
        Symmetric and finite; the diagonal is not used.

    Returns
    -------
    Agreement
        With the jackknife error over runs; ``distinct`` and ``plug_in`` do not apply. Combine tasks with
        :func:`plumbline.stats.task_difference`, whose units are tasks.

    Raises
    ------
    ParameterError
        A matrix that is not square, not symmetric or not finite.

    Examples
    --------
    >>> round(pairwise_similarity([[1, 0.5, 0.4], [0.5, 1, 0.3], [0.4, 0.3, 1]]).value, 3)
    0.4

    References
    ----------
    Arvesen (1969), Annals of Mathematical Statistics 40, 2076.
    """
    h = np.asarray(similarity, dtype=np.float64)
    if h.ndim != 2 or h.shape[0] != h.shape[1] or not np.isfinite(h).all() or not np.allclose(h, h.T, atol=1e-12):
        raise ParameterError(f"similarity has shape {h.shape}; give a symmetric square matrix of finite numbers")
    n = len(h)
    shared: dict[str, Any] = {"fraction": None, "plug_in": None, "distinct": None, "n": n}
    if n < 2:
        reason = ("one run agrees with nothing",)
        return Agreement(value=None, jackknife_variance=None, se=None, caution=reason, **shared)
    rows = h.sum(axis=1) - h.diagonal()
    total = float(rows.sum())
    variance: float | None = None
    if n > 2:
        without = (total - 2 * rows) / ((n - 1) * (n - 2))
        spread = without - without.mean()
        spread[np.abs(spread) < 1e-14 * (1 + np.abs(h).max())] = 0.0
        variance = float((spread**2).sum()) * (n - 1) / n
    told = variance is not None and variance > 0
    caution = () if told else ("every deletion of a run gives one value: the error cannot be told, it is not 0",)
    return Agreement(
        value=total / (n * (n - 1)),
        jackknife_variance=variance,
        se=math.sqrt(variance) if told and variance is not None else None,
        caution=caution,
        **shared,
    )


@dataclass(frozen=True, kw_only=True)
class PassK(Result):
    """Chance that k runs of one task all pass (``pass_hat``) or that one does (``pass_at``), unbiased and exact.

    Both are None with fewer than k trials; ``plug_in`` is the biased rate to the power k.
    """

    k: int
    successes: int
    trials: int
    pass_hat: Fraction | None
    pass_at: Fraction | None
    plug_in: float | None

    @property
    def known(self) -> bool:
        """Whether there were k trials."""
        return self.pass_hat is not None


def pass_k(successes: int, trials: int, k: int) -> PassK:
    """Estimate the chance that k runs of one task all pass, without bias.

    Parameters
    ----------
    successes, trials : int
        Of one task; its own number of trials, never that of the suite.
    k : int
        Runs that must all pass, at least 1.

    Returns
    -------
    PassK
        Cannot tell with fewer than k trials.

    Raises
    ------
    ParameterError
        Impossible counts.

    Examples
    --------
    >>> pass_k(9, 10, 2).pass_hat
    Fraction(4, 5)

    References
    ----------
    Yao et al. (2024), arXiv 2406.12045 (pass^k). Chen et al. (2021), arXiv 2107.03374 (pass@k).
    """
    c, n = count_pair(successes, trials)
    size = whole(k, "k", 1)
    if n < size:
        plug = (c / n) ** size if n else None
        return PassK(k=size, successes=c, trials=n, pass_hat=None, pass_at=None, plug_in=plug)
    ways = math.comb(n, size)
    return PassK(
        k=size,
        successes=c,
        trials=n,
        pass_hat=Fraction(math.comb(c, size), ways),
        pass_at=1 - Fraction(math.comb(n - c, size), ways),
        plug_in=(c / n) ** size,
    )


def pass_hat_suite(successes: ArrayLike, trials: ArrayLike, k: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate pass^k over tasks, with the error over tasks.

    Parameters
    ----------
    successes, trials : array of int
        Of each task.
    k : int
        Runs that must all pass.
    confidence : float
        Of the t interval over tasks.

    Returns
    -------
    Estimate
        Scope ``tasks``. Cannot tell when a task has fewer than k trials (it is neither dropped nor scored as if it had
        them) or with fewer than five tasks.

    Raises
    ------
    ParameterError
        Impossible counts.

    Examples
    --------
    >>> pass_hat_suite([4, 3, 4, 0, 4], [4] * 5, 2).value
    0.7

    References
    ----------
    Yao et al. (2024), arXiv 2406.12045.
    """
    c, n = count_arrays(successes, trials, what="task")
    size = whole(k, "k", 1)
    short = int((n < size).sum())
    words = f"pass^{size}, t over tasks"
    if short:
        reason = f"{short} of {n.size} tasks have fewer than {size} trials"
        return Estimate(
            value=None, low=None, high=None, n=n.size, clusters=n.size, confidence=confidence_level(confidence),
            method=words, scope="none", caution=(reason,),
        )  # fmt: skip
    each = [Fraction(math.comb(a, size), math.comb(b, size)) for a, b in zip(c.tolist(), n.tolist(), strict=True)]
    found = task_difference([float(value) for value in each], confidence=confidence)
    exact = float(sum(each, Fraction(0)) / len(each))
    return Estimate(**{**vars(found), "value": exact if found.known else None, "method": words})
