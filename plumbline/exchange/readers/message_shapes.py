"""One message, whichever library spelled it, as parts: words, thoughts, calls and replies.

Spans carry messages of every provider. What matters of them is the same: who spoke, what was said, which calls were
asked for and which reply belongs to which call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.exchange.drafts import NOT_RECORDED
from plumbline.exchange.readers.texts import words_of

__all__ = ["Message", "Part", "message_of"]

_ROLES = {
    "human": "user", "humanmessage": "user", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "model": "assistant", "bot": "assistant", "systemmessage": "system", "developer": "system",
    "toolmessage": "tool", "function": "tool", "functionmessage": "tool",
}  # fmt: skip
_NO_WORDS: tuple[Any, ...] = (None, "", [])


@dataclass(slots=True)
class Part:
    """A part of a message: `kind` is text, thought, call, reply or other; `value` is words, arguments or a result."""

    kind: str
    value: Any
    name: str | None = None
    call_id: str | None = None
    failed: bool | None = None

    def key(self) -> tuple[Any, ...]:
        """Return what makes two parts the same."""
        value = self.value
        return (self.kind, self.name, self.call_id, value if isinstance(value, str) else repr(value))


@dataclass(slots=True)
class Message:
    """Who spoke, and the parts in order."""

    role: str
    parts: list[Part] = field(default_factory=list)

    def key(self) -> tuple[Any, ...]:
        """Return what makes two messages the same: history that is told again is spelled the same."""
        return (self.role, *(part.key() for part in self.parts))

    def words(self) -> str:
        """Return what is said, without thoughts."""
        return "\n".join(part.value for part in self.parts if part.kind == "text" and isinstance(part.value, str))


def message_of(found: Any, role: str = "user") -> Message:
    """Return a message of any known shape; what has no place is a part of kind ``other``.

    Parameters
    ----------
    found : object
        Text, or a mapping with ``role`` and ``parts``, ``content`` or ``tool_calls``.
    role : str
        Who speaks if the message does not say.

    Examples
    --------
    >>> message_of({"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "pay", "arguments": {}}]})
    Message(role='assistant', parts=[Part(kind='call', value={}, name='pay', call_id='c1', failed=None)])
    """
    if not isinstance(found, Mapping):
        return Message(role, [] if found in _NO_WORDS else _blocks(found))
    if isinstance(found.get("kwargs"), Mapping) and isinstance(found.get("id"), list):  # a serialised LangChain message
        found = {"role": str(found["id"][-1]) if found["id"] else role, **found["kwargs"]}
    elif isinstance(found.get("data"), Mapping) and "type" in found:
        found = {"role": found["type"], **found["data"]}
    elif isinstance(found.get("message"), Mapping) and "role" not in found:
        found = found["message"]
    said = found.get("role", found.get("type") if found.get("type") in _ROLES else None)
    role = _role(said) if isinstance(said, str) else role
    body = found.get("parts", found.get("content", found.get("contents")))
    parts = [] if body in _NO_WORDS else _blocks(body)
    if role == "tool" and not any(part.kind == "reply" for part in parts):
        parts = [_reply(found, body)]
    thought = found.get("reasoning_content") or found.get("reasoning")
    if isinstance(thought, str):
        parts.insert(0, Part("thought", thought))
    known = {part.call_id for part in parts if part.kind == "call" and part.call_id}
    calls = found.get("tool_calls") or found.get("toolCalls") or []
    made = [_call(call) for call in calls] if isinstance(calls, list) else [Part("other", calls)]
    parts += [part for part in made if part.call_id is None or part.call_id not in known]
    legacy = found.get("function_call")
    if isinstance(legacy, Mapping) and legacy.get("name"):
        parts.append(_call(legacy))
    return Message(role, parts)


def _role(said: str) -> str:
    return _ROLES.get(said.lower(), said.lower())


def _blocks(body: Any) -> list[Part]:
    if isinstance(body, str):
        return [Part("text", body)]
    if isinstance(body, Mapping):
        return [_block(body)]
    if isinstance(body, list):
        return [_block(one) if isinstance(one, Mapping) else _scrap(one) for one in body if one not in _NO_WORDS]
    return [_scrap(body)]


def _scrap(value: Any) -> Part:
    return Part("text", value) if isinstance(value, str) else Part("other", value)


def _block(block: Mapping[str, Any]) -> Part:
    kind = block.get("type", block.get("kind", block.get("part_kind")))
    nested = next((n for n in ("toolUse", "toolResult", "functionCall", "function_call", "functionResponse",
                               "function_response") if isinstance(block.get(n), Mapping)), None)  # fmt: skip
    if nested in ("toolUse", "functionCall", "function_call"):
        return _call(block[nested])
    if nested is not None:
        return _reply(block[nested], NOT_RECORDED)
    if kind in ("tool_call", "tool_use", "tool-call", "tool_calls", "server_tool_call", "function_call"):
        return _call(block)
    if kind in ("tool_call_response", "tool_result", "tool-result", "server_tool_call_response",
                "function_call_output", "tool-return"):  # fmt: skip
        return _reply(block, NOT_RECORDED)
    if kind in ("reasoning", "thinking", "thought") or block.get("thought") is True:
        words = next(
            (block[n] for n in ("content", "thinking", "text", "reasoning") if isinstance(block.get(n), str)), None
        )
        return Part("thought", words) if words is not None else Part("other", dict(block))
    if kind in (None, "text") and isinstance(block.get("content"), str):
        return Part("text", block["content"])
    words = words_of(block)
    return Part("text", words) if words is not None else Part("other", dict(block))


def _call(found: Any) -> Part:
    if not isinstance(found, Mapping):
        return Part("other", found)
    if isinstance(found.get("tool_call"), Mapping):
        found = found["tool_call"]
    inner = found.get("function") if isinstance(found.get("function"), Mapping) else found
    name = _first(inner, "name", "toolName", "tool_name")
    arguments = _first(inner, "arguments", "args", "input", "arguments_json")
    if arguments is NOT_RECORDED and "server_tool_call" in found:
        arguments = found["server_tool_call"]
    return Part("call", arguments, _text(name), _text(_first(found, "id", "toolCallId", "toolUseId", "call_id")))


def _reply(found: Mapping[str, Any], body: Any) -> Part:
    result = body
    if result is NOT_RECORDED or result is None:
        result = _first(found, "response", "result", "output", "content", "server_tool_call_response", "outcome")
    failed: bool | None = None
    if isinstance(result, Mapping) and set(result) == {
        "type",
        "value",
    }:  # the Vercel AI SDK names the type of an output
        result, typed = result["value"], str(result["type"])
        failed = True if typed.startswith("error") else None
    elif isinstance(result, list) and (words := words_of(result)) is not None:
        result = words
    flag = _first(found, "is_error", "isError")
    if isinstance(flag, bool):
        failed = flag
    elif found.get("status") in ("error", "success"):
        failed = found["status"] == "error"
    call_id = _first(found, "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "call_id", "id")
    return Part("reply", result, _text(_first(found, "name", "toolName", "tool_name")), _text(call_id), failed)


def _first(found: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if found.get(name) is not None:
            return found[name]
    return NOT_RECORDED


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
