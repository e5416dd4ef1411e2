"""Recorded traces with one thing changed, by a catalog: what a policy must see where nothing can be run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, Policy
from plumbline.traces import Recording

__all__ = ["OPERATORS", "Tampered", "TraceFault", "tampered_traces"]

_KEYS = ("run_id", "arm")
OPERATORS: Mapping[str, str] = {
    "drop": "a call is left out",
    "repeat": "a call is made twice",
    "swap": "a call changes places with the next one",
    "delay": "a call comes last",
    "fail": "a call failed, and everything goes on as if it had not",
    "argument": "one argument is ten times as large, turned round, or that of another task",
}
"""Kind of change to what it does; the last is made of every argument that is compared."""


@dataclass(frozen=True)
class TraceFault:
    """One change of recorded traces; see ``PlantedFault``, whose attributes it has.

    Parameters
    ----------
    id, kind, tool, severity : str
        Name of the arm, a key of ``OPERATORS``, the tool whose call was changed, and the worst severity of the rules
        that speak of it (of an argument: its declared severity).
    """

    id: str
    kind: str
    tool: str
    severity: str


@dataclass(frozen=True)
class Tampered:
    """Changed traces beside those they were made of.

    Parameters
    ----------
    recording : Recording
        The arm as it was, and one arm a fault. Outcomes are those of the traces before the change: nothing was run.
    faults : tuple of TraceFault
        What was changed in each arm.
    """

    recording: Recording
    faults: tuple[TraceFault, ...]


@dataclass
class _Change:
    fault: str
    kind: str
    tool: str
    rows: list[int]
    at: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    argument: str | None = None


def tampered_traces(
    recording: Recording, policy: Policy, *, arm: str, fields: Mapping[str, Mapping[str, tuple[str, str]]],
    perturbation: str = "baseline",
) -> Tampered:  # fmt: skip
    """Change every call of every recorded trace in every way of the catalog, one at a time.

    Parameters
    ----------
    recording : Recording
        Holds the traces.
    policy : Policy
        Gives each fault the worst severity of the rules that speak of its tool, ``low`` if none does.
    arm : str
        Whose traces are changed: those of its first variant and repetition.
    fields : mapping
        Tool to argument to ``(kind, severity)``, see ``Domain.argument_fields``; arguments of kind ``ignore`` are left.
    perturbation : str
        Under which they were recorded.

    Returns
    -------
    Tampered
        Give its recording, its verdicts and its faults to ``planted_faults``. No outcome differs, so that ``harmful``
        says nothing here. A second successful call of a tool in a trace has a fault of its own (``drop:read#2``).

    Raises
    ------
    ParameterError
        There is no such trace.
    """
    trials = recording.trials[(recording.trials["arm"] == arm) & (recording.trials["perturbation"] == perturbation)]
    trials = trials[trials["status"] == "completed"].drop_duplicates("task_id")
    if trials.empty:
        raise ParameterError(f"run {recording.run_id!r} has no completed trial of arm {arm!r} under {perturbation!r}")
    steps = recording.steps[recording.steps["trial_id"].isin(set(trials["trial_id"]))].reset_index(drop=True)
    other = _Others(steps, fields)
    made: list[tuple[dict[Any, Any], _Change]] = []
    places = {str(trial): list(rows) for trial, rows in steps.groupby("trial_id", sort=False).groups.items()}
    for trial in trials.to_dict("records"):
        made += [(trial, change) for change in _changes(steps, places.get(trial["trial_id"], []), other)]
    worst = {
        tool: min((rule.severity for rule in policy if tool in rule.tools), key=SEVERITIES.index, default="low")
        for tool in other.tools
    }
    faults: dict[str, TraceFault] = {}
    for _, one in made:
        severity = worst[one.tool] if one.argument is None else fields[one.tool][one.argument][1]
        faults.setdefault(one.fault, TraceFault(one.fault, one.kind, one.tool, severity))
    return Tampered(_recording(recording, trials, steps, made), tuple(faults.values()))


class _Others:
    """Values of every compared argument over all traces, to take another one from."""

    def __init__(self, steps: pd.DataFrame, fields: Mapping[str, Mapping[str, tuple[str, str]]]) -> None:
        calls = steps[(steps["kind"] == "tool_call") & (steps["status"] == "ok")]
        self.tools = sorted(set(calls["name"]))
        self.fields = fields
        self._seen: dict[tuple[str, str], list[Any]] = {}
        for name, text in zip(calls["name"], calls["arguments"], strict=True):
            for key, value in parse_json(text).items():
                seen = self._seen.setdefault((name, key), [])
                if value not in seen:
                    seen.append(value)

    def of(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield every compared argument of a call with a wrong value."""
        for key, value in arguments.items():
            if self.fields.get(tool, {}).get(key, ("ignore", ""))[0] == "ignore":
                continue
            if isinstance(value, bool):
                yield key, not value
            elif isinstance(value, int | Decimal) and value:
                yield key, value * 10
            else:
                seen = self._seen[tool, key]
                if len(seen) > 1:
                    yield key, seen[(seen.index(value) + 1) % len(seen)]


def _changes(steps: pd.DataFrame, rows: Sequence[int], other: _Others) -> Iterator[_Change]:
    kinds, names, states = (steps[name].loc[list(rows)].tolist() for name in ("kind", "name", "status"))
    calls = [at for at, kind in enumerate(kinds) if kind == "tool_call"]
    told: dict[str, int] = {}
    whole = list(rows)
    for place, at in enumerate(calls):
        if states[at] != "ok":
            continue
        tool = names[at]
        told[tool] = told.get(tool, 0) + 1
        named = tool if told[tool] == 1 else f"{tool}#{told[tool]}"
        rest = [*whole[:at], *whole[at + 1 :]]
        yield _Change(f"drop:{named}", "drop", tool, rest)
        yield _Change(f"repeat:{named}", "repeat", tool, [*whole[: at + 1], *whole[at:]])
        if place + 1 < len(calls):
            follows, last = calls[place + 1], calls[-1]
            moved = list(whole)
            moved[at], moved[follows] = moved[follows], moved[at]
            yield _Change(f"swap:{named}", "swap", tool, moved)
            if last > follows:
                yield _Change(f"delay:{named}", "delay", tool, [*rest[:last], whole[at], *rest[last:]])
        failed = {"status": "failed", "result": None, "error": "made to fail", "error_type": "tampered"}
        yield _Change(f"fail:{named}", "fail", tool, whole, at, failed)
        given = parse_json(steps["arguments"].loc[whole[at]])
        for key, value in other.of(tool, given):
            values = {"arguments": canonical_json({**given, key: value})}
            yield _Change(f"argument:{named}.{key}", "argument", tool, whole, at, values, key)


def _recording(
    recording: Recording, trials: pd.DataFrame, steps: pd.DataFrame, made: Sequence[tuple[dict[Any, Any], _Change]]
) -> Recording:
    every, owners, numbers = list(steps.index), steps["trial_id"].tolist(), steps["step"].tolist()
    patched: dict[str, dict[int, Any]] = {}
    rows = trials.to_dict("records")
    made = sorted(made, key=lambda one: one[1].fault)
    for trial, change in made:
        name = f"{change.fault}/{trial['trial_id'].partition('/')[2]}"
        rows.append({**trial, "arm": change.fault, "trial_id": name, "provenance": "reconstructed"})
        if change.at is not None:
            for column, value in change.values.items():
                patched.setdefault(column, {})[len(every) + change.at] = value
        every += change.rows
        owners += [name] * len(change.rows)
        numbers += range(len(change.rows))
    whole = steps.loc[every].reset_index(drop=True)
    for column, values in patched.items():
        told = whole[column].astype(object)
        told.loc[list(values)] = pd.Series(values, dtype=object)
        whole[column] = told
    whole["trial_id"], whole["step"] = owners, numbers
    made_of = {"what": "Recorded traces with one thing changed in each; nothing was run.", "of": recording.digest}
    run_id = f"{recording.run_id}-tampered"
    return Recording(
        pd.DataFrame(rows).assign(run_id=run_id), whole.drop(columns=[key for key in _KEYS if key in whole]),
        run_id=run_id, tasks=recording.tasks, domain=recording.domain, notes=made_of,
    )  # fmt: skip
