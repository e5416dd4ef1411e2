"""Messages of a conversation: made from replies and tool results, and what both providers' words share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.running.clients.protocol import ModelReply

__all__ = ["arguments_text", "assistant_message", "blocks_of", "read_body", "tool_message"]

_OWN = frozenset({"text", "tool_call", "tool_result", "provider"})
_BOUND = frozenset({"thinking", "redacted_thinking"})


def assistant_message(reply: ModelReply) -> dict[str, Any]:
    """Return the message that repeats a reply to the model in the next turn.

    Blocks that a provider insists on getting back unchanged (thinking) are kept as they came.

    Parameters
    ----------
    reply : ModelReply
        What the model said.

    Returns
    -------
    dict
        A message of role ``assistant``.

    Examples
    --------
    >>> assistant_message(ModelReply("Done."))
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Done.'}]}
    """
    came = reply.raw.get("content")
    bound = [b for b in came if isinstance(b, Mapping) and b.get("type") in _BOUND] if isinstance(came, list) else []
    content: list[dict[str, Any]] = [{"type": "provider", "block": dict(block)} for block in bound]
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [{"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.calls]
    return {"role": "assistant", "content": content}


def tool_message(results: Sequence[tuple[str, str, bool]]) -> dict[str, Any]:
    """Return the message that gives a model the results of one turn's calls.

    Parameters
    ----------
    results : sequence of (id, content, is_error)
        One for each call of the turn, in order.

    Examples
    --------
    >>> tool_message([("c1", "8", False)])["content"]
    [{'type': 'tool_result', 'id': 'c1', 'content': '8', 'is_error': False}]
    """
    return {
        "role": "tool",
        "content": [
            {"type": "tool_result", "id": call_id, "content": content, "is_error": is_error}
            for call_id, content, is_error in results
        ],
    }


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the content blocks of a message; plain text counts as one block.

    Raises
    ------
    ParameterError
        The role or a block is none of the known ones.
    """
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant", "tool"):
        raise ParameterError(f"a message's role is user, assistant or tool; found {role!r}")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, Sequence):
        raise ParameterError(f"a message's content is text or a list of blocks; found {content!r}")
    for block in content:
        if not isinstance(block, Mapping) or block.get("type") not in _OWN:
            raise ParameterError(f"a content block is of type {', '.join(sorted(_OWN))}; found {block!r}")
    return list(content)


def arguments_text(value: Any) -> str:
    """Return the arguments of a call as text: text as it came, a structure as canonical JSON, nothing as empty text.

    Examples
    --------
    >>> arguments_text({"b": 1, "a": Decimal("4500.00")}), arguments_text('{"a": 45'), arguments_text(None)
    ('{"a":4500.00,"b":1}', '{"a": 45', '')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return canonical_json(value)
    except ValueError:
        return json.dumps(value, default=str, ensure_ascii=True)


def read_body(body: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse an answer twice: as plain JSON values for the record, and with exact decimals for the arguments.

    Raises
    ------
    ValueError
        The body is not a JSON object.
    """
    plain, exact = json.loads(body), json.loads(body, parse_float=Decimal)
    if not isinstance(plain, dict):
        raise ValueError(f"a JSON object was expected, a {type(plain).__name__} came")
    return plain, exact
