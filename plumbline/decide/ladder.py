"""The rules of certification side by side: why one run was printed with a B and with an F."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from plumbline.decide.counted import Counted, count_arm
from plumbline.decide.counting import published_grade
from plumbline.decide.measures import Grade, measured
from plumbline.decide.settings import Settings
from plumbline.decide.words import figure_text, labelled
from plumbline.rules import Policy
from plumbline.stats.clusters import DECLARED_RHO
from plumbline.traces import Plan, Recording

__all__ = ["ladder", "ladder_text"]

_STEPS = (
    ("published", "suite"),
    ("published_fail_all", "suite"),
    ("completed_minimum", "suite"),
    ("planned_minimum", "suite"),
    ("planned_minimum", "tasks"),
)


def ladder(
    recording: Recording,
    *,
    arm: str,
    policy: Policy | None = None,
    measure: str = "critical",
    confidence: float = 0.95,
    ignorable: Mapping[str, str] | Collection[str] = (),
    rho: float = DECLARED_RHO,
    faults: Collection[str] = (),
    grade: Grade | None = None,
    plan: Plan | None = None,
) -> pd.DataFrame:
    """Certify an arm by every rule, one row each, with the reason why the figures differ.

    Parameters
    ----------
    recording : Recording
        The run.
    arm : str
        The arm.
    policy, measure, confidence, ignorable, rho, faults, grade, plan
        As in ``certify``; ``ignorable`` concerns ``planned_minimum`` only.

    Returns
    -------
    DataFrame
        ``rule, release`` (which printed by it), ``bound`` (missing when not available), ``grade`` (published rules
        only), ``attained_by``, ``covered_bound``, ``scope``, ``sidedness``, ``method``, ``missing`` (what becomes of
        missing runs) and ``reason``.

    Raises
    ------
    ParameterError
        As ``certify``.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/retry")
    >>> steps = ladder(run, arm="react", policy=plumb.load_domain(run.domain).policy)
    >>> [None if pd.isna(bound) else round(float(bound), 4) for bound in steps["bound"]]
    [0.9434, 0.4107, 0.8985, None, None]
    """
    found = measured(recording, measure=measure, policy=policy, grade=grade)
    counted = {}
    for rule, scope in _STEPS:
        causes = ignorable if rule == "planned_minimum" else ()
        settings = Settings(
            measure=measure, rule=rule, scope=scope, confidence=confidence, ignorable=causes, rho=rho, faults=faults
        )  # fmt: skip
        counted[rule, scope] = count_arm(recording, found, arm=arm, settings=settings, plan=plan)
    true = counted["completed_minimum", "suite"]
    rows = [_row(rule, scope, made, true) for (rule, scope), made in counted.items()]
    return pd.DataFrame(rows).astype({"bound": "Float64", "covered_bound": "Float64"})


def _row(rule: str, scope: str, made: Counted, true: Counted) -> dict[str, Any]:
    bound = made.figure.bound
    method = made.rule.method.replace("_", "-").title()
    return {
        "rule": rule,
        "release": made.rule.release,
        "bound": bound,
        "grade": published_grade(bound) if made.rule.release and bound is not None else "",
        "attained_by": ", ".join(made.figure.attained_by),
        "covered_bound": made.figure.covered_bound,
        "scope": scope,
        "sidedness": made.sidedness,
        "method": f"Korn-Graubard {method}" if scope == "tasks" else method,
        "missing": made.rule.missing,
        "reason": _reason(made, true),
    }


def _reason(made: Counted, true: Counted) -> str:
    rule, found = made.rule, made.figure
    said = [rule.says]
    missing = sum(cell.missing for cell in made.cells)
    unrecorded = sum(cell.planned - cell.recorded for cell in made.cells)
    if rule.name == "published" and true.figure.bound is not None and found.bound is not None:
        said += _against(found.bound, true)
    if rule.name in ("published", "completed_minimum") and missing:
        said.append(f"{missing} missing runs are left out, as if they would have gone like the others")
    if rule.name == "published_fail_all" and missing:
        said.append(f"{missing - unrecorded} unfinished runs count as failures, {unrecorded} unrecorded ones do not")
    if rule.guards:
        said += _guarded(made, missing)
    elif found.bound is None:
        said.append(f"not available: {'; '.join(found.reasons)}")
    said += [sentence for sentence in made.caution if "skipped" in sentence or "not look at" in sentence]
    return "; ".join(said)


def _against(bound: float, true: Counted) -> list[str]:
    least = true.figure.bound
    if least is None or bound <= least:
        return []
    name = true.figure.attained_by[0]
    cell = next(cell for cell in true.cells if cell.perturbation == name)
    return [f"the smallest of the same bounds is {figure_text(least)} ({name}, {cell.k}/{cell.n})"]


def _guarded(made: Counted, missing: int) -> list[str]:
    found = made.figure
    said = [f"{missing} missing runs enter as failures"] if missing and not made.ignorable else []
    said += [f"{cause} declared ignorable: {reason}" for cause, reason in made.ignorable.items()]
    if found.bound is None:
        said.append(f"not available: {'; '.join(found.reasons)}")
        if found.covered_bound is not None:
            said.append(f"without them {figure_text(found.covered_bound)} ({', '.join(found.covered_by)})")
    return said


def ladder_text(frame: pd.DataFrame) -> str:
    """Return a ladder as plain text, 100 columns wide.

    Parameters
    ----------
    frame : DataFrame
        From ``ladder``.

    Returns
    -------
    str
        One block a rule: figure and grade, what attains it, how it was made, and why.
    """
    blocks = []
    for row in frame.to_dict("records"):
        bound = None if pd.isna(row["bound"]) else float(row["bound"])
        grade = f", grade {row['grade']}" if row["grade"] else ""
        release = f" (release {row['release']})" if row["release"] else ""
        lines = [f"{row['rule'] + release:<36} {row['scope']:<6} {figure_text(bound)}{grade}"]
        if row["attained_by"]:
            lines.append(labelled("attained", row["attained_by"]))
        lines.append(labelled("how", f"{row['method']}, {row['sidedness']}; missing runs: {row['missing']}"))
        lines.append(labelled("because", row["reason"]))
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
