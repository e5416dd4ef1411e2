"""Two calls of one tool, field by field.

A rule for a leaf that stands on a list or an object holds for every leaf below; a list without a collection's rule is
compared position by position. Sets and multisets pair their items one to one so that as many as possible agree, and
among the rest so that as little as possible differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules, RuleNode
from plumbline.compare.field_rules import COLLECTIONS, FieldRule, exact
from plumbline.compare.fields import join_index, join_key
from plumbline.compare.judge import judge_value
from plumbline.compare.pairing import pair_items
from plumbline.compare.quantities import json_type, read_money
from plumbline.compare.verdicts import AGREEING, MISSING, FieldComparison, Verdict

__all__ = ["CallComparison", "compare_call", "compare_values"]

_ONE_SIDE: dict[bool, tuple[Verdict, str]] = {
    True: ("missing", "the candidate lacks it"),
    False: ("extra", "the reference lacks it"),
}


@dataclass(frozen=True)
class CallComparison:
    """The comparison of one candidate call with one reference call.

    Parameters
    ----------
    tool : str or None
        The tool both call.
    verdict : str
        ``different`` if any counted field disagrees; else ``unreadable`` or ``not_recorded`` if a counted field could
        not be judged; else ``equal``.
    fields : tuple of FieldComparison
        Every compared field; a container that is the same on both sides is one entry.
    """

    tool: str | None
    verdict: Verdict
    fields: tuple[FieldComparison, ...]

    @property
    def differences(self) -> tuple[FieldComparison, ...]:
        """The fields that count as disagreement or could not be judged."""
        return tuple(field for field in self.fields if field.counted)

    @property
    def equal(self) -> bool | None:
        """Whether the arguments agree; None if that cannot be told."""
        return None if self.verdict in ("unreadable", "not_recorded") else self.verdict == "equal"

    def __str__(self) -> str:
        head = f"{self.tool or 'call'}: {self.verdict}"
        return "\n".join([head, *(f"  {field}" for field in self.differences)])


def compare_values(
    candidate: Any,
    reference: Any,
    rule: FieldRule | None = None,
    *,
    field: str = "",
    rules: ArgumentRules | None = None,
) -> tuple[FieldComparison, ...]:
    """Compare two values under one rule.

    Parameters
    ----------
    candidate, reference : object
        JSON values; ``MISSING`` for an absent key.
    rule : FieldRule, optional
        Exact by default.
    field : str
        Path under which the result is reported.
    rules : ArgumentRules, optional
        Where the default for leaves and the uncounted severities come from.

    Returns
    -------
    tuple of FieldComparison

    Examples
    --------
    >>> from decimal import Decimal
    >>> from plumbline.compare.field_rules import money
    >>> (found,) = compare_values(Decimal("48200.00"), Decimal("4820.00"), money(), field="amount")
    >>> found.verdict, found.ratio
    ('different', 10.0)
    """
    node = RuleNode()
    if rule is not None:
        node.put(rule, field or "value")
    walk = _Walk(rules or ArgumentRules())
    walk.compare(candidate, reference, node, field, walk.rules.default)
    return tuple(walk.found)


def compare_call(
    candidate: Mapping[str, Any] | str | None,
    reference: Mapping[str, Any] | str | None,
    *,
    tool: str | None = None,
    rules: ArgumentRules | None = None,
    extra: str = "different",
) -> CallComparison:
    """Compare the arguments of two calls of one tool.

    Parameters
    ----------
    candidate, reference : mapping, JSON text or None
        The arguments; None if they were not recorded.
    tool : str, optional
        Which rules hold.
    rules : ArgumentRules, optional
        Exact comparison of every field by default.
    extra : {'different', 'ignored'}
        What a top-level key that only the candidate has counts as; ``ignored`` asks whether the reference is contained
        in the candidate.

    Returns
    -------
    CallComparison

    Raises
    ------
    ParameterError
        Arguments that are neither an object nor None.

    Examples
    --------
    >>> print(compare_call({"status": None}, {"status": "Q"}, tool="list_orders"))
    list_orders: different
      status: different, reference "Q", candidate null; the candidate is null
    """
    if extra not in ("different", "ignored"):
        raise ParameterError(f"extra is {extra!r}; allowed are different, ignored.")
    rules = rules or ArgumentRules()
    walk = _Walk(rules)
    left, right = _arguments(candidate, "candidate"), _arguments(reference, "reference")
    if left is None or right is None:
        sides = " and ".join(side for side, value in (("candidate", left), ("reference", right)) if value is None)
        walk.report("", exact(), "not_recorded", candidate, reference, None, None, f"not recorded: {sides}")
    else:
        walk.compare_object(left, right, rules.tree(tool), "", rules.default, extra_ignored=extra == "ignored")
    return CallComparison(tool, overall(walk.found), tuple(walk.found))


def overall(fields: list[FieldComparison]) -> Verdict:
    """Return the verdict of a call from the verdicts of its fields."""
    counted = {field.verdict for field in fields if field.counted}
    if counted & {"different", "missing", "extra"}:
        return "different"
    return "unreadable" if "unreadable" in counted else "not_recorded" if counted else "equal"


def _arguments(value: Mapping[str, Any] | str | None, side: str) -> Mapping[str, Any] | None:
    try:
        found = parse_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ParameterError(
            f"the {side}'s arguments are not JSON: {error}; text that cannot be read is 'unread'."
        ) from None
    if found is not None and not isinstance(found, Mapping):
        raise ParameterError(
            f"the {side}'s arguments are a {json_type(found)}; arguments are an object of names to values."
        )
    return found


class _Walk:
    """The walk through two values at once, collecting what it finds."""

    def __init__(self, rules: ArgumentRules) -> None:
        self.rules = rules
        self.found: list[FieldComparison] = []

    def report(
        self,
        path: str,
        rule: FieldRule,
        verdict: Verdict,
        candidate: Any,
        reference: Any,
        distance: float | None,
        ratio: float | None,
        reason: str,
    ) -> None:
        listed = rule.kind == "published_default" and isinstance(reference, list | tuple)
        severity = "medium" if listed else rule.severity
        counted = verdict not in AGREEING and severity not in self.rules.uncounted
        self.found.append(
            FieldComparison(path, verdict, severity, candidate, reference, distance, ratio, reason, counted)
        )

    def compare(self, candidate: Any, reference: Any, node: RuleNode, path: str, inherited: FieldRule) -> None:
        rule = node.rule or inherited
        if rule.kind == "ignore":
            if candidate is not MISSING or reference is not MISSING:
                self.report(path, rule, "ignored", candidate, reference, None, None, "declared ignored")
            return
        if candidate is MISSING or reference is MISSING:
            declared = node.rule
            if declared is None or declared.default is MISSING:
                self._absent(candidate, reference, node.rule or rule, path)
                return
            candidate = declared.default if candidate is MISSING else candidate
            reference = declared.default if reference is MISSING else reference
        leaves = rule if rule.kind not in COLLECTIONS else self.rules.default
        both = json_type(candidate), json_type(reference)
        if both == ("object", "object") and not _one_amount(candidate, reference, rule) and not _published(rule):
            before = len(self.found)
            self.compare_object(candidate, reference, node, path, leaves)
            if len(self.found) == before:
                self.report(path, rule, "equal", candidate, reference, 0.0, None, "both empty")
        elif both == ("list", "list") and not _published(rule):
            self._list(candidate, reference, node, path, rule, leaves)
        else:
            found = judge_value(candidate, reference, rule)
            self.report(path, rule, found.verdict, candidate, reference, *found[1:])

    def _absent(self, candidate: Any, reference: Any, rule: FieldRule, path: str) -> None:
        if candidate is MISSING and reference is MISSING:
            if rule.presence == "required":
                self.report(path, rule, "equal", candidate, reference, 0.0, None, "required, and absent on both sides")
            return
        verdict, reason = _ONE_SIDE[candidate is MISSING]
        if rule.presence == "optional":
            verdict, reason = "ignored", f"optional, and {reason}"
        self.report(path, rule, verdict, candidate, reference, None, None, reason)

    def compare_object(
        self,
        candidate: Mapping[str, Any],
        reference: Mapping[str, Any],
        node: RuleNode,
        path: str,
        inherited: FieldRule,
        extra_ignored: bool = False,
    ) -> None:
        keys = dict.fromkeys([*reference, *candidate, *node.fields])
        for key in keys:
            if not isinstance(key, str):
                raise ParameterError(f"an argument's key must be text, not {type(key).__name__} {key!r}.")
            below = node.fields.get(key, RuleNode())
            where = join_key(path, key)
            left, right = candidate.get(key, MISSING), reference.get(key, MISSING)
            required = below.rule is not None and below.rule.presence == "required"
            if extra_ignored and right is MISSING and left is not MISSING and not required:
                self.report(
                    where, below.rule or inherited, "ignored", left, right, None, None, "extra keys are allowed"
                )
            else:
                self.compare(left, right, below, where, inherited)

    def _list(
        self, candidate: Any, reference: Any, node: RuleNode, path: str, rule: FieldRule, leaves: FieldRule
    ) -> None:
        below = node.items or RuleNode()
        if rule.kind not in ("set", "multiset"):
            longest = max(len(candidate), len(reference))
            pairs = [(i if i < len(candidate) else None, i if i < len(reference) else None) for i in range(longest)]
        else:
            pairs = pair_items(
                candidate,
                reference,
                lambda one, other: self._cost(one, other, below, leaves),
                repeats=rule.kind == "multiset",
                carries_over=not below.tolerant and not leaves.tolerant,
            )
        if not pairs:
            self.report(path, rule, "equal", candidate, reference, 0.0, None, "both empty")
        for left, right in pairs:
            where = join_index(path, left if left is not None else right if right is not None else 0)
            one = MISSING if left is None else candidate[left]
            other = MISSING if right is None else reference[right]
            if left is None or right is None:
                self._absent(one, other, _item_rule(below, rule), where)
            else:
                self.compare(one, other, below, where, leaves)

    def _cost(self, candidate: Any, reference: Any, below: RuleNode, leaves: FieldRule) -> float:
        """0 if two items agree, else 1 plus the share of their fields that do not."""
        walk = _Walk(self.rules)
        walk.compare(candidate, reference, below, "", leaves)
        wrong = sum(field.counted for field in walk.found)
        return 1.0 + wrong / len(walk.found) if wrong else 0.0


def _one_amount(candidate: Any, reference: Any, rule: FieldRule) -> bool:
    """Whether an object stands for an amount of money rather than holding several."""
    return rule.kind == "money" and (
        read_money(candidate, rule.currency) is not None or read_money(reference, rule.currency) is not None
    )


def _published(rule: FieldRule) -> bool:
    return rule.kind.startswith("published")


def _item_rule(below: RuleNode, collection: FieldRule) -> FieldRule:
    """The rule an item without partner is reported under: its own, or the severity of its collection."""
    return below.rule or exact(severity=collection.severity)
