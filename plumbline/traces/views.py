"""Plain views of a steps frame: calls, paths, counts."""

from __future__ import annotations

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.base.schema import STEP_STATUSES

__all__ = ["call_counts", "calls", "paths"]

ARROW = " > "


def calls(steps: pd.DataFrame, *, tool: str | None = None) -> pd.DataFrame:
    """Return the tool calls of a steps frame.

    Parameters
    ----------
    steps : DataFrame
        Steps, one row an event.
    tool : str, optional
        Only the calls of this tool.

    Returns
    -------
    DataFrame
        The rows whose ``kind`` is ``tool_call``, columns unchanged.

    Raises
    ------
    ParameterError
        The tool is called nowhere in the frame.
    """
    rows = steps[steps["kind"] == "tool_call"]
    if tool is None:
        return rows
    found = rows[rows["name"] == tool]
    if found.empty:
        known = ", ".join(sorted(rows["name"].dropna().unique())) or "none"
        raise ParameterError(f"no call of {tool!r} in these steps; tools called: {known}")
    return found


def paths(steps: pd.DataFrame, *, happened: bool = False) -> pd.Series:
    """Return each trial's effect path, the tools called in order, as one text.

    Parameters
    ----------
    steps : DataFrame
        Steps, one row an event.
    happened : bool
        Leave out failed and blocked calls; by default they are part of the path.

    Returns
    -------
    Series
        Path text (``a > b > c``, empty if nothing was called), indexed by ``trial_id`` in order of appearance.
    """
    every = pd.Index(steps["trial_id"].unique(), name="trial_id")
    rows = calls(steps)
    if happened:
        rows = rows[rows["status"] == "ok"]
    joined = rows.groupby("trial_id", sort=False)["name"].agg(ARROW.join)
    return joined.reindex(every, fill_value="").rename("path")


def call_counts(steps: pd.DataFrame) -> pd.DataFrame:
    """Return how often each tool was called, by status.

    Returns
    -------
    DataFrame
        Indexed by tool; columns ``ok, failed, no_result, blocked, calls``.
    """
    rows = calls(steps)
    table = pd.crosstab(rows["name"], rows["status"]).reindex(columns=list(STEP_STATUSES), fill_value=0)
    table["calls"] = table.sum(axis=1)
    return table.rename_axis(index="tool", columns=None)
