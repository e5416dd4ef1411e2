"""A tiny domain for these tests: a counter that can be read and raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from plumbline.base.errors import ToolError
from plumbline.running import Fault, Task, Tool, TrialKey, Variant, unchanged

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
BY = {"type": "object", "properties": {"by": {"type": "number"}}, "required": ["by"]}


class Counter:
    def __init__(self) -> None:
        self.value: Any = 0
        self.closed = False

    def close(self) -> None:
        self.closed = True


def read(world: Counter) -> Any:
    return {"value": world.value}


def add(world: Counter, by: Any) -> Any:
    if by < 0:
        raise ToolError("only upwards", "refused")
    world.value += by
    return {"value": world.value}


def broken(world: Counter) -> Any:
    raise ZeroDivisionError("a mistake in the tool")


@dataclass
class Counting:
    """Satisfies ``plumbline.running.System``."""

    name: str = "counting"
    tasks: tuple[Task, ...] = (Task("T-1", "Count.", context={"secret": 1}), Task("T-2", "Count on.", "T"))
    tools: tuple[Tool, ...] = (
        Tool("read", read, NOTHING, idempotent=True),
        Tool("add", add, BY, mutating=True),
        Tool("broken", broken, NOTHING),
    )
    decoys: tuple[Tool, ...] = (Tool("reset", broken, NOTHING),)
    worlds: list[Counter] = field(default_factory=list)
    variant: Callable[[Task, str, str], Variant] = unchanged
    fault: Callable[[TrialKey], Fault | None] = lambda key: None

    def new_world(self) -> Counter:
        self.worlds.append(Counter())
        return self.worlds[-1]

    def outcome(self, world: Counter, task: Task) -> Mapping[str, Any]:
        return {"value": world.value}

    def truth(self, task: Task) -> Mapping[str, Any]:
        return dict(task.context)


@pytest.fixture
def counting() -> Counting:
    return Counting()
