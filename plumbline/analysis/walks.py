"""The trials of one arm that say something about it, in the order in which they finished, each with its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from plumbline.analysis.tallies import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.base.schema import KEYS
from plumbline.compare import ArgumentRules, Paths, published_rules, read_paths
from plumbline.traces import Recording

__all__ = ["COUNTED", "Definition", "Rules", "Walks", "argument_rules_of", "baseline_of", "walks"]

Definition = Literal["published", "plumbline"]
COUNTED: Final[dict[str, tuple[str, ...]]] = {"published": ("completed",), "plumbline": BEHAVIOUR}
"""Statuses that count: the publication took completed trials only; an agent's own error is behaviour too."""

Rules = ArgumentRules | Mapping[str, Mapping[str, Any]] | None


@dataclass(frozen=True, eq=False)
class Walks:
    """Trials with their paths.

    Parameters
    ----------
    trials : DataFrame
        Key columns, ``status`` and ``outcome``, one row a trial, in order; index 0, 1, …
    paths : Paths
        Path i belongs to row i of ``trials``.
    steps : DataFrame
        The steps the paths were read from.
    path : {'effect', 'control'}
        What kind of path that is.
    """

    trials: pd.DataFrame
    paths: Paths
    steps: pd.DataFrame
    path: Literal["effect", "control"]

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def ids(self) -> tuple[str, ...]:
        """The trial ids."""
        return self.paths.trials

    @cached_property
    def took(self) -> list[tuple[Any, ...]]:
        """The path of each trial, as (kind, name) pairs."""
        return [tuple(self.paths.path(row)) for row in range(len(self))]

    @cached_property
    def stepless(self) -> list[str]:
        """Trials that recorded no step."""
        walked = set(self.steps["trial_id"])
        return [trial for trial in self.ids if trial not in walked]

    def rows(self, row: int) -> np.ndarray:
        """Return the positions in ``steps`` of the steps of one path."""
        return self.paths.rows[self.paths.offsets[row] : self.paths.offsets[row + 1]]


def walks(
    recording: Recording,
    *,
    arm: str,
    path: Literal["effect", "control"],
    statuses: Sequence[str] = BEHAVIOUR,
    order: Sequence[str] | None = None,
) -> Walks:
    """Return the trials of an arm with one of these statuses, those named in ``order`` first.

    A decision whose arguments were not recorded takes none; a tool call always takes some.

    Raises
    ------
    ParameterError
        The run has no such arm, or ``order`` names a trial twice or one that the run does not hold.
    """
    if arm not in recording.arms:
        raise ParameterError(f"run {recording.run_id!r} has no arm {arm!r}; it has {', '.join(recording.arms)}")
    kept = recording.trials[(recording.trials["arm"] == arm) & recording.trials["status"].isin(list(statuses))]
    kept = kept[[*(column.name for column in KEYS), "status", "outcome"]]
    if order is not None:
        rank = _ranks(recording, order)
        kept = kept.iloc[np.argsort([rank.get(t, len(rank)) for t in kept["trial_id"]], kind="stable")]
    kept = kept.reset_index(drop=True)
    ids = list(kept["trial_id"])
    steps = recording.steps[recording.steps["trial_id"].isin(ids)].reset_index(drop=True)
    bare = (steps["kind"] == "decision") & steps["arguments"].isna() & steps["unread"].isna()
    if bare.any():
        steps["arguments"] = steps["arguments"].mask(bare, "{}")
    walked = set(steps["trial_id"])
    found = read_paths(steps, path=path, empty=[t for t in ids if t not in walked])
    where = {trial: position for position, trial in enumerate(found.trials)}
    return Walks(kept, found.take(np.array([where[t] for t in ids], np.int64)), steps, path)


def _ranks(recording: Recording, order: Sequence[str]) -> dict[str, int]:
    if isinstance(order, str):
        raise ParameterError(f"order is the text {order!r}; give a sequence of trial ids in order of completion.")
    names = list(order)
    ranks = {trial: place for place, trial in enumerate(names)}
    if len(ranks) != len(names):
        twice = next(name for place, name in enumerate(names) if ranks[name] != place)
        raise ParameterError(f"order names {twice!r} twice; a trial finishes once.")
    held = set(recording.trials["trial_id"])
    if unknown := [name for name in names if name not in held]:
        raise ParameterError(
            f"order names {unknown[0]!r}, which run {recording.run_id!r} does not hold ({len(unknown)} such); "
            "give trial ids of the run, in order of completion."
        )
    return ranks


def argument_rules_of(rules: Rules, definition: Definition) -> ArgumentRules:
    """Return argument rules from what a caller gave.

    Rules as they are; a mapping of tool to field to (kind, severity), as a domain declares, as published rules; a
    mapping of tool to field to field rule as declared rules; nothing: the published comparison by type under the
    published definition, else exact comparison.
    """
    if definition not in COUNTED:
        raise ParameterError(f"definition is {definition!r}; allowed are {', '.join(COUNTED)}.")
    if isinstance(rules, ArgumentRules):
        return rules
    if rules is None:
        return published_rules() if definition == "published" else ArgumentRules()
    if not isinstance(rules, Mapping) or not all(isinstance(fields, Mapping) for fields in rules.values()):
        raise ParameterError(f"argument_rules is {rules!r:.80}; give ArgumentRules, or tool to field to rule.")
    pairs = any(isinstance(rule, tuple) for fields in rules.values() for rule in fields.values())
    return published_rules(rules) if pairs else ArgumentRules(rules)


def baseline_of(recording: Recording) -> str:
    """Return the perturbation that changes nothing: the first one of the plan, else ``baseline``."""
    return recording.plan.perturbations[0] if recording.plan else "baseline"
