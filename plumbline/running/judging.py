"""From a run of pairs to its pairs frame: every planned pair judged by its contract, from the record alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import RelationError
from plumbline.base.schema import trial_id
from plumbline.rules.metamorphic import Behaviour, Contract, Found, Relation, pairs_frame
from plumbline.running.pairs import AGAIN, BASE
from plumbline.traces import Recording

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PairEvidence", "behaviours", "contracts_of", "judge_pairs", "pair_evidence"]


@dataclass(frozen=True)
class PairEvidence:
    """Both inputs and both outputs of one pair, for whoever must judge prose.

    Parameters
    ----------
    contract : Contract
        What was changed, and what is expected; ``contract.graded`` says what a grader must judge.
    arm, repetition, comparison
        Which row of the pairs frame it belongs to; ``comparison`` is ``relation`` or ``noise``.
    base_prompt, follow_prompt : str
        What was asked; empty if not on record.
    base, follow : Behaviour
        What the two trials did, last words included.
    """

    contract: Contract
    arm: str
    repetition: int
    comparison: str
    base_prompt: str
    follow_prompt: str
    base: Behaviour
    follow: Behaviour


def contracts_of(run: Recording) -> tuple[Contract, ...]:
    """Return the contracts that stand in a run of pairs, in the order of its tasks.

    Raises
    ------
    RelationError
        The run holds none, or one that does not satisfy its schema.
    """
    found = [values for task in run.tasks.values() for values in task.get("contracts", ())]
    if not found:
        raise RelationError(
            f"run {run.run_id!r} holds no contract of a pair; run_pairs and 'plumbline relations run' write them"
        )
    return tuple(Contract.from_dict(values) for values in found)


def behaviours(run: Recording) -> dict[str, Behaviour]:
    """Return what every recorded trial did, by its id."""
    steps: dict[str, list[dict[str, Any]]] = {}
    columns = ("step", "kind", "name", "arguments", "status")
    values = [run.steps[name].astype(object).tolist() for name in columns]
    for name, *row in zip(run.steps["trial_id"], *values, strict=True):
        steps.setdefault(name, []).append(dict(zip(columns, row, strict=True)))
    read = ["trial_id", "status", "outcome", "final_output"]
    trials: list[Any] = run.trials[read].astype(object).to_dict("records")
    return {row["trial_id"]: Behaviour.read(row, steps.get(row["trial_id"], [])) for row in trials}


def pair_evidence(run: Recording, *, graded_only: bool = True) -> Iterator[PairEvidence]:
    """Yield what a grader needs of every valid pair whose two trials behaved.

    Parameters
    ----------
    run : Recording
        What ``run_pairs`` recorded.
    graded_only : bool
        Leave out pairs whose relation asks for no grader.

    Raises
    ------
    RelationError
        The run holds no contracts or no plan.
    """
    contracts = contracts_of(run)
    seen = behaviours(run)
    said = run.trials[["trial_id", "prompt"]].astype(object).to_dict("records")
    prompts = {row["trial_id"]: row["prompt"] if isinstance(row["prompt"], str) else "" for row in said}
    for contract in contracts:
        if not contract.valid or (graded_only and not contract.graded):
            continue
        for arm, repetition, comparison, base, follow in _cells(run, contract):
            if base in seen and follow in seen and seen[base].behaved and seen[follow].behaved:
                asked = (prompts[base], prompts[follow])
                yield PairEvidence(contract, arm, repetition, comparison, *asked, seen[base], seen[follow])


def judge_pairs(run: Recording, *, relations: Sequence[Relation] = ()) -> pd.DataFrame:
    """Judge every planned pair of a run by the deterministic layer.

    Parameters
    ----------
    run : Recording
        What ``run_pairs`` recorded; nothing else is needed, neither the domain nor its code.
    relations : sequence of Relation
        Only where a contract names an oracle that is code of its own.

    Returns
    -------
    pandas.DataFrame
        The pairs frame, ``plumbline.rules.metamorphic.PAIR_COLUMNS``: one row per pair, arm and repetition with
        ``comparison`` ``relation``, and where the base was run again one with ``noise``. What was planned and is
        invalid, in doubt or never ran has a row too.

    Raises
    ------
    RelationError
        The run holds no contracts, or a contract needs a relation that is not given.

    Examples
    --------
    >>> from plumbline.domain import load_domain
    >>> from plumbline.running import run_pairs
    >>> domain = load_domain("procure_to_pay")
    >>> chosen = [r for r in domain.relations() if r.relation_id == "receipt_withdrawn"]
    >>> run = run_pairs(domain, arms=["plan_execute"], relations=chosen, repetitions=1)
    >>> judge_pairs(run)["result"].unique().tolist()
    ['satisfied']
    """
    contracts = contracts_of(run)
    own = {relation.digest: relation for relation in relations}
    for contract in contracts:
        if contract.oracle is not None and contract.relation_digest not in own:
            raise RelationError(
                f"pair {contract.pair_id} is judged by code of its relation (digest {contract.relation_digest}); give "
                "judge_pairs the relation as it was: relations=[...]"
            )
    return pairs_frame(_rows(run, contracts, own))


def _rows(run: Recording, contracts: Sequence[Contract], own: Mapping[str, Relation]) -> Iterator[dict[str, Any]]:
    seen = behaviours(run)
    said = run.trials[["trial_id", "prompt", "error"]].astype(object).to_dict("records")
    prompts = {row["trial_id"]: row["prompt"] for row in said}
    errors = {row["trial_id"]: row["error"] for row in said}
    for contract in contracts:
        shared = _shared(contract) | {"domain": run.domain or "unknown"}
        for arm, repetition, comparison, base, follow in _cells(run, contract):
            prompt = prompts.get(base)
            found = _judged(contract, seen, errors, base, follow, own, noise=comparison == "noise")
            yield shared | _found(found) | {
                "arm": arm, "repetition": repetition, "base_trial": base, "follow_trial": follow,
                "comparison": comparison, "length": len(prompt) if isinstance(prompt, str) else 0,
                "tool_path": " > ".join(seen[base].path) if base in seen else "",
            }  # fmt: skip


def _cells(run: Recording, contract: Contract) -> Iterator[tuple[str, int, str, str, str]]:
    """Yield arm, repetition, comparison and both trials of everything that was planned of a pair."""
    if run.plan is None:
        raise RelationError(f"run {run.run_id!r} has no plan; without one nobody knows which pairs were planned")
    others = [("relation", contract.relation_id), *([("noise", AGAIN)] if AGAIN in run.plan.perturbations else [])]
    for arm in run.plan.arms:
        for repetition in range(run.plan.repetitions):
            base = trial_id(arm, contract.task_id, BASE, "0", repetition)
            for comparison, perturbation in others:
                follow = trial_id(arm, contract.task_id, perturbation, "0", repetition)
                yield arm, repetition, comparison, base, follow


def _shared(contract: Contract) -> dict[str, Any]:
    return {
        "pair_id": contract.pair_id, "relation_id": contract.relation_id, "relation_version": contract.relation_version,
        "kind": contract.kind, "severity": contract.severity, "role": contract.role, "seed_id": contract.seed_id,
        "family_id": contract.family_id, "task_id": contract.task_id,
        "transformation": contract.transformation["name"],
        "transformation_version": contract.transformation["version"], "layer": "deterministic",
        "source": contract.seed["source"], "purpose": contract.seed["purpose"],
        "locale": contract.seed.get("locale", "en"),
    }  # fmt: skip


def _judged(
    contract: Contract, seen: Mapping[str, Behaviour], errors: Mapping[str, Any], base: str, follow: str,
    own: Mapping[str, Relation], *, noise: bool,
) -> Found:  # fmt: skip
    if contract.validity != "valid":
        result = "invalid" if contract.validity == "invalid" else "abstained"
        return Found(result, f"transformation: {'; '.join(contract.reasons)}")
    for side, name in (("base", base), ("follow-up", follow)):
        if name not in seen:
            return Found("infrastructure", f"{side}: not recorded")
        if not seen[name].behaved:
            error = errors.get(name)
            return Found(
                "infrastructure", f"{side}: {seen[name].status}" + (f", {error}" if isinstance(error, str) else "")
            )
    relation = own.get(contract.relation_digest)
    return contract.judge(seen[base], seen[follow], relation=relation, noise=noise)


def _found(found: Found) -> dict[str, Any]:
    judged = found.result in ("satisfied", "violated", "abstained") and not found.reason.startswith("transformation:")
    return {
        "result": found.result, "reason": found.reason, "base_witness": found.base_step,
        "follow_witness": found.follow_step, "confirmed": found.result == "violated",
        "expected": canonical_json(found.expected) if judged else None,
        "observed": canonical_json(found.observed) if judged else None,
    }  # fmt: skip
