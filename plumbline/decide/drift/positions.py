"""Where in a session its rules are broken: by position, across compactions, and in the declared slice of long ones."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules import Policy, check
from plumbline.stats import wilson
from plumbline.traces import Recording

__all__ = ["CompliancePositions", "compliance_by_position"]

COMPACTIONS = ("compaction", "compact", "context_compaction")
_COLUMNS = ["by", "where", "value", "low", "high", "k", "n", "calls", "undecided", "note"]


@dataclass(frozen=True, eq=False)
class CompliancePositions:
    """Compliance by position in the session, by compactions before, and by slice; the session is the unit.

    Parameters
    ----------
    frame : DataFrame
        ``by`` (``position``, ``compactions``, ``slice``), ``where``, ``value, low, high`` (share of sessions without a
        violation there, Wilson; missing where no session came so far), ``k, n`` (sessions), ``calls``, ``undecided``
        (sessions left out because a rule could not be observed), ``note``.
    marks : tuple of str
        Step names taken as compactions.
    unplaced : int
        Violations that stand at no step, such as a call that was never made; they count in the slices only.
    """

    frame: pd.DataFrame
    marks: tuple[str, ...]
    unplaced: int

    def to_frame(self) -> pd.DataFrame:
        """Return the rows, see the class."""
        return self.frame.copy()

    def __str__(self) -> str:
        lines = []
        for row in self.frame.to_dict("records"):
            if row["n"] == 0:
                lines.append(f"{row['by']} {row['where']}: cannot tell ({row['note']})")
            else:
                span = f"[{row['low']:.3f}, {row['high']:.3f}]"
                lines.append(f"{row['by']} {row['where']}: {row['k']}/{row['n']} = {row['value']:.3f} {span}")
        return "\n".join([*lines, f"{self.unplaced} violations stand at no step and count in the slices only"])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def compliance_by_position(
    recording: Recording, policy: Policy, *, edges: Sequence[int] = (5, 10, 20, 50), long: int = 50,
    marks: Collection[str] = COMPACTIONS, arm: str | None = None,
) -> CompliancePositions:  # fmt: skip
    """Say how often rules hold early and late in a session, before and after compactions, and in long sessions.

    Parameters
    ----------
    recording : Recording
        A run of completed sessions.
    policy : Policy
        Its rules; a violation counts where its witness stands.
    edges : sequence of int
        Last tool call of each stretch, rising: (5, 10) makes calls 1-5, 6-10 and 11 on.
    long : int
        Tool calls from which a session belongs to the slice ``long``; one with a compaction belongs to ``compacted``.
    marks : collection of str
        Names of steps, other than tool calls, at which the context was compacted.
    arm : str, optional
        Only this arm.

    Returns
    -------
    CompliancePositions

    Raises
    ------
    ParameterError
        Edges that do not rise, no such arm, or no completed session.

    Examples
    --------
    >>> from plumbline.rules import CallAtMost
    >>> steps = pd.DataFrame({"trial_id": "a/t/baseline/0/0", "kind": "tool_call", "name": ["pay", *"cdefg", "pay"]})
    >>> run = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), steps, run_id="r")
    >>> late = compliance_by_position(run, Policy("p", [CallAtMost("pay", 1)]))
    >>> late.to_frame()[["where", "k", "n"]].head(2).values.tolist()
    [['calls 1-5', 1, 1], ['calls 6-10', 0, 1]]
    """
    ends = list(edges)
    if not ends or any(not isinstance(e, int) or e < 1 for e in ends) or any(a >= b for a, b in pairwise(ends)):
        raise ParameterError(f"edges is {edges!r}; give whole numbers of at least 1 that rise")
    trials = recording.trials[recording.trials["status"].isin(["completed", "agent_error"])]
    if arm is not None:
        if arm not in recording.arms:
            raise ParameterError(f"run {recording.run_id!r} has no arm {arm!r}; it has {', '.join(recording.arms)}")
        trials = trials[trials["arm"] == arm]
    if trials.empty:
        raise ParameterError(f"run {recording.run_id!r} has no completed session here")
    ids = list(trials["trial_id"])
    verdicts = check(recording, policy)
    table = verdicts.to_frame()
    broken = set(table.loc[table["verdict"] == "violated", "trial_id"])
    undecided = set(table.loc[table["verdict"] == "unobservable", "trial_id"]) - broken
    steps = recording.steps[recording.steps["trial_id"].isin(ids)]
    steps = steps.assign(is_call=steps["kind"] == "tool_call")
    steps["is_mark"] = ~steps["is_call"] & steps["name"].isin(list(marks))
    grouped = steps.groupby("trial_id", sort=False)
    steps["position"] = grouped["is_call"].cumsum()
    steps["compactions"] = grouped["is_mark"].cumsum()
    found = verdicts.violations()
    found = found[found["trial_id"].isin(ids)]
    placed = found[found["step"].notna()].astype({"step": "int64"})
    bad = placed[["trial_id", "step"]].drop_duplicates().assign(bad=True)
    steps = steps.merge(bad, on=["trial_id", "step"], how="left")
    steps["bad"] = steps["bad"].eq(True)
    steps["stretch"] = [_stretch(max(1, int(at)), ends) for at in steps["position"]]
    calls = steps[steps["is_call"] | steps["bad"]]
    names = [f"calls {low + 1}-{high}" for low, high in pairwise([0, *ends])] + [f"calls {ends[-1] + 1} on"]
    rows = [_row("position", name, calls[calls["stretch"] == i], undecided) for i, name in enumerate(names)]
    for count, name in ((0, "before any"), (1, "after one"), (2, "after two or more")):
        rows.append(_row("compactions", name, calls[calls["compactions"].clip(upper=2) == count], undecided))
    lengths, compacted = grouped["is_call"].sum().to_dict(), grouped["is_mark"].any().to_dict()
    kinds = {
        "compacted": [one for one in ids if compacted.get(one, False)],
        "long": [one for one in ids if not compacted.get(one, False) and lengths.get(one, 0) >= long],
        "other": [one for one in ids if not compacted.get(one, False) and lengths.get(one, 0) < long],
    }
    rows += [_slice(name, members, broken, undecided, lengths) for name, members in kinds.items()]
    frame = pd.DataFrame(rows, columns=_COLUMNS).astype({"value": "float64", "low": "float64", "high": "float64"})
    return CompliancePositions(frame, tuple(marks), len(found) - len(placed))


def _stretch(position: int, ends: list[int]) -> int:
    return sum(position > end for end in ends)


def _row(by: str, where: str, calls: pd.DataFrame, undecided: set[str]) -> dict[str, Any]:
    reached = set(calls["trial_id"])
    decided = reached - undecided
    bad = set(calls.loc[calls["bad"], "trial_id"])
    return _counted(by, where, len(decided - bad), len(decided), int(calls["is_call"].sum()), len(reached & undecided))


def _slice(
    name: str, members: list[str], broken: set[str], undecided: set[str], lengths: dict[Any, int]
) -> dict[str, Any]:
    decided = [one for one in members if one not in undecided]
    calls = sum(int(lengths.get(one, 0)) for one in members)
    kept = sum(one not in broken for one in decided)
    return _counted("slice", name, kept, len(decided), calls, len(members) - len(decided))


def _counted(by: str, where: str, k: int, n: int, calls: int, undecided: int) -> dict[str, Any]:
    shared = {"by": by, "where": where, "k": k, "n": n, "calls": calls, "undecided": undecided}
    if n == 0:
        note = "no session came so far" if by != "slice" else "no session of this kind"
        return {**shared, "value": None, "low": None, "high": None, "note": note}
    found = wilson(k, n)
    return {**shared, "value": found.value, "low": found.low, "high": found.high, "note": ""}
