"""What counts as success of a trial: obeying the policy, or reaching the right outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.analysis import graded
from plumbline.base.errors import ParameterError
from plumbline.rules import Policy, Verdicts, check
from plumbline.traces import Recording

__all__ = ["MEASURES", "Grade", "Measured", "measured"]

Grade = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""``grade(outcome, context)``: whether the terminal state is right; a domain brings its own."""

MEASURES = {
    "critical": "no critical rule violated",
    "all": "no rule violated",
    "outcome": "the right outcome in the system of record",
}
"""By name, what a success is, in words."""

_WORST = {"critical": "critical", "all": "low"}


@dataclass(frozen=True, eq=False)
class Measured:
    """Success of every recorded trial (missing where the record cannot tell), and the verdicts behind it if any."""

    measure: str
    ok: pd.Series
    verdicts: Verdicts | None
    policy: Policy | None
    grade: Grade | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Rules that were never put to the test."""
        return () if self.verdicts is None else self.verdicts.notes


def measured(recording: Recording, *, measure: str, policy: Policy | None, grade: Grade | None) -> Measured:
    """Judge every recorded trial.

    Raises
    ------
    ParameterError
        An unknown measure, or the policy or grade it needs is lacking.
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure is {measure!r}; choose one of {', '.join(MEASURES)}")
    if recording.trials.empty:
        raise ParameterError(f"run {recording.run_id!r} holds no trials; nothing can be certified about it")
    if policy is not None and not isinstance(policy, Policy):
        raise ParameterError(f"policy is a {type(policy).__name__}; give a Policy, for example read_policy('p.yaml')")
    verdicts = None if policy is None else check(recording, policy)
    if measure == "outcome":
        if grade is None:
            raise ParameterError("measure 'outcome' needs grade=, a function grade(outcome, context) -> bool")
        return Measured(measure, graded(recording, grade), verdicts, policy, grade)
    if verdicts is None:
        raise ParameterError(f"measure {measure!r} needs policy=, the rules that the trials are checked against")
    return Measured(measure, verdicts.conforms(_WORST[measure]), verdicts, policy, None)
