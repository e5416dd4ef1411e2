"""What changed between two band files, setting by setting: tighter or looser, and who must approve it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.decide.bands import BandFile, Setting, compare_bands
from plumbline.decide.bands.changes import BandChange

__all__ = ["Change", "ChangesToApprove", "changes_to_approve"]

PLATFORM = frozenset({"tool_calls", "latency", "tokens", "cost", "steps", "slices", "noise", "owner"})
"""Groups whose loosening needs the platform owner; loosening any other needs a reviewer."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One setting that moved one way; a list that both gained and lost names is two changes.

    ``way`` is ``tighter``, ``looser`` or ``unordered``: of that it cannot be said which, so that it needs the approval
    of a looser one.
    """

    field: str
    scope: str
    name: str
    group: str
    before: str
    after: str
    way: str

    @property
    def role(self) -> str:
        """The role whose approval it needs."""
        if self.way == "tighter":
            return "agent_owner"
        return "platform_owner" if self.group in PLATFORM else "reviewer"

    def __str__(self) -> str:
        where = f" for {self.scope}" if self.scope else ""
        return f"{self.way}: {self.field} {self.name}{where}: {self.before} -> {self.after} (needs {_said(self.role)})"


def _said(role: str) -> str:
    return "the " + role.replace("_", " ") if role != "reviewer" else "a reviewer"


@dataclass(frozen=True)
class ChangesToApprove:
    """All changes from one band file to the next."""

    before: str
    after: str
    changes: tuple[Change, ...]
    first: bool = False

    @property
    def tighter(self) -> tuple[Change, ...]:
        """The part that the agent owner may approve alone."""
        return tuple(change for change in self.changes if change.way == "tighter")

    @property
    def looser(self) -> tuple[Change, ...]:
        """The part that needs somebody else."""
        return tuple(change for change in self.changes if change.way != "tighter")

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that must approve; a first version needs the platform owner."""
        if self.first:
            return ("platform_owner",)
        needed = {change.role for change in self.changes}
        if not needed:  # only words changed
            return ("agent_owner",)
        # Whoever approves the looser part has seen the tighter one.
        return tuple(sorted(needed - {"agent_owner"})) or ("agent_owner",)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a change: ``field, scope, name, group, before, after, way, role``."""
        names = ["field", "scope", "name", "group", "before", "after", "way", "role"]
        return pd.DataFrame([{name: getattr(one, name) for name in names} for one in self.changes], columns=names)

    def __str__(self) -> str:
        if self.first:
            return f"first version, {len(self.changes)} settings (needs {_said('platform_owner')})"
        return "\n".join(map(str, self.changes)) or "no setting changed (needs the agent owner)"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def changes_to_approve(before: BandFile | None, after: BandFile) -> ChangesToApprove:
    """Say what a new band file changes, each change one way, and who must approve it.

    Parameters
    ----------
    before : BandFile or None
        The version in force; None where there is none yet.
    after : BandFile
        The version that is asked for.

    Returns
    -------
    ChangesToApprove
        Mixed changes are split into a tighter and a looser part.

    Examples
    --------
    >>> from plumbline.decide.bands import parse_bands, sample_bands
    >>> old = sample_bands()
    >>> new = parse_bands(old.text.replace("at_most: 1.5x", "at_most: 2x"))
    >>> print(changes_to_approve(old, new))
    looser: latency pass.at_most: 1.5x -> 2x (needs the platform owner)
    """
    if before is None:
        new = after.settings.values()
        return ChangesToApprove("", after.digest, tuple(_first(one) for one in new), first=True)
    found = [part for one in compare_bands(before, after).changes for part in _split(one, before, after)]
    if before.owner != after.owner:
        found.append(
            Change(field="owner", scope="", name="owner", group="owner", before=before.owner, after=after.owner,
                   way="unordered")
        )  # fmt: skip
    return ChangesToApprove(before.digest, after.digest, tuple(found))


def _first(setting: Setting) -> Change:
    return Change(
        field=setting.field, scope=setting.scope, name=setting.name, group=setting.group, before="none",
        after=setting.shown, way="unordered",
    )  # fmt: skip


def _split(change: BandChange, before: BandFile, after: BandFile) -> list[Change]:
    said = {name: getattr(change, name) for name in ("field", "scope", "name", "group", "before", "after", "way")}
    if change.way != "mixed":
        return [Change(**said)]
    key = change.field, change.scope, change.name
    old, new = before.settings.get(key), after.settings.get(key)
    if old is None or new is None:  # an override beside what held without it
        return [Change(**(said | {"way": "unordered"}))]
    parts = (
        ("gained", new.value - old.value, new.tighter == "more"),
        ("lost", old.value - new.value, new.tighter == "fewer"),
    )
    return [
        Change(**(said | {"after": f"{word} {', '.join(sorted(names))}", "way": "tighter" if tight else "looser"}))
        for word, names, tight in parts
    ]


def as_json(changes: ChangesToApprove) -> dict[str, Any]:
    """Return the changes as JSON values."""
    rows = [{**vars(one), "role": one.role} for one in changes.changes]
    return {"before": changes.before, "after": changes.after, "roles": list(changes.roles), "changes": rows}
