"""Two arms on the same requests: pairs that differ, task by task, beside those that do not."""

from __future__ import annotations

from typing import Any

import pandas as pd

from plumbline.analysis import PairedOutcomes
from plumbline.base.errors import ParameterError
from plumbline.show.drawing import count_bars
from plumbline.show.plots.frames import needed
from plumbline.show.theme import ACCENT, AXIS, PAPER

__all__ = ["discordance", "discordance_data"]

_STATES = ("only_first", "only_second", "both", "neither", "incomplete")
_COLUMNS = ("group", "state", "trials", "planned")


def discordance_data(found: PairedOutcomes) -> pd.DataFrame:
    """Count pairs by task and by who did right; pairs of which one side says nothing are counted too.

    Parameters
    ----------
    found : PairedOutcomes
        From ``paired_outcomes``.

    Returns
    -------
    pandas.DataFrame
        One row a task and state, zeros included: ``group`` (task), ``state`` (``only_first``, ``only_second``,
        ``both``, ``neither``, ``incomplete``), ``trials`` (pairs), ``planned`` (pairs of the task), ``first``,
        ``second`` (names of the sides).

    Raises
    ------
    ParameterError
        There is no pair.

    Examples
    --------
    >>> from plumbline.analysis import paired_outcomes
    >>> from plumbline.traces import Recording
    >>> run = Recording(pd.DataFrame({"arm": ["a", "b"], "task_id": "t"}), run_id="r")
    >>> ok = pd.Series([True, False], index=run.trials["trial_id"])
    >>> data = discordance_data(paired_outcomes(run, "a", run, "b", ok_first=ok, ok_second=ok))
    >>> data.loc[data["trials"] > 0, ["group", "state", "trials"]].values.tolist()
    [['t', 'only_first', 1]]
    """
    pairs = found.pairs
    if pairs.empty:
        raise ParameterError(f"{found.first} and {found.second} have no pair of trials to compare")
    rows = []
    for task, part in pairs.groupby("task_id", sort=False):
        whole = part[part["complete"]]
        one, two = whole["first"].astype(bool), whole["second"].astype(bool)
        counts = {
            "only_first": int((one & ~two).sum()), "only_second": int((two & ~one).sum()),
            "both": int((one & two).sum()), "neither": int((~one & ~two).sum()), "incomplete": len(part) - len(whole),
        }  # fmt: skip
        rows += [{"group": task, "state": state, "trials": counts[state], "planned": len(part)} for state in _STATES]
    return pd.DataFrame(rows).assign(first=found.first, second=found.second)


def discordance(data: pd.DataFrame, *, names: tuple[str, str] | None = None, description: str | None = None) -> Any:
    """Draw, for every task, the pairs in which only one side did right, then the pairs that tell no difference.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`discordance_data`.
    names : tuple of two str, optional
        What the two sides are called; by default the arms.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.HConcatChart

    Raises
    ------
    ParameterError
        Another frame, or names that are not two different texts.
    """
    data = needed(data, (*_COLUMNS, "first", "second"), "discordance_data")
    first, second = names or _names(str(data["first"].iloc[0]), str(data["second"].iloc[0]))
    if first == second or not first.strip() or not second.strip():
        raise ParameterError(f"the two sides are called {first!r} and {second!r}; give two different names")
    words = {
        "only_first": f"only {first} right", "only_second": f"only {second} right", "both": "both right",
        "neither": "neither right", "incomplete": "one side missing",
    }  # fmt: skip
    data["label"] = [f"{count:,}" for count in data["trials"]]
    data["state"] = data["state"].map(words)
    said = description or _said(data, list(words.values()))
    tokens = (ACCENT, ACCENT, AXIS, AXIS, PAPER)
    return count_bars(data, list(words.values()), width=76, tokens=tokens).properties(description=said)


def _names(first: str, second: str) -> tuple[str, str]:
    """The arms, with their runs where the arms have one name."""
    arms = first.rsplit("/", 1)[-1], second.rsplit("/", 1)[-1]
    return arms if arms[0] != arms[1] else (first, second)


def _said(data: pd.DataFrame, states: list[str]) -> str:
    sums = data.groupby("state")["trials"].sum()
    total = ", ".join(f"{state} {sums[state]:,}" for state in states)
    parts = [f"Pairs of trials that were asked the same. All tasks: {total}."]
    for task in dict.fromkeys(data["group"]):
        rows = data[(data["group"] == task) & (data["trials"] > 0)]
        parts.append(f"{task}: " + ", ".join(f"{row.state} {row.label}" for row in rows.itertuples()) + ".")
    return " ".join(parts)
