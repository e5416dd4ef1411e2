"""What an agent is made of, as JSON values: two agents that could act differently have different descriptions."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
from collections.abc import Mapping
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError

__all__ = ["describe", "digest"]

_DEEPEST = 6


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value, as ``sha256:…``.

    Examples
    --------
    >>> digest({"a": 1})[:15]
    'sha256:015abd7f'
    """
    return f"sha256:{hashlib.sha256(canonical_json(value).encode()).hexdigest()}"


def describe(agent: Any) -> Any:
    """Describe an agent, so that a run can be resumed only with the agents it was begun with.

    An agent with a method ``describe()`` is asked. Of a dataclass the fields count; of a function its source and what
    it closes over; of any other object its class, because nothing more can be known to be stable.

    Parameters
    ----------
    agent : object
        An agent, or a part of one.

    Returns
    -------
    object
        JSON values.

    Raises
    ------
    ParameterError
        ``describe()`` of the agent does not return JSON values.

    Examples
    --------
    >>> def agent(task, toolbox): ...
    >>> describe(functools.partial(agent, depth=2))["keywords"]
    {'depth': 2}
    """
    own = getattr(agent, "describe", None)
    if callable(own) and not inspect.isclass(agent):
        said = own()
        try:
            canonical_json(said)
        except (ValueError, TypeError) as error:
            raise ParameterError(f"describe() of {type(agent).__name__} must return JSON values: {error}") from None
        return said
    return _part(agent, 0)


def _part(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if depth > _DEEPEST:
        return _name(type(value))
    if isinstance(value, Mapping):
        return {str(k): _part(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_part(v, depth + 1) for v in value]
    if isinstance(value, functools.partial):
        keywords = {k: _part(v, depth + 1) for k, v in value.keywords.items()}
        return {"call": _part(value.func, depth + 1), "args": _part(value.args, depth + 1), "keywords": keywords}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _part(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)}
        return {"class": _name(type(value)), "fields": fields}
    if inspect.isfunction(value):
        return _function(value, depth)
    if inspect.isclass(value):
        return {"class": _name(value)}
    return {"class": _name(type(value))}


def _function(function: Any, depth: int) -> dict[str, Any]:
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = function.__code__.co_code.hex()
    found: dict[str, Any] = {"function": _name(function), "source": hashlib.sha256(text.encode()).hexdigest()[:16]}
    names = function.__code__.co_freevars
    held: dict[str, Any] = {}
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            content = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if content is not function:
            held[name] = _part(content, depth + 1)
    return found | {"closes_over": held} if held else found


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
