"""Whether any call can satisfy a tool's JSON Schema, and whether two schemas accept the same calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plumbline.base.canonical import canonical_json

__all__ = ["same_calls", "schema_problems"]

_PRESENTATION = frozenset({"description", "title", "examples", "$comment", "deprecated"})
_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_TYPES: Mapping[str, Any] = {
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: not isinstance(v, bool | str | list | Mapping) and v is not None,
    "array": lambda v: isinstance(v, list | tuple),
    "object": lambda v: isinstance(v, Mapping),
    "null": lambda v: v is None,
}
_NAMES_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})


def schema_problems(schema: Any, where: str = "arguments") -> list[str]:
    """Return the reasons why no call can satisfy a schema.

    Parameters
    ----------
    schema : mapping or bool
        A JSON Schema. Contradictions between ``allOf``, ``not`` and patterns are not looked for.
    where : str
        What it describes, for the messages.

    Returns
    -------
    list of str
        Empty if no contradiction was found.

    Examples
    --------
    >>> schema_problems({"type": "object", "properties": {"n": {"enum": []}}, "required": ["n"]})
    ['arguments.n: no value is allowed']
    """
    return list(_problems(schema, where))


def _problems(schema: Any, where: str) -> Iterator[str]:
    if schema is False:
        yield f"{where}: nothing is allowed"
    if not isinstance(schema, Mapping):
        return
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds or [])
    if values is not None and not values:
        yield f"{where}: no value is allowed"
    if values and kinds and not any(_TYPES[kind](value) for value in values for kind in kinds if kind in _TYPES):
        yield f"{where}: no allowed value is of type {' or '.join(kinds)}"
    for low, high in _BOUNDS:
        if low in schema and high in schema and schema[low] > schema[high]:
            yield f"{where}: {low} {schema[low]} exceeds {high} {schema[high]}"
    inner = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in inner and schema.get("additionalProperties") is False:
            yield f"{where}: {name!r} is required and not allowed"
        elif name in inner:
            yield from _problems(inner[name], f"{where}.{name}")
    if schema.get("minItems", 0) > 0 and "items" in schema:
        yield from _problems(schema["items"], f"{where}[]")
    for word in ("anyOf", "oneOf"):
        branches = [schema_problems(branch, where) for branch in schema.get(word, ())]
        if word in schema and all(branches):
            yield f"{where}: no branch of {word} can be satisfied"


def same_calls(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two schemas differ in nothing but presentation: descriptions, titles, examples, order of keys.

    Examples
    --------
    >>> same_calls({"type": "object", "title": "A"}, {"title": "B", "type": "object"})
    True
    """
    return canonical_json(_bare(first)) == canonical_json(_bare(second))


def _bare(schema: Any, names: bool = False) -> Any:
    """Drop presentation; inside ``properties`` a key is a name of an argument and stays, even if it is ``title``."""
    if isinstance(schema, Mapping):
        kept = {key: value for key, value in schema.items() if names or key not in _PRESENTATION}
        if "required" in kept and not names and isinstance(kept["required"], list | tuple):
            kept["required"] = sorted(kept["required"])
        return {key: _bare(value, not names and key in _NAMES_OF_SCHEMAS) for key, value in kept.items()}
    return [_bare(item) for item in schema] if isinstance(schema, list | tuple) else schema
