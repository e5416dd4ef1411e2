"""Waivers: one measured failure of one fixture, let through for a reason, for a while, for one change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, StringConstraints, ValidationError

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ApprovalError, BandError
from plumbline.decide.approvals.clock import moment
from plumbline.decide.approvals.people import People
from plumbline.decide.approvals.signing import sign, verify_signature
from plumbline.decide.bands.parts import FIELDS, Name, Part, Why
from plumbline.decide.bands.reading import parse_yaml, plain, problems_of, read_text
from plumbline.decide.evidence import digest_of

__all__ = [
    "LONGEST_DAYS",
    "WARN_DAYS",
    "Waiver",
    "Waivers",
    "accepted",
    "expiring",
    "free_day",
    "read_waivers",
    "recurring",
]

LONGEST_DAYS = 30
WARN_DAYS = 7
A_DAY = 3
"""Waivers that may expire on one day; more would turn every branch red at once."""
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


class Waiver(Part):
    """One failure that is known and let through; it is still a failure and shows as one."""

    fixture: Name
    field: Name
    measured: float | str
    """What was measured; a number in the band's unit, text where there is none."""
    bands: Digest
    """Digest of the bands that it broke."""
    version: Annotated[int, Field(ge=1)]
    case: Digest
    """Digest of the fixture: its task and the baseline's trials of it."""
    reason: Why
    link: Name
    """The change it was given for, such as the address of a pull request."""
    author: Name
    approver: Name
    given: date
    expires: date
    scope: Name
    """Where it holds: a branch or a release."""
    evidence: dict[Name, Digest] = Field(min_length=1)
    """What the approver looked at, by digest."""
    signature: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Fixture, field and scope."""
        return self.fixture, self.field, self.scope

    def payload(self) -> bytes:
        """Return the bytes that are signed."""
        return canonical_json(self.model_dump(mode="json", exclude={"signature"})).encode()

    @property
    def digest(self) -> str:
        """Digest of everything but the signature."""
        return digest_of(self.model_dump(mode="json", exclude={"signature"}))

    def signed(self, key: Any) -> Waiver:
        """Return the waiver signed by its approver."""
        return self.model_copy(update={"signature": sign(self.payload(), key)})

    def __str__(self) -> str:
        what = f"{self.fixture} {self.field} {self.measured} waived until {self.expires}"
        return f"{what} by {self.approver} for {self.link}: {self.reason}"


class Waivers(Part):
    """A file of waivers."""

    format: Literal["plumbline.waivers/1"] = Field(alias="schema")
    waivers: tuple[Waiver, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row a waiver."""
        names = [name for name in Waiver.model_fields if name != "signature"]
        return pd.DataFrame([{name: getattr(one, name) for name in names} for one in self.waivers], columns=names)


def read_waivers(path: str | Path, *, today: date) -> tuple[Waiver, ...]:
    """Read a file of waivers.

    Parameters
    ----------
    path : path
        A YAML file; one that is not there holds no waivers.
    today : date
        A waiver given later than today is refused.

    Returns
    -------
    tuple of Waiver

    Raises
    ------
    BandError
        A key that is not known, a future date, two waivers of one fixture, field and scope: each with its line.
    """
    path = Path(path)
    if not path.exists():
        return ()
    tree, lines = parse_yaml(read_text(path, "file of waivers"), str(path))
    values = plain(tree)
    try:
        found = Waivers.model_validate(values).waivers
    except ValidationError as error:
        said = problems_of(error, source=str(path), lines=lines, model=Waivers, given=values)
        raise BandError(f"{path} cannot be used: {len(said)} to mend", said) from None

    def place(i: int) -> tuple[int, str]:
        return lines["waivers", i], f"{path}, line {lines['waivers', i]}, waivers[{i}]"

    if problems := _at_odds(found, today, place):
        raise BandError(f"{path} cannot be used: {len(problems)} to mend", problems)
    return found


def _at_odds(found: tuple[Waiver, ...], today: date, place: Callable[[int], tuple[int, str]]) -> list[str]:
    """Say which dates, fields and pairs of waivers cannot be."""
    problems: list[str] = []
    seen: dict[tuple[str, str, str], int] = {}
    for i, one in enumerate(found):
        line, where = place(i)
        if one.given > today:
            problems.append(
                f"{where}: given {one.given} lies in the future (today is {today}); write the day it was given"
            )
        if one.expires <= one.given:
            problems.append(f"{where}: expires {one.expires} does not lie after given {one.given}; write a later day")
        if one.field not in FIELDS:
            problems.append(f"{where}: field {one.field!r}; choose one of {', '.join(FIELDS)}")
        if one.key in seen:
            said = f"duplicate of line {seen[one.key]}: {one.fixture} {one.field} in {one.scope} is waived twice"
            problems.append(f"{where}: {said}; delete the one that no longer holds")
        seen.setdefault(one.key, line)
    return problems


def accepted(
    waiver: Waiver, people: People, *, now: datetime | date, bands: str, case: str, measured: float | str, worse: str,
    link: str, scope: str, others: Iterable[Waiver] = (), longest: int = LONGEST_DAYS,
) -> Waiver:  # fmt: skip
    """Return a waiver that holds for a failure at hand.

    Parameters
    ----------
    waiver : Waiver
        From the file.
    people : People
        Who may approve; the approver of a waiver is a reviewer or a platform owner.
    now : datetime or date
        The moment of the decision.
    bands, case : str
        Digests of the bands in force and of the fixture.
    measured : float or str
        What was measured this time; text where there is no number.
    worse : {'higher', 'lower'}
        Which way a number is worse: one beyond the waived value is another failure.
    link, scope : str
        The change and the branch that are being decided.
    others : iterable of Waiver
        All waivers of the file, to find evidence used twice.
    longest : int
        Days a waiver may live.

    Returns
    -------
    Waiver

    Raises
    ------
    ApprovalError
        ``self_approved``, ``future_date``, ``expired``, ``over_broad``, ``stale``, ``reused``, ``unknown_person``,
        ``wrong_role``, ``unsigned``, ``bad_signature``.
    """
    who = f"the waiver of {waiver.fixture} {waiver.field}"
    today = moment(now).date()
    _of_its_own(waiver, people, who)
    if waiver.given > today:
        raise ApprovalError(
            "future_date", f"{who} was given {waiver.given}, today is {today}", "write the day it was given"
        )
    if waiver.expires < today:
        raise ApprovalError("expired", f"{who} expired {waiver.expires}", "mend the failure, or ask for another waiver")
    _not_over_broad(waiver, who, longest)
    if waiver.bands != bands:
        what = f"{who} is of bands version {waiver.version} ({waiver.bands[:19]}), in force is {bands[:19]}"
        raise ApprovalError("stale", what, "look at the case under the new band, then waive it again")
    if waiver.case != case:
        what = f"{who} is of case {waiver.case[:19]}, the fixture now is {case[:19]}"
        raise ApprovalError("stale", what, "the case changed: look at it again, then waive it again")
    if _beyond(waiver.measured, measured, worse):
        what = f"{who} is of a measured {waiver.measured}, now it is {measured}"
        raise ApprovalError("stale", what, "it became worse: look at it again, then waive it again")
    if waiver.link != link:
        what = f"{who} was given for {waiver.link}, not for {link}"
        raise ApprovalError("reused", what, "a waiver is for one change: ask for one of this change")
    if waiver.scope != scope:
        raise ApprovalError("reused", f"{who} holds in {waiver.scope}, not in {scope}", "ask for one of this scope")
    for other in others:
        if other.digest != waiver.digest and set(other.evidence.values()) & set(waiver.evidence.values()):
            what = f"{who} rests on evidence that already backs {other.fixture} {other.field}"
            raise ApprovalError("reused", what, "attach the evidence of this case")
    _signed_by(waiver, people, who)
    return waiver


def _beyond(waived: float | str, measured: float | str, worse: str) -> bool:
    if isinstance(waived, str) or isinstance(measured, str):
        return waived != measured
    slack = 1e-9 * max(1.0, abs(waived))
    return measured > waived + slack if worse == "higher" else measured < waived - slack


def _of_its_own(waiver: Waiver, people: People, who: str) -> None:
    if waiver.author == waiver.approver:
        raise ApprovalError(
            "self_approved", f"{who} was asked for and approved by {waiver.author}", "ask somebody else"
        )
    person = people.person(waiver.approver)
    if not {"reviewer", "platform_owner"} & set(person.roles):
        what = f"{waiver.approver} is {', '.join(person.roles) or 'nothing'}, not reviewer or platform_owner"
        raise ApprovalError("wrong_role", what, "ask a reviewer")


def _not_over_broad(waiver: Waiver, who: str, longest: int) -> None:
    for name in ("fixture", "field", "scope"):
        value = getattr(waiver, name)
        if set(value) & set("*?[") or value.lower() in ("all", "any", "every"):
            raise ApprovalError(
                "over_broad", f"{who} has {name} {value!r}", f"name one {name}; a pattern hides new offences"
            )
    days = (waiver.expires - waiver.given).days
    if days > longest:
        last = waiver.given + timedelta(days=longest)
        raise ApprovalError("over_broad", f"{who} lives {days} days", f"at most {longest} are allowed: expires: {last}")


def _signed_by(waiver: Waiver, people: People, who: str) -> None:
    if people.identity == "git":
        return
    if not waiver.signature:
        raise ApprovalError("unsigned", f"{who} carries no signature", "plumbline bands waive … --key KEY")
    if not verify_signature(waiver.payload(), waiver.signature, people.person(waiver.approver).key):
        raise ApprovalError("bad_signature", f"{who} is not signed by {waiver.approver} as it stands", "waive it again")


def expiring(waivers: Iterable[Waiver], *, now: datetime | date, days: int = WARN_DAYS) -> tuple[str, ...]:
    """Say which waivers expire soon, and where too many expire on one day.

    Parameters
    ----------
    waivers : iterable of Waiver
    now : datetime or date
        Now.
    days : int
        How early to warn.

    Returns
    -------
    tuple of str
        Sentences, the next to expire first.
    """
    today = moment(now).date()
    live = sorted((one for one in waivers if one.expires >= today), key=lambda one: (one.expires, one.key))
    said = [
        f"{one.fixture} {one.field} expires in {(one.expires - today).days} days, on {one.expires}: tell {one.author}"
        for one in live
        if (one.expires - today).days <= days
    ]
    for day, count in sorted(Counter(one.expires for one in live).items()):
        if count > A_DAY:
            said.append(f"{count} waivers expire on {day}, at most {A_DAY} should: renew some for another day")
    return tuple(said)


def free_day(wanted: date, waivers: Iterable[Waiver], *, given: date, a_day: int = A_DAY) -> date:
    """Return the last day up to a wanted one on which few waivers expire, so that they never expire all at once.

    Parameters
    ----------
    wanted : date
        The latest day.
    waivers : iterable of Waiver
        Those that are there.
    given : date
        The day must lie after it.
    a_day : int
        Waivers that may expire on one day.

    Returns
    -------
    date

    Raises
    ------
    ApprovalError
        ``crowded``: every day up to then is taken.
    """
    taken = Counter(one.expires for one in waivers)
    day = wanted
    while day > given:
        if taken[day] < a_day:
            return day
        day -= timedelta(days=1)
    mend = "mend some of the failures, or change the band"
    raise ApprovalError("crowded", f"{a_day} waivers or more expire on every day up to {wanted}", mend)


def recurring(waivers: Iterable[Waiver], *, times: int = 3) -> pd.DataFrame:
    """List fixtures and fields that are waived again and again: candidates for a change of the band.

    Parameters
    ----------
    waivers : iterable of Waiver
        Past and present.
    times : int
        How often counts as again and again.

    Returns
    -------
    DataFrame
        ``field, fixture`` (``(several)`` for a field waived on several fixtures), ``waivers, changes, fixtures``.
    """
    every: list[Waiver] = list(waivers)
    groups: dict[tuple[str, str], list[Waiver]] = {}
    for one in every:
        groups.setdefault((one.field, one.fixture), []).append(one)
    fields: dict[str, list[Waiver]] = {}
    for one in every:
        fields.setdefault(one.field, []).append(one)
    for field, found in fields.items():
        if len({one.fixture for one in found}) > 1:
            groups[field, "(several)"] = found
    rows: list[Mapping[str, Any]] = [
        {
            "field": field, "fixture": fixture, "waivers": len(found),
            "changes": len({one.link for one in found}), "fixtures": len({one.fixture for one in found}),
        }
        for (field, fixture), found in sorted(groups.items()) if len(found) >= times
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["field", "fixture", "waivers", "changes", "fixtures"])
