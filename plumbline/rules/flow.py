"""Rules about turns and data flow: where an argument came from, what was said before a call, one call at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.base import needs_text, one_of
from plumbline.rules.conditions import (
    MAYBE,
    NO,
    YES,
    By,
    Event,
    argument_of,
    bare,
    few,
    read_argument,
    read_by,
    read_events,
    read_result,
    same_entity,
    values_at,
)
from plumbline.rules.relations import whose
from plumbline.rules.trial_rules import Found, Judged, StepView, TrialRule, judged
from plumbline.rules.values import equal
from plumbline.rules.words import Reason

__all__ = ["ArgFromEarlier", "ArgFromResult", "MessageBefore", "OneCallATurn"]

_SOURCES = ("result", "user")


@dataclass(frozen=True)
class ArgFromEarlier(TrialRule):
    """An argument of every successful call was seen before: in an earlier result of a tool, or in the user's words.

    A value that came from nowhere was made up. Text is looked for as a whole value or a key of a result, and between
    word boundaries in the user's words; numbers by their value. Lists are looked for member by member.

    Parameters
    ----------
    tool, arg : str
        Tool, and name of its argument; ``a.b`` for a nested one, through lists as well.
    sources : tuple of str
        Where it may come from: ``result``, ``user``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``arg_from_earlier:tool.arg``.

    Examples
    --------
    >>> ArgFromEarlier("cancel", "order_id").id
    'arg_from_earlier:cancel.order_id'
    """

    kind: ClassVar[str] = "arg_from_earlier"
    tool: str
    arg: str
    sources: tuple[str, ...] = _SOURCES

    def __post_init__(self) -> None:
        needs_text(self.tool, "ArgFromEarlier", "tool")
        needs_text(self.arg, "ArgFromEarlier", "arg")
        given = self.sources
        if isinstance(given, str) or not given:
            raise PolicyError(f"ArgFromEarlier: sources must list some of {', '.join(_SOURCES)}; found {given!r}")
        for name in given:
            one_of(name, _SOURCES, "ArgFromEarlier", "sources")
        object.__setattr__(self, "sources", tuple(given))
        told = f"{self.tool}.{self.arg} was seen before, in {' or '.join(_WORDS[s] for s in self.sources)}."
        self._complete(f"arg_from_earlier:{self.tool}.{self.arg}", told)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        found, active, doubt = [], False, None
        seen, words = set[Any](), list[str]()
        blind = False
        for step in steps:
            if step.is_call and step.name == self.tool and (step.happened or step.open_ended):
                values = None if step.unread or step.arguments is None else list(values_at(step.arguments, self.arg))
                lost = [] if values is None else [v for v in values if not _known(v, seen, words)]
                active |= step.happened
                if values is None:
                    doubt = doubt or Reason.UNREAD_ARGUMENTS
                elif lost and blind:
                    doubt = doubt or Reason.UNREAD_RESULTS
                elif lost and step.happened:
                    where = " or ".join(_WORDS[s] for s in self.sources)
                    found.append(Found(step.step, f"{self.arg} seen before in {where}", f"{few(lost)} seen nowhere"))
                elif lost:
                    doubt = doubt or Reason.NO_RESULT
            if step.is_call and "result" in self.sources and step.status != "blocked":
                blind |= step.happened and step.result_text is None
                if step.happened:
                    seen |= set(_scalars(step.result))
                    words += [step.result] if isinstance(step.result, str) else []
            elif step.kind == "message" and step.agent == "user" and "user" in self.sources:
                words.append(str(step.result))
        return judged(found, active=active, doubt=doubt)


_WORDS = {"result": "an earlier result", "user": "the user's words"}


def _scalars(value: Any) -> Iterator[Any]:
    """Every scalar of a result, its keys among them: ids are often keys."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key
            yield from _scalars(member)
    elif isinstance(value, list):
        for member in value:
            yield from _scalars(member)
    elif value is not None:
        yield bare(value)


def _known(value: Any, seen: set[Any], words: Sequence[str]) -> bool:
    if bare(value) in seen:
        return True
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return not isinstance(value, bool) and any(pattern.search(each) for each in words)


@dataclass(frozen=True)
class ArgFromResult(TrialRule):
    """An argument of every successful call equals a value of the latest successful earlier result of another tool.

    ``ArgFromEarlier`` asks whether a value was seen anywhere; this rule says where it must come from. Vacuous if the
    tool was never called. A call without an earlier result violates the rule, as does one that lacks the argument.
    Numbers are compared as the decimals they are written as; ``1`` and ``"1"`` differ. A result that is text is read as
    JSON if it is, and otherwise holds no value that could be looked up: unobservable.

    Parameters
    ----------
    tool, arg : str
        Tool, and name of its argument; ``a.b`` for a nested one. Of a list, all members must agree, in order.
    source : str
        Tool whose result holds the value.
    path : str
        Place of the value in the result, ``a.b`` for a nested one; empty for the result as a whole.
    by : str or mapping of tool to str, optional
        Name of the argument that names the entity, see ``Response``: the result must be one of the same entity.
    severity, when, id, description
        See ``Rule``; the id defaults to ``arg_from_result:tool.arg``.

    Examples
    --------
    >>> ArgFromResult("pay", "amount", source="get_invoice", path="total", by="invoice_id").description
    "pay.amount is the total of get_invoice's latest result, of the same invoice_id."
    """

    kind: ClassVar[str] = "arg_from_result"
    tool: str
    arg: str
    source: str = field(kw_only=True)
    path: str = field(default="", kw_only=True)
    by: By = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("tool", "arg", "source", *(("path",) if self.path != "" else ())):
            needs_text(getattr(self, name), "ArgFromResult", name)
        object.__setattr__(self, "by", read_by(self.by, self.tools, "ArgFromResult"))
        said = f"{self.tool}.{self.arg} is {f'the {self.path} of ' if self.path else ''}{self.source}'s latest result"
        said += f", of the same {argument_of(self.by)}" if self.by is not None else ""
        self._complete(f"arg_from_result:{self.tool}.{self.arg}", f"{said}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return tuple(dict.fromkeys((self.tool, self.source)))

    @property
    def reads(self) -> frozenset[str] | None:
        """Names of the steps on which the answer depends."""
        return frozenset(self.tools)

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        found, doubt = [], None
        events = read_events(steps, self.by)
        calls = [(at, event) for at, event in enumerate(events) if event.step.name == self.tool]
        for at, event in calls:
            value = read_argument(event.step, self.arg)
            outcomes, reason, seen = self._look(value, event, events[:at])
            if outcomes == {YES}:
                continue
            if outcomes == {NO} and event.happened == YES:
                name = f"{self.path} of {self.source}" if self.path else f"the result of {self.source}"
                given = few(value) if value else "missing"
                found.append(Found(event.step.step, f"{self.arg} as {name}{whose(event, self.by)}{seen}", given))
            else:
                doubt = doubt or (Reason.NO_RESULT if event.happened == MAYBE else reason)
        active = any(event.happened == YES for _, event in calls)
        if calls and not active:
            doubt = doubt or Reason.NO_RESULT
        return judged(found, active=active, doubt=doubt)

    def _look(self, value: list[Any] | None, event: Event, earlier: Sequence[Event]) -> tuple[set[int], Reason, str]:
        """Return what may be true of the argument, why that is not known, and what the latest result holds."""
        outcomes: set[int] = set()
        reason, seen = Reason.NO_RESULT, ""
        if value == []:
            return {NO}, reason, ""
        for other in reversed(earlier):
            shared = same_entity(event, other, self.by) if other.step.name == self.source else NO
            if shared == NO:
                continue
            held = read_result(other.step, self.path)
            if value is None or held is None:
                outcomes.add(MAYBE)
                unread = Reason.UNREAD_RESULTS if other.happened == YES else Reason.NO_RESULT
                reason = Reason.UNREAD_ARGUMENTS if value is None else unread
            else:
                outcomes.add(YES if equal(value, held) else NO)
                seen = seen or f": {few(held) if held else 'nothing there'}, at step {other.step.step}"
            if min(other.happened, shared) == YES:
                return outcomes, reason, seen
            reason = reason if MAYBE in outcomes else other.reason
        outcomes.add(NO)
        return outcomes, reason, seen or " (none before)"


@dataclass(frozen=True)
class MessageBefore(TrialRule):
    """The last words somebody said before every successful call of a tool match a pattern.

    Parameters
    ----------
    tool : str
        Name of the tool.
    pattern : str
        Regular expression, searched for without regard to case.
    role : str
        Who must have said it: ``user``, ``assistant`` or another name the steps have as ``agent``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``message_before:tool``.

    Examples
    --------
    >>> MessageBefore("cancel", r"\\\\byes\\\\b").id
    'message_before:cancel'
    """

    kind: ClassVar[str] = "message_before"
    tool: str
    pattern: str
    role: str = "user"

    def __post_init__(self) -> None:
        for name in ("tool", "pattern", "role"):
            needs_text(getattr(self, name), "MessageBefore", name)
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise PolicyError(f"MessageBefore: pattern {self.pattern!r} is no regular expression: {error}") from None
        told = f"Before {self.tool}, the last words of the {self.role} match {self.pattern!r}."
        self._complete(f"message_before:{self.tool}", told)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial; where nobody's words were recorded, nothing can be said."""
        pattern = re.compile(self.pattern, re.IGNORECASE)
        spoken = any(step.kind == "message" and step.agent == self.role for step in steps)
        found, active, doubt, last = [], False, None, None
        for step in steps:
            if step.kind == "message" and step.agent == self.role:
                last = str(step.result)
            if not (step.is_call and step.name == self.tool and (step.happened or step.open_ended)):
                continue
            active |= step.happened
            if not spoken:
                doubt = Reason.NO_MESSAGES
            elif last is None or not pattern.search(last):
                if step.open_ended:
                    doubt = doubt or Reason.NO_RESULT
                    continue
                observed = (
                    f"the {self.role} had said nothing" if last is None else f"the last words were {_short(last)}"
                )
                found.append(Found(step.step, f"words of the {self.role} that match {self.pattern!r}", observed))
        return judged(found, active=active, doubt=doubt)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 80 else f"{flat[:77]}…")


@dataclass(frozen=True)
class OneCallATurn(TrialRule):
    """The agent makes one call at a time: no turn holds two calls of tools.

    Refused and failed calls count as well: what is forbidden is asking for two at once. Where the record does not say
    which calls were asked for together, the rule cannot be judged.

    Parameters
    ----------
    severity, when, id, description
        See ``Rule``; the id defaults to ``one_call_a_turn``.

    Examples
    --------
    >>> OneCallATurn().id
    'one_call_a_turn'
    """

    kind: ClassVar[str] = "one_call_a_turn"

    def __post_init__(self) -> None:
        self._complete("one_call_a_turn", "The agent makes one call of a tool at a time.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of: all."""
        return ()

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial; every call but the first of a turn is a violating step."""
        calls = [step for step in steps if step.is_call]
        first: dict[int, StepView] = {}
        found = []
        for step in calls:
            if step.group is None:
                continue
            earlier = first.setdefault(step.group, step)
            if earlier is not step:
                found.append(Found(step.step, "one call a turn", f"asked for together with step {earlier.step}"))
        unknown = len(calls) > 1 and any(step.group is None for step in calls)
        return judged(found, active=bool(calls), doubt=Reason.NO_GROUPS if unknown else None)
