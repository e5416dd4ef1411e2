"""The page of a band report: the decision, a decision a field, what moved and nothing else, and how it looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from plumbline._version import __version__
from plumbline.decide.bands import BandReport
from plumbline.show.diff.model import diff
from plumbline.show.diff.static_html import diff_html
from plumbline.show.standard.book import Book
from plumbline.show.standard.words import plain
from plumbline.show.tables import callout, table_html
from plumbline.traces import write_text

__all__ = ["answer_of", "bands_page", "case_diffs", "fields_table", "moved_table", "noise_table"]

MOST_DIFFS = 12
_MEANS = {
    "ship": "every band holds, or what does not is a warning or waived",
    "hold": "a blocking band fails",
    "escalate": "a reviewer must look, the record does not tell, or a band is unusable",
}


def answer_of(report: BandReport) -> Any:
    """Return the decision as a callout."""
    moved = report.moved()
    count = f"{report.fixtures} fixtures were compared; {moved['fixture'].nunique()} moved in some field, and only"
    told = [f"{report.decision}: {_MEANS[report.decision]}.", f"{count} those are shown."]
    for words, names in (("baseline", report.only_baseline), ("candidate", report.only_candidate)):
        if names:
            few = f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
            told.append(f"{len(names)} fixtures are only in the {words}: {few}.")
    return callout("answer", f"Decision: {report.decision}", told)


def fields_table(report: BandReport) -> Any:
    """Return the decision of every field as a table."""
    frame = report.by_field().drop(columns="noise", errors="ignore")
    frame = frame.rename(columns={"cannot_tell": "cannot tell"})
    kept = [name for name in frame if name in ("field", "decision", "severity", "pass", "moved") or frame[name].any()]
    return table_html(frame[kept], caption="A decision a field")


def moved_table(report: BandReport) -> Any:
    """Return what moved, the worst first, as a table."""
    moved = report.moved()
    if moved.empty:
        return callout("note", "Nothing moved", ["Every fixture passes every band, without a note."])
    shown = moved[["fixture", "field", "verdict"]].copy()
    shown["value"] = [
        "–" if pd.isna(value) else f"{value:.3g}{'x' if unit == 'x' else ''}"
        for value, unit in zip(moved["value"], moved["unit"], strict=True)
    ]
    shown["what"] = [
        "; ".join(part for part in parts if part) for parts in zip(moved["note"], moved["evidence"], strict=True)
    ]
    notes = ["Severity 'warning' never holds a release by itself."] if (moved["severity"] == "warning").any() else []
    return table_html(shown.astype(object).fillna(""), caption="What moved", row_headers=2, notes=notes)


def noise_table(report: BandReport) -> Any:
    """Return what the incumbent's own re-runs say of each band."""
    frame = report.noise_frame()
    if frame.empty:
        told = ["No second run of the incumbent was given, so that no band was tested against its own noise."]
        return callout("cannot", "Noise was not measured", told)
    return table_html(frame.astype(object).fillna(""), caption="The incumbent against itself")


def case_diffs(report: BandReport, *, most: int = MOST_DIFFS) -> list[tuple[str, Any]]:
    """Return the fixtures whose calls failed a band or moved, with their traces side by side, the worst first."""
    moved = report.moved()
    moved = moved[moved["field"].isin(["arguments", "order", "checks", "tool_set", "agents", "forbidden", "steps"])]
    cases = moved.drop_duplicates("fixture")[["fixture", "baseline", "candidate"]].itertuples(index=False)
    found: list[tuple[str, Any]] = []
    for fixture, before, after in cases:
        known = before in set(report.baseline.trials["trial_id"]) and after in set(report.candidate.trials["trial_id"])
        if known and len(found) < most:
            made = diff((report.baseline, before), (report.candidate, after), titles=("baseline", "candidate"))
            found.append((str(fixture), diff_html(made)))
    return found


def bands_page(report: BandReport, out: str | Path) -> Path:
    """Write a band report as one page that opens offline.

    Parameters
    ----------
    report : BandReport
        From ``apply_bands``.
    out : path
        File to write.

    Returns
    -------
    Path
        The page.
    """
    from importlib.metadata import version

    from plumbline.show.report import ReportExporter

    cases = dict(case_diffs(report))
    names: dict[str, Any] = {
        "report": report, "answer_of": answer_of, "fields_table": fields_table, "moved_table": moved_table,
        "noise_table": noise_table, "cases": cases,
    }  # fmt: skip
    book = Book(names)
    bands = report.bands
    title = f"Bands version {bands.version}: {report.candidate_arm} against {report.baseline_arm}"
    lead = f"Owner {plain(bands.owner)}, approved by {plain(bands.approver)}."
    lead += f" Texts are scored by {' '.join(report.scorer)}."
    book.prose(f"# {plain(title)}\n\n{lead}")
    book.code("answer_of(report)", name="answer", tags=("answer",))
    book.prose("## Fields")
    book.code("fields_table(report)", name="fields")
    book.prose("## What moved")
    book.code("moved_table(report)", name="moved")
    if cases:
        book.prose(f"## Side by side\n\nFixtures whose calls moved, at most {MOST_DIFFS}, the gravest first.")
        for at, fixture in enumerate(cases):
            book.prose(f"### {plain(fixture)}")
            book.code(f"cases[{fixture!r}]", name=f"case-{at}")
    book.prose("## Noise of the incumbent")
    book.code("noise_table(report)", name="noise")
    notebook = book.notebook()
    runs = {"baseline": report.baseline.digest, "candidate": report.candidate.digest}
    notebook.metadata["plumbline"] = {
        "title": title, "eyebrow": "Band report",
        "footer": f"Made by plumbline {__version__} from a band file and two runs. The page is complete by itself.",
        "runs": runs, "bands": bands.digest,
        "versions": {"plumbline": __version__} | {name: version(name) for name in ("pandas", "scipy", "pyarrow")},
    }  # fmt: skip
    page, _ = ReportExporter().from_notebook_node(notebook)
    target = Path(out)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, page)
    return target
