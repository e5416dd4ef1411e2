"""Arguments as an agent gives them: read exactly, or kept as the text that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.running.tool import exact

__all__ = ["NOTHING", "Given", "parse_arguments", "read_arguments"]


class Given(NamedTuple):
    """Arguments as given: as values and as canonical text, or as the text of what could not be read."""

    values: dict[str, Any] | None = None
    text: str | None = None
    unread: str | None = None


NOTHING = Given()


def read_arguments(arguments: Any) -> Given:
    """Read a mapping of JSON values; anything else is kept as text and never becomes an empty mapping."""
    try:
        if not isinstance(arguments, Mapping):
            raise TypeError
        values = exact(arguments)
        return Given(values, canonical_json(values))
    except (TypeError, ValueError, RecursionError):
        text = arguments if isinstance(arguments, str) else repr(arguments)
        return Given(unread=text.encode(errors="backslashreplace").decode())


def parse_arguments(text: str) -> Any:
    """Return the object that a model's argument text spells, or the text itself if it spells none.

    Examples
    --------
    >>> parse_arguments('{"n": 1}'), parse_arguments('{"n": 1')
    ({'n': 1}, '{"n": 1')
    """
    try:
        values = parse_json(text)
    except (ValueError, RecursionError):
        return text
    return values if isinstance(values, dict) else text
