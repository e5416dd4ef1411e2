"""What temporal rules know of a call: whether it happened, whose it is, and whether a condition on it is met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from plumbline.base.canonical import parse_json
from plumbline.base.errors import PolicyError
from plumbline.rules.base import Context, frozen_value, needs_text, one_of
from plumbline.rules.trial_rules import Steps, StepView
from plumbline.rules.values import compare
from plumbline.rules.words import Reason

__all__ = [
    "MAYBE", "NO", "OPERATORS", "YES", "By", "Event", "Truth", "Where", "argument_of", "bare", "few", "read_argument",
    "read_by", "read_events", "read_result", "read_where", "same_entity", "unset", "values_at", "where_truth",
]  # fmt: skip

NO, MAYBE, YES = range(3)
"""Whether something is so: in no world in which the record could be true, in some, or in all."""

OPERATORS: Mapping[str, str] = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "in", "exists": "exists",
}  # fmt: skip
"""Operators of a ``Where``, and how comparisons of values spell them."""

_PLACES = ("arguments", "result")

By = str | Mapping[str, str] | None
"""Which argument names the entity: one name for all tools, or a mapping of tool to name; None: no entities."""


class Truth(NamedTuple):
    """Whether something is so, and why the record cannot tell."""

    level: int
    reason: Reason = Reason.NONE


@dataclass(frozen=True)
class Where:
    """A condition on one call, as data: the value at a path in its arguments or in its result, compared.

    Where nothing stands at the path (null counts as nothing), no comparison is met, ``ne`` neither. A path through a
    list stands for its members: some member must meet the condition, for ``ne`` all must. Numbers are compared as the
    decimals they are written as; ``1``, ``"1"`` and ``True`` differ. A result that is text is read as JSON if it is.

    Parameters
    ----------
    path : str
        ``a.b`` for a nested value. Empty, for a result only: the result as a whole.
    op : {'eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in', 'exists'}
        ``exists`` asks whether there is a value, or, with ``value=False``, whether there is none.
    value : JSON value or Context
        What to compare with, ``True`` by default; a list for ``in``. Where the context lacks the key of a ``Context``,
        or holds null for it, the rule is not applicable.
    of : {'arguments', 'result'}
        Where the path begins.

    Examples
    --------
    >>> Where("duplicate", of="result").words
    'result duplicate eq true'
    >>> Where("amount", "gt", Context("approval_threshold")).words
    "amount gt the task's approval_threshold"
    """

    path: str
    op: str = "eq"
    value: Any = True
    of: str = "arguments"

    def __post_init__(self) -> None:
        one_of(self.of, _PLACES, "Where", "of")
        if self.path != "" or self.of != "result":
            needs_text(self.path, "Where", "path")
        one_of(self.op, tuple(OPERATORS), "Where", "op")
        if isinstance(self.value, Context):
            if self.op == "exists":
                raise PolicyError("Where: exists takes True or False; found a Context")
            return
        value = frozen_value(self.value, "Where")
        if self.op == "exists" and not isinstance(value, bool):
            raise PolicyError(f"Where: exists takes True or False; found {self.value!r}")
        if self.op == "in" and not isinstance(value, tuple):
            raise PolicyError(f"Where: in needs a list of values; found {self.value!r}")
        if self.op != "in" and not isinstance(value, str | int | float) and not hasattr(value, "as_tuple"):
            raise PolicyError(
                f"Where: {self.op} compares with text, a number, True or False; found {self.value!r}. "
                "For null, ask for op='exists', value=False."
            )
        object.__setattr__(self, "value", value)

    @property
    def words(self) -> str:
        """The condition in words."""
        place = "result" if self.of == "result" else ""
        if isinstance(self.value, Context):
            shown = f"the task's {self.value.key}"
        else:
            shown = str(self.value).lower() if isinstance(self.value, bool) else few([self.value])
        return " ".join(part for part in (place, self.path, self.op, shown) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON values, as it stands in a policy file."""
        value = {"context": self.value.key} if isinstance(self.value, Context) else self.value
        listed = list(value) if isinstance(value, tuple) else value
        return {"path": self.path, "op": self.op, "value": listed, "of": self.of}

    def truth(self, step: StepView, context: Mapping[str, Any]) -> Truth:
        """Whether a call meets the condition."""
        found = read_argument(step, self.path) if self.of == "arguments" else read_result(step, self.path)
        if found is None:
            return Truth(MAYBE, _lost(step, self.of))
        if self.op == "exists":
            return Truth(YES if bool(found) == self.value else NO)
        wanted = context[self.value.key] if isinstance(self.value, Context) else self.value
        met = [compare(one, OPERATORS[self.op], wanted) for one in found]
        return Truth(YES if met and (all(met) if self.op == "ne" else any(met)) else NO)


def _lost(step: StepView, place: str) -> Reason:
    if place == "arguments":
        return Reason.UNREAD_ARGUMENTS
    return Reason.NO_RESULT if step.open_ended else Reason.UNREAD_RESULTS


def read_where(given: Any, owner: str) -> tuple[Where, ...]:
    """Return the conditions of a rule: none, one, or a list of which all must be met; mappings as in policy files."""
    if given is None:
        return ()
    listed = given if isinstance(given, list | tuple) else (given,)
    return tuple(_one_where(one, owner) for one in listed)


def _one_where(given: Any, owner: str) -> Where:
    if isinstance(given, Where):
        return given
    if not isinstance(given, Mapping):
        raise PolicyError(f"{owner}: where must be a Where, a mapping of its keys or a list of them; found {given!r}")
    values = dict(given)
    if "path" not in values or set(values) - {"path", "op", "value", "of"}:
        raise PolicyError(f"{owner}: where has the keys path, op, value and of; found {sorted(map(str, values))}")
    value = values.get("value", True)
    if isinstance(value, Mapping) and set(value) == {"context"}:
        values["value"] = Context(value["context"])
    return Where(**values)


def read_by(given: By, tools: Sequence[str], owner: str) -> By:
    """Return what names the entities; a mapping must name an argument of every tool of the rule."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        for tool, path in given.items():
            needs_text(tool, owner, "by")
            needs_text(path, owner, f"by[{tool!r}]")
        if lacking := [tool for tool in tools if tool not in given]:
            raise PolicyError(f"{owner}: by names no argument of {lacking[0]!r}; it names {', '.join(given) or 'none'}")
        return dict(given)
    needs_text(given, owner, "by")
    return given


def argument_of(by: By) -> str:
    """Name the argument that names the entities, for a sentence."""
    return " or ".join(dict.fromkeys(by.values())) if isinstance(by, Mapping) else str(by)


def unset(conditions: Iterable[Any], context: Mapping[str, Any]) -> bool:
    """Whether a value that a rule looks up in the context is not there; takes ``Where``, ``Context``, or values."""
    values = [one.value if isinstance(one, Where) else one for one in conditions]
    return any(isinstance(one, Context) and context.get(one.key) is None for one in values)


def where_truth(conditions: Sequence[Where], step: StepView, context: Mapping[str, Any]) -> Truth:
    """Whether a call meets all conditions."""
    return min((one.truth(step, context) for one in conditions), key=lambda t: t.level, default=Truth(YES))


class Event(NamedTuple):
    """A call that happened or may have, as a temporal rule sees it.

    `entity` is None for a call that belongs to no entity; `known` is false where the record does not tell.
    """

    step: StepView
    happened: int
    entity: tuple[Any, ...] | None
    known: bool

    @property
    def reason(self) -> Reason:
        """Why it is in doubt whether the call happened, or whose it is."""
        return Reason.NO_RESULT if self.happened == MAYBE else Reason.UNREAD_ARGUMENTS


def read_events(steps: Sequence[StepView], by: By, *, attempts: bool = False) -> list[Event]:
    """Return the calls of a trial that happened or may have, in recorded order; with `attempts`, all calls."""
    if not isinstance(steps, Steps):
        return _read_events(steps, by, attempts)
    asked = ("events", tuple(by.items()) if isinstance(by, Mapping) else by, attempts)
    if asked not in steps.memo:
        steps.memo[asked] = _read_events(steps, by, attempts)
    found: list[Event] = steps.memo[asked]
    return found


def _read_events(steps: Sequence[StepView], by: By, attempts: bool) -> list[Event]:
    calls = [step for step in steps if step.is_call and (attempts or step.happened or step.open_ended)]
    return [_event(step, by, YES if attempts or step.happened else MAYBE) for step in calls]


def _event(step: StepView, by: By, happened: int) -> Event:
    path = by.get(str(step.name)) if isinstance(by, Mapping) else by
    if path is None:
        return Event(step, happened, None, True)
    found = read_argument(step, path)
    if found is None:
        return Event(step, happened, None, False)
    return Event(step, happened, tuple(map(bare, found)) or None, True)


def same_entity(one: Event, other: Event, by: By) -> int:
    """Whether two calls belong to one entity; a call of no entity shares it with none."""
    if by is None:
        return YES
    if one.known and other.known:
        return YES if one.entity is not None and one.entity == other.entity else NO
    return NO if (one.known and one.entity is None) or (other.known and other.entity is None) else MAYBE


def read_argument(step: StepView, path: str) -> list[Any] | None:
    """Return the values at a path of a call's arguments, an empty list if none; None if they could not be read."""
    known = step.read
    if path not in known:
        arguments = step.arguments
        found = list(values_at(arguments, path)) if isinstance(arguments, Mapping) else None
        known[path] = None if step.unread and not found else found
    return known[path]


def read_result(step: StepView, path: str) -> list[Any] | None:
    """Return the values at a path of a call's result, an empty list if none; None if it is not on record."""
    if not step.is_call or step.result_text is None or step.open_ended:
        return None
    result = step.result
    if isinstance(result, str) and path:
        try:
            result = parse_json(result)
        except ValueError:
            return None
        if not isinstance(result, Mapping | list):
            return None
    return list(values_at(result, path))


def values_at(value: Any, path: str) -> Iterator[Any]:
    """Every scalar under a path; a list on the way or at the end stands for its members."""
    if isinstance(value, list):
        for member in value:
            yield from values_at(member, path)
    elif not path:
        if isinstance(value, Mapping):
            for member in value.values():
                yield from values_at(member, "")
        elif value is not None:
            yield value
    elif isinstance(value, Mapping):
        if path in value:
            yield from values_at(value[path], "")
        else:
            head, dot, rest = path.partition(".")
            if dot and head in value:
                yield from values_at(value[head], rest)


def bare(value: Any) -> Any:
    """A truth value is no number: True must not pass for 1."""
    return ("bool", value) if isinstance(value, bool) else value


def few(values: Sequence[Any]) -> str:
    """Spell at most three values."""
    shown = ", ".join(repr(v) if isinstance(v, str) else str(v) for v in values[:3])
    return shown + (f" and {len(values) - 3} more" if len(values) > 3 else "")
