"""Two traces side by side as a static table, with the pairing given; ``plumbline.diff`` finds the pairing itself."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.diff.static_html import pair_table
from plumbline.show.diff.steps import DiffRow, FieldDifference, ShownStep, read_steps
from plumbline.show.diff.text import row_lines
from plumbline.show.markup import Html

__all__ = ["trace_pair"]

Pair = tuple[int | None, int | None]
_ABSENT = "<missing>"


def trace_pair(
    left_steps: pd.DataFrame,
    right_steps: pd.DataFrame,
    *,
    titles: tuple[str, str],
    pairs: Sequence[Pair] | None = None,
    caption: str | None = None,
) -> Html:
    """Show two traces side by side, aligned, with every difference marked in words.

    Arguments are compared as recorded: ``4500`` and ``4500.0`` differ. Whether a difference matters is for a rule.

    Parameters
    ----------
    left_steps, right_steps : pandas.DataFrame
        One row a step: ``name``, ``arguments`` (JSON object as text, missing when not recorded), ``status`` (``ok``,
        ``failed``, ``blocked``, ``no_result``); optional ``kind`` (shown when a step has no name), ``error`` and
        ``injected`` (name of an injected fault).
    titles : tuple of two str
        What stands left and right.
    pairs : sequence of (int or None, int or None), optional
        Which step (row position from 0) of the left stands beside which of the right; None is a gap. Every step of
        both sides must stand in one pair. By default steps are paired by position.
    caption : str, optional
        What the table holds; by default the two titles.

    Returns
    -------
    Html

    Raises
    ------
    ParameterError
        A column or a title lacks, arguments are not a JSON object, an unknown status, two empty traces, or pairs that
        leave a step out or name one twice.

    Examples
    --------
    >>> left = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4500.00}'], "status": ["failed"]})
    >>> right = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4500.00}'], "status": ["ok"]})
    >>> print(trace_pair(left, right, titles=("no retry", "retry")).text.splitlines()[2])
    ≠ status | 0 pay(amount=4500.00) [failed] | 0 pay(amount=4500.00)
    """
    if len(titles) != 2 or not all(isinstance(title, str) and title.strip() for title in titles):
        raise ParameterError(f"titles are two texts, left and right; found {titles!r}")
    left, right = read_steps(left_steps, "left"), read_steps(right_steps, "right")
    if not left and not right:
        raise ParameterError("both traces are empty: there is no step to show")
    chosen = _by_position(len(left), len(right)) if pairs is None else list(pairs)
    _check_pairs(chosen, len(left), len(right))
    rows = [_row(None if a is None else left[a], None if b is None else right[b]) for a, b in chosen]
    words = f"Two traces side by side: {titles[0]}, {titles[1]}" if caption is None else caption
    if not words.strip():
        raise ParameterError("the caption is empty; say what is compared, or leave it to the titles")
    text = [words, f"change | {titles[0]} | {titles[1]}", *(line for row in rows for line in row_lines(row))]
    return Html(pair_table(rows, titles, words), "\n".join(text))


def _row(left: ShownStep | None, right: ShownStep | None) -> DiffRow:
    """Compare two steps as recorded, text by text."""
    if left is None or right is None:
        return DiffRow("extra" if left is None else "skipped", left, right)
    if left.name != right.name:
        return DiffRow("substitute", left, right)
    if left.arguments is None or right.arguments is None:
        needed = left.kind == "tool_call" or left.arguments is not right.arguments
        return DiffRow("match", left, right, "not_recorded" if needed else "")
    differences = tuple(
        FieldDifference(name, "different", "high", True, *values, "", "")
        for name in sorted({*left.arguments, *right.arguments})
        if len(set(values := (left.arguments.get(name, _ABSENT), right.arguments.get(name, _ABSENT)))) > 1
    )
    return DiffRow("match", left, right, "different" if differences else "equal", differences)


def _by_position(left: int, right: int) -> list[Pair]:
    return [(n if n < left else None, n if n < right else None) for n in range(max(left, right))]


def _check_pairs(pairs: Sequence[Pair], left: int, right: int) -> None:
    for place, side, count in ((0, "left", left), (1, "right", right)):
        named = sorted(pair[place] for pair in pairs if pair[place] is not None)  # type: ignore[type-var]
        if named != list(range(count)):
            raise ParameterError(
                f"pairs name {side} steps {named}; each of the {count} steps, counted from 0, must stand in one pair"
            )
    if any(pair == (None, None) for pair in pairs):
        raise ParameterError("a pair (None, None) shows nothing; leave it out")
