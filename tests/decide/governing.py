"""A book with four people whose keys are made from fixed bytes, and band files to approve."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from plumbline.decide.approvals import Approval, Book, approve
from plumbline.decide.bands import BandFile, parse_bands, sample_bands

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
ROLES = {
    "ana": "agent_owner", "pat": "platform_owner", "rita": "reviewer", "otto": "agent_owner",
}  # fmt: skip
KEYS = {name: Ed25519PrivateKey.from_private_bytes(bytes([i + 1]) * 32) for i, name in enumerate(ROLES)}


def public(name: str) -> str:
    return KEYS[name].public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def private(name: str, folder: Path) -> Path:
    file = folder / f"{name}.key"
    file.write_bytes(KEYS[name].private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    return file


def people_text(identity: str = "signed") -> str:
    lines = ["schema: plumbline.people/1", f"identity: {identity}", "people:"]
    for name, role in ROLES.items():
        lines += [f"  {name}:", f"    roles: [{role}]", f"    key: {public(name)}"]
    return "\n".join(lines) + "\n"


def book_in(folder: Path, identity: str = "signed") -> Book:
    place = folder / "bands.book"
    place.mkdir()
    (place / "people.yaml").write_text(people_text(identity))
    return Book(place)


@cache
def version(number: int = 1, *edits: tuple[str, str], **keys: str) -> BandFile:
    text = sample_bands().text.replace("version: 1\n", f"version: {number}\n")
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    for key, value in keys.items():
        text = text.replace("created: 2026-08-01\n", f"created: 2026-08-01\n{key}: {value}\n")
    return parse_bands(text)


def approval(bands: BandFile, approver: str, *, author: str = "ana", sign: bool = True, **changed: Any) -> Approval:
    values: dict[str, Any] = {
        "kind": "bands", "subject": bands.digest, "author": author, "approver": approver, "role": ROLES[approver],
        "reason": "agreed in the platform meeting", "at": NOW,
    }  # fmt: skip
    return approve(**(values | changed), key=KEYS[approver] if sign else None)


def started(folder: Path, identity: str = "signed") -> Book:
    """A book whose first version is in force."""
    book, first = book_in(folder, identity), version()
    book.adopt(first, author="ana", now=NOW, approvals=[approval(first, "pat")])
    return book
