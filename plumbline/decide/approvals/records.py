"""Approvals: who, in which role, approved exactly which content, for what reason, when; signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, datetime
from typing import Any, Self

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ApprovalError, ParameterError
from plumbline.decide.approvals.clock import moment, moment_of, spelled
from plumbline.decide.approvals.people import ROLES, People
from plumbline.decide.approvals.signing import sign, verify_signature
from plumbline.decide.evidence import digest_of

__all__ = ["KINDS", "Approval", "approve", "checked", "rebaseline"]

KINDS = ("bands", "rebaseline", "prompt", "tool_definitions", "waiver")
GUARANTEES = {
    "signed": "SSH signature by the approver's key",
    "git": "git identity only: the name is what a commit carries, and proves nothing by itself",
}


@dataclass(frozen=True, kw_only=True)
class Approval:
    """One approval of one content.

    Parameters
    ----------
    kind : {'bands', 'rebaseline', 'prompt', 'tool_definitions', 'waiver'}
        What was approved.
    subject, before : str
        Digest of exactly what was approved, and of what it replaces; ``before`` is empty where there was nothing.
    author, approver : str
        Who wrote it, who approved it.
    role : {'agent_owner', 'platform_owner', 'reviewer'}
        In which role.
    reason : str
        One line.
    at : str
        When, ISO 8601 with a zone.
    about : str
        Name of the case or the prompt.
    signature : str
        Armoured SSH signature over the canonical JSON of everything else; empty where identity is git's.
    """

    kind: str
    subject: str
    before: str = ""
    author: str
    approver: str
    role: str
    reason: str
    at: str
    about: str = ""
    signature: str = ""

    def payload(self) -> bytes:
        """Return the bytes that are signed: canonical JSON of every field but the signature."""
        return canonical_json({k: v for k, v in asdict(self).items() if k != "signature"}).encode()

    @property
    def digest(self) -> str:
        """Digest of the approval, signature included."""
        return digest_of(asdict(self))

    @property
    def guarantee(self) -> str:
        """What stands behind the approver's name."""
        return GUARANTEES["signed" if self.signature else "git"]

    def to_dict(self) -> dict[str, Any]:
        """Return the approval as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read an approval from JSON values."""
        known = {field.name for field in fields(cls)}
        if strange := sorted(set(values) - known):
            raise ParameterError(f"an approval has no {', '.join(strange)}; it has {', '.join(sorted(known))}")
        return cls(**values)

    def signed(self, key: Any) -> Self:
        """Return the approval signed with a private key, see ``read_key``."""
        return replace(self, signature=sign(self.payload(), key))

    def __str__(self) -> str:
        what = f"{self.kind} {self.about}".strip()
        return f"{self.at[:10]} {self.approver} ({self.role}) approved {what} {self.subject[:19]}: {self.reason}"


def approve(
    *, kind: str, subject: str, author: str, approver: str, role: str, reason: str, at: datetime | date,
    before: str = "", about: str = "", key: Any = None,
) -> Approval:  # fmt: skip
    """Write an approval, signed where a key is given.

    Parameters
    ----------
    kind, subject, before, author, approver, role, reason, about
        As in :class:`Approval`.
    at : datetime or date
        Now, given by the caller.
    key : Ed25519PrivateKey, optional
        From ``read_key``.

    Returns
    -------
    Approval

    Raises
    ------
    ApprovalError
        ``no_reason``: none, or more than one line.
    ParameterError
        An unknown kind or role, or a subject that is no digest.
    """
    if kind not in KINDS or role not in ROLES:
        raise ParameterError(f"kind {kind!r}, role {role!r}; choose from {', '.join(KINDS)} and {', '.join(ROLES)}")
    for name, digest in (("subject", subject), ("before", before or subject)):
        if not digest.startswith("sha256:") or len(digest) != 71:
            raise ParameterError(f"{name} is {digest!r}; an approval is bound to a digest sha256:…")
    line = reason.strip()
    if len(line) < 8 or "\n" in line:
        raise ApprovalError("no_reason", f"the reason is {reason!r}", "write one line that a stranger understands")
    made = Approval(
        kind=kind, subject=subject, before=before, author=author, approver=approver, role=role, reason=line,
        at=spelled(at), about=about,
    )  # fmt: skip
    return made if key is None else made.signed(key)


def rebaseline(
    *, case: str, before: str, after: str, author: str, reviewer: str, reason: str, at: datetime | date, key: Any = None
) -> Approval:
    """Approve that a text case gets a new baseline, by a reviewer who has both texts before their eyes.

    Parameters
    ----------
    case : str
        The fixture.
    before, after : str
        The two texts themselves, as they were shown; their digests are what is signed.
    author, reviewer : str
        Who asks, who reviewed.
    reason : str
        One line.
    at : datetime or date
        Now.
    key : Ed25519PrivateKey, optional
        The reviewer's.

    Returns
    -------
    Approval

    Raises
    ------
    ApprovalError
        The texts are equal, or there is no one-line reason.
    """
    if before == after:
        raise ApprovalError("no_change", f"the two texts of {case} are equal", "there is nothing to re-baseline")
    return approve(
        kind="rebaseline", subject=digest_of(after), before=digest_of(before), author=author, approver=reviewer,
        role="reviewer", reason=reason, at=at, about=case, key=key,
    )  # fmt: skip


def checked(approval: Approval, people: People, *, now: datetime | date, subject: str, alone: bool = False) -> Approval:
    """Return an approval that counts.

    Parameters
    ----------
    approval : Approval
        What somebody handed in.
    people : People
        Who may approve.
    now : datetime or date
        An approval from the future does not count.
    subject : str
        Digest of the content at hand; an approval of anything else does not count.
    alone : bool
        Whether author and approver may be one person: only where an agent owner tightens a band.

    Returns
    -------
    Approval

    Raises
    ------
    ApprovalError
        ``other_content``, ``unknown_person``, ``wrong_role``, ``self_approved``, ``future_date``, ``unsigned``,
        ``bad_signature``.
    """
    who = f"the approval by {approval.approver} of {approval.at[:10]}"
    if approval.subject != subject:
        what = f"{who} is of {approval.subject[:19]}, the content is {subject[:19]}"
        raise ApprovalError("other_content", what, "approve this content again; an approval never moves to another one")
    person = people.person(approval.approver)
    if approval.role not in person.roles:
        what = f"{approval.approver} is {', '.join(person.roles) or 'nothing'}, not {approval.role}"
        able = [name for name, other in people.people.items() if approval.role in other.roles]
        raise ApprovalError("wrong_role", what, f"ask {' or '.join(able) or 'for somebody with that role'}")
    if approval.author == approval.approver and not (alone and approval.role == "agent_owner"):
        raise ApprovalError("self_approved", f"{who} is of their own change", "ask somebody else to approve it")
    if moment_of(approval.at) > moment(now, "now"):
        raise ApprovalError("future_date", f"{who} lies in the future", "approve it with today's date")
    if people.identity == "git":
        return approval
    if not approval.signature:
        raise ApprovalError(
            "unsigned", f"{who} carries no signature", "approve with --key, or set identity: git in people.yaml"
        )
    if not person.key or not verify_signature(approval.payload(), approval.signature, person.key):
        known = (
            "was not made by the key in people.yaml" if person.key else "cannot be verified: people.yaml holds no key"
        )
        raise ApprovalError("bad_signature", f"the signature on {who} {known}", "sign again with the right key")
    return approval
