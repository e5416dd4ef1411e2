"""The standard report of a run, written and saved: one page that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from plumbline import analysis, decide
from plumbline._version import __version__
from plumbline.base.errors import ParameterError
from plumbline.rules import Policy, check
from plumbline.running.describing import digest
from plumbline.show.standard.book import Book
from plumbline.show.standard.sections import SECTIONS
from plumbline.show.standard.words import SUCCESS, plain
from plumbline.traces import Recording, write_text

__all__ = ["StandardReport", "standard_report"]

Grade = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
_SETUP = """import plumbline as plumb
from plumbline import analysis, decide, show
from plumbline.show import standard

run = plumb.read_run({run!r})  # the run folder
policy = ...  # {policy} (digest {digest})
verdicts = run.check(policy)"""
_NOTE = "Bars: Wilson intervals, trials taken as independent. The number of trials stands at each row."


@dataclass(frozen=True)
class StandardReport:
    """Where a report is, and what it says first.

    Parameters
    ----------
    page : Path
        The HTML page.
    answer : str
        Its answer as text.
    """

    page: Path
    answer: str

    def __str__(self) -> str:
        return f"{self.answer}\n\nreport    {self.page}"


def standard_report(
    run: Recording,
    policy: Policy,
    *,
    out: str | Path,
    measure: str = "critical",
    grade: Grade | None = None,
    argument_rules: Any = None,
    confidence: float = 0.95,
    title: str | None = None,
) -> StandardReport:
    """Write a conformance report of any run with any policy.

    Parameters
    ----------
    run : Recording
        The run.
    policy : Policy
        What must be kept.
    out : path
        The page to write; an old one stays until the new one is whole.
    measure : {'critical', 'all', 'outcome'}
        What a success is: no critical rule violated, no rule violated, or the right outcome.
    grade : callable, optional
        ``grade(outcome, context)``; needed for outcomes.
    argument_rules : ArgumentRules or mapping, optional
        How arguments are compared between trials; exactly by default.
    confidence : float
        Of every interval, in (0, 1).
    title : str, optional
        Title of the page.

    Returns
    -------
    StandardReport
        The same run and policy give the same bytes.

    Raises
    ------
    ParameterError
        An unknown measure, outcomes without a grader, or a run without trials.
    """
    from plumbline.show.render import enable
    from plumbline.show.report import ReportExporter

    if measure not in SUCCESS:
        raise ParameterError(f"measure {measure!r} is not known; there are {', '.join(SUCCESS)}")
    if measure == "outcome" and grade is None:
        raise ParameterError("outcomes need a grader: give grade=, or a domain that has one")
    verdicts = check(run, policy)
    ok = _ok(run, verdicts, measure, grade)
    certificates = [
        decide.certify(run, arm=arm, policy=policy, measure=measure, grade=grade, confidence=confidence)
        for arm in run.arms
    ]
    book = _book(run, policy, verdicts, ok, certificates, measure, grade, argument_rules, confidence)
    enable()
    name = title or f"Conformance of run {run.run_id}"
    book.prose(f"# {plain(name)}\n\n{_lead(run, policy, measure)}")
    book.code("standard.answer(run, ok, certificates, measure=measure)", name="answer", tags=("answer",))
    book.shown(_SETUP.format(run=run.run_id, policy=policy.name, digest=policy.digest[:19]))
    for section in SECTIONS:
        section(book)
    notebook = book.notebook()
    notebook.metadata["plumbline"] = {"title": name, **_provenance(run, policy, measure, confidence)}
    page, _ = ReportExporter().from_notebook_node(notebook)
    target = Path(out)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, page)
    from plumbline.show.standard.words import answer

    return StandardReport(target, str(answer(run, ok, certificates, measure=measure)))


def _ok(run: Recording, verdicts: Any, measure: str, grade: Grade | None) -> pd.Series:
    if measure == "outcome" and grade is not None:
        return analysis.graded(run, grade)
    worst: pd.Series = verdicts.conforms(severity="critical" if measure == "critical" else "low")
    return worst


def _book(
    run: Recording, policy: Policy, verdicts: Any, ok: pd.Series, certificates: list[Any], measure: str,
    grade: Grade | None, argument_rules: Any, confidence: float,
) -> Book:  # fmt: skip
    from plumbline import show
    from plumbline.show import standard

    baseline = "baseline" if "baseline" in run.perturbations else None
    return Book({
        "run": run, "policy": policy, "verdicts": verdicts, "ok": ok, "certificates": certificates, "measure": measure,
        "grade": grade, "argument_rules": argument_rules, "confidence": confidence, "baseline": baseline,
        "incumbent": run.arms[0], "interval_note": _NOTE, "show": show, "standard": standard, "analysis": analysis,
        "decide": decide,
    })  # fmt: skip


def _lead(run: Recording, policy: Policy, measure: str) -> str:
    sources = ", ".join(sorted(run.trials["provenance"].unique())) or "nothing on record"
    return (
        f"Run **{plain(run.run_id)}** against the {len(policy)} rules of policy **{plain(policy.name)}**. A success is "
        f"a trial with {SUCCESS[measure]}. Where the records come from: {plain(sources.replace('_', ' '))}."
    )


def _provenance(run: Recording, policy: Policy, measure: str, confidence: float) -> dict[str, Any]:
    from importlib.metadata import version

    told: dict[str, Any] = {
        "runs": {run.run_id: run.digest}, "policy": f"{policy.name} version {policy.version}, {policy.digest}",
        "measure": f"{SUCCESS[measure]}; intervals at {100 * confidence:g} %",
        "pins": "none: this report belongs to no study",
        "versions": {"plumbline": __version__} | {name: version(name) for name in ("pandas", "scipy", "pyarrow")},
    }  # fmt: skip
    if run.plan is not None:
        told["plan"] = digest(run.plan.to_dict())
    return told
