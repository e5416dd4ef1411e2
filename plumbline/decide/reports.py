"""A decision for people and for machines: plain text, JUnit XML, Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from plumbline.decide.words import cell_lines, claim, figure_text, labelled, wrapped

if TYPE_CHECKING:
    from plumbline.decide.gate import Decision

__all__ = ["decision_text", "junit_xml", "markdown_safe", "markdown_summary", "xml_safe"]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SAID = {"pass": "pass", "fail": "FAIL", "cannot_tell": "cannot tell"}


def decision_text(decision: Decision) -> str:
    """Return a decision as plain text, 100 columns wide."""
    certificate = decision.certificate
    head = f"{decision.decision.upper()}: {decision.run_id}, arm {decision.arm}, bound {figure_text(certificate.bound)}"
    lines = [f"{head}, threshold {decision.threshold:g}", labelled("claim", claim(certificate))]
    for check in decision.checks:
        said = f"{check.kind} {check.name}: {check.sentence} [{check.code}]"
        lines.append(wrapped(said, first=f"  {_SAID[check.status]:<12}", rest=" " * 14))
    lines += cell_lines(certificate.cells)
    lines += [wrapped(sentence, first="  ! ", rest="    ") for sentence in decision.caution]
    return "\n".join(lines)


def junit_xml(decision: Decision) -> str:
    """Return JUnit XML: a check that fails is a failure, one that cannot tell is an error, so neither is ever green.

    Characters that XML cannot hold are spelled out.
    """
    failed = sum(check.status == "fail" for check in decision.checks)
    open_ = sum(check.status == "cannot_tell" for check in decision.checks)
    counts = {"tests": str(len(decision.checks)), "failures": str(failed), "errors": str(open_), "skipped": "0"}
    suites = ElementTree.Element("testsuites", {"name": "plumbline gate", **counts})
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": xml_safe(f"plumbline.gate.{decision.run_id}.{decision.arm}"), **counts}
    )
    properties = ElementTree.SubElement(suite, "properties")
    evidence = decision.certificate.evidence
    for name, value in (
        ("decision", decision.decision),
        ("threshold", f"{decision.threshold:g}"),
        ("run", evidence.run),
        ("policy", evidence.policy or ""),
        ("gate_plan", decision.plan_digest or ""),
    ):
        ElementTree.SubElement(properties, "property", {"name": name, "value": xml_safe(value)})
    for check in decision.checks:
        words = {"classname": xml_safe(f"plumbline.gate.{check.kind}"), "name": xml_safe(check.name)}
        case = ElementTree.SubElement(suite, "testcase", words)
        if check.status != "pass":
            tag = "failure" if check.status == "fail" else "error"
            found = ElementTree.SubElement(case, tag, {"type": check.code, "message": xml_safe(check.sentence)})
            found.text = xml_safe("\n".join(f"{name}: {value}" for name, value in check.numbers.items()))
        else:
            ElementTree.SubElement(case, "system-out").text = xml_safe(check.sentence)
    out = ElementTree.SubElement(suite, "system-out")
    out.text = xml_safe("\n".join(decision.caution))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def xml_safe(text: str) -> str:
    """Return text with the characters that XML cannot hold spelled out."""
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", str(text))


def markdown_summary(decision: Decision) -> str:
    """Return Markdown with the decision, a table of conditions, every ground and caution, and the digests."""
    certificate = decision.certificate
    lines = [
        f"## {decision.decision.capitalize()}: {markdown_safe(decision.arm)} in {markdown_safe(decision.run_id)}",
        "",
        f"Bound **{figure_text(certificate.bound)}** against a threshold of **{decision.threshold:g}**: "
        f"{markdown_safe(claim(certificate))}.",
        "",
        "| condition | planned | completed | missing | k/n | bound | faults met | answer |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    by_name = {check.name: check for check in decision.checks if check.kind == "cell"}
    for cell in certificate.cells:
        check = by_name[cell.perturbation]
        met = f"{cell.exposure.delivered}/{cell.exposure.planned}" if cell.exposure else ""
        bound = "" if cell.bound is None else figure_text(cell.bound)
        counts = f"{cell.planned} | {cell.completed} | {cell.missing} | {cell.k}/{cell.n}"
        answer = f"{_SAID[check.status]}: {markdown_safe(check.sentence)}"
        lines.append(f"| {markdown_safe(cell.perturbation)} | {counts} | {bound} | {met} | {answer} |")
    others = [check for check in decision.checks if check.kind != "cell"]
    if others:
        lines += ["", "| question | answer |", "| --- | --- |"]
        lines += [
            f"| {markdown_safe(c.kind)} {markdown_safe(c.name)} | {_SAID[c.status]}: {markdown_safe(c.sentence)} |"
            for c in others
        ]
    if decision.caution:
        lines += ["", *(f"- {markdown_safe(sentence)}" for sentence in decision.caution)]
    evidence = certificate.evidence
    plan = decision.plan_digest or "none"
    lines += ["", f"Evidence: run `{evidence.run}`, policy `{evidence.policy or 'none'}`, gate plan `{plan}`."]
    return "\n".join(lines) + "\n"


def markdown_safe(text: str) -> str:
    """Return text that stays text inside a Markdown table: no cell ends, no markup, no line ends."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(str(text).split()))
