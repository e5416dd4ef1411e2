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
from plumbline.show.estimates import EstimateRow, Unit, estimate_rows, in_order, whole_number

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
        (``estimate`` or ``cannot tell``), ``note``.

    Raises
    ------
    ParameterError
        As :func:`~plumbline.show.estimates.estimate_rows`, or an order that does not fit.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["fault"], "series": ["no retry"], "value": [52 / 64], "n": [64]})
    >>> conditions_data(frame)[["percent", "n", "state"]].to_dict("records")
    [{'percent': 81.25, 'n': 64, 'state': 'estimate'}]
    """
    return _estimate_frame(_ordered(frame, group_order, series_order, "percent"), "percent")


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
    data = _labelled(_ordered(frame, group_order, series_order, "percent"), "percent", "percent")
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
        ``group``, ``series``, ``points``, ``low``, ``high`` (float), ``k``, ``n`` (Int64), ``state``, ``note``.

    Raises
    ------
    ParameterError
        As :func:`~plumbline.show.estimates.estimate_rows`, or an order that does not fit.

    Examples
    --------
    >>> effect_data(pd.DataFrame({"group": ["retry - none"], "value": [0.1875]}))["points"].tolist()
    [18.75]
    """
    return _estimate_frame(_ordered(frame, group_order, None, "points"), "points")


def effect(
    frame: pd.DataFrame,
    *,
    axis_title: str = "difference, percentage points",
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
    data = _labelled(_ordered(frame, group_order, None, "points"), "points", "points")
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
        One row an arm: ``group`` (its label) and the number of trials ``delivered``, ``not_delivered`` and
        ``no_record``; optionally ``n``, the trials planned, which the three must add up to.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``state`` (in words), ``trials``, ``planned`` (int).

    Raises
    ------
    ParameterError
        A column lacks or is not known, no row, an arm twice, a count that is missing or impossible, or three counts
        that do not add up.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["react"], "delivered": [0], "not_delivered": [56], "no_record": [8], "n": [64]})
    >>> exposure_data(frame)["trials"].tolist()
    [0, 56, 8]
    """
    lacking = [name for name in ("group", *EXPOSURE_STATES) if name not in frame.columns]
    strange = [str(name) for name in frame.columns if name not in ("group", *EXPOSURE_STATES, "n")]
    if lacking or strange or frame.empty:
        raise ParameterError(
            f"exposure needs rows of group, {', '.join(EXPOSURE_STATES)}, n; lacking {lacking}, not known {strange}"
        )
    found: dict[str, dict[str, int]] = {}
    for position, record in enumerate(frame.to_dict("records")):
        group = str(record["group"])
        if group in found or not group.strip():
            raise ParameterError(f"row {position}: group {group!r} is empty or stands twice; one row an arm")
        found[group] = counts = {state: _trials(record[state], group, state) for state in EXPOSURE_STATES}
        if "n" in record and _trials(record["n"], group, "n") != sum(counts.values()):
            raise ParameterError(f"{group}: {counts} add up to {sum(counts.values())}, but n is {record['n']}")
    return pd.DataFrame(
        [
            {"group": group, "state": words, "trials": found[group][state], "planned": sum(found[group].values())}
            for group in in_order(found, group_order, "groups")
            for state, words in EXPOSURE_STATES.items()
        ]
    )


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


def _trials(value: object, group: str, name: str) -> int:
    count = whole_number(value, group, name)
    if count is None or count < 0:
        raise ParameterError(f"{group}: {name} is {value!r}; give the number of trials, 0 if none")
    return count


def _ordered(
    frame: pd.DataFrame, group_order: Sequence[str] | None, series_order: Sequence[str] | None, unit: Unit
) -> list[EstimateRow]:
    rows = estimate_rows(frame, unit=unit)
    groups = in_order((row.group for row in rows), group_order, "groups")
    series = in_order((row.series for row in rows), series_order, "series")
    return sorted(rows, key=lambda row: (groups.index(row.group), series.index(row.series)))


def _estimate_frame(rows: Sequence[EstimateRow], column: str) -> pd.DataFrame:
    table = pd.DataFrame({"group": [row.group for row in rows], "series": [row.series for row in rows]})
    for name, numbers in (
        (column, [row.value for row in rows]),
        ("low", [row.low for row in rows]),
        ("high", [row.high for row in rows]),
    ):
        table[name] = pd.Series([None if x is None else x * 100 for x in numbers], dtype="float64")
    for name, counts in (("k", [row.k for row in rows]), ("n", [row.n for row in rows])):
        table[name] = pd.Series(counts, dtype="Int64")
    table["state"] = ["cannot tell" if row.value is None else "estimate" for row in rows]
    table["note"] = [row.note for row in rows]
    return table


def _labelled(rows: Sequence[EstimateRow], column: str, unit: Unit) -> pd.DataFrame:
    """Return the data with the texts that stand beside each mark."""
    n_label = ["" if row.n is None or row.value is None else f"n={row.n:,}" for row in rows]
    return _estimate_frame(rows, column).assign(label=[row.value_text(unit) for row in rows], n_label=n_label)


def _describe(kind: str, axis_title: str, data: pd.DataFrame) -> str:
    parts = [f"{kind} of {axis_title.strip()}."]
    for group in dict.fromkeys(data["group"]):
        rows = data[data["group"] == group]
        said = [
            ", ".join(filter(None, [f"{row.series} {row.label}".strip(), row.n_label])) for row in rows.itertuples()
        ]
        parts.append(f"{group}: {'; '.join(said)}.")
    return " ".join(parts)
