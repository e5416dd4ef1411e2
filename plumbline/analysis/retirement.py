"""The published rule for retiring an incumbent, under its own name and beside what a true minimum would say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from plumbline.base.errors import ParameterError
from plumbline.stats import Estimate, WorstCase, published_minimum, worst_case
from plumbline.stats.estimate import Result

__all__ = ["PublishedRetirement", "published_band", "published_retirement"]

_TARGET = 0.95
_BANDS = (
    (0.95, "0.95 or more: safe to retire"),
    (0.85, "0.85 to 0.95: near-equivalent, review divergences"),
    (0.60, "0.60 to 0.85: not safe to retire"),
)
_BELOW = "below 0.60: materially different"
_TOO_SMALL = "no divergence, below 0.95: the sample is too small"


@dataclass(frozen=True)
class PublishedRetirement(Result):
    """The published retirement bound and verdict band, for reproduction only.

    Parameters
    ----------
    bound : float or None
        Lower Wilson end of the perturbation with the smallest point estimate of outcome equality; None if no
        perturbation has a pair.
    perturbation : str or None
        That perturbation, the first on a tie.
    band : str
        The published verdict, or "cannot tell".
    runs_needed : int or None
        Clean runs a perturbation needs for a bound of 0.95, where the published rule calls the sample too small.
    minimum : WorstCase
        The true minimum of the lower ends over all planned perturbations; not available if one has no pair.
    caution : tuple of str
        What a reader must not miss.
    """

    bound: float | None
    perturbation: str | None
    band: str
    runs_needed: int | None
    minimum: WorstCase
    caution: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.bound is None:
            return f"published retirement bound: cannot tell ({'; '.join(self.caution)})"
        needed = f"; {self.runs_needed} clean runs a perturbation are needed" if self.runs_needed is not None else ""
        notes = "".join(f"; {line}" for line in self.caution)
        return f"published retirement bound {self.bound:.4f} ({self.perturbation}), {self.band}{needed}{notes}"


def published_band(bound: float, *, diverged: bool, confidence: float = 0.95) -> tuple[str, int | None]:
    """Return the published verdict for a bound, and the runs needed where it calls the sample too small.

    Parameters
    ----------
    bound : float
        In [0, 1].
    diverged : bool
        Whether any divergence was found.
    confidence : float
        Of the interval whose lower end the bound is.

    Returns
    -------
    (str, int or None)

    Examples
    --------
    >>> published_band(0.9434, diverged=False)
    ('no divergence, below 0.95: the sample is too small', 73)
    """
    if not 0 <= bound <= 1:
        raise ParameterError(f"bound is {bound!r}; a bound on a share lies between 0 and 1.")
    if bound < _TARGET and not diverged:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        return _TOO_SMALL, math.ceil(_TARGET * z * z / (1 - _TARGET))
    return next((words for least, words in _BANDS if bound >= least), _BELOW), None


def published_retirement(
    cells: Mapping[str, Estimate], *, planned: Sequence[str], diverged: bool
) -> PublishedRetirement:
    """Apply the published rule to the outcome equality of each perturbation.

    Parameters
    ----------
    cells : mapping of perturbation to Estimate
        Two-sided Wilson estimates, in the published order.
    planned : sequence of str
        Every planned perturbation.
    diverged : bool
        Whether any divergence was found.
    """
    told = {name: found for name, found in cells.items() if found.known}
    true = worst_case(cells, planned=planned)
    rule = published_minimum(told) if told else None
    if rule is None or rule.bound is None:
        return PublishedRetirement(None, None, "cannot tell", None, true, ("no perturbation has a pair",))
    band, needed = published_band(rule.bound, diverged=diverged, confidence=next(iter(told.values())).confidence)
    silent = [name for name in planned if name not in told]
    caution = rule.caution + ((f"the published rule passes over {', '.join(silent)}: no pair",) if silent else ())
    return PublishedRetirement(rule.bound, rule.cells[0], band, needed, true, caution)
