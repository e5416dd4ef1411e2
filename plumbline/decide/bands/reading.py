"""YAML with comments and lines: what a band file says, where each key stands, and what is wrong in words."""

from __future__ import annotations

import difflib
import io
import re
import typing
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from plumbline.base.errors import BandError, NotFoundError

__all__ = ["Lines", "parse_yaml", "problems_of", "read_text", "write_yaml"]

Where = tuple[str | int, ...]
Lines = dict[Where, int]
_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_SECRETLY = {"pass_": "pass"}


def read_text(path: Path, what: str = "band file") -> str:
    """Return the text of a file.

    Raises
    ------
    NotFoundError, BandError
        There is no such file, or it is not UTF-8.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no {what} {path}; write one with: plumbline bands init {path}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BandError(f"{path}: not UTF-8 text ({error})") from None


def _yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def parse_yaml(text: str, source: str) -> tuple[Any, Lines]:
    """Parse YAML 1.2 and keep comments, order and spelling.

    Returns
    -------
    (tree, lines)
        The tree that can be written again, and the line of every key and item, counted from 1.

    Raises
    ------
    BandError
        The text is no YAML or empty, or a key stands twice; with the line.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        tree = _yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = "" if mark is None else f", line {mark.line + 1}"
        problem = (error.problem or "cannot be read").split("\n")[0].split(" with value")[0]
        if "duplicate key" in problem:
            raise BandError(f"{source}{line}: {problem}; a key stands once: delete one of the two") from None
        raise BandError(f"{source}{line}: not YAML: {problem}; mend this line or the one before it") from None
    except YAMLError as error:
        raise BandError(f"{source}: not YAML: {error}") from None
    except ValueError as error:  # a day that no calendar has
        raise BandError(f"{source}, line {_odd_date(text)}: no date: {error}; write a day as 2026-08-01") from None
    if not isinstance(tree, dict):
        found = "empty" if tree is None else f"a {type(tree).__name__}"
        raise BandError(f"{source}, line 1: the file is {found}; it starts with: schema: plumbline.bands/1")
    lines: Lines = {(): 1}
    _note_lines(tree, (), lines)
    return tree, lines


def _odd_date(text: str) -> int:
    for number, line in enumerate(text.splitlines(), start=1):
        for found in _DAY.findall(line.split("#")[0]):
            try:
                date.fromisoformat(found)
            except ValueError:
                return number
    return 1


def _note_lines(node: Any, where: Where, lines: Lines) -> None:
    places = getattr(getattr(node, "lc", None), "data", None) or {}
    if isinstance(node, dict):
        for key, child in node.items():
            lines[(*where, key)] = places[key][0] + 1 if key in places else lines[where]
            _note_lines(child, (*where, key), lines)
    elif isinstance(node, list):
        for i, child in enumerate(node):
            lines[(*where, i)] = places[i][0] + 1 if i in places else lines[where]
            _note_lines(child, (*where, i), lines)


def write_yaml(tree: Any) -> str:
    """Return the YAML text of a tree, comments kept."""
    out = io.StringIO()
    _yaml().dump(tree, out)
    return out.getvalue()


def plain(node: Any) -> Any:
    """Return a tree as plain dictionaries, lists, numbers, dates and text."""
    if isinstance(node, dict):
        return {str(key): plain(child) for key, child in node.items()}
    if isinstance(node, list):
        return [plain(child) for child in node]
    if isinstance(node, bool) or node is None or type(node) in (int, float, str, date):
        return node
    if isinstance(node, str):
        return str(node)
    if isinstance(node, float):
        return float(node)
    if isinstance(node, int):
        return int(node)
    return node


def problems_of(error: ValidationError, *, source: str, lines: Lines, model: type[BaseModel], given: Any) -> list[str]:
    """Return one sentence for each thing that pydantic found: where, what was found, what is allowed."""
    found = []
    for item in error.errors(include_url=False):
        where: Where = tuple(_SECRETLY.get(part, part) if isinstance(part, str) else part for part in item["loc"])
        if item["type"] == "placed":
            where = (*where, item["ctx"]["at"])
        at = where
        while at not in lines:
            at = at[:-1]
        place = f"{source}, line {lines[at]}" + (f", {_path(where)}" if where else "")
        found.append(f"{place}: {_said(item, where, model, given)}")
    return found


def _path(where: Where) -> str:
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _said(item: Mapping[str, Any], where: Where, model: type[BaseModel], given: Any) -> str:
    kind, value = item["type"], item.get("input")
    if kind == "placed":
        return str(item["ctx"]["said"])
    if kind == "extra_forbidden":
        allowed = _allowed(where, model)
        near = difflib.get_close_matches(str(where[-1]), allowed, n=1)
        mend = f"write {near[0]!r}" if near else f"the keys here are {', '.join(allowed)}"
        return f"the key {where[-1]!r} is not known; {mend}"
    if kind == "missing":
        return _MISSING.get(str(where[-1]), f"{where[-1]!r} is missing; add a line {where[-1]}: …")
    if kind == "literal_error":
        return f"found {_short(value)}; choose {item['ctx']['expected']}"
    if kind == "value_error":
        message = str(item["ctx"]["error"])
        return (
            message
            if isinstance(value, Mapping | Sequence) and not isinstance(value, str)
            else (f"found {_short(value)}; {message}")
        )
    return f"found {_short(value)}; {item['msg'][0].lower()}{item['msg'][1:]}"


_MISSING = {
    "approver": "the approver is missing; a band file names who approved it: add a line approver: NAME",
    "why": "the reason is missing; add a line why: in plain words, why this band is what it is",
}


def _short(value: Any) -> str:
    text = repr(plain(value))
    return text if len(text) <= 60 else f"{text[:57]}…"


def _allowed(where: Where, model: type[BaseModel]) -> list[str]:
    """Return the keys that the mapping which holds ``where`` takes."""
    kind: Any = model
    for part in where[:-1]:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            fields = {info.alias or name: info.annotation for name, info in kind.model_fields.items()}
            kind = fields.get(str(part))
        else:
            kind = typing.get_args(kind)[-1 if typing.get_origin(kind) is dict else 0]
        members = [k for k in typing.get_args(kind) if k is not type(None)]
        if members and typing.get_origin(kind) not in (dict, tuple):
            kind = members[0]
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return []
    return [info.alias or name for name, info in kind.model_fields.items()]
