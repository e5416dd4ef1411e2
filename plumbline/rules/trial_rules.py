"""Rules that read one trial at a time, step by step: slower than the rules about calls, and free to look anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from plumbline.base.canonical import parse_json
from plumbline.base.errors import PolicyError
from plumbline.rules.base import Rule, needs_text
from plumbline.rules.words import HELD, UNOBSERVABLE, VACUOUS, VIOLATED, Reason

__all__ = ["Custom", "Found", "Judged", "StepView", "Steps", "TrialRule", "judged"]


@dataclass(frozen=True, eq=False)
class StepView:
    """One step as a rule reads it.

    Parameters
    ----------
    step : int
        Position within the trial, from 0.
    kind, name, status, agent : str or None
        As recorded; see ``plumbline.base.schema``.
    group : int or None
        Parallel calls of one turn share it.
    arguments_text, result_text : str or None
        Canonical JSON as recorded.
    unread : str or None
        What could not be read of it.
    """

    step: int
    kind: str
    name: str | None
    status: str
    group: int | None
    agent: str | None
    arguments_text: str | None = field(repr=False)
    result_text: str | None = field(repr=False)
    unread: str | None = field(repr=False, default=None)

    @cached_property
    def arguments(self) -> Any:
        """Arguments as values, numbers with a point as ``Decimal``; None if they were not recorded."""
        return None if self.arguments_text is None else parse_json(self.arguments_text)

    @cached_property
    def read(self) -> dict[str, list[Any] | None]:
        """What rules found in the arguments, by path, so that many rules read a step once."""
        return {}

    @cached_property
    def result(self) -> Any:
        """The result as values; of a message, its words."""
        return None if self.result_text is None else parse_json(self.result_text)

    @property
    def is_call(self) -> bool:
        """Whether this is a call of a tool."""
        return self.kind == "tool_call"

    @property
    def happened(self) -> bool:
        """Whether this is a call that succeeded."""
        return self.is_call and self.status == "ok"

    @property
    def open_ended(self) -> bool:
        """Whether this is a call without a result, which may have happened."""
        return self.is_call and self.status == "no_result"


class Steps(tuple[StepView, ...]):
    """The steps of one trial, with room for what several rules ask of them."""

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Answers by question."""
        return {}


class Found(NamedTuple):
    """A step that violates a rule, what was expected of it and what was seen."""

    step: int
    expected: str
    observed: str


class Judged(NamedTuple):
    """What a rule says of one trial: verdict, why it could not be decided, and the violating steps in order."""

    verdict: int
    reason: int = int(Reason.NONE)
    found: tuple[Found, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialRule(Rule):
    """Base of rules that read one trial at a time."""

    @property
    def reads(self) -> frozenset[str] | None:
        """Names of the steps on which the answer depends, whatever stands between them; None for all steps."""
        return None

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial as if it had completed."""
        raise NotImplementedError


def judged(found: Sequence[Found], *, active: bool, doubt: Reason | None = None) -> Judged:
    """Return the verdict: violated if anything was found, else in doubt, else held or vacuous.

    Examples
    --------
    >>> judged([], active=False)
    Judged(verdict=2, reason=1, found=())
    """
    if found:
        return Judged(VIOLATED, found=tuple(sorted(found)))
    if doubt is not None:
        return Judged(UNOBSERVABLE, int(doubt))
    return Judged(HELD) if active else Judged(VACUOUS, int(Reason.NEVER_ACTIVATED))


Check = Callable[[Sequence[StepView], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Custom(TrialRule):
    """A rule of your own: a function that reads the steps of one trial.

    Parameters
    ----------
    function : callable
        ``function(steps, context)`` takes the steps of a trial (``StepView``) and the task's context. It returns the
        violating steps as numbers (none: the rule held), or None where nothing activated the rule.
    id : str
        Names the rule.
    description : str
        What the rule demands, one sentence.
    severity, when
        See ``Rule``.

    Raises
    ------
    PolicyError
        The function is none, or the id or the description is missing; while checking, it raised or answered something
        else than steps of the trial.

    Examples
    --------
    >>> def quiet(steps, context):
    ...     return [s.step for s in steps if s.kind == "message"]
    >>> Custom(quiet, id="quiet", description="The agent says nothing before it has finished.").kind
    'custom'
    """

    kind: ClassVar[str] = "custom"
    function: Check

    def __post_init__(self) -> None:
        needs_text(self.id, "Custom", "id")
        needs_text(self.description, f"Custom {self.id!r}", "description")
        if not callable(self.function):
            raise PolicyError(
                f"Custom {self.id!r}: function must be a function(steps, context); found {self.function!r}"
            )
        self._complete(self.id, self.description)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of: none is known."""
        return ()

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Ask the function."""
        try:
            said = self.function(steps, context)
        except Exception as error:
            raise PolicyError(f"rule {self.id!r}: its function raised {type(error).__name__}: {error}") from error
        if said is None:
            return judged((), active=False)
        known = {one.step: one for one in steps}
        numbers = (
            list(said)
            if isinstance(said, Sequence | set | frozenset | Iterator) and not isinstance(said, str)
            else [said]
        )
        if odd := [n for n in numbers if isinstance(n, bool) or n not in known]:
            raise PolicyError(
                f"rule {self.id!r}: its function must return the numbers of violating steps, or None; found {odd[0]!r}"
            )
        return judged([Found(n, self.description, _seen(known[n])) for n in set(numbers)], active=True)


def _seen(step: StepView) -> str:
    return f"{step.kind}{f' {step.name}' if step.name else ''} ({step.status})"
