"""The cluster bootstrap, kept to compare with other reports; it is too narrow to rely on.

With 8 tasks the percentile interval covers 48 to 89% instead of 95%, and it has no width at all when every run
succeeds. ``tasks_estimate`` is what a report should use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from plumbline.stats._checks import Floats, confidence_level, count_arrays, generator_required, seed_of, whole
from plumbline.stats.estimate import Estimate

__all__ = ["bootstrap_rates", "cluster_bootstrap"]

_CAUTION = "a percentile cluster bootstrap is too narrow with few tasks: 48 to 89% coverage with 8 tasks"


def bootstrap_rates(
    successes: ArrayLike, n: ArrayLike, *, draws: int = 2_000, generator: np.random.Generator
) -> Floats:
    """Return the overall rate of resampled clusters.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each cluster (task or family), at least one run each.
    draws : int
        Resamples.
    generator : numpy.random.Generator
        Source of chance.

    Returns
    -------
    numpy.ndarray of float64, length draws
        One rate a resample.

    Raises
    ------
    ParameterError
        Impossible counts, a cluster without runs, or no generator.

    Examples
    --------
    >>> rates = bootstrap_rates([3, 4], [4, 4], draws=5, generator=np.random.default_rng(1))
    >>> bool(((rates >= 0.75) & (rates <= 1)).all())
    True

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
    """
    x, size = count_arrays(successes, n, minimum=1, what="cluster")
    chance, times, k = generator_required(generator, "resampling is random"), whole(draws, "draws", 1), x.size
    picks = chance.integers(0, k, size=(times, k))
    return np.asarray(x.ravel()[picks].sum(axis=1) / size.ravel()[picks].sum(axis=1))


def cluster_bootstrap(
    successes: ArrayLike,
    n: ArrayLike,
    *,
    draws: int = 2_000,
    confidence: float = 0.95,
    generator: np.random.Generator,
) -> Estimate:
    """Estimate a rate with a percentile cluster bootstrap, to compare with other reports.

    Parameters
    ----------
    successes, n, draws, generator
        As in :func:`bootstrap_rates`.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        Scope ``tasks``, two-sided, always with its caution; no interval when every resample gives one rate.

    Raises
    ------
    ParameterError
        As in :func:`bootstrap_rates`.

    Examples
    --------
    >>> cluster_bootstrap([4, 4, 4], [4, 4, 4], generator=np.random.default_rng(1)).low is None
    True

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
    """
    x, size = count_arrays(successes, n, minimum=1, what="cluster")
    level = confidence_level(confidence)
    rates = bootstrap_rates(x, size, draws=draws, generator=generator)
    low, high = (float(end) for end in np.quantile(rates, [(1 - level) / 2, (1 + level) / 2]))
    flat = np.ptp(rates) == 0
    return Estimate(
        value=float(x.sum() / size.sum()),
        low=None if flat else low,
        high=None if flat else high,
        n=int(size.sum()),
        successes=int(x.sum()),
        confidence=level,
        method=f"percentile cluster bootstrap, {draws} resamples",
        scope="tasks",
        clusters=x.size,
        seed=seed_of(generator),
        caution=(_CAUTION, "every resample gives one rate: no interval") if flat else (_CAUTION,),
    )
