"""Was the plan there before the data? What the record shows, and what it cannot show."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from plumbline.decide.checks import Check
from plumbline.decide.gate_plan import GatePlan, written_at
from plumbline.traces import Plan, Recording

__all__ = ["plan_checks"]


def plan_checks(recording: Recording, plan: GatePlan | None, *, arm: str) -> tuple[list[Check], list[str]]:
    """Return what speaks against trusting a gate's plan, and what a reader must know of it.

    Returns
    -------
    checks : list of Check
        Empty when nothing is wrong; each one stops a release until a person has looked.
    cautions : list of str
    """
    sealed = recording.notes.get("gate_plan")
    if plan is None:
        return _without_plan(recording, sealed)
    checks, said = [], []
    if sealed is None:
        said.append("the plan was not sealed before the run: its digest is not among the run's notes")
    elif sealed != plan.digest:
        text = f"the run was made for plan {_short(sealed)}, this is plan {_short(plan.digest)}: it was changed after "
        text += "the data, or belongs to another run"
        checks.append(_check("plan_changed", text, sealed=sealed, given=plan.digest))
    checks += _after_data(recording, plan, arm, said, sealed is None)
    checks += _narrower(recording, plan, arm, said, sealed == plan.digest)
    return checks, said


def _without_plan(recording: Recording, sealed: Any) -> tuple[list[Check], list[str]]:
    checks = []
    if sealed is not None:
        checks.append(_check("plan_not_given", f"the run was made for gate plan {_short(sealed)}, which is not given"))
    if recording.plan is None:
        said = "neither the run nor the gate has a plan: what is missing cannot be seen; write a plan file"
        checks.append(_check("no_plan", said))
    return checks, ["no gate plan: nothing shows that the bar was set before the run"]


def _after_data(recording: Recording, plan: GatePlan, arm: str, said: list[str], unsealed: bool) -> list[Check]:
    started = recording.trials.loc[recording.trials["arm"] == arm, "started_at"].dropna()
    if started.empty:
        if unsealed:
            said.append("no trial records when it started, so nothing shows that the plan came first")
        return []
    moments = [moment for text in started if (moment := _moment(text)) is not None]
    if len(moments) < len(started):
        said.append(f"{len(started) - len(moments)} trials have a start that cannot be read as a time with its zone")
    if not moments:
        return []
    first = min(moments)
    written = written_at(plan.created)
    if isinstance(written, datetime):
        late, same_day = written > first, False
    else:
        late, same_day = written > first.date(), written == first.date()
    if same_day and unsealed:
        said.append(f"plan and first trial are of the same day ({plan.created}): a date cannot show which came first")
    if not late:
        return []
    text = f"the plan is dated {plan.created}, the first trial started {first.isoformat()}: it was written after data"
    return [_check("plan_after_data", text, created=plan.created, first_trial=first.isoformat())]


def _moment(text: str) -> datetime | None:
    """Read when a trial started, in its own zone, since a plan's date is that of a desk nearby."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _narrower(recording: Recording, plan: GatePlan, arm: str, said: list[str], sealed: bool) -> list[Check]:
    known = set(recording.trials.loc[recording.trials["arm"] == arm, "trial_id"])
    if recording.plan is not None and arm in recording.plan.arms:
        known |= set(_of_arm(recording.plan, arm))
    left_out = sorted(known - set(_of_arm(plan.planned, arm)))
    if not left_out:
        return []
    text = f"the gate leaves out {len(left_out)} trials that the run planned or recorded, the first is {left_out[0]}"
    if sealed:
        said.append(f"{text}; the sealed plan says so")
        return []
    return [_check("plan_narrower", f"{text}; nothing shows that they were left out before the data", n=len(left_out))]


def _of_arm(plan: Plan, arm: str) -> list[str]:
    return Plan((arm,), plan.tasks, plan.perturbations, plan.variants, plan.repetitions).trial_ids()


def _check(code: str, sentence: str, **numbers: Any) -> Check:
    return Check(kind="plan", name=code, status="cannot_tell", code=code, sentence=sentence, numbers=numbers)


def _short(digest: Any) -> str:
    text = str(digest)
    return text if len(text) < 20 else f"{text[:19]}…"
