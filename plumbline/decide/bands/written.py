"""A report of bands for people and for machines: plain text, HTML for a notebook, JUnit XML, Markdown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from plumbline.decide.bands.rows import Row
from plumbline.decide.reports import markdown_safe, xml_safe
from plumbline.decide.words import wrapped

if TYPE_CHECKING:
    from plumbline.decide.bands.report import BandReport, FieldDecision

__all__ = ["counted", "junit_xml", "markdown_summary", "number", "report_html", "report_text"]

FEW = 4
"""Rows of one verdict and field in plain text and in a notebook."""
MOST = 20
"""Rows of one verdict and field in Markdown."""
_SAID = {"cannot_tell": "cannot tell"}


def number(found: Row) -> str:
    """Write a measured value with its unit."""
    if found.value is None:
        return ""
    return f"{found.value:.3g}x" if found.unit == "x" else f"{found.value:.3f}"


def _word(verdict: str) -> str:
    return _SAID.get(verdict, verdict)


def counted(decision: FieldDecision) -> str:
    """Write the rows of a field by verdict."""
    return ", ".join(f"{n} {_word(verdict)}" for verdict, n in decision.counts.items())


def _head(report: BandReport) -> str:
    return (
        f"{report.decision.upper()}: {report.candidate_arm} ({report.candidate.run_id}) against {report.baseline_arm} "
        f"({report.baseline.run_id}), {report.fixtures} fixtures, bands version {report.bands.version}"
    )


def _unpaired(report: BandReport) -> list[str]:
    said = []
    for names, where in ((report.only_baseline, "baseline"), (report.only_candidate, "candidate")):
        if names:
            shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
            said.append(f"{len(names)} fixtures only in the {where}: {shown}")
    return said


def by_kind(moved: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return what moved by verdict and field, in order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for each in moved:
        found.setdefault((each.verdict, each.field), []).append(each)
    return found


def _line(found: Row) -> str:
    parts = [found.fixture, found.field, number(found), found.note, found.evidence]
    return "  ".join(part for part in parts if part)


def report_text(report: BandReport) -> str:
    """Return the report as plain text: the decision, the fields, and what moved."""
    lines = [_head(report)]
    for found in report.decisions:
        lines.append(f"  {_word(found.decision):<12} {found.field:<10} {counted(found)} [{found.severity}]")
    lines += [f"  ! {said}" for said in _unpaired(report)]
    noisy = [found for found in report.noise if found.state != "usable"]
    lines += [wrapped(f"noise of {f.field}: {f.said}", first="  ! ", rest="    ") for f in noisy[:4]]
    moved = report._moved
    lines.append(f"what moved: {len(moved)} of {len(report.rows)} rows")
    for (verdict, field), rows in by_kind(moved).items():
        for each in rows[:FEW]:
            lines.append(wrapped(_line(each), first=f"  {_word(verdict):<12} ", rest=" " * 15))
        if len(rows) > FEW:
            lines.append(f"  {_word(verdict):<12} … and {len(rows) - FEW} more of {field}")
    return "\n".join(lines)


def report_html(report: BandReport) -> str:
    """Return the report for a notebook: the decision, a table of fields, and what moved."""
    fields = "".join(
        f"<tr><td>{html.escape(_word(d.decision))}</td><td>{d.field}</td><td>{html.escape(counted(d))}</td>"
        f"<td>{d.severity}</td><td>{html.escape(d.noise)}</td></tr>"
        for d in report.decisions
    )
    shown = [each for rows in by_kind(report._moved).values() for each in rows[:FEW]]
    rows = "".join(
        f"<tr><td>{_word(r.verdict)}</td><td>{html.escape(r.fixture)}</td><td>{r.field}</td><td>{number(r)}</td>"
        f"<td>{html.escape(r.band)}</td><td>{html.escape(r.note)}</td><td>{html.escape(r.evidence)}</td></tr>"
        for r in shown
    )
    more = len(report._moved) - len(shown)
    return (
        f"<p><strong>{html.escape(_head(report))}</strong></p>"
        "<table><thead><tr><th>decision</th><th>field</th><th>rows</th><th>severity</th>"
        "<th>re-runs of the incumbent</th>"
        f"</tr></thead><tbody>{fields}</tbody></table>"
        f"<p>What moved: {len(report._moved)} of {len(report.rows)} rows.</p>"
        "<table><thead><tr><th>verdict</th><th>fixture</th><th>field</th><th>value</th><th>band</th><th>note</th>"
        f"<th>evidence</th></tr></thead><tbody>{rows}</tbody></table>"
        + (f"<p>… and {more} more: <code>.moved()</code></p>" if more > 0 else "")
    )


def junit_xml(report: BandReport) -> str:
    """Return JUnit XML.

    A failure that blocks is a failure; what nobody can tell, an unusable band and the grey zone of a blocking field are
    errors, so that neither is ever green; a waived failure is skipped and says so. A failure graded as a warning is
    said in the output of its case.
    """
    cases: list[tuple[Row, str]] = [(found, _outcome(found)) for found in report.rows]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(kind == "failure" for _, kind in cases)),
        "errors": str(sum(kind == "error" for _, kind in cases)),
        "skipped": str(sum(kind == "skipped" for _, kind in cases)),
    }
    suites = ElementTree.Element("testsuites", {"name": "plumbline bands", **counts})
    name = f"plumbline.bands.{report.candidate.run_id}.{report.candidate_arm}"
    suite = ElementTree.SubElement(suites, "testsuite", {"name": xml_safe(name), **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (
        ("decision", report.decision),
        ("bands_version", str(report.bands.version)),
        ("bands", report.bands.digest),
        ("baseline", report.baseline.digest),
        ("candidate", report.candidate.digest),
        ("scorer", " ".join(report.scorer)),
    ):
        ElementTree.SubElement(properties, "property", {"name": key, "value": xml_safe(value)})
    for found, kind in cases:
        words = {"classname": f"plumbline.bands.{found.field}", "name": xml_safe(found.fixture)}
        case = ElementTree.SubElement(suite, "testcase", words)
        said = xml_safe("  ".join(part for part in (number(found), found.band, found.note, found.evidence) if part))
        if kind:
            ElementTree.SubElement(case, kind, {"type": found.verdict, "message": xml_safe(found.note)}).text = said
        elif found.moved:
            ElementTree.SubElement(case, "system-out").text = f"{found.verdict}: {said}"
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _outcome(found: Row) -> str:
    if found.verdict == "waived":
        return "skipped"
    if found.severity != "block" or found.verdict == "pass":
        return ""
    return "failure" if found.verdict == "fail" else "error"


def markdown_summary(report: BandReport) -> str:
    """Return Markdown: the decision, a table of fields, what moved, and the digests."""
    md = markdown_safe
    lines = [
        f"## {report.decision.capitalize()}: {md(report.candidate_arm)} against {md(report.baseline_arm)}",
        "",
        f"{report.fixtures} fixtures, bands version {report.bands.version}, scorer {md(' '.join(report.scorer))}.",
        "",
        "| field | decision | severity | rows | moved | re-runs of the incumbent |",
        "| --- | --- | --- | --- | ---: | --- |",
    ]
    for d in report.decisions:
        lines.append(f"| {d.field} | {_word(d.decision)} | {d.severity} | {counted(d)} | {d.moved} | {md(d.noise)} |")
    lines += ["", *(f"- {md(said)}" for said in _unpaired(report))]
    lines += _moved_table(report._moved)
    lines += [
        "",
        f"Evidence: bands `{report.bands.digest}`, baseline `{report.baseline.digest}`, "
        f"candidate `{report.candidate.digest}`.",
    ]
    return "\n".join(lines) + "\n"


def _moved_table(moved: Sequence[Row]) -> list[str]:
    if not moved:
        return ["Nothing moved."]
    md = markdown_safe
    lines = ["", "| verdict | fixture | field | value | note | evidence |", "| --- | --- | --- | ---: | --- | --- |"]
    left = []
    for (verdict, field), rows in by_kind(moved).items():
        for r in rows[:MOST]:
            told = f"{number(r)} | {md(r.note)} | {md(r.evidence)}"
            lines.append(f"| {_word(verdict)} | {md(r.fixture)} | {field} | {told} |")
        if len(rows) > MOST:
            left.append(f"{len(rows) - MOST} more of {field} {_word(verdict)}")
    return [*lines, "", f"… and {'; '.join(left)}."] if left else lines
