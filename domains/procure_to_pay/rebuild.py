"""Rebuild the committed runs from the published facts: every decision is made again against the real tools.

Results, errors and outcomes therefore come from the tools and the ledger, never from a table. What the facts do not
tell is marked on the step (``evidence``) and on the trial (``provenance``, ``error``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import RunError
from plumbline.domains.procure_to_pay.arms import plan_execute
from plumbline.domains.procure_to_pay.published import EXECUTORS, STUDIES, Facts, TrialFacts
from plumbline.domains.procure_to_pay.tasks import PERTURBATIONS, TASKS, variant
from plumbline.domains.procure_to_pay.truth import truth
from plumbline.running import (
    Agent,
    Fault,
    FaultPlan,
    NoResponseError,
    System,
    Task,
    Toolbox,
    TrialKey,
    Variant,
    replay,
    run_plan,
)
from plumbline.traces import Recording

__all__ = ["rebuild_runs"]

_CAUSES = {
    "provider_refused": "no response: the provider refused the call (account credit exhausted)",
    "no_recorded_response": "no response: the offline replay found no recorded response for this trial",
}
_LEFT = {
    "approved": "the published ledger nevertheless holds an approval",
    "paid": "the published ledger nevertheless holds the payment",
}
_NOTES = {
    "what": "Reconstructed from published per-trial findings; these are not the original model outputs.",
    "re_executed": "Executor arms: the executor ran again on the real tools, with the published fault where it struck.",
    "reconstructed": "Model arms: published paths and arguments, issued to the real tools; see each step's evidence.",
    "published_by": "Bhargs24/plumbline (Apache-2.0): figures and identifiers only.",
}


@dataclass(frozen=True)
class _Arm:
    """An arm as recorded: some trials have a record of their own, the rest follow from code."""

    recorded: Mapping[str, Agent]
    otherwise: Agent | None

    def for_trial(self, key: TrialKey) -> Agent:
        agent = self.recorded.get(key.trial_id, self.otherwise)
        if agent is None:
            raise RunError(f"the published facts hold no decisions for trial {key.trial_id}")
        return agent

    def __call__(self, task: Task, toolbox: Toolbox, /) -> str | None:
        raise RunError("a recorded arm needs the trial's key; run it through run_plan")


def rebuild_runs(folder: Path, *, system: System) -> Iterator[Recording]:
    """Yield the recordings of the three founding studies.

    Parameters
    ----------
    folder : Path
        The folder ``data/published``.
    system : System
        The domain whose tools execute the decisions.

    Returns
    -------
    iterator of Recording
        ``determinism`` (576 trials), ``parity`` (738) and ``retry`` (768), in this order.

    Raises
    ------
    NotFoundError
        The folder or one of its tables is not there.
    RunError
        The tables contradict each other.
    """
    facts = Facts(folder)
    for study in STUDIES:
        yield _rebuild(facts, study, system)


def _rebuild(facts: Facts, study: str, system: System) -> Recording:
    plan = facts.plan(study)
    if set(plan.perturbations) != set(PERTURBATIONS):
        raise RunError(f"{facts.folder}: study {study!r} lists the perturbations {plan.perturbations}")
    trials = {t.trial_id: t for t in facts.trials(study)}
    contexts = {task.id: truth(task) for task in TASKS}
    retries = facts.meta["studies"][study]["plan_execute_retries"]
    model = facts.meta["studies"][study]["agent_model"]
    arms: dict[str, Agent] = {}
    for arm in plan.arms:
        recorded = {
            t.trial_id: _agent(facts, t, contexts[t.parts[1]])
            for t in trials.values()
            if t.parts[0] == arm and (t.status != "completed" or arm not in EXECUTORS)
        }
        arms[arm] = _Arm(recorded, plan_execute(max_retries=retries) if arm in EXECUTORS else None)
    run = run_plan(
        system,
        arms,
        plan,
        run_id=study,
        faults=_faults(facts, study, trials),
        variants=_unworded,
        only=list(trials),
        provenance={arm: "re_executed" if arm in EXECUTORS else "reconstructed" for arm in plan.arms},
        models=dict.fromkeys(plan.arms, model),
        notes={**_NOTES, "published_on": facts.meta["studies"][study]["run_date_utc"]},
    )
    return _with_missing(run, trials)


def _agent(facts: Facts, trial: TrialFacts, context: dict[str, Any]) -> Agent:
    if trial.status == "completed":
        return replay(facts.decisions(trial, context))
    words = _CAUSES[str(trial.cause)]
    if trial.stopped:
        words += f"; it {trial.stopped}, whose steps were not published"
    if trial.left:
        words += f"; {_LEFT[trial.left]}"
    return replay([], stop=NoResponseError(words))


def _unworded(task: Task, perturbation: str, name: str) -> Variant:
    """Give what is known of the variant: which decoys were offered; no published prompt is on record."""
    return Variant(None, variant(task, perturbation, name).decoys)


def _faults(facts: Facts, study: str, trials: Mapping[str, TrialFacts]) -> FaultPlan:
    """Return the fault of every tool_fault trial; one served a whole cell, so all but one trial found it spent."""
    spent = {_cell(t): t for t in facts.faulted[study]}
    planned = {}
    for trial in trials.values():
        _, _, perturbation, name, _ = trial.parts
        if perturbation == "tool_fault":
            what = facts.meta["faults"][name]
            by = spent[_cell(trial.trial_id)]
            owner = None if by == trial.trial_id else by
            planned[trial.trial_id] = Fault(what["tool"], what["error"], spent_by=owner)
    return FaultPlan(planned)


def _cell(trial_id: str) -> tuple[str, str]:
    key = TrialKey.parse(trial_id)
    return key.task_id, key.variant


def _with_missing(run: Recording, facts: Mapping[str, TrialFacts]) -> Recording:
    """Return the run with what is known of trials without a response: nothing was executed for them.

    For four of them the published ledger shows effects of turns whose steps were not published. The outcome says so;
    the steps stay empty.
    """
    trials = run.trials.copy()
    missing = trials["status"] == "no_response"
    trials.loc[missing, "provenance"] = "reconstructed"
    outcomes = []
    for name, task, outcome in trials[["trial_id", "task_id", "outcome"]].itertuples(index=False, name=None):
        outcomes.append(_left_behind(outcome, facts[name].left, run.context(task)["expected_amount"]))
    trials["outcome"] = outcomes
    return Recording(
        trials, run.steps, run_id=run.run_id, tasks=run.tasks, plan=run.plan, domain=run.domain, notes=run.notes
    )


def _left_behind(outcome: str, left: str | None, amount: Any) -> str:
    """Return an outcome with the effects that the published ledger shows although no step was published."""
    if left is None:
        return outcome
    found = parse_json(outcome) | {"approvals": 1}
    if left == "paid":
        found |= {"paid": True, "payment_count": 1, "amount_paid": amount}
    return canonical_json(found)
