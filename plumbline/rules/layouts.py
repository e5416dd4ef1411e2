"""How structured data is written out for an agent: the order of fields and the white space, never a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError

__all__ = ["Block", "Layout", "find_blocks"]

ORDERS = ("as_given", "sorted", "reversed")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a JSON value is written out.

    Parameters
    ----------
    order : {'as_given', 'sorted', 'reversed'}
        Order of the fields of every object. Lists keep theirs, which carries meaning.
    indent : int or None
        Blanks per level, 1 to 8; None writes one line.
    spaced : bool
        Whether a blank follows every colon, and every comma of a line.

    Raises
    ------
    ParameterError
        An unknown order or an indent out of range.

    Examples
    --------
    >>> Layout(order="reversed").write({"b": 1, "a": [2, 1]})
    '{"a": [2, 1], "b": 1}'
    """

    order: str = "as_given"
    indent: int | None = None
    spaced: bool = True

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ParameterError(f"layout.order must be one of {', '.join(ORDERS)}; found {self.order!r}")
        whole = isinstance(self.indent, int) and not isinstance(self.indent, bool)
        if self.indent is not None and not (whole and 1 <= self.indent <= 8):
            raise ParameterError(f"layout.indent must be None or a whole number from 1 to 8; found {self.indent!r}")
        if not isinstance(self.spaced, bool):
            raise ParameterError(f"layout.spaced must be true or false; found {self.spaced!r}")

    def write(self, value: Any) -> str:
        """Return a JSON value as text in this layout; numbers keep every digit."""
        return self._write(value, 1)

    def _write(self, value: Any, level: int) -> str:
        if isinstance(value, Mapping):
            names = sorted(value) if self.order == "sorted" else list(value)
            names = names[::-1] if self.order == "reversed" else names
            colon = ": " if self.spaced else ":"
            parts = [canonical_json(name) + colon + self._write(value[name], level + 1) for name in names]
            return self._wrap("{", parts, "}", level)
        if isinstance(value, list | tuple):
            return self._wrap("[", [self._write(item, level + 1) for item in value], "]", level)
        return canonical_json(value)

    def _wrap(self, opening: str, parts: list[str], closing: str, level: int) -> str:
        if not parts:
            return opening + closing
        if self.indent is None:
            return opening + (", " if self.spaced else ",").join(parts) + closing
        inner, outer = "\n" + " " * self.indent * level, "\n" + " " * self.indent * (level - 1)
        return opening + inner + f",{inner}".join(parts) + outer + closing

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as JSON values."""
        return {"order": self.order, "indent": self.indent, "spaced": self.spaced}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Layout:
        """Read a layout from what ``to_dict`` gives."""
        if set(values) != {"order", "indent", "spaced"}:
            raise ParameterError(f"a layout has the fields order, indent and spaced; found {sorted(values)}")
        return cls(**values)


@dataclass(frozen=True)
class Block:
    """A JSON object or list inside a text.

    Parameters
    ----------
    start, end : int
        Where it stands.
    value : object
        What it says, numbers exact.
    """

    start: int
    end: int
    value: Any


def find_blocks(text: str) -> tuple[Block, ...]:
    """Return the JSON objects, and lists of them, that stand in a text.

    Parameters
    ----------
    text : str
        Prose with structured data in it.

    Returns
    -------
    tuple of Block
        In their order. A bracket that opens no valid JSON is prose, and so is a list without an object in it.

    Examples
    --------
    >>> [block.value for block in find_blocks('Order {"qty": 2, "sku": "A1"} (rush)')]
    [{'qty': 2, 'sku': 'A1'}]
    """
    return tuple(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    decoder = json.JSONDecoder()
    place = 0
    while place < len(text):
        if text[place] not in "{[":
            place += 1
            continue
        try:
            _, end = decoder.raw_decode(text, place)
            value = parse_json(text[place:end])
        except (ValueError, RecursionError):
            place += 1
            continue
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            yield Block(place, end, value)
            place = end
        else:
            place += 1
