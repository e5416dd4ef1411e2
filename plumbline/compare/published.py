"""The argument comparison of the founding studies, under its own name and never the default.

It folds the case of identifiers, turns every number into a binary float, ignores the order and the repetitions of
lists, and leaves differences of severity ``low`` uncounted. It is here so that the published argument agreement can be
recomputed; see the reference for what it hides.

References
----------
Bhargs24/plumbline, release 0.3.0 (Apache-2.0), re-described and re-implemented from its published behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.field_rules import FieldRule
from plumbline.compare.normalise import published_value
from plumbline.compare.quantities import is_number
from plumbline.compare.verdicts import Severity, Verdict

__all__ = ["published_field", "published_rules"]

PublishedKind = Literal["exact", "numeric", "text", "set", "ignore"]
_KINDS = {
    "exact": "published",
    "text": "published",
    "numeric": "published_number",
    "set": "published_set",
    "ignore": "ignore",
}


def published_field(
    kind: PublishedKind = "exact",
    *,
    severity: Severity = "high",
    absolute: int | float | Decimal = 0,
    relative: int | float | Decimal = 0,
) -> FieldRule:
    """Return one field policy of the founding studies.

    Parameters
    ----------
    kind : {'exact', 'numeric', 'text', 'set', 'ignore'}
        ``text`` is compared as ``exact``; there was no semantic comparison.
    severity : {'critical', 'high', 'medium', 'low'}
        A difference of severity ``low`` is reported and not counted.
    absolute, relative : number, at least 0
        Tolerances of ``numeric``, as in ``math.isclose``.

    Raises
    ------
    ParameterError
        An unknown kind, or a tolerance for a kind that has none.
    """
    if kind not in _KINDS:
        raise ParameterError(f"published field kind {kind!r} is unknown; allowed are {', '.join(_KINDS)}.")
    if kind != "numeric" and (absolute or relative):
        raise ParameterError(f"a published field of kind {kind!r} has no tolerance; use kind='numeric'.")
    return FieldRule(_KINDS[kind], severity, absolute=Decimal(str(absolute)), relative=Decimal(str(relative)))


def published_rules(
    tools: Mapping[str, Mapping[str, FieldRule | tuple[str, str]]] | None = None,
) -> ArgumentRules:
    """Return argument rules that compare as the founding studies did.

    Parameters
    ----------
    tools : mapping of tool to mapping of field to FieldRule or (kind, severity), optional
        Field policies, from ``published_field`` or as its first two arguments. Any other field is compared by the type
        of the reference value: a boolean exactly, a number by its float, a list as a set of severity ``medium``,
        anything else exactly.

    Returns
    -------
    ArgumentRules
        Rules named ``published``; differences of severity ``low`` are not counted.

    Examples
    --------
    >>> rules = published_rules({"pay": {"amount": ("numeric", "critical"), "note": ("text", "low")}})
    >>> rules.name, rules.uncounted
    ('published', ('low',))
    """
    fields: dict[str, dict[str, FieldRule]] = {}
    for tool, declared in (tools or {}).items():
        fields[tool] = {path: _field(rule, f"{tool}.{path}") for path, rule in declared.items()}
    return ArgumentRules(fields, default=FieldRule("published_default"), uncounted=("low",), name="published")


def _field(rule: Any, shown: str) -> FieldRule:
    if isinstance(rule, tuple) and len(rule) == 2:
        return published_field(rule[0], severity=rule[1])
    if isinstance(rule, FieldRule) and rule.kind in _KINDS.values():
        return rule
    raise ParameterError(
        f"{shown} has the rule {rule!r}; published rules hold fields of published_field() or pairs (kind, severity)."
    )


def judge_published(candidate: Any, reference: Any, rule: FieldRule) -> tuple[Verdict, float | None, float | None, str]:
    """Compare two values as published; ``published_default`` chooses by the type of the reference."""
    kind = rule.kind
    if kind == "published_default":
        listed = isinstance(reference, list | tuple)
        kind = "published_set" if listed else "published_number" if is_number(reference) else "published"
    one, other = published_value(candidate), published_value(reference)
    if kind == "published_number":
        try:
            left, right = float(candidate), float(reference)
        except (TypeError, ValueError, OverflowError):
            return _equal(one == other), None, None, "normalised values, as one is no number"
        close = left == right or math.isclose(left, right, rel_tol=float(rule.relative), abs_tol=float(rule.absolute))
        ratio = left / right if right else None
        return _equal(close), abs(left - right), ratio, "numbers as binary floats"
    if kind == "published_set" and isinstance(one, list) and isinstance(other, list):
        same = {_text(item) for item in one} == {_text(item) for item in other}
        return _equal(same), None, None, "as sets of normalised items"
    same = type(one) is type(other) and one == other
    return _equal(same), 0.0 if same else 1.0, None, "normalised values"


def _equal(same: bool) -> Verdict:
    return "equal" if same else "different"


def _text(item: Any) -> str:
    return canonical_json(item) if not isinstance(item, float) or math.isfinite(item) else repr(item)
