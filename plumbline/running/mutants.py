"""Planted faults: an agent that is right, seen through a toolbox that does one thing wrong.

A mutant changes what an agent does to its tools, never what is recorded of it: the steps are those that really
happened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.running.describing import describe
from plumbline.running.system import Agent, Task, TrialKey
from plumbline.running.toolbox import Toolbox

__all__ = [
    "Mutant", "MutantAgent", "Scene", "again", "change", "drop", "late", "mistake", "repeat", "swallow", "when_given",
]  # fmt: skip

Invoke = Callable[[str, Mapping[str, Any]], Any]


@dataclass
class Scene:
    """One trial as a mutant sees it.

    Parameters
    ----------
    task : Task
        What the agent was asked.
    toolbox : Toolbox
        The real one.
    results : dict
        Tool name to its last result in this trial, as the agent was told.
    waiting : list
        Calls that were put off.
    """

    task: Task
    toolbox: Toolbox
    results: dict[str, Any] = field(default_factory=dict)
    waiting: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


Operator = Callable[[Scene, str, Mapping[str, Any], Invoke], Any]
"""``operator(scene, name, arguments, invoke)`` stands in for a call; ``invoke(name, arguments)`` really makes one."""


@dataclass(frozen=True)
class Mutant:
    """One planted fault.

    Parameters
    ----------
    id : str
        Its name in every table.
    kind : str
        The kind of fault, such as ``drop`` or ``wrong amount``.
    tool : str
        The tool whose use goes wrong; a violation is localised rightly if it speaks of it.
    severity : str
        How bad the fault is in the domain's own words for rules.
    description : str
        What the agent does wrong, in a sentence.
    operator : callable
        See ``Operator``; asked for every call of every tool.

    Examples
    --------
    >>> Mutant("drop:log", "drop", "log", "medium", "The log is not written.", drop("log", {"logged": True})).id
    'drop:log'
    """

    id: str
    kind: str
    tool: str
    severity: str
    description: str
    operator: Operator = field(repr=False)

    def of(self, agent: Agent) -> MutantAgent:
        """Return an agent with this fault."""
        return MutantAgent(agent, self)


class _MutatedToolbox:
    """The real toolbox, except for what the mutant does to calls."""

    def __init__(self, scene: Scene, operator: Operator) -> None:
        self._scene, self._operator = scene, operator

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        found = self._operator(self._scene, name, arguments, self._scene.toolbox.call)
        self._scene.results[name] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scene.toolbox, name)


@dataclass(frozen=True)
class MutantAgent:
    """An agent with one planted fault; see ``Mutant``."""

    agent: Agent
    mutant: Mutant

    def describe(self) -> dict[str, Any]:
        """Return what decides how it acts."""
        return {"agent": "mutant", "mutant": self.mutant.id, "of": describe(self.agent)}

    def for_trial(self, key: TrialKey) -> Agent:
        """Return the agent of one trial."""
        maker = getattr(self.agent, "for_trial", None)
        return MutantAgent(maker(key), self.mutant) if maker is not None else self

    def __call__(self, task: Task, toolbox: Toolbox, /) -> Any:
        """Do the task, with the fault."""
        scene = Scene(task, toolbox)
        return self.agent(task, _MutatedToolbox(scene, self.mutant.operator))  # type: ignore[arg-type]


def drop(tool: str, pretended: Any) -> Operator:
    """Leave the calls of a tool out, and go on as if it had answered this.

    Parameters
    ----------
    tool : str
        The tool.
    pretended : JSON value or callable
        The answer, or ``pretended(scene, arguments)``.
    """

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        if name != tool:
            return invoke(name, arguments)
        return pretended(scene, arguments) if callable(pretended) else pretended

    return act


def repeat(tool: str) -> Operator:
    """Make every call of a tool twice."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        found = invoke(name, arguments)
        if name == tool:
            with contextlib.suppress(ToolError):
                invoke(name, arguments)
        return found

    return act


def late(tool: str, pretended: Any, *, before: str) -> Operator:
    """Go on as if a tool had answered, and really call it only before another one, after everything it should guard."""
    skipped = drop(tool, pretended)

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        if name == tool:
            scene.waiting.append((name, dict(arguments)))
            return skipped(scene, name, arguments, invoke)
        if name == before:
            while scene.waiting:
                with contextlib.suppress(ToolError):
                    invoke(*scene.waiting.pop(0))
        return invoke(name, arguments)

    return act


def mistake(tool: str, misread: Callable[[Scene, Any], Any]) -> Operator:
    """Call a tool rightly and misread its answer.

    Parameters
    ----------
    tool : str
        The tool.
    misread : callable
        ``misread(scene, result)`` gives what the agent takes the answer for.
    """

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        found = invoke(name, arguments)
        return misread(scene, found) if name == tool else found

    return act


def change(tool: str, wrong: Callable[[Scene, dict[str, Any]], Mapping[str, Any]]) -> Operator:
    """Call a tool with wrong arguments; ``wrong(scene, arguments)`` gives them."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        return invoke(name, wrong(scene, dict(arguments)) if name == tool else arguments)

    return act


def swallow(tool: str, pretended: Any) -> Operator:
    """Take a failed call of a tool for one that answered this."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        try:
            return invoke(name, arguments)
        except ToolError:
            if name != tool:
                raise
            return pretended

    return act


def again(tool: str, after: str = "timeout") -> Operator:
    """Make a call of a tool once more where it ended in this type of error, which may stand for one that happened."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        try:
            return invoke(name, arguments)
        except ToolError as error:
            if name != tool or error.error_type != after:
                raise
            return invoke(name, arguments)

    return act


def when_given(condition: Callable[[Scene], bool], operator: Operator) -> Operator:
    """Go wrong only where ``condition(scene)`` holds, for example under one perturbation."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Invoke) -> Any:
        return operator(scene, name, arguments, invoke) if condition(scene) else invoke(name, arguments)

    return act
