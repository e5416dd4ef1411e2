"""The book: every version that was ever in force, every approval and decision, each under its digest, unchanged.

A record's name holds its digest, so that a record that was changed is named; what was deleted is for the history of the
repository to show. Records of two branches merge without conflict.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from plumbline.base.errors import ApprovalError, DigestError, NotFoundError
from plumbline.decide.approvals.changes import ChangesToApprove, changes_to_approve
from plumbline.decide.approvals.clock import moment, moment_of, spelled
from plumbline.decide.approvals.people import People, read_people
from plumbline.decide.approvals.records import Approval, checked
from plumbline.decide.bands import BandFile, parse_bands
from plumbline.decide.evidence import digest_of
from plumbline.traces import write_text

__all__ = ["Book", "Record"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One record of the book: its kind, when it was made, what it says, and its digest."""

    kind: str
    at: str
    body: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Digest of kind, time and body."""
        return digest_of({"kind": self.kind, "at": self.at, "body": self.body})

    @property
    def name(self) -> str:
        """Name of its file."""
        return f"{self.at[:10]}-{self.kind}-{self.digest[7:23]}.json"


@dataclass(frozen=True)
class Book:
    """A folder with ``people.yaml``, ``waivers.yaml``, ``versions/`` and ``records/``.

    Parameters
    ----------
    folder : Path
        Kept in version control beside the band file.
    """

    folder: Path

    @property
    def people(self) -> People:
        """Who may approve."""
        return read_people(self.folder / "people.yaml")

    def records(self, kind: str | None = None) -> tuple[Record, ...]:
        """Return the records, oldest first.

        Raises
        ------
        DigestError
            A record is not what its name says; it was changed after it was written.
        """
        if not self.folder.is_dir():
            raise NotFoundError(f"there is no book {self.folder}; make the folder and write people.yaml into it")
        found = []
        for file in sorted((self.folder / "records").glob("*.json")):
            try:
                values = json.loads(file.read_text(encoding="utf-8"))
                record = Record(kind=values["kind"], at=values["at"], body=values["body"])
            except (ValueError, KeyError, TypeError) as error:
                raise DigestError(f"{file} is no record ({error!r}); restore it: git checkout -- {file.name}") from None
            if record.name != file.name:
                raise DigestError(f"{file} was changed after it was written; restore it: git checkout -- {file.name}")
            found.append(record)
        found.sort(key=lambda one: (moment_of(one.at), one.kind, one.body.get("version", 0), one.digest))
        return tuple(one for one in found if kind in (None, one.kind))

    def add(self, kind: str, body: Mapping[str, Any], *, at: datetime | date) -> Record:
        """Write a record; the same one twice is one."""
        record = Record(kind=kind, at=spelled(at), body=dict(body))
        place = self.folder / "records"
        place.mkdir(parents=True, exist_ok=True)
        if not (place / record.name).exists():
            text = json.dumps({"kind": kind, "at": record.at, "body": record.body}, indent=1, ensure_ascii=False)
            write_text(place / record.name, text + "\n")
        return record

    def keep(self, text: str, digest: str, suffix: str = ".yaml") -> Path:
        """Keep a content under its digest for good; a digest that is there already keeps its file."""
        place = self.folder / "versions"
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"{digest[7:39]}{suffix}"
        if not file.exists():
            write_text(file, text)
        return file

    def bands_of(self, digest: str) -> BandFile:
        """Return a kept version of the bands.

        Raises
        ------
        NotFoundError, DigestError
            It is not there, or was changed.
        """
        file = self.folder / "versions" / f"{digest[7:39]}.yaml"
        if not file.is_file():
            raise NotFoundError(f"the version {digest[:19]} is not in {self.folder / 'versions'}")
        text = file.read_text(encoding="utf-8")
        # The text is compared, not the digest of what this release reads in it: that may know more keys in years.
        if digest_of(text) not in {one.body["text"] for one in self.records("version") if one.body["digest"] == digest}:
            raise DigestError(f"{file} was changed after it was saved; restore it: git checkout -- {file.name}")
        return parse_bands(text, source=str(file))

    def in_force(self, at: datetime | date) -> BandFile | None:
        """Return the bands that were in force at a moment, None before the first."""
        then = moment(at)
        held = [
            one for one in self.records("version")
            if moment_of(one.at) <= then and moment_of(one.body["in_force"]) <= then
        ]  # fmt: skip
        if not held:
            return None
        # The one that came into force last; where two did on one day, the one that was approved last.
        last = max(held, key=lambda one: (max(moment_of(one.at), moment_of(one.body["in_force"])), one.body["version"]))
        return self.bands_of(last.body["digest"])

    def latest(self, at: datetime | date) -> BandFile | None:
        """Return the version approved last, whether or not it holds yet."""
        held = [one for one in self.records("version") if moment_of(one.at) <= moment(at)]
        return self.bands_of(held[-1].body["digest"]) if held else None

    def approvals(self, subject: str) -> tuple[Approval, ...]:
        """Return the approvals of a content that the book holds."""
        kept = (Approval.from_dict(one.body) for one in self.records("approval"))
        return tuple(one for one in kept if one.subject == subject)

    def adopt(
        self, bands: BandFile, *, author: str, now: datetime | date, approvals: Iterable[Approval] = ()
    ) -> ChangesToApprove:
        """Make a version the one in force, if everyone who must has approved it.

        Parameters
        ----------
        bands : BandFile
            The new version.
        author : str
            Who wrote it.
        now : datetime or date
            The moment of adoption.
        approvals : iterable of Approval
            Besides those the book already holds.

        Returns
        -------
        ChangesToApprove
            What it changes against the version before.

        Raises
        ------
        ApprovalError
            ``missing_approval`` names the roles that lack; ``wrong_version``; or one of those of ``checked``.
        """
        before = self.latest(now)
        changes = changes_to_approve(before, bands)
        _numbered(before, bands)
        if bands.created > moment(now).date():
            what = f"version {bands.version} was created {bands.created}, after {moment(now).date()}"
            raise ApprovalError("future_date", what, "write the day it was written as created")
        alone = not changes.looser
        given = list(dict.fromkeys([*self.approvals(bands.digest), *approvals]))
        good = [checked(one, self.people, now=now, subject=bands.digest, alone=alone) for one in given]
        for one in good:
            if one.before and one.before != changes.before:
                what = f"{one.approver} approved a change of {one.before[:19]}, the version before is now another"
                raise ApprovalError("other_content", what, "look at what it changes now, then approve it again")
            if one.author != author:
                what = f"{one.approver} approved a change of {one.author}, not of {author}"
                raise ApprovalError("other_author", what, "approve again with the right author")
        lacking = [role for role in changes.roles if role not in {one.role for one in good if one.kind == "bands"}]
        if lacking:
            asked = "\n".join(f"  {change}" for change in changes.changes if change.role in lacking)
            said = f"version {bands.version} lacks {' and '.join(lacking)}" + (f"\n{asked}\n" if asked else "")
            raise ApprovalError("missing_approval", said, "plumbline bands approve FILE --as NAME --key KEY --reason …")
        for one in given:
            self.add("approval", one.to_dict(), at=moment_of(one.at))
        text = bands.text or json.dumps(bands.to_dict(), indent=1)
        self.keep(text, bands.digest)
        body = {
            "digest": bands.digest, "version": bands.version, "before": changes.before,
            "text": digest_of(text), "author": author,
            "in_force": str(bands.in_force or bands.created), "approvals": [one.digest for one in good],
            "changes": [str(one) for one in changes.changes],
        }  # fmt: skip
        self.add("version", body, at=now)
        return changes


def _numbered(before: BandFile | None, bands: BandFile) -> None:
    if before is None:
        return
    if bands.digest == before.digest:
        raise ApprovalError("no_change", f"this is version {before.version} itself", "there is nothing to approve")
    if bands.version != before.version + 1:
        what = f"the file says version {bands.version}, the book stands at {before.version}"
        raise ApprovalError("wrong_version", what, f"write version: {before.version + 1}")
