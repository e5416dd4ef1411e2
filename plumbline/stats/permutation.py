"""Two groups of numbers: the exact permutation test of a difference in means, by splits of the pooled values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from plumbline.stats._checks import choice, finite_vector, generator_required, seed_of, whole
from plumbline.stats.estimate import Contrast
from plumbline.stats.two_arms import ALTERNATIVES

__all__ = ["permutation_means"]

_SPLITS = 200_000


def _hits(values: np.ndarray, observed: float, alternative: str, tie: float) -> np.ndarray:
    """Mark values at least as extreme as the observed one; what rounding alone separates is a tie and counts."""
    if alternative == "greater":
        return np.asarray(values >= observed - tie)
    if alternative == "less":
        return np.asarray(values <= observed + tie)
    return np.asarray(np.abs(values) >= abs(observed) - tie)


def permutation_means(
    first: Sequence[float],
    second: Sequence[float],
    *,
    alternative: str = "two-sided",
    draws: int | None = None,
    generator: np.random.Generator | None = None,
) -> Contrast:
    """Test whether two groups of numbers have the same mean, by reassigning values to groups.

    Parameters
    ----------
    first, second : sequence of float
        Finite values, for example cost or latency per run; at least one each.
    alternative : {'two-sided', 'greater', 'less'}
        About first minus second.
    draws : int, optional
        Random reassignments. Without it all splits are enumerated, which works up to 200,000 splits.
    generator : numpy.random.Generator, optional
        Needed with ``draws``.

    Returns
    -------
    Contrast
        Enumerated: ``fraction`` is exact. Random: p = (hits + 1) / (draws + 1), never 0, with its standard error.

    Raises
    ------
    ParameterError
        Values that are not finite, an empty group, draws without a generator, or too many splits to enumerate.

    Examples
    --------
    >>> permutation_means([0.1, 0.3, 0.6], [0.4, 0.5, 0.8]).fraction
    Fraction(2, 5)

    References
    ----------
    Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39 (why a random p is never 0).
    """
    a, b = finite_vector(first, "first"), finite_vector(second, "second")
    choice(alternative, "alternative", ALTERNATIVES)
    pooled = np.concatenate([a, b])
    size, total = len(a), len(pooled)
    # The difference of means is a linear function of the first group's sum of centred values.
    centred = pooled - pooled.mean()
    observed = float(centred[:size].sum())
    tie = max(1e-11 * float(np.abs(centred).sum()), 1e-14 * float(np.abs(pooled).sum()))
    common: dict[str, Any] = {
        "difference": float(a.mean() - b.mean()),
        "sidedness": alternative,
        "unit": "run",
        "n": total,
    }
    splits = math.comb(total, size)
    if draws is None:
        if splits > _SPLITS:
            generator_required(None, f"{splits} splits are too many to enumerate, so give draws and a generator")
        sums = np.array([sum(part) for part in combinations(centred.tolist(), size)])
        exact = Fraction(int(_hits(sums, observed, alternative, tie).sum()), splits)
        return Contrast(
            p=float(exact),
            fraction=exact,
            method="exact permutation of means",
            smallest_attainable_p=1 / splits,
            **common,
        )
    count, chance = whole(draws, "draws", 1), generator_required(generator, "draws are random")
    sums = np.array([chance.permutation(centred)[:size].sum() for _ in range(count)])
    p = (int(_hits(sums, observed, alternative, tie).sum()) + 1) / (count + 1)
    return Contrast(
        p=p,
        method=f"permutation of means, {count} random draws",
        smallest_attainable_p=1 / (count + 1),
        mc_se=math.sqrt(p * (1 - p) / count),
        seed=seed_of(chance),
        **common,
    )
