"""Rules of what must not come together, and of what must: not succession, responded existence, not co-existence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plumbline.rules.conditions import YES, read_events, unset
from plumbline.rules.relations import Relation, activations, forbid, not_applicable
from plumbline.rules.temporal import FirstThen, Pair
from plumbline.rules.trial_rules import Judged, StepView, judged
from plumbline.rules.words import UNOBSERVABLE

__all__ = ["NotCoExistence", "NotSuccession", "RespondedExistence"]


@dataclass(frozen=True)
class NotSuccession(FirstThen):
    """No successful call of `then` comes after a successful call of `first`.

    Vacuous if `first` never happened, or no call of it met the condition; the witness is the first call of `then` that
    comes too late. With `by`, calls of different entities, or of none, do not concern each other.

    Parameters
    ----------
    first, then, by, where
        See ``Response``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``not_succession:first-then-then``.

    Examples
    --------
    >>> from plumbline.rules import Where
    >>> NotSuccession("check_duplicate", "pay", by="invoice", where=Where("duplicate", of="result")).id
    'not_succession:check_duplicate-then-pay'

    References
    ----------
    DECLARE not succession(a, b): G(a -> !F b).
    """

    kind: ClassVar[str] = "not_succession"
    _says = "No {1} comes after {0}"

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        if unset(self.where, context):
            return not_applicable()
        if not any(step.name == self.first for step in steps):
            return judged((), active=False)
        events = read_events(steps, self.by)
        acts = activations(events, self.first, self.where, context)
        found, doubt = forbid(events, acts, self.then, self.by)
        active = any(act.level == YES for act in acts.values())
        if acts and not active:
            doubt = doubt or next(iter(acts.values())).reason
        return judged(found, active=active, doubt=doubt)


@dataclass(frozen=True)
class RespondedExistence(Pair):
    """Where `tool` was called successfully, `other` was as well, before or after.

    In a trial that did not complete nothing is settled.

    Parameters
    ----------
    tool, other : str
        Names of two different tools.
    by, where
        See ``Response``; the condition is on the calls of `tool`.
    severity, when, id, description
        See ``Rule``; the id defaults to ``responded_existence:tool-with-other``.

    Examples
    --------
    >>> RespondedExistence("pay", "notify").description
    'Each pay goes with notify.'

    References
    ----------
    DECLARE responded existence(a, b): F a -> F b.
    """

    kind: ClassVar[str] = "responded_existence"
    settled: ClassVar[int] = UNOBSERVABLE
    _names = ("tool", "other")
    _id = "with"
    _says = "Each {} goes with {}"
    tool: str
    other: str
    where: Any = field(default=(), kw_only=True)

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        return Relation(self.tool, self.other, self.by, self.where, "beside").of_trial(steps, context)


@dataclass(frozen=True)
class NotCoExistence(Pair):
    """Not both tools were called successfully.

    Vacuous if neither was; the witness is the first call that makes it both. Calls of different entities, or of none,
    do not concern each other.

    Parameters
    ----------
    tool, other : str
        Names of two different tools.
    by : str or mapping of tool to str, optional
        See ``Response``.
    severity, when, id, description
        See ``Rule``; the id defaults to ``not_co_existence:tool-without-other``.

    Examples
    --------
    >>> NotCoExistence("pay", "flag_exception", by="invoice_id").description
    'pay and flag_exception are not both called, of the same invoice_id.'

    References
    ----------
    DECLARE not co-existence(a, b): !(F a & F b).
    """

    kind: ClassVar[str] = "not_co_existence"
    _names = ("tool", "other")
    _id = "without"
    _says = "{} and {} are not both called"
    tool: str
    other: str

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        events = read_events(steps, self.by)
        ones = activations(events, self.tool, (), context)
        others = activations(events, self.other, (), context)
        found, doubt = forbid(events, ones, self.other, self.by)
        more, other_doubt = forbid(events, others, self.tool, self.by)
        acts = ones | others
        active = any(act.level == YES for act in acts.values())
        doubt = doubt or other_doubt
        if acts and not active:
            doubt = doubt or next(iter(acts.values())).reason
        return judged(found + more, active=active, doubt=doubt)
