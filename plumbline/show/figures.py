"""A figure as a reader meets it: drawing, caption, what it shows in words, and the table of its data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.markup import Html, escape
from plumbline.show.render import chart_spec, svg_of
from plumbline.show.tables import Format, table_html

__all__ = ["figure"]

MEASURED = ("percent", "points", "low", "high")


def figure(
    chart: Any,
    data: pd.DataFrame | Html,
    *,
    title: str,
    description: str | None = None,
    formats: Mapping[str, Format] | None = None,
    notes: Sequence[str] = (),
) -> Html:
    """Show a chart with its caption and, folded below it, the table of its data.

    Parameters
    ----------
    chart : altair.Chart
        The drawing.
    data : pandas.DataFrame or Html
        What is drawn, as a frame or as a finished table.
    title : str
        Caption: what the figure shows, in one line.
    description : str, optional
        What a reader who cannot see it should know; by default the description of the chart.
    formats : mapping of column to str or callable, optional
        Formats of the data table.
    notes : sequence of str
        Sentences below the caption: where the data come from, what is left out.

    Returns
    -------
    Html
        HTML with the drawing inline, the drawing alone as SVG, and the description with the data as text.

    Raises
    ------
    ParameterError
        No title, no description, or a description that only repeats the title.
    """
    if not isinstance(title, str) or not title.strip():
        raise ParameterError("a figure needs a title: what it shows, in one line")
    spec = chart_spec(chart, description=description)
    words = spec["description"]
    if words.rstrip(".") == " ".join(title.split()).rstrip("."):
        raise ParameterError(
            f"the description only repeats the title {title!r}; say what the figure shows, with numbers"
        )
    svg = svg_of(spec)
    table = data if isinstance(data, Html) else _data_table(data, title, formats or {})
    said = "".join(f'<p class="pl-note">{escape(note)}</p>' for note in notes)
    width = re.search(r'<svg [^>]*?\bwidth="([\d.]+)"', svg)
    natural = f' style="--pl-width: {width.group(1)}px"' if width else ""
    frame = f'<div class="pl-chart"{natural} tabindex="0" role="group" aria-label="Figure: {escape(title)}">{svg}</div>'
    markup = (
        f'<figure class="pl-figure">{frame}'
        f"<figcaption>{escape(title)}</figcaption>{said}</figure>"
        f'<details class="pl-data"><summary>Data of this figure</summary>{table.markup}</details>'
    )
    return Html(markup, "\n".join([title, words, *notes, "", table.text]), svg)


def _data_table(data: pd.DataFrame, title: str, formats: Mapping[str, Format]) -> Html:
    """Show the data with one number of decimals for value and interval, without columns that hold nothing."""
    empty = [name for name in data.columns if (data[name].isna() | (data[name].astype("str") == "")).all()]
    shown = data[[name for name in data.columns if name not in empty or name in ("percent", "points")]]
    usual = {name: ".2f" for name in MEASURED if name in shown.columns}
    chosen = {name: how for name, how in {**usual, **formats}.items() if name not in empty or name in shown.columns}
    return table_html(shown, caption=f"Data: {title}", formats=chosen)
