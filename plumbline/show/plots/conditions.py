"""Rates by condition and arm, and differences beside the line of no difference, from frames of estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.show.drawing import dots
from plumbline.show.plots.frames import describe, estimate_frame, labelled, ordered

__all__ = ["conditions", "conditions_data", "effect", "effect_data"]


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
    return estimate_frame(ordered(frame, group_order, series_order, "percent"), "percent")


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
    data = labelled(ordered(frame, group_order, series_order, "percent"), "percent", "percent")
    lowest = data["low"].fillna(data["percent"]).min()
    start = 0.0 if math.isnan(lowest) else max(0.0, min(90.0, math.floor((lowest - 2) / 10) * 10))
    words = description or describe("Dot plot", axis_title, data) + (
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
    return estimate_frame(ordered(frame, group_order, None, "points"), "points")


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
    data = labelled(ordered(frame, group_order, None, "points"), "points", "points")
    lowest = min(0.0, *data["low"].fillna(data["points"]).fillna(0.0))
    highest = max(0.0, *data["high"].fillna(data["points"]).fillna(0.0))
    domain = (math.floor((lowest - 1) / 10) * 10.0, math.ceil((highest + 1) / 10) * 10.0)
    words = description or describe("Contrasts with intervals", axis_title, data)
    drawn = dots(data, column="points", axis_title=axis_title, domain=domain, zero=True)
    return drawn.properties(description=words)
