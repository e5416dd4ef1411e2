"""What the widget shows of a diff, as small JSON values; long values are cut and fetched when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from plumbline.show.diff.foot import FootRow
from plumbline.show.diff.steps import DiffRow, ShownStep
from plumbline.show.diff.words import MARKS, cut, short
from plumbline.show.markup import visible

if TYPE_CHECKING:
    from plumbline.show.diff.model import TraceDiff

__all__ = ["content_of", "whole_value"]

SHOWN: Final = 160
"""Characters of a value that travel with the widget."""
FIELDS: Final = 40
"""Arguments of one step that travel with the widget."""


def content_of(made: TraceDiff) -> dict[str, Any]:
    """Return all that the viewer draws: ``titles``, ``summary``, ``rows``, ``foot``, ``missing`` calls."""
    return {
        "titles": [visible(title) for title in made.titles],
        "summary": made.summary,
        "rows": [_row(row) for row in made.rows],
        "foot": [_foot(row) for row in made.foot],
        "missing": sum(len(side.findings.missing) for side in (made.left, made.right) if side.findings),
    }


def _row(row: DiffRow) -> dict[str, Any]:
    sign, words = MARKS[row.mark]
    shown: dict[str, Any] = {
        "mark": row.mark,
        "sign": sign,
        "words": words,
        "cells": [_cell(step, row) for step in (row.left, row.right)],
    }
    told = [each.words() for each in row.differences if each.reason]
    optional = {"fields": told[:FIELDS], "notes": row.notes(), "more": max(0, len(told) - FIELDS)}
    flags = {"differs": row.differs, "violates": row.violates}
    return shown | {name: value for name, value in (optional | flags).items() if value}


def _cell(step: ShownStep | None, row: DiffRow) -> dict[str, Any] | None:
    if step is None:
        return None
    kind, name = step.label
    shown: dict[str, Any] = {"step": step.step, "name": short(name, SHOWN)}
    arguments = None if step.arguments is None else list(step.arguments.items())
    if arguments is not None:
        shown["args"] = [_value(name, value, name in row.marked) for name, value in arguments[:FIELDS]]
        optional: dict[str, Any] = {"more": max(0, len(arguments) - FIELDS)}
    else:
        optional = {"unrecorded": step.kind == "tool_call"}
    optional |= {
        "kind": kind,
        "parallel": f"∥ {step.parallel[0]} of {step.parallel[1]} in parallel" if step.parallel[1] else "",
        "flags": [list(flag) for flag in step.flags()],
        "result": list(cut(step.result, SHOWN)) if step.result is not None else None,
        "facts": [f"{label}: {short(text)}" for label, text in _facts(step) if text],
    }
    return shown | {name: value for name, value in optional.items() if value}


def _value(name: str, value: str, differs: bool) -> list[Any]:
    text, more = cut(value, SHOWN)
    return [short(name, SHOWN), text, more, int(differs)]


def _facts(step: ShownStep) -> list[tuple[str, str]]:
    agent = "" if step.agent == step.name else step.agent
    return [("agent", agent), ("error type", step.error_type), ("where the arguments come from", step.evidence)]


def _foot(row: FootRow) -> dict[str, Any]:
    sides: Sequence[Any] = (row.left,) if row.shared else (row.left, row.right)
    return {"label": row.label, "sides": [[list(line) for line in side] for side in sides]}


def whole_value(made: TraceDiff, row: int, side: int, which: str, field: int) -> str | None:
    """Return one value in full, odd characters spelled out; None if there is no such value.

    Parameters
    ----------
    row, side, field : int
        Row of the diff, 0 for left or 1 for right, and place of the argument.
    which : {'argument', 'arguments', 'result'}
        One argument, all of them from ``field`` on, or the result.
    """
    if not 0 <= row < len(made.rows) or side not in (0, 1):
        return None
    step = (made.rows[row].left, made.rows[row].right)[side]
    if step is None:
        return None
    if which == "result":
        return None if step.result is None else visible(step.result)
    items = list((step.arguments or {}).items())
    if not 0 <= field < len(items):
        return None
    if which == "argument":
        return visible(items[field][1])
    return visible("\n".join(f"{name} {value}" for name, value in items[field:])) if which == "arguments" else None
