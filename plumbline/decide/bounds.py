"""From counted conditions to bounds: one bound a condition, and the figure over all planned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plumbline.decide.cells import Cell
from plumbline.decide.counting import CountingRule
from plumbline.stats import (
    Estimate,
    RhoScenario,
    proportion,
    published_minimum,
    rho_scenarios,
    tasks_estimate,
    worst_case,
)

__all__ = ["Figure", "bounded", "estimate_cell", "figure", "rho_table"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The figure over conditions; ``bound`` None means not available, and ``reasons`` say why."""

    bound: float | None
    attained_by: tuple[str, ...]
    covered_bound: float | None
    covered_by: tuple[str, ...]
    covered: tuple[str, ...]
    reasons: tuple[str, ...]


def estimate_cell(
    cell: Cell, rule: CountingRule, *, scope: str, confidence: float, sidedness: str, rho: float
) -> Estimate:
    """Return the estimate of a condition's rate under a rule; not known when nothing was counted."""
    if scope == "suite" or cell.n == 0:
        return proportion(cell.k, cell.n, method=rule.method, confidence=confidence, sidedness=sidedness)
    tasks = [task for task in cell.by_task if task.n]
    counts = [task.k for task in tasks], [task.n for task in tasks]
    return tasks_estimate(*counts, rho=rho, confidence=confidence, sidedness=sidedness)


def bounded(
    cells: Sequence[Cell], rule: CountingRule, *, scope: str, confidence: float, sidedness: str, rho: float
) -> tuple[tuple[Cell, ...], dict[str, Estimate]]:
    """Return the conditions with their bounds, and the estimates of those that are known."""
    made, known = [], {}
    for cell in cells:
        found = estimate_cell(cell, rule, scope=scope, confidence=confidence, sidedness=sidedness, rho=rho)
        state, reason = _state(cell, rule, found)
        low = found.low if state in ("known", "blocked") else None
        made.append(
            replace(
                cell, value=found.value, bound=low, effective_n=found.effective_n, state=state, reason=reason,
            )
        )  # fmt: skip
        if state == "known":
            known[cell.perturbation] = found
    return tuple(made), known


def _state(cell: Cell, rule: CountingRule, found: Estimate) -> tuple[str, str]:
    results = cell.succeeded + cell.failed
    if cell.n == 0 or (rule.guards and results == 0):
        causes = ", ".join(f"{number} {cause}" for cause, number in cell.causes.items())
        runs = f"none of {cell.planned} planned runs has a result" + (f" ({causes})" if causes else "")
        return "no_runs", runs
    if rule.guards and cell.uncovered and cell.exposure is not None:
        met = cell.exposure
        return "blocked", (
            f"{met.delivered} of {met.planned} planned faults were met ({met.not_delivered} not met, {met.unknown} "
            "without a record): a claim about the input under that name, not about faults"
        )
    if not found.known:
        return "no_claim", "; ".join(found.caution)
    return "known", ""


def figure(cells: Sequence[Cell], known: dict[str, Estimate], rule: CountingRule) -> Figure:
    """Return the figure over planned conditions; a planned condition is never skipped by a rule that guards."""
    lacking = [cell for cell in cells if cell.state != "known"]
    reasons = tuple(f"{cell.perturbation}: {cell.reason}" for cell in lacking)
    names = [cell.perturbation for cell in cells]
    if not rule.true_minimum:
        if not known:
            return Figure(
                bound=None, attained_by=(), covered_bound=None, covered_by=(), covered=(), reasons=reasons
            )  # fmt: skip
        picked = published_minimum(known)
        return _available(picked.bound, picked.cells, tuple(known), reasons)
    whole = worst_case(known, planned=names)
    if whole.bound is not None:
        return _available(whole.bound, whole.cells, tuple(names), ())
    rest = [cell.perturbation for cell in cells if cell.state != "blocked"]
    covered = worst_case(known, planned=rest) if rest and len(rest) < len(names) else None
    return Figure(
        bound=None,
        attained_by=(),
        covered_bound=None if covered is None else covered.bound,
        covered_by=() if covered is None else covered.cells,
        covered=tuple(rest) if covered is not None and covered.bound is not None else (),
        reasons=reasons,
    )


def _available(bound: float | None, cells: tuple[str, ...], names: tuple[str, ...], reasons: tuple[str, ...]) -> Figure:
    return Figure(
        bound=bound, attained_by=cells, covered_bound=bound, covered_by=cells, covered=names, reasons=reasons
    )  # fmt: skip


def rho_table(cells: Sequence[Cell], *, confidence: float, rho: float) -> tuple[RhoScenario, ...]:
    """Return the bounds of the smallest condition for declared correlations, when every counted run was clean.

    Clean runs hold no information on how alike the runs of a task are, so the table takes the place of an estimate.
    """
    known = [cell for cell in cells if cell.state == "known"]
    if not known or any(cell.k < cell.n for cell in known):
        return ()
    worst = min(known, key=lambda cell: cell.n)
    sizes = [task.n for task in worst.by_task if task.n]
    each = sum(size * size for size in sizes) / sum(sizes)
    rhos = tuple(sorted({0.0, 0.1, 0.2, 0.3, float(rho), 0.6, 1.0}))
    return rho_scenarios(worst.k, worst.n, runs_per_cluster=each, rhos=rhos, confidence=confidence)
