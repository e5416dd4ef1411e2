"""LangChain and LangGraph messages, in each of the three ways they are written down, turned into a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.exchange.arguments import read_arguments
from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, Unreadable
from plumbline.exchange.reader import Column
from plumbline.exchange.readers.anthropic_turns import is_call_block
from plumbline.exchange.readers.conversations import Find, find_in
from plumbline.exchange.readers.openai_turns import chat_turns
from plumbline.exchange.readers.texts import content_of, listed, recorded, shown, whole_number
from plumbline.exchange.readers.turns import Conversation

__all__ = ["LANGCHAIN_COLUMNS", "langchain_turns", "plain_message"]

LANGCHAIN_COLUMNS = (
    Column("name", ("name",), doc="of a call"),
    Column("arguments", ("args",), doc="of a call, an object; text if it is invalid"),
    Column("call_id", ("id",), doc="of a call"),
    Column("reply_to", ("tool_call_id",), doc="which call a tool message is for"),
    Column("status", ("status",), doc="of a tool message: success or error"),
)
_FIND = find_in(LANGCHAIN_COLUMNS)

_ROLES = {
    "human": "user", "HumanMessage": "user", "user": "user", "ai": "assistant", "AIMessage": "assistant",
    "assistant": "assistant", "system": "system", "SystemMessage": "system", "developer": "system", "tool": "tool",
    "ToolMessage": "tool", "function": "function", "FunctionMessage": "function", "chat": "chat", "ChatMessage": "chat",
}  # fmt: skip
_TELLING = frozenset(("lc", "data", "content"))
"""A mapping that has none of these is no message."""
_PLACED = {
    "type", "content", "name", "id", "tool_calls", "invalid_tool_calls", "tool_call_id", "status", "role", "example",
    "additional_kwargs", "response_metadata", "usage_metadata", "tool_call_chunks", "chunk_position",
}  # fmt: skip


def plain_message(message: Any) -> Mapping[str, Any] | None:
    """Return a message as one flat mapping with ``type`` and ``content``, None if it is no LangChain message.

    Takes dumped messages (``{"type", "data"}`` or flat), ``lc`` serialised ones and message objects.

    Examples
    --------
    >>> kwargs = {"content": "hi"}
    >>> plain_message({"lc": 1, "type": "constructor", "id": ["langchain_core", "HumanMessage"], "kwargs": kwargs})
    {'content': 'hi', 'type': 'user'}
    """
    if not isinstance(message, Mapping):
        dump = getattr(message, "model_dump", None)
        if dump is None or not isinstance(getattr(message, "type", None), str) or not hasattr(message, "content"):
            return None
        message = dump()
    if message.__class__ is dict and _TELLING.isdisjoint(message):
        return None
    if message.get("lc") and isinstance(message.get("kwargs"), Mapping) and isinstance(message.get("id"), list):
        flat, kind = message["kwargs"], message["id"][-1] if message["id"] else None
    elif isinstance(message.get("data"), Mapping) and "content" in message["data"]:
        flat, kind = message["data"], message.get("type")
    else:
        flat, kind = message, message.get("type")
    role = _ROLES.get(kind.removesuffix("Chunk")) if isinstance(kind, str) else None
    return None if role is None or "content" not in flat else {**flat, "type": role}


def langchain_turns(messages: Sequence[Any], *, find: Find = _FIND) -> tuple[Conversation, dict[str, Any]]:
    """Turn LangChain messages into a conversation.

    Parameters
    ----------
    messages : sequence
        Messages as ``plain_message`` takes them. ``status`` of a tool message says whether its call failed; calls in
        ``invalid_tool_calls`` keep the text that could not be read as arguments.
    find : callable, optional
        Look-up of the fields in ``LANGCHAIN_COLUMNS``.

    Returns
    -------
    (Conversation, dict)
        And the model and token counts that the messages carry.

    Examples
    --------
    >>> asked = {"type": "ai", "content": "", "tool_calls": [{"name": "now", "args": {}, "id": "c"}]}
    >>> told = {"type": "tool", "content": "no clock", "tool_call_id": "c", "status": "error"}
    >>> [(s.name, s.status, s.error) for s in langchain_turns([asked, told])[0].steps]
    [('now', 'failed', 'no clock')]
    """
    talk = Conversation()
    about: dict[str, Any] = {}
    for position, message in enumerate(messages):
        flat = plain_message(message)
        if flat is None:
            talk.unread.append(f"message {position}: {shown(message)}")
            continue
        _message(talk, flat, find)
        _metadata(about, flat)
        for key in sorted(flat.keys() - _PLACED):
            if flat[key] not in (None, [], {}, ""):
                talk.unread.append(f"message {position}, {key}: {shown(flat[key])}")
    return talk, about


def _message(talk: Conversation, message: Mapping[str, Any], find: Find) -> None:
    role, content = message["type"], message["content"]
    name = message.get("name") if isinstance(message.get("name"), str) else None
    if role in ("tool", "function"):
        status = find("status", message)
        failed = status == "error" if isinstance(status, str) else None
        talk.reply(recorded(find("reply_to", message)), content_of(content), name=name, failed=failed)
        return
    if role != "assistant":
        talk.say(str(message.get("role")) if role == "chat" else role, content, name=name)
        return
    calls = [call for call in listed(message.get("tool_calls")) if isinstance(call, Mapping)]
    more = _beside(message, calls)
    known = [call.get("id") for call in calls]
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        if isinstance(block, Mapping) and block.get("type") in ("thinking", "reasoning", "redacted_thinking"):
            talk.say(role, block.get("thinking", block.get("reasoning", block)), kind="thought")
        elif is_call_block(block) or (isinstance(block, Mapping) and str(block.get("type")).endswith("_call")):
            if block.get("id") not in known and block.get("call_id") not in known:
                more.append((block.get("name"), block.get("input", block.get("args", NOT_RECORDED)), block.get("id")))
        else:
            talk.say(role, block, name=name)
    asked = [_asked(call, find) for call in calls]
    before = len(talk.steps)
    talk.calls([*asked, *more], agent=name)
    _invalid(talk, talk.steps[before:], message)


def _asked(call: Mapping[str, Any], find: Find) -> tuple[Any, Any, Any]:
    return recorded(find("name", call)), find("arguments", call), recorded(find("call_id", call))


def _beside(message: Mapping[str, Any], calls: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """Return calls that stand elsewhere than in ``tool_calls``: invalid ones, or a provider's own if there are none."""
    invalid = [call for call in listed(message.get("invalid_tool_calls")) if isinstance(call, Mapping)]
    found = [(call.get("name"), _raw(call.get("args")), call.get("id")) for call in invalid]
    raw = message.get("additional_kwargs")
    if not calls and not found and isinstance(raw, Mapping) and raw.get("tool_calls"):
        steps = chat_turns([{"role": "assistant", "tool_calls": raw["tool_calls"]}]).steps
        found = [(step.name, step.arguments, step.call_id) for step in steps]
    return found


def _raw(text: Any) -> Any:
    """Return arguments that LangChain could not read: never a call without arguments, even if the text is empty."""
    value = read_arguments(text)
    return Unreadable("" if text is None else str(text), "marked invalid") if value == {} else value


def _invalid(talk: Conversation, steps: Sequence[StepDraft], message: Mapping[str, Any]) -> None:
    for call in listed(message.get("invalid_tool_calls")):
        if not isinstance(call, Mapping):
            talk.unread.append(f"invalid tool call {shown(call)}")
            continue
        for step in steps:
            if step.call_id == call.get("id") and call.get("error"):
                step.unread.append(f"invalid call: {call['error']}")


def _metadata(about: dict[str, Any], message: Mapping[str, Any]) -> None:
    usage, response = message.get("usage_metadata"), message.get("response_metadata")
    for name, key in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens")):
        count = whole_number(usage.get(key)) if isinstance(usage, Mapping) else None
        if count is not None:
            about[name] = about.get(name, 0) + count
    if isinstance(response, Mapping):
        model = response.get("model_name", response.get("model"))
        if isinstance(model, str):
            about.setdefault("model", model)
