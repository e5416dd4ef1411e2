"""Runs that go together: how alike the runs of one task are, and how many independent runs they are worth.

A cluster is a task (or any other label whose runs share their fate). Everything here takes successes and runs of each
cluster; :func:`cluster_counts` makes those from outcomes and labels.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, count_arrays, count_pair, finite_vector, probability, whole
from plumbline.stats.estimate import Result
from plumbline.stats.proportions import lower_bounds

__all__ = [
    "DECLARED_RHO",
    "ClusterCounts",
    "RhoScenario",
    "anova_icc",
    "cluster_counts",
    "cluster_se",
    "design_effect",
    "rho_scenarios",
]

DECLARED_RHO = 0.4
"""Intra-task correlation declared when the data cannot show one: 0.405 was found in tau-bench airline (gpt-4o, 50 tasks
of 4 runs), 1/3 to 1 in the published fault runs."""


@dataclass(frozen=True, kw_only=True)
class ClusterCounts(Result):
    """Successes and runs of each cluster, in the order in which the labels first appear."""

    labels: tuple[Hashable, ...]
    successes: tuple[int, ...]
    n: tuple[int, ...]


def cluster_counts(outcomes: ArrayLike, labels: Sequence[Hashable]) -> ClusterCounts:
    """Count successes and runs of each cluster.

    Parameters
    ----------
    outcomes : array of bool or 0/1
        One outcome a run; missing runs must be dealt with first.
    labels : sequence
        The cluster of each run, for example its task.

    Returns
    -------
    ClusterCounts
        One entry a cluster.

    Raises
    ------
    ParameterError
        Different lengths, no runs, a missing label, or an outcome that is neither 0 nor 1.

    Examples
    --------
    >>> cluster_counts([1, 0, 1], ["a", "a", "b"]).n
    (2, 1)
    """
    values = finite_vector(outcomes, "outcomes")
    if len(labels) != len(values):
        raise ParameterError(f"{len(values)} outcomes and {len(labels)} labels; give one label per outcome")
    if not np.isin(values, (0.0, 1.0)).all():
        raise ParameterError("outcomes holds something other than 0 and 1")
    counts: dict[Hashable, list[int]] = {}
    for value, label in zip(values.tolist(), labels, strict=True):
        if label is None or label != label:
            raise ParameterError("a run has no cluster label; label every run")
        pair = counts.setdefault(label, [0, 0])
        pair[0] += int(value)
        pair[1] += 1
    return ClusterCounts(
        labels=tuple(counts), successes=tuple(c for c, _ in counts.values()), n=tuple(k for _, k in counts.values())
    )


def anova_icc(successes: ArrayLike, n: ArrayLike) -> Fraction | None:
    """Estimate the intra-cluster correlation by analysis of variance, exactly.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each cluster, at least one run each.

    Returns
    -------
    fractions.Fraction or None
        May be negative. None when the data hold no information on it: fewer than two clusters, one run in each, or all
        runs alike. All-success data never give a correlation of 0.

    Raises
    ------
    ParameterError
        Impossible counts or a cluster without runs.

    Examples
    --------
    >>> anova_icc([4, 8, 8, 8, 4, 8, 8, 4], [8] * 8)
    Fraction(1, 3)

    References
    ----------
    Ridout, Demetrio and Firth (1999), Biometrics 55, 137.
    """
    x, size = _clusters(successes, n)
    total, runs, k = int(x.sum()), int(size.sum()), len(x)
    if k < 2 or runs == k or total in (0, runs):
        return None
    mean = Fraction(total, runs)
    pairs = list(zip(x.tolist(), size.tolist(), strict=True))
    between = sum((m * (Fraction(c, m) - mean) ** 2 for c, m in pairs), Fraction(0)) / (k - 1)
    within = sum((Fraction(c * (m - c), m) for c, m in pairs), Fraction(0)) / (runs - k)
    typical = Fraction(runs * runs - sum(m * m for _, m in pairs), runs * (k - 1))
    spread = between + (typical - 1) * within
    return (between - within) / spread if spread else None


def _clusters(successes: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x, size = count_arrays(successes, n, minimum=1, what="cluster")
    if x.ndim != 1:
        raise ParameterError(f"successes has shape {x.shape}; give one count per cluster")
    return x, size


def design_effect(runs_per_cluster: float, rho: float) -> float:
    """Return how many times fewer independent runs clustered runs are worth: 1 + (m - 1) rho.

    Parameters
    ----------
    runs_per_cluster : float
        Runs of one cluster, at least 1; for unequal clusters sum(m^2) / sum(m).
    rho : float
        Intra-cluster correlation in [0, 1].

    Returns
    -------
    float
        At least 1.

    Raises
    ------
    ParameterError
        A size below 1 or a correlation outside [0, 1].

    Examples
    --------
    >>> design_effect(8, 0.5)
    4.5

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.
    """
    if not (isinstance(runs_per_cluster, int | float | np.number) and 1 <= runs_per_cluster < math.inf):
        raise ParameterError(f"runs_per_cluster is {runs_per_cluster!r}; give a number of at least 1")
    return 1 + (float(runs_per_cluster) - 1) * probability(rho, "rho", closed=True)


def cluster_se(successes: ArrayLike, n: ArrayLike, *, correction: str = "CR1") -> float | None:
    """Return the clustered standard error of the overall rate.

    Parameters
    ----------
    successes, n : array of int
        Successes and runs of each cluster, at least one run each.
    correction : {'CR1', 'CR0'}
        CR1 multiplies the variance by K / (K - 1); CR0 is the plain form, too small with few clusters.

    Returns
    -------
    float or None
        None with one cluster, or when every cluster has the overall rate: the spread cannot then be estimated.

    Raises
    ------
    ParameterError
        Impossible counts, a cluster without runs, or an unknown correction.

    Examples
    --------
    >>> round(cluster_se([4, 8, 8, 8, 4, 8, 8, 4], [8] * 8), 6)
    0.091491

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, 13. Miller (2024), arXiv 2411.00640 (CR0).
    """
    x, size = _clusters(successes, n)
    variance = cluster_variance(x, size)
    if choice(correction, "correction", ("CR0", "CR1")) == "CR0":
        variance *= (len(x) - 1) / len(x)
    return math.sqrt(variance) if variance > 0 else None


def cluster_variance(x: np.ndarray, size: np.ndarray) -> float:
    """Return the CR1 variance of the overall rate; 0 with one cluster."""
    k, runs = len(x), int(size.sum())
    if k < 2:
        return 0.0
    residual = x * runs - size * int(x.sum())  # whole numbers, so equal clusters give exactly 0
    return float((residual.astype(float) ** 2).sum()) / float(runs) ** 4 * k / (k - 1)


@dataclass(frozen=True, kw_only=True)
class RhoScenario(Result):
    """Lower bounds of one count if the runs of a cluster were correlated by a declared ``rho``."""

    rho: float
    design_effect: float
    effective_n: float
    wilson_lower: float
    clopper_pearson_lower: float


def rho_scenarios(
    successes: int,
    n: int,
    *,
    runs_per_cluster: float,
    rhos: Sequence[float] = (0.0, 0.1, 0.2, 0.3, DECLARED_RHO, 0.6, 1.0),
    confidence: float = 0.95,
) -> tuple[RhoScenario, ...]:
    """Tabulate the lower bound for declared intra-cluster correlations.

    Parameters
    ----------
    successes, n : int
        Successes among n runs, n at least 1.
    runs_per_cluster : float
        Runs of one cluster; see :func:`design_effect`.
    rhos : sequence of float
        Declared correlations in [0, 1].
    confidence : float
        Of the two-sided Wilson interval and of the one-sided Clopper-Pearson bound.

    Returns
    -------
    tuple of RhoScenario
        One a correlation.

    Raises
    ------
    ParameterError
        Impossible counts, sizes or correlations.

    Examples
    --------
    >>> [round(row.wilson_lower, 4) for row in rho_scenarios(64, 64, runs_per_cluster=8, rhos=(0, 0.3))]
    [0.9434, 0.8431]

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.
    """
    c, runs = count_pair(successes, whole(n, "n", 1))
    alpha = 1 - probability(confidence, "confidence")
    rows = []
    for rho in finite_vector(rhos, "rhos").tolist():
        effect = design_effect(runs_per_cluster, rho)
        size = runs / effect
        count = size if c == runs else c / effect
        rows.append(
            RhoScenario(
                rho=rho,
                design_effect=effect,
                effective_n=size,
                wilson_lower=float(lower_bounds(count, size, tail=alpha / 2, method="wilson")),
                clopper_pearson_lower=float(lower_bounds(count, size, tail=alpha, method="clopper_pearson")),
            )
        )
    return tuple(rows)
