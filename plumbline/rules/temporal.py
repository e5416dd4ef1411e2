"""Temporal rules under their DECLARE names: response and precedence, plain, chain and alternate.

All of them read successful calls only, in recorded order. With ``by`` each is judged within each entity, such as an
invoice: calls of other entities neither satisfy nor disturb it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.base import needs_text
from plumbline.rules.conditions import By, argument_of, read_by, read_where
from plumbline.rules.relations import Relation
from plumbline.rules.trial_rules import Judged, StepView, TrialRule
from plumbline.rules.words import UNOBSERVABLE

__all__ = [
    "AlternatePrecedence", "AlternateResponse", "ChainPrecedence", "ChainResponse", "FirstThen", "Pair", "Precedence",
    "Response",
]  # fmt: skip


@dataclass(frozen=True)
class Pair(TrialRule):
    """Base of rules about two tools, whose names are its first two fields."""

    _names: ClassVar[tuple[str, str]]
    _id: ClassVar[str]
    _says: ClassVar[str]
    _neighbours: ClassVar[bool] = False

    by: By = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name in self._names:
            needs_text(getattr(self, name), owner, name)
        one, other = self.tools
        if one == other:
            raise PolicyError(f"{owner}: {self._names[0]} and {self._names[1]} are both {one!r}; give two tools")
        object.__setattr__(self, "by", read_by(self.by, self.tools, owner))
        if hasattr(self, "where"):
            object.__setattr__(self, "where", read_where(self.where, owner))
        self._complete(f"{self.kind}:{one}-{self._id}-{other}", self._sentence(one, other))

    def _sentence(self, one: str, other: str) -> str:
        said = self._says.format(one, other)
        if self.by is not None:
            said += f", of the same {argument_of(self.by)}"
        if conditions := getattr(self, "where", ()):
            said += f", where {' and '.join(one.words for one in conditions)}"
        return f"{said}."

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        return tuple(getattr(self, name) for name in self._names)

    @property
    def reads(self) -> frozenset[str] | None:
        """Names of the steps on which the answer depends; None where it matters how many calls stand between."""
        return None if self._neighbours or getattr(self, "within", None) is not None else frozenset(self.tools)


@dataclass(frozen=True)
class FirstThen(Pair):
    """Base of rules whose activating call is `first`."""

    _names = ("first", "then")
    _id = "then"

    first: str
    then: str
    where: Any = field(default=(), kw_only=True)


@dataclass(frozen=True)
class FirstBefore(Pair):
    """Base of rules whose activating call is `before`."""

    _names = ("first", "before")
    _id = "before"

    first: str
    before: str
    where: Any = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Response(FirstThen):
    """After each successful call of `first`, a successful call of `then` follows.

    Vacuous if `first` never happened, or no call of it met the condition. The witness is the first call of `first` that
    nothing followed. In a trial that did not complete nothing is settled, since the response might still have come.

    Parameters
    ----------
    first, then : str
        Names of two different tools.
    within : int, optional
        Within how many further successful calls, of any tool, `then` must follow; with `by`, calls of the entity.
    by : str or mapping of tool to str, optional
        Name of the argument whose value names the entity, ``a.b`` for a nested one; a mapping where tools name it
        differently (tools not in it belong to no entity). The rule then holds within each entity. A call whose recorded
        arguments lack the name belongs to no entity: nothing can answer it, and it answers nothing.
    where : Where, mapping or list of them, optional
        Only calls of `first` that meet the condition, on an argument or on their result, activate the rule.
    severity, when, id, description
        See ``Rule``; the id defaults to ``response:first-then-then``.

    Raises
    ------
    PolicyError
        A name is missing, both tools are the same, or an option is not of its kind.

    Examples
    --------
    >>> from plumbline.rules import Where
    >>> doubled = Where("duplicate", of="result")
    >>> Response("check_duplicate", "flag_exception", by="invoice_id", where=doubled).description
    'Each check_duplicate is followed by flag_exception, of the same invoice_id, where result duplicate eq true.'

    References
    ----------
    DECLARE response(a, b): G(a -> F b).
    """

    kind: ClassVar[str] = "response"
    settled: ClassVar[int] = UNOBSERVABLE
    _says = "Each {} is followed by {}"
    within: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.within is not None and (
            isinstance(self.within, bool) or not isinstance(self.within, int) or self.within < 1
        ):
            raise PolicyError(f"Response: within must be a whole number of 1 or more; found {self.within!r}")
        super().__post_init__()

    def _sentence(self, one: str, other: str) -> str:
        said = super()._sentence(one, other)
        return said if self.within is None else f"{said[:-1]}, within {self.within} calls."

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        relation = Relation(self.first, self.then, self.by, self.where, "after", self.within)
        return relation.of_trial(steps, context)


@dataclass(frozen=True)
class ChainResponse(FirstThen):
    """The next successful call after each successful call of `first` is one of `then`.

    With `by`, the next call of the same entity. A call of `first` with no call after it violates the rule (strong
    next). In a trial that did not complete nothing is settled.

    Parameters
    ----------
    first, then, by, where
        See ``Response``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``chain_response:first-then-then``.

    Examples
    --------
    >>> ChainResponse("lock", "write").description
    'Each lock is followed directly by write.'

    References
    ----------
    DECLARE chain response(a, b): G(a -> X b).
    """

    kind: ClassVar[str] = "chain_response"
    _neighbours = True
    settled: ClassVar[int] = UNOBSERVABLE
    _says = "Each {} is followed directly by {}"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        return Relation(self.first, self.then, self.by, self.where, "after", 1).of_trial(steps, context)


@dataclass(frozen=True)
class AlternateResponse(FirstThen):
    """After each successful call of `first`, a successful call of `then` follows before `first` is called again.

    Only calls of `first` that meet the condition count as called again. In a trial that did not complete nothing is
    settled.

    Parameters
    ----------
    first, then, by, where
        See ``Response``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``alternate_response:first-then-then``.

    Examples
    --------
    >>> AlternateResponse("open", "close", by="file").description
    'Each open is followed by close before the next one, of the same file.'

    References
    ----------
    DECLARE alternate response(a, b): G(a -> X(!a U b)).
    """

    kind: ClassVar[str] = "alternate_response"
    settled: ClassVar[int] = UNOBSERVABLE
    _says = "Each {} is followed by {} before the next one"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        relation = Relation(self.first, self.then, self.by, self.where, "after", alternate=True)
        return relation.of_trial(steps, context)


@dataclass(frozen=True)
class Precedence(FirstBefore):
    """Every successful call of `before` comes after a successful call of `first`.

    Vacuous if `before` never happened, or no call of it met the condition; the witness is the first call of it that
    nothing preceded. Without `by` and `where` this is ``Ordering``, which is checked on columns and faster.

    Parameters
    ----------
    first : str
        The tool that must come first, such as a check.
    before : str
        The tool before which it must come, such as an effect.
    by : str or mapping of tool to str, optional
        See ``Response``. The check of another entity satisfies nothing; a call of `before` that names no entity cannot
        have been preceded and violates the rule.
    where : Where, mapping or list of them, optional
        Only calls of `before` that meet the condition activate the rule.
    severity, when, id, description
        See ``Rule``; the id defaults to ``precedence:first-before-before``.

    Examples
    --------
    >>> Precedence("check_duplicate", before="pay", by="invoice_id").description
    'check_duplicate comes before each pay, of the same invoice_id.'

    References
    ----------
    DECLARE precedence(a, b): (!b) W a.
    """

    kind: ClassVar[str] = "precedence"
    _says = "{} comes before each {}"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        return Relation(self.before, self.first, self.by, self.where, "before").of_trial(steps, context)


@dataclass(frozen=True)
class ChainPrecedence(FirstBefore):
    """The last successful call before every successful call of `before` is one of `first`.

    With `by`, the last call of the same entity. A call of `before` with no call before it violates the rule.

    Parameters
    ----------
    first, before, by, where
        See ``Precedence``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``chain_precedence:first-before-before``.

    Examples
    --------
    >>> ChainPrecedence("confirm", before="cancel").description
    'confirm comes directly before each cancel.'

    References
    ----------
    DECLARE chain precedence(a, b): G(b -> Y a), with Y the strong yesterday.
    """

    kind: ClassVar[str] = "chain_precedence"
    _neighbours = True
    _says = "{} comes directly before each {}"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        return Relation(self.before, self.first, self.by, self.where, "before", 1).of_trial(steps, context)


@dataclass(frozen=True)
class AlternatePrecedence(FirstBefore):
    """Before every successful call of `before`, and since the one before it, `first` was called successfully.

    Each approval covers one payment. Only calls of `before` that meet the condition use one up.

    Parameters
    ----------
    first, before, by, where
        See ``Precedence``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``alternate_precedence:first-before-before``.

    Examples
    --------
    >>> AlternatePrecedence("approve", before="pay").id
    'alternate_precedence:approve-before-pay'

    References
    ----------
    DECLARE alternate precedence(a, b): G(b -> Y(!b S a)).
    """

    kind: ClassVar[str] = "alternate_precedence"
    _says = "{} comes before each {}, anew for each"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        relation = Relation(self.before, self.first, self.by, self.where, "before", alternate=True)
        return relation.of_trial(steps, context)
