"""Is the arm worse than the incumbent by more than the margin? Paired, with missing runs against the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.analysis import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.decide.cells import Cell, arm_rows
from plumbline.decide.checks import Check
from plumbline.decide.measures import Measured
from plumbline.decide.settings import Settings
from plumbline.stats import (
    Equivalence,
    pair_table,
    paired_equivalence,
    tango,
    task_difference,
    task_equivalence,
)
from plumbline.traces import Plan, Recording

__all__ = ["comparison_check"]


def comparison_check(
    recording: Recording,
    found: Measured,
    *,
    arm: str,
    incumbent: str,
    margin: float,
    cells: Mapping[str, Sequence[Cell]],
    settings: Settings,
    plan: Plan | None,
) -> Check:
    """Ask whether the arm loses less than the margin against the incumbent, over all planned trials, paired.

    A trial of the arm that is missing or undecided counts as a failure, one of the incumbent as a success: what is open
    goes against the arm. To hold the release the same must follow with everything open going for the arm.
    """
    if incumbent == arm:
        raise ParameterError(f"the incumbent is the arm itself, {arm!r}; name another arm")
    against, alpha = recording.plan if plan is None else plan, 1 - settings.confidence
    worst, best = _pairs(recording, found, arm, incumbent, against)
    test = _test(worst, settings, margin, alpha)
    high = _highest(best, settings)
    pairs = len(worst)
    numbers: dict[str, Any] = {
        "margin": margin, "pairs": pairs, "difference": test.difference, "low": test.interval.low, "best": high,
        "p_noninferior": test.p_noninferior,
    }  # fmt: skip
    here: dict[str, Any] = {"kind": "comparison", "name": f"{arm} against {incumbent}", "numbers": numbers}
    if high is not None and high < -margin:
        said = f"even with every open run going its way, it loses at least {-high:.4f}, more than the margin {margin:g}"
        return Check(status="fail", code="shown_worse", sentence=said, **here)
    if uneven := _uneven(cells, arm, incumbent):
        return Check(status="cannot_tell", code="comparison_exposure", sentence=uneven, **here)
    if not test.known:
        said = f"cannot tell: {'; '.join(test.caution) or 'no pairs'}"
        return Check(status="cannot_tell", code="comparison_cannot_tell", sentence=said, **here)
    low = "" if test.interval.low is None else f" (difference at least {test.interval.low:.4f})"
    said = f"{test.method}, {pairs} pairs, open runs against it{low}, margin {margin:g}"
    if test.noninferior:
        return Check(status="pass", code="not_worse", sentence=f"not worse by the margin: {said}", **here)
    return Check(status="cannot_tell", code="margin_not_shown", sentence=f"not shown to be within: {said}", **here)


def _pairs(
    recording: Recording, found: Measured, arm: str, incumbent: str, plan: Plan | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return planned pairs, ``task, new, old`` in 0/1, with everything open against the arm, then for it."""
    sides = []
    for name in (arm, incumbent):
        rows = arm_rows(recording, name, plan)
        ok = found.ok.astype("boolean").reindex(rows["trial_id"]).reset_index(drop=True)
        known_success = rows["status"].isin(BEHAVIOUR) & ok.fillna(False)
        known_failure = (~ok).fillna(False)
        side = pd.DataFrame({"win": known_success.astype(int), "not_loss": (~known_failure).astype(int)})
        side.index = pd.Index(rows["trial_id"].str.split("/", n=1).str[1], name="pair")
        sides.append(side)
    new, old = sides
    if plan is None:
        both = new.index.intersection(old.index)
        new, old = new.loc[both], old.loc[both]
    if new.empty:
        raise ParameterError(f"arms {arm!r} and {incumbent!r} share no planned trial; there is nothing to compare")
    task = new.index.str.split("/", n=1).str[0]
    worst = pd.DataFrame({"task": task, "new": new["win"], "old": old["not_loss"].reindex(new.index)})
    best = pd.DataFrame({"task": task, "new": new["not_loss"], "old": old["win"].reindex(new.index)})
    return worst, best


def _differences(pairs: pd.DataFrame) -> list[float]:
    means = pairs.groupby("task", sort=False)[["new", "old"]].mean()
    return list(map(float, means["new"] - means["old"]))


def _test(pairs: pd.DataFrame, settings: Settings, margin: float, alpha: float) -> Equivalence:
    if settings.scope == "tasks":
        return task_equivalence(_differences(pairs), margin=margin, alpha=alpha)
    return paired_equivalence(pair_table(pairs["new"], pairs["old"]), margin=margin, alpha=alpha)


def _highest(pairs: pd.DataFrame, settings: Settings) -> float | None:
    if settings.scope == "tasks":
        return task_difference(_differences(pairs), confidence=settings.confidence, sidedness="upper").high
    table = pair_table(pairs["new"], pairs["old"])
    return tango(table, confidence=settings.confidence, sidedness="upper").high


def _uneven(cells: Mapping[str, Sequence[Cell]], arm: str, incumbent: str) -> str:
    """Name a perturbation whose faults the two arms did not meet alike."""
    others = {cell.perturbation: cell for cell in cells[incumbent]}
    for cell in cells[arm]:
        other = others.get(cell.perturbation)
        if cell.exposure is None or other is None or other.exposure is None:
            continue
        if cell.uncovered or other.uncovered:
            return (
                f"under {cell.perturbation} {arm} met {cell.exposure.delivered} of {cell.exposure.planned} faults, "
                f"{incumbent} {other.exposure.delivered} of {other.exposure.planned}: not the same test for both"
            )
    return ""
