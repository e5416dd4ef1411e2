"""How well rules hold early and late in a session, before and after compactions, and in long sessions."""

from __future__ import annotations

from typing import Any

import pandas as pd

from plumbline.decide.drift import CompliancePositions
from plumbline.show.drawing import dots
from plumbline.show.estimates import estimate_rows
from plumbline.show.plots.frames import describe, estimate_frame, needed, records, told

__all__ = ["compliance_positions", "compliance_positions_data"]

_WORDS = {"position": "", "compactions": "compactions: ", "slice": "sessions: "}


def compliance_positions_data(found: CompliancePositions) -> pd.DataFrame:
    """Return compliance by position as rows of a figure.

    Parameters
    ----------
    found : CompliancePositions
        From ``plumbline.decide.drift.compliance_by_position``.

    Returns
    -------
    pandas.DataFrame
        ``group`` (where), ``series`` (what is told apart), ``percent, low, high``, ``k, n`` (sessions), ``calls``,
        ``undecided``, ``state``, ``note``.
    """
    frame = found.to_frame()
    rows = frame.assign(
        group=[_WORDS[by] + where for by, where in zip(frame["by"], frame["where"], strict=True)],
        series="sessions without a violation there",
    )
    data = estimate_frame(estimate_rows(rows[["group", "series", "value", "low", "high", "k", "n", "note"]]), "percent")
    return data.assign(calls=frame["calls"].astype("Int64"), undecided=frame["undecided"].astype("Int64"))


def compliance_positions(data: pd.DataFrame, *, axis_title: str, description: str | None = None) -> Any:
    """Draw the share of sessions that kept their rules, by position, by compactions before, and by slice.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`compliance_positions_data`.
    axis_title : str
        What is measured, with unit and kind of interval.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        Another frame, or no axis title.
    """
    wanted = ("group", "series", "percent", "low", "high", "k", "n", "state", "note", "calls", "undecided")
    data = needed(data, wanted, "compliance_positions_data")
    data["label"] = [
        told(row) if row["state"] == "estimate" else f"cannot tell: {row['note']}" for row in records(data)
    ]
    data["n_label"] = [
        "" if row["state"] != "estimate" else _reading(row["n"], row["calls"], row["undecided"])
        for row in records(data)
    ]
    words = description or describe("Dot plot", axis_title, data)
    drawn = dots(data, column="percent", axis_title=axis_title, domain=(0.0, 100.0), width=280)
    return drawn.properties(description=words)


def _reading(n: int, calls: int, undecided: int) -> str:
    more = f", {undecided:,} undecided" if undecided else ""
    return f"n={n:,} sessions, {calls:,} calls{more}"
