"""Verification: a certificate made again from the traces, and every place where it comes out otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.errors import DigestError, InputError, ParameterError
from plumbline.decide.certificate import Certificate, certify_measured
from plumbline.decide.measures import Grade, measured
from plumbline.decide.settings import Settings
from plumbline.decide.words import wrapped
from plumbline.rules import Policy
from plumbline.stats.estimate import Result
from plumbline.traces import Plan, Recording, read_run

__all__ = ["Difference", "VerifyReport", "verify"]

_RELATIVE = 1e-9
_SHOWN = 5
_BOUNDS = ("bound", "attained_by", "covered_bound", "covered_by", "covered", "rho_table")


@dataclass(frozen=True, kw_only=True)
class Difference(Result):
    """One place where a certificate is not what its evidence gives.

    ``what`` is ``rows``, ``tasks``, ``plan``, ``policy``, ``grade``, ``parameters``, ``cells``, ``bound``, ``words`` or
    ``derivation`` (it cannot be made again at all).
    """

    what: str
    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: {self.where}: the certificate says {self.expected}, the evidence gives {self.found}"


@dataclass(frozen=True, kw_only=True)
class VerifyReport(Result):
    """Whether a certificate holds: every difference, and notes that are no difference."""

    certificate: Certificate
    derived: Certificate | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the certificate was made again and came out the same."""
        return self.derived is not None and not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values, without the two certificates."""
        return {
            "ok": self.ok,
            "arm": self.certificate.arm,
            "run_id": self.certificate.run_id,
            "bound": self.certificate.bound,
            "derived_bound": None if self.derived is None else self.derived.bound,
            "differences": [difference.to_dict() for difference in self.differences],
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """Return one row a difference: ``what, where, expected, found``; no row means that it holds only if ``ok``."""
        import pandas as pd

        rows = [difference.to_dict() for difference in self.differences]
        return pd.DataFrame(rows, columns=["what", "where", "expected", "found"])

    def __str__(self) -> str:
        head = f"certificate of {self.certificate.run_id}, arm {self.certificate.arm}: "
        head += "holds, made again from the traces" if self.ok else "DOES NOT HOLD"
        lines = [head, *(wrapped(str(difference), first="  ", rest="    ") for difference in self.differences)]
        return "\n".join([*lines, *(wrapped(note, first="  ! ", rest="    ") for note in self.notes)])


def verify(
    certificate: Certificate,
    run: Recording | str | Path,
    policy: Policy | None = None,
    *,
    grade: Grade | None = None,
) -> VerifyReport:
    """Make a certificate again from the traces and say exactly what differs.

    Parameters
    ----------
    certificate : Certificate
        From ``read_certificate`` or ``certify``.
    run : Recording or path
        The run, or its folder.
    policy : Policy, optional
        The policy; needed if the certificate was made with one.
    grade : callable, optional
        The grader; needed if the measure is ``outcome``.

    Returns
    -------
    VerifyReport
        A run folder whose rows are not the rows that were saved is a difference, not an error.

    Raises
    ------
    ParameterError
        The policy or the grader that the certificate was made with is not given.
    NotFoundError
        There is no run at this path.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/parity")
    >>> policy = plumb.load_domain(run.domain).policy
    >>> print(verify(run.certify(arm="react", policy=policy), run, policy))
    certificate of parity, arm react: holds, made again from the traces
    """
    try:
        recording = run if isinstance(run, Recording) else read_run(Path(run), Recording)
    except DigestError as error:
        saved = Difference(what="rows", where=str(run), expected="the rows that were saved", found=str(error))
        return VerifyReport(certificate=certificate, derived=None, differences=(saved,))
    made_with = certificate.evidence
    if made_with.policy is not None and policy is None:
        raise ParameterError(f"the certificate was made with policy {made_with.policy_name}; give policy=")
    if certificate.measure == "outcome" and grade is None:
        raise ParameterError(f"the certificate is about outcomes, judged by {made_with.grade_name}; give grade=")
    try:
        derived = _again(certificate, recording, policy, grade)
    except InputError as error:
        failed = Difference(what="derivation", where="the whole certificate", expected="figures", found=str(error))
        return VerifyReport(certificate=certificate, derived=None, differences=(failed,))
    notes = []
    if derived.evidence.version != made_with.version:
        notes.append(f"made by plumbline {made_with.version}, made again by {derived.evidence.version}")
    return VerifyReport(
        certificate=certificate,
        derived=derived,
        differences=(*_evidence(certificate, derived), *_figures(certificate, derived)),
        notes=tuple(notes),
    )


def _again(certificate: Certificate, recording: Recording, policy: Policy | None, grade: Grade | None) -> Certificate:
    found = measured(recording, measure=certificate.measure, policy=policy, grade=grade)
    settings = Settings(
        measure=certificate.measure,
        rule=certificate.rule,
        scope=certificate.scope,
        confidence=certificate.confidence,
        sidedness=certificate.sidedness,
        ignorable=certificate.ignorable,
        threshold=certificate.threshold,
        faults=certificate.faults,
        **({} if certificate.rho is None else {"rho": certificate.rho}),
    )
    given = certificate.plan is not None and certificate.plan_source == "given"
    plan = Plan.from_dict(certificate.plan) if given and certificate.plan is not None else None
    return certify_measured(recording, found, arm=certificate.arm, settings=settings, plan=plan)


def _evidence(old: Certificate, new: Certificate) -> list[Difference]:
    made = [*_rows(old, new)]
    for what in ("tasks", "plan", "policy", "grade", "parameters"):
        was, now = getattr(old.evidence, what), getattr(new.evidence, what)
        if was != now:
            names = f"{old.evidence.policy_name} / {new.evidence.policy_name}"
            where = names if what == "policy" else f"digest of the {what}"
            made.append(Difference(what=what, where=where, expected=_short(was), found=_short(now)))
    if old.plan != new.plan:
        made.append(Difference(what="plan", where="planned trials", expected=_short(old.plan), found=_short(new.plan)))
    return made


def _rows(old: Certificate, new: Certificate) -> list[Difference]:
    was, now = old.evidence.trials, new.evidence.trials
    groups = {
        "changed": [name for name in was if name in now and now[name] != was[name]],
        "gone": [name for name in was if name not in now],
        "new": [name for name in now if name not in was],
    }
    made = [
        Difference(
            what="rows",
            where=f"{len(names)} trials {kind}",
            expected=f"the rows of {', '.join(names[:_SHOWN])}" + (" …" if len(names) > _SHOWN else ""),
            found={"changed": "other rows", "gone": "no such trials", "new": "trials it does not know"}[kind],
        )
        for kind, names in groups.items()
        if names
    ]
    for name, where in (("arm", f"arm {old.arm}"), ("run", f"the run outside arm {old.arm}, its tasks or its plan")):
        one, other = getattr(old.evidence, name), getattr(new.evidence, name)
        if not made and one != other:
            made.append(Difference(what="rows", where=where, expected=_short(one), found=_short(other)))
    return made


def _figures(old: Certificate, new: Certificate) -> list[Difference]:
    made = []
    was, now = old.to_dict(), new.to_dict()
    for name in was:
        if name in ("evidence", "plan", "cells") or same(was[name], now[name]):
            continue
        what = "bound" if name in _BOUNDS else "words"
        made.append(Difference(what=what, where=name, expected=_short(was[name]), found=_short(now[name])))
    cells = {cell["perturbation"]: cell for cell in now["cells"]}
    for cell in was["cells"]:
        other = cells.pop(cell["perturbation"], None)
        if other is None:
            made.append(_cell(cell["perturbation"], "a condition", "none"))
            continue
        odd = [key for key in cell if key != "by_task" and not same(cell[key], other[key])]
        if not odd and not same(cell["by_task"], other["by_task"]):
            odd = ["by_task"]
        made += [_cell(f"{cell['perturbation']}.{key}", cell[key], other[key]) for key in odd]
    return made + [_cell(name, "none", "a condition") for name in cells]


def _cell(where: str, expected: Any, found: Any) -> Difference:
    return Difference(what="cells", where=where, expected=_short(expected), found=_short(found))


def same(one: Any, other: Any) -> bool:
    """Say whether two JSON values are equal, numbers with a fraction to a relative 1e-9."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=1e-15)
    return type(one) is type(other) and bool(one == other)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}…"
