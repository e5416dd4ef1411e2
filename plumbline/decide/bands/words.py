"""Band files and their rules in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plumbline.decide.bands.parts import RatioBand, ScoreBand

if TYPE_CHECKING:
    from plumbline.decide.bands.file import BandFile

__all__ = ["band_text", "file_text", "rule_text"]


def band_text(band: ScoreBand | RatioBand) -> str:
    """Write a band.

    Examples
    --------
    >>> band_text(ScoreBand(at_least=0.92))
    'at least 0.92'
    """
    shown = band.model_dump(mode="json")
    names = (("at_least", "at least"), ("at_most", "at most"))
    return ", ".join(f"{word} {shown[key]}" for key, word in names if shown.get(key) is not None)


def rule_text(rule: Any) -> str:
    """Write what passes and what warns."""
    passed = rule.pass_
    if isinstance(passed, ScoreBand | RatioBand):
        warned = f"; warn {band_text(rule.warn)}" if rule.warn is not None else ""
        return f"pass {band_text(passed)}{warned}"
    if isinstance(passed, str):
        return f"pass {passed}"
    if isinstance(passed, tuple):
        return "pass " + ", ".join(
            item if isinstance(item, str) else f"{item.call} before {item.before}" for item in passed
        )
    lists = {key: value for key, value in passed.model_dump(mode="json").items() if value and key != "types"}
    return "pass " + (", ".join(f"{key} {_said(value)}" for key, value in lists.items()) or "equal")


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{tool}.{name}" for tool, names in value.items() for name in names)
    return value if isinstance(value, str) else " ".join(value)


def file_text(bands: BandFile) -> str:
    """Return a band file as plain text."""
    head = f"bands version {bands.version}, owner {bands.owner}, approved by {bands.approver}, {bands.created}"
    lines = [head, f"  {bands.digest}"]
    for scope, rules in (("", bands.rules), *((o.scope, o.rules) for o in bands.overrides)):
        lines += [f"  {scope}"] if scope else []
        lines += [f"  {field:<10} {rule_text(rule)} [{rule.severity}]: {rule.why}" for field, rule in rules.items()]
    return "\n".join(lines)
