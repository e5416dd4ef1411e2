"""k of n with every denominator beside it: planned, recorded, completed, missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.base.canonical import parse_json
from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.base.schema import KEYS
from plumbline.stats import Estimate, wilson
from plumbline.traces import Recording

__all__ = ["BEHAVIOUR", "estimate", "graded", "one_trial", "share", "tally"]

BEHAVIOUR = ("completed", "agent_error")
"""Statuses that say something about the agent; every other status is infrastructure and counts as missing."""

Grade = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


def graded(recording: Recording, grade: Grade) -> pd.Series:
    """Judge the outcome of every trial against the ground truth of its task.

    Parameters
    ----------
    recording : Recording
        With outcomes read from the system of record and a context for each task.
    grade : callable
        ``grade(outcome, context) -> bool``; a domain brings its own.

    Returns
    -------
    Series of boolean
        Indexed by ``trial_id``; missing where the trial says nothing about the agent or its outcome was not recorded.
    """
    contexts = {task: recording.context(task) for task in recording.trials["task_id"].unique()}
    if empty := [task for task, context in contexts.items() if not context]:
        raise ParameterError(
            f"run {recording.run_id!r} holds no ground truth for {empty[:5]}; its outcomes cannot be graded"
        )
    judged: dict[tuple[str, str], bool] = {}
    values: list[bool | None] = []
    columns = recording.trials[["task_id", "status", "outcome"]]
    for task, status, outcome in columns.itertuples(index=False, name=None):
        if status not in BEHAVIOUR or pd.isna(outcome):
            values.append(None)
            continue
        if (task, outcome) not in judged:
            judged[task, outcome] = bool(grade(parse_json(outcome), contexts[task]))
        values.append(judged[task, outcome])
    return pd.Series(values, index=pd.Index(recording.trials["trial_id"]), dtype="boolean", name="ok")


def tally(
    recording: Recording, ok: pd.Series, *, by: Sequence[str] = ("arm", "perturbation"), confidence: float = 0.95
) -> pd.DataFrame:
    """Count successes by group, over completed trials, with what is missing beside them.

    Parameters
    ----------
    recording : Recording
        The run; its plan decides which groups there are, also those without a single record.
    ok : Series of boolean
        One value a trial, indexed by ``trial_id``; missing values are not counted in ``n`` and shown as ``undecided``.
    by : sequence of str
        Key columns to group by.
    confidence : float
        Confidence of the Wilson score interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row a group in plan order: the keys, ``planned, recorded, completed, missing, undecided, k, n, value, low,
        high`` (``value`` and its interval are missing when ``n`` is 0), ``method``, ``scope``.

    Raises
    ------
    ParameterError
        A key does not exist, or ``ok`` does not cover the run's trials.
    """
    keys = [c.name for c in KEYS]
    if unknown := [name for name in by if name not in keys]:
        raise ParameterError(f"cannot group by {unknown}; key columns are {', '.join(keys)}")
    rows = recording.planned()
    known = rows["trial_id"].isin(recording.trials["trial_id"])
    if not set(recording.trials["trial_id"]) <= set(ok.index):
        raise ParameterError(f"ok covers {len(ok)} trials, not all {len(recording.trials)} of run {recording.run_id!r}")
    rows = rows.assign(
        recorded=known & (rows["status"] != "not_run"),
        completed=rows["status"] == "completed",
        missing=~rows["status"].isin(BEHAVIOUR),
        ok=ok.astype("boolean").reindex(rows["trial_id"]).to_numpy(),
    )
    rows["undecided"] = rows["ok"].isna() & ~rows["missing"]
    groups = rows.groupby(list(by), sort=False)
    table = groups[["recorded", "completed", "missing", "undecided"]].sum()
    table.insert(0, "planned", groups.size())
    table["k"], table["n"] = groups["ok"].sum().astype("int64"), groups["ok"].count().astype("int64")
    made = [wilson(int(k), int(n), confidence=confidence) for k, n in zip(table["k"], table["n"], strict=True)]
    for name in ("value", "low", "high"):
        table[name] = pd.array([getattr(e, name) for e in made], dtype="Float64")
    table["method"], table["scope"] = [e.method for e in made], [e.scope for e in made]
    return table.reset_index()


def estimate(row: Mapping[str, Any], *, confidence: float = 0.95) -> Estimate:
    """Return the Wilson estimate of one row of a tally."""
    return wilson(int(row["k"]), int(row["n"]), confidence=confidence)


def share(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one row of a tally as plain JSON values: ``k, n, value, low, high``, None where nothing can be told."""
    ends = {name: None if pd.isna(row[name]) else float(row[name]) for name in ("value", "low", "high")}
    return {"k": int(row["k"]), "n": int(row["n"]), **ends}


def one_trial(recording: Recording, trial_id: str) -> pd.DataFrame:
    """Return the steps of one trial, see ``Run.trial``."""
    ids = recording.trials["trial_id"]
    if trial_id not in set(ids):
        near = list(ids[ids.str.contains(trial_id, regex=False)][:5])
        hint = (
            f" Ids that contain it: {', '.join(near)}."
            if near
            else f" The first is {ids.iloc[0]!r}."
            if len(ids)
            else ""
        )
        raise NotFoundError(f"run {recording.run_id!r} holds no trial {trial_id!r}.{hint}")
    return recording.steps[recording.steps["trial_id"] == trial_id].reset_index(drop=True)
