"""Which rule was in force when: decisions bound to their exact request, prompts and tool definitions as versions."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ApprovalError, CannotTellError, ParameterError
from plumbline.decide.approvals.book import Book, Record
from plumbline.decide.approvals.clock import moment, moment_of
from plumbline.decide.approvals.records import Approval, checked
from plumbline.decide.evidence import digest_of
from plumbline.traces import Recording

__all__ = ["ARTIFACTS", "Moment", "artifact_digests", "artifact_notes", "at_moment", "book_log", "keep_artifact",
           "record_decision", "unknown_artifacts"]  # fmt: skip

ARTIFACTS = ("prompt", "tool_definitions")


def record_decision(
    book: Book, *, request: Mapping[str, Any], decision: str, now: datetime | date, waived: Sequence[str] = ()
) -> Record:
    """Write a decision down, bound to its exact request and to the version in force at that moment.

    Parameters
    ----------
    book : Book
    request : mapping
        All that was asked, in JSON values: digests of both runs, bands, scorer, link, scope. Its digest is kept.
    decision : str
        ``ship``, ``hold`` or ``escalate``.
    now : datetime or date
        The moment of the decision.
    waived : sequence of str
        Digests of the waivers that held.

    Returns
    -------
    Record

    Raises
    ------
    ApprovalError
        ``not_in_force``: the request was judged by bands other than those in force.
    """
    if decision not in ("ship", "hold", "escalate"):
        raise ParameterError(f"decision is {decision!r}; it is ship, hold or escalate")
    bands = book.in_force(now)
    if bands is None:
        raise ApprovalError(
            "not_in_force", f"no bands were in force at {moment(now)}", "plumbline bands approve FILE …"
        )
    if (asked := request.get("bands")) != bands.digest:
        what = f"the request was judged by {str(asked)[:19]}, in force is version {bands.version} {bands.digest[:19]}"
        raise ApprovalError("not_in_force", what, "have the bands approved, or judge by those in force")
    body = {
        "request": digest_of(request), "asked": dict(request), "decision": decision, "bands": bands.digest,
        "version": bands.version, "waived": list(waived),
    }  # fmt: skip
    return book.add("decision", body, at=now)


@dataclass(frozen=True)
class Moment:
    """What held at a moment: the bands, prompts and tool definitions in force, and the last decision."""

    at: str
    version: int | None
    digest: str
    author: str
    approvals: tuple[str, ...]
    artifacts: Mapping[str, str]
    decision: Mapping[str, Any] | None

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return pd.DataFrame([vars(self)])

    def __str__(self) -> str:
        if self.version is None:
            lines = [f"at {self.at} no bands were in force"]
        else:
            lines = [f"at {self.at} bands version {self.version} were in force", f"  {self.digest}, by {self.author}"]
            lines += [f"  {one}" for one in self.approvals]
        lines += [f"  {name}: {digest}" for name, digest in self.artifacts.items()]
        if self.decision is not None:
            lines.append(f"  decision {self.decision['decision']} on request {self.decision['request']}")
            lines.append(
                f"    judged by bands version {self.decision['version']}, {len(self.decision['waived'])} waived"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def at_moment(book: Book, at: datetime | date, *, request: str | None = None) -> Moment:
    """Say which rules were in force at a moment, or when a request was decided.

    Parameters
    ----------
    book : Book
    at : datetime or date
        A day counts from its first moment.
    request : str, optional
        Start of the digest of a request: the moment is then that of its decision, the last one up to ``at``.

    Returns
    -------
    Moment

    Raises
    ------
    CannotTellError
        No decision on such a request, or on several.
    """
    then = moment(at)
    decided = None
    if request is not None:
        found = [one for one in book.records("decision") if one.body["request"].startswith(request)]
        found = [one for one in found if moment_of(one.at) <= then]
        if len({one.body["request"] for one in found}) != 1:
            raise CannotTellError(
                f"{len(found)} decisions on a request {request!r} up to {then}; give more of its digest"
            )
        decided, then = found[-1].body, moment_of(found[-1].at)
    bands = book.in_force(then)
    kept = artifact_digests(book, then)
    if bands is None:
        return Moment(then.isoformat(), None, "", "", (), kept, decided)
    record = next(one for one in book.records("version") if one.body["digest"] == bands.digest)
    approvals = tuple(f"{one}; {one.guarantee}" for one in book.approvals(bands.digest))
    return Moment(then.isoformat(), bands.version, bands.digest, record.body["author"], approvals, kept, decided)


def book_log(book: Book) -> pd.DataFrame:
    """Return the history of a book, oldest first: ``at, kind, what, digest``."""
    rows = [(one.at, one.kind, _told(one), one.digest) for one in book.records()]
    return pd.DataFrame(rows, columns=["at", "kind", "what", "digest"])


def _told(record: Record) -> str:
    body = record.body
    if record.kind == "version":
        changed = "; ".join(body["changes"][:3]) if body["before"] else "first version"
        more = f"; and {len(body['changes']) - 3} more" if body["before"] and len(body["changes"]) > 3 else ""
        return f"version {body['version']} by {body['author']}, in force {body['in_force']}: {changed}{more}"
    if record.kind == "approval":
        return str(Approval.from_dict(body))
    if record.kind == "decision":
        return (
            f"{body['decision']} on {body['request'][:19]} by version {body['version']}, {len(body['waived'])} waived"
        )
    if record.kind == "artifact":
        return f"{body['kind']} {body['name']} version {body['version']} by {body['author']}: {body['reason']}"
    return canonical_json(body)


def keep_artifact(
    book: Book, *, kind: str, name: str, content: Any, approval: Approval, now: datetime | date
) -> Record:
    """Keep a version of a prompt or of tool definitions, as bands are kept: approved, immutable, by digest.

    Parameters
    ----------
    book : Book
    kind : {'prompt', 'tool_definitions'}
    name : str
        What it is called; versions count up by name.
    content : str or JSON values
        The content itself; its digest is what the approval must be of.
    approval : Approval
        By somebody other than its author, with the reason.
    now : datetime or date

    Returns
    -------
    Record

    Raises
    ------
    ApprovalError
        As in ``checked``; ``no_change`` where this content is the last version.
    """
    if kind not in ARTIFACTS or not name.strip():
        raise ParameterError(f"kind {kind!r}, name {name!r}; choose one of {', '.join(ARTIFACTS)} and give a name")
    digest = digest_of(content)
    before = [one for one in book.records("artifact") if (one.body["kind"], one.body["name"]) == (kind, name)]
    if before and before[-1].body["digest"] == digest:
        raise ApprovalError(
            "no_change", f"{kind} {name} is version {before[-1].body['version']} itself", "nothing to keep"
        )
    checked(approval, book.people, now=now, subject=digest)
    if (approval.kind, approval.about) != (kind, name):
        what = f"the approval is of {approval.kind} {approval.about}"
        raise ApprovalError("other_content", what, f"approve {kind} {name}")
    book.add("approval", approval.to_dict(), at=moment_of(approval.at))
    book.keep(content if isinstance(content, str) else canonical_json(content), digest, ".txt")
    body = {
        "kind": kind, "name": name, "version": len(before) + 1, "digest": digest, "author": approval.author,
        "reason": approval.reason, "approval": approval.digest,
    }  # fmt: skip
    return book.add("artifact", body, at=now)


def artifact_digests(book: Book, at: datetime | date) -> dict[str, str]:
    """Return the digest of each prompt and each set of tool definitions at a moment, by ``kind name``."""
    kept = [one for one in book.records("artifact") if moment_of(one.at) <= moment(at)]
    return {f"{one.body['kind']} {one.body['name']}": one.body["digest"] for one in kept}


def artifact_notes(book: Book, at: datetime | date) -> dict[str, Any]:
    """Return what a run's manifest should carry: ``Run(..., notes=artifact_notes(book, now))``."""
    return {"artifacts": artifact_digests(book, at)}


def unknown_artifacts(recording: Recording, book: Book) -> tuple[str, ...]:
    """Say which prompts and tool definitions of a run are no kept version.

    Returns
    -------
    tuple of str
        Empty where all are known.

    Raises
    ------
    CannotTellError
        The run's manifest names none.
    """
    named = recording.notes.get("artifacts")
    if not isinstance(named, Mapping) or not named:
        raise CannotTellError(
            f"run {recording.run_id!r} names no prompt and no tool definitions; "
            "record them: notes=artifact_notes(book, now)"
        )
    known = {(f"{one.body['kind']} {one.body['name']}", one.body["digest"]) for one in book.records("artifact")}
    return tuple(
        f"{name} {str(digest)[:19]} is no kept version" for name, digest in named.items() if (name, digest) not in known
    )
