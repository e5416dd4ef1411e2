"""From the journal of a study to its run: one row a planned trial, in canonical order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.base.schema import KEYS, STEPS, TRIALS
from plumbline.running.journal import Journal
from plumbline.running.sealed import SealedPlan
from plumbline.running.system import System, TrialKey
from plumbline.traces import Recording

__all__ = ["assemble"]

_TRIAL_COLUMNS = [c.name for c in TRIALS if c.name != "run_id"]
_STEP_COLUMNS = ["trial_id", *(c.name for c in STEPS[len(KEYS) :])]
_MOST_FINDINGS = 1000
_COUNTED = ("planned", "candidates", "accepted", "rejected", "abstained", "repeated", "shortfall")


def assemble(domain: System, sealed: SealedPlan, journal: Journal, *, run_id: str, stopped: bool) -> Recording:
    """Build the run; planned trials without a line are ``not_run``, or ``budget_stop`` after a stop."""
    latest = {}
    for number, record in enumerate(journal.records()):
        latest[record.trial["trial_id"]] = number
    wanted = set(latest.values())
    trials: dict[str, list[Any]] = {name: [] for name in _TRIAL_COLUMNS}
    steps: dict[str, list[Any]] = {name: [] for name in _STEP_COLUMNS}
    findings: list[dict[str, Any]] = []
    watched, attempts = 0, {}
    for number, record in enumerate(journal.records()):
        if number not in wanted:
            continue
        trial_id = record.trial["trial_id"]
        _add(trials, record.trial)
        for step in record.steps:
            _add(steps, step)
        watched += record.effects is not None
        findings += [{"trial_id": trial_id} | dict(found) for found in record.effects or ()]
        if record.attempts:
            attempts[trial_id] = list(record.attempts)
    families = {task.id: task.family for task in domain.tasks}
    for name in sealed.plan.trial_ids():
        if name not in latest:
            _add(trials, _unrun(TrialKey.parse(name), sealed, families, stopped=stopped))
    findings.sort(key=lambda f: (f["trial_id"], f["step"] is None, f["step"] or 0))
    statuses = Counter(trials["status"])
    notes = {
        "seal": sealed.seal, "model": sealed.sections["model"], "seed": sealed.sections["seed"],
        "server": sealed.sections["server"],
        "arms": sealed.sections["arms"],
        "complete": set(statuses) <= {"completed", "agent_error", "not_run"} and not stopped,
        "statuses": dict(sorted(statuses.items())), "attempts": dict(sorted(attempts.items())),
        "without_variant": sealed.missing(), "variants": _variants(sealed.sections["variant_sets"]),
        "effects": {
            "trials_watched": watched, "counts": dict(sorted(Counter(f["finding"] for f in findings).items())),
            "findings": findings[:_MOST_FINDINGS],
        },
    }  # fmt: skip
    tasks = {task.id: task for task in domain.tasks}
    truth = {name: {"context": dict(domain.truth(tasks[name]))} for name in sealed.plan.tasks}
    for name, contracts in sealed.sections.get("contracts", {}).items():
        truth[name]["contracts"] = contracts
    return Recording(
        pd.DataFrame(trials, dtype=object), pd.DataFrame(steps, dtype=object), run_id=run_id, tasks=truth,
        plan=sealed.plan, domain=domain.name, notes={"study": notes},
    )  # fmt: skip


def _variants(sets: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count by perturbation what was planned and what the guard made of the candidates; the plan holds them all."""
    counts: dict[str, Counter[str]] = {}
    for one in sets:
        count = counts.setdefault(one["perturbation"], Counter(dict.fromkeys(_COUNTED, 0)))
        kept = len(one["accepted"])
        count.update(planned=one["planned"], candidates=one["candidates"], accepted=kept)
        count.update(rejected=len(one["rejected"]), abstained=len(one["abstained"]), repeated=len(one["repeats"]))
        count.update(shortfall=one["planned"] - kept)
    return {name: dict(count) for name, count in counts.items()}


def _add(columns: dict[str, list[Any]], row: Any) -> None:
    for name, values in columns.items():
        values.append(row.get(name))


def _unrun(key: TrialKey, sealed: SealedPlan, families: dict[str, str], *, stopped: bool) -> dict[str, Any]:
    cell = (key.task_id, key.perturbation, key.variant)
    given, fault = sealed.given[cell], sealed.faults.get(key.trial_id)
    status = "budget_stop" if stopped and given is not None else "not_run"
    error = "the cap on spending was reached before this trial began" if status == "budget_stop" else None
    if given is None:
        error = f"perturbation {key.perturbation!r} gave no variant {key.variant!r} of this task"
    return {
        "arm": key.arm, "task_id": key.task_id, "family_id": families[key.task_id], "perturbation": key.perturbation,
        "variant": key.variant, "repetition": key.repetition, "trial_id": key.trial_id, "status": status,
        "error": error, "exposure": "none_planned" if fault is None else "not_delivered",
        "fault": None if fault is None else fault.to_json(), "prompt": getattr(given, "prompt", None),
        "provenance": "live",
    }  # fmt: skip
