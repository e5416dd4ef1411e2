"""Two arms without pairs: the exact permutation test, plain and within strata.

For successes and failures the permutation distribution is hypergeometric, so the exact p is a short sum. Up to
``FRACTION_RUNS`` runs it is done in whole numbers and given as a fraction; above, in logarithms, so that a thousand
runs per arm neither overflow nor take long. What counts as "at least as extreme" is decided on whole numbers at any
size.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, choice, count_arrays, two_arms
from plumbline.stats.estimate import Contrast

__all__ = ["ALTERNATIVES", "exact_permutation", "stratified_permutation"]

ALTERNATIVES = ("two-sided", "greater", "less")
FRACTION_RUNS = 400
_TINY = sys.float_info.min
_UNDERFLOW = "p is smaller than a float can hold; the smallest normal float is given as an upper bound"


@dataclass(frozen=True)
class _Null:
    """Distribution of a count under the null: weights from ``low`` upwards, whole numbers or chances."""

    low: int
    weights: list[int] | Floats
    expected: Fraction

    def tails(self, observed: int, alternative: str) -> tuple[float, Fraction | None, float]:
        """Return p, p as a fraction when weights are whole, and the smallest p that any outcome could give."""
        scale, centre = self.expected.denominator, self.expected.numerator
        deviation = [(self.low + i) * scale - centre for i in range(len(self.weights))]
        ends = {"greater": deviation[-1], "less": deviation[0]}
        farthest = ends.get(alternative, max(deviation[0], deviation[-1], key=abs))
        marked = _at_least(deviation, observed * scale - centre, alternative)
        most = _at_least(deviation, farthest, alternative)
        if isinstance(self.weights, list):
            total = sum(self.weights)
            hits = sum(weight for weight, mark in zip(self.weights, marked, strict=True) if mark)
            best = sum(weight for weight, mark in zip(self.weights, most, strict=True) if mark)
            return hits / total, Fraction(hits, total), best / total
        return min(1.0, float(self.weights[marked].sum())), None, min(1.0, float(self.weights[most].sum()))


def _at_least(deviation: list[int], observed: int, alternative: str) -> list[bool]:
    if alternative == "greater":
        return [value >= observed for value in deviation]
    if alternative == "less":
        return [value <= observed for value in deviation]
    return [abs(value) >= abs(observed) for value in deviation]


def _whole_weights(n1: int, n2: int, total: int) -> list[int]:
    """Return the integer hypergeometric weights over the support of the first arm's successes."""
    low, high = max(0, total - n2), min(n1, total)
    weight = math.comb(n1, low) * math.comb(n2, total - low)
    weights = [weight]
    for x in range(low, high):
        weight = weight * ((n1 - x) * (total - x)) // ((x + 1) * (n2 - total + x + 1))
        weights.append(weight)
    return weights


def _chances(n1: int, n2: int, total: int) -> Floats:
    """Return the hypergeometric probabilities over the support, by a ratio recurrence in logarithms."""
    x = np.arange(max(0, total - n2), min(n1, total), dtype=np.float64)
    steps = np.log((n1 - x) * (total - x)) - np.log((x + 1) * (n2 - total + x + 1))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


def _null(strata: list[tuple[int, int, int, int]]) -> _Null:
    """Return the null distribution of first-arm successes, summed over strata (x1, n1, x2, n2)."""
    low = sum(max(0, x1 + x2 - n2) for x1, _, x2, n2 in strata)
    expected = sum((Fraction((x1 + x2) * n1, n1 + n2) for x1, n1, x2, n2 in strata), Fraction(0))
    weights: list[int] | Floats
    if sum(n1 + n2 for _, n1, _, n2 in strata) <= FRACTION_RUNS:
        weights = [1]
        for x1, n1, x2, n2 in strata:
            part = _whole_weights(n1, n2, x1 + x2)
            longer = [0] * (len(weights) + len(part) - 1)
            for i, left in enumerate(weights):
                for j, right in enumerate(part):
                    longer[i + j] += left * right
            weights = longer
    else:
        weights = np.ones(1)
        for x1, n1, x2, n2 in strata:
            weights = np.convolve(weights, _chances(n1, n2, x1 + x2))
    return _Null(low, weights, expected)


def _contrast(
    strata: list[tuple[int, int, int, int]], alternative: str, method: str, difference: float, caution: tuple[str, ...]
) -> Contrast:
    p, fraction, smallest = _null(strata).tails(sum(x1 for x1, _, _, _ in strata), alternative)
    if p < _TINY:
        p, caution = _TINY, (*caution, _UNDERFLOW)
    return Contrast(
        p=p,
        fraction=fraction,
        difference=difference,
        method=method,
        sidedness=alternative,
        unit="run",
        n=sum(n1 + n2 for _, n1, _, n2 in strata),
        smallest_attainable_p=max(smallest, _TINY),
        caution=caution,
    )


def exact_permutation(successes: Sequence[int], n: Sequence[int], *, alternative: str = "two-sided") -> Contrast:
    """Test whether two arms succeed equally often, by all reassignments of runs to arms.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm, at least one run each.
    alternative : {'two-sided', 'greater', 'less'}
        About first minus second; two-sided counts every |difference| at least as large as the observed one.

    Returns
    -------
    Contrast
        ``fraction`` holds the exact p up to 400 runs; ``p`` is exact to rounding at any size.

    Raises
    ------
    ParameterError
        Not two arms, impossible counts, an arm without runs, or an unknown alternative.

    Examples
    --------
    >>> exact_permutation([64, 55], [64, 56]).fraction
    Fraction(7, 15)

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21. Ernst (2004), Statistical Science 19, 676.
    """
    x1, n1, x2, n2 = two_arms(successes, n)
    choice(alternative, "alternative", ALTERNATIVES)
    return _contrast([(x1, n1, x2, n2)], alternative, "exact permutation", x1 / n1 - x2 / n2, ())


def stratified_permutation(successes: ArrayLike, n: ArrayLike, *, alternative: str = "two-sided") -> Contrast:
    """Test two arms by reassigning runs only within strata (tasks, or task by variant).

    The statistic is the number of first-arm successes minus its expectation, summed over strata: the numerator of
    Mantel and Haenszel. Its exact distribution is a convolution of hypergeometric distributions.

    Parameters
    ----------
    successes, n : array of int, shape (strata, 2)
        Successes and runs of the first and the second arm in each stratum.
    alternative : {'two-sided', 'greater', 'less'}
        About first minus second.

    Returns
    -------
    Contrast
        ``difference`` is the Mantel-Haenszel difference. Cannot tell when no stratum has runs of both arms.

    Raises
    ------
    ParameterError
        Impossible counts, or arrays that are not strata by two.

    Examples
    --------
    >>> stratified_permutation([[4, 8], [8, 8]], [[8, 8], [8, 8]]).fraction
    Fraction(1, 13)

    References
    ----------
    Mantel and Haenszel (1959), J. Natl. Cancer Inst. 22, 719.
    Mehta, Patel and Gray (1985), J. Am. Stat. Assoc. 80, 969.
    """
    x, size = count_arrays(successes, n, what="stratum")
    choice(alternative, "alternative", ALTERNATIVES)
    if x.ndim != 2 or x.shape[1] != 2:
        raise ParameterError(f"successes and n have shape {x.shape}; give one row per stratum, one column per arm")
    rows = [(a, m, b, k) for (a, b), (m, k) in zip(x.tolist(), size.tolist(), strict=True) if m and k]
    lone = len(x) - len(rows)
    caution: tuple[str, ...] = (f"{lone} of {len(x)} strata have runs of one arm only and say nothing",) if lone else ()
    method = "exact stratified permutation"
    if not rows:
        reason = "no stratum has runs of both arms"
        return Contrast(p=None, method=method, sidedness=alternative, n=0, caution=(*caution, reason))
    weight = sum(m * k / (m + k) for _, m, _, k in rows)
    difference = sum((a * k - b * m) / (m + k) for a, m, b, k in rows) / weight
    return _contrast(rows, alternative, method, difference, caution)
