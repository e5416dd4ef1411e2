"""Certificates as plain text, 100 columns wide. Rounding happens here, for reading only."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plumbline.decide.counting import RULES, published_grade
from plumbline.decide.measures import MEASURES

if TYPE_CHECKING:
    from plumbline.decide.cells import Cell
    from plumbline.decide.certificate import Certificate

__all__ = ["WIDTH", "cell_lines", "certificate_text", "claim", "figure_text", "labelled", "wrapped"]

WIDTH = 100
_LABEL = 12


def figure_text(bound: float | None) -> str:
    """Return a bound for reading, four decimals.

    Examples
    --------
    >>> figure_text(0.94338), figure_text(None)
    ('0.9434', 'not available')
    """
    return "not available" if bound is None else f"{bound:.4f}"


def wrapped(text: str, *, first: str = "", rest: str = "") -> str:
    """Return text broken at 100 columns."""
    return textwrap.fill(
        " ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def labelled(label: str, text: str) -> str:
    """Return a line with a label, broken at 100 columns under its text."""
    return wrapped(text, first=f"  {label:<{_LABEL - 2}}", rest=" " * _LABEL)


def claim(certificate: Certificate) -> str:
    """Say in one sentence what the certificate is about."""
    number = len(certificate.tasks)
    about = f"these {number} tasks" if certificate.scope == "suite" else f"tasks like these {number}"
    of = "suite" if certificate.scope == "suite" else "tasks"
    if RULES[certificate.rule].guards:
        return f"{MEASURES[certificate.measure]}, under every planned perturbation, for {about} (scope {of})"
    return f"{MEASURES[certificate.measure]}, by a rule that guards nothing, for {about} (scope {of})"


def certificate_text(certificate: Certificate) -> str:
    """Return a certificate as plain text."""
    rule = RULES[certificate.rule]
    side = "one-sided lower" if certificate.sidedness == "lower" else "two-sided"
    title = figure_text(certificate.bound)
    if certificate.bound is not None and rule.release:
        title += f", grade {published_grade(certificate.bound)}"
    lines = [f"{certificate.run_id}, arm {certificate.arm}: {title}"]
    lines.append(labelled("claim", claim(certificate)))
    how = f"{certificate.method} {100 * certificate.confidence:.6g}% {side}"
    lines.append(labelled("rule", f"{certificate.rule}: {rule.says}; {how}; missing runs: {rule.missing}"))
    if certificate.bound is not None:
        lines.append(labelled("attained", ", ".join(certificate.attained_by)))
    lines += [labelled("because", reason) for reason in certificate.reasons]
    if certificate.bound is None and certificate.covered_bound is not None:
        lines.append(
            labelled(
                "covered",
                f"{figure_text(certificate.covered_bound)} over {', '.join(certificate.covered)} alone, attained by "
                f"{', '.join(certificate.covered_by)}; it says nothing about the others",
            )
        )
    if certificate.passes is not None:
        reached = "reached" if certificate.passes else "not reached"
        lines.append(labelled("threshold", f"{certificate.threshold:g}: {reached}"))
    lines += cell_lines(certificate.cells)
    for row in certificate.rho_table:
        bound = figure_text(row.clopper_pearson_lower)
        lines.append(f"  if rho is {row.rho:<4g} {row.effective_n:7.1f} effective runs, bound {bound}")
    lines += [wrapped(sentence, first="  ! ", rest="    ") for sentence in certificate.caution]
    run, policy = certificate.evidence.run, certificate.evidence.policy or "none"
    return "\n".join([*lines, labelled("evidence", f"run {run[:19]}… policy {policy[:19]}…")])


def cell_lines(cells: Sequence[Cell]) -> list[str]:
    """Return the table of conditions."""
    wide = max(len("condition"), *(len(cell.perturbation) for cell in cells))
    wide = min(wide, 24)
    head = f"  {'condition':<{wide}} planned recorded completed missing      k/n   rate   bound  faults met"
    lines = [head]
    for cell in cells:
        met = f"{cell.exposure.delivered}/{cell.exposure.planned}" if cell.exposure else "-"
        rate = "-" if cell.value is None else f"{cell.value:.4f}"
        bound = "-" if cell.bound is None else figure_text(cell.bound)
        mark = "" if cell.state == "known" else f" {cell.state}"
        lines.append(
            f"  {cell.perturbation[:wide]:<{wide}} {cell.planned:7d} {cell.recorded:8d} {cell.completed:9d} "
            f"{cell.missing:7d} {f'{cell.k}/{cell.n}':>8} {rate:>6} {bound:>7} {met:>7}{mark}"
        )
    return lines
