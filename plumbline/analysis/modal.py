"""The most common behaviour of an arm on each task, as a reference for its other trials.

Which behaviour is the most common may depend on which trial finished first: on a tie, the first one seen wins. Every
such tie is kept, so that a reader sees how much of a figure rests on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plumbline.analysis.outcomes import Outcome
from plumbline.analysis.walks import Walks
from plumbline.compare import read_paths

__all__ = ["Modal", "first_modal", "modal_references"]


@dataclass(frozen=True, eq=False)
class Modal:
    """References, and which of them each trial is compared with.

    Parameters
    ----------
    walks : Walks
        One artificial trial a reference: the most common path, with the most common arguments at each of its steps.
    of : mapping of trial to reference
        Trials for which there is a reference, in the order of the trials.
    outcome : mapping of reference to Outcome
        The most common outcome.
    table : DataFrame
        One row a task: ``task_id``, ``made_of`` (``baseline``, ``all`` or ``none``), ``trials`` (that made the path),
        ``path``.
    ties : DataFrame
        One row a choice that another order of completion could change: ``task_id, what`` (``path``, ``arguments``,
        ``outcome``), ``step_index``, ``candidates``.
    """

    walks: Walks
    of: dict[str, str]
    outcome: dict[str, Outcome]
    table: pd.DataFrame
    ties: pd.DataFrame


def first_modal(values: Sequence[Hashable]) -> tuple[int, int]:
    """Return where the most common value first stands (the first seen on a tie), and how many values share the lead.

    Examples
    --------
    >>> first_modal(["b", "a", "a", "b"])
    (0, 2)
    """
    counts = Counter(values)
    most = max(counts.values())
    leaders = [value for value, count in counts.items() if count == most]
    return list(values).index(leaders[0]), len(leaders)


def modal_references(
    found: Walks,
    outcomes: Sequence[Outcome],
    *,
    tasks: Sequence[str],
    baseline: str | None,
    leave_out: bool,
) -> Modal:
    """Return the reference of every trial.

    Parameters
    ----------
    found : Walks
        The arm's trials, in order of completion.
    outcomes : sequence of Outcome
        The outcome of each.
    tasks : sequence of str
        Planned tasks.
    baseline : str or None
        The perturbation whose trials make the reference; all of them where it is None or has no trial.
    leave_out : bool
        A trial takes no part in making the reference it is compared with.
    """
    made = _Maker(found, outcomes)
    table = []
    rows_of = {task: list(rows) for task, rows in found.trials.groupby("task_id").indices.items()}
    perturbations = found.trials["perturbation"].tolist()
    for task in tasks:
        rows = rows_of.get(task, [])
        plain = [row for row in rows if perturbations[row] == baseline]
        makers = plain or rows
        chosen = made.reference(task, task, makers) if makers else None
        for row in rows:
            own = leave_out and row in makers
            rest = [maker for maker in makers if maker != row]
            if own and rest:
                made.of[found.ids[row]] = made.reference(f"{task} without {found.ids[row]}", None, rest)
            elif not own and chosen is not None:
                made.of[found.ids[row]] = chosen
        path = " > ".join(str(name) for _, name in found.took[made.exemplar[chosen]]) if chosen else None
        table.append(
            {
                "task_id": task,
                "made_of": "baseline" if plain else "all" if rows else "none",
                "trials": len(makers),
                "path": path,
            }
        )
    ties = pd.DataFrame(made.ties, columns=["task_id", "what", "step_index", "candidates"])
    of = {trial: made.of[trial] for trial in found.ids if trial in made.of}
    return Modal(made.walks(), of, made.outcome, pd.DataFrame(table), ties)


class _Maker:
    """Builds references one by one, as rows of an artificial steps frame."""

    def __init__(self, found: Walks, outcomes: Sequence[Outcome]) -> None:
        self.found, self.outcomes = found, outcomes
        self.texts = [None if pd.isna(text) else str(text) for text in found.steps["arguments"]]
        self.kinds, self.names = found.steps["kind"].tolist(), found.steps["name"].tolist()
        self.steps: list[dict[str, Any]] = []
        self.references: list[str] = []
        self.of: dict[str, str] = {}
        self.outcome: dict[str, Outcome] = {}
        self.exemplar: dict[str, int] = {}
        self.ties: list[tuple[str, str, int | None, int]] = []

    def reference(self, name: str, task: str | None, makers: Sequence[int]) -> str:
        """Make one reference; ties are kept under ``task``, unless it is None."""
        place, leaders = first_modal([self.found.took[row] for row in makers])
        exemplar = makers[place]
        self._tie(task, "path", None, leaders)
        taken = [self.found.rows(row) for row in makers if self.found.took[row] == self.found.took[exemplar]]
        for position, at in enumerate(self.found.rows(exemplar)):
            spelled = [self.texts[rows[position]] for rows in taken]
            place, leaders = first_modal(spelled)
            self._tie(task, "arguments", position, leaders)
            self.steps.append(
                {"trial_id": name, "step": position, "kind": self.kinds[at], "name": self.names[at],
                 "arguments": spelled[place], "unread": None}
            )  # fmt: skip
        known = [row for row in makers if self.outcomes[row].text is not None]
        if known:
            place, leaders = first_modal([self.outcomes[row].key for row in known])
            self._tie(task, "outcome", None, leaders)
            self.outcome[name] = self.outcomes[known[place]]
        self.references.append(name)
        self.exemplar[name] = exemplar
        return name

    def _tie(self, task: str | None, what: str, step: int | None, leaders: int) -> None:
        if task is not None and leaders > 1:
            self.ties.append((task, what, step, leaders))

    def walks(self) -> Walks:
        columns = ["trial_id", "step", "kind", "name", "arguments", "unread"]
        steps = pd.DataFrame(self.steps, columns=columns).astype({"step": "int64"})
        walked = set(steps["trial_id"])
        paths = read_paths(steps, path=self.found.path, empty=[n for n in self.references if n not in walked])
        where = {trial: position for position, trial in enumerate(paths.trials)}
        paths = paths.take(np.array([where[name] for name in self.references], np.int64))
        return Walks(pd.DataFrame({"trial_id": self.references}), paths, steps, self.found.path)
