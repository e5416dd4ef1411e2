"""OpenAI chat messages and Responses items, turned into a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.exchange.drafts import NOT_RECORDED
from plumbline.exchange.reader import Column
from plumbline.exchange.readers.anthropic_turns import is_call_block, is_result_block, say_blocks
from plumbline.exchange.readers.conversations import Find, find_in, in_mapping
from plumbline.exchange.readers.texts import content_of, listed, recorded, shown
from plumbline.exchange.readers.turns import Conversation, FailureRule, error_field

__all__ = ["CHAT_COLUMNS", "RESPONSES_COLUMNS", "chat_turns", "responses_turns"]

_PLACED = {
    "role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content",
    "reasoning", "id", "type", "index", "status",
}  # fmt: skip
"""Fields of a message that have a place in a step, or say nothing that a step could hold."""
CHAT_COLUMNS = (
    Column("content", ("content",), doc="words of a message, or the result in a tool's reply"),
    Column("thought", ("reasoning_content", "reasoning"), doc="reasoning, as vLLM and others return it"),
    Column("calls", ("tool_calls",), doc="calls asked for together"),
    Column("name", ("function.name", "custom.name", "name"), doc="of a call"),
    Column("arguments", ("function.arguments", "arguments"), doc="of a call, JSON text"),
    Column("call_id", ("id",), doc="of a call"),
    Column("reply_to", ("tool_call_id",), doc="which call a tool's reply is for"),
)
RESPONSES_COLUMNS = (
    Column("name", ("name",), doc="of a call"),
    Column("arguments", ("arguments",), doc="of a call, JSON text"),
    Column("call_id", ("call_id", "id"), doc="of a call and of its output"),
    Column("result", ("output",), doc="of an output item"),
)
_FIND_CHAT, _FIND_RESPONSES = find_in(CHAT_COLUMNS), find_in(RESPONSES_COLUMNS)
_SILENT_ITEMS = ("item_reference", "compaction", "mcp_list_tools")


def chat_turns(
    messages: Sequence[Any],
    *,
    failure: FailureRule | None = error_field,
    talk: Conversation | None = None,
    find: Find = _FIND_CHAT,
) -> Conversation:
    """Turn chat messages into a conversation.

    Parameters
    ----------
    messages : sequence of mapping
        With ``role`` and ``content``; ``tool_calls`` and ``tool`` replies are joined by id. Absent, null and empty
        arguments mean a call without arguments, as this format allows.
    failure : FailureRule, optional
        Says which results report a failure; the format has no flag for it.
    talk : Conversation, optional
        One to go on with.
    find : callable, optional
        Look-up of the fields in ``CHAT_COLUMNS``.

    Examples
    --------
    >>> asked = {"id": "t1", "type": "function", "function": {"name": "now", "arguments": ""}}
    >>> steps = chat_turns([{"role": "assistant", "content": None, "tool_calls": [asked]}]).steps
    >>> steps[0].name, steps[0].arguments, steps[0].status
    ('now', {}, 'no_result')
    """
    talk = talk or Conversation(failure=failure)
    for position, given in enumerate(messages):
        message = in_mapping(given)
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            talk.unread.append(f"message {position}: {shown(message)}")
            continue
        _chat_message(talk, message, find)
        for key in sorted(message.keys() - _PLACED):
            if message[key] not in (None, [], {}, ""):
                talk.unread.append(f"message {position}, {key}: {shown(message[key])}")
    return talk


def _chat_message(talk: Conversation, message: Mapping[str, Any], find: Find) -> None:
    role, name = message["role"], message.get("name")
    name = name if isinstance(name, str) and name else None
    content = recorded(find("content", message))
    if role in ("tool", "function"):
        talk.reply(recorded(find("reply_to", message)), content_of(content), name=name)
        return
    role = "system" if role == "developer" else role
    talk.say(role, recorded(find("thought", message)), kind="thought")
    if isinstance(content, list) and any(is_call_block(b) or is_result_block(b) for b in content):
        say_blocks(talk, role, content)  # some gateways pass Anthropic blocks through
    else:
        talk.say(role, content, name=name)
    talk.say(role, message.get("refusal"), name=name)
    asked = [_chat_call(talk, call, find) for call in listed(recorded(find("calls", message)))]
    if isinstance(legacy := message.get("function_call"), Mapping):
        asked.append((legacy.get("name"), legacy.get("arguments", ""), None))
    talk.calls([call for call in asked if call is not None], agent=name)


def _chat_call(talk: Conversation, given: Any, find: Find) -> tuple[Any, Any, Any] | None:
    call = in_mapping(given)
    if not isinstance(call, Mapping):
        talk.unread.append(f"tool call {shown(call)}")
        return None
    arguments = find("arguments", call)
    if isinstance(custom := call.get("custom"), Mapping) and arguments is NOT_RECORDED:
        arguments = {"input": custom["input"]} if "input" in custom else NOT_RECORDED
    elif arguments is NOT_RECORDED:
        arguments = ""  # in this format a call without arguments may leave them out
    return recorded(find("name", call)), arguments, recorded(find("call_id", call))


def responses_turns(
    items: Sequence[Any], *, failure: FailureRule | None = error_field, find: Find = _FIND_RESPONSES
) -> Conversation:
    """Turn Responses items into a conversation.

    Parameters
    ----------
    items : sequence of mapping
        Input and output items in order: ``message``, ``function_call``, ``function_call_output``, ``reasoning``, calls
        of built-in tools. Calls that follow each other without a word or an output between them were asked together.

    Examples
    --------
    >>> items = [{"type": "function_call", "call_id": "c", "name": "now", "arguments": "{}"}]
    >>> items.append({"type": "function_call_output", "call_id": "c", "output": "09:00"})
    >>> [(s.name, s.result, s.status) for s in responses_turns(items).steps]
    [('now', '09:00', 'ok')]
    """
    talk = Conversation(failure=failure)
    group: int | None = None
    for position, given in enumerate(items):
        item = in_mapping(given)
        if not isinstance(item, Mapping):
            talk.unread.append(f"item {position}: {shown(item)}")
            continue
        kind = item.get("type", "message" if "role" in item else None)
        if not isinstance(kind, str) or kind in _SILENT_ITEMS:
            talk.unread.append(f"item {position}: {shown(item)}")
        elif kind.endswith("_output"):
            talk.reply(recorded(find("call_id", item)), content_of(find("result", item)))
            group = None
        elif kind.endswith("_call"):
            group = talk.turn() if group is None else group
            _item_call(talk, kind, item, group, find)
        elif kind == "reasoning":
            talk.say("assistant", item.get("summary") or item.get("content"), kind="thought")
        elif kind == "message":
            chat_turns([{key: item[key] for key in item if key not in ("type", "status")}], talk=talk)
            group = None
        else:
            talk.unread.append(f"item {position}: {shown(item)}")
    return talk


def _item_call(talk: Conversation, kind: str, item: Mapping[str, Any], group: int, find: Find) -> None:
    call_id, name = recorded(find("call_id", item)), recorded(find("name", item))
    given: Any
    if kind in ("function_call", "mcp_call"):
        given = find("arguments", item)
        talk.call(name, "" if given is NOT_RECORDED else given, call_id, group=group)
    elif kind == "custom_tool_call":
        given = {"input": item["input"]} if "input" in item else NOT_RECORDED
        talk.call(name, given, call_id, group=group)
    else:  # a built-in tool: what it was asked stands under a name of its own
        given = next((item[key] for key in ("action", "queries", "code", "arguments") if key in item), NOT_RECORDED)
        asked = given if isinstance(given, Mapping) or given is NOT_RECORDED else {"input": given}
        talk.call(kind.removesuffix("_call"), asked, call_id, group=group)
    told = next((item[key] for key in ("output", "outputs", "results", "result") if item.get(key) is not None), None)
    wrong = item.get("error")
    if kind != "function_call" and (wrong or told is not None or item.get("status") in ("completed", "failed")):
        failed = bool(wrong) or item.get("status") == "failed"
        words = None if not wrong else wrong if isinstance(wrong, str) else shown(wrong)
        talk.reply(call_id, NOT_RECORDED if told is None else told, failed=failed, error=words)
