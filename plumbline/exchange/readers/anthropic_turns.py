"""Anthropic messages, turned into a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.exchange.reader import Column
from plumbline.exchange.readers.conversations import Find, find_in, in_mapping
from plumbline.exchange.readers.texts import content_of, recorded, shown
from plumbline.exchange.readers.turns import Conversation

__all__ = ["ANTHROPIC_COLUMNS", "anthropic_turns", "is_call_block", "is_result_block", "say_blocks"]

ANTHROPIC_COLUMNS = (
    Column("name", ("name",), doc="of a tool_use block"),
    Column("arguments", ("input",), doc="of a tool_use block, an object"),
    Column("call_id", ("id",), doc="of a tool_use block"),
    Column("reply_to", ("tool_use_id",), doc="which call a tool_result block is for"),
    Column("result", ("content",), doc="of a tool_result block"),
    Column("failed", ("is_error",), doc="whether the call failed"),
)
_FIND = find_in(ANTHROPIC_COLUMNS)
_PLACED = {"role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "usage"}


def is_call_block(block: Any) -> bool:
    """Say whether a content block asks for a tool, the caller's own or one of the server's."""
    return isinstance(block, Mapping) and str(block.get("type")).endswith("tool_use")


def is_result_block(block: Any) -> bool:
    """Say whether a content block answers a call."""
    return isinstance(block, Mapping) and str(block.get("type")).endswith("tool_result")


def anthropic_turns(messages: Sequence[Any], *, system: Any = None, find: Find = _FIND) -> Conversation:
    """Turn Anthropic messages into a conversation.

    Parameters
    ----------
    messages : sequence of mapping
        With ``role`` and ``content``, text or blocks. Calls of one message were asked together; ``is_error`` says which
        failed.
    system : str or list, optional
        The system prompt, which this format keeps outside the messages.
    find : callable, optional
        Look-up of the fields in ``ANTHROPIC_COLUMNS``.

    Examples
    --------
    >>> asked = {"type": "tool_use", "id": "u", "name": "quote", "input": {"sym": "AB"}}
    >>> told = {"type": "tool_result", "tool_use_id": "u", "is_error": True, "content": "no such symbol"}
    >>> talk = anthropic_turns([{"role": "assistant", "content": [asked]}, {"role": "user", "content": [told]}])
    >>> [(s.name, s.status, s.error) for s in talk.steps]
    [('quote', 'failed', 'no such symbol')]
    """
    talk = Conversation()
    talk.say("system", system)
    for position, given in enumerate(messages):
        message = in_mapping(given)
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            talk.unread.append(f"message {position}: {shown(message)}")
            continue
        say_blocks(talk, message["role"], message.get("content"), find)
        for key in sorted(message.keys() - _PLACED):
            if message[key] not in (None, [], {}, ""):
                talk.unread.append(f"message {position}, {key}: {shown(message[key])}")
    return talk


def say_blocks(talk: Conversation, role: str, content: Any, find: Find = _FIND) -> None:
    """Record the content of one message: words, calls and replies in the order in which they stand."""
    blocks = content if isinstance(content, list) else [content]
    group: int | None = None
    words: list[Any] = []
    for block in map(in_mapping, blocks):
        if is_call_block(block):
            _spoken(talk, role, words)
            group = talk.turn() if group is None else group
            name, call_id = recorded(find("name", block)), recorded(find("call_id", block))
            talk.call(name, find("arguments", block), call_id, group=group)
        elif is_result_block(block):
            _spoken(talk, role, words)
            _answer(talk, block, find)
            group = None
        elif isinstance(block, Mapping) and block.get("type") in ("thinking", "redacted_thinking"):
            _spoken(talk, role, words)
            talk.say(role, block.get("thinking", block), kind="thought")
        else:
            words.append(block)
    _spoken(talk, role, words)


def _spoken(talk: Conversation, role: str, words: list[Any]) -> None:
    talk.say(role, list(words))
    words.clear()


def _answer(talk: Conversation, block: Mapping[str, Any], find: Find) -> None:
    content = recorded(find("result", block))
    inner = content if isinstance(content, Mapping) else {}
    refused = str(inner.get("type")).endswith("_error")  # how the server's own tools report a failure
    flag, call_id = recorded(find("failed", block)), recorded(find("reply_to", block))
    code = inner.get("error_code") if refused else None
    talk.reply(
        call_id, content_of(content), failed=flag is True or refused,
        error_type=code if isinstance(code, str) else None,
    )  # fmt: skip
    if flag not in (None, True, False):
        talk.unread.append(f"is_error of the reply to {call_id!r}: {shown(flag)}")
