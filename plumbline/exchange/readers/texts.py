"""Words of a message, whatever blocks they are wrapped in."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.exchange.drafts import NOT_RECORDED

__all__ = ["content_of", "listed", "recorded", "shown", "whole_number", "words_of"]

_TOO_LARGE = 2**63
_TEXT_BLOCKS = ("text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text")


def words_of(block: Any) -> str | None:
    """Return the text of a message or block, None if it is not text alone.

    Examples
    --------
    >>> words_of({"type": "text", "text": "go on"}), words_of({"type": "image", "source": {}})
    ('go on', None)
    """
    if isinstance(block, str):
        return block
    if isinstance(block, list) and len(block) == 1:
        return words_of(block[0])
    if isinstance(block, Mapping) and block.get("type", "text") in _TEXT_BLOCKS:
        for key in ("text", "refusal"):
            if isinstance(block.get(key), str):
                return str(block[key])
    return None


def content_of(content: Any) -> Any:
    """Return a reply's content: the text if it is one text block, else the blocks as they stand."""
    words = words_of(content)
    return content if words is None else words


def whole_number(value: Any) -> int | None:
    """Return a count, None if there is none; a count is never guessed from text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal | float):
        finite = math.isfinite(value) and -_TOO_LARGE < value < _TOO_LARGE
        return int(value) if finite and value == int(value) else None
    return value if isinstance(value, int) and -_TOO_LARGE < value < _TOO_LARGE else None


def shown(value: Any) -> str:
    """Return a value as text for a note; nothing is left out."""
    try:
        return json.dumps(value, ensure_ascii=True, default=str)
    except (ValueError, TypeError, RecursionError):
        return ascii(value)


def listed(value: Any) -> list[Any]:
    """Return a list as it is, one value as a list of one, nothing as an empty list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def recorded(value: Any) -> Any:
    """Return a value, None where the trace holds none."""
    return None if value is NOT_RECORDED else value
