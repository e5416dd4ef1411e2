"""Budgets: how many calls, and what sum of an argument over calls, in a trial or for each entity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.base import Context, needs_text, one_of
from plumbline.rules.conditions import (
    MAYBE,
    NO,
    YES,
    By,
    Event,
    Truth,
    argument_of,
    read_argument,
    read_by,
    read_events,
    read_where,
    same_entity,
    unset,
    where_truth,
)
from plumbline.rules.relations import not_applicable, whose
from plumbline.rules.trial_rules import Found, Judged, StepView, TrialRule, judged
from plumbline.rules.values import EXACT, exact_number
from plumbline.rules.words import Reason

__all__ = ["CallBudget", "SumAtMost"]

_COUNTED = ("happened", "possible", "all")
_VERBS = {"happened": "calls", "possible": "makes, or may have made, calls of", "all": "attempts"}


def _entities(events: Iterable[tuple[Event, Any]]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(e.entity for e, _ in events if e.known and e.entity is not None))


def _scopes(event: Event, earlier: Sequence[tuple[Event, Any]], by: By) -> list[Event]:
    """The calls as which an event may count: itself, or, if its entity is not known, one of each entity seen."""
    if by is None or event.known:
        return [event]
    fresh = Event(event.step, event.happened, ("?", id(event)), True)
    return [fresh, *(Event(event.step, event.happened, entity, True) for entity in _entities(earlier))]


@dataclass(frozen=True)
class CallBudget(TrialRule):
    """Some tools, or all, are called at most so many times together: in a trial, or for each entity.

    Held or violated (no call at all is held), as ``CallAtMost``, which counts one tool and is faster; the witness is
    the first call over the budget.

    Parameters
    ----------
    tools : str or list of str, optional
        Tools whose calls count; all tools if none is named.
    most : int
        Calls allowed, 0 or more.
    by : str or mapping of tool to str, optional
        Name of the argument that names the entity, see ``Response``: the budget is one entity's. Calls that belong to
        no entity count nowhere.
    where : Where, mapping or list of them, optional
        Only calls that meet the condition count.
    attempts : {'happened', 'possible', 'all'}
        Whether successful calls count; or those without an answer as well, which may have happened, so that trying a
        payment again after a time-out is over a budget of one; or all attempts, failed and blocked ones too.
    severity, when, id, description
        See ``Rule``; the id defaults to ``call_budget:`` and the tools.

    Raises
    ------
    PolicyError
        `most` is no whole number of 0 or more, or another option is not of its kind.

    Examples
    --------
    >>> CallBudget(["search", "fetch"], most=20, attempts="all").description
    'The agent attempts search, fetch at most 20 times in all.'
    """

    kind: ClassVar[str] = "call_budget"
    tools: Any = ()
    most: int = field(kw_only=True)
    by: By = field(default=None, kw_only=True)
    where: Any = field(default=(), kw_only=True)
    attempts: str = field(default="happened", kw_only=True)

    def __post_init__(self) -> None:
        given = self.tools
        names = (given,) if isinstance(given, str) else () if given is None else given
        if not isinstance(names, list | tuple):
            raise PolicyError(f"CallBudget: tools must name a tool or list some; found {given!r}")
        for name in names:
            needs_text(name, "CallBudget", "tools")
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 0:
            raise PolicyError(f"CallBudget: most must be a whole number of 0 or more; found {self.most!r}")
        one_of(self.attempts, _COUNTED, "CallBudget", "attempts")
        object.__setattr__(self, "tools", tuple(names))
        object.__setattr__(self, "by", read_by(self.by, tuple(names), "CallBudget"))
        object.__setattr__(self, "where", read_where(self.where, "CallBudget"))
        said = f"The agent {_VERBS[self.attempts]} {self._named} at most "
        said += f"{'once' if self.most == 1 else f'{self.most} times'} in all"
        said += f", for each {argument_of(self.by)}" if self.by is not None else ""
        said += f", where {' and '.join(one.words for one in self.where)}" if self.where else ""
        self._complete(f"call_budget:{'+'.join(names) or 'all'}", f"{said}.")

    @property
    def reads(self) -> frozenset[str] | None:
        """Names of the steps on which the answer depends; None for a budget of all tools."""
        return frozenset(self.tools) or None

    @property
    def _named(self) -> str:
        return ", ".join(self.tools) or "tools"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial; every call over the budget is a violating step."""
        if unset(self.where, context):
            return not_applicable()
        events = read_events(steps, self.by, attempts=self.attempts == "all")
        if len(events) <= self.most:
            return judged((), active=True)
        found, doubt = [], None
        earlier: list[tuple[Event, Truth]] = []
        for event in events:
            if self.attempts == "possible":
                event = event._replace(happened=YES)
            met = where_truth(self.where, event.step, context)
            counts = not self.tools or event.step.name in self.tools
            if not counts or met.level == NO or (self.by is not None and event.known and event.entity is None):
                continue
            sure, doubtful = self._count(event, earlier, met)
            if sure > self.most:
                expected = (
                    f"at most {self.most} call{'s' if self.most != 1 else ''} of {self._named}{whose(event, self.by)}"
                )
                found.append(Found(event.step.step, expected, f"call number {sure}"))
            elif doubtful is not None:
                doubt = doubt or doubtful
            earlier.append((event, met))
        return judged(found, active=True, doubt=doubt)

    def _count(self, event: Event, earlier: Sequence[tuple[Event, Truth]], met: Truth) -> tuple[int, Reason | None]:
        """Return how many calls there are in every world, this one included, and why there may be too many, if so."""
        here = [*earlier, (event, met)]
        sure, doubtful = 0, None
        for one in _scopes(event, earlier, self.by):
            levels = [(self._counted(one, other, its), other, its) for other, its in here]
            fewest, most = (sum(level >= least for level, _, _ in levels) for least in (YES, MAYBE))
            if event.known and levels[-1][0] == YES:
                sure = fewest
            if most > self.most:
                unsure = [_reason(other, its) for level, other, its in levels if level == MAYBE]
                doubtful = doubtful or (unsure[0] if unsure else event.reason)
        return sure, doubtful

    def _counted(self, event: Event, other: Event, met: Truth) -> int:
        return _level(other, YES if other.step is event.step else same_entity(event, other, self.by), met)


def _level(event: Event, shared: int, met: Truth) -> int:
    return min(event.happened, shared, met.level)


def _reason(event: Event, met: Truth) -> Reason:
    return met.reason if met.level == MAYBE and event.happened == YES else event.reason


@dataclass(frozen=True)
class SumAtMost(TrialRule):
    """The sum of an argument over the successful calls of a tool stays within a bound: in a trial, or for each entity.

    Numbers are added exactly, as the decimals they are written as. Vacuous if the tool was never called; the witness is
    the first call that takes the sum above the bound. An amount that is missing, is no number or could not be read
    leaves the sum open from there on: unobservable, unless it had been above the bound before.

    Parameters
    ----------
    tool, arg : str
        Tool, and name of its argument; ``a.b`` for a nested one. The members of a list are added.
    most : Decimal, int, float, text or Context
        Largest sum allowed, inclusive, 0 or more. Not applicable where the context lacks the key or holds null.
    by : str or mapping of tool to str, optional
        Name of the argument that names the entity, see ``Response``: the bound is one entity's. Calls that belong to no
        entity count nowhere.
    severity, when, id, description
        See ``Rule``; the id defaults to ``sum_at_most:tool.arg``.

    Raises
    ------
    PolicyError
        `most` is no finite number of 0 or more; while checking, the context holds no number for it.

    Examples
    --------
    >>> SumAtMost("refund", "amount", most=Context("paid"), by="order_id").description
    "The sum of refund.amount is at most the task's paid, for each order_id."
    """

    kind: ClassVar[str] = "sum_at_most"
    tool: str
    arg: str
    most: Any = field(kw_only=True)
    by: By = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        needs_text(self.tool, "SumAtMost", "tool")
        needs_text(self.arg, "SumAtMost", "arg")
        if not isinstance(self.most, Context):
            object.__setattr__(self, "most", _bound(self.most, "SumAtMost: most"))
        object.__setattr__(self, "by", read_by(self.by, (self.tool,), "SumAtMost"))
        shown = f"the task's {self.most.key}" if isinstance(self.most, Context) else f"{self.most:f}"
        said = f"The sum of {self.tool}.{self.arg} is at most {shown}"
        said += f", for each {argument_of(self.by)}" if self.by is not None else ""
        self._complete(f"sum_at_most:{self.tool}.{self.arg}", f"{said}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)

    @property
    def reads(self) -> frozenset[str] | None:
        """Names of the steps on which the answer depends."""
        return frozenset(self.tools)

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial; every call that adds to a sum above the bound is a violating step."""
        if unset([self.most], context):
            return not_applicable()
        most = self.most
        if isinstance(most, Context):
            most = _bound(context[most.key], f"rule {self.id!r}: the context's {most.key}")
        events = [e for e in read_events(steps, self.by) if e.step.name == self.tool]
        if self.by is not None:
            events = [e for e in events if not e.known or e.entity is not None]
        found, doubt = [], None
        so_far: list[tuple[Event, Decimal | None]] = []
        for event in events:
            amount = _amount(event.step, self.arg)
            so_far.append((event, amount))
            least = self._sum(event, so_far, highest=False) if event.known else None
            if event.happened == YES and amount is not None and amount > 0 and least is not None and least > most:
                expected = f"a sum of {self.arg} of at most {most:f}{whose(event, self.by)}"
                found.append(Found(event.step.step, expected, f"a sum of {least:f}"))
                continue
            for one in _scopes(event, so_far[:-1], self.by):
                highest = self._sum(one, so_far, highest=True)
                if highest is None or (highest > most and (amount is None or amount > 0)):
                    doubt = doubt or self._why(one, so_far)
        if events and all(e.happened == MAYBE for e in events):
            doubt = doubt or Reason.NO_RESULT
        elif events and not any(e.happened == YES and e.known for e in events):
            doubt = doubt or Reason.UNREAD_ARGUMENTS
        return judged(found, active=bool(events), doubt=doubt)

    def _sum(self, event: Event, so_far: Sequence[tuple[Event, Decimal | None]], *, highest: bool) -> Decimal | None:
        """Return the highest or the lowest sum in any world, of what one entity's calls added; None if it is open."""
        total = Decimal(0)
        for other, amount in so_far:
            shared = YES if other.step is event.step else same_entity(event, other, self.by)
            surely = min(other.happened, shared)
            if surely == NO:
                continue
            if amount is None:
                return None
            if surely == YES or (amount > 0) == highest:
                total = EXACT.add(total, amount)
        return total

    def _why(self, event: Event, so_far: Sequence[tuple[Event, Decimal | None]]) -> Reason:
        for other, amount in so_far:
            shared = YES if other.step is event.step else same_entity(event, other, self.by)
            if shared != NO and (amount is None or not other.known):
                return Reason.UNREAD_ARGUMENTS
        return Reason.NO_RESULT


def _bound(value: Any, owner: str) -> Decimal:
    number = exact_number(value)
    if number is None and isinstance(value, str):
        try:
            number = Decimal(value)
        except ArithmeticError:
            number = None
    if number is None or not number.is_finite() or number < 0:
        raise PolicyError(f"{owner} must be a finite number of 0 or more; found {value!r}")
    return number


def _amount(step: StepView, path: str) -> Decimal | None:
    """The sum of the numbers at a path of a call's arguments; None if there is none, or something else stands there."""
    total = Decimal(0)
    values = None if step.unread else read_argument(step, path)
    for value in values or ():
        number = exact_number(value)
        if number is None:
            return None
        total = EXACT.add(total, number)
    return total if values else None
