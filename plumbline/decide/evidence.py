"""What a certificate rests on, as digests: rows of the run, tasks, plan, policy, grader, parameters, version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plumbline._version import __version__
from plumbline.base.canonical import canonical_json
from plumbline.decide.measures import Measured
from plumbline.rules.fingerprint import callable_digest, callable_name
from plumbline.stats.estimate import Result
from plumbline.traces import Plan, Recording
from plumbline.traces.digest import run_digest, trial_digests

__all__ = ["Evidence", "digest_of", "evidence"]

_SHORT = 16


@dataclass(frozen=True, kw_only=True)
class Evidence(Result):
    """Digests of everything that decides a certificate.

    ``run`` covers every row of the run (arguments, results, errors, outcomes, prompts), its tasks and its own plan;
    ``arm`` the rows of the arm; ``trials`` one short digest a trial, so that a changed row is named; ``plan`` what the
    trials were counted against.
    """

    run_id: str
    run: str
    arm: str
    tasks: str
    plan: str | None
    policy: str | None
    policy_name: str | None
    grade: str | None
    grade_name: str | None
    parameters: str
    version: str
    trials: dict[str, str]


def digest_of(value: Any) -> str:
    """Return the digest of a JSON value as ``sha256:…``."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()


def evidence(
    recording: Recording, *, arm: str, measured: Measured, plan: Plan | None, parameters: Mapping[str, Any]
) -> Evidence:
    """Take the digests of what a certificate of an arm rests on."""
    # Taken from the rows as they are now, not from what a recording remembers: a frame can be changed in place.
    found = trial_digests(recording.trials, recording.steps)
    every = dict(zip(recording.trials["trial_id"], found, strict=True))
    own = recording.trials["arm"] == arm
    digests = {name: digest for (name, digest), mine in zip(every.items(), own, strict=True) if mine}
    made_from = None if recording.plan is None else recording.plan.to_dict()
    policy, grade = measured.policy, measured.grade
    return Evidence(
        run_id=recording.run_id,
        run=run_digest(list(every.values()), recording.tasks, made_from),
        arm=digest_of(list(digests.values())),
        tasks=digest_of(recording.tasks),
        plan=None if plan is None else digest_of(plan.to_dict()),
        policy=None if policy is None else policy.digest,
        policy_name=None if policy is None else f"{policy.name} version {policy.version}",
        grade=None if grade is None else callable_digest(grade),
        grade_name=None if grade is None else callable_name(grade),
        parameters=digest_of(parameters),
        version=__version__,
        trials={name: digest[:_SHORT] for name, digest in digests.items()},
    )
