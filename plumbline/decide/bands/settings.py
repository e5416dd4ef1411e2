"""Every edge and every list of a band file as one setting with its direction: which way is tighter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from plumbline.base.canonical import canonical_json
from plumbline.decide.bands.parts import GROUPS, CheckBefore, RatioBand, RatioRule, Rule, ScoreBand

if TYPE_CHECKING:
    from plumbline.decide.bands.file import BandFile

__all__ = ["Setting", "compare_setting", "settings_of"]

Tightness = Literal["higher", "lower", "more", "fewer", "unordered"]
_ORDERS = {"any": 0, "same_unless_idempotent": 1, "same": 2}
_WORDS = {"warning": 0, "block": 1, "allow": 0, "refuse": 1, "not_required": 0, "required": 1}


@dataclass(frozen=True)
class Setting:
    """One thing that a band file fixes.

    Parameters
    ----------
    field : str
        The field of the rule, or ``tools``, ``grants``, ``slices``, ``noise``.
    scope : str
        Empty for every fixture, else ``slice:NAME`` or ``fixture:NAME``.
    name : str
        ``pass.at_least``, ``severity`` and so on.
    value : object
        A number, a frozenset of text, or text; None where an edge is not there.
    tighter : {'higher', 'lower', 'more', 'fewer', 'unordered'}
        Which way is tighter; of ``unordered`` it cannot be said, so that a change counts as looser.
    shown : str
        The value as the file spells it.
    """

    field: str
    scope: str
    name: str
    value: Any
    tighter: Tightness
    shown: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Field, scope and name."""
        return self.field, self.scope, self.name

    @property
    def group(self) -> str:
        """The group that roles speak of: ``text``, ``structure``, ``tool_calls``, ``latency``, ``tokens``, …."""
        return GROUPS.get(self.field, "tool_calls" if self.field in ("tools", "grants") else self.field)


def compare_setting(before: Setting, after: Setting) -> Literal["same", "tighter", "looser", "mixed", "unordered"]:
    """Say which way a setting moved.

    Returns
    -------
    str
        ``mixed`` where a list both gained and lost a name; ``unordered`` where neither way is tighter.

    Examples
    --------
    >>> old, new = (Setting("text", "", "pass.at_least", v, "higher", str(v)) for v in (0.92, 0.9))
    >>> compare_setting(old, new)
    'looser'
    """
    old, new = before.value, after.value
    if old == new:
        return "same"
    if before.tighter != after.tighter or before.tighter == "unordered":
        return "unordered"
    if before.tighter in ("more", "fewer"):
        if not (old <= new or old >= new):
            return "mixed"
        return "tighter" if (old < new) == (before.tighter == "more") else "looser"
    return "tighter" if (old < new) == (before.tighter == "higher") else "looser"


def settings_of(bands: BandFile) -> dict[tuple[str, str, str], Setting]:
    """Return every setting of a file by field, scope and name.

    A missing edge is minus or plus infinity, so that adding one is tighter; a missing ``warn`` stands for that of
    ``pass``, since beyond it everything fails.
    """
    found: list[Setting] = []
    for field, rule in bands.rules.items():
        found += _of_rule(field, "", rule)
    for override in bands.overrides:
        for field, rule in override.rules.items():
            found += _of_rule(field, override.scope, rule)
    for name, tool in bands.tools.items():
        found.append(_words("tools", "", f"{name}.effect", tool.effect))
        found.append(_ranked("tools", "", f"{name}.repeatable", 0 if tool.repeatable else 1, str(tool.repeatable)))
        found += [_names("tools", "", f"{name}.{key}", getattr(tool, key), "more") for key in ("reads", "writes")]
    for name, part in bands.slices.items():
        found.append(_words("slices", "", name, canonical_json(part.model_dump(mode="json"))))
    grants = bands.grants
    if grants is not None:
        found.append(_names("grants", "", "every_fixture", grants.every_fixture, "fewer"))
        found += [_names("grants", f"fixture:{f}", "tools", tools, "fewer") for f, tools in grants.fixtures.items()]
        found.append(_names("grants", "", "pull_requests", grants.pull_requests, "fewer"))
    found.append(Setting("noise", "", "at_most", bands.noise.at_most, "lower", f"{bands.noise.at_most:g}"))
    found.append(Setting("noise", "", "confidence", bands.noise.confidence, "unordered", f"{bands.noise.confidence:g}"))
    return {setting.key: setting for setting in found}


def _of_rule(field: str, scope: str, rule: Rule) -> list[Setting]:
    found = [
        Setting(field, scope, "ruled", 1, "higher", "yes"),
        _ranked(field, scope, "severity", _WORDS[rule.severity], rule.severity),
    ]
    passed, warned = getattr(rule, "pass_"), getattr(rule, "warn", None)  # noqa: B009 - every kind of rule has it
    if isinstance(passed, ScoreBand | RatioBand):
        for outcome, band in (("pass", passed), ("warn", warned or passed)):
            found += _edges(field, scope, outcome, band)
    elif isinstance(passed, str):
        found.append(_ranked(field, scope, "pass", _ORDERS[passed], passed))
    elif isinstance(passed, tuple):
        texts = [_spell(item) for item in passed]
        found.append(_names(field, scope, "pass", texts, "more"))
    else:
        found += _parts(field, scope, passed)
    for key in ("at", "scorer", "of"):
        if hasattr(rule, key):
            found.append(_words(field, scope, key, str(getattr(rule, key))))
    if isinstance(rule, RatioRule):
        found.append(_words(field, scope, "grain", rule.grain))
    return found


def _edges(field: str, scope: str, outcome: str, band: ScoreBand | RatioBand) -> list[Setting]:
    low = band.at_least
    shown = band.model_dump(mode="json")
    found = [
        Setting(
            field, scope, f"{outcome}.at_least", float("-inf") if low is None else low, "higher",
            "none" if low is None else str(shown["at_least"]),
        )
    ]  # fmt: skip
    if isinstance(band, RatioBand):
        high = band.at_most
        value = float("inf") if high is None else high
        found.append(
            Setting(
                field, scope, f"{outcome}.at_most", value, "lower", "none" if high is None else str(shown["at_most"])
            )
        )
    return found


def _parts(field: str, scope: str, passed: Any) -> list[Setting]:
    """Return the settings of a ``pass`` that lists things: what it asks for, and what it lets through."""
    found = []
    for key, tighter in (("required", "more"), ("exact", "more"), ("optional", "fewer")):
        if hasattr(passed, key):
            found.append(_names(field, scope, f"pass.{key}", getattr(passed, key), tighter))
    for key in ("free_text", "ignored"):
        if hasattr(passed, key):
            pairs = [f"{tool}.{arg}" for tool, args in getattr(passed, key).items() for arg in args]
            found.append(_names(field, scope, f"pass.{key}", pairs, "fewer"))
    if hasattr(passed, "types"):
        found.append(_words(field, scope, "pass.types", canonical_json(passed.types)))
    for key in ("others", "transcripts"):
        if hasattr(passed, key):
            word = getattr(passed, key)
            found.append(_ranked(field, scope, f"pass.{key}", _WORDS[word], word))
    if hasattr(passed, "invoked"):
        found.append(_ranked(field, scope, "pass.invoked", int(passed.invoked == "same"), passed.invoked))
    return found


def _spell(item: Any) -> str:
    if not isinstance(item, CheckBefore):
        return str(item)
    return f"{item.call} before {item.before}" + (f" of the same {item.by}" if item.by else "")


def _ranked(field: str, scope: str, name: str, rank: int, shown: str) -> Setting:
    return Setting(field, scope, name, rank, "higher", shown)


def _names(field: str, scope: str, name: str, names: Any, tighter: Any) -> Setting:
    held = frozenset(names)
    return Setting(field, scope, name, held, tighter, ", ".join(sorted(held)) or "none")


def _words(field: str, scope: str, name: str, text: str) -> Setting:
    return Setting(field, scope, name, text, "unordered", text)
