"""One redaction rule, and its work on values and text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import TraceFormatError

__all__ = ["Rule", "Work"]

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True)
class Rule:
    """Keys whose values are taken out, or a pattern that is taken out of every text."""

    name: str
    replacement: str
    paths: tuple[tuple[str, ...], ...] = ()
    pattern: re.Pattern[str] | None = None

    def hides(self, path: Sequence[str]) -> bool:
        """Say whether the value at a path is taken out: the rule's path is the end of it."""
        return any(
            len(own) <= len(path) and all(a in (b, "*") for a, b in zip(own, path[-len(own) :], strict=True))
            for own in self.paths
        )


class Work:
    """Applies rules and counts what each changed.

    Examples
    --------
    >>> work = Work([Rule("card", "(card)", paths=(("card",),))])
    >>> work.value({"card": 4111, "note": '{"card": 7}', "n": 1})
    {'card': '(card)', 'note': '{"card":"(card)"}', 'n': 1}
    >>> work.counts["card"]
    2
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.counts: Counter[str] = Counter()
        self.where = ""
        self._keyed = [rule for rule in rules if rule.paths]
        self._patterned = [rule for rule in rules if rule.pattern is not None]
        self._quoted = [
            (rule, re.compile(rf"""["']{re.escape(path[-1])}\\*["']"""))
            for rule in self._keyed
            for path in rule.paths
            if path[-1] != "*"
        ]

    def value(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """Return a value with everything taken out that a rule takes out, keys and numbers included."""
        if isinstance(value, str):
            return self._text(value, path)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float | Decimal):
            text = str(value)
            hidden = self._patterns(text)
            return value if hidden == text else hidden
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, list | tuple):
            return [self.value(one, path) for one in value]
        raise TraceFormatError(f"a value of type {type(value).__name__} cannot be redacted", source=self.where)

    def attribute(self, name: str, value: Any) -> Any:
        """Return an attribute's value; a key rule takes it out if its dotted name ends in the rule's path."""
        path = tuple(name.split("."))
        for rule in self._keyed:
            if rule.hides(path):
                self.counts[rule.name] += 1
                return rule.replacement
        return self.value(value, path)

    def line(self, line: str) -> str:
        """Return a line of a note; one in which a rule's key stands is taken out as a whole."""
        for rule, quoted in self._quoted:
            if quoted.search(line):
                self.counts[rule.name] += 1
                return rule.replacement
        hidden = self._patterns(line)
        plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), hidden)
        for rule in self._patterned:
            if rule.pattern is not None and rule.pattern.search(plain):
                self.counts[rule.name] += 1
                return rule.replacement
        return hidden

    def _mapping(self, value: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, inner in value.items():
            at = (*path, str(key))
            hiding = next((rule for rule in self._keyed if rule.hides(at)), None)
            if hiding is not None:
                self.counts[hiding.name] += 1
            name = self._patterns(str(key))
            while name in made:  # two keys that became one must not lose a value
                name += "'"
            made[name] = hiding.replacement if hiding is not None else self.value(inner, at)
        return made

    def _text(self, text: str, path: tuple[str, ...]) -> str:
        """Redact text; JSON inside it is opened, and a key in text that only looks like JSON stops the import."""
        start = text.lstrip()[:1]
        if start in ("{", "[", '"') and ("\\" in text or self._keyed):
            try:
                inner = parse_json(text)
            except (ValueError, RecursionError):
                self._closed(text)
            else:
                before = sum(self.counts.values())
                hidden = self.value(inner, path)
                return canonical_json(hidden) if sum(self.counts.values()) != before else text
        elif self._keyed:
            self._closed(text)
        return self._patterns(text)

    def _closed(self, text: str) -> None:
        for rule, quoted in self._quoted:
            if quoted.search(text):
                shown = f"{len(text)} characters long"
                raise TraceFormatError(
                    f"redaction rule {rule.name!r} cannot be applied: its key stands in text that is not JSON, {shown}",
                    source=self.where,
                    mend="Add a pattern rule that takes it out before, or mend the file; nothing was stored.",
                )

    def _patterns(self, text: str) -> str:
        for rule in self._patterned:
            if rule.pattern is not None:
                text, found = rule.pattern.subn(lambda _, rule=rule: rule.replacement, text)  # type: ignore[misc]
                self.counts[rule.name] += found
        return text
