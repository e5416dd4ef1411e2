"""What a perturbation sees of a task: its wording, the facts that the wording must keep, and the tools on offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError

__all__ = ["Facts", "TaskView", "ToolView", "view_tools"]

FACT_KINDS = ("identifiers", "amounts", "dates", "names")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of a task that no rewording may lose, each as it is spelled in the prompt.

    The guard finds numbers, dates and most identifiers by itself; what is listed here it will not overlook.

    Parameters
    ----------
    identifiers, amounts, dates, names : tuple of str
        Spellings, for example ``"INV-7002"``, ``"4,500.00"``, ``"2026-07-03"``, ``"Ashfield Logistics"``.

    Raises
    ------
    ParameterError
        A single text instead of several, or an empty spelling.

    Examples
    --------
    >>> Facts(identifiers=("INV-7002",), names=("Ashfield Logistics",)).all
    ('INV-7002', 'Ashfield Logistics')
    """

    identifiers: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for kind in FACT_KINDS:
            given = getattr(self, kind)
            if isinstance(given, str) or not all(isinstance(text, str) and text.strip() for text in given):
                raise ParameterError(f"facts.{kind} must be texts, for example ('INV-7002',); found {given!r}")
            object.__setattr__(self, kind, tuple(given))

    @property
    def all(self) -> tuple[str, ...]:
        """Every spelling."""
        return tuple(text for kind in FACT_KINDS for text in getattr(self, kind))

    def standing_in(self, prompt: str) -> Facts:
        """Return the facts that a prompt spells in the same way; a reformatted amount or date drops out."""
        plain = " ".join(prompt.split())
        kept = {k: tuple(t for t in getattr(self, k) if " ".join(t.split()) in plain) for k in FACT_KINDS}
        return Facts(**kept)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the facts as JSON values."""
        return {kind: list(getattr(self, kind)) for kind in FACT_KINDS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Iterable[str]]) -> Facts:
        """Read facts from what ``to_dict`` gives; kinds that are left out have none."""
        if unknown := sorted(set(values) - set(FACT_KINDS)):
            raise ParameterError(f"facts have the kinds {', '.join(FACT_KINDS)}; found {unknown}")
        return cls(**{kind: tuple(texts) for kind, texts in values.items()})


class HasSchema(Protocol):
    """Anything with a tool's name, description and JSON Schema; ``plumbline.Tool`` is one."""

    @property
    def name(self) -> str:
        """What the agent calls it."""

    @property
    def description(self) -> str:
        """What the agent is told."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments."""


@dataclass(frozen=True)
class ToolView:
    """What an agent is told of one tool.

    Parameters
    ----------
    name : str
        What the agent calls it.
    description : str
        What it is for.
    parameters : mapping
        JSON Schema of the arguments.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError(f"a tool is named by text; found {self.name!r}")
        if not isinstance(self.parameters, Mapping):
            raise ParameterError(f"parameters of tool {self.name!r} must be a JSON Schema; found {self.parameters!r}")
        canonical_json(self.parameters)


def view_tools(tools: Iterable[HasSchema]) -> tuple[ToolView, ...]:
    """Return what an agent is told of tools, in their order.

    Parameters
    ----------
    tools : iterable of Tool
        Anything with ``name``, ``description`` and ``parameters``.

    Returns
    -------
    tuple of ToolView

    Examples
    --------
    >>> view_tools([ToolView("double", "Double a number.")])[0].name
    'double'
    """
    return tuple(ToolView(tool.name, tool.description, tool.parameters) for tool in tools)


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """A task as a perturbation and its guard see it; the ground truth is not part of it.

    Parameters
    ----------
    id : str
        Name of the task.
    prompt : str or None
        What the agent is asked; None if the wording is not on record.
    facts : Facts
        What every rewording must keep; each spelling stands in the prompt.
    slots : mapping of str to str
        Values that templates of the domain may name, for example ``{"invoice": "INV-7002"}``.
    tools, decoys : tuple of ToolView
        The tools that work, and those that may be offered although they do not exist.
    family : str
        Seed input this task descends from; the task itself by default.

    Raises
    ------
    ParameterError
        A fact that is not in the prompt, or a tool name that stands twice.

    Examples
    --------
    >>> TaskView(id="T-1", prompt="Cancel order A-17.", facts=Facts(identifiers=("A-17",))).family
    'T-1'
    """

    id: str
    prompt: str | None
    facts: Facts = field(default_factory=Facts)
    slots: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[ToolView, ...] = ()
    decoys: tuple[ToolView, ...] = ()
    family: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id or "/" in self.id:
            raise ParameterError(f"a task id is a name without '/'; found {self.id!r}")
        object.__setattr__(self, "family", self.family or self.id)
        names = [tool.name for tool in (*self.tools, *self.decoys)]
        if len(set(names)) != len(names):
            raise ParameterError(f"task {self.id!r}: tools and decoys need different names; found {names}")
        if self.prompt is not None:
            stands_in(self.facts, self.prompt, f"task {self.id!r}")

    def with_prompt(self, prompt: str | None) -> TaskView:
        """Return the task with another wording, and with those of its facts that this wording spells alike."""
        return replace(self, prompt=prompt, facts=self.facts if prompt is None else self.facts.standing_in(prompt))


def stands_in(facts: Facts, prompt: str, where: str) -> None:
    """Raise unless every fact stands in the prompt."""
    plain = " ".join(prompt.split())
    if absent := [text for text in facts.all if " ".join(text.split()) not in plain]:
        raise ParameterError(
            f"{where}: {absent} are listed as facts but do not stand in the prompt {prompt!r}. "
            "List facts as the prompt spells them; what the prompt does not say cannot be kept."
        )
