"""The catalog of perturbations of what an agent is told of its tools, and of how tools fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.rules.draws import Draw, nth_arrangement, nth_subset
from plumbline.rules.perturb import Perturbation
from plumbline.rules.perturb_catalog import OWNER
from plumbline.rules.task_view import TaskView
from plumbline.rules.variants import Variant

__all__ = ["decoy_tools", "schema_order", "tool_descriptions", "tool_fault", "tool_order"]


def decoy_tools(*, most: int | None = None, risk_owner: str = OWNER) -> Perturbation:
    """Offer tools beside the real ones that have nothing to do with the task and do not exist.

    Parameters
    ----------
    most : int, optional
        How many at most; by default all decoys of the domain.
    risk_owner : str
        Who answers for the decoys being beside the point.

    Returns
    -------
    Perturbation
        Every set of one to ``most`` decoys is one output.

    Examples
    --------
    >>> from plumbline.rules.task_view import ToolView
    >>> task = TaskView(id="T", prompt="Pay A-1.", decoys=(ToolView("weather"),))
    >>> decoy_tools().apply(task, seed=7).decoys
    ('weather',)
    """
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ParameterError(f"most must be a whole number of at least 1; found {most!r}")

    def sizes(task: TaskView) -> list[int]:
        held = len(task.decoys)
        return [math.comb(held, k) for k in range(1, min(most or held, held) + 1)]

    def offer(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        number, names = draw.choice, tuple(tool.name for tool in task.decoys)
        for size, count in enumerate(sizes(task), 1):
            if number < count:
                return {"decoys": nth_subset(names, size, number)}
            number -= count
        raise AssertionError("a choice lies within the size")

    return Perturbation(
        name="decoy_tools", function=offer, may_change=("decoys",), risk_owner=risk_owner,
        requires=(lambda task: None if task.decoys else "its domain has no decoy tools",),
        size=lambda task, base: sum(sizes(task)) or None, material={"most": most},
        description="tools on offer that have nothing to do with the task",
    )  # fmt: skip


def tool_order(*, risk_owner: str = OWNER) -> Perturbation:
    """Tell the agent of its tools in another order.

    Returns
    -------
    Perturbation
        Every order but the domain's own is one output; decoys that are on offer take part.

    Examples
    --------
    >>> from plumbline.rules.task_view import ToolView
    >>> task = TaskView(id="T", prompt="Pay A-1.", tools=(ToolView("pay"), ToolView("log")))
    >>> tool_order().apply(task, seed=7).tool_order
    ('log', 'pay')
    """

    def reorder(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        names = tuple(tool.name for tool in task.tools)
        return {"tool_order": nth_arrangement((*names, *base.decoys), draw.choice + 1)}

    return Perturbation(
        name="tool_order", function=reorder, may_change=("tool_order",), risk_owner=risk_owner,
        requires=(lambda task: None if len(task.tools) > 1 else "it has fewer than two tools",),
        size=lambda task, base: math.factorial(len(task.tools) + len(base.decoys)) - 1 or None,
        description="the same tools in another order",
    )  # fmt: skip


def tool_descriptions(
    alternatives: Mapping[str, Sequence[str]], *, version: str = "1", risk_owner: str = OWNER
) -> Perturbation:
    """Describe the tools in other words.

    Parameters
    ----------
    alternatives : mapping of str to sequence of str
        Tool to other descriptions of it, its own left out; the guard compares each with the tool's own.
    version : str
        Raised whenever the descriptions change.
    risk_owner : str
        Who answers for the descriptions.

    Returns
    -------
    Perturbation
        Each tool keeps its own description or takes one of the others; at least one tool takes another.

    Raises
    ------
    ParameterError
        A tool without an alternative, or no tool at all.
    """
    held = {name: tuple(texts) for name, texts in alternatives.items()}
    if not held or not all(texts and all(isinstance(t, str) and t.strip() for t in texts) for texts in held.values()):
        raise ParameterError(f"give tools with at least one other description each; found {dict(alternatives)!r}")

    def describe(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        number, told = draw.choice + 1, dict(base.tool_descriptions)
        for name, texts in held.items():
            number, chosen = divmod(number, len(texts) + 1)
            if chosen:
                told[name] = texts[chosen - 1]
        return {"tool_descriptions": told}

    def known(task: TaskView) -> str | None:
        lost = [name for name in held if name not in {tool.name for tool in task.tools}]
        return f"it has no tools {lost}, which are described anew" if lost else None

    return Perturbation(
        name="tool_descriptions", version=version, function=describe, may_change=("tool_descriptions",),
        requires=(known,), size=math.prod(len(texts) + 1 for texts in held.values()) - 1, risk_owner=risk_owner,
        material={"alternatives": {name: list(texts) for name, texts in held.items()}},
        description="the same tools in other words",
    )  # fmt: skip


def schema_order(*, risk_owner: str = OWNER) -> Perturbation:
    """Name the arguments of every tool in another order; a tool accepts the same calls as before.

    Returns
    -------
    Perturbation
    """

    def orders(task: TaskView) -> dict[str, int]:
        return {tool.name: math.factorial(len(tool.parameters.get("properties", {}))) for tool in task.tools}

    def reorder(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        number, made, counts = draw.choice + 1, {}, orders(task)
        for tool in task.tools:
            number, place = divmod(number, counts[tool.name])
            if place:
                inner = tool.parameters["properties"]
                names = nth_arrangement(tuple(inner), place)
                made[tool.name] = {**tool.parameters, "properties": {name: inner[name] for name in names}}
        return {"tool_parameters": made}

    def several(task: TaskView) -> str | None:
        return None if math.prod(orders(task).values()) > 1 else "no tool of it takes two arguments"

    return Perturbation(
        name="schema_order", function=reorder, may_change=("tool_schemas",), requires=(several,),
        size=lambda task, base: math.prod(orders(task).values()) - 1 or None, risk_owner=risk_owner,
        description="the arguments of tools in another order",
    )  # fmt: skip


def tool_fault(
    tools: Sequence[str], errors: Sequence[str], *, on_call: int = 1, times: int = 1, risk_owner: str = OWNER
) -> Perturbation:
    """Let a tool fail once for every trial of the variant; each trial meets its own fault.

    Parameters
    ----------
    tools : sequence of str
        Tools that may fail.
    errors : sequence of str
        Names of errors that the runner knows, such as those of ``plumbline.running.FAULTS``.
    on_call, times : int
        Which call of the tool is the first to fail, and how many in a row, from 1.
    risk_owner : str
        Who answers for the fault being one that an agent can recover from.

    Returns
    -------
    Perturbation
        Every pair of tool and error is one output; the variant's ``fault`` is the plan in JSON values.

    Raises
    ------
    ParameterError
        No tool or no error, or a number below 1.

    Examples
    --------
    >>> from plumbline.rules.task_view import ToolView
    >>> task = TaskView(id="T", prompt="Pay A-1.", tools=(ToolView("pay"),))
    >>> tool_fault(["pay"], ["http_503"]).apply(task, seed=7).fault
    {'tool': 'pay', 'error': 'http_503', 'times': 1, 'on_call': 1}
    """
    for word, texts in (("tools", tools), ("errors", errors)):
        if isinstance(texts, str) or not texts or len(set(texts)) != len(texts):
            raise ParameterError(f"{word} must be at least one name, each once; found {texts!r}")
    for word, value in (("on_call", on_call), ("times", times)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{word} must be a whole number of at least 1; found {value!r}")

    def plan(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        tool, error = divmod(draw.choice, len(errors))
        return {"fault": {"tool": tools[tool], "error": errors[error], "times": times, "on_call": on_call}}

    def there(task: TaskView) -> str | None:
        lost = [name for name in tools if name not in {tool.name for tool in task.tools}]
        return f"it has no tools {lost}, which are to fail" if lost else None

    return Perturbation(
        name="tool_fault", function=plan, may_change=("fault",), requires=(there,), size=len(tools) * len(errors),
        risk_owner=risk_owner,
        material={"tools": list(tools), "errors": list(errors), "on_call": on_call, "times": times},
        description="a tool fails and recovers",
    )  # fmt: skip
