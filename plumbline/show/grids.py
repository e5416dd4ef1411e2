"""A grid of marked cells, rows by columns, in blocks with a heading each: drawn by Altair from a checked frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.show.theme import MUTED, SIZES, Token

__all__ = ["Cell", "grid"]

SIDE = 26
ROW = 22
HEADING = 24
BETWEEN = 14
CHARACTER = 6.9


@dataclass(frozen=True)
class Cell:
    """How one kind of cell is drawn: its mark, whether that is heavy, and a box around it or none."""

    mark: Token
    weight: str = "normal"
    fill: Token | None = None
    border: Token | None = None


def grid(cells: pd.DataFrame, *, kinds: Mapping[str, Cell], ink: Token, foot: str = "") -> Any:
    """Draw cells with a mark in each, row labels on the left, a number above each column, headings for groups of both.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``row``, ``part`` (heading above a group of rows), ``column`` (in order), ``head`` (text above the column),
        ``block`` (heading above a group of columns; may be empty), ``mark`` (may be empty), ``kind``.
    kinds : mapping of str to Cell
        How each kind is drawn.
    ink : Token
        Colour of labels.
    foot : str
        A line below the grid that says what the marks are.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    rows, parts = _stacked(cells)
    at, blocks = _placed(cells)
    cells = cells.assign(x=[at[column] for column in cells["column"]], y=[rows[row] for row in cells["row"]])
    cells = cells.assign(x2=cells["x"] + SIDE - 2, y2=cells["y"] + ROW - 2)
    width, height = max(at.values()) + SIDE, max(rows.values()) + ROW
    plain = {"scale": None, "axis": None}
    x, y = alt.X("x:Q", **plain), alt.Y("y:Q", **plain)
    layers = []
    for kind, how in kinds.items():
        part = cells[cells["kind"] == kind]
        if part.empty:
            continue
        if how.fill is not None and how.border is not None:
            box = {"fill": how.fill.light, "stroke": how.border.light, "strokeWidth": 1}
            corners = part[["x", "y", "x2", "y2"]]
            layers.append(alt.Chart(corners).mark_rect(**box).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"))
        marked = part[part["mark"] != ""]
        if len(marked):
            marked = marked.assign(x=marked["x"] + SIDE / 2 - 1, y=marked["y"] + ROW / 2 - 1)
            text = {"align": "center", "baseline": "middle", "color": how.mark.light, "fontWeight": how.weight}
            layers.append(alt.Chart(marked).mark_text(**text).encode(x=x, y=y, text="mark:N"))
    labels = pd.DataFrame({"text": list(rows), "x": -10, "y": [place + ROW / 2 - 1 for place in rows.values()]})
    layers.append(_text(labels, ink, align="right"))
    named = pd.DataFrame([{"text": name, "x": -10, "y": top + HEADING / 2} for name, top in parts if name])
    if len(named):
        layers.append(_text(named, MUTED, align="right"))
    heads = cells.drop_duplicates("column").assign(y=-9, text=lambda f: f["head"], x=lambda f: f["x"] + SIDE / 2 - 1)
    layers.append(_text(heads[["text", "x", "y"]], MUTED, align="center"))
    titles = pd.DataFrame([{"text": name, "x": start, "y": -27} for name, start in blocks if name])
    if len(titles):
        layers.append(_text(titles, ink, align="left"))
    if foot:
        note = pd.DataFrame({"text": [foot], "x": [-10 - max(map(len, rows)) * CHARACTER], "y": [height + 14]})
        layers.append(_text(note, MUTED, align="left"))
    return alt.layer(*layers).properties(width=width, height=height)


def _stacked(cells: pd.DataFrame) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """Where each row starts, and the heading of each group of rows."""
    rows: dict[str, float] = {}
    parts: list[tuple[str, float]] = []
    here = 0.0
    for row, part in cells[["row", "part"]].drop_duplicates().itertuples(index=False, name=None):
        if part and (not parts or parts[-1][0] != part):
            parts.append((part, here))
            here += HEADING
        rows[row] = here
        here += ROW
    return rows, parts


def _placed(cells: pd.DataFrame) -> tuple[dict[Any, float], list[tuple[str, float]]]:
    """Where each column starts, and each block; a block is at least as wide as its heading."""
    at: dict[Any, float] = {}
    blocks: list[tuple[str, float]] = []
    here = 0.0
    for block in dict.fromkeys(cells["block"]):
        own = list(dict.fromkeys(cells.loc[cells["block"] == block, "column"]))
        blocks.append((block, here))
        at |= {column: here + place * SIDE for place, column in enumerate(own)}
        here += max(len(own) * SIDE, len(str(block)) * CHARACTER) + BETWEEN
    return at, blocks


def _text(frame: pd.DataFrame, token: Token, *, align: str) -> Any:
    import altair as alt

    plain = {"scale": None, "axis": None}
    mark = {"align": align, "baseline": "middle", "color": token.light, "fontSize": SIZES["label"]}
    return alt.Chart(frame).mark_text(**mark).encode(x=alt.X("x:Q", **plain), y=alt.Y("y:Q", **plain), text="text:N")
