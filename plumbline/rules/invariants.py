"""The six invariants. Each says what must be true of one trial; ``check`` says whether it was, and where it was not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.base import Context, Rule, frozen_value, needs_text, one_of
from plumbline.rules.values import COMPARISONS, EXACT, NORMALISERS, exact_number
from plumbline.rules.words import HELD

__all__ = ["ArgEquals", "ArgSatisfies", "CallAtMost", "MustCall", "MustNotCall", "Ordering"]


@dataclass(frozen=True)
class MustCall(Rule):
    """A tool is called successfully at least once.

    Held or violated, never vacuous. A violation has no witness: there is no step to point at. A call without a result
    may have happened; if it is the only one, the verdict is unobservable.

    Parameters
    ----------
    tool : str
        Name of the tool, compared exactly.
    severity, when, id, description
        See ``Rule``; the id defaults to ``must_call:tool``.

    Examples
    --------
    >>> MustCall("check_duplicate").id
    'must_call:check_duplicate'
    """

    kind: ClassVar[str] = "must_call"
    settled: ClassVar[int] = HELD
    tool: str

    def __post_init__(self) -> None:
        needs_text(self.tool, "MustCall", "tool")
        self._complete(f"must_call:{self.tool}", f"The agent calls {self.tool}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)


@dataclass(frozen=True)
class MustNotCall(Rule):
    """A tool is never called successfully.

    Held or violated, never vacuous; the witness is the first successful call.

    Parameters
    ----------
    tool : str
        Name of the tool, compared exactly.
    severity, when, id, description
        See ``Rule``; the id defaults to ``must_not_call:tool``.

    Examples
    --------
    >>> MustNotCall("schedule_payment", when="on_hold").description
    'The agent does not call schedule_payment.'
    """

    kind: ClassVar[str] = "must_not_call"
    tool: str

    def __post_init__(self) -> None:
        needs_text(self.tool, "MustNotCall", "tool")
        self._complete(f"must_not_call:{self.tool}", f"The agent does not call {self.tool}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)


@dataclass(frozen=True)
class Ordering(Rule):
    """No successful call of `then` comes before the first successful call of `first`.

    Vacuous if `then` never happened; the witness is the first offending call of `then`.

    Parameters
    ----------
    first, then : str
        Names of two different tools.
    severity, when, id, description
        See ``Rule``; the id defaults to ``ordering:first-before-then``.

    Examples
    --------
    >>> Ordering("check_duplicate", "schedule_payment").id
    'ordering:check_duplicate-before-schedule_payment'
    """

    kind: ClassVar[str] = "ordering"
    first: str
    then: str

    def __post_init__(self) -> None:
        needs_text(self.first, "Ordering", "first")
        needs_text(self.then, "Ordering", "then")
        if self.first == self.then:
            raise PolicyError(f"Ordering: first and then are both {self.first!r}; a call cannot come before itself")
        self._complete(f"ordering:{self.first}-before-{self.then}", f"{self.first} comes before {self.then}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.first, self.then)


@dataclass(frozen=True)
class CallAtMost(Rule):
    """A tool is called successfully at most `limit` times.

    Held or violated (no call at all is held); the witness is the first call over the limit.

    Parameters
    ----------
    tool : str
        Name of the tool, compared exactly.
    limit : int
        Calls allowed, 0 or more.
    severity, when, id, description
        See ``Rule``; the id defaults to ``at_most:tool``.

    Examples
    --------
    >>> CallAtMost("schedule_payment").description
    'The agent calls schedule_payment at most once.'
    """

    kind: ClassVar[str] = "call_at_most"
    tool: str
    limit: int = 1

    def __post_init__(self) -> None:
        needs_text(self.tool, "CallAtMost", "tool")
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise PolicyError(f"CallAtMost: limit must be a whole number of 0 or more; found {self.limit!r}")
        times = "once" if self.limit == 1 else f"{self.limit} times"
        self._complete(f"at_most:{self.tool}", f"The agent calls {self.tool} at most {times}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)


@dataclass(frozen=True)
class ArgEquals(Rule):
    """In every successful call of a tool, an argument equals a value of the task's context.

    Not applicable where the context lacks the key or holds null; vacuous if the tool was never called. A call that
    lacks the argument violates the rule; a call whose arguments could not be read leaves it unobservable unless another
    call violates it. Numbers are compared exactly, as the decimals they are written as; ``1`` and ``"1"`` differ, a
    boolean is not a number, NaN equals nothing. Text is compared character by character, case included. A number
    written as 0.1 is one tenth, on both sides.

    Parameters
    ----------
    tool, arg : str
        Name of the tool and of its argument.
    from_context : str
        Key of the task's context that holds the right value.
    tolerance : Decimal, int, float or text
        Largest absolute difference of numbers that still counts as equal, inclusive; 0 or more.
    normalise : {'casefold', 'strip', 'strip_casefold'}, optional
        How texts may differ and still be equal.
    severity, when, id, description
        See ``Rule``; the id defaults to ``arg_equals:tool.arg``.

    Examples
    --------
    >>> ArgEquals("pay", "amount", from_context="expected_amount", tolerance="0.01").id
    'arg_equals:pay.amount'
    """

    kind: ClassVar[str] = "arg_equals"
    tool: str
    arg: str
    from_context: str = field(kw_only=True)
    tolerance: Decimal | float | str = field(default=Decimal(0), kw_only=True)
    normalise: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("tool", "arg", "from_context"):
            needs_text(getattr(self, name), "ArgEquals", name)
        object.__setattr__(self, "tolerance", _tolerance(self.tolerance))
        if self.normalise is not None:
            one_of(self.normalise, tuple(NORMALISERS), "ArgEquals", "normalise")
        within = f" within {self.tolerance:f}" if self.tolerance else ""
        sentence = f"{self.tool}.{self.arg} equals the task's {self.from_context}{within}."
        self._complete(f"arg_equals:{self.tool}.{self.arg}", sentence)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)


@dataclass(frozen=True)
class ArgSatisfies(Rule):
    """Every successful call of a tool satisfies a comparison of one argument, or a predicate over all of them.

    Give either `arg`, `op` and `value` (compared for all calls at once), or `predicate`. Vacuous if the tool was never
    called; missing and unreadable arguments count as in ``ArgEquals``. Where `value` is a ``Context`` whose key the
    context lacks, or holds null for, the rule is not applicable.

    Parameters
    ----------
    tool : str
        Name of the tool.
    id : str
        Names the rule.
    arg : str, optional
        Name of the argument to compare.
    op : {'<=', '<', '>=', '>', '==', '!=', 'in', 'not in'}, optional
        Numbers and texts have an order, nothing else has: such a comparison is violated.
    value : JSON value or Context, optional
        What to compare with; a list for ``in`` and ``not in``.
    predicate : callable, optional
        ``predicate(args, context) -> bool``, without side effects: it is called once for each distinct pair of
        arguments and task. Numbers with a point arrive as ``Decimal``. One that raises is a ``PolicyError``.
    severity, when, description
        See ``Rule``; severity is ``high`` by default.

    Examples
    --------
    >>> ArgSatisfies("refund", id="small_refund", arg="amount", op="<=", value=100).description
    'refund.amount <= 100.'
    """

    kind: ClassVar[str] = "arg_satisfies"
    tool: str
    id: str = field(kw_only=True)
    arg: str | None = field(default=None, kw_only=True)
    op: str | None = field(default=None, kw_only=True)
    value: Any = field(default=None, kw_only=True)
    predicate: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = field(default=None, kw_only=True)
    severity: str = field(default="high", kw_only=True)

    def __post_init__(self) -> None:
        needs_text(self.tool, "ArgSatisfies", "tool")
        needs_text(self.id, "ArgSatisfies", "id")
        owner = f"ArgSatisfies {self.id!r}"
        compared = [name for name in ("arg", "op", "value") if getattr(self, name) is not None]
        if self.predicate is not None:
            if compared or not callable(self.predicate):
                found = f"predicate with {compared}" if compared else f"predicate {self.predicate!r}"
                raise PolicyError(f"{owner}: give arg, op and value, or a predicate(args, context); found {found}")
            self._complete("", f"Every call of {self.tool} satisfies {self.id}.")
            return
        if len(compared) < 3:
            raise PolicyError(
                f"{owner}: give arg, op and value, or a predicate(args, context); found {compared or 'neither'}"
            )
        needs_text(self.arg, owner, "arg")
        one_of(self.op, COMPARISONS, owner, "op")
        object.__setattr__(self, "value", _operand(self.value, str(self.op), owner))
        shown = f"the task's {self.value.key}" if isinstance(self.value, Context) else self.value
        self._complete("", f"{self.tool}.{self.arg} {self.op} {shown}.")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return (self.tool,)


def _tolerance(value: Any) -> Decimal:
    number = exact_number(value)
    if number is None and isinstance(value, str):
        try:
            number = Decimal(value)
        except ArithmeticError:
            number = None
    if number is None or not number.is_finite() or number < 0:
        raise PolicyError(f"ArgEquals: tolerance must be a finite number of 0 or more; found {value!r}")
    return number.copy_abs().normalize(EXACT)


def _operand(value: Any, op: str, owner: str) -> Any:
    if isinstance(value, Context):
        return value
    value = frozen_value(value, owner)
    if op in ("in", "not in") and not isinstance(value, tuple):
        raise PolicyError(f"{owner}: {op!r} needs a list of values; found {value!r}")
    return value
