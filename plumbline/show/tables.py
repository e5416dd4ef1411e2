"""Accessible tables: caption, header cells with scope, numerals aligned, notes, and the same table as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.estimates import EstimateRow, Unit, estimate_rows, in_order
from plumbline.show.markup import Html, escape
from plumbline.show.theme import arm_styles

__all__ = ["callout", "estimate_table", "table_html"]

Format = str | Callable[[Any], str]
NO_VALUE = "–"
CALLOUTS = {
    "can": ("✓", "Can claim"),
    "cannot": ("✗", "Cannot claim"),
    "answer": ("", "Answer"),
    "note": ("i", "Note"),
    "caution": ("!", "Caution"),
}


def table_html(
    frame: pd.DataFrame,
    *,
    caption: str,
    formats: Mapping[str, Format] | None = None,
    row_headers: int = 1,
    notes: Sequence[str] = (),
) -> Html:
    """Show a frame as a table that reads well on a page, in a notebook, in a terminal and aloud.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows to show, in their order; the index is not shown.
    caption : str
        What the table holds, in words.
    formats : mapping of column to str or callable, optional
        A format specification such as ``".1f"``, or a function from a cell to text. Without one, the floats of a
        column share their number of decimals.
    row_headers : int
        How many leading columns name the row, from 0 to the number of columns.
    notes : sequence of str
        Footnotes below the table.

    Returns
    -------
    Html
        Shown by a notebook as HTML, elsewhere as text. A missing cell is a dash, never a zero.

    Raises
    ------
    ParameterError
        No caption, no row, columns named twice or nested, a format for a column that does not exist.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": ["no retry"], "exposed": [32]})
    >>> print(table_html(frame, caption="Exposure"))
    Exposure
    arm       exposed
    no retry       32
    """
    formats = dict(formats or {})
    _check_table(frame, caption, formats, row_headers)
    names = [str(name) for name in frame.columns]
    numeric = [_is_numeric(frame.iloc[:, place]) for place in range(len(names))]
    cells = [
        [_cell_text(value, formats.get(name, _decimals(frame[name]))) for value in frame[name]]
        for name in frame.columns
    ]
    body = [[column[place] for column in cells] for place in range(len(frame))]
    head = "".join(_th(escape(name), "col", number) for name, number in zip(names, numeric, strict=True))
    rows = "".join(f"<tr>{_row_cells(row, numeric, row_headers)}</tr>" for row in body)
    markup = _table(caption, head, rows, [escape(note) for note in notes])
    return Html(markup, _text_table(caption, names, body, numeric, notes))


def estimate_table(
    frame: pd.DataFrame,
    *,
    caption: str,
    group_title: str = "",
    group_order: Sequence[str] | None = None,
    series_order: Sequence[str] | None = None,
    unit: Unit = "percent",
    notes: Sequence[str] = (),
) -> Html:
    """Show estimates as groups x arms, with value, interval and n in every cell.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``group``, ``series``, ``value``, ``low``, ``high``, ``n``, ``k``, ``note``; shares from 0 to 1. A
        note of a cell becomes a lettered footnote.
    caption : str
        What the table holds, in words.
    group_title : str
        Heading of the first column.
    group_order, series_order : sequence of str, optional
        Order of rows and of columns; by default as they occur.
    unit : {'percent', 'points'}
        Share or difference of two shares.
    notes : sequence of str
        General notes below the table.

    Returns
    -------
    Html

    Raises
    ------
    ParameterError
        As :func:`~plumbline.show.estimates.estimate_rows`, or an order that does not fit.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["fault"], "series": ["react"], "value": [None], "n": [0], "k": [0]})
    >>> print(estimate_table(frame, caption="As treated", group_title="condition"))
    As treated
    condition  react
    fault      cannot tell (0 of 0)
    """
    _need_caption(caption)
    rows = estimate_rows(frame, unit=unit)
    groups = in_order((row.group for row in rows), group_order, "groups")
    series = in_order((row.series for row in rows), series_order, "series")
    styles = arm_styles(series)
    found = {(row.group, row.series): row for row in rows}
    letters = _letters([found[key].note for group in groups for arm in series if (key := (group, arm)) in found])
    head = _th(escape(group_title), "col", False) + "".join(
        _th(
            f'<span class="pl-glyph pl-arm-{place}" aria-hidden="true">{styles[arm].glyph}</span>{escape(arm)}',
            "col",
            1,
        )
        for place, arm in enumerate(series, 1)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(group)}</th>'
        + "".join(_estimate_cell(found.get((group, arm)), letters, unit) for arm in series)
        + "</tr>"
        for group in groups
    )
    written = [*(f"{letter} {note}" for note, letter in letters.items()), *notes]
    shown = [*(f"<sup>{letter}</sup> {escape(note)}" for note, letter in letters.items()), *map(escape, notes)]
    text = [[group, *(_estimate_text(found.get((group, arm)), letters, unit) for arm in series)] for group in groups]
    plain = _text_table(caption, [group_title, *series], text, [False] * (len(series) + 1), written)
    return Html(_table(caption, head, body, shown), plain)


def callout(kind: str, title: str, text: str | Sequence[str]) -> Html:
    """Show a boxed statement: what a study can claim, cannot claim, its answer, a note or a caution.

    Parameters
    ----------
    kind : {'answer', 'can', 'cannot', 'caution', 'note'}
        Sets the label, which is always printed: colour alone says nothing.
    title : str
        The statement in one line.
    text : str or sequence of str
        One paragraph, or a list of points. Plain text; it is escaped.

    Returns
    -------
    Html

    Raises
    ------
    ParameterError
        An unknown kind, or nothing said.

    Examples
    --------
    >>> print(callout("cannot", "Nothing about react under faults", "0 of its 56 trials met one."))
    ✗ Cannot claim: Nothing about react under faults
      0 of its 56 trials met one.
    """
    if kind not in CALLOUTS:
        raise ParameterError(f"kind {kind!r} is unknown; allowed are {sorted(CALLOUTS)}")
    points = [text] if isinstance(text, str) else list(text)
    if not title.strip() or not points or not all(isinstance(point, str) and point.strip() for point in points):
        raise ParameterError("a callout needs a title and at least one sentence, each as text that is not empty")
    mark, label = CALLOUTS[kind]
    if isinstance(text, str):
        body = f"<p>{escape(text)}</p>"
    else:
        body = "<ul>" + "".join(f"<li>{escape(point)}</li>" for point in points) + "</ul>"
    shown_mark = f'<span class="pl-mark" aria-hidden="true">{mark}</span> ' if mark else ""
    markup = (
        f'<div class="pl-callout pl-{kind}"><p class="pl-kind">{shown_mark}{label}</p>'
        f'<p class="pl-title">{escape(title)}</p>{body}</div>'
    )
    lead = f"{mark} {label}".strip()
    return Html(markup, "\n".join([f"{lead}: {title}", *(f"  {point}" for point in points)]))


def _check_table(frame: pd.DataFrame, caption: str, formats: Mapping[str, Format], row_headers: int) -> None:
    _need_caption(caption)
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"a table is made from a DataFrame, not {type(frame).__name__}")
    if isinstance(frame.columns, pd.MultiIndex) or not frame.columns.is_unique:
        raise ParameterError(f"columns must be one level and each name once; found {list(frame.columns)}")
    if frame.empty:
        raise ParameterError("a table without a row or a column shows nothing; say in words why there is none")
    unknown = sorted(set(formats) - set(frame.columns))
    if unknown:
        raise ParameterError(f"formats for columns that do not exist: {unknown}; columns are {list(frame.columns)}")
    if isinstance(row_headers, bool) or not 0 <= row_headers <= len(frame.columns):
        raise ParameterError(
            f"row_headers is {row_headers}; allowed is 0 to {len(frame.columns)}, the columns there are"
        )


def _need_caption(caption: str) -> None:
    if not isinstance(caption, str) or not caption.strip():
        raise ParameterError("a table needs a caption: what it holds, in words")


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _cell_text(value: Any, how: Format | None) -> str:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return NO_VALUE
    if callable(how):
        text = how(value)
        if not isinstance(text, str):
            raise ParameterError(f"a format function must return text, not {type(text).__name__} for {value!r}")
        return text
    text = str(value) if how is None else format(value, how)
    return "\u2212" + text[1:] if text.startswith("-") and text[1:2].isdigit() else text


def _decimals(column: pd.Series) -> Format | None:
    """Return how to write a column of floats: the same decimals throughout, about five digits for the largest.

    A number too small for these decimals is written with its own two digits, so that it never looks like zero.
    """
    if not pd.api.types.is_float_dtype(column):
        return None
    largest = max((abs(float(value)) for value in column.dropna() if math.isfinite(value)), default=0.0)
    places = 1 if largest == 0 else min(6, max(1, 4 - math.floor(math.log10(largest))))

    def write(value: float) -> str:
        text = f"{value:,.{places}f}"
        return f"{value:.2g}" if value and not float(text.replace(",", "")) else text.replace("-", "\u2212")

    return write


def _th(markup: str, scope: str, number: object) -> str:
    shown = ' class="pl-num"' if number else ""
    return f'<th scope="{scope}"{shown}>{markup}</th>' if markup else f"<td{shown}></td>"


def _row_cells(row: Sequence[str], numeric: Sequence[bool], row_headers: int) -> str:
    cells = []
    for place, (text, number) in enumerate(zip(row, numeric, strict=True)):
        shown = ' class="pl-num"' if number else ""
        inner = '<span title="no value">–</span>' if text == NO_VALUE else escape(text)
        cells.append(f'<th scope="row"{shown}>{inner}</th>' if place < row_headers else f"<td{shown}>{inner}</td>")
    return "".join(cells)


def _table(caption: str, head: str, rows: str, notes: Sequence[str]) -> str:
    label = escape(caption)
    below = "".join(f'<p class="pl-note">{note}</p>' for note in notes)
    return (
        f'<div class="pl-table"><div class="pl-scroll" role="group" aria-label="{label}" tabindex="0"><table>'
        f"<caption><span>{label}</span></caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{below}</div>"
    )


def _estimate_cell(row: EstimateRow | None, letters: Mapping[str, str], unit: Unit) -> str:
    if row is None:
        return '<td class="pl-num"><span title="not part of the study">–</span></td>'
    sup = f"<sup>{letters[row.note]}</sup>" if row.note else ""
    shown = " pl-none" if row.value is None else ""
    value = f'<span class="pl-value">{escape(row.value_text(unit))}{sup}</span>'
    parts = " ".join(
        f'<span class="pl-part">{escape(part)}</span>' for part in row.range_text(unit).split("  ") if part
    )
    return f'<td class="pl-num{shown}">{value} <span class="pl-range">{parts}</span></td>'


def _estimate_text(row: EstimateRow | None, letters: Mapping[str, str], unit: Unit) -> str:
    if row is None:
        return NO_VALUE
    return row.text(unit) + (f" ({letters[row.note]})" if row.note else "")


def _letters(notes: Sequence[str]) -> dict[str, str]:
    distinct = list(dict.fromkeys(note for note in notes if note))
    if len(distinct) > 26:
        raise ParameterError(f"{len(distinct)} different notes in one table; at most 26 can be lettered")
    return {note: "abcdefghijklmnopqrstuvwxyz"[place] for place, note in enumerate(distinct)}


def _text_table(
    caption: str, names: Sequence[str], body: Sequence[Sequence[str]], numeric: Sequence[bool], notes: Sequence[str]
) -> str:
    rows = [list(names), *[[" ".join(cell.split("\n")) for cell in row] for row in body]]
    widths = [max(len(row[place]) for row in rows) for place in range(len(names))]
    lines = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([caption, *lines, *notes])
