"""The tables of a standard report, each a frame: who was tried, what was broken, and at which step it was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.analysis import BEHAVIOUR, one_trial
from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, Verdicts
from plumbline.traces import Recording

__all__ = ["arm_counts", "fault_counts", "matrix_table", "rule_counts", "steps_of", "witnesses", "worst_violation"]

_LONGEST = 160


def arm_counts(recording: Recording) -> pd.DataFrame:
    """Count the trials of every arm: planned, how they ended, and what became of those that say nothing.

    Parameters
    ----------
    recording : Recording
        The run.

    Returns
    -------
    pandas.DataFrame
        ``arm, planned, recorded, completed, agent error, missing`` (int) and ``why missing`` (text).

    Examples
    --------
    >>> run = Recording(pd.DataFrame({"arm": ["a", "a"], "task_id": ["t", "u"]}), run_id="r")
    >>> arm_counts(run)[["planned", "completed", "missing"]].values.tolist()
    [[2, 2, 0]]
    """
    planned = recording.planned()
    rows = []
    for arm in recording.arms:
        own, counts = planned[planned["arm"] == arm], recording.counts(arm=arm)
        why = own.loc[~own["status"].isin(BEHAVIOUR), "status"].value_counts().sort_index()
        rows.append(
            {
                "arm": arm, "planned": counts.planned, "recorded": counts.recorded, "completed": counts.completed,
                "agent error": int((own["status"] == "agent_error").sum()), "missing": counts.missing,
                "why missing": ", ".join(f"{n:,} {cause}" for cause, n in why.items()) or "none",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def fault_counts(recording: Recording) -> pd.DataFrame:
    """Count, of the trials that were meant to meet a fault, those that met it, did not, and have no completed record.

    Parameters
    ----------
    recording : Recording
        The run.

    Returns
    -------
    pandas.DataFrame
        One row an arm and condition that plans faults: ``group, delivered, not_delivered, no_record, n``, as
        ``exposure_data`` takes it.

    Raises
    ------
    ParameterError
        No trial of the run had a fault to meet.
    """
    trials = recording.trials
    armed = [name for name in recording.perturbations if _armed(trials, name)]
    if not armed:
        raise ParameterError(f"run {recording.run_id!r} plans no fault, so there is none to meet")
    planned = recording.planned().groupby(["arm", "perturbation"], sort=False).size()
    behaved = trials[trials["status"].isin(BEHAVIOUR)]
    rows = []
    for arm in recording.arms:
        for name in armed:
            own = behaved[(behaved["arm"] == arm) & (behaved["perturbation"] == name)]["exposure"]
            met, n = int((own == "delivered").sum()), int(planned.get((arm, name), 0))
            rows.append(
                {
                    "group": arm if len(armed) == 1 else f"{arm}, {name}", "delivered": met,
                    "not_delivered": len(own) - met, "no_record": n - len(own), "n": n,
                }
            )  # fmt: skip
    return pd.DataFrame([row for row in rows if row["n"]])


def _armed(trials: pd.DataFrame, perturbation: str) -> bool:
    return bool((trials.loc[trials["perturbation"] == perturbation, "exposure"] != "none_planned").any())


def rule_counts(verdicts: Verdicts) -> pd.DataFrame:
    """Count the five verdicts of every rule and arm, the worst rules first.

    Parameters
    ----------
    verdicts : Verdicts
        From ``run.check(policy)``.

    Returns
    -------
    pandas.DataFrame
        ``severity, rule, arm, violated, of decided`` (held or violated), ``vacuous, not applicable, cannot tell``.
    """
    counts = verdicts.by_rule()
    if "arm" not in counts:
        counts.insert(2, "arm", "all trials")
    rank = {word: place for place, word in enumerate(SEVERITIES)}
    frame = pd.DataFrame(
        {
            "severity": counts["severity"],
            "rule": counts["rule"],
            "arm": counts["arm"],
            "violated": counts["violated"],
            "of decided": counts["held"] + counts["violated"],
            "vacuous": counts["vacuous"],
            "not applicable": counts["not_applicable"],
            "cannot tell": counts["unobservable"],
        }
    )
    order = sorted(range(len(frame)), key=lambda i: rank[str(frame["severity"].iloc[i])])
    return frame.iloc[order].reset_index(drop=True)


def witnesses(verdicts: Verdicts) -> pd.DataFrame:
    """Merge violations that are the same: what was expected and seen, in how many trials, and where it is seen first.

    Parameters
    ----------
    verdicts : Verdicts
        From ``run.check(policy)``.

    Returns
    -------
    pandas.DataFrame
        Worst severity first, then most trials: ``severity, rule, arm, expected, observed, trials, tasks``, and the
        first of them, ``trial`` and ``step`` (``not made`` for a call that is missing). No row if nothing was violated.
    """
    rows = verdicts.violations()
    rank = {word: place for place, word in enumerate(SEVERITIES)}
    if "arm" not in rows:
        rows = rows.assign(arm="all trials")
    made = []
    keys = ["severity", "rule", "arm", "expected", "observed"]
    for key, part in rows.groupby(keys, sort=False, dropna=False):
        step = part["step"].iloc[0]
        made.append(
            dict(zip(keys, map(str, key), strict=True))
            | {
                "trials": part["trial_id"].nunique(),
                "tasks": part["task_id"].nunique(),
                "trial": str(part["trial_id"].iloc[0]),
                "step": "not made" if pd.isna(step) else str(int(step)),
            }
        )
    made.sort(key=lambda row: (rank[str(row["severity"])], -int(str(row["trials"]))))
    return pd.DataFrame(made, columns=[*keys, "trials", "tasks", "trial", "step"])


def worst_violation(verdicts: Verdicts) -> tuple[str, str]:
    """Return trial and rule of the violation a reader should see first.

    Raises
    ------
    ParameterError
        Nothing was violated.
    """
    found = witnesses(verdicts)
    if found.empty:
        raise ParameterError("no rule is violated, so there is no violation to show")
    return str(found["trial"].iloc[0]), str(found["rule"].iloc[0])


def steps_of(recording: Recording, verdicts: Verdicts, trial_id: str) -> pd.DataFrame:
    """Return the steps of one trial as a reader follows them, with the rules that a step violates.

    Parameters
    ----------
    recording : Recording
        The run.
    verdicts : Verdicts
        Its verdicts.
    trial_id : str
        The trial.

    Returns
    -------
    pandas.DataFrame
        ``step, what, arguments, ended, violates``; long texts are cut and say by how much. A required call that was not
        made stands in a last row without a step.

    Raises
    ------
    NotFoundError
        The run holds no such trial.
    """
    steps = one_trial(recording, trial_id)
    broken = verdicts.violations()
    broken = broken[broken["trial_id"] == trial_id]
    at = {
        step: "; ".join(f"✗ {rule}" for rule in part["rule"])
        for step, part in broken.dropna(subset=["step"]).groupby("step", sort=False)
    }
    rows: list[dict[str, Any]] = [
        {
            "step": str(row["step"]),
            "what": _what(row),
            "arguments": _cut(row["arguments"]),
            "ended": _ended(row),
            "violates": at.get(row["step"], ""),
        }
        for row in steps.to_dict("records")
    ]
    for row in broken[broken["step"].isna()].to_dict("records"):
        rows.append(
            {
                "step": "–", "what": "not made", "arguments": "", "ended": str(row["observed"]),
                "violates": f"✗ {row['rule']}",
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["step", "what", "arguments", "ended", "violates"])


def matrix_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the data of a verdict matrix as a table that is read like the figure: rules down, groups of trials across.

    Parameters
    ----------
    data : pandas.DataFrame
        From ``verdict_matrix_data``.

    Returns
    -------
    pandas.DataFrame
        ``rule, severity``, then one column a group of trials, named by its arm, number and trials.
    """
    names = {
        row["column"]: f"{row['arm']} {row['column']} (n={row['trials']:,})".strip()
        for row in data.drop_duplicates("column").to_dict("records")
    }
    wide = data.pivot_table(index=["rule", "severity"], columns="column", values="verdict", aggfunc="first", sort=False)
    return wide.rename(columns=names).reset_index().rename_axis(columns=None)


def _what(row: dict[Any, Any]) -> str:
    name = "" if pd.isna(row["name"]) else str(row["name"])
    return name if row["kind"] == "tool_call" and name else f"{row['kind'].replace('_', ' ')} {name}".strip()


def _ended(row: dict[Any, Any]) -> str:
    parts: Sequence[str] = (
        "" if row["status"] == "ok" else str(row["status"]).replace("_", " "),
        "" if pd.isna(row["injected"]) else f"injected fault {row['injected']}",
        "" if pd.isna(row["error"]) else _cut(row["error"]),
    )
    return "; ".join(filter(None, parts)) or "ok"


def _cut(value: object) -> str:
    if value is None or value is pd.NA or value != value:
        return "not recorded"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"
