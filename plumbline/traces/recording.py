"""A recorded run: its trials, its steps, its tasks and the plan it was made from."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import DuplicateTrialError, Failure, ParameterError, SchemaError
from plumbline.base.schema import KEYS, trial_id
from plumbline.traces.digest import run_digest, trial_digests
from plumbline.traces.frames import checked_tasks, empty_steps, steps_frame, trials_frame

__all__ = ["Counts", "Plan", "Recording", "concat_recordings"]

_PLAN_KEYS = ("arms", "tasks", "perturbations", "variants", "repetitions")


@dataclass(frozen=True)
class Plan:
    """The trials that were meant to be run: every combination of these lists, `repetitions` times.

    Parameters
    ----------
    arms, tasks, perturbations, variants : tuple of str
        In the order in which they are shown; the first perturbation is the baseline.
    repetitions : int
        How often each variant is issued, at least 1.
    """

    arms: tuple[str, ...]
    tasks: tuple[str, ...]
    perturbations: tuple[str, ...]
    variants: tuple[str, ...]
    repetitions: int

    def __post_init__(self) -> None:
        for name in _PLAN_KEYS[:4]:
            values = tuple(map(str, getattr(self, name)))
            if not values or len(set(values)) != len(values):
                raise ParameterError(f"plan.{name} must list at least one name, each once; found {values!r}")
            object.__setattr__(self, name, values)
        if isinstance(self.repetitions, bool) or not isinstance(self.repetitions, int) or self.repetitions < 1:
            raise ParameterError(f"plan.repetitions must be a whole number of at least 1; found {self.repetitions!r}")

    def trial_ids(self) -> list[str]:
        """Return the id of every planned trial, in plan order."""
        parts = (self.arms, self.tasks, self.perturbations, self.variants, range(self.repetitions))
        return [trial_id(a, t, p, v, r) for a, t, p, v, r in itertools.product(*parts)]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {name: list(getattr(self, name)) for name in _PLAN_KEYS[:4]} | {"repetitions": self.repetitions}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """Read a plan from JSON values."""
        if sorted(values) != sorted(_PLAN_KEYS):
            raise SchemaError(f"a plan has the keys {list(_PLAN_KEYS)}; found {sorted(values)}")
        arms, tasks, perturbations, variants = (tuple(values[name]) for name in _PLAN_KEYS[:4])
        return cls(arms, tasks, perturbations, variants, values["repetitions"])


@dataclass(frozen=True)
class Counts:
    """Four numbers that are easily confused: what was planned, is on record, was completed, and is missing."""

    planned: int
    recorded: int
    completed: int
    missing: int

    def __str__(self) -> str:
        kept = f"{self.planned:,} planned, {self.recorded:,} recorded"
        return f"{kept}, {self.completed:,} completed, {self.missing:,} missing"


@dataclass(frozen=True, eq=False)
class Recording:
    """Trials and steps of one run, checked, in canonical order.

    Parameters
    ----------
    trials : DataFrame
        One row a trial, see ``trials_frame``.
    steps : DataFrame, optional
        One row an event, see ``steps_frame``.
    run_id : str
        Name of the run.
    tasks : mapping, optional
        ``{task_id: {"context": {...}}}``: what the system of record says of each task; rules read the context.
    plan : Plan, optional
        What was meant to be run. Without one, what is recorded counts as what was planned.
    domain : str, optional
        Name of the domain the tasks belong to.
    notes : mapping, optional
        Where the run comes from, in JSON values; shown, never computed with.

    Raises
    ------
    SchemaError
        See ``trials_frame`` and ``steps_frame``; also a trial outside the plan.
    """

    trials: pd.DataFrame
    steps: pd.DataFrame = field(default_factory=empty_steps)
    run_id: str = field(kw_only=True)
    tasks: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    plan: Plan | None = field(default=None, kw_only=True)
    domain: str | None = field(default=None, kw_only=True)
    notes: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if not self.run_id or "/" in self.run_id:
            raise ParameterError(f"run_id must be a name without '/'; found {self.run_id!r}")
        trials = trials_frame(self.trials, self.run_id)
        self._fill(trials, steps_frame(self.steps, trials))
        object.__setattr__(self, "tasks", checked_tasks(self.tasks))
        object.__setattr__(self, "notes", checked_tasks(self.notes))
        if self.plan is not None:
            planned = set(self.plan.trial_ids())
            if outside := [i for i, t in enumerate(trials["trial_id"]) if t not in planned]:
                mend = "Widen the plan, or leave the trial out; a trial nobody planned cannot be counted against it."
                failures = [
                    Failure("trials", i, trials["trial_id"][i], "trial_id", "a trial outside the plan", mend)
                    for i in outside
                ]
                raise SchemaError(f"{len(outside)} trials are not in the plan", failures)

    def _fill(self, trials: pd.DataFrame, steps: pd.DataFrame) -> None:
        object.__setattr__(self, "trials", trials)
        object.__setattr__(self, "steps", steps)

    @classmethod
    def _trusted(cls, trials: pd.DataFrame, steps: pd.DataFrame, **fields: Any) -> Self:
        """Build from frames that were checked and, if a ``digest`` is given, are known to have it."""
        self = object.__new__(cls)
        vars(self).update(fields)
        self._fill(trials, steps)
        return self

    @cached_property
    def digest(self) -> str:
        """Digest of every row, the tasks and the plan, as ``sha256:…``."""
        plan = None if self.plan is None else self.plan.to_dict()
        return run_digest(trial_digests(self.trials, self.steps), self.tasks, plan)

    @property
    def arms(self) -> tuple[str, ...]:
        """Arms in plan order, else in order of appearance."""
        return self.plan.arms if self.plan else tuple(self.trials["arm"].unique())

    @property
    def perturbations(self) -> tuple[str, ...]:
        """Perturbations in plan order, else with the baseline first."""
        if self.plan:
            return self.plan.perturbations
        found = list(self.trials["perturbation"].unique())
        return tuple(sorted(found, key=lambda p: (p != "baseline", found.index(p))))

    def planned(self) -> pd.DataFrame:
        """Return one row a planned trial with its status; a trial without a record is ``not_run``.

        Returns
        -------
        DataFrame
            Key columns and ``status``, in plan order.
        """
        keys = [c.name for c in KEYS]
        recorded = self.trials[[*keys, "status"]]
        if self.plan is None:
            return recorded.copy()
        ids = pd.Index(self.plan.trial_ids())
        rows = recorded.set_index("trial_id").reindex(ids).rename_axis("trial_id").reset_index()
        parts = rows["trial_id"].str.split("/", expand=True)
        for position, name in enumerate(("arm", "task_id", "perturbation", "variant")):
            rows[name] = parts[position]
        families = dict(zip(self.trials["task_id"], self.trials["family_id"], strict=True))
        rows["family_id"] = [families.get(t, t) for t in rows["task_id"]]
        rows["repetition"] = parts[4].astype("int64")
        rows["run_id"] = self.run_id
        rows["status"] = rows["status"].fillna("not_run")
        return rows[[*keys, "status"]]

    def counts(self, *, arm: str | None = None) -> Counts:
        """Count planned, recorded, completed and missing trials, of all arms or of one."""
        planned = self.planned()
        trials = self.trials
        if arm is not None:
            if arm not in self.arms:
                raise ParameterError(f"run {self.run_id!r} has no arm {arm!r}; it has {', '.join(self.arms)}")
            planned, trials = planned[planned["arm"] == arm], trials[trials["arm"] == arm]
        behaved = planned["status"].isin(["completed", "agent_error"])
        return Counts(
            len(planned), int((trials["status"] != "not_run").sum()), int((planned["status"] == "completed").sum()),
            int((~behaved).sum()),
        )  # fmt: skip

    def context(self, task_id: str) -> dict[str, Any]:
        """Return what the system of record says of a task, empty if the run holds nothing."""
        return dict(self.tasks.get(task_id, {}).get("context", {}))

    def save(self, path: str | Path) -> Path:
        """Write the run folder; a run that stands there stays whole until the new one is complete.

        Returns
        -------
        Path
            The folder.
        """
        from plumbline.traces.store import write_run

        return write_run(self, Path(path))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.run_id!r}: {self.counts()}; {len(self.steps):,} steps)"


def concat_recordings(recordings: Sequence[Recording], *, run_id: str) -> Recording:
    """Put recordings together under a new name, see ``plumbline.concat_runs``."""
    if not recordings:
        raise ParameterError("concat_runs needs at least one run")
    owner: dict[str, str] = {}
    failures = []
    for r in recordings:
        for i, t in enumerate(r.trials["trial_id"]):
            if t in owner:
                mend = "Rename an arm or the repetitions of one of them first; nothing is dropped silently."
                failures.append(Failure(f"run {r.run_id!r} trials", i, t, "trial_id", f"also in {owner[t]!r}", mend))
            owner[t] = r.run_id
    if failures:
        raise DuplicateTrialError(f"{len(failures)} trials stand in more than one run", failures)
    tasks: dict[str, Any] = {}
    for r in recordings:
        for task, entry in r.tasks.items():
            if task in tasks and canonical_json(tasks[task]) != canonical_json(entry):
                raise SchemaError(f"task {task!r} differs between the runs; its ground truth cannot be both")
            tasks[task] = entry
    domains = {r.domain for r in recordings}
    sources = [{"run_id": r.run_id, "digest": r.digest} for r in recordings]
    return type(recordings[0])(
        pd.concat([r.trials for r in recordings], ignore_index=True),
        pd.concat([r.steps for r in recordings], ignore_index=True),
        run_id=run_id, tasks=tasks, domain=domains.pop() if len(domains) == 1 else None, notes={"made_of": sources},
    )  # fmt: skip
