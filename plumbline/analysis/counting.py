"""Counts of flags with their denominators, whole and by group; what is missing; shares that have no interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from plumbline.analysis.reading import cannot_tell
from plumbline.analysis.tallies import Grade, graded
from plumbline.base.errors import ParameterError
from plumbline.stats import Estimate, wilson
from plumbline.traces import Recording

__all__ = ["grouped", "missing_of", "of_flags", "planned_order", "right_of", "share_of_steps", "with_keys"]

_KEYS = ["task_id", "perturbation", "variant", "repetition"]


def of_flags(flags: pd.Series, *, confidence: float = 0.95) -> Estimate:
    """Estimate the share of true among the flags that are not missing."""
    return wilson(int(flags.sum()), int(flags.notna().sum()), confidence=confidence)


def share_of_steps(agreeing: np.ndarray, compared: np.ndarray, *, confidence: float = 0.95) -> Estimate:
    """Return the share of steps that agree; steps of one trial are not independent, so it has no interval."""
    k, n = int(agreeing.sum()), int(compared.sum())
    method = "share of steps"
    if not n:
        return cannot_tell("no step could be compared", method=method, confidence=confidence)
    caution = ("steps of one trial are not independent: no interval",)
    return Estimate(
        value=k / n, low=None, high=None, n=n, successes=k, confidence=confidence, method=method, caution=caution
    )


def grouped(
    frame: pd.DataFrame, by: str, groups: Mapping[str, Sequence[str]], columns: Mapping[str, str], confidence: float
) -> pd.DataFrame:
    """Count flags by a key column, a row for each planned group and measure.

    Parameters
    ----------
    frame : DataFrame
        One row a trial, with the key column and the columns of flags.
    by : str
        A key of ``groups``.
    groups : mapping of key column to its planned values
    columns : mapping of measure to column of flags

    Returns
    -------
    DataFrame
        The key, ``measure, k, n, value, low, high, reads``; a group without a decided trial reads "cannot tell".
    """
    if by not in groups:
        raise ParameterError(f"cannot group by {by!r}; allowed are {', '.join(groups)}.")
    rows = []
    for group in groups[by]:
        part = frame[frame[by] == group]
        for measure, column in columns.items():
            found = of_flags(part[column], confidence=confidence)
            counts = f"{found.successes}/{found.n}"
            rows.append(
                {by: group, "measure": measure, "k": found.successes, "n": found.n, "value": found.value,
                 "low": found.low, "high": found.high, "reads": counts if found.known else f"cannot tell ({counts})"}
            )  # fmt: skip
    names = [by, "measure", "k", "n", "value", "low", "high", "reads"]
    kinds = {"k": "int64", "n": "int64", "value": "Float64", "low": "Float64", "high": "Float64"}
    return pd.DataFrame(rows, columns=names).astype(kinds)


def planned_order(recording: Recording) -> dict[str, tuple[str, ...]]:
    """Return the perturbations and the tasks of a run, in plan order, else in order of appearance."""
    tasks = recording.plan.tasks if recording.plan else tuple(recording.trials["task_id"].unique())
    return {"perturbation": recording.perturbations, "task_id": tasks}


def right_of(recording: Recording, trials: pd.DataFrame, grade: Grade | None) -> pd.Series:
    """Judge the outcome of each trial against ground truth, by ``trial_id``; all missing without a grader."""
    ids = pd.Index(trials["trial_id"])
    if grade is None:
        return pd.Series(pd.array([pd.NA] * len(ids), "boolean"), index=ids)
    return graded(recording, grade).reindex(ids)


def missing_of(recording: Recording, arm: str, statuses: Sequence[str]) -> pd.DataFrame:
    """Return the planned trials of an arm that do not count, with their status: ``trial_id, task_id, …, status``."""
    rows = recording.planned()
    rows = rows[(rows["arm"] == arm) & ~rows["status"].isin(list(statuses))]
    return rows[["trial_id", *_KEYS, "status"]].reset_index(drop=True)


def with_keys(rows: pd.DataFrame, trials: pd.DataFrame, against: Mapping[str, str]) -> pd.DataFrame:
    """Add to divergences the keys of their trial and what the trial was compared with."""
    keys = trials.set_index("trial_id")[_KEYS]
    found = rows.join(keys, on="trial_id")
    found.insert(1, "against", [against[trial] for trial in rows["trial_id"]])
    return found[["trial_id", "against", *_KEYS, *(name for name in rows if name != "trial_id")]]
