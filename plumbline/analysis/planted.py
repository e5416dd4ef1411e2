"""How much of what can go wrong a policy catches: planted faults against the reference, trial by trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pandas as pd

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, Verdicts
from plumbline.rules.words import UNOBSERVABLE
from plumbline.traces import Recording

__all__ = ["PlantedFault", "catches", "planted_faults", "redundant_rules", "survivors"]

_CELL = ["task_id", "perturbation", "variant", "repetition"]
_SURVIVORS = ["fault", "kind", "severity", "trials", "missed", "in_doubt", "harmful", "tasks", "perturbations"]
_READ = ["arm", "trial_id", "outcome", *_CELL]
_TOLD = ["kind", "name", "arguments", "status"]


class PlantedFault(Protocol):
    """What is known of a planted fault: see ``plumbline.running.mutants.Mutant``."""

    @property
    def id(self) -> str:
        """Name of the arm that has the fault."""

    @property
    def kind(self) -> str:
        """Kind of the fault."""

    @property
    def tool(self) -> str:
        """Tool whose use goes wrong."""

    @property
    def severity(self) -> str:
        """How bad it is."""


def planted_faults(
    recording: Recording, verdicts: Verdicts, faults: Sequence[PlantedFault], *, reference: str
) -> pd.DataFrame:
    """Set every trial with a planted fault beside the reference's trial of the same cell.

    A fault that does not show in the steps or in the outcome (a wrong currency on an invoice in the base currency) is
    not there to be caught; such trials have ``changed`` False and belong in no rate.

    Parameters
    ----------
    recording : Recording
        A run whose arms are the reference and the faults' ids.
    verdicts : Verdicts
        Its verdicts.
    faults : sequence of PlantedFault
        The catalog.
    reference : str
        The arm without a fault.

    Returns
    -------
    pandas.DataFrame
        One row a trial with a fault: ``trial_id, fault, kind, severity, tool, task_id, perturbation``, ``changed``
        (steps or outcome differ from the reference's; numbers by value), ``harmful`` (the outcome differs), ``caught``
        (some rule is violated that the reference's trial does not violate: what it breaks itself reveals no fault),
        ``in_doubt`` (not caught, and a rule that speaks of the fault's tool cannot be decided on this record),
        ``localised`` (one of these rules speaks of the fault's tool or breaks at a call of it), ``rules`` (their ids,
        in policy order, as a tuple), ``step`` and ``at`` (where those break: the place that names the fault's tool,
        else the first; the step is missing where a call that is demanded is absent) and ``worst`` (their worst
        severity, or missing).

    Raises
    ------
    ParameterError
        No fault is given, an arm is missing, or a trial has no counterpart among the reference's.
    """
    if not faults:
        raise ParameterError("faults is empty; with nothing planted nothing can be caught")
    arms = set(recording.trials["arm"])
    lacking = [one for one in (reference, *(fault.id for fault in faults)) if one not in arms]
    if lacking:
        raise ParameterError(f"run {recording.run_id!r} has no arm {lacking[0]!r}; it has {', '.join(sorted(arms))}")
    done = recording.trials[recording.trials["status"].isin(["completed", "agent_error"])]
    paths = _paths(recording)
    of_arm: dict[str, list[dict[str, Any]]] = {}
    for values in zip(*(done[name].tolist() for name in _READ), strict=True):
        row = dict(zip(_READ, values, strict=True))
        of_arm.setdefault(row["arm"], []).append(row)
    whole = {
        row["trial_id"]: (paths.get(row["trial_id"], ()), _value(row["outcome"]))
        for rows in of_arm.values()
        for row in rows
    }
    plain = {tuple(row[name] for name in _CELL): row["trial_id"] for row in of_arm.get(reference, ())}
    violations = verdicts.violations().drop_duplicates(["trial_id", "rule"])
    broken, doubted = _broken(violations, verdicts.policy.ids), _doubted(verdicts)
    where = zip(violations["trial_id"], violations["rule"], strict=True)
    steps = dict(zip(where, zip(violations["step"], violations["name"], strict=True), strict=True))
    tools = {rule.id: set(rule.tools) for rule in verdicts.policy}
    severities = {rule.id: rule.severity for rule in verdicts.policy}
    rows: list[dict[str, Any]] = []
    for fault in faults:
        for row in of_arm.get(fault.id, ()):
            beside = plain.get(tuple(row[name] for name in _CELL))
            if beside is None:
                raise ParameterError(f"trial {row['trial_id']!r} has no counterpart in arm {reference!r}")
            own, other = whole[row["trial_id"]], whole[beside]
            before = broken.get(beside, ())
            rules = tuple(rule for rule in broken.get(row["trial_id"], ()) if rule not in before)
            told = [rule for rule in rules if fault.tool in (*tools[rule], steps[row["trial_id"], rule][1])]
            rows.append({
                "trial_id": row["trial_id"], "fault": fault.id, "kind": fault.kind, "severity": fault.severity,
                "tool": fault.tool, "task_id": row["task_id"], "perturbation": row["perturbation"],
                "changed": own != other, "harmful": own[1] != other[1], "caught": bool(rules),
                "in_doubt": not rules and fault.tool in doubted.get(row["trial_id"], ()),
                "localised": bool(told), "rules": rules,
                **_place([steps[row["trial_id"], rule] for rule in told], fault.tool),
                "worst": min((severities[rule] for rule in rules), key=SEVERITIES.index, default=pd.NA),
            })  # fmt: skip
    return pd.DataFrame(rows).astype({"step": "Int64"})


def catches(planted: pd.DataFrame, by: str = "kind") -> pd.DataFrame:
    """Count what was caught of what showed.

    Parameters
    ----------
    planted : pandas.DataFrame
        From ``planted_faults``.
    by : str
        ``kind``, ``severity``, ``fault``, ``tool`` or ``perturbation``.

    Returns
    -------
    pandas.DataFrame
        ``by``, ``faults`` (different ones), ``trials`` (run), ``changed``, ``caught``, ``in_doubt`` and ``localised``
        (of the changed), ``tasks`` (with a changed trial), ``tasks_caught`` (all of whose changed trials were caught),
        in order of first appearance. Trials of one task and fault are alike, so tasks are what an interval may count.
    """
    made = []
    for value, part in planted.groupby(by, sort=False):
        shown = part[part["changed"]]
        of_task = shown.groupby(["fault", "task_id"])["caught"].all()
        whole = of_task.groupby("task_id").all() if len(of_task) else of_task
        made.append({
            by: value, "faults": part["fault"].nunique(), "trials": len(part), "changed": len(shown),
            "caught": int(shown["caught"].sum()), "in_doubt": int(shown["in_doubt"].sum()),
            "localised": int((shown["caught"] & shown["localised"]).sum()),
            "tasks": len(whole), "tasks_caught": int(whole.sum()) if len(whole) else 0,
        })  # fmt: skip
    return pd.DataFrame(made)


def survivors(planted: pd.DataFrame) -> pd.DataFrame:
    """Return what showed and was not caught, one row a fault.

    Returns
    -------
    pandas.DataFrame
        ``fault, kind, severity, trials`` (changed), ``missed``, ``in_doubt`` (of the missed: nothing was violated, but
        the verdict is "unobservable", never "held"), ``harmful`` (of the others: the outcome differs), ``tasks`` (where
        it was missed) and ``perturbations``. No row if everything was caught.
    """
    shown = planted[planted["changed"]]
    made = []
    for (fault, kind, severity), part in shown.groupby(["fault", "kind", "severity"], sort=False):
        missed = part[~part["caught"]]
        if len(missed):
            made.append({
                "fault": fault, "kind": kind, "severity": severity, "trials": len(part), "missed": len(missed),
                "in_doubt": int(missed["in_doubt"].sum()),
                "harmful": int((missed["harmful"] & ~missed["in_doubt"]).sum()),
                "tasks": ", ".join(sorted(missed["task_id"].unique())),
                "perturbations": ", ".join(missed["perturbation"].unique()),
            })  # fmt: skip
    return pd.DataFrame(made, columns=_SURVIVORS)


def redundant_rules(planted: pd.DataFrame, verdicts: Verdicts) -> pd.DataFrame:
    """Say of every rule what would be missed without it.

    Returns
    -------
    pandas.DataFrame
        One row a rule: ``rule, severity, caught`` (changed trials it is violated in), ``alone`` (caught by no other
        rule), ``faults_alone`` (faults of those), ``localises_alone`` (faults with a trial in which it is the only
        violated rule that speaks of the fault's tool). A rule with neither is redundant as far as this catalog goes.
    """
    shown = planted[planted["changed"] & planted["caught"]]
    tools = {rule.id: set(rule.tools) for rule in verdicts.policy}
    rows = []
    trials = list(zip(shown["fault"].tolist(), shown["tool"].tolist(), shown["rules"].tolist(), strict=True))
    for rule in verdicts.policy:
        mine = [(fault, tool, rules) for fault, tool, rules in trials if rule.id in rules]
        alone = [fault for fault, _, rules in mine if len(rules) == 1]
        only = {fault for fault, tool, rules in mine if [one for one in rules if tool in tools[one]] == [rule.id]}
        rows.append({
            "rule": rule.id, "severity": rule.severity, "caught": len(mine), "alone": len(alone),
            "faults_alone": len(set(alone)), "localises_alone": len(only),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _paths(recording: Recording) -> Mapping[str, tuple[Any, ...]]:
    steps = recording.steps[recording.steps["kind"] == "tool_call"]
    found: dict[str, list[Any]] = {}
    rows = steps[["trial_id", *_TOLD]].astype(object).where(steps[["trial_id", *_TOLD]].notna(), None)
    for trial, kind, name, arguments, status in rows.itertuples(index=False, name=None):
        found.setdefault(trial, []).append((kind, name, _value(arguments), status))
    return {trial: tuple(path) for trial, path in found.items()}


@lru_cache(maxsize=65_536)
def _value(text: Any) -> Any:
    """Return JSON text as a value that compares: 10 and 10.00 are one number."""
    return _frozen(parse_json(text)) if isinstance(text, str) else None


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted((name, _frozen(one)) for name, one in value.items()))
    if isinstance(value, list):
        return ("list", *map(_frozen, value))
    return (type(value).__name__ if isinstance(value, bool) else "", value)


def _place(found: Sequence[tuple[Any, Any]], tool: str) -> dict[str, Any]:
    step, at = next((one for one in found if one[1] == tool), found[0] if found else (pd.NA, pd.NA))
    return {"step": step, "at": at}


def _doubted(verdicts: Verdicts) -> dict[str, set[str]]:
    """Return the tools of the rules that could not be decided, by trial."""
    found: dict[str, set[str]] = {}
    names = verdicts.table.keys["trial_id"].tolist()
    for rule, row in zip(verdicts.policy, verdicts.verdict, strict=True):
        for at in np.flatnonzero(row == UNOBSERVABLE).tolist():
            found.setdefault(names[at], set()).update(rule.tools)
    return found


def _broken(violations: pd.DataFrame, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    order = {rule: place for place, rule in enumerate(ids)}
    found = violations.groupby("trial_id", sort=False)["rule"].unique()
    return {str(trial): tuple(sorted(rules, key=order.__getitem__)) for trial, rules in found.items()}
