"""Paths of fields inside arguments: ``amount``, ``address.city``, ``items[].sku``, ``items[0]``, ``["odd.key"]``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from plumbline.base.errors import ParameterError
from plumbline.compare.verdicts import MISSING

__all__ = ["ITEM", "Part", "at_path", "join_index", "join_key", "parse_path"]


class _Item:
    """Every item of a list."""

    def __repr__(self) -> str:
        return "[]"


ITEM: Final = _Item()
Part = str | int | _Item

_PLAIN = r"[^.\[\]\"]+"
_TOKEN = re.compile(rf'\[\]|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|(?:^|\.)({_PLAIN})')
_SIMPLE = re.compile(_PLAIN)


@lru_cache(maxsize=4096)
def parse_path(path: str) -> tuple[Part, ...]:
    """Return the parts of a field path.

    Parameters
    ----------
    path : str
        Keys joined by points; ``[]`` for every item of a list, ``[2]`` for one, ``["odd.key"]`` for a key that holds
        a point, a bracket or a quote.

    Raises
    ------
    ParameterError
        The path is empty or cannot be read.

    Examples
    --------
    >>> parse_path('items[].sku')
    ('items', [], 'sku')
    """
    parts: list[Part] = []
    position = 0
    while isinstance(path, str) and position < len(path) and path[0] != ".":
        found = _TOKEN.match(path, position)
        if not found or (position and path[position] not in ".["):
            parts = []
            break
        index, quoted, key = found.groups()
        if index is not None:
            parts.append(int(index))
        elif quoted is not None:
            parts.append(json.loads(quoted))
        else:
            parts.append(ITEM if key is None else key)
        position = found.end()
    if not parts:
        raise ParameterError(
            f"field path {path!r} cannot be read; write keys joined by points and [] for the items of a list, "
            'for example items[].sku or ["odd.key"].'
        )
    return tuple(parts)


def join_key(path: str, key: str) -> str:
    """Return the path of a key inside the object at ``path``."""
    if not _SIMPLE.fullmatch(key):
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key


def join_index(path: str, index: int) -> str:
    """Return the path of an item inside the list at ``path``."""
    return f"{path}[{index}]"


def at_path(value: Any, parts: tuple[Part, ...]) -> Any:
    """Return what stands at a path, ``MISSING`` if nothing does; ``[]`` gives the list of what stands in each item."""
    for position, part in enumerate(parts):
        if part is ITEM:
            if not isinstance(value, list | tuple):
                return MISSING
            rest = parts[position + 1 :]
            return [at_path(item, rest) for item in value]
        if isinstance(part, int):
            if not isinstance(value, list | tuple) or part >= len(value):
                return MISSING
            value = value[part]
        else:
            if not isinstance(value, Mapping) or part not in value:
                return MISSING
            value = value[part]
    return value
