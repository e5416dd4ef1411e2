"""Lines over a number of runs, told apart by dashes and by a label at their end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.show.theme import ARM_STYLES, AXIS, INK, LINE, MUTED, PAPER

__all__ = ["staircase"]

WIDTH, HEIGHT = 430, 270
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [5, 2, 1, 2, 1, 2], [1, 4])


def staircase(data: pd.DataFrame, marks: pd.DataFrame, levels: Sequence[float], *, axis_title: str) -> Any:
    """Draw one line per number of failures, levels as rules, and where a line reaches a level, the number of runs.

    Parameters
    ----------
    data : pandas.DataFrame
        ``failures``, ``runs``, ``bound`` (percent).
    marks : pandas.DataFrame
        ``failures``, ``runs``, ``threshold`` (percent).
    levels : sequence of float
        Levels in percent.
    axis_title : str
        What the lines show.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    most = int(data["runs"].max())
    kept = data[(data["bound"] > 0) | (data["runs"] == data["runs"].min())]
    lines = [f"{lost} failure{'' if lost == 1 else 's'}" for lost in dict.fromkeys(data["failures"])]
    kept = kept.assign(line=[f"{lost} failure{'' if lost == 1 else 's'}" for lost in kept["failures"]])
    first = max(0.0, 10 * (int(kept.groupby("failures")["bound"].max().min()) // 10) - 40)
    x = alt.X("runs:Q", title="runs of one condition", scale=alt.Scale(domain=[0, most], nice=False), axis=_axis())
    scale = alt.Scale(domain=[first, 100], nice=False)
    y = alt.Y("bound:Q", title=axis_title, scale=scale, axis=_axis(grid=True))
    dash = alt.StrokeDash("line:N", legend=None, scale=alt.Scale(domain=lines, range=list(DASHES[: len(lines)])))
    shown = kept[kept["bound"] >= first]
    colour = ARM_STYLES[0].light
    layers = [alt.Chart(shown).mark_line(color=colour, strokeWidth=2, clip=True).encode(x=x, y=y, strokeDash=dash)]
    layers += _levels(levels, alt.Y("bound:Q", scale=scale))
    if len(marks):
        at = marks.rename(columns={"threshold": "bound"}).assign(text=lambda f: [f"{n:,}" for n in f["runs"]])
        point = alt.Chart(at).mark_point(filled=True, size=50, opacity=1, color=INK.light)
        for near, align in ((at["runs"] <= 0.9 * most, "left"), (at["runs"] > 0.9 * most, "right")):
            beside = alt.Chart(at[near]).encode(x=x, y=y, text="text:N")
            where = {"align": align, "baseline": "top", "dx": 5 if align == "left" else -5, "dy": 6}
            layers += [beside.mark_text(**where, stroke=PAPER.light, strokeWidth=5)] if near.any() else []
            layers += [beside.mark_text(**where, color=INK.light)] if near.any() else []
        layers.append(point.encode(x=x, y=y))
    ends = shown.sort_values("runs").groupby("line", sort=False).tail(1)
    ends = ends.assign(place=_apart(ends["bound"].tolist(), (100 - first) * 17 / HEIGHT))
    named = alt.Chart(ends).mark_text(align="left", baseline="middle", color=MUTED.light)
    layers.append(named.encode(x=alt.value(WIDTH + 8), y=alt.Y("place:Q", scale=scale), text="line:N"))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _axis(*, grid: bool = False) -> Any:
    import altair as alt

    return alt.Axis(grid=grid, gridColor=LINE.light, gridDash=[2, 3], tickCount=6)


def _levels(levels: Sequence[float], y: Any) -> list[Any]:
    import altair as alt

    if not levels:
        return []
    frame = pd.DataFrame({"bound": list(levels), "text": [f"{level:g} %" for level in levels]})
    rule = alt.Chart(frame).mark_rule(color=AXIS.light, strokeWidth=1).encode(y=y)
    text = alt.Chart(frame).mark_text(align="left", baseline="bottom", dx=3, dy=-2, color=MUTED.light)
    return [rule, text.encode(x=alt.value(0), y=y, text="text:N")]


def _apart(values: Sequence[float], least: float) -> list[float]:
    """Move labels apart so that none overlaps another; the highest keeps its place."""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    placed = list(values)
    above = float("inf")
    for place in order:
        placed[place] = min(placed[place], above - least)
        above = placed[place]
    return placed
