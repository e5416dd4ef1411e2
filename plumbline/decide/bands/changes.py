"""What changed between two versions of a band file, and which way each change goes: tighter, looser, neither."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plumbline.decide.bands.file import BandFile
from plumbline.decide.bands.settings import Setting, compare_setting

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BandChange", "BandChanges", "compare_bands"]


@dataclass(frozen=True, kw_only=True)
class BandChange:
    """One setting that moved.

    Parameters
    ----------
    field, scope, name, group : str
        Which setting, and the group that roles speak of.
    way : {'tighter', 'looser', 'mixed', 'unordered'}
        ``mixed``: a list both gained and lost; ``unordered``: neither way is tighter. Both count as looser.
    before, after : str
        As the file spells it; ``not ruled`` where a side has no rule.
    """

    field: str
    scope: str
    name: str
    group: str
    way: str
    before: str
    after: str

    @property
    def loosens(self) -> bool:
        """Whether the change needs the approval that loosening needs."""
        return self.way != "tighter"

    def __str__(self) -> str:
        scope = f" ({self.scope})" if self.scope else ""
        return f"{self.way:<10} {self.field}{scope} {self.name}: {self.before} → {self.after}"


@dataclass(frozen=True, kw_only=True)
class BandChanges:
    """Every setting that moved between two band files, as ``compare_bands`` returns it."""

    before: BandFile
    after: BandFile
    changes: tuple[BandChange, ...]

    @property
    def tighter(self) -> tuple[BandChange, ...]:
        """Changes that only tighten."""
        return tuple(change for change in self.changes if not change.loosens)

    @property
    def looser(self) -> tuple[BandChange, ...]:
        """Everything else."""
        return tuple(change for change in self.changes if change.loosens)

    @property
    def way(self) -> str:
        """Of the whole change: ``same``, ``tighter``, ``looser`` or ``mixed``."""
        if not self.changes:
            return "same"
        return "mixed" if self.tighter and self.looser else "looser" if self.looser else "tighter"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a setting that moved: ``field, scope, name, group, way, before, after``."""
        import pandas as pd

        names = ["field", "scope", "name", "group", "way", "before", "after"]
        return pd.DataFrame([vars(change) for change in self.changes], columns=names)

    def __str__(self) -> str:
        counts = Counter(change.way for change in self.changes)
        said = ", ".join(f"{n} {way}" for way, n in counts.items()) or "no setting moved"
        head = f"bands version {self.before.version} → {self.after.version}: {said}"
        return "\n".join([head, *(f"  {change}" for change in self.changes)])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def compare_bands(before: BandFile, after: BandFile) -> BandChanges:
    """Say which settings moved between two band files, each with its way.

    An override that only one file has is compared with what held for its fixtures otherwise.

    Parameters
    ----------
    before, after : BandFile
        The two versions.

    Returns
    -------
    BandChanges
        ``tighter`` and ``looser`` split a change that goes both ways; words, owners and dates are no settings.

    Examples
    --------
    >>> from plumbline.decide.bands import parse_bands, sample_bands
    >>> old = sample_bands()
    >>> new = parse_bands(old.text.replace("at_least: 0.92", "at_least: 0.90").replace("1.4x", "1.3x"))
    >>> compare_bands(old, new).way
    'mixed'
    """
    old, new = before.settings, after.settings
    changes = []
    for key in dict.fromkeys([*old, *new]):
        one, two = _held(old, key), _held(new, key)
        if one is None and two is None:
            continue
        way, shown = _way(one, two)
        if way != "same":
            field, scope, name = key
            group = (one or two).group  # type: ignore[union-attr]
            changes.append(
                BandChange(field=field, scope=scope, name=name, group=group, way=way, before=shown[0], after=shown[1])
            )
    return BandChanges(before=before, after=after, changes=tuple(changes))


def _held(settings: dict[tuple[str, str, str], Setting], key: tuple[str, str, str]) -> Setting | None:
    """Return a setting of a scope: that of an override, else what holds for every fixture."""
    field, scope, name = key
    if key in settings:
        return settings[key]
    if scope and (field, scope, "ruled") not in settings:
        return settings.get((field, "", name))
    return None


def _way(one: Setting | None, two: Setting | None) -> tuple[str, tuple[str, str]]:
    if one is not None and two is not None:
        return compare_setting(one, two), (one.shown, two.shown)
    there = one or two
    assert there is not None
    if there.name == "ruled":  # a rule that comes or goes; its parts are not told one by one
        return ("tighter", ("not ruled", "ruled")) if one is None else ("looser", ("ruled", "not ruled"))
    if there.field in ("tools", "slices", "grants"):
        gone = ("not declared", there.shown) if one is None else (there.shown, "not declared")
        if there.field == "grants" and there.tighter == "fewer":
            return ("same" if not there.value else "looser" if one is None else "tighter"), gone
        return "unordered", gone
    return "same", ("", "")
