"""Which agent, which call and which conversation a span belongs to."""

from __future__ import annotations

from collections.abc import Sequence

from plumbline.exchange.readers.span_kinds import AGENT, MODEL, TOOL
from plumbline.exchange.readers.span_tree import Node

__all__ = ["Where"]

_PLAIN_AGENTS = ("ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject")


class Where:
    """Answers for the nodes of one trace; calls that others are inside get an id if they have none."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if node.up is None:
                continue
            outer = next((above for above in node.above() if above.kind == TOOL), None)
            if outer is not None:
                call = outer.merged or outer
                call.call_id = call.call_id or f"span-{call.span.span_id}"

    def agent(self, node: Node) -> str | None:
        """Return the name of the agent a node is, or is inside."""
        for one in (node,) if node.up is None else (node, *node.above()):
            if one.kind == AGENT and (name := self._name(one)) is not None:
                return name
        named = node.fields.get("agent")
        return named if isinstance(named, str) and named else None

    def caller(self, node: Node) -> str | None:
        """Return the name of the agent that called an agent."""
        return None if node.up is None else self.agent(node.up)

    def parent(self, node: Node) -> str | None:
        """Return the id of the call a node happened within."""
        if node.up is None:
            return None
        for one in node.above():
            one = one.merged or one
            if one is node:
                continue
            if one.kind == TOOL or (one.kind == AGENT and self.is_called(one)):
                return self.call_id(one)
        return None

    def call_id(self, node: Node) -> str | None:
        """Return the id under which a call is known to what is inside it."""
        return node.call_id if node.kind == TOOL else f"span-{node.span.span_id}"

    def is_called(self, node: Node) -> bool:
        """Say whether an agent was called by another agent or from within a call, under a name of its own."""
        if str(node.fields.get("operation", "")).lower() in _PLAIN_AGENTS or self._name(node) is None:
            return False
        for above in node.above():
            if above.kind == AGENT:
                return self._name(above) != self._name(node)
            if above.kind == TOOL:
                return True
        return False

    def place(self, node: Node) -> int:
        """Return the conversation a node belongs to: that of the nearest agent or call it is inside."""
        nearest = next((above for above in node.above() if above.kind != MODEL), None)
        if node.kind == AGENT:
            nearest = node
        return 0 if nearest is None else id(nearest.merged or nearest)

    def _name(self, node: Node) -> str | None:
        for field in ("agent", "entity"):
            name = node.fields.get(field)
            if isinstance(name, str) and name:
                return name
        for start in ("invoke_agent ", "agent run ", "agent_run "):
            if node.span.name.startswith(start) and len(node.span.name) > len(start):
                return node.span.name[len(start) :].strip("[]")
        return None
