"""The one seam between an agent and the tools: every call crosses it, and faults are injected here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from plumbline.running.tool import Tool

__all__ = ["Call", "Direct", "Reply", "Transport"]


@dataclass(frozen=True)
class Call:
    """One call on its way to a tool.

    ``number`` counts the calls of this tool within the trial, from 1; ``parallel`` is how many calls its turn makes.
    """

    tool: Tool
    arguments: dict[str, Any]
    number: int
    parallel: int = 1


@dataclass(frozen=True)
class Reply:
    """What came back, and the name of the fault that changed it on the way, if one did."""

    result: Any
    injected: str | None = None


class Transport(Protocol):
    """Carries a call to its tool and the reply back; raises ``ToolError`` if the call failed.

    A transport may wrap another one and act before the call, after it, or instead of it.
    """

    def send(self, call: Call) -> Reply:
        """Carry one call."""


class Direct:
    """Carries calls to tools that act on a system of record in this process; arguments are checked on arrival.

    Parameters
    ----------
    world : object
        The trial's own system of record.
    """

    def __init__(self, world: Any) -> None:
        self.world = world

    def send(self, call: Call) -> Reply:
        """Check the arguments against the tool's schema, then run the tool."""
        call.tool.check(call.arguments)
        return Reply(call.tool.function(self.world, **call.arguments))
