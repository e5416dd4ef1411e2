"""The gate: ship, hold or escalate, each with its grounds.

*ship*: every planned condition is covered, its exposure complete, its lower bound at least the threshold; every
critical rule is upheld, the loss against the incumbent is within the margin, and nothing speaks against the plan.
*hold*: the evidence shows that the bar is not met. Even with every open run going well, the upper bound of a condition
(corrected for the number of conditions) lies below the threshold, or the loss exceeds the margin; or a critical rule
was violated in a single trial.
*escalate*: everything else. The evidence cannot tell, or the plan cannot be trusted; a person decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.decide.certificate import Certificate, certify_measured
from plumbline.decide.checks import Check, cell_checks, rule_checks
from plumbline.decide.comparison import comparison_check
from plumbline.decide.counted import count_arm
from plumbline.decide.gate_plan import GatePlan
from plumbline.decide.measures import Grade, Measured, measured
from plumbline.decide.reports import decision_text, junit_xml, markdown_summary
from plumbline.decide.sealing import plan_checks
from plumbline.decide.settings import Settings, share
from plumbline.rules import Policy
from plumbline.stats.estimate import Result
from plumbline.traces import Recording

__all__ = ["EXIT_CODES", "Decision", "gate"]

EXIT_CODES = {"ship": 0, "hold": 1, "escalate": 3}


@dataclass(frozen=True, kw_only=True)
class Decision(Result):
    """What a gate decided, with every question it asked.

    ``checks`` holds one answer for each planned condition, each critical rule, and whatever else was asked; ``caution``
    what a reader must know although it decided nothing.
    """

    decision: str
    arm: str
    run_id: str
    threshold: float
    checks: tuple[Check, ...]
    certificate: Certificate
    plan_digest: str | None
    caution: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 for ship, 1 for hold, 3 for escalate."""
        return EXIT_CODES[self.decision]

    @property
    def reasons(self) -> tuple[Check, ...]:
        """The checks that made the decision: those that fail, else those that cannot tell, else all."""
        wanted = {"hold": "fail", "escalate": "cannot_tell", "ship": "pass"}[self.decision]
        return tuple(check for check in self.checks if check.status == wanted)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as JSON values."""
        return {"schema": "plumbline.decision/1", "exit_code": self.exit_code, **super().to_dict()}

    def to_frame(self) -> Any:
        """Return one row a check: ``kind, name, status, code, sentence``."""
        import pandas as pd

        names = ("kind", "name", "status", "code", "sentence")
        return pd.DataFrame([{name: getattr(check, name) for name in names} for check in self.checks])

    def junit(self) -> str:
        """Return the decision as JUnit XML: one test case for each condition, critical rule and further ground."""
        return junit_xml(self)

    def markdown(self) -> str:
        """Return the decision as Markdown, for a job summary."""
        return markdown_summary(self)

    def __str__(self) -> str:
        return decision_text(self)


def gate(
    recording: Recording,
    *,
    arm: str,
    policy: Policy | None = None,
    plan: GatePlan | None = None,
    min_bound: float | None = None,
    incumbent: str | None = None,
    grade: Grade | None = None,
) -> Decision:
    """Decide about a release: ship, hold or escalate.

    Parameters
    ----------
    recording : Recording
        The run.
    arm : str
        The arm to be released.
    policy : Policy, optional
        The rules; needed for critical rules and unless the measure is ``outcome``.
    plan : GatePlan, optional
        The plan written before the run; without it only the bound is asked, for critical conformance of these tasks.
    min_bound : float, optional
        The threshold, where no plan gives it, in (0, 1).
    incumbent : str, optional
        The arm to compare with; must be that of the plan, which has the margin.
    grade : callable, optional
        ``grade(outcome, context)``; needed if the measure is ``outcome``.

    Returns
    -------
    Decision

    Raises
    ------
    ParameterError
        No threshold, two different ones, an unknown arm or rule, or an incumbent without a margin.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/determinism")
    >>> found = gate(run, arm="react", policy=plumb.load_domain(run.domain).policy, min_bound=0.95)
    >>> found.decision, [check.name for check in found.reasons]
    ('hold', ['tool_fault'])

    References
    ----------
    Berger (1982), Technometrics 24, 295. Manski (2003), Partial Identification of Probability Distributions, chapter 1.
    """
    threshold = _threshold(plan, min_bound)
    if incumbent is not None and (plan is None or plan.incumbent != incumbent):
        raise ParameterError(f"incumbent is {incumbent!r}; a comparison needs a plan with that incumbent and a margin")
    settings = _settings(plan, threshold)
    found = measured(recording, measure=settings.measure, policy=policy, grade=grade)
    planned = None if plan is None else plan.planned
    certificate = certify_measured(recording, found, arm=arm, settings=settings, plan=planned)
    checks = cell_checks(certificate.cells, settings, threshold)
    checks += rule_checks(recording, found, arm, () if plan is None else plan.critical_rules)
    if plan is not None and plan.incumbent is not None:
        checks.append(_against(recording, found, arm, plan, settings, certificate))
    doubts, said = plan_checks(recording, plan, arm=arm)
    checks += doubts
    statuses = {check.status for check in checks}
    decision = "hold" if "fail" in statuses else "escalate" if "cannot_tell" in statuses else "ship"
    return Decision(
        decision=decision,
        arm=arm,
        run_id=recording.run_id,
        threshold=threshold,
        checks=tuple(checks),
        certificate=certificate,
        plan_digest=None if plan is None else plan.digest,
        caution=(*said, *(told for told in certificate.caution if " cannot pass: " not in told)),  # a check says that
    )


def _threshold(plan: GatePlan | None, min_bound: float | None) -> float:
    if min_bound is not None:
        share(min_bound, "min_bound")
    if plan is None:
        if min_bound is None:
            raise ParameterError("a gate needs a bar: give plan= or min_bound=, such as 0.95")
        return float(min_bound)
    if min_bound is not None and min_bound != plan.threshold:
        raise ParameterError(f"min_bound is {min_bound:g}, the plan says {plan.threshold:g}; leave min_bound out")
    return plan.threshold


def _settings(plan: GatePlan | None, threshold: float) -> Settings:
    if plan is None:
        return Settings(threshold=threshold)
    return Settings(
        measure=plan.measure,
        scope=plan.scope,
        confidence=plan.confidence,
        ignorable=plan.ignorable,
        rho=plan.rho,
        threshold=threshold,
        faults=plan.faults,
    )


def _against(
    recording: Recording, found: Measured, arm: str, plan: GatePlan, settings: Settings, certificate: Certificate
) -> Check:
    assert plan.incumbent is not None
    assert plan.margin is not None
    other = count_arm(recording, found, arm=plan.incumbent, settings=settings, plan=plan.planned)
    return comparison_check(
        recording,
        found,
        arm=arm,
        incumbent=plan.incumbent,
        margin=plan.margin,
        cells={arm: certificate.cells, plan.incumbent: other.cells},
        settings=settings,
        plan=plan.planned,
    )
