"""The two sides of a diff: where each trace comes from, what its trial recorded, and which rules it violates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pandas as pd

from plumbline.analysis import one_trial
from plumbline.base.errors import ParameterError
from plumbline.rules import Verdicts
from plumbline.rules.words import SEVERITIES, VERDICTS
from plumbline.show.diff.steps import ShownStep, Witness, read_steps, text_of
from plumbline.traces import Recording

__all__ = ["Findings", "Grade", "Side", "Source", "read_side", "sources_of", "trial_row"]

Source = pd.DataFrame | tuple[Recording, str]
"""Steps of one trial, or a run and the id of a trial."""
Grade = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
NAMES: Final = ("left", "right")
_FRAME_COLUMNS: Final = ("name", "arguments", "status")


@dataclass(frozen=True)
class Findings:
    """What the rules say of one trial.

    Parameters
    ----------
    counts : dict of str to int
        How many rules gave each verdict.
    by_step : dict of int to tuple of Witness
        Violations by the step that is their witness.
    missing : tuple of Witness
        Violations by a call that was not made.
    """

    counts: dict[str, int]
    by_step: dict[int, tuple[Witness, ...]]
    missing: tuple[Witness, ...]


@dataclass(frozen=True, eq=False)
class Side:
    """One trace of a diff.

    Parameters
    ----------
    title : str
        What stands above it: the trial id, unless titles were given.
    frame : DataFrame
        Its steps, as given.
    steps : tuple of ShownStep
    run : Recording or None
        The run it was read from.
    trial : dict
        The row of the trials frame; empty where only steps were given.
    findings : Findings or None
        None where it was not checked against rules.
    """

    title: str
    frame: pd.DataFrame
    steps: tuple[ShownStep, ...]
    run: Recording | None = None
    trial: dict[str, Any] = field(default_factory=dict)
    findings: Findings | None = None

    @property
    def trial_id(self) -> str:
        """The id of the trial, empty where the steps do not say."""
        if self.trial:
            return str(self.trial["trial_id"])
        return text_of(self.frame["trial_id"].iloc[0]) if "trial_id" in self.frame and len(self.frame) else ""


def sources_of(a: object, b: object) -> tuple[Source, Source]:
    """Check that both sides are steps of a trial, or a run and a trial id.

    Raises
    ------
    ParameterError
        Anything else.
    """
    return _source(a, "a"), _source(b, "b")


def _source(given: object, name: str) -> Source:
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Recording):
        if isinstance(given[1], str):
            return given[0], given[1]
        if isinstance(given[1], Mapping | pd.Series) and isinstance(given[1].get("trial_id"), str):
            return given[0], given[1]["trial_id"]
    raise ParameterError(
        f"{name} is a {type(given).__name__}; give the steps of one trial, as run.trial('react/T1/baseline/0/0') gives "
        "them, or (run, trial id), or (run, row of a verdicts frame)."
    )


def read_side(source: Source, place: int, *, title: str | None, verdicts: Verdicts | None) -> Side:
    """Return one side of a diff, its violations placed at their steps.

    Raises
    ------
    NotFoundError
        The run holds no such trial.
    ParameterError
        The frame lacks columns, or holds the steps of several trials, or none.
    """
    name = NAMES[place]
    if isinstance(source, pd.DataFrame):
        frame, run, trial = _one_trial_frame(source, name), None, {}
    else:
        run, trial_id = source
        frame, trial = one_trial(run, trial_id), trial_row(run, trial_id)
    steps = read_steps(frame, name)
    if len({step.step for step in steps}) != len(steps):
        raise ParameterError(f"{name} trace: a step number stands twice; number the steps of a trial 0, 1, 2, …")
    side = Side(title or "", frame, tuple(steps), run, trial)
    found = None if verdicts is None else _findings(verdicts, side)
    if found is not None:
        steps = [replace(step, witnesses=found.by_step.get(step.step, ())) for step in steps]
    return replace(side, title=title or side.trial_id or name, steps=tuple(steps), findings=found)


def trial_row(run: Recording, trial_id: str) -> dict[str, Any]:
    """Return the row of one trial, missing cells as None."""
    row = run.trials[run.trials["trial_id"] == trial_id].iloc[0]
    return {str(name): None if pd.isna(value) else value for name, value in row.items()}


def _one_trial_frame(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    if lacking := [column for column in _FRAME_COLUMNS if column not in frame.columns]:
        raise ParameterError(f"{name} trace: columns lacking {lacking}; give the steps of one trial.")
    if frame.empty:
        raise ParameterError(
            f"{name} trace: the frame holds no step, so nothing says which trial it is; give (run, trial id)."
        )
    if "trial_id" in frame and len(set(frame["trial_id"])) != 1:
        ids = ", ".join(map(str, frame["trial_id"].unique()[:3]))
        raise ParameterError(
            f"{name} trace: the frame holds {frame['trial_id'].nunique()} trials ({ids}, …); give one."
        )
    return frame.reset_index(drop=True)


def _findings(verdicts: Verdicts, side: Side) -> Findings | None:
    """What the verdicts say of this trial; None where they do not cover it."""
    keys = verdicts.table.keys
    here = keys["trial_id"] == side.trial_id
    run_id = side.run.run_id if side.run is not None else _run_id(side.frame)
    if run_id and "run_id" in keys:
        here &= keys["run_id"] == run_id
    at = here.to_numpy().nonzero()[0]
    if at.size != 1:
        return None
    codes = verdicts.verdict[:, at[0]].tolist()
    counts = {word: codes.count(code) for code, word in enumerate(VERDICTS)}
    rows = verdicts.violations()
    rows = rows[rows["trial_id"] == side.trial_id]
    if run_id and "run_id" in rows:
        rows = rows[rows["run_id"] == run_id]
    by_step: dict[int, list[Witness]] = {}
    missing: list[Witness] = []
    for row in rows.to_dict("records"):
        texts = [text_of(row[column]) for column in ("rule", "severity", "expected", "observed")]
        (missing if pd.isna(row["step"]) else by_step.setdefault(int(row["step"]), [])).append(Witness(*texts))
    return Findings(counts, {step: _worst_first(found) for step, found in by_step.items()}, _worst_first(missing))


def _run_id(frame: pd.DataFrame) -> str:
    return text_of(frame["run_id"].iloc[0]) if "run_id" in frame else ""


def _worst_first(found: list[Witness]) -> tuple[Witness, ...]:
    return tuple(sorted(found, key=lambda witness: SEVERITIES.index(witness.severity)))
