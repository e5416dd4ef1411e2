"""``diff``: two traces aligned, with every difference, failure, fault and violation in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from plumbline.analysis import Rules
from plumbline.analysis.walks import argument_rules_of
from plumbline.base.errors import ParameterError
from plumbline.rules import Verdicts
from plumbline.show.diff.cell import Cell, cell_of
from plumbline.show.diff.foot import FootRow, foot_rows
from plumbline.show.diff.pairing import aligned_rows
from plumbline.show.diff.sides import NAMES, Grade, Side, Source, read_side, sources_of
from plumbline.show.diff.steps import DiffRow, ShownStep
from plumbline.show.diff.words import MARKS

if TYPE_CHECKING:
    from plumbline.show.diff.widget import DiffWidget

__all__ = ["TraceDiff", "diff"]

VerdictsOf = Verdicts | tuple[Verdicts | None, Verdicts | None] | None
_TEXT = "str" if pd.__version__ >= "3" else "object"


@dataclass(frozen=True, eq=False, repr=False)
class TraceDiff:
    """Two traces side by side, as ``diff`` returns it.

    Shown by a notebook as a widget where it has a live kernel, elsewhere as a table or as text.

    Parameters
    ----------
    left, right : Side
        Where each trace comes from, its steps, its trial and its violations.
    rows : tuple of DiffRow
        One for each aligned pair, in the order of the left trace.
    foot : tuple of FootRow
        How the trials ended, outcome and ground truth, and the rules.
    cell : Cell
        The other trials of the same cell, to walk to.
    again : callable
        ``again(source, source)`` makes the same diff of two other trials.
    start : int, optional
        The row at which a reader starts, where one was asked for.
    """

    left: Side
    right: Side
    rows: tuple[DiffRow, ...]
    foot: tuple[FootRow, ...]
    cell: Cell
    again: Callable[[Source, Source], TraceDiff]
    start: int | None = None

    @property
    def titles(self) -> tuple[str, str]:
        """What stands above each side."""
        return self.left.title, self.right.title

    @cached_property
    def summary(self) -> str:
        """What was found, in one line."""
        if not self.rows:
            return "neither trial recorded a step"
        counts = Counter(row.mark for row in self.rows)
        said = ", ".join(f"{counts[mark]} {MARKS[mark][1]}" for mark in MARKS if counts[mark])
        checked = [side.findings for side in (self.left, self.right) if side.findings is not None]
        if not checked:
            return f"{len(self.rows)} rows: {said}; not checked against rules"
        found = sum(len(found.missing) + sum(map(len, found.by_step.values())) for found in checked)
        sides = "" if len(checked) == 2 else " (one side was not checked)"
        return f"{len(self.rows)} rows: {said}; {found} {'violation' if found == 1 else 'violations'}{sides}"

    @property
    def first(self) -> int:
        """Where a reader starts: where asked, else the first violation, difference or row; -1 without a row."""
        if self.start is not None:
            return self.start
        for wanted in ("violates", "differs"):
            for place, row in enumerate(self.rows):
                if getattr(row, wanted):
                    return place
        return 0 if self.rows else -1

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each aligned pair.

        Returns
        -------
        DataFrame
            ``edit`` (``match``, ``substitute``, ``skipped``, ``extra``, ``moved``, ``repeated``), ``mark`` (the words
            shown), ``step_left``, ``step_right`` (Int64, missing at a gap), ``name_left``, ``name_right``,
            ``status_left``, ``status_right``, ``injected_left``, ``injected_right``, ``differences`` (fields that
            differ, in words; empty for none), ``rules_left``, ``rules_right`` (rules whose witness the step is, with
            severity; missing where the trial was not checked), ``note``.
        """
        columns: dict[str, Any] = {
            "edit": [row.edit for row in self.rows],
            "mark": [MARKS[row.mark][1] for row in self.rows],
        }
        for column, cells, dtype in _SIDE_COLUMNS:
            for name, side in zip(NAMES, (self.left, self.right), strict=True):
                values = [cells(getattr(row, name), side) for row in self.rows]
                columns[f"{column}_{name}"] = pd.Series(values, dtype=dtype)
        columns["differences"] = ["; ".join(each.words() for each in row.differences) for row in self.rows]
        columns["note"] = ["; ".join(row.notes()) for row in self.rows]
        order = ["edit", "mark", *(f"{c}_{n}" for c, _, _ in _SIDE_COLUMNS for n in NAMES), "differences", "note"]
        frame = pd.DataFrame({name: columns[name] for name in order})
        return frame.astype(dict.fromkeys(("edit", "mark", "differences", "note"), _TEXT))

    def steps(self, row: int) -> pd.DataFrame:
        """Return the steps of one row as they are recorded, with ``side`` in front; a gap has none.

        Raises
        ------
        ParameterError
            There is no such row.
        """
        if isinstance(row, bool) or not 0 <= row < len(self.rows):
            raise ParameterError(f"row {row!r} does not exist; rows run from 0 to {len(self.rows) - 1}")
        parts = []
        for name, side in zip(NAMES, (self.left, self.right), strict=True):
            step: ShownStep | None = getattr(self.rows[row], name)
            if step is not None:
                part = side.frame.iloc[[step.position]].copy()
                part.insert(0, "side", name)
                parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def walk(self, place: int) -> TraceDiff:
        """Return the same diff of another trial of the cell, by its place in ``cell.labels``.

        Raises
        ------
        ParameterError
            There is no such place.
        """
        return self.again(*self.cell.sources(place))

    def widget(self) -> DiffWidget:
        """Return the viewer: ``selected`` (a row, both ways), ``selected_steps``, ``trials`` and ``trial``."""
        from plumbline.show.diff.widget import DiffWidget

        return DiffWidget(self)

    def __str__(self) -> str:
        from plumbline.show.diff.text import diff_text

        return diff_text(self)

    def __repr__(self) -> str:
        return f"TraceDiff({self.titles[0]!r}, {self.titles[1]!r}: {self.summary})"

    def _repr_html_(self) -> str:
        from plumbline.show.diff.static_html import diff_html

        return diff_html(self)._repr_html_()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from plumbline.show.diff.live import with_widget

        return with_widget(self, {"text/html": self._repr_html_(), "text/plain": str(self)})


def _rules_of(step: ShownStep | None, side: Side) -> str | None:
    if step is None or side.findings is None:
        return None
    return ", ".join(map(str, step.witnesses))


_SIDE_COLUMNS: tuple[tuple[str, Callable[[ShownStep | None, Side], Any], str], ...] = (
    ("step", lambda step, _: None if step is None else step.step, "Int64"),
    ("name", lambda step, _: None if step is None else step.name, _TEXT),
    ("status", lambda step, _: None if step is None else step.status, _TEXT),
    ("injected", lambda step, _: (step.injected or None) if step else None, _TEXT),
    ("rules", _rules_of, _TEXT),
)


def diff(
    a: Source | tuple[Any, Any],
    b: Source | tuple[Any, Any],
    *,
    verdicts: VerdictsOf = None,
    argument_rules: Rules = None,
    tools: Mapping[str, Any] | None = None,
    grade: Grade | None = None,
    titles: tuple[str, str] | None = None,
) -> TraceDiff:
    """Set two traces side by side, aligned, with every difference, failure, fault and violation marked.

    Parameters
    ----------
    a, b : DataFrame, or (run, trial id), or (run, row of a verdicts frame)
        Left and right, the left is the reference. A frame holds the steps of one trial: ``name``, ``arguments``,
        ``status``, and what else is recorded. With a run, the foot shows outcome and ground truth, and the other
        trials of the cell can be walked to.
    verdicts : Verdicts or (Verdicts or None, Verdicts or None), optional
        What ``check`` returned, for both sides or for each: violations are marked at the step that is their witness.
    argument_rules : ArgumentRules or mapping, optional
        How arguments are compared; exactly by default.
    tools : mapping of tool to ToolTraits or mapping, optional
        Marks that say which order and which repetition does not matter, see ``plumbline.compare.align``.
    grade : callable, optional
        ``grade(outcome, context) -> bool`` judges outcomes against the ground truth.
    titles : (str, str), optional
        What stands above each side; by default the trial ids.

    Returns
    -------
    TraceDiff

    Raises
    ------
    ParameterError
        A side is neither, a frame holds several trials, or verdicts that cover neither trial.
    NotFoundError
        A run holds no such trial.

    Examples
    --------
    >>> left = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4820.00}'], "status": ["ok"]})
    >>> right = left.assign(arguments='{"amount":48200.00}')
    >>> diff(left, right).to_frame()["differences"].tolist()
    ['amount: 4820.00 → 48200.00 (x10); another number']
    """
    sources = sources_of(a, b)
    if titles is not None and (len(titles) != 2 or not all(isinstance(t, str) and t.strip() for t in titles)):
        raise ParameterError(f"titles are two texts, left and right; found {titles!r}")
    each = _each_verdicts(verdicts)
    rules = argument_rules_of(argument_rules, "plumbline")

    def again(one: Source, other: Source) -> TraceDiff:
        return diff(one, other, verdicts=verdicts, argument_rules=rules, tools=tools, grade=grade)

    said = titles or (None, None)
    left, right = (read_side(source, n, title=said[n], verdicts=each[n]) for n, source in enumerate(sources))
    if any(found is not None for found in each) and left.findings is None and right.findings is None:
        raise ParameterError(
            f"the verdicts cover neither {left.title!r} nor {right.title!r}; check the run that holds these trials"
        )
    if titles is None and left.title == right.title:
        left, right = (replace(side, title=_telling(side, name)) for side, name in ((left, "left"), (right, "right")))
    rows = aligned_rows((left.frame, right.frame), (left.steps, right.steps), rules=rules, tools=tools)
    return TraceDiff(left, right, rows, foot_rows(left, right, grade), cell_of(*sources), again)


def _each_verdicts(verdicts: VerdictsOf) -> tuple[Verdicts | None, Verdicts | None]:
    pair = verdicts if isinstance(verdicts, tuple) else (verdicts, verdicts)
    if len(pair) == 2 and all(found is None or isinstance(found, Verdicts) for found in pair):
        return pair
    raise ParameterError(
        f"verdicts is a {type(verdicts).__name__}; give what check() or run.check() returned, or a pair of them."
    )


def _telling(side: Side, name: str) -> str:
    """A title that tells two traces of the same trial id apart: the run, else the side."""
    run_id = side.trial.get("run_id")
    return f"{side.title} ({run_id if run_id else name})"
