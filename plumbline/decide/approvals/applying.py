"""Waivers laid on a report: those that hold, and for each that does not, the refusal by name."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd

from plumbline.base.errors import ApprovalError
from plumbline.decide.approvals.people import People
from plumbline.decide.approvals.waivers import Waiver, accepted
from plumbline.decide.evidence import digest_of
from plumbline.traces import Recording
from plumbline.traces.digest import trial_digests

if TYPE_CHECKING:
    from plumbline.decide.bands.report import BandReport

__all__ = ["WaivedReport", "case_digest", "lay_waivers", "measured_of"]


@dataclass(frozen=True)
class WaivedReport:
    """A report with its waivers: failures that were let through show as ``waived``, never as a pass.

    Parameters
    ----------
    report : BandReport
        The report, waived rows marked.
    held : tuple of Waiver
        Waivers that hold.
    refused : tuple of (Waiver, ApprovalError)
        Waivers of a failure that do not hold, with the refusal.
    idle : tuple of Waiver
        Waivers whose fixture no longer fails: they can be deleted.
    """

    report: BandReport
    held: tuple[Waiver, ...]
    refused: tuple[tuple[Waiver, ApprovalError], ...]
    idle: tuple[Waiver, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a waiver: ``fixture, field, state, refusal, said``."""
        rows = [(one.fixture, one.field, "holds", "", str(one)) for one in self.held]
        rows += [(one.fixture, one.field, "refused", error.refusal, str(error)) for one, error in self.refused]
        rows += [(one.fixture, one.field, "idle", "", "does not fail any more; delete the waiver") for one in self.idle]
        return pd.DataFrame(rows, columns=["fixture", "field", "state", "refusal", "said"])

    def __str__(self) -> str:
        lines = [f"{len(self.held)} waived, {len(self.refused)} waivers refused, {len(self.idle)} idle"]
        lines += [f"  waived, still a failure: {one}" for one in self.held]
        lines += [f"  refused: {error}" for _, error in self.refused]
        lines += [f"  idle: {one.fixture} {one.field} does not fail any more; delete its waiver" for one in self.idle]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def case_digest(baseline: Recording, fixture: str, *, arm: str) -> str:
    """Return the digest of a fixture: its task and the baseline's trials of it.

    Parameters
    ----------
    baseline : Recording
        The incumbent's run.
    fixture : str
        A task id; ``(suite)`` stands for the whole run.
    arm : str
        The incumbent.
    """
    return _cases(baseline, arm)(fixture)


def _cases(baseline: Recording, arm: str) -> Callable[[str], str]:
    """Return what gives the digest of a fixture; the trials are read once."""
    trials = baseline.trials
    every = trial_digests(trials, baseline.steps)
    own: dict[str, list[str]] = {}
    for digest, task, name in zip(every, trials["task_id"], trials["arm"], strict=True):
        if name == arm:
            own.setdefault(str(task), []).append(digest)

    every_own = sorted(one for part in own.values() for one in part)

    def case(fixture: str) -> str:
        if fixture.startswith("("):
            return digest_of({"task": dict(baseline.tasks), "trials": every_own})
        return digest_of({"task": baseline.tasks.get(fixture, {}), "trials": sorted(own.get(fixture, []))})

    return case


def measured_of(row: Any) -> float | str:
    """Return what a row measured: its number, else what it says."""
    return float(row.value) if row.value is not None else (row.evidence or row.note or row.verdict)


def lay_waivers(
    report: BandReport, waivers: Sequence[Waiver], people: People, *, now: datetime | date, link: str, scope: str
) -> WaivedReport:
    """Lay the waivers of a file on a report.

    Parameters
    ----------
    report : BandReport
        Bands applied to baseline and candidate, every failure in it: a waiver never filters what is measured.
    waivers : sequence of Waiver
        From ``read_waivers``.
    people : People
        Who may approve.
    now : datetime or date
        The moment of the decision.
    link, scope : str
        The change and the branch that are being decided.

    Returns
    -------
    WaivedReport
    """
    failed = {(row.fixture, row.field): row for row in report.rows if row.verdict == "fail"}
    held, refused, idle = [], [], []
    case = _cases(report.baseline, report.baseline_arm)
    for one in waivers:
        if one.scope != scope:
            continue
        row = failed.get((one.fixture, one.field))
        if row is None:
            idle.append(one)
            continue
        try:
            accepted(
                one, people, now=now, bands=report.bands.digest, link=link, scope=scope, others=waivers,
                case=case(one.fixture),
                measured=measured_of(row),
                worse="lower" if row.unit == "score" or row.note.startswith("below") else "higher",
            )  # fmt: skip
        except ApprovalError as error:
            refused.append((one, error))
        else:
            held.append(one)
    said = {(one.fixture, one.field): f"{one.reason} ({one.approver}, until {one.expires})" for one in held}
    return WaivedReport(report.waive(said) if said else report, tuple(held), tuple(refused), tuple(idle))
