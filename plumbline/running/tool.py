"""One tool of a domain, and the check of a call against the schema it publishes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from plumbline.base.errors import ParameterError, ToolError

__all__ = ["Tool", "exact", "parameters", "text"]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: _number(v) and v == int(v),
    "number": lambda v: _number(v),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


_EXACT = frozenset({str, int, bool, Decimal, type(None)})


def _number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True)
class Tool:
    """A tool an agent may call.

    Parameters
    ----------
    name : str
        What the agent calls it.
    function : callable
        ``function(world, **arguments)``, returning JSON values; raises ``ToolError`` to refuse.
    parameters : mapping
        JSON Schema of the arguments: an object with ``properties`` and ``required``. A call is checked for missing and
        unknown names, and each value against its ``type`` and ``enum``; deeper parts of a schema are for the tool.
    description : str
        What the agent is told.
    mutating : bool
        Whether a successful call changes the system of record.
    idempotent : bool
        Whether repeating a successful call changes nothing more.

    Raises
    ------
    ParameterError
        The schema is not one of an object, requires a name it does not describe, or names an unknown type.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> Tool("double", lambda world, n: 2 * n, schema, description="Double a number.").required
    ('n',)
    """

    name: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any]
    description: str = field(default="", kw_only=True)
    mutating: bool = field(default=False, kw_only=True)
    idempotent: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        known = self.parameters.get("properties")
        if not self.name or self.parameters.get("type") != "object" or not isinstance(known, Mapping):
            raise ParameterError(
                f"tool {self.name!r} needs a name and parameters of type 'object' with 'properties'; "
                f"found {dict(self.parameters)!r}"
            )
        if lost := [name for name in self.required if name not in known]:
            raise ParameterError(f"tool {self.name!r} requires {lost}, which its properties do not describe")
        for name, schema in known.items():
            if odd := [kind for kind in _kinds(schema) if kind not in _TYPES]:
                raise ParameterError(
                    f"tool {self.name!r}, argument {name!r}: unknown type {odd}; known: {list(_TYPES)}"
                )

    @property
    def required(self) -> tuple[str, ...]:
        """Names that every call must give."""
        return tuple(self.parameters.get("required", ()))

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse arguments that do not fit the schema.

        Raises
        ------
        ToolError
            Of type ``bad_arguments``; the message names the argument and what is allowed.
        """
        known = self.parameters["properties"]
        if missing := [name for name in self.required if name not in arguments]:
            raise ToolError(f"{self.name} needs {', '.join(missing)}", "bad_arguments")
        if extra := [name for name in arguments if name not in known]:
            allowed = ", ".join(known) or "no argument"
            raise ToolError(f"{self.name} does not take {', '.join(extra)}; it takes {allowed}", "bad_arguments")
        for name, value in arguments.items():
            kinds = _kinds(known[name])
            if kinds and not any(_TYPES[kind](value) for kind in kinds):
                raise ToolError(f"{self.name}: {name} must be {' or '.join(kinds)}; found {value!r}", "bad_arguments")
            allowed_values = known[name].get("enum")
            if allowed_values is not None and value not in allowed_values:
                raise ToolError(
                    f"{self.name}: {name} must be one of {allowed_values}; found {value!r}", "bad_arguments"
                )

    def to_dict(self) -> dict[str, Any]:
        """Return what a model is told of the tool: name, description and parameters."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def exact(value: Any) -> Any:
    """Return a fresh copy of JSON values in which no number is a binary float.

    A float is read as the shortest decimal that spells it, which is what its sender most likely typed: ``0.1`` becomes
    ``Decimal('0.1')``, not the binary number next to it.

    Raises
    ------
    ValueError
        A float is NaN or infinite.

    Examples
    --------
    >>> exact({"amount": 4500.1, "lines": (1, True)})
    {'amount': Decimal('4500.1'), 'lines': [1, True]}
    """
    if type(value) in _EXACT:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return Decimal(repr(float(value)))
    if type(value) is dict or isinstance(value, Mapping):  # asking an abstract class is slow
        return {key: exact(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [exact(inner) for inner in value]
    return value


def text(meaning: str, **more: Any) -> dict[str, Any]:
    """Return the JSON Schema of a text, with what it means."""
    return {"type": "string", "description": meaning, **more}


def parameters(properties: Mapping[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments: all are required but the optional ones, and no others are taken.

    Examples
    --------
    >>> parameters({"id": text("Number."), "note": text("Any.")}, optional=("note",))["required"]
    ['id']
    """
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
