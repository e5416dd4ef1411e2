"""A seed: where an input comes from, why it was chosen, and what was done to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import RelationError
from plumbline.rules.metamorphic.frames import PURPOSES, SOURCES

__all__ = ["PRIVACY", "Seed"]

PRIVACY = ("synthetic", "public", "cleared", "redacted")
"""Made up; public; cleared by whoever may; personal parts taken out without changing the premise."""


@dataclass(frozen=True)
class Seed:
    """One input that pairs descend from.

    Parameters
    ----------
    seed_id : str
        Its name.
    task_id : str
        The task of the domain that holds it.
    family_id : str
        What it shares with all its relatives; the task by default.
    source : str
        ``trace``, ``incident``, ``specification`` or ``design``.
    origin : str
        Where exactly: a trial's id, a ticket, a paragraph.
    at : str
        When, ISO 8601; empty if unknown.
    surface : str
        Through which door it came: chat, e-mail, batch.
    privacy : str
        One of ``PRIVACY``.
    purpose : str
        ``common``, ``boundary``, ``severe`` or ``weak_slice``.
    locale : str
        Of the request.
    labels : mapping
        What was said of the original, in JSON values.
    transformations : tuple of str
        What was done to it before it became a seed.
    parent : str
        The seed it was made from; empty if none.

    Examples
    --------
    >>> seed = Seed("INV-1", "INV-1", source="incident", origin="ticket 12", purpose="severe")
    >>> seed.redacted("INV-1-r", what="amounts blurred", premise_changed=True).parent
    'INV-1'
    """

    seed_id: str
    task_id: str
    family_id: str = ""
    source: str = field(default="design", kw_only=True)
    origin: str = field(default="", kw_only=True)
    at: str = field(default="", kw_only=True)
    surface: str = field(default="", kw_only=True)
    privacy: str = field(default="synthetic", kw_only=True)
    purpose: str = field(default="common", kw_only=True)
    locale: str = field(default="en", kw_only=True)
    labels: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    transformations: tuple[str, ...] = field(default=(), kw_only=True)
    parent: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not self.family_id:
            object.__setattr__(self, "family_id", self.task_id)
        for name, words in {"source": SOURCES, "privacy": PRIVACY, "purpose": PURPOSES}.items():
            if getattr(self, name) not in words:
                raise RelationError(
                    f"seed {self.seed_id!r}: {name} is one of {', '.join(words)}; found {getattr(self, name)!r}"
                )
        if not self.seed_id or not self.task_id:
            raise RelationError(f"a seed needs seed_id and task_id; found {self.seed_id!r}, {self.task_id!r}")

    def redacted(self, seed_id: str, *, what: str, premise_changed: bool) -> Seed:
        """Return the seed with something taken out.

        Parameters
        ----------
        seed_id : str
            Name of the result; where the premise changed it must be a new one.
        what : str
            What was taken out, in words.
        premise_changed : bool
            Whether the case is another one now. Then it is a new seed, of the same family.

        Raises
        ------
        RelationError
            The premise changed and the name did not, or the other way round.
        """
        if premise_changed == (seed_id == self.seed_id):
            rule = (
                "a redaction that changes the premise makes a new seed" if premise_changed else "it stays the same seed"
            )
            raise RelationError(f"seed {self.seed_id!r}: {rule}; found the name {seed_id!r}")
        done, parent = (*self.transformations, f"redaction: {what}"), self.seed_id if premise_changed else self.parent
        labels = {} if premise_changed else self.labels  # labels of another premise say nothing of this one
        return replace(self, seed_id=seed_id, privacy="redacted", transformations=done, parent=parent, labels=labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the seed as JSON values."""
        return asdict(self) | {"labels": dict(self.labels), "transformations": list(self.transformations)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Seed:
        """Read a seed from what ``to_dict`` gives."""
        if odd := sorted(set(values) - {each.name for each in fields(cls)}):
            raise RelationError(f"a seed does not know {odd}")
        return cls(**{**values, "transformations": tuple(values.get("transformations", ()))})

    @property
    def digest(self) -> str:
        """SHA-256 of ``to_dict``."""
        return f"sha256:{hashlib.sha256(canonical_json(self.to_dict()).encode()).hexdigest()}"
