"""The worst of several conditions: a true minimum of lower bounds, and what may be said beside it.

The minimum over cells of per-cell lower bounds is a valid bound on the smallest true rate at the per-cell level,
without correction and whatever the dependence (intersection-union). It says nothing about every cell at once, about
which cell is worst, or about conditions that were not run; those need ``simultaneous_bounds`` or fresh runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plumbline.base.errors import ParameterError
from plumbline.stats.estimate import Estimate, Result

__all__ = ["WorstCase", "published_minimum", "worst_case"]


@dataclass(frozen=True, kw_only=True)
class WorstCase(Result):
    """A bound over cells, the cells that attain it, and every cell's estimate.

    ``bound`` is None when it is not available; ``caution`` then names the planned cells without an answer.
    """

    bound: float | None
    cells: tuple[str, ...]
    per_cell: dict[str, Estimate]
    rule: str
    confidence: float | None
    sidedness: str | None
    method: str | None
    scope: str
    unanswered: tuple[str, ...] = ()
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether every planned cell has an answer, so that the bound is available."""
        return self.bound is not None

    def __str__(self) -> str:
        if self.bound is None:
            return f"not available: {'; '.join(self.caution)}"
        how = f"{self.method} {100 * (self.confidence or 0):.6g}% {self.sidedness}, {self.scope}"
        return f"{self.bound:.4f} in {', '.join(self.cells)} ({self.rule}; {how})"


def worst_case(cells: Mapping[str, Estimate], *, planned: Sequence[str] | None = None) -> WorstCase:
    """Return the smallest lower bound over planned cells, and the cell or cells that attain it.

    Parameters
    ----------
    cells : mapping of str to Estimate
        One estimate a cell, all of one confidence, sidedness, method and scope, each with a lower end.
    planned : sequence of str, optional
        The cells planned before the runs; without it, the given ones. A planned cell without an answer makes the bound
        not available: it is never skipped.

    Returns
    -------
    WorstCase
        ``bound`` holds at the per-cell level, uncorrected.

    Raises
    ------
    ParameterError
        No cells, a cell that was not planned, or estimates that cannot be compared.

    Examples
    --------
    >>> from plumbline.stats import wilson
    >>> print(worst_case({"baseline": wilson(64, 64), "decoy": wilson(34, 34)}))
    0.8985 in decoy (minimum over cells; Wilson 95% two-sided, suite)

    References
    ----------
    Berger (1982), Technometrics 24, 295 (intersection-union tests).
    """
    names = _planned(cells, planned)
    unanswered = tuple(name for name in names if name not in cells or not cells[name].known)
    if unanswered:
        return _unavailable(cells, unanswered, "minimum over cells")
    head = _comparable(cells)
    lows = {name: _low(name, cells[name]) for name in names}
    bound = min(lows.values())
    return WorstCase(
        bound=bound,
        cells=tuple(name for name in names if lows[name] == bound),
        per_cell={name: cells[name] for name in names},
        rule="minimum over cells",
        confidence=head.confidence,
        sidedness=head.sidedness,
        method=head.method,
        scope=head.scope,
    )


def published_minimum(cells: Mapping[str, Estimate]) -> WorstCase:
    """Return the bound of the cell with the smallest point estimate, the first one on a tie.

    This is the rule behind the originally published "certified" figures. It is not a minimum of bounds: a cell with
    few, clean runs is passed over. Use it only to reproduce those figures; :func:`worst_case` is the valid bound.

    Parameters
    ----------
    cells : mapping of str to Estimate
        One estimate a cell, in the published order.

    Returns
    -------
    WorstCase
        With a caution when the bound is above the true minimum.

    Raises
    ------
    ParameterError
        No cells, or estimates that cannot be compared.

    Examples
    --------
    >>> from plumbline.stats import wilson
    >>> round(published_minimum({"baseline": wilson(64, 64), "decoy": wilson(34, 34)}).bound, 4)
    0.9434
    """
    true = worst_case(cells)
    if true.bound is None:
        return replace(true, rule="published rule")
    values = {name: estimate.value or 0.0 for name, estimate in cells.items()}
    name = min(values, key=lambda cell: values[cell])
    bound = _low(name, cells[name])
    caution = (f"not the minimum of the bounds, which is {true.bound:.4f}",) if bound > true.bound else ()
    return replace(true, bound=bound, cells=(name,), rule="published rule", caution=caution)


def _planned(cells: Mapping[str, Estimate], planned: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(cells) if planned is None else tuple(planned)
    if not names:
        raise ParameterError("no cell is planned: a minimum over nothing is not a bound")
    if len(set(names)) != len(names):
        raise ParameterError(f"a planned cell stands twice: {', '.join(names)}")
    extra = [name for name in cells if name not in names]
    if extra:
        raise ParameterError(f"cells {', '.join(extra)} were not planned; plan them before the runs or leave them out")
    return names


def _unavailable(cells: Mapping[str, Estimate], unanswered: tuple[str, ...], rule: str) -> WorstCase:
    return WorstCase(
        bound=None,
        cells=(),
        per_cell=dict(cells),
        rule=rule,
        confidence=None,
        sidedness=None,
        method=None,
        scope="none",
        unanswered=unanswered,
        caution=(f"planned cells without an answer: {', '.join(unanswered)}",),
    )


def _comparable(cells: Mapping[str, Estimate]) -> Estimate:
    kinds = {(cell.confidence, cell.sidedness, cell.method, cell.scope) for cell in cells.values()}
    if len(kinds) != 1:
        raise ParameterError(f"cells differ in confidence, sidedness, method or scope: {sorted(map(str, kinds))}")
    return next(iter(cells.values()))


def _low(name: str, estimate: Estimate) -> float:
    if estimate.low is None:
        raise ParameterError(f"cell {name!r} has no lower end ({estimate.sidedness}); give two-sided or lower ones")
    return estimate.low
