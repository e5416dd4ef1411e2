"""The thin drawing side of the figures: Altair layers from frames that are already checked and ordered."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.theme import ACCENT, AXIS, INK, LINE, MUTED, PAPER, SIZES, Token, arm_styles

__all__ = ["count_bars", "dots"]

WIDTH = 370
LINE_HEIGHT = 16


def dots(
    data: pd.DataFrame,
    *,
    column: str,
    axis_title: str,
    domain: tuple[float, float],
    zero: bool = False,
    width: int = WIDTH,
) -> Any:
    """Draw dots with interval bars, and beside them the value and n as text.

    Parameters
    ----------
    data : pandas.DataFrame
        ``group``, ``series``, the column to draw, ``low``, ``high``, ``state``, ``label``, ``n_label``, in order.
    column : str
        Which column holds the value.
    axis_title : str
        What is measured.
    domain : tuple of two float
        First and last value of the axis.
    zero : bool
        Whether to draw the line of no difference.
    width : int
        Width of the plot without its texts, in px.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    if not isinstance(axis_title, str) or not axis_title.strip():
        raise ParameterError("axis_title is empty; say what is measured, its unit and the kind of interval")
    data = data.assign(group=[_wrapped(group) for group in data["group"]])
    groups, series = list(dict.fromkeys(data["group"])), list(dict.fromkeys(data["series"]))
    y = _rows(groups, grid=True)
    shared: dict[str, Any] = {"y": y}
    if len(series) > 1:
        shared["yOffset"] = alt.YOffset("series:N", sort=series, scale=alt.Scale(paddingOuter=0.7))
    told, untold = (alt.Chart(data[data["state"] == state]) for state in ("estimate", "cannot tell"))
    layers = [alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=INK.light).encode(x="zero:Q")] if zero else []
    layers += [
        *_marks(told, column, axis_title, domain, series, shared),
        *_told_text(told, data, shared, width),
        *_untold(untold, series, shared),
        *_group_labels(groups, y),
    ]
    lines = max(len(series), *(group.count("\n") + 1 for group in groups))
    return alt.layer(*layers).properties(width=width, height=len(groups) * (lines * 18 + 15))


def count_bars(data: pd.DataFrame, states: Sequence[str], *, width: int = 110, tokens: Sequence[Token] = ()) -> Any:
    """Draw one column of bars per state, all on one scale, each bar with its count.

    Parameters
    ----------
    data : pandas.DataFrame
        ``group``, ``state``, ``trials``, ``planned``, ``label``, in order.
    states : sequence of str
        The columns, in order.
    width : int
        Width of the longest bar, in px.
    tokens : sequence of Token
        Fill of each column; by default accent, grey, white, and again.

    Returns
    -------
    altair.HConcatChart
    """
    import altair as alt

    data = data.assign(group=[_wrapped(group) for group in data["group"]])
    groups = list(dict.fromkeys(data["group"]))
    y = _rows(groups, grid=False)
    scale = alt.Scale(domain=[0, max(1, int(data["planned"].max()))], nice=False)
    x = alt.X("trials:Q", axis=None, scale=scale)
    lines = max(group.count("\n") + 1 for group in groups)
    room = max(len(label) for label in data["label"]) * 7.3
    columns = []
    for place, state in enumerate(states):
        token = (tokens or (ACCENT, AXIS, PAPER))[place % (len(tokens) or 3)]
        part = alt.Chart(data[data["state"] == state])
        bar = part.mark_bar(color=token.light, stroke=AXIS.light, strokeWidth=1, height=16).encode(x=x, y=y)
        text = part.mark_text(align="left", dx=6, color=INK.light).encode(x=x, y=y, text="label:N")
        layers = [bar, text, *(_group_labels(groups, y) if place == 0 else [])]
        words = textwrap.wrap(state, max(12, round((width + room) / 7.3)), break_long_words=False)
        title = alt.Title(
            words, frame="group", anchor="start", baseline="bottom", fontSize=SIZES["title"], color=MUTED.light
        )
        columns.append(alt.layer(*layers).properties(width=width, height=(18 * lines + 15) * len(groups), title=title))
    return alt.hconcat(*columns, spacing=max(12, min(58, round(room) + 16)))


def _rows(groups: Sequence[str], *, grid: bool) -> Any:
    import altair as alt

    band = alt.Axis(domain=False, ticks=False, labels=False, grid=grid, tickBand="extent", gridColor=LINE.light)
    return alt.Y("group:N", sort=groups, title=None, axis=band, scale=alt.Scale(paddingInner=0, paddingOuter=0))


def _marks(
    told: Any, column: str, axis_title: str, domain: tuple[float, float], series: Sequence[str], shared: dict[str, Any]
) -> list[Any]:
    import altair as alt

    colour, shape = _arm_channels(series)
    axis = alt.Axis(grid=True, gridDash=[2, 3], tickCount=6, title=axis_title, labelFlush=False)
    scale = alt.Scale(domain=list(domain), nice=False)
    x, low = (alt.X(f"{name}:Q", axis=axis, scale=scale) for name in (column, "low"))
    return [
        told.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=colour, **shared),
        told.mark_point(size=80, opacity=1, filled=True).encode(x=x, color=colour, shape=shape, **shared),
    ]


def _told_text(told: Any, data: pd.DataFrame, shared: dict[str, Any], width: int) -> list[Any]:
    import altair as alt

    longest = max((len(label) for label in data["label"][data["state"] == "estimate"]), default=0)
    beside = width + 14
    further = beside + longest * 7.3 + 6  # a digit of the chart's font is about 7.2 px wide at 13 px
    return [
        told.mark_text(align="left", color=INK.light).encode(x=alt.value(beside), text="label:N", **shared),
        told.mark_text(align="left", color=MUTED.light).encode(x=alt.value(further), text="n_label:N", **shared),
    ]


def _untold(untold: Any, series: Sequence[str], shared: dict[str, Any]) -> list[Any]:
    """Draw what cannot be told: a hollow mark at the axis and the words, on a halo that grid lines do not cross."""
    import altair as alt

    colour, shape = _arm_channels(series)
    words = {"align": "left", "fontStyle": "italic"}
    mark = untold.mark_point(size=70, opacity=1, fill=PAPER.light, strokeDash=[2, 2], strokeWidth=1.6)
    return [
        mark.encode(x=alt.value(9), color=colour, shape=shape, **shared),
        untold.mark_text(**words, stroke=PAPER.light, strokeWidth=5).encode(x=alt.value(21), text="label:N", **shared),
        untold.mark_text(**words, color=INK.light).encode(x=alt.value(21), text="label:N", **shared),
    ]


def _arm_channels(series: Sequence[str]) -> tuple[Any, Any]:
    import altair as alt

    styles = arm_styles(series)
    legend = alt.Legend(orient="top", title=None, direction="horizontal", offset=10) if len(series) > 1 else None
    colours = alt.Scale(domain=list(series), range=[styles[name].light for name in series])
    shapes = alt.Scale(domain=list(series), range=[styles[name].shape for name in series])
    return alt.Color("series:N", legend=legend, scale=colours), alt.Shape("series:N", legend=legend, scale=shapes)


def _group_labels(groups: Sequence[str], y: Any) -> list[Any]:
    """Draw row labels as text: Vega centres only the first line of an axis label of several lines."""
    import altair as alt

    layers = []
    for lines in sorted({group.count("\n") + 1 for group in groups}):
        frame = pd.DataFrame({"group": [group for group in groups if group.count("\n") + 1 == lines]})
        text = alt.Chart(frame).mark_text(
            align="right", lineBreak="\n", lineHeight=LINE_HEIGHT, dy=-(lines - 1) * LINE_HEIGHT / 2, color=INK.light
        )
        layers.append(text.encode(x=alt.value(-12), y=y, text="group:N"))
    return layers


def _wrapped(group: str) -> str:
    """Break a long label into lines."""
    return "\n".join(textwrap.wrap(group, 32, break_long_words=False)) or group
