"""A diff as a static table: for pages, for viewers without widgets, and for readers of a saved notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plumbline.show.diff.foot import FootRow, Line
from plumbline.show.diff.steps import DiffRow, ShownStep
from plumbline.show.diff.text import diff_text
from plumbline.show.diff.words import MARKS, short
from plumbline.show.markup import Html, escape

if TYPE_CHECKING:
    from plumbline.show.diff.model import TraceDiff

__all__ = ["diff_html", "pair_table"]


def diff_html(made: TraceDiff) -> Html:
    """Return the whole diff as a table, with its text."""
    words = f"Two traces side by side: {made.summary}"
    return Html(pair_table(made.rows, made.titles, words, made.foot), diff_text(made))


def pair_table(rows: Sequence[DiffRow], titles: tuple[str, str], words: str, foot: Sequence[FootRow] = ()) -> str:
    """Return rows as an HTML table that reads well on a page, on paper and aloud."""
    caption = escape(words)
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ("Change", *titles))
    below = f"<tfoot>{''.join(map(_foot, foot))}</tfoot>" if foot else ""
    return (
        f'<div class="pl-table"><div class="pl-scroll" role="group" aria-label="{caption}" tabindex="0">'
        f'<table class="pl-pair"><caption><span>{caption}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody>{below}</table></div></div>"
    )


def _row(row: DiffRow) -> str:
    sign, said = MARKS[row.mark]
    mark = f'<th scope="row" class="pl-mark"><span class="pl-sign">{sign}</span> {said}</th>'
    below = [each.words() for each in row.differences if each.reason] + row.notes()
    told = "".join(f'<span class="pl-told">{_isolated(words)}</span>' for words in below)
    on_right = row.right is not None
    cells = _cell(row.left, row, "" if on_right else told) + _cell(row.right, row, told if on_right else "")
    return f'<tr class="pl-row-{row.mark.replace("_", "-")}">{mark}{cells}</tr>'


def _cell(step: ShownStep | None, row: DiffRow, told: str) -> str:
    if step is None:
        return '<td class="pl-gap">no step here</td>'
    kind, name = step.label
    shown = f"{escape(kind)} " if kind else ""
    place, size = step.parallel
    together = f'<span class="pl-parallel">∥ {place} of {size} in parallel</span>' if size else ""
    lines = [
        f'<span class="pl-step"><span class="pl-pos">{step.step}</span> {shown}<b>{escape(name)}</b></span>',
        together,
    ]
    if step.arguments:
        lines.append(f'<span class="pl-args">{_arguments(step.arguments, row.marked)}</span>')
    elif step.arguments is None and step.kind == "tool_call":
        lines.append('<span class="pl-args">arguments not recorded</span>')
    elif step.arguments is None and step.result is not None:
        lines.append(f'<span class="pl-args">{_isolated(short(step.result))}</span>')
    lines += [f'<span class="pl-flag pl-flag-{name}">{_isolated(words)}</span>' for name, words in step.flags()]
    inside = ' class="pl-together"' if size else ""
    return f"<td{inside}>{''.join(lines)}{told}</td>"


def _arguments(arguments: dict[str, str], differing: frozenset[str]) -> str:
    shown = []
    for name, value in arguments.items():
        pair = f"<i>{escape(name)}</i> {_isolated(short(value))}"
        shown.append(f'<span class="pl-arg">{f"<mark>{pair}</mark>" if name in differing else pair}</span>')
    return " ".join(shown)


def _isolated(words: str) -> str:
    """Text whose direction cannot reorder what stands around it."""
    return f"<bdi>{escape(words)}</bdi>"


def _foot(row: FootRow) -> str:
    head = f'<tr><th scope="row" class="pl-mark">{escape(row.label)}</th>'
    if row.shared:
        return f'{head}<td colspan="2">{_lines(row.left)}</td></tr>'
    return f"{head}<td>{_lines(row.left)}</td><td>{_lines(row.right)}</td></tr>"


def _lines(lines: Sequence[Line]) -> str:
    return "".join(
        f'<span class="pl-foot{f" pl-foot-{name}" if name else ""}">{_isolated(words)}</span>' for name, words in lines
    )
