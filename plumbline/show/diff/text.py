"""A diff as plain text: one line a row, details below it, the foot at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plumbline.show.diff.foot import FootRow
from plumbline.show.diff.steps import DiffRow, ShownStep
from plumbline.show.diff.words import MARKS, one_line, short

if TYPE_CHECKING:
    from plumbline.show.diff.model import TraceDiff

__all__ = ["diff_text", "row_lines"]


def diff_text(made: TraceDiff) -> str:
    """Return the whole diff as text."""
    lines = [made.summary, f"change | {' | '.join(made.titles)}"]
    for row in made.rows:
        lines += row_lines(row)
    return "\n".join(lines + [line for row in made.foot for line in _foot(row, ("left", "right"))])


def row_lines(row: DiffRow) -> list[str]:
    """Return one row as a line, with a line below for each difference that has a reason and each note."""
    cells = (" ".join(MARKS[row.mark]), step_text(row.left), step_text(row.right))
    below = [f"    {one_line(each.words(), 600)}" for each in row.differences if each.reason]
    return [" | ".join(cells), *below, *(f"    {one_line(note)}" for note in row.notes())]


def step_text(step: ShownStep | None) -> str:
    """Return one step on one line."""
    if step is None:
        return "(no step here)"
    kind, name = step.label
    head = f"{step.step} {kind} {one_line(name)}" if kind else f"{step.step} {one_line(name)}"
    if step.parallel[1]:
        head = f"∥{step.parallel[0]}/{step.parallel[1]} {head}"
    if step.kind == "tool_call" or step.arguments is not None:
        head += f"({_arguments(step)})"
    elif step.result is not None:
        head += f" {one_line(step.result)}"
    flags = [one_line(words, 600) for _, words in step.flags()]
    return head + (f" [{'; '.join(flags)}]" if flags else "")


def _arguments(step: ShownStep) -> str:
    if step.arguments is None:
        return "arguments not recorded"
    return ", ".join(f"{one_line(name)}={short(value)}" for name, value in step.arguments.items())


def _foot(row: FootRow, names: Sequence[str]) -> list[str]:
    if row.shared:
        return [f"{row.label}: {'; '.join(words for _, words in row.left)}"]
    told = [
        (name, "; ".join(words for _, words in side)) for name, side in zip(names, (row.left, row.right), strict=True)
    ]
    return [f"{row.label}, {name}: {words}" for name, words in told if words]
