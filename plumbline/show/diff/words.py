"""The words of a trace diff: marks beside colour, how a call ended, and text cut to a readable length."""

from __future__ import annotations

from typing import Final

from plumbline.show.markup import visible

__all__ = ["KIND_WORDS", "LONGEST", "MARKS", "STATUS_WORDS", "cut", "one_line", "short", "two_values"]

LONGEST: Final = 240
"""Characters of one value that are shown before the rest is counted."""

MARKS: Final = {
    "same": ("=", "same"),
    "allowed": ("≈", "same by the rules"),
    "args": ("≠", "args"),
    "status": ("≠", "status"),
    "tool": ("≠", "tool"),
    "words": ("≠", "words"),
    "moved": ("↕", "moved"),
    "moved_args": ("↕", "moved, args differ"),
    "repeated": ("↻", "repeated"),
    "unknown": ("?", "args not recorded"),
    "unreadable": ("?", "args unreadable"),
    "gone": ("−", "gone"),
    "new": ("+", "new"),
}
"""What a row says of its two steps, as a sign and in words; a reader never needs the colour."""

STATUS_WORDS: Final = {
    "ok": "",
    "failed": "failed",
    "blocked": "blocked, did not happen",
    "no_result": "no result; may have happened",
}

KIND_WORDS: Final = {
    "tool_call": "",
    "decision": "decision",
    "message": "message",
    "thought": "thought",
    "agent_call": "call of an agent",
    "final": "final words",
}


def cut(text: str, limit: int = LONGEST) -> tuple[str, int]:
    """Return text with odd characters spelled out, cut to a length, and how many characters were left off.

    Examples
    --------
    >>> cut("abcdef", 4)
    ('abcd', 2)
    """
    return visible(text[:limit]), max(0, len(text) - limit)


def short(text: str, limit: int = LONGEST) -> str:
    """Return text cut to a length, with the number of characters left off said.

    Examples
    --------
    >>> short("abcdef", 4)
    'abcd… (2 more characters)'
    """
    shown, more = cut(text, limit)
    return f"{shown}… ({more:,} more characters)" if more else shown


def one_line(text: str, limit: int = LONGEST) -> str:
    """Return text on one line, cut to a length."""
    return short(" ".join(text.split()), limit)


def two_values(left: str, right: str, limit: int = LONGEST) -> str:
    """Say two values that differ; where both are long, from shortly before the first character that differs.

    Examples
    --------
    >>> two_values("1", "2")
    '1 → 2'
    >>> two_values("a" * 50 + "b", "a" * 50 + "c", 40)
    'from character 51 on: b → c'
    """
    same = next((n for n, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(left), len(right)) if same is None else same
    if at < limit // 2 or max(len(left), len(right)) <= limit:
        return f"{short(left, limit)} → {short(right, limit)}"
    return f"from character {at + 1:,} on: {short(left[at:], 60) or 'nothing'} → {short(right[at:], 60) or 'nothing'}"
