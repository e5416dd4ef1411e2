"""What an agent is told of the tools: in the order, the words and the schemas that its variant asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.running.tool import Tool

__all__ = ["offer"]


def offer(tools: Sequence[Tool], given: Any) -> tuple[Tool, ...]:
    """Return the tools as the agent is told of them.

    Parameters
    ----------
    tools : sequence of Tool
        Real tools and decoys.
    given : Variant or None
        The trial's variant.

    Raises
    ------
    ParameterError
        The variant names a tool that is not offered, or names one twice in its order.

    Examples
    --------
    >>> from plumbline.running.system import Variant
    >>> schema = {"type": "object", "properties": {}}
    >>> tools = [Tool(name, lambda world: None, schema) for name in ("a", "b", "c")]
    >>> [tool.name for tool in offer(tools, Variant("", tool_order=("c",)))]
    ['c', 'a', 'b']
    """
    order = tuple(getattr(given, "tool_order", ()))
    words = dict(getattr(given, "tool_descriptions", {}))
    schemas = dict(getattr(given, "tool_parameters", {}))
    known = {tool.name: tool for tool in tools}
    if lost := [name for name in (*order, *words, *schemas) if name not in known]:
        raise ParameterError(f"the variant names tools {lost} that are not offered; there are {', '.join(known)}")
    if len(set(order)) != len(order):
        raise ParameterError(f"the variant's tool order names a tool twice: {list(order)}")
    chosen = [known[name] for name in (*order, *(name for name in known if name not in order))]
    return tuple(
        replace(t, description=words.get(t.name, t.description), parameters=schemas.get(t.name, t.parameters))
        if t.name in words or t.name in schemas
        else t
        for t in chosen
    )
