"""Rules about turns and data flow: where an argument came from, what was said before a call, one call at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.base import needs_text, one_of
from plumbline.rules.trial_rules import Found, Judged, StepView, TrialRule, judged
from plumbline.rules.words import Reason

__all__ = ["ArgFromEarlier", "MessageBefore", "OneCallATurn"]

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
                values = None if step.unread or step.arguments is None else list(_at(step.arguments, self.arg))
                lost = [] if values is None else [v for v in values if not _known(v, seen, words)]
                active |= step.happened
                if values is None:
                    doubt = doubt or Reason.UNREAD_ARGUMENTS
                elif lost and blind:
                    doubt = doubt or Reason.UNREAD_RESULTS
                elif lost and step.happened:
                    where = " or ".join(_WORDS[s] for s in self.sources)
                    found.append(
                        Found(step.step, f"{self.arg} seen before in {where}", f"{_spelled(lost)} seen nowhere")
                    )
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


def _at(value: Any, path: str) -> Iterator[Any]:
    """Every scalar under a path; a list on the way or at the end stands for its members."""
    if isinstance(value, list):
        for member in value:
            yield from _at(member, path)
    elif not path:
        if isinstance(value, Mapping):
            for member in value.values():
                yield from _at(member, "")
        elif value is not None:
            yield value
    elif isinstance(value, Mapping):
        if path in value:
            yield from _at(value[path], "")
        else:
            head, dot, rest = path.partition(".")
            if dot and head in value:
                yield from _at(value[head], rest)


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
        yield _bare(value)


def _bare(value: Any) -> Any:
    """A truth value is no number: True must not pass for 1."""
    return ("bool", value) if isinstance(value, bool) else value


def _known(value: Any, seen: set[Any], words: Sequence[str]) -> bool:
    if _bare(value) in seen:
        return True
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return not isinstance(value, bool) and any(pattern.search(each) for each in words)


def _spelled(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(v) if isinstance(v, str) else str(v) for v in values[:3])
    return shown + (f" and {len(values) - 3} more" if len(values) > 3 else "")


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
