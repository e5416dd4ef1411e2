"""What changed between two band files, setting by setting: tighter or looser, and who must approve it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.decide.bands import BandFile, Setting, compare_setting

__all__ = ["BandChanges", "Change", "compare_bands"]

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
class BandChanges:
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


def compare_bands(before: BandFile | None, after: BandFile) -> BandChanges:
    """Compare two band files setting by setting.

    Parameters
    ----------
    before : BandFile or None
        The version in force; None where there is none yet.
    after : BandFile
        The version that is asked for.

    Returns
    -------
    BandChanges
        Mixed changes are split into a tighter and a looser part.

    Examples
    --------
    >>> from plumbline.decide.bands import parse_bands, sample_bands
    >>> old = sample_bands()
    >>> new = parse_bands(old.text.replace("at_most: 1.5x", "at_most: 2x"))
    >>> print(compare_bands(old, new))
    looser: latency pass.at_most: 1.5x -> 2x (needs the platform owner)
    """
    new = after.settings
    if before is None:
        made = tuple(_change(one, "none", one.shown, "unordered") for one in new.values())
        return BandChanges("", after.digest, made, first=True)
    old = before.settings
    found: list[Change] = []
    whole = {(field, scope) for field, scope, name in {*old} ^ {*new} if name == "ruled" and not scope}
    for key in dict.fromkeys([*old, *new]):
        if key[:2] not in whole:
            found += _moved(old.get(key), new.get(key))
        elif key[2] == "ruled":  # a rule that comes or goes is one change, not one for each of its settings
            one = new.get(key) or old[key]
            words = ("not ruled", "ruled", "tighter") if key in new else ("ruled", "not ruled", "looser")
            found.append(_change(one, *words))
    if before.owner != after.owner:
        found.append(
            Change(field="owner", scope="", name="owner", group="owner", before=before.owner, after=after.owner,
                   way="unordered")
        )  # fmt: skip
    return BandChanges(before.digest, after.digest, tuple(found))


def _change(setting: Setting, before: str, after: str, way: str) -> Change:
    return Change(
        field=setting.field, scope=setting.scope, name=setting.name, group=setting.group, before=before, after=after,
        way=way,
    )  # fmt: skip


def _moved(old: Setting | None, new: Setting | None) -> list[Change]:
    if old is None and new is not None:
        return [_change(new, "none", new.shown, _alone(new, "looser", "tighter"))]
    if new is None and old is not None:
        return [_change(old, old.shown, "none", _alone(old, "tighter", "looser"))]
    if old is None or new is None:
        return []
    way = compare_setting(old, new)
    if way == "same":
        return []
    if way != "mixed":
        return [_change(new, old.shown, new.shown, way)]
    gained, lost = new.value - old.value, old.value - new.value
    both = (("gained", gained, new.tighter == "more"), ("lost", lost, new.tighter == "fewer"))
    made = []
    for word, names, tight in both:
        shown = f"{word} {', '.join(sorted(names))}"
        made.append(_change(new, old.shown, shown, "tighter" if tight else "looser"))
    return made


def _alone(setting: Setting, grants: str, demands: str) -> str:
    """Say which way it goes when a setting appears where there was none; of an override it cannot be said."""
    if setting.tighter == "fewer":
        return grants
    if setting.scope or setting.tighter == "unordered" or setting.field == "tools":
        return "unordered"
    return demands


def as_json(changes: BandChanges) -> dict[str, Any]:
    """Return the changes as JSON values."""
    rows = [{**vars(one), "role": one.role} for one in changes.changes]
    return {"before": changes.before, "after": changes.after, "roles": list(changes.roles), "changes": rows}
