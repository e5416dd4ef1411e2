"""Reviews: what is due when, and what it should look at, computed from the book and the waivers."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.decide.approvals.book import Book, Record
from plumbline.decide.approvals.clock import moment, moment_of
from plumbline.decide.approvals.waivers import Waiver, expiring, recurring
from plumbline.stats import clopper_pearson, runs_needed

__all__ = ["REVIEWS", "Due", "Review", "done", "review"]

REVIEWS = {"skim": 7, "recalibration": 30, "sample_size": 91}
"""Days between two reviews of a kind: weekly, monthly, quarterly."""
_TITLES = {
    "skim": "weekly skim of waived failures",
    "recalibration": "monthly recalibration",
    "sample_size": "quarterly sample-size check",
}
_PROMISE = 0.95


@dataclass(frozen=True, kw_only=True)
class Due:
    """One kind of review: when it was done last, when it is due, and what it should look at."""

    kind: str
    last: date | None
    due: date
    overdue: bool
    content: tuple[str, ...]

    def __str__(self) -> str:
        state = "due now" if self.overdue else f"due {self.due}"
        last = f"last {self.last}" if self.last else "never done"
        return "\n".join([f"{_TITLES[self.kind]}: {state}, {last}", *(f"  {line}" for line in self.content)])


@dataclass(frozen=True)
class Review:
    """What is due, with its content."""

    at: date
    due: tuple[Due, ...]

    @property
    def overdue(self) -> tuple[str, ...]:
        """Kinds that are due now."""
        return tuple(one.kind for one in self.due if one.overdue)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a kind: ``kind, last, due, overdue, content``."""
        return pd.DataFrame([vars(one) for one in self.due])

    def __str__(self) -> str:
        return "\n".join(map(str, self.due))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def done(book: Book, kind: str, *, by: str, note: str, now: datetime | date) -> Record:
    """Write down that a review was held.

    Raises
    ------
    ParameterError
        No such kind.
    """
    if kind not in REVIEWS:
        raise ParameterError(f"there is no review {kind!r}; there are {', '.join(REVIEWS)}")
    book.people.person(by)
    return book.add("review", {"kind": kind, "by": by, "note": note.strip()}, at=now)


def review(book: Book, waivers: Sequence[Waiver], *, now: datetime | date) -> Review:
    """Say which reviews are due and compute what each should look at.

    Parameters
    ----------
    book : Book
        Its reviews, decisions and the bands in force.
    waivers : sequence of Waiver
        From ``read_waivers``.
    now : datetime or date

    Returns
    -------
    Review
        Content of the skim: failures waived since the last one, early warnings of expiry, recurring waivers. Of the
        recalibration: age of the calibration in force and candidates for a change. Of the sample-size check: what the
        decisions of the quarter can and cannot say.
    """
    then, today = moment(now), moment(now).date()
    records = [one for one in book.records() if moment_of(one.at) <= then]
    first = moment_of(records[0].at).date() if records else today
    made = {
        "skim": lambda last: _skim(records, waivers, last, today),
        "recalibration": lambda last: _recalibration(book, waivers, now),
        "sample_size": lambda last: _sample(records, last),
    }
    found = []
    for kind, days in REVIEWS.items():
        held = [moment_of(one.at).date() for one in records if one.kind == "review" and one.body["kind"] == kind]
        last = max(held, default=None)
        due = (last or first) + timedelta(days=days)
        found.append(Due(kind=kind, last=last, due=due, overdue=due <= today, content=tuple(made[kind](last))))
    return Review(today, tuple(found))


def _skim(records: Sequence[Record], waivers: Sequence[Waiver], last: date | None, today: date) -> list[str]:
    since = [one for one in records if one.kind == "decision" and (last is None or moment_of(one.at).date() > last)]
    used = {digest for one in since for digest in one.body["waived"]}
    lines = [f"{len(since)} decisions since then, {len(used)} waivers held in them"]
    lines += [f"waived, still a failure: {one}" for one in waivers if one.digest in used]
    lines += expiring(waivers, now=today)
    return lines


def _recalibration(book: Book, waivers: Sequence[Waiver], now: datetime | date) -> list[str]:
    bands, today = book.in_force(now), moment(now).date()
    if bands is None:
        return ["no bands are in force"]
    record = bands.calibration
    if record is None:
        lines = [f"version {bands.version} was never calibrated; its thresholds are numbers to start from"]
    else:
        age = (today - record.made).days
        lines = [f"version {bands.version} was calibrated {age} days ago on {record.pairs} pairs, {record.made}"]
    again = recurring(waivers)
    lines += [
        f"candidate for a change: {row['field']} of {row['fixture']}, "
        f"waived {row['waivers']} times for {row['changes']} changes"
        for row in again.to_dict("records")
    ]
    return lines


def _sample(records: Sequence[Record], last: date | None) -> list[str]:
    since = [one for one in records if one.kind == "decision" and (last is None or moment_of(one.at).date() > last)]
    sizes = [
        int(one.body["asked"]["fixtures"]) for one in since if str(one.body["asked"].get("fixtures", "")).isdigit()
    ]
    needed = runs_needed(_PROMISE, method="clopper_pearson", sidedness="lower")
    if not sizes:
        lines = [f"{len(since)} decisions, none of which says over how many fixtures"]
    else:
        small = min(sizes)
        bound = clopper_pearson(small, small, sidedness="lower").low
        said = "cannot tell" if bound is None else f"{bound:.3f}"
        lines = [f"{len(sizes)} decisions over {small} to {max(sizes)} fixtures; {small} without a failure show {said}"]
    return [*lines, f"to show {_PROMISE} without a failure takes {needed} fixtures"]
