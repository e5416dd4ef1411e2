"""In which order the spans of a trace happened: by what caused what first, by clocks where nothing else decides."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

from plumbline.exchange.readers.span_kinds import AGENT, TOOL
from plumbline.exchange.readers.span_tree import Node

__all__ = ["ordered"]

_LATEST = 1 << 70


def ordered(nodes: Sequence[Node]) -> tuple[list[Node], str, list[str]]:
    """Return nodes in order, what the order rests on, and what was said.

    Causes: a span comes after the one it is inside; a call after the model that asked for it; a model after the calls
    whose replies it was given; a longer history after the one it goes on from. Where several could come next, clocks
    decide, then the file.

    Parameters
    ----------
    nodes : sequence of Node
        Agents, models and calls; merged calls are left out before.
    """
    if not any(node.talk for node in nodes) and not any(node.up for node in nodes if node.kind == TOOL):
        return _by_clock(nodes)
    after: dict[int, set[int]] = {id(node): set() for node in nodes}
    turn = _links(nodes, after)
    return _walked(nodes, after, turn)


def _by_clock(nodes: Sequence[Node]) -> tuple[list[Node], str, list[str]]:
    made = sorted(nodes, key=_key)
    calls = [node for node in made if node.kind == TOOL]
    return made, _evidence(len(calls) > 1, _timed(calls), False), []


def _links(nodes: Sequence[Node], after: dict[int, set[int]]) -> dict[int, int]:
    """Fill in what comes after what, and return for each call the model's turn that asked for it."""
    calls: dict[str, list[Node]] = {}
    for node in nodes:
        if node.kind == TOOL and node.call_id is not None:
            calls.setdefault(node.call_id, []).append(node)
        up = node.up if node.up is None or node.up.merged is None else node.up.merged
        if up is not None and id(up) in after and up is not node:
            after[id(up)].add(id(node))
    turn: dict[int, int] = {}
    asked: dict[str, Node] = {}
    models = [node for node in nodes if node.talk]
    for node in sorted(models, key=_key):
        for part in (p for m in node.talk.said for p in m.parts if p.kind == "call"):  # type: ignore[union-attr]
            if part.call_id is None or part.call_id in asked:
                continue
            asked[part.call_id] = node
            for call in calls.get(part.call_id, ()):
                if not _within(node, call):
                    after[id(node)].add(id(call))
                    turn[id(call)] = id(node)
    for node in models:
        for part in (p for m in node.talk.given for p in m.parts if p.call_id is not None):  # type: ignore[union-attr]
            earlier = asked.get(part.call_id or "")
            if earlier is not None and earlier is not node and not _within(earlier, node):
                after[id(earlier)].add(id(node))
            if part.kind == "reply":
                for call in calls.get(part.call_id or "", ())[:1]:
                    if not _within(call, node):
                        after[id(call)].add(id(node))
    _histories(models, after)
    return turn


def _histories(models: Sequence[Node], after: dict[int, set[int]]) -> None:
    """A model that was given more of the same history comes later."""
    by_place: dict[int, list[tuple[int, list[tuple[object, ...]], Node]]] = {}
    for node in models:
        keys = [message.key() for message in node.talk.given]  # type: ignore[union-attr]
        by_place.setdefault(id(node.up), []).append((len(keys), keys, node))
    for told in by_place.values():
        told.sort(key=lambda one: (one[0], _key(one[2])))
        for (shorter, keys, one), (longer, more, two) in itertools.pairwise(told):
            if 0 < shorter < longer and more[:shorter] == keys:
                after[id(one)].add(id(two))


def _walked(
    nodes: Sequence[Node], after: dict[int, set[int]], turn: dict[int, int]
) -> tuple[list[Node], str, list[str]]:
    by_id = {id(node): node for node in nodes}
    waiting = dict.fromkeys(by_id, 0)
    for followers in after.values():
        for follower in followers:
            waiting[follower] += 1
    ready = [(_key(node), id(node)) for node in nodes if not waiting[id(node)]]
    heapq.heapify(ready)
    made: list[Node] = []
    chosen = timed = False
    circles = 0
    left = set(by_id)
    while left:
        if not ready:  # causes that contradict each other: the earliest by its clock goes first
            first = min(left, key=lambda one: _key(by_id[one]))
            waiting[first] = 0
            heapq.heappush(ready, (_key(by_id[first]), first))
            circles += 1
        if len(ready) > 1 and not chosen:
            rivals = [by_id[one] for _, one in ready if by_id[one].kind != AGENT]
            if _undecided(rivals, turn):
                chosen, timed = True, _timed(rivals)
        _, one = heapq.heappop(ready)
        if one not in left:
            continue
        left.discard(one)
        made.append(by_id[one])
        for follower in after[one]:
            waiting[follower] -= 1
            if waiting[follower] == 0 and follower in left:
                heapq.heappush(ready, (_key(by_id[follower]), follower))
    causes = bool(turn) or any(node.talk for node in nodes)
    return made, _evidence(chosen, timed, causes), _skew(nodes, made, turn, circles)


def _undecided(rivals: Sequence[Node], turn: dict[int, int]) -> bool:
    """Say whether more than one thing could come next, other than calls asked for together."""
    turns = {turn.get(id(node), id(node)) for node in rivals}
    return len(turns) > 1


def _evidence(chosen: bool, timed: bool, causes: bool) -> str:
    if not chosen:
        return "causal"
    if not timed:
        return "file"
    return "mixed" if causes else "clock"


def _skew(nodes: Sequence[Node], made: Sequence[Node], turn: dict[int, int], circles: int) -> list[str]:
    said = []
    early = sum(node.up is not None and _before(node, node.up) for node in nodes)
    by_id = {id(node): node for node in made}
    early += sum(_before(by_id[call], by_id[model]) for call, model in turn.items())
    if early:
        said.append(f"{early} spans begin before what caused them: clocks disagree; they stand after their cause")
    if circles:
        said.append(f"{circles} times causes contradicted each other; the earlier by its clock goes first")
    return said


def _before(node: Node, other: Node) -> bool:
    """Say whether a span begins before another by their clocks."""
    return node.span.start is not None and other.span.start is not None and node.span.start < other.span.start


def _within(node: Node, other: Node) -> bool:
    """Say whether a span is another or lies within it, so that the other cannot come after it."""
    return node is other or any(above is other for above in node.above())


def _key(node: Node) -> tuple[int, int]:
    return (node.span.start if node.span.start is not None else _LATEST, node.span.place)


def _timed(nodes: Sequence[Node]) -> bool:
    starts = [node.span.start for node in nodes]
    return None not in starts and len(set(starts)) == len(starts)
