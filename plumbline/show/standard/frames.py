"""The tables of a standard report, each a frame: who was tried, what was broken, and at which step it was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.analysis import BEHAVIOUR, one_trial
from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, Verdicts
from plumbline.show.estimates import in_order
from plumbline.traces import Recording

__all__ = [
    "arm_counts",
    "fault_counts",
    "rule_counts",
    "rule_table",
    "steps_of",
    "witness_table",
    "witnesses",
    "worst_violation",
]

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
                "why missing": ", ".join(f"{n:,} {str(cause).replace('_', ' ')}" for cause, n in why.items()) or "none",
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


def rule_table(verdicts: Verdicts, *, arms: Sequence[str] | None = None) -> pd.DataFrame:
    """Return what became of every rule, one row a rule and one column an arm, in few words.

    Parameters
    ----------
    verdicts : Verdicts
        From ``run.check(policy)``.
    arms : sequence of str, optional
        Order of the columns; by default as the trials stand.

    Returns
    -------
    pandas.DataFrame
        ``rule, severity``, then one column an arm: violated of decided trials, and after "?" trials whose record does
        not say; "never tested" where no trial decides. The numbers behind it are in ``rule_counts``.

    Raises
    ------
    ParameterError
        ``arms`` does not name each arm once.
    """
    counts = rule_counts(verdicts)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in counts.to_dict("records"):
        decided = f"{row['violated']:,}\u00a0of\u00a0{row['of decided']:,}" if row["of decided"] else "never tested"
        unsure = f"; ?\u00a0{row['cannot tell']:,}" if row["cannot tell"] else ""
        rows.setdefault((row["rule"], row["severity"]), {})[str(row["arm"])] = decided + unsure
    columns = in_order(map(str, counts["arm"]), arms, "arms")
    made = [{"rule": rule, "severity": severity, **told} for (rule, severity), told in rows.items()]
    return pd.DataFrame(made, columns=["rule", "severity", *columns])


def witnesses(verdicts: Verdicts) -> pd.DataFrame:
    """Merge violations of one rule that expect the same: in how many trials, and what was seen in the first.

    Parameters
    ----------
    verdicts : Verdicts
        From ``run.check(policy)``.

    Returns
    -------
    pandas.DataFrame
        Worst severity first, then most trials: ``severity, rule, arm, expected, trials, tasks``, and of the first of
        them ``observed``, ``trial`` and ``step`` (``not made`` for a call that is missing). No row if nothing was
        violated.
    """
    rows = verdicts.violations()
    rank = {word: place for place, word in enumerate(SEVERITIES)}
    if "arm" not in rows:
        rows = rows.assign(arm="all trials")
    made = []
    keys = ["severity", "rule", "arm", "expected"]
    for key, part in rows.groupby(keys, sort=False, dropna=False):
        first = part.iloc[0]
        told = {
            "trials": part["trial_id"].nunique(), "tasks": part["task_id"].nunique(),
            "observed": str(first["observed"]), "trial": str(first["trial_id"]),
            "step": "not made" if pd.isna(first["step"]) else str(int(first["step"])),
        }  # fmt: skip
        made.append(dict(zip(keys, map(str, key), strict=True)) | told)
    made.sort(key=lambda row: (rank[str(row["severity"])], -int(str(row["trials"]))))
    return pd.DataFrame(made, columns=[*keys, "trials", "tasks", "observed", "trial", "step"])


def witness_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return violations in the few columns that fit a page: which rule, how often, where first, and what was seen.

    Parameters
    ----------
    found : pandas.DataFrame
        From ``witnesses``, or some of its rows.

    Returns
    -------
    pandas.DataFrame
        ``rule`` (with its severity), ``arm``, ``trials``, ``tasks``, ``seen first in``, ``expected, and found there``.
    """
    rows = found.to_dict("records")
    return pd.DataFrame(
        {
            "rule": [f"{row['rule']} ({row['severity']})" for row in rows],
            "arm": found["arm"].tolist(),
            "trials": found["trials"].tolist(),
            "tasks": found["tasks"].tolist(),
            "seen first in": [
                f"{row['trial']}, {'call ' if row['step'] == 'not made' else 'step '}{row['step']}" for row in rows
            ],
            "expected, and found there": [f"{row['expected']}; found: {_cut(row['observed'])}" for row in rows],
        }
    )


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
        ``step, what, arguments, how it ended`` (with every rule it violates); long texts are cut and say by how much. A
        required call that was not made stands in a last row without a step.

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
            "how it ended": "; ".join(filter(None, [_ended(row), at.get(row["step"], "")])),
        }
        for row in steps.to_dict("records")
    ]
    for row in broken[broken["step"].isna()].to_dict("records"):
        rows.append(
            {
                "step": "–", "what": "not made", "arguments": "",
                "how it ended": f"✗ {row['rule']}: {_cut(row['observed'])}",
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["step", "what", "arguments", "how it ended"])


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
