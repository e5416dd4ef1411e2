"""The spans of one trace as a tree of what matters: agents, model calls, tool calls, each knowing what it is inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from plumbline.exchange.readers.span import Span
from plumbline.exchange.readers.span_columns import Lookup
from plumbline.exchange.readers.span_kinds import OTHER, kind_of
from plumbline.exchange.readers.span_messages import Talk

__all__ = ["Node", "Tree", "tree_of"]


@dataclass(slots=True, eq=False)
class Node:
    """One span that may be a step; `up` is the nearest agent, model or tool around it, `over` the span just above."""

    span: Span
    kind: str
    fields: dict[str, Any]
    over: Node | None = None
    up: Node | None = None
    talk: Talk | None = None
    arguments: Any = None
    result: Any = None
    call_id: str | None = None
    merged: Node | None = None
    notes: list[str] = field(default_factory=list)

    def above(self) -> Iterator[Node]:
        """Give the steps this one is inside, nearest first."""
        node = self.up
        while node is not None:
            yield node
            node = node.up


@dataclass(slots=True)
class Tree:
    """Nodes in file order, what was said and what could not be placed."""

    nodes: list[Node]
    said: list[str]
    unread: list[str]
    whole: bool


def tree_of(spans: Sequence[Span], lookup: Lookup) -> Tree:
    """Return the tree of one trace.

    Parameters
    ----------
    spans : sequence of Span
        Of one trace.
    lookup : Lookup
        Which attributes mean what.

    Returns
    -------
    Tree
        `whole` says whether the trace has a root and every span's parent.
    """
    said: list[str] = []
    unread: list[str] = []
    kept = _once(spans, said, unread)
    nodes: dict[str, Node] = {}
    for span in kept:
        fields, operations = lookup.fields_and_words(span.attributes)
        nodes[span.span_id or f"place {span.place}"] = Node(span, kind_of(span, fields, operations), fields)
    missing = inside = 0
    for node in nodes.values():
        parent = node.span.parent_id
        if parent is not None:
            node.over = nodes.get(parent)
            missing += node.over is None
            inside += node.over is not None
    if missing:
        said.append(f"{missing} spans name a parent that is not in the trace; they stand where their time puts them")
    if inside:
        _no_circles(nodes, said)
        for node in nodes.values():
            node.up = _nearest(node)
    others = Counter(f"{n.span.name or '(unnamed)'}" for n in nodes.values() if n.kind == OTHER)
    if others:
        listed = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in others.most_common())
        unread.append(f"spans that are no step: {listed}")
    roots = any(node.span.parent_id is None for node in nodes.values())
    return Tree(list(nodes.values()), said, unread, roots and not missing)


def _once(spans: Sequence[Span], said: list[str], unread: list[str]) -> list[Span]:
    """Return each span once: pieces of one span joined, exports repeated by a retry dropped, log records attached."""
    kept: dict[str, Span] = {}
    logs: list[Span] = []
    repeated = joined = pending = 0
    for span in spans:
        if span.scope == "logs" and not span.name:
            logs.append(span)
            continue
        if span.attributes.get("logfire.span_type") == "pending_span":
            pending += 1
            continue
        key = span.span_id or f"place {span.place}"
        if key not in kept:
            kept[key] = span
        elif _same(kept[key], span):
            repeated += 1
        else:
            joined += 1
            kept[key] = _joined(kept[key], span, unread)
    for log in logs:
        if log.span_id in kept:
            kept[log.span_id].events.extend(log.events)
        else:
            unread.append(f"log record {log.events[0].name!r} of span {log.span_id}, which is not in the trace")
    if repeated:
        said.append(f"{repeated} spans were exported more than once and count once")
    if joined:
        said.append(f"{joined} spans came in pieces and were joined")
    if pending:
        said.append(f"{pending} spans that only announce another were left out")
    return list(kept.values())


def _same(one: Span, two: Span) -> bool:
    return (one.name, one.parent_id, one.start, one.end, one.status, one.attributes, one.events) == (
        two.name, two.parent_id, two.start, two.end, two.status, two.attributes, two.events,
    )  # fmt: skip


def _joined(one: Span, two: Span, unread: list[str]) -> Span:
    """Return one span of two with one id: the one that has an end tells more, what the other adds is kept."""
    first, last = (one, two) if one.end is None or two.end is not None else (two, one)
    for name, value in first.attributes.items():
        if name in last.attributes and last.attributes[name] != value:
            unread.append(f"span {last.span_id}, an earlier {name}: {value!r}")
    last.attributes = {**first.attributes, **last.attributes}
    last.events = [*first.events, *(event for event in last.events if event not in first.events)]
    last.parent_id = last.parent_id or first.parent_id
    last.start = first.start if last.start is None else last.start
    last.place = min(first.place, last.place)
    return last


def _no_circles(nodes: dict[str, Node], said: list[str]) -> None:
    done: set[int] = set()
    for node in nodes.values():
        seen: set[int] = set()
        at: Node | None = node
        while at is not None and id(at) not in done:
            seen.add(id(at))
            if at.over is not None and id(at.over) in seen:
                said.append(f"span {at.span.span_id} is inside itself by its parents; it counts as a root")
                at.over = None
            at = at.over
        done |= seen


def _nearest(node: Node) -> Node | None:
    at = node.over
    while at is not None and at.kind == OTHER:
        at = at.over
    return at
