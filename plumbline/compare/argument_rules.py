"""The rules of all tools: which fields a call has, how each is compared, and what an undeclared field falls back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.compare.field_rules import COLLECTIONS, FieldRule, exact
from plumbline.compare.fields import ITEM, Part, parse_path
from plumbline.compare.verdicts import SEVERITIES

__all__ = ["ArgumentRules", "RuleNode"]


@dataclass
class RuleNode:
    """One place in the tree of a tool's fields: its own rule, the fields below it, and the items below it."""

    rule: FieldRule | None = None
    fields: dict[str, RuleNode] = field(default_factory=dict)
    items: RuleNode | None = None

    @property
    def tolerant(self) -> bool:
        """Whether a rule here or below equates values in a way that does not carry over from pair to pair."""
        below = [*self.fields.values(), *([self.items] if self.items else [])]
        return bool(self.rule and self.rule.tolerant) or any(node.tolerant for node in below)

    def child(self, part: Part, path: str) -> RuleNode:
        """Return the node below, made if it is not there."""
        if part is ITEM:
            self.items = self.items or RuleNode()
            return self.items
        if isinstance(part, int):
            raise ParameterError(f"field path {path!r} names one item; a rule holds for all items: write [].")
        return self.fields.setdefault(str(part), RuleNode())

    def declare(self, path: str, rule: FieldRule, prefix: str = "") -> None:
        """Put a rule at a path below this node, with the rules of its items."""
        shown = prefix + path
        node = self
        for part in parse_path(path):
            node = node.child(part, shown)
        node.put(rule, shown)

    def put(self, rule: FieldRule, shown: str) -> None:
        """Put a rule here, with the rules of its items."""
        if self.rule is not None:
            raise ParameterError(f"field {shown!r} has two rules, {self.rule.kind} and {rule.kind}; declare it once.")
        self.rule = rule
        if rule.items is None:
            return
        below = self.child(ITEM, shown)
        if isinstance(rule.items, FieldRule):
            below.put(rule.items, f"{shown}[]")
        else:
            for path, inner in rule.items:
                below.declare(path, inner, f"{shown}[].")


@dataclass(frozen=True)
class ArgumentRules:
    """How the arguments of each tool are compared.

    Parameters
    ----------
    tools : mapping of tool to mapping of field path to FieldRule
        ``{"schedule_payment": {"amount": money(severity="critical"), "lines[].sku": identifier()}}``.
    default : FieldRule
        Rule of every leaf that no path declares: exact, severity high. It may not be a collection's.
    uncounted : tuple of str
        Severities whose differences are reported and not counted as disagreement; none by default.
    name : str
        Name of the rules, for reports.

    Raises
    ------
    ParameterError
        A path that cannot be read, a field with two rules, or something that is no field rule.

    Examples
    --------
    >>> from plumbline.compare.field_rules import identifier, money
    >>> rules = ArgumentRules({"pay": {"amount": money(), "vendor_id": identifier()}})
    >>> rules.fields("pay")
    ('amount', 'vendor_id')
    """

    tools: Mapping[str, Mapping[str, FieldRule]] = field(default_factory=dict)
    default: FieldRule = field(default_factory=exact)
    uncounted: tuple[str, ...] = ()
    name: str = "declared"

    def __post_init__(self) -> None:
        if not isinstance(self.tools, Mapping):
            raise ParameterError(f"tools is {self.tools!r}; give a mapping of tool to its fields.")
        frozen: dict[str, Mapping[str, FieldRule]] = {}
        for tool, fields in self.tools.items():
            if not isinstance(tool, str) or not isinstance(fields, Mapping):
                raise ParameterError(
                    f"the rules of {tool!r} are {fields!r}; give a mapping of field path to field rule."
                )
            for path, rule in fields.items():
                if not isinstance(rule, FieldRule):
                    raise ParameterError(f"the rule of {tool}.{path} is {rule!r}; give a field rule such as exact().")
            frozen[tool] = MappingProxyType(dict(fields))
        object.__setattr__(self, "tools", MappingProxyType(frozen))
        if not isinstance(self.default, FieldRule) or self.default.kind in COLLECTIONS:
            raise ParameterError(
                "the default is a rule for leaves, such as exact() or number(); a collection needs a path."
            )
        unknown = [word for word in self.uncounted if word not in SEVERITIES]
        if isinstance(self.uncounted, str) or unknown:
            raise ParameterError(f"uncounted is {self.uncounted!r}; give a tuple of {', '.join(SEVERITIES)}.")
        _ = self._trees  # a rule that cannot be used is refused here, not at the first call

    @cached_property
    def _trees(self) -> dict[str, RuleNode]:
        trees = {}
        for tool, fields in self.tools.items():
            trees[tool] = RuleNode()
            for path, rule in fields.items():
                trees[tool].declare(path, rule, f"{tool}: ")
        return trees

    def tree(self, tool: str | None) -> RuleNode:
        """Return the rules of one tool as a tree; an undeclared tool has an empty one."""
        return self._trees.get(tool, RuleNode()) if tool is not None else RuleNode()

    def fields(self, tool: str) -> tuple[str, ...]:
        """Return the declared field paths of a tool; empty if the tool is not declared."""
        return tuple(self.tools.get(tool, {}))

    def __or__(self, other: ArgumentRules) -> ArgumentRules:
        """Join rules of different tools; ``other`` must have the same default and uncounted severities."""
        if not isinstance(other, ArgumentRules):
            return NotImplemented
        twice = sorted(set(self.tools) & set(other.tools))
        if twice:
            raise ParameterError(f"both rules declare {', '.join(twice)}; a tool is declared once.")
        if (self.default, self.uncounted) != (other.default, other.uncounted):
            raise ParameterError("the rules differ in their default or uncounted severities; make them alike first.")
        return replace(self, tools={**self.tools, **other.tools})

    def __reduce__(self) -> Any:
        tools = {tool: dict(fields) for tool, fields in self.tools.items()}
        return (ArgumentRules, (tools, self.default, self.uncounted, self.name))

    @staticmethod
    def from_json_schema(
        tool: str, schema: Mapping[str, Any], *, fields: Mapping[str, FieldRule] | None = None
    ) -> ArgumentRules:
        """Return the rules that a tool's JSON Schema declares; see ``plumbline.compare.json_schema.schema_fields``.

        Parameters
        ----------
        tool : str
            Name of the tool.
        schema : mapping
            JSON Schema of the tool's arguments, an object with properties.
        fields : mapping of field path to FieldRule, optional
            Rules that take the place of what the schema says, or add to it.

        Examples
        --------
        >>> schema = {"type": "object", "properties": {"page": {"type": "integer", "default": 1}}}
        >>> ArgumentRules.from_json_schema("list_orders", schema).tools["list_orders"]["page"].default
        1
        """
        from plumbline.compare.json_schema import schema_fields

        return ArgumentRules({tool: {**schema_fields(tool, schema), **(fields or {})}}, name="json schema")
