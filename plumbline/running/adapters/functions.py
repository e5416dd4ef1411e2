"""Agents that call plain Python functions, and plain Python functions as tools."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Union

from plumbline.base.errors import ParameterError
from plumbline.running.system import Agent, Task
from plumbline.running.tool import Tool
from plumbline.running.toolbox import Toolbox

__all__ = ["function_agent", "tool_from_function"]

_JSON = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def function_agent(
    run: Callable[[str, Mapping[str, Callable[..., Any]]], str | Awaitable[str | None] | None],
) -> Agent:
    """Make a recordable agent of a function that is handed a prompt and plain functions by name.

    Parameters
    ----------
    run : callable
        ``run(prompt, tools)``, or a coroutine function; ``tools[name](**arguments)`` gives the tool's result or raises
        ``ToolError``. What it returns are its last words.

    Returns
    -------
    Agent

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> box = Toolbox([Tool("double", lambda world, n: 2 * n, schema)], None)
    >>> function_agent(lambda prompt, tools: f"{prompt}: {tools['double'](n=4)}")(Task("T", "Twice four"), box)
    'Twice four: 8'
    """

    def agent(task: Task, toolbox: Toolbox, /) -> Any:
        return run(task.prompt or "", {tool.name: _bound(toolbox, tool) for tool in toolbox.offered})

    return agent


def _bound(toolbox: Toolbox, tool: Tool) -> Callable[..., Any]:
    names = list(tool.parameters["properties"])

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{tool.name} takes {len(names)} arguments; found {len(args)}")
        given = dict(zip(names, args, strict=False))
        if twice := sorted(set(given) & set(kwargs)):
            raise TypeError(f"{tool.name} got {', '.join(twice)} twice")
        return toolbox.call(tool.name, given | kwargs)

    call.__name__, call.__doc__ = tool.name, tool.description
    return call


def tool_from_function(function: Callable[..., Any], *, mutating: bool = False, idempotent: bool = False) -> Tool:
    """Make a tool of a plain function: its schema from the annotations, its words from the docstring.

    Parameters
    ----------
    function : callable
        It is not handed the world. Its arguments are annotated with ``str``, ``int``, ``float``, ``bool``, ``list``,
        ``dict``, ``Literal`` of texts, or unions of them and None.
    mutating : bool
        Whether a successful call changes the system of record.
    idempotent : bool
        Whether repeating a successful call changes nothing more.

    Returns
    -------
    Tool

    Raises
    ------
    ParameterError
        An argument has no annotation that JSON Schema can say, or the function takes ``*args`` or ``**kwargs``.

    Examples
    --------
    >>> def double(n: int) -> int:
    ...     "Double a number."
    ...     return 2 * n
    >>> tool_from_function(double).parameters["properties"]
    {'n': {'type': 'integer'}}
    """
    name = getattr(function, "__name__", type(function).__name__)
    hints = typing.get_type_hints(function)
    properties, required = {}, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ParameterError(f"tool {name!r}: argument {parameter.name!r} cannot be given by name")
        properties[parameter.name] = _schema(hints.get(parameter.name), f"tool {name!r}, argument {parameter.name!r}")
        if parameter.default is parameter.empty:
            required.append(parameter.name)

    def call(world: Any, **arguments: Any) -> Any:
        return function(**arguments)

    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    words = (inspect.getdoc(function) or "").strip().partition("\n\n")[0]
    return Tool(name, call, parameters, description=words, mutating=mutating, idempotent=idempotent)


def _schema(hint: Any, where: str) -> dict[str, Any]:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal and all(isinstance(part, str) for part in parts):
        return {"type": "string", "enum": list(parts)}
    if origin in (Union, types.UnionType):
        kinds = [{"type": "null"} if p is type(None) else _schema(p, where) for p in parts]
        return {"type": [kind["type"] for kind in kinds]}
    plain = origin or hint
    if plain not in _JSON:
        allowed = ", ".join(kind.__name__ for kind in _JSON)
        raise ParameterError(f"{where}: annotate it with {allowed}, a Literal of texts or a union; found {hint!r}")
    return {"type": _JSON[plain]}
