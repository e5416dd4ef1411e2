"""Statements about every cell at once, and about the extreme one: simultaneous bounds, and the largest drop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, confidence_level, count_pair, whole
from plumbline.stats.differences import miettinen_nurminen
from plumbline.stats.estimate import Estimate, Result
from plumbline.stats.proportions import proportion

__all__ = ["LargestDrop", "largest_drop", "minimum_upper_bound", "per_cell_level", "simultaneous_bounds"]

_CORRECTIONS = ("bonferroni", "sidak")
_BIASED = "the smallest of several observed rates lies below its true rate on average: read the bound, not the value"


def per_cell_level(cells: int, *, alpha: float = 0.05, correction: str = "bonferroni") -> float:
    """Return the one-sided level per cell for a statement about all cells at once.

    Parameters
    ----------
    cells : int
        Number of cells, at least 1.
    alpha : float
        Joint level, in (0, 1).
    correction : {'bonferroni', 'sidak'}
        Bonferroni holds under any dependence; Sidak needs independent cells.

    Returns
    -------
    float
        Level of each cell.

    Raises
    ------
    ParameterError
        No cells, a level outside (0, 1), or an unknown correction.

    Examples
    --------
    >>> round(per_cell_level(6), 7)
    0.0083333

    References
    ----------
    Sidak (1967), J. Am. Stat. Assoc. 62, 626.
    """
    k, level = whole(cells, "cells", 1), 1 - confidence_level(1 - alpha)
    return level / k if choice(correction, "correction", _CORRECTIONS) == "bonferroni" else 1 - (1 - level) ** (1 / k)


def simultaneous_bounds(
    counts: Mapping[str, tuple[int, int]],
    *,
    confidence: float = 0.95,
    method: str = "clopper_pearson",
    sidedness: str = "lower",
    correction: str = "bonferroni",
) -> dict[str, Estimate]:
    """Bound every cell so that all bounds hold together.

    Parameters
    ----------
    counts : mapping of str to (int, int)
        Successes and runs of each cell.
    confidence : float
        Of all bounds at once.
    method, sidedness
        As in :func:`plumbline.stats.proportion`; one-sided.
    correction : {'bonferroni', 'sidak'}
        See :func:`per_cell_level`.

    Returns
    -------
    dict of str to Estimate
        Each at the per-cell confidence, with a caution that names the joint one.

    Raises
    ------
    ParameterError
        No cells or impossible counts.

    Examples
    --------
    >>> bounds = simultaneous_bounds({str(cell): (64, 64) for cell in range(6)})
    >>> round(bounds["0"].low, 10)
    0.9279248236

    References
    ----------
    Dunn (1961), J. Am. Stat. Assoc. 56, 52.
    """
    choice(sidedness, "sidedness", ("lower", "upper"))
    if not counts:
        raise ParameterError("no cell was given")
    level = per_cell_level(len(counts), alpha=1 - confidence_level(confidence), correction=correction)
    note = f"all {len(counts)} bounds hold together at {100 * confidence:.6g}% ({correction})"
    found = {}
    for name, (c, n) in counts.items():
        cell = proportion(c, n, method=method, confidence=1 - level, sidedness=sidedness)
        found[name] = replace(cell, caution=(*cell.caution, note))
    return found


def minimum_upper_bound(
    counts: Mapping[str, tuple[int, int]], *, confidence: float = 0.95, method: str = "clopper_pearson"
) -> Estimate:
    """Bound the smallest true rate from above: Bonferroni upper bounds of each cell, then their minimum.

    Parameters
    ----------
    counts : mapping of str to (int, int)
        Successes and runs of each cell, at least one run each.
    confidence : float
        Of the bound.
    method : str
        As in :func:`plumbline.stats.proportion`.

    Returns
    -------
    Estimate
        Sidedness ``upper``; the value is the smallest observed rate and is biased down.

    Raises
    ------
    ParameterError
        No cells, impossible counts or a cell without runs.

    Examples
    --------
    >>> round(minimum_upper_bound({"a": (60, 64), "b": (50, 64)}).high, 4)
    0.8749

    References
    ----------
    Dunn (1961), J. Am. Stat. Assoc. 56, 52.
    """
    found = simultaneous_bounds(counts, confidence=confidence, method=method, sidedness="upper")
    empty = [name for name, cell in found.items() if not cell.known]
    if empty:
        raise ParameterError(f"cells {', '.join(empty)} have no runs; the smallest rate cannot be bounded")
    tightest = min(found.values(), key=lambda cell: cell.high if cell.high is not None else 1.0)
    lowest = min(found.values(), key=lambda cell: cell.value if cell.value is not None else 1.0)
    return Estimate(
        value=lowest.value,
        low=None,
        high=tightest.high,
        n=lowest.n,
        successes=lowest.successes,
        confidence=confidence,
        sidedness="upper",
        method=f"{tightest.method}, minimum of Bonferroni upper bounds",
        caution=(_BIASED,),
    )


@dataclass(frozen=True, kw_only=True)
class LargestDrop(Result):
    """The largest drop from a baseline: a one-sided bound on each side, with the cell that gives it.

    ``upper`` is uncorrected, by the same argument as the minimum; ``lower`` is corrected for the choice of the cell.
    """

    lower: float
    lower_cell: str
    upper: float
    upper_cell: str
    confidence: float
    per_cell: dict[str, float]

    def __str__(self) -> str:
        return (
            f"largest drop at least {self.lower:.4f} ({self.lower_cell}), "
            f"at most {self.upper:.4f} ({self.upper_cell}), each one-sided {100 * self.confidence:.6g}%"
        )


def largest_drop(
    baseline: tuple[int, int], counts: Mapping[str, tuple[int, int]], *, confidence: float = 0.95
) -> LargestDrop:
    """Bound the largest drop from a baseline rate over cells, runs unpaired (Miettinen-Nurminen).

    Parameters
    ----------
    baseline : (int, int)
        Successes and runs of the baseline, at least one run.
    counts : mapping of str to (int, int)
        Successes and runs of each cell, at least one run each.
    confidence : float
        Of each one-sided bound.

    Returns
    -------
    LargestDrop
        ``per_cell`` holds observed drops, baseline minus cell; the largest of them is biased up.

    Raises
    ------
    ParameterError
        No cells, impossible counts, or no runs in the baseline or a cell.

    Examples
    --------
    >>> print(largest_drop((64, 64), {"decoy": (62, 64), "fault": (52, 64)}))
    largest drop at least 0.1104 (fault), at most 0.2802 (fault), each one-sided 95%

    References
    ----------
    Berger (1982), Technometrics 24, 295. Miettinen and Nurminen (1985), Statistics in Medicine 4, 213.
    """
    c0, n0 = count_pair(*baseline)
    level = 1 - per_cell_level(len(counts), alpha=1 - confidence_level(confidence))
    drops, uppers, lowers = {}, {}, {}
    for name, (c, n) in counts.items():
        upper = miettinen_nurminen((c0, c), (n0, n), confidence=confidence, sidedness="upper")
        lower = miettinen_nurminen((c0, c), (n0, n), confidence=level, sidedness="lower")
        drops[name] = upper.value or 0.0
        uppers[name] = upper.high if upper.high is not None else 1.0
        lowers[name] = lower.low if lower.low is not None else -1.0
    highest, surest = max(uppers, key=lambda cell: uppers[cell]), max(lowers, key=lambda cell: lowers[cell])
    return LargestDrop(
        lower=lowers[surest],
        lower_cell=surest,
        upper=uppers[highest],
        upper_cell=highest,
        confidence=confidence,
        per_cell=drops,
    )
