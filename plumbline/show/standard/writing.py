"""The standard report of a run, written and saved: one page that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline._version import __version__
from plumbline.base.errors import ParameterError
from plumbline.rules import Policy
from plumbline.running.describing import digest
from plumbline.show.standard.book import Book
from plumbline.show.standard.sections import SECTIONS
from plumbline.show.standard.words import SUCCESS, plain
from plumbline.traces import Recording, write_text

__all__ = ["StandardReport", "standard_report"]

Grade = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
_SETUP = """run = plumb.read_run({run!r})  # the run folder
policy = ...  # {policy!r}, version {version}, {digest}
measure, baseline, confidence = {measure!r}, {baseline!r}, {confidence!r}
grade, argument_rules = {grade}, {argument_rules}"""
_OPENING = """import plumbline as plumb
from plumbline import analysis, decide, show
from plumbline.show import standard

verdicts = plumb.check(run, policy)
ok = {ok}  # one value a trial, missing where it cannot be told
asked = {{"policy": policy, "measure": measure, "grade": grade, "confidence": confidence}}
certificates = [decide.certify(run, arm=arm, **asked) for arm in run.arms]
interval_note = f"Bars: Wilson score interval, {{100 * confidence:g}} %, trials taken as independent.\""""
_OK = {
    "critical": 'verdicts.conforms("critical")',
    "all": 'verdicts.conforms("low")',
    "outcome": "analysis.graded(run, grade)",
}


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
    from plumbline.show.report import ReportExporter

    if measure not in SUCCESS:
        raise ParameterError(f"measure {measure!r} is not known; there are {', '.join(SUCCESS)}")
    if run.trials.empty:
        raise ParameterError(f"run {run.run_id!r} holds no trial; there is nothing to report")
    if measure == "outcome" and grade is None:
        raise ParameterError("outcomes need a grader: give grade=, or a domain that has one")
    asked = {"measure": measure, "confidence": confidence, "baseline": _baseline(run)}
    given = {"run": run, "policy": policy, "grade": grade, "argument_rules": argument_rules, "incumbent": run.arms[0]}
    book = Book({**given, **asked})
    name = title or f"Conformance of run {run.run_id}"
    book.prose(f"# {plain(name)}\n\n{_lead(run, policy, measure)}")
    named = {"run": run.run_id, "policy": policy.name, "version": policy.version, "digest": policy.digest[:19]}
    named["grade"] = "None" if grade is None else "domain.grade"
    named["argument_rules"] = "None" if argument_rules is None else "domain.argument_fields"
    book.shown(_SETUP.format(**named, **asked))
    book.code(_OPENING.format(ok=_OK[measure]), name="opening")
    told = book.code("standard.answer(run, ok, certificates, measure=measure)", name="answer", tags=("answer",))
    for section in SECTIONS:
        section(book)
    notebook = book.notebook()
    words = {
        "title": name, "eyebrow": "Standard conformance report",
        "footer": f"Made by plumbline {__version__} from a run and a policy. The page is complete by itself.",
    }  # fmt: skip
    notebook.metadata["plumbline"] = {**words, **_provenance(run, policy, measure, confidence)}
    page, _ = ReportExporter().from_notebook_node(notebook)
    target = Path(out)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, page)
    return StandardReport(target, str(told))


def _baseline(run: Recording) -> str | None:
    """Return the perturbation that changes nothing, where the run says which one that is."""
    first = run.perturbations[0]
    return first if run.plan is not None or first == "baseline" else None


def _lead(run: Recording, policy: Policy, measure: str) -> str:
    sources = ", ".join(sorted(run.trials["provenance"].unique())) or "nothing on record"
    return (
        f"Run **{plain(run.run_id)}** against the {len(policy)} rules of policy **{plain(policy.name)}**. A success is "
        f"a trial with {SUCCESS[measure]}. Where the records come from: {plain(sources.replace('_', '-'))}."
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
