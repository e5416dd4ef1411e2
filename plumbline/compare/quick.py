"""The verdict of a call without its report, where one look at each field is enough."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules, RuleNode
from plumbline.compare.field_rules import FieldRule
from plumbline.compare.verdicts import MISSING, Verdict, check_word

__all__ = ["QuickVerdict", "canonical_arguments"]

_PLAIN = {str, int, bool, Decimal, type(None)}
_NUMBERS = {int, Decimal}


def canonical_arguments(expected: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return expected arguments as they would be read from a trace: numbers exact, lists as lists.

    Raises
    ------
    ParameterError
        They are no JSON object.
    """
    try:
        found = parse_json(expected if isinstance(expected, str) else canonical_json(expected))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"the expected arguments {expected!r} cannot be written as JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ParameterError(f"the expected arguments are {expected!r}; give an object of names to values.")
    return found


class QuickVerdict:
    """Answers for calls against one expected record; a field it cannot answer for is left to the full comparison.

    The same recorded value agrees under every rule, and two different plain values disagree under a plain rule. One
    field that disagrees decides the call.
    """

    def __init__(self, expected: Mapping[str, Any], rules: ArgumentRules, tool: str | None, extra: str) -> None:
        check_word(extra, ("different", "ignored"), "extra")
        self.expected = expected
        self.forgiving = extra == "ignored"
        tree = rules.tree(tool)
        self.strict = {key: self._strict(tree.fields.get(key), rules) for key in {*tree.fields, *expected}}
        self.other = self._strict(None, rules)
        self.declared = [key for key in tree.fields if key not in expected]

    @staticmethod
    def _strict(node: RuleNode | None, rules: ArgumentRules) -> FieldRule | None:
        """The rule of a field, if two different plain values disagree under it without further reading."""
        rule = node.rule if node is not None and node.rule is not None else rules.default
        plain = rule.kind in ("exact", "identifier", "enumeration", "number") and not rule.normalise
        return rule if plain and not rule.tolerant and rule.severity not in rules.uncounted else None

    def of(self, arguments: Mapping[str, Any]) -> Verdict | None:
        """Return ``equal`` or ``different``, or None if the call needs the full comparison."""
        sure = True
        for key, wanted in self.expected.items():
            given = arguments.get(key, MISSING)
            if type(given) is type(wanted) and type(given) in _PLAIN and given == wanted:
                continue
            if self._differs(key, given, wanted):
                return "different"
            sure = False
        extra = arguments.keys() - self.expected.keys()
        if extra and not self.forgiving:
            for key in extra:
                rule = self.strict.get(key, self.other)
                if rule is not None and rule.default is MISSING:
                    return "different"
            sure = False
        return "equal" if sure and not extra and not self.declared else None

    def _differs(self, key: str, given: Any, wanted: Any) -> bool:
        """Whether a field disagrees for certain."""
        rule = self.strict[key]
        if rule is None or type(wanted) not in _PLAIN:
            return False
        if given is MISSING:
            return rule.default is MISSING
        if type(given) not in _PLAIN:
            return False
        both_numbers = type(given) in _NUMBERS and type(wanted) in _NUMBERS
        return given != wanted if both_numbers and rule.kind == "number" else True
