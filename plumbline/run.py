"""``Run``: a recording with the verbs a person types. The verbs live in the rooms below; nothing is computed here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import pandas as pd

from plumbline import analysis, decide, exchange, running
from plumbline.base.errors import PlumblineError
from plumbline.base.schema import STEPS, TRIALS
from plumbline.exchange.writers.event_log import event_log
from plumbline.rules import Policy, Verdicts
from plumbline.rules import check as check_rules
from plumbline.stats.clusters import DECLARED_RHO
from plumbline.traces import Plan, Recording, concat_recordings
from plumbline.traces import read_run as read_recording

if TYPE_CHECKING:
    from plumbline.show.diff import TraceDiff
    from plumbline.show.explore import Explorer

__all__ = ["Run", "concat_runs", "first_difference", "read_run", "read_traces", "run_pairs", "run_plan", "run_study"]

P = ParamSpec("P")


@dataclass(frozen=True, eq=False, repr=False)
class Run(Recording):
    """Trials and steps of one run; see ``Recording`` for its parts.

    Examples
    --------
    >>> import pandas as pd, plumbline as plumb
    >>> trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    >>> steps = pd.DataFrame({"trial_id": ["a/t/baseline/0/0"], "kind": ["tool_call"], "name": ["pay"]})
    >>> plumb.Run(trials, steps, run_id="mine")
    Run('mine': 1 planned, 1 recorded, 1 completed, 0 missing; 1 steps)
    """

    @classmethod
    def of(cls, recording: Recording) -> Run:
        """Return a recording as a run: the same rows, with the verbs."""
        names = ("run_id", "tasks", "plan", "domain", "notes", "digest")
        known = {name: value for name, value in vars(recording).items() if name in names}
        return cls._trusted(recording.trials, recording.steps, **known)

    def _repr_html_(self) -> str:
        from plumbline.show.run_card import run_card

        return run_card(self)._repr_html_()

    def check(self, policy: Policy, *, contexts: Mapping[str, Mapping[str, Any]] | None = None) -> Verdicts:
        """Check every trial against every rule of a policy, see ``plumbline.check``."""
        return check_rules(self, policy, contexts=contexts)

    def coverage(self) -> exchange.Coverage:
        """Say what the record supports: what was seen of calls, results and labels, and which analyses that allows."""
        return exchange.coverage(self)

    def to_event_log(self, *, kinds: tuple[str, ...] = ("tool_call",)) -> pd.DataFrame:
        """Return the run as an event log for process mining, see ``plumbline.exchange.writers.event_log``."""
        return event_log(self, kinds=kinds)

    def certify(
        self,
        *,
        arm: str,
        policy: Policy | None = None,
        measure: str = "critical",
        rule: str = "planned_minimum",
        scope: str = "suite",
        confidence: float = 0.95,
        sidedness: str | None = None,
        ignorable: Mapping[str, str] | Collection[str] = (),
        rho: float = DECLARED_RHO,
        threshold: float | None = None,
        faults: Collection[str] = (),
        grade: decide.Grade | None = None,
        plan: Plan | None = None,
    ) -> decide.Certificate:
        """Say what can be claimed about an arm, see ``plumbline.decide.certify``."""
        return decide.certify(
            self,
            arm=arm,
            policy=policy,
            measure=measure,
            rule=rule,
            scope=scope,
            confidence=confidence,
            sidedness=sidedness,
            ignorable=ignorable,
            rho=rho,
            threshold=threshold,
            faults=faults,
            grade=grade,
            plan=plan,
        )

    def gate(
        self,
        *,
        arm: str,
        policy: Policy | None = None,
        plan: decide.GatePlan | None = None,
        min_bound: float | None = None,
        incumbent: str | None = None,
        grade: decide.Grade | None = None,
    ) -> decide.Decision:
        """Decide about the release of an arm, see ``plumbline.decide.gate``."""
        return decide.gate(
            self, arm=arm, policy=policy, plan=plan, min_bound=min_bound, incumbent=incumbent, grade=grade
        )

    def consistency(
        self,
        *,
        arm: str,
        reference: analysis.Reference = "modal_baseline",
        argument_rules: analysis.Rules = None,
        definition: analysis.Definition = "published",
        order: Sequence[str] | None = None,
        outcome_keys: Sequence[str] | None = None,
        grade: analysis.Grade | None = None,
        ks: Sequence[int] = (1, 2, 4, 8),
        confidence: float = 0.95,
    ) -> analysis.Consistency:
        """Compare an arm with what it most often does itself, see ``plumbline.analysis.consistency``."""
        return analysis.consistency(
            self,
            arm=arm,
            reference=reference,
            argument_rules=argument_rules,
            definition=definition,
            order=order,
            outcome_keys=outcome_keys,
            grade=grade,
            ks=ks,
            confidence=confidence,
        )

    def equivalence(
        self,
        *,
        incumbent: str,
        replacement: str,
        other: Recording | None = None,
        argument_rules: analysis.Rules = None,
        definition: analysis.Definition = "published",
        order: Sequence[str] | None = None,
        outcome_keys: Sequence[str] | None = None,
        grade: analysis.Grade | None = None,
        ks: Sequence[int] = (1, 2, 4, 8),
        confidence: float = 0.95,
    ) -> analysis.Equivalence:
        """Compare a replacement with the incumbent, pair by pair, see ``plumbline.analysis.equivalence``."""
        return analysis.equivalence(
            self,
            incumbent=incumbent,
            replacement=replacement,
            other=other,
            argument_rules=argument_rules,
            definition=definition,
            order=order,
            outcome_keys=outcome_keys,
            grade=grade,
            ks=ks,
            confidence=confidence,
        )

    def diff(
        self,
        *,
        task: str,
        arms: tuple[str, str],
        perturbation: str = "baseline",
        variant: str = "0",
        repetition: int = 0,
        policy: Policy | None = None,
        grade: decide.Grade | None = None,
    ) -> TraceDiff:
        """Set the same trial of two arms side by side, see ``plumbline.show.diff.diff_run``."""
        from plumbline.show.diff import diff_run

        return diff_run(
            self,
            task=task,
            arms=arms,
            perturbation=perturbation,
            variant=variant,
            repetition=repetition,
            policy=policy,
            grade=grade,
        )

    def explore(self, policy: Policy, *, grade: decide.Grade | None = None) -> Explorer:
        """Look through the violations of a policy: filters, groups, trials, diffs; see ``plumbline.show.explore``."""
        from plumbline.show.explore import explore

        return explore(self, policy=policy, grade=grade)

    def trial(self, trial_id: str) -> pd.DataFrame:
        """Return the steps of one trial.

        Raises
        ------
        NotFoundError
            The run holds no such trial; the message lists close ones.
        """
        return analysis.one_trial(self, trial_id)


def _giving_a_run(function: Callable[P, Recording]) -> Callable[P, Run]:
    @functools.wraps(function)
    def giving(*args: P.args, **kwargs: P.kwargs) -> Run:
        return Run.of(function(*args, **kwargs))

    return giving


read_traces = _giving_a_run(exchange.read_traces)
run_plan = _giving_a_run(running.run_plan)
run_study = _giving_a_run(running.run_study)
run_pairs = _giving_a_run(running.run_pairs)


def read_run(path: str | Path) -> Run:
    """Read a run folder and verify that its rows are the rows that were saved.

    Parameters
    ----------
    path : path
        The folder that holds ``manifest.json``.

    Returns
    -------
    Run

    Raises
    ------
    NotFoundError
        There is no run at this path.
    SchemaVersionError
        Another version of the format.
    DigestError
        A row changed since the run was saved; the message names file, rows and trial.
    """
    return read_recording(Path(path), Run)


def concat_runs(runs: Sequence[Run], *, run_id: str) -> Run:
    """Put runs together under a new name.

    Parameters
    ----------
    runs : sequence of Run
        At least one.
    run_id : str
        Name of the new run.

    Raises
    ------
    DuplicateTrialError
        A trial stands in more than one of them.
    """
    joined = concat_recordings(runs, run_id=run_id)
    if not isinstance(joined, Run):
        raise PlumblineError("concat_runs takes runs")
    return joined


def first_difference(committed: Recording, rebuilt: Recording) -> str:
    """Say in one line where two recordings of the same run first differ."""
    for name, columns in (("trials", TRIALS), ("steps", STEPS)):
        old, new = getattr(committed, name), getattr(rebuilt, name)
        ids = pd.Index(old["trial_id"]).symmetric_difference(pd.Index(new["trial_id"]))
        if len(ids):
            return f"{name}: trial {ids[0]} stands in one only ({len(ids)} such)"
        if len(old) != len(new):
            sizes = old.groupby("trial_id").size().ne(new.groupby("trial_id").size())
            return f"{name}: trial {sizes.index[sizes][0]} has another number of rows"
        for column in (c.name for c in columns):
            a, b = old[column].astype(object), new[column].astype(object)
            differs = (a != b) & ~(a.isna() & b.isna())
            if differs.any():
                row = int(differs.to_numpy().nonzero()[0][0])
                return f"{name} row {row}, trial {old['trial_id'][row]}, {column}: {a[row]!r} against {b[row]!r}"
    return "tasks, plan or notes"
