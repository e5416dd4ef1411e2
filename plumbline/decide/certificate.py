"""The certificate of an arm: what is defensible about it, computed as a true minimum, with digests of its evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.decide.bounds import rho_table
from plumbline.decide.cells import Cell
from plumbline.decide.counted import Counted, count_arm
from plumbline.decide.counting import counting_rule
from plumbline.decide.evidence import Evidence, evidence
from plumbline.decide.measures import Grade, Measured, measured
from plumbline.decide.settings import Settings
from plumbline.decide.words import certificate_text
from plumbline.rules import Policy
from plumbline.stats import RhoScenario
from plumbline.stats.clusters import DECLARED_RHO
from plumbline.stats.estimate import Result
from plumbline.traces import Plan, Recording

__all__ = ["Certificate", "certify", "certify_measured"]


@dataclass(frozen=True, kw_only=True)
class Certificate(Result):
    """What can be claimed about an arm, from one run.

    ``bound`` is the figure under ``rule``; None means *not available*, and ``reasons`` say why. ``attained_by`` names
    the conditions with the smallest bound. ``covered_bound`` is, where faults were not met, the figure over the other
    conditions, named in ``covered``: it says nothing about those left out, can rise when they lose runs, and is not the
    certificate.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/parity")
    >>> found = certify(run, arm="react", policy=plumb.load_domain(run.domain).policy, rule="completed_minimum")
    >>> round(found.bound, 6), found.attained_by
    (0.935806, ('tool_fault', 'decoy_tools', 'sampling'))
    """

    arm: str
    run_id: str
    measure: str
    rule: str
    scope: str
    sidedness: str
    confidence: float
    method: str
    bound: float | None
    attained_by: tuple[str, ...]
    covered_bound: float | None
    covered_by: tuple[str, ...]
    covered: tuple[str, ...]
    reasons: tuple[str, ...]
    cells: tuple[Cell, ...]
    tasks: tuple[str, ...]
    ignorable: dict[str, str]
    faults: tuple[str, ...]
    rho: float | None
    rho_table: tuple[RhoScenario, ...]
    threshold: float | None
    plan: dict[str, Any] | None
    plan_source: str
    evidence: Evidence
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the bound is available."""
        return self.bound is not None

    @property
    def passes(self) -> bool | None:
        """Whether the bound reaches the threshold and no condition misses too many runs; None without a threshold."""
        if self.threshold is None:
            return None
        enough = all(cell.can_pass(self.threshold) for cell in self.cells)
        return self.bound is not None and self.bound >= self.threshold and enough

    def cell(self, perturbation: str) -> Cell:
        """Return one condition.

        Raises
        ------
        ParameterError
            The certificate has no such condition.
        """
        for cell in self.cells:
            if cell.perturbation == perturbation:
                return cell
        names = ", ".join(cell.perturbation for cell in self.cells)
        raise ParameterError(f"the certificate has no condition {perturbation!r}; it has {names}")

    def to_frame(self) -> Any:
        """Return one row a condition: counts, ``k`` of ``n``, ``value``, ``bound``, ``state`` and ``reason``."""
        import pandas as pd

        skipped = ("by_task", "causes", "exposure")
        rows = []
        for cell in self.cells:
            row = {name: value for name, value in vars(cell).items() if name not in skipped}
            met = cell.exposure
            rows.append(row | {"faults_planned": met and met.planned, "faults_met": met and met.delivered})
        frame = pd.DataFrame(rows)
        wanted = {"value": "Float64", "bound": "Float64", "faults_planned": "Int64", "faults_met": "Int64"}
        return frame.astype({**wanted, "effective_n": "Float64"})

    def save(self, path: Any) -> Any:
        """Write the certificate as JSON, see ``read_certificate``; the file is replaced in one step."""
        from plumbline.decide.certificate_file import write_certificate

        return write_certificate(self, path)

    def __str__(self) -> str:
        return certificate_text(self)


def certify(
    recording: Recording,
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
    grade: Grade | None = None,
    plan: Plan | None = None,
) -> Certificate:
    """Say what can be claimed about an arm: the smallest lower bound over all planned perturbations.

    Every planned trial counts. One that is missing, or whose success the record cannot tell, is a failure, unless its
    cause is declared ignorable. A perturbation that plans faults supports a claim about faults only if every planned
    trial met its fault or is a failure on record; otherwise it is blocked and the bound is not available, as it is when
    a planned perturbation has no result at all.

    Parameters
    ----------
    recording : Recording
        The run.
    arm : str
        The arm to certify.
    policy : Policy, optional
        The rules; needed unless the measure is ``outcome``.
    measure : {'critical', 'all', 'outcome'}
        A success is a trial without a critical violation, without any violation, or with the right outcome.
    rule : {'planned_minimum', 'completed_minimum', 'published', 'published_fail_all'}
        Only the first is a certificate; the others reproduce published figures beside it, see ``ladder``.
    scope : {'suite', 'tasks'}
        These tasks (Clopper-Pearson), or tasks like these (Korn-Graubard, at least five tasks).
    confidence : float
        Of each condition's bound, in (0, 1). The minimum holds at the same level, uncorrected.
    sidedness : {'lower', 'two-sided'}, optional
        ``lower`` by default; the rules beside the certificate are two-sided, as published.
    ignorable : mapping of str to str
        Status of missing trials to the reason why it cannot depend on what the agent does. Such trials are left out.
        A violation already committed in one of them still counts.
    rho : float
        Correlation of the runs of one task, declared for data that cannot show it, in [0, 1].
    threshold : float, optional
        What the bound is held against, in (0, 1); a condition that misses more than ``1 - threshold`` cannot pass.
    faults : collection of str
        Perturbations that plan faults, besides those the record shows.
    grade : callable, optional
        ``grade(outcome, context)``; needed if the measure is ``outcome``.
    plan : Plan, optional
        What the trials are counted against, by default the run's own plan.

    Returns
    -------
    Certificate

    Raises
    ------
    ParameterError
        An arm, rule, scope, cause or value that is not possible.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/retry")
    >>> found = certify(run, arm="react", policy=plumb.load_domain(run.domain).policy)
    >>> found.bound, found.cell("tool_fault").state, round(found.covered_bound, 4), found.covered_by
    (None, 'blocked', 0.4214, ('decoy_tools',))

    References
    ----------
    Berger (1982), Technometrics 24, 295 (the minimum needs no correction). Clopper and Pearson (1934), Biometrika 26,
    404. Korn and Graubard (1998), Survey Methodology 24, 193. Manski (2003), Partial Identification, chapter 1.
    """
    settings = Settings(
        measure=measure, rule=rule, scope=scope, confidence=confidence, sidedness=sidedness, ignorable=ignorable,
        rho=rho, threshold=threshold, faults=faults,
    )  # fmt: skip
    counting_rule(rule, scope=scope, sidedness=sidedness)
    found = measured(recording, measure=measure, policy=policy, grade=grade)
    return certify_measured(recording, found, arm=arm, settings=settings, plan=plan)


def certify_measured(
    recording: Recording, found: Measured, *, arm: str, settings: Settings, plan: Plan | None = None
) -> Certificate:
    """Certify from trials that were already judged, see ``certify``."""
    counted = count_arm(recording, found, arm=arm, settings=settings, plan=plan)
    over_all, by_tasks = counted.figure, settings.scope == "tasks"
    method = counted.rule.method.replace("_", "-").title()
    return Certificate(
        arm=arm,
        run_id=recording.run_id,
        measure=settings.measure,
        rule=counted.rule.name,
        scope=settings.scope,
        sidedness=counted.sidedness,
        confidence=float(settings.confidence),
        method=f"Korn-Graubard {method}" if by_tasks else method,
        bound=over_all.bound,
        attained_by=over_all.attained_by,
        covered_bound=over_all.covered_bound,
        covered_by=over_all.covered_by,
        covered=over_all.covered,
        reasons=over_all.reasons,
        cells=counted.cells,
        tasks=counted.tasks,
        ignorable=counted.ignorable,
        faults=counted.faults,
        rho=float(settings.rho) if by_tasks else None,
        rho_table=rho_table(counted.cells, confidence=settings.confidence, rho=settings.rho) if by_tasks else (),
        threshold=settings.threshold,
        plan=None if counted.plan is None else counted.plan.to_dict(),
        plan_source="recorded" if counted.plan is None else "run" if plan is None else "given",
        evidence=evidence(
            recording, arm=arm, measured=found, plan=counted.plan, parameters=_parameters(arm, settings, counted, plan)
        ),
        caution=counted.caution,
    )


def _parameters(arm: str, settings: Settings, counted: Counted, plan: Plan | None) -> dict[str, Any]:
    asked = {name: getattr(settings, name) for name in ("measure", "rule", "scope", "confidence", "rho", "threshold")}
    return asked | {
        "arm": arm,
        "sidedness": counted.sidedness,
        "ignorable": counted.ignorable,
        "faults": list(counted.faults),
        "plan": None if plan is None else plan.to_dict(),
    }
