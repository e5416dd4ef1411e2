"""Reading field rules from the JSON Schema of a tool's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plumbline.base.errors import PolicyError
from plumbline.compare.field_rules import (
    FieldRule,
    date,
    enumeration,
    exact,
    instant,
    list_of,
    number,
    set_of,
)
from plumbline.compare.fields import join_key
from plumbline.compare.verdicts import MISSING

__all__ = ["schema_fields"]

_DEEPEST = 32
_Open = frozenset[int]


def schema_fields(tool: str, schema: Mapping[str, Any]) -> dict[str, FieldRule]:
    """Return the field rules that a JSON Schema declares.

    ``integer`` and ``number`` become ``number`` with zero tolerance (for JSON Schema 1.0 is an integer); ``enum`` and
    ``const`` an enumeration; the formats ``date`` and ``date-time`` a date and an instant; an array a list, or a set if
    its items are declared unique; objects are walked into. ``required`` keys are required, a ``default`` is what an
    absent key stands for. Text is compared exactly: a schema does not say which texts are prose. What a schema leaves
    open (several types, recursion) is compared exactly too.

    Parameters
    ----------
    tool : str
        Name of the tool, for messages.
    schema : mapping
        An object schema; references inside the document (``#/...``) are followed.

    Returns
    -------
    dict of field path to FieldRule

    Raises
    ------
    PolicyError
        The schema is not an object's, or refers to something that is not in it.

    Examples
    --------
    >>> fields = schema_fields("pay", {"type": "object", "properties": {"on": {"type": "string", "format": "date"}}})
    >>> fields["on"].kind
    'date'
    """
    if not isinstance(schema, Mapping):
        raise PolicyError(f"the schema of {tool!r} is a {type(schema).__name__}; give the JSON Schema object.")
    reader = _Reader(tool, schema)
    root = reader.resolve(schema)
    if not isinstance(root.get("properties"), Mapping) and root.get("type") != "object":
        raise PolicyError(
            f"the schema of {tool!r} describes no object: found keys {sorted(root)}; "
            "give the schema of the arguments, with type 'object' and properties."
        )
    found: dict[str, FieldRule] = {}
    reader.properties(root, "", found, frozenset())
    return found


class _Reader:
    def __init__(self, tool: str, document: Mapping[str, Any]) -> None:
        self.tool = tool
        self.document = document

    def resolve(self, schema: Any) -> Mapping[str, Any]:
        """Follow references, a single ``allOf`` and the branch that is not null."""
        for _ in range(_DEEPEST):
            if schema is True or schema is False:
                return {}
            if not isinstance(schema, Mapping):
                raise PolicyError(f"the schema of {self.tool!r} holds {schema!r} where a schema is expected.")
            if "$ref" in schema:
                beside = {key: value for key, value in schema.items() if key != "$ref"}
                schema = {**self._at(schema["$ref"]), **beside}
                continue
            choices = [branch for key in ("anyOf", "oneOf", "allOf") for branch in schema.get(key, ())]
            real = [branch for branch in choices if not (isinstance(branch, Mapping) and branch.get("type") == "null")]
            if len(real) != 1 or not isinstance(real[0], Mapping):
                return schema
            beside = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "allOf")}
            schema = {**real[0], **beside}
        raise PolicyError(f"the schema of {self.tool!r} refers to itself without end.")

    def _at(self, pointer: Any) -> Mapping[str, Any]:
        where: Any = self.document
        parts = pointer.split("/") if isinstance(pointer, str) else [""]
        for part in parts[1:] if parts[0] == "#" else [None]:
            key = part.replace("~1", "/").replace("~0", "~") if part is not None else None
            if not isinstance(where, Mapping) or key not in where:
                raise PolicyError(f"the schema of {self.tool!r} refers to {pointer!r}, which is not in it.")
            where = where[key]
        if not isinstance(where, Mapping):
            raise PolicyError(f"the schema of {self.tool!r} refers to {pointer!r}, which is no schema.")
        return where

    def properties(self, schema: Mapping[str, Any], path: str, found: dict[str, FieldRule], open_: _Open) -> None:
        """Add the rules of an object's properties; ``open_`` holds the schemas being read, so that recursion ends."""
        required = schema.get("required", ())
        for key, inner in schema.get("properties", {}).items():
            resolved = self.resolve(inner)
            where = join_key(path, key)
            default = resolved.get("default", MISSING)
            rule = replace(self._leaf(resolved), presence="required" if key in required else "same", default=default)
            inside = self._inside(resolved, where, found, open_)
            if not inside or rule != exact():
                found[where] = rule

    def _inside(self, schema: Mapping[str, Any], path: str, found: dict[str, FieldRule], open_: _Open) -> bool:
        """Add the rules of what a schema holds; True if it is an object that was walked into."""
        items = schema.get("items")
        if self._leaf(schema).kind in ("list", "set") and isinstance(items, Mapping) and id(items) not in open_:
            resolved = self.resolve(items)
            if not self._inside(resolved, f"{path}[]", found, open_ | {id(items)}):
                found[f"{path}[]"] = self._leaf(resolved)
        properties = schema.get("properties")
        if not properties or _mixed(schema) or id(properties) in open_:
            return False
        self.properties(schema, path, found, open_ | {id(properties)})
        return True

    def _leaf(self, schema: Mapping[str, Any]) -> FieldRule:
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if values:
            return enumeration(list(values))
        kind = schema.get("type")
        if isinstance(kind, list):
            real = [word for word in kind if word != "null"]
            kind = real[0] if len(real) == 1 else "number" if set(real) == {"integer", "number"} else None
        if kind in ("integer", "number"):
            return number()
        if kind == "array":
            return set_of() if schema.get("uniqueItems") is True else list_of()
        if kind == "string" and schema.get("format") == "date":
            return date()
        if kind == "string" and schema.get("format") == "date-time":
            return instant()
        return exact()


def _mixed(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type", "object")
    return kind != "object" and not (isinstance(kind, list) and set(kind) == {"object", "null"})
