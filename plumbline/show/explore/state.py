"""What is selected, as data: filters, the verdicts they leave, and groups with counts and intervals. No widget here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, VERDICTS, Verdicts
from plumbline.stats import wilson
from plumbline.traces import Recording

__all__ = ["FIELDS", "Filters", "choices", "groups", "selection", "selection_code", "verdict_rows"]

FIELDS = {
    "arm": "arm", "perturbation": "perturbation", "task": "task_id", "rule": "rule", "severity": "severity",
    "verdict": "verdict", "exposure": "exposure", "status": "status",
}  # fmt: skip
"""Filter to the column it chooses from."""
_JOINED = ("exposure", "status")
_GROUP = ("arm", "perturbation", "rule", "severity")
_ORDERS: dict[str, Sequence[str]] = {"severity": SEVERITIES, "verdict": VERDICTS}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What is chosen of each column; nothing chosen means all.

    Parameters
    ----------
    arm, perturbation, task, rule, severity, verdict, exposure, status : tuple of str
        Values of the column.

    Examples
    --------
    >>> Filters(verdict=("violated",)).chosen()
    {'verdict': ('violated',)}
    """

    arm: tuple[str, ...] = ()
    perturbation: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    severity: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()
    exposure: tuple[str, ...] = ()
    status: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            if isinstance(given, str) or not all(isinstance(value, str) for value in given):
                raise ParameterError(f"filter {each.name} takes several values, such as ('a',); found {given!r}")
            object.__setattr__(self, each.name, tuple(given))

    def chosen(self) -> dict[str, tuple[str, ...]]:
        """Return the filters that choose something."""
        return {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name)}

    def but(self, **changes: tuple[str, ...]) -> Filters:
        """Return the filters with some of them replaced."""
        return replace(self, **changes)


def verdict_rows(recording: Recording, verdicts: Verdicts) -> pd.DataFrame:
    """Return one row a trial and rule, with the trial's exposure and status."""
    trials = recording.trials[["trial_id", *_JOINED]]
    return verdicts.to_frame().merge(trials, on="trial_id", how="left", validate="many_to_one")


def choices(rows: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the values that each filter can choose, in their own order or in order of appearance."""
    found = {}
    for name, column in FIELDS.items():
        there = list(dict.fromkeys(rows[column].dropna()))
        order = _ORDERS.get(name)
        found[name] = tuple(v for v in order if v in there) if order else tuple(there)
    return found


def selection(rows: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """Return the rows that the filters leave.

    Raises
    ------
    ParameterError
        A filter names a value that the run does not have: an empty selection must not come from a misspelling.
    """
    known = choices(rows)
    kept = pd.Series(True, index=rows.index)
    for name, values in filters.chosen().items():
        if lost := [value for value in values if value not in known[name]]:
            raise ParameterError(f"filter {name} names {lost}; the run has {', '.join(known[name]) or 'none'}")
        kept &= rows[FIELDS[name]].isin(values)
    return rows[kept].reset_index(drop=True)


def selection_code(filters: Filters) -> str:
    """Return the line of code that makes a selection from ``run`` and ``policy``.

    Examples
    --------
    >>> line = selection_code(Filters(arm=("react",)))
    >>> 'loc[lambda f: f["arm"].isin(["react"])]' in line
    True
    """
    base = (
        'run.check(policy).to_frame().merge(run.trials[["trial_id", "exposure", "status"]], on="trial_id", how="left")'
    )
    parts = [f'f["{FIELDS[name]}"].isin([{_listed(values)}])' for name, values in filters.chosen().items()]
    chosen = f".loc[lambda f: {' & '.join(parts)}]" if parts else ""
    return f"{base}{chosen}.reset_index(drop=True)"


def _listed(values: Sequence[str]) -> str:
    return ", ".join(f'"{v}"' if v.isprintable() and not {'"', "\\"} & set(v) else repr(v) for v in values)


def groups(recording: Recording, rows: pd.DataFrame, filters: Filters, *, confidence: float = 0.95) -> pd.DataFrame:
    """Count violations by arm, perturbation and rule, with the trials they are counted among.

    Parameters
    ----------
    recording : Recording
        The run, for planned and missing trials.
    rows : DataFrame
        From ``verdict_rows``.
    filters : Filters
        What is looked at; its `verdict` does not change the denominators.
    confidence : float
        Of the Wilson intervals, in (0, 1).

    Returns
    -------
    DataFrame
        ``arm``, ``perturbation``, ``rule``, ``severity``, ``violated``, ``decided`` (trials in which the rule held or
        was violated), ``rate``, ``low``, ``high`` (null without a decided trial), ``cannot_tell`` (unobservable, or no
        record), ``idle`` (vacuous or not applicable), ``missing`` (planned trials of this arm and perturbation that no
        agent finished), ``tasks`` (with a violation); the most often violated first. Only groups with a row in the
        selection.
    """
    asked = selection(rows, filters.but(verdict=()))
    shown = selection(rows, filters)
    wanted = set(shown[list(_GROUP)].itertuples(index=False, name=None))
    planned = recording.planned()
    if filters.task:
        planned = planned[planned["task_id"].isin(filters.task)]
    lost = (
        planned[~planned["status"].isin(["completed", "agent_error"])].groupby(["arm", "perturbation"]).size().to_dict()
    )
    made = []
    for key, part in asked.groupby(list(_GROUP), sort=False):
        if key not in wanted:
            continue
        count = part["verdict"].value_counts()
        violated, held = int(count.get("violated", 0)), int(count.get("held", 0))
        decided = violated + held
        interval = wilson(violated, decided, confidence=confidence) if decided else None
        made.append({
            **dict(zip(_GROUP, key, strict=True)), "violated": violated, "decided": decided,
            "rate": violated / decided if decided else None, "low": interval.low if interval else None,
            "high": interval.high if interval else None, "cannot_tell": int(count.get("unobservable", 0)),
            "idle": int(count.get("vacuous", 0)) + int(count.get("not_applicable", 0)),
            "missing": int(lost.get(key[:2], 0)), "tasks": part[part["verdict"] == "violated"]["task_id"].nunique(),
        })  # fmt: skip
    columns = [*_GROUP, "violated", "decided", "rate", "low", "high", "cannot_tell", "idle", "missing", "tasks"]
    frame = pd.DataFrame(made, columns=columns)
    rank: Any = {name: place for place, name in enumerate(SEVERITIES)}
    order = frame.assign(_rank=frame["severity"].map(rank)).sort_values(
        ["violated", "_rank", "rule"], ascending=[False, True, True], kind="stable"
    )
    return order.drop(columns="_rank").reset_index(drop=True)
