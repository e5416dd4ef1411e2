"""A policy: named rules, each with an id of its own, a digest, and a form in which it can be written down."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import PolicyError
from plumbline.rules.base import Context, Rule, When, needs_text
from plumbline.rules.budgets import CallBudget, SumAtMost
from plumbline.rules.coexistence import NotCoExistence, NotSuccession, RespondedExistence
from plumbline.rules.conditions import Where
from plumbline.rules.fingerprint import callable_digest, callable_name
from plumbline.rules.flow import ArgFromEarlier, ArgFromResult, MessageBefore, OneCallATurn
from plumbline.rules.invariants import ArgEquals, ArgSatisfies, CallAtMost, MustCall, MustNotCall, Ordering
from plumbline.rules.temporal import (
    AlternatePrecedence,
    AlternateResponse,
    ChainPrecedence,
    ChainResponse,
    Precedence,
    Response,
)

__all__ = ["KINDS", "Policy"]

_IN_FILES = (
    MustCall, MustNotCall, Ordering, CallAtMost, ArgEquals, ArgSatisfies, ArgFromEarlier, MessageBefore, OneCallATurn,
    Response, Precedence, ChainResponse, ChainPrecedence, AlternateResponse, AlternatePrecedence, NotSuccession,
    RespondedExistence, NotCoExistence, CallBudget, SumAtMost, ArgFromResult,
)  # fmt: skip
KINDS: Mapping[str, type[Rule]] = {rule.kind: rule for rule in _IN_FILES}
"""Rules by the name they have in a policy file."""

_KEYS = ("name", "version", "description", "rules")


@dataclass(frozen=True)
class Policy:
    """Rules that belong together, under a name and a version.

    Parameters
    ----------
    name : str
        Name of the policy.
    rules : iterable of rules
        At least one; no two may share an id, since every figure by rule would merge them.
    version : str
        Version of the policy, for the reader; the digest does not depend on anyone remembering to change it.
    description : str
        What the policy is for.

    Raises
    ------
    PolicyError
        No rules, something that is not a rule, or two rules with one id.

    Examples
    --------
    >>> policy = Policy("payments", [MustCall("check_duplicate"), CallAtMost("pay")])
    >>> policy.ids
    ('must_call:check_duplicate', 'at_most:pay')
    """

    name: str
    rules: tuple[Rule, ...]
    _: dataclasses.KW_ONLY
    version: str = "1"
    description: str = ""

    def __init__(self, name: str, rules: Iterable[Rule], *, version: str = "1", description: str = "") -> None:
        needs_text(name, "Policy", "name")
        needs_text(version, f"policy {name!r}", "version")
        if isinstance(rules, Rule | str | Mapping) or not isinstance(rules, Iterable):
            raise PolicyError(f"policy {name!r}: rules must be a list of rules; found {type(rules).__name__}")
        rules = tuple(rules)
        if not rules:
            raise PolicyError(f"policy {name!r} has no rules; a policy without rules would pass everything")
        for position, rule in enumerate(rules):
            if not isinstance(rule, Rule):
                raise PolicyError(f"policy {name!r}: rules[{position}] is not a rule but {rule!r}")
        if twice := _twice(rules):
            raise PolicyError(f"policy {name!r}: {_merged(rules, *twice)}")
        if not isinstance(description, str):
            raise PolicyError(f"policy {name!r}: description must be text; found {description!r}")
        for key, value in (("name", name), ("rules", rules), ("version", version), ("description", description)):
            object.__setattr__(self, key, value)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, rule_id: str) -> Rule:
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        raise PolicyError(f"policy {self.name!r} has no rule {rule_id!r}.{_near(rule_id, self.ids)}")

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the rules, in order."""
        return tuple(rule.id for rule in self.rules)

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides a verdict, and of the sentences, as ``sha256:…``.

        A predicate enters with its source; what it calls in turn does not.
        """
        return "sha256:" + hashlib.sha256(canonical_json(self.to_dict()).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as JSON values.

        Returns
        -------
        dict
            What ``from_dict`` reads. A function cannot be written down: it appears as its name and a digest of its
            source, which ``from_dict`` refuses.
        """
        head = {"name": self.name, "version": self.version, "description": self.description}
        return head | {"rules": [_rule_to_dict(rule) for rule in self.rules]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Policy:
        """Read a policy from JSON values.

        Parameters
        ----------
        values : mapping
            ``{"name": …, "rules": [{"rule": "must_call", "tool": …}, …]}``, as ``to_dict`` gives it.

        Raises
        ------
        PolicyError
            An unknown or missing key, an unknown rule, a value a rule does not take; the message says where.

        Examples
        --------
        >>> Policy.from_dict({"name": "p", "rules": [{"rule": "must_call", "tool": "check"}]}).ids
        ('must_call:check',)
        """
        return policy_from(values, spell_path)


def spell_path(path: tuple[str | int, ...]) -> str:
    """Spell the place of a value in a policy, such as ``rules[3].tool``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def policy_from(values: Any, where: Callable[[tuple[str | int, ...]], str]) -> Policy:
    """Build a policy from JSON values; `where` turns a path such as ``("rules", 3)`` into words for a message."""
    if not isinstance(values, Mapping):
        raise PolicyError(f"{where(())}: a policy is a mapping with the keys {', '.join(_KEYS)}".removeprefix(": "))
    for key in values:
        if key not in _KEYS:
            raise PolicyError(f"{where((key,))}: a policy has no key {key!r}.{_near(key, _KEYS)}")
    for key in ("name", "rules"):
        if key not in values:
            raise PolicyError(f"{where(())}: the policy lacks {key!r}".removeprefix(": "))
    if not isinstance(values["rules"], list | tuple):
        raise PolicyError(f"{where(('rules',))}: rules must be a list; found {values['rules']!r}")
    rules = tuple(_rule_from(rule, ("rules", i), where) for i, rule in enumerate(values["rules"]))
    if twice := _twice(rules):
        raise PolicyError(f"{where(('rules', twice[1]))}: {_merged(rules, *twice)}")
    head = {key: values[key] for key in ("version", "description") if key in values}
    try:
        return Policy(values["name"], rules, **head)
    except PolicyError as error:
        raise PolicyError(f"{where(())}: {error}".removeprefix(": ")) from None


def _rule_from(values: Any, path: tuple[str | int, ...], where: Callable[[tuple[str | int, ...]], str]) -> Rule:
    if not isinstance(values, Mapping) or "rule" not in values:
        raise PolicyError(f"{where(path)}: a rule is a mapping with the key 'rule' ({', '.join(KINDS)})")
    kind = values["rule"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise PolicyError(f"{where((*path, 'rule'))}: there is no rule {kind!r}.{_near(kind, tuple(KINDS))}")
    fields = [f.name for f in dataclasses.fields(KINDS[kind])]
    given = {key: value for key, value in values.items() if key != "rule"}
    for key, value in given.items():
        if key not in fields:
            raise PolicyError(f"{where((*path, key))}: {kind} has no key {key!r}.{_near(key, fields)}")
        if key == "predicate" or (key == "when" and isinstance(value, Mapping) and "callable" in value):
            raise PolicyError(
                f"{where((*path, key))}: {key} is a function, which no file can hold; build this rule in Python"
            )
    try:
        return KINDS[kind](**{key: _read_value(key, value) for key, value in given.items()})
    except (PolicyError, TypeError) as error:
        found = str(error).split("__init__() ")[-1]
        raise PolicyError(f"{where(path)}: {kind}: {found}") from None


def _read_value(key: str, value: Any) -> Any:
    if key == "when" and isinstance(value, Mapping):
        if "key" not in value or set(value) - {"key", "equals"}:
            raise PolicyError(f"when has the keys key and equals; found {sorted(value)}")
        return When(**value)
    if key in ("value", "most") and isinstance(value, Mapping) and set(value) == {"context"}:
        return Context(value["context"])
    return value


def _rule_to_dict(rule: Rule) -> dict[str, Any]:
    out: dict[str, Any] = {"rule": rule.kind}
    for field in dataclasses.fields(rule):
        value = getattr(rule, field.name)
        if isinstance(value, When):
            out[field.name] = {"key": value.key, "equals": _listed(value.equals)}
        elif isinstance(value, Context):
            out[field.name] = {"context": value.key}
        elif callable(value):
            out[field.name] = {"callable": callable_name(value), "digest": callable_digest(value)}
        elif value is not None:
            out[field.name] = _listed(value)
    return out


def _listed(value: Any) -> Any:
    if isinstance(value, Where):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_listed(member) for member in value]
    return {key: _listed(member) for key, member in value.items()} if isinstance(value, Mapping) else value


def _twice(rules: tuple[Rule, ...]) -> tuple[int, int] | None:
    seen: dict[str, int] = {}
    for position, rule in enumerate(rules):
        if rule.id in seen:
            return seen[rule.id], position
        seen[rule.id] = position
    return None


def _merged(rules: tuple[Rule, ...], one: int, other: int) -> str:
    return (
        f"rules[{one}] and rules[{other}] share the id {rules[one].id!r}, so figures by rule would merge them. "
        "Give one of them an id of its own: id='…'."
    )


def _near(word: Any, allowed: Iterable[str]) -> str:
    allowed = tuple(allowed)
    near = difflib.get_close_matches(word, allowed, 1) if isinstance(word, str) else []
    return (f" Did you mean {near[0]!r}?" if near else "") + f" Allowed: {', '.join(allowed)}."
