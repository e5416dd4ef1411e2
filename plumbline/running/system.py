"""What a run is made of: tasks, trial keys, agents and the system they act on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from plumbline.base.errors import ParameterError
from plumbline.base.schema import trial_id
from plumbline.rules.variants import Variant

if TYPE_CHECKING:
    from plumbline.running.faults import Fault
    from plumbline.running.tool import Tool
    from plumbline.running.toolbox import Toolbox

__all__ = ["Agent", "System", "Task", "TrialKey", "Variant", "unchanged"]


@dataclass(frozen=True)
class Task:
    """One case of a domain, as an agent is given it.

    Parameters
    ----------
    id : str
        Name of the task, without ``/``.
    prompt : str or None
        What the agent is asked. None means that the wording is not on record.
    family : str, optional
        Seed input this task descends from; the task itself by default.
    context : mapping, optional
        What the system of record says should happen. A trial hands the task to its agent without it.
    """

    id: str
    prompt: str | None
    family: str = ""
    context: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if not self.id or "/" in self.id:
            raise ParameterError(f"a task id is a name without '/'; found {self.id!r}")
        if not self.family:
            object.__setattr__(self, "family", self.id)

    def for_agent(self, prompt: str | None) -> Task:
        """Return the task with the variant's prompt and without its ground truth."""
        return replace(self, prompt=prompt, context={})


@dataclass(frozen=True)
class TrialKey:
    """The five parts that identify a trial."""

    arm: str
    task_id: str
    perturbation: str = "baseline"
    variant: str = "0"
    repetition: int = 0

    @property
    def trial_id(self) -> str:
        """The id composed of the parts.

        Examples
        --------
        >>> TrialKey("react", "INV-7002", "tool_fault", "0", 1).trial_id
        'react/INV-7002/tool_fault/0/1'
        """
        return trial_id(self.arm, self.task_id, self.perturbation, self.variant, self.repetition)

    @classmethod
    def parse(cls, text: str) -> TrialKey:
        """Read a key from a trial id.

        Raises
        ------
        ParameterError
            The text is not ``arm/task/perturbation/variant/repetition``.
        """
        parts = text.split("/")
        if len(parts) != 5 or not all(parts) or not (parts[4].isascii() and parts[4].isdigit()):
            raise ParameterError(f"a trial id is arm/task/perturbation/variant/repetition; found {text!r}")
        return cls(parts[0], parts[1], parts[2], parts[3], int(parts[4]))


class Agent(Protocol):
    """Anything that takes a task and a toolbox and returns its last words, or None if it said them to the toolbox.

    An agent with a method ``for_trial(key)`` is asked for the agent of each trial; that is how recorded decisions find
    their trial, and how an agent that keeps state starts every trial afresh. A coroutine function will do as well.
    """

    def __call__(self, task: Task, toolbox: Toolbox, /) -> str | Awaitable[str | None] | None:
        """Do the task."""


class System(Protocol):
    """The part of a domain that a trial needs; ``plumbline.domain.Domain`` is one.

    A system with a method ``in_trial(key)`` is asked for the system that each trial acts on, such as one with other
    rows in its tables or without one of its tools.
    """

    @property
    def name(self) -> str:
        """Name of the domain."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that work."""

    @property
    def decoys(self) -> tuple[Tool, ...]:
        """Tools that may be offered but do not exist."""

    @property
    def new_world(self) -> Callable[[], Any]:
        """Makes a fresh system of record."""

    @property
    def outcome(self) -> Callable[[Any, Task], Mapping[str, Any]]:
        """Reads the terminal state of a task from the system of record."""

    @property
    def truth(self) -> Callable[[Task], Mapping[str, Any]]:
        """Derives what should happen to a task."""

    @property
    def variant(self) -> Callable[[Task, str, str], Variant]:
        """Gives the variant of a task under a perturbation."""

    @property
    def fault(self) -> Callable[[TrialKey], Fault | None]:
        """Gives the fault planned for a trial."""


def unchanged(task: Task, perturbation: str, variant: str) -> Variant:
    """Give the baseline variant, the task's own prompt, and refuse every other perturbation."""
    if perturbation != "baseline":
        raise ParameterError(
            f"no variant {variant!r} of perturbation {perturbation!r} is known for task {task.id!r}, only "
            "'baseline'. Give the domain or the run a function variant(task, perturbation, variant)."
        )
    return Variant(task.prompt)
