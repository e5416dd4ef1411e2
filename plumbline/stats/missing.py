"""Missing runs: the two ends between which the truth must lie, and whether runs went missing evenly.

A planned run that did not finish is neither a pass nor nothing. With every missing run failed the rate is at its worst
end, with every one passed at its best end; no assumption places it more exactly. A gate uses the worst end unless the
cause of the missing runs is named and declared to have nothing to do with the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import count_arrays, count_pair, probability, whole
from plumbline.stats.estimate import Contrast, Estimate, Result
from plumbline.stats.proportions import proportion

__all__ = ["MissingBounds", "missing_bounds", "missingness_homogeneity"]


@dataclass(frozen=True, kw_only=True)
class MissingBounds(Result):
    """A rate with its missing runs at the worst end, left out, and at the best end.

    ``worst``, ``complete`` and ``best`` are estimates on planned, finished and planned runs. ``gate`` is the one a gate
    may use, and ``width`` is the share that missing runs leave open whatever the sample size.
    """

    planned: int
    finished: int
    missing: int
    successes: int
    worst: Estimate
    complete: Estimate
    best: Estimate
    ignorable_cause: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything was planned at all."""
        return self.planned > 0

    @property
    def width(self) -> float | None:
        """Best minus worst rate: the missing share; None when nothing was planned."""
        return self.missing / self.planned if self.planned else None

    @property
    def gate(self) -> Estimate:
        """The estimate a gate may use: the worst end, or the finished runs when a cause is declared ignorable."""
        if self.ignorable_cause is None or self.missing == 0:
            return self.worst
        note = f"{self.missing} of {self.planned} runs left out, declared ignorable: {self.ignorable_cause}"
        return replace(self.complete, caution=(*self.complete.caution, note))

    def can_pass(self, threshold: float) -> bool:
        """Whether the worst end could still reach a threshold if every finished run had succeeded."""
        return self.planned > 0 and self.finished / self.planned >= probability(threshold, "threshold", closed=True)

    def __str__(self) -> str:
        head = f"planned {self.planned}, finished {self.finished}, missing {self.missing}"
        return f"{head}\n  worst    {self.worst}\n  complete {self.complete}\n  best     {self.best}"


def missing_bounds(
    successes: int,
    finished: int,
    planned: int,
    *,
    method: str = "wilson",
    confidence: float = 0.95,
    sidedness: str = "two-sided",
    ignorable_cause: str | None = None,
) -> MissingBounds:
    """Bound a rate with its missing runs failed, left out, and passed.

    Parameters
    ----------
    successes, finished, planned : int
        Runs, 0 <= successes <= finished <= planned.
    method, confidence, sidedness
        The interval of each end; see :func:`plumbline.stats.proportion`.
    ignorable_cause : str, optional
        A named cause of the missing runs that cannot depend on what the agent does, for example a refused provider
        call. It moves the gate from the worst end to the finished runs, and is then part of the evidence.

    Returns
    -------
    MissingBounds
        Planned, finished and missing runs with the three estimates.

    Raises
    ------
    ParameterError
        Impossible counts, or an empty cause.

    Examples
    --------
    >>> bounds = missing_bounds(55, 56, 64)
    >>> bounds.worst.value, bounds.best.value, bounds.width
    (0.859375, 0.984375, 0.125)

    References
    ----------
    Manski (2003), Partial Identification of Probability Distributions, chapter 1.
    """
    c, done = count_pair(successes, finished)
    total = whole(planned, "planned")
    if done > total:
        raise ParameterError(f"finished is {done} and planned is {total}; count the planned runs, finished or not")
    if ignorable_cause is not None and not ignorable_cause.strip():
        raise ParameterError("ignorable_cause is empty; name the cause or leave it out")
    gap = total - done

    def end(passed: int, runs: int) -> Estimate:
        return proportion(passed, runs, method=method, confidence=confidence, sidedness=sidedness)

    note = f"{gap} of {total} planned runs did not finish"
    worst, best = end(c, total), end(c + gap, total)
    if gap:
        worst = replace(worst, caution=(*worst.caution, f"{note}: each counted as a failure"))
        best = replace(best, caution=(*best.caution, f"{note}: each counted as a success"))
    return MissingBounds(
        planned=total,
        finished=done,
        missing=gap,
        successes=c,
        worst=worst,
        complete=end(c, done),
        best=best,
        ignorable_cause=ignorable_cause,
    )


def missingness_homogeneity(missing: Sequence[int], finished: Sequence[int]) -> Contrast:
    """Test whether runs went missing at one rate in all conditions (Pearson's chi-square).

    Parameters
    ----------
    missing, finished : sequence of int
        Missing and finished runs of each condition, at least two conditions.

    Returns
    -------
    Contrast
        ``statistic`` is chi-square, on conditions - 1 degrees of freedom. Cannot tell when nothing or everything is
        missing.

    Raises
    ------
    ParameterError
        Impossible counts, fewer than two conditions, or a condition without planned runs.

    Examples
    --------
    >>> round(missingness_homogeneity([0, 0, 6, 8, 30, 8], [64, 64, 58, 56, 34, 56]).statistic, 4)
    81.8536

    References
    ----------
    Pearson (1900), Philosophical Magazine 50, 157.
    """
    from scipy.special import chdtrc

    gone, _ = count_arrays(missing, missing)
    done, _ = count_arrays(finished, finished)
    if gone.ndim != 1 or gone.shape != done.shape or gone.size < 2:
        raise ParameterError(f"missing has {gone.size} and finished {done.size} conditions; give two or more of each")
    planned = gone + done
    if (planned == 0).any():
        raise ParameterError(f"condition {int((planned == 0).argmax())} has no planned run; leave it out")
    share = gone.sum() / planned.sum()
    common: dict[str, Any] = {"method": f"chi-square, {gone.size - 1} degrees of freedom", "n": int(planned.sum())}
    if share in (0, 1):
        reason = "no run is missing" if share == 0 else "every run is missing"
        return Contrast(p=None, caution=(f"{reason}: nothing to compare",), **common)
    expected = planned * share
    spread = float(((gone - expected) ** 2 / (expected * (1 - share))).sum())
    rough = min(share, 1 - share) * planned.min() < 5
    caution = ("an expected count is below 5: chi-square is rough here",) if rough else ()
    return Contrast(p=float(chdtrc(gone.size - 1, spread)), statistic=spread, caution=caution, **common)
