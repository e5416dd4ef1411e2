"""How a relation between calls of two tools is decided: in the most friendly and in the most hostile world.

A call without a result may have happened, and a call whose arguments were not recorded may belong to any entity. What
fulfils a relation counts as there in the friendly world and as absent in the hostile one, what stands in its way the
other way round. What is violated in the friendly world is violated in all; what holds in the hostile one holds in all.
Calls are taken in recorded order, those of one turn among them, as ``Ordering`` takes them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from plumbline.rules.conditions import (
    MAYBE,
    NO,
    YES,
    By,
    Event,
    Truth,
    Where,
    few,
    read_events,
    same_entity,
    unset,
    where_truth,
)
from plumbline.rules.trial_rules import Found, Judged, StepView, judged
from plumbline.rules.words import NOT_APPLICABLE, Reason

__all__ = ["Relation", "activations", "forbid", "not_applicable", "whose"]

_TARGET, _BARRIER, _OTHER = "target", "barrier", "other"


def not_applicable() -> Judged:
    """Return the verdict where the context holds no value to compare with."""
    return Judged(NOT_APPLICABLE, int(Reason.NO_CONTEXT_VALUE))


def activations(
    events: Sequence[Event], tool: str, where: Sequence[Where], context: Mapping[str, Any]
) -> dict[int, Truth]:
    """Return which events activate a rule, by position, and whether they surely do."""
    out = {}
    for at, event in enumerate(events):
        if event.step.name == tool:
            met = where_truth(where, event.step, context)
            truth = Truth(MAYBE, Reason.NO_RESULT) if met.level and event.happened == MAYBE else met
            if truth.level != NO:
                out[at] = truth
    return out


def whose(event: Event, by: By) -> str:
    """Say to which entity a call belongs, to stand behind a sentence; empty for a rule without entities."""
    if by is None:
        return ""
    name = by.get(str(event.step.name), "entity") if isinstance(by, Mapping) else by
    return f" of {name} {few(event.entity)}" if event.entity else f" of the same {name} (the call names none)"


@dataclass(frozen=True)
class Relation:
    """After, before or anywhere beside each activating call there is a call of the target tool.

    Parameters
    ----------
    activation, target : str
        Tools.
    by, where
        Entities, and the condition on the activating call.
    side : {'after', 'before', 'beside'}
        Where the target is looked for.
    reach : int, optional
        How many calls away it may be, 1: directly.
    alternate : bool
        Whether another activating call must not come between.
    """

    activation: str
    target: str
    by: By
    where: tuple[Where, ...]
    side: str
    reach: int | None = None
    alternate: bool = False

    def of_trial(self, steps: Sequence[StepView], context: Mapping[str, Any]) -> Judged:
        """Judge one trial."""
        if unset(self.where, context):
            return not_applicable()
        if not any(step.name == self.activation for step in steps):
            return judged((), active=False)
        events = read_events(steps, self.by)
        acts = activations(events, self.activation, self.where, context)
        peers_of = _peers(events, self.by)
        found, doubt = [], None
        for at, act in acts.items():
            peers = peers_of(events[at])
            if self._met(events, acts, peers, at, friendly=False)[0]:
                continue
            met, stopped = self._met(events, acts, peers, at, friendly=True)
            if act.level == YES and not met:
                found.append(
                    Found(events[at].step.step, self._expected(events[at]), self._observed(steps, events, at, stopped))
                )
            else:
                doubt = doubt or self._why(events, acts, peers, at)
        active = any(act.level == YES for act in acts.values())
        if acts and not active:
            doubt = doubt or next(iter(acts.values())).reason
        return judged(found, active=active, doubt=doubt)

    def _scope(self, peers: Sequence[int], at: int) -> Iterable[int]:
        """Positions where the target is looked for, nearest first."""
        here = bisect_left(peers, at)
        if self.side == "before":
            return (peers[n] for n in range(here - 1, -1, -1))
        later = bisect_right(peers, at)
        after = (peers[n] for n in range(later, len(peers)))
        return after if self.side == "after" else chain((peers[n] for n in range(here)), after)

    def _role(
        self, events: Sequence[Event], acts: Mapping[int, Truth], at: int, other: int
    ) -> tuple[str, Truth] | None:
        """What an event is to the activating one, and whether it surely is; None if it does not matter."""
        event = events[other]
        if event.step.name != self.target and self.reach is None and other not in acts:
            return None
        shared = same_entity(events[at], event, self.by)
        truth = Truth(YES)
        if MAYBE in (event.happened, shared):
            truth = Truth(MAYBE, event.reason)
        if shared == NO:
            return None
        if event.step.name == self.target:
            return _TARGET, truth
        if self.alternate:
            return (_BARRIER, min(truth, acts[other], key=lambda t: t.level)) if other in acts else None
        return (_OTHER, truth) if self.reach is not None else None

    def _met(
        self, events: Sequence[Event], acts: Mapping[int, Truth], peers: Sequence[int], at: int, *, friendly: bool
    ) -> tuple[bool, int | None]:
        """Whether the target is there, and if not, the position of what stands in the way."""
        passed = 0
        for other in self._scope(peers, at):
            found = self._role(events, acts, at, other)
            if found is None:
                continue
            role, truth = found
            if truth.level == MAYBE and (role == _TARGET) != friendly:
                continue
            if role == _TARGET:
                return True, None
            passed += 1
            if role == _BARRIER or passed == self.reach:
                return False, other
        return False, None

    def _why(self, events: Sequence[Event], acts: Mapping[int, Truth], peers: Sequence[int], at: int) -> Reason:
        if acts[at].level == MAYBE:
            return acts[at].reason
        roles = (self._role(events, acts, at, other) for other in self._scope(peers, at))
        return next((found[1].reason for found in roles if found and found[1].level == MAYBE), Reason.NO_RESULT)

    def _expected(self, event: Event) -> str:
        target = f"{self.target}{whose(event, self.by)}"
        if self.side == "beside":
            return f"a successful {target}"
        if self.reach == 1:
            return f"{target} as the {'next call' if self.side == 'after' else 'call before'}"
        if self.reach is not None:
            return f"a successful {target} within the next {self.reach} calls"
        if self.alternate:
            turn = "before the next" if self.side == "after" else "since the last"
            return f"a successful {target} {turn} {self.activation}"
        return f"a successful {target} {'afterwards' if self.side == 'after' else 'before'}"

    def _observed(self, steps: Sequence[StepView], events: Sequence[Event], at: int, stopped: int | None) -> str:
        here = events[at].step.step
        if stopped is not None:
            what = events[stopped].step
            return f"{what.name} {'again ' if self.alternate else ''}at step {what.step}"
        every = self._scope(range(len(events)), at)
        others = [events[n].step.step for n in every if events[n].step.name == self.target]
        if others:
            return f"{self.target} only of another entity, at step {others[0]}"
        side = {"after": lambda n: n > here, "before": lambda n: n < here, "beside": lambda n: n != here}[self.side]
        tried = [s for s in steps if s.is_call and s.name == self.target and side(s.step)]
        if tried:
            return f"{self.target} at step {tried[0].step} did not succeed ({tried[0].status})"
        return f"no {self.target}{ {'after': ' afterwards', 'before': ' before', 'beside': ''}[self.side] }"


def _peers(events: Sequence[Event], by: By) -> Callable[[Event], Sequence[int]]:
    """Return a function that gives the positions of all calls that may share the entity of one, ascending."""
    every = range(len(events))
    if by is None:
        return lambda event: every
    groups: dict[Any, list[int]] = {event.entity: [] for event in events if event.known and event.entity is not None}
    for at, event in enumerate(events):
        for group in groups.values() if not event.known else [groups[event.entity]] if event.entity else ():
            group.append(at)
    return lambda event: groups.get(event.entity, ()) if event.known else every


def forbid(
    events: Sequence[Event], firsts: Mapping[int, Truth], then: str, by: By
) -> tuple[list[Found], Reason | None]:
    """Find the calls of `then` that come after one of the first calls, of the same entity."""
    found, doubt = [], None
    for at, event in enumerate(events):
        if event.step.name != then:
            continue
        unsure: list[Reason] = []
        for first in [one for one in firsts if one < at]:
            act, earlier = firsts[first], events[first]
            shared = same_entity(earlier, event, by)
            if min(shared, event.happened, act.level) == YES:
                expected = f"no successful {then}{whose(event, by)} after {earlier.step.name}"
                seen = f"{earlier.step.name} succeeded at step {earlier.step.step}"
                found.append(Found(event.step.step, expected, seen))
                unsure = []
                break
            if shared != NO:
                unsure.append(_doubt(earlier, act, event))
        doubt = doubt or next(iter(unsure), None)
    return found, doubt


def _doubt(earlier: Event, act: Truth, event: Event) -> Reason:
    if act.level == MAYBE:
        return act.reason
    return event.reason if event.happened == MAYBE else Reason.UNREAD_ARGUMENTS
