"""The explorer: filters, groups, trials and a diff in a notebook; elsewhere the grouped table as a page or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules import Policy, Verdicts, check
from plumbline.show.diff import diff_row
from plumbline.show.diff.live import in_kernel
from plumbline.show.explore.state import (
    Filters,
    choices,
    groups,
    selection,
    selection_code,
    verdict_rows,
)
from plumbline.show.markup import Html
from plumbline.show.tables import table_html
from plumbline.traces import Recording

if TYPE_CHECKING:
    from plumbline.show.diff import TraceDiff

__all__ = ["Explorer", "explore"]

MOST_ROWS = 40
"""Groups and trials listed at once; the caption says how many more there are."""


class Explorer:
    """Look through the verdicts of a run: choose filters, then a group, then a trial.

    Parameters
    ----------
    run : Recording
        The run.
    verdicts : Verdicts
        Its verdicts.
    grade : callable, optional
        ``grade(outcome, context)``, so that a diff says whose outcome is right.
    confidence : float
        Of the intervals.
    """

    def __init__(self, run: Recording, verdicts: Verdicts, *, grade: Any = None, confidence: float = 0.95) -> None:
        self.run, self.verdicts, self._grade, self._confidence = run, verdicts, grade, confidence
        self._rows = verdict_rows(run, verdicts)
        known = choices(self._rows)
        self._filters = Filters(verdict=("violated",)) if "violated" in known["verdict"] else Filters()
        self._panel: Any = None

    @property
    def filters(self) -> Filters:
        """What is chosen."""
        return self._filters

    @filters.setter
    def filters(self, chosen: Filters) -> None:
        if not isinstance(chosen, Filters):
            raise ParameterError(f"filters must be Filters(...); found {type(chosen).__name__}")
        selection(self._rows, chosen)  # refuses what the run does not have
        self._filters = chosen
        if self._panel is not None:
            self._panel.show()

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """What each filter can choose."""
        return choices(self._rows)

    @property
    def selection(self) -> pd.DataFrame:
        """The verdicts that the filters leave, one row a trial and rule."""
        return selection(self._rows, self._filters)

    @property
    def code(self) -> str:
        """The line of code that makes the selection from ``run`` and ``policy``."""
        return selection_code(self._filters)

    @property
    def groups(self) -> pd.DataFrame:
        """Violations by arm, perturbation and rule, with the trials they are counted among."""
        return groups(self.run, self._rows, self._filters, confidence=self._confidence)

    def trials(self, group: int) -> pd.DataFrame:
        """Return the selected verdicts of one group.

        Parameters
        ----------
        group : int
            Row of ``groups``.

        Raises
        ------
        ParameterError
            There is no such group.
        """
        found = self.groups
        if isinstance(group, bool) or not isinstance(group, int) or not 0 <= group < len(found):
            raise ParameterError(f"group {group!r} does not exist; there are {len(found)}, from 0")
        one, rows = found.iloc[group], self.selection
        same = (
            (rows["arm"] == one["arm"]) & (rows["perturbation"] == one["perturbation"]) & (rows["rule"] == one["rule"])
        )
        return rows[same].reset_index(drop=True)

    def partners(self, trial_id: str) -> list[str]:
        """Return the other arms that have a record of the same task, perturbation, variant and repetition."""
        trials = self.run.trials.set_index("trial_id")
        cell = ["task_id", "perturbation", "variant", "repetition"]
        own = trials.loc[trial_id]
        same = trials[(trials[cell] == own[cell]).all(axis=1) & (trials["arm"] != own["arm"])]
        walked = set(self.run.steps["trial_id"])
        return [arm for arm, trial in zip(same["arm"], same.index, strict=True) if trial in walked]

    def diff(self, row: pd.Series, *, against: str) -> TraceDiff:
        """Set the trial of a selected row beside the same trial of another arm, starting at the witness."""
        return diff_row(self.run, row, against=against, verdicts=self.verdicts, grade=self._grade)

    def widget(self) -> Any:
        """Return the explorer as ipywidgets; it and this object share one state."""
        if self._panel is None:
            from plumbline.show.explore.panel import Panel

            self._panel = Panel(self)
        return self._panel.box

    def table(self) -> Html:
        """Return the groups as a table."""
        found = self.groups
        left = len(found) - MOST_ROWS
        more = f"; the first {MOST_ROWS} of {len(found):,} groups" if left > 0 else ""
        parts = [f"{name}: {', '.join(values)}" for name, values in self._filters.chosen().items()]
        chosen = "; ".join(parts) or "all"
        if found.empty:
            return Html(
                "<p>No verdict is left by these filters.</p>", f"No verdict is left by these filters ({chosen})."
            )
        caption = f"Violations of run {self.run.run_id} ({chosen}{more})"
        return table_html(_shown(found.head(MOST_ROWS)), caption=caption,
            notes=[
                "Of trials in which the rule held or was violated; Wilson intervals, trials as independent. Idle: "
                "vacuous or not applicable. Missing: planned trials that no agent finished."
            ],
            row_headers=3,
        )  # fmt: skip

    def _repr_mimebundle_(self, **_: Any) -> Any:
        table = self.table()
        static = {"text/html": table._repr_html_(), "text/plain": str(self)}
        if not in_kernel():
            return static
        made = self.widget()._repr_mimebundle_()
        data, metadata = made if isinstance(made, tuple) else (made or {}, {})
        return {**data, **static}, metadata

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.code}"

    def __repr__(self) -> str:
        return f"Explorer({self.run.run_id!r}: {len(self.selection):,} of {len(self._rows):,} verdicts selected)"


def _shown(found: pd.DataFrame) -> pd.DataFrame:
    def rate(row: pd.Series) -> str:
        if not row["decided"]:
            return "cannot tell"
        return f"{100 * row['rate']:.1f}% [{100 * row['low']:.1f}, {100 * row['high']:.1f}]".replace(" ", "\u00a0")

    return pd.DataFrame({
        "arm": found["arm"], "perturbation": found["perturbation"], "rule": found["rule"],
        "severity": found["severity"],
        "violated": found["violated"].astype(str) + " of " + found["decided"].astype(str),
        "rate": [rate(r) for _, r in found.iterrows()],
        "tasks": found["tasks"], "cannot tell": found["cannot_tell"], "idle": found["idle"],
        "missing": found["missing"],
    })  # fmt: skip


def explore(
    run: Recording, *, policy: Policy | None = None, verdicts: Verdicts | None = None, grade: Any = None,
    confidence: float = 0.95,
) -> Explorer:  # fmt: skip
    """Explore the violations of a run.

    Parameters
    ----------
    run : Recording
        The run.
    policy : Policy, optional
        Rules to check it against; or give `verdicts`.
    verdicts : Verdicts, optional
        Verdicts of this run.
    grade : callable, optional
        ``grade(outcome, context)``.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    Explorer

    Raises
    ------
    ParameterError
        Neither or both of policy and verdicts, or verdicts of another run.

    Examples
    --------
    >>> from plumbline.rules import MustCall
    >>> run = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), run_id="r")
    >>> explore(run, policy=Policy("p", [MustCall("check")]))
    Explorer('r': 1 of 1 verdicts selected)
    """
    if (policy is None) == (verdicts is None):
        raise ParameterError("explore needs a policy or verdicts, one of the two")
    found = verdicts if verdicts is not None else check(run, policy) if policy is not None else None
    if found is None or found.run_id not in (None, run.run_id) or found.table.n_trials != len(run.trials):
        raise ParameterError(f"these verdicts are not of run {run.run_id!r}")
    return Explorer(run, found, grade=grade, confidence=confidence)
