"""Figures of a study, each in two parts: ``*_data`` is a frame to test, the verb beside it only draws that frame.

Every figure carries a description that says its numbers in words, marks an arm by colour and shape, prints n, and shows
what cannot be told as a hollow mark with words, never as zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.drawing import count_bars, dots
from plumbline.show.estimates import EstimateRow, Unit, estimate_rows, in_order

__all__ = [
    "EXPOSURE_STATES",
    "conditions",
    "conditions_data",
    "effect",
    "effect_data",
    "exposure",
    "exposure_data",
]

EXPOSURE_STATES = {
    "delivered": "fault delivered",
    "not_delivered": "not delivered",
    "no_record": "no completed record",
}
"""States of a trial that was meant to meet a fault, and how a figure calls them."""


def conditions_data(
    frame: pd.DataFrame,
    *,
    group_order: Sequence[str] | None = None,
    series_order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return what :func:`conditions` draws: one row per group and series, in percent.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``group``, ``series``, ``value``, ``low``, ``high``, ``n``, ``k``, ``note``; shares from 0 to 1, a missing value
        for "cannot tell".
    group_order, series_order : sequence of str, optional
        Order of rows and of arms; by default as they occur.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``series``, ``percent``, ``low``, ``high`` (float, percent), ``k``, ``n`` (Int64), ``state``
        (``estimate`` or ``cannot tell``), ``label``, ``n_label`` (value and n as text), ``note``.

    Raises
    ------
    ParameterError
        As :func:`~plumbline.show.estimates.estimate_rows`, or an order that does not fit.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["fault"], "series": ["no retry"], "value": [52 / 64], "n": [64]})
    >>> conditions_data(frame)[["percent", "label", "n_label"]].to_dict("records")
    [{'percent': 81.25, 'label': '81.2 %', 'n_label': 'n=64'}]
    """
    return _estimate_frame(frame, group_order, series_order, "percent")


def conditions(
    frame: pd.DataFrame,
    *,
    axis_title: str,
    group_order: Sequence[str] | None = None,
    series_order: Sequence[str] | None = None,
    description: str | None = None,
) -> Any:
    """Draw one mark per group and arm: value, interval as a bar, value and n as text.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`conditions_data` takes it.
    axis_title : str
        What is measured, with unit and kind of interval: "outcome correct, % (95 % Wilson interval)".
    group_order, series_order : sequence of str, optional
        Order of rows and of arms; by default as they occur.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        As :func:`conditions_data`, or no axis title.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["fault"], "series": ["react"], "value": [None], "n": [0], "k": [0]})
    >>> conditions(frame, axis_title="outcome correct, %").description
    'Dot plot of outcome correct, %. fault: react cannot tell (0 of 0).'
    """
    data = conditions_data(frame, group_order=group_order, series_order=series_order)
    lowest = data["low"].fillna(data["percent"]).min()
    start = 0.0 if math.isnan(lowest) else max(0.0, min(90.0, math.floor((lowest - 2) / 10) * 10))
    words = description or _describe("Dot plot", axis_title, data) + (
        f" The axis starts at {start:g} %." if start else ""
    )
    drawn = dots(data, column="percent", axis_title=axis_title, domain=(start, 100.0))
    return drawn.properties(description=words)


def effect_data(frame: pd.DataFrame, *, group_order: Sequence[str] | None = None) -> pd.DataFrame:
    """Return what :func:`effect` draws: one row per contrast, in percentage points.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``group`` (the contrast in words), ``value``, ``low``, ``high`` (differences of shares, -1 to 1), optional
        ``series``, ``n``, ``k``, ``note``.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``series``, ``points``, ``low``, ``high`` (float), ``k``, ``n`` (Int64), ``state``, ``label``,
        ``n_label``, ``note``.

    Raises
    ------
    ParameterError
        As :func:`~plumbline.show.estimates.estimate_rows`, or an order that does not fit.

    Examples
    --------
    >>> effect_data(pd.DataFrame({"group": ["retry - none"], "value": [0.1875]}))["label"].tolist()
    ['+18.8 points']
    """
    return _estimate_frame(frame, group_order, None, "points").rename(columns={"percent": "points"})


def effect(
    frame: pd.DataFrame,
    *,
    axis_title: str,
    group_order: Sequence[str] | None = None,
    description: str | None = None,
) -> Any:
    """Draw each contrast as a dot with its interval, beside the line of no difference.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`effect_data` takes it.
    axis_title : str
        What differs, in which direction, with the kind of interval.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        As :func:`effect_data`, or no axis title.
    """
    data = effect_data(frame, group_order=group_order)
    lowest = min(0.0, *data["low"].fillna(data["points"]).fillna(0.0))
    highest = max(0.0, *data["high"].fillna(data["points"]).fillna(0.0))
    domain = (math.floor((lowest - 1) / 10) * 10.0, math.ceil((highest + 1) / 10) * 10.0)
    words = description or _describe("Contrasts with intervals", axis_title, data)
    drawn = dots(data, column="points", axis_title=axis_title, domain=domain, zero=True)
    return drawn.properties(description=words)


def exposure_data(frame: pd.DataFrame, *, group_order: Sequence[str] | None = None) -> pd.DataFrame:
    """Return what :func:`exposure` draws: one row per arm and state, zeros included.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``group`` (arm or row label), ``series`` (``delivered``, ``not_delivered`` or ``no_record``), ``k`` (trials in
        that state) and optionally ``n`` (trials planned), which the states of a group must add up to.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``state``, ``trials``, ``planned`` (int); a state that the frame does not name has 0 trials.

    Raises
    ------
    ParameterError
        A column lacks, a state is unknown or stands twice, a count is missing or impossible, or states do not add up.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["react"] * 2, "series": ["not_delivered", "no_record"], "k": [56, 8], "n": 64})
    >>> exposure_data(frame)["trials"].tolist()
    [0, 56, 8]
    """
    lacking = [name for name in ("group", "series", "k") if name not in frame.columns]
    if lacking or frame.empty:
        raise ParameterError(f"exposure needs rows with group, series and k; columns lacking: {lacking}")
    unknown = sorted(set(frame["series"]) - set(EXPOSURE_STATES))
    if unknown:
        raise ParameterError(f"states not known: {unknown}; allowed are {list(EXPOSURE_STATES)}")
    shares = frame[[name for name in ("group", "series", "k", "n") if name in frame.columns]]
    rows = estimate_rows(shares.assign(value=None, note="a count"))
    groups = in_order((row.group for row in rows), group_order, "groups")
    records = []
    for group in groups:
        counts = {row.series: _need_count(row) for row in rows if row.group == group}
        planned = {row.n for row in rows if row.group == group and row.n is not None}
        total = sum(counts.values())
        if planned and planned != {total}:
            raise ParameterError(f"{group}: states add up to {total}, but n says {sorted(planned)} trials were planned")
        for state, words in EXPOSURE_STATES.items():
            records.append({"group": group, "state": words, "trials": counts.get(state, 0), "planned": total})
    return pd.DataFrame(records)


def exposure(
    frame: pd.DataFrame,
    *,
    group_order: Sequence[str] | None = None,
    description: str | None = None,
) -> Any:
    """Draw, per arm, how many trials met their planned fault, how many did not, and how many have no record.

    The three states stand in three columns with a count each, so zero is seen as zero and no colour has to be read.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`exposure_data` takes it.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.HConcatChart

    Raises
    ------
    ParameterError
        As :func:`exposure_data`.
    """
    data = exposure_data(frame, group_order=group_order)
    groups = list(dict.fromkeys(data["group"]))
    data["label"] = [
        f"{trials:,} of {planned:,}" for trials, planned in zip(data["trials"], data["planned"], strict=True)
    ]
    words = description or "Trials meant to meet an injected fault. " + " ".join(
        f"{group}: " + ", ".join(f"{row.state} {row.label}" for row in data[data["group"] == group].itertuples()) + "."
        for group in groups
    )
    return count_bars(data, list(EXPOSURE_STATES.values())).properties(description=words)


def _need_count(row: EstimateRow) -> int:
    if row.k is None:
        raise ParameterError(f"{row.group}, {row.series}: k is missing; give the number of trials, 0 if none")
    return row.k


def _estimate_frame(
    frame: pd.DataFrame, group_order: Sequence[str] | None, series_order: Sequence[str] | None, unit: Unit
) -> pd.DataFrame:
    rows = estimate_rows(frame, unit=unit)
    groups = in_order((row.group for row in rows), group_order, "groups")
    series = in_order((row.series for row in rows), series_order, "series")
    rows = sorted(rows, key=lambda row: (groups.index(row.group), series.index(row.series)))
    table = pd.DataFrame({"group": [row.group for row in rows], "series": [row.series for row in rows]})
    for name, numbers in (
        ("percent", [row.value for row in rows]),
        ("low", [row.low for row in rows]),
        ("high", [row.high for row in rows]),
    ):
        table[name] = pd.Series([None if x is None else x * 100 for x in numbers], dtype="float64")
    for name, counts in (("k", [row.k for row in rows]), ("n", [row.n for row in rows])):
        table[name] = pd.Series(counts, dtype="Int64")
    table["state"] = ["cannot tell" if row.value is None else "estimate" for row in rows]
    table["label"] = [row.value_text(unit) for row in rows]
    table["n_label"] = ["" if row.n is None or row.value is None else f"n={row.n:,}" for row in rows]
    table["note"] = [row.note for row in rows]
    return table


def _describe(kind: str, axis_title: str, data: pd.DataFrame) -> str:
    parts = [f"{kind} of {axis_title.strip()}."]
    for group in dict.fromkeys(data["group"]):
        rows = data[data["group"] == group]
        said = [
            ", ".join(filter(None, [f"{row.series} {row.label}".strip(), row.n_label])) for row in rows.itertuples()
        ]
        parts.append(f"{group}: {'; '.join(said)}.")
    return " ".join(parts)
