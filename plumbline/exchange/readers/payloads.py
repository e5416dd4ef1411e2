"""Messages inside what a model was sent and gave back, for exports that keep the provider's own objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.base.canonical import parse_json

__all__ = ["flattened", "messages_in", "opened", "records_in"]


def messages_in(found: Any, role: str) -> list[Any]:
    """Return the messages in a request or an answer; text alone is one message of the role.

    Examples
    --------
    >>> messages_in({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}, "assistant")
    [{'message': {'role': 'assistant', 'content': 'hi'}}]
    >>> messages_in({"messages": [[{"role": "user", "content": "go"}]]}, "user")
    [{'role': 'user', 'content': 'go'}]
    """
    found = opened(found)
    if isinstance(found, str):
        return [{"role": role, "content": found}] if found else []
    if isinstance(found, list):
        if found and isinstance(found[0], list):  # LangChain sends batches; a traced call is a batch of one
            return messages_in(found[0], role)
        return [_with_role(one, role) for one in found if isinstance(one, Mapping | str)]
    if not isinstance(found, Mapping):
        return []
    for name in ("messages", "contents", "generations", "choices"):
        if isinstance(found.get(name), list):
            return messages_in(found[name], role)
    for name in ("message", "kwargs"):
        if isinstance(found.get(name), Mapping) and "role" not in found:
            return [found["message"]] if name == "message" else [found]
    if "content" in found or "parts" in found or "tool_calls" in found:
        return [_with_role(found, role)]
    for name in ("input", "output", "prompt", "text", "response", "outputs", "inputs"):
        if found.get(name) not in (None, "", [], {}):
            return messages_in(found[name], role)
    return []


def opened(found: Any) -> Any:
    """Return the JSON value that text spells, else the text."""
    if isinstance(found, str) and found.lstrip()[:1] in ("{", "[", '"'):
        try:
            return parse_json(found)
        except (ValueError, RecursionError):
            return found
    return found


def flattened(found: Mapping[str, Any], start: str) -> dict[str, Any]:
    """Return the plain values of a mapping under dotted names.

    Examples
    --------
    >>> flattened({"case": "t1", "more": {"n": 2}}, "metadata.")
    {'metadata.case': 't1', 'metadata.more.n': 2}
    """
    made: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, Mapping):
            made |= flattened(value, f"{start}{key}.")
        else:
            made[f"{start}{key}"] = value
    return made


def records_in(found: Any, *names: str) -> list[Any]:
    """Return the records of a page, a list or one object."""
    if isinstance(found, Mapping):
        for name in names:
            if isinstance(found.get(name), list):
                return list(found[name])
        return [found]
    return list(found) if isinstance(found, list) else [found]


def _with_role(found: Any, role: str) -> Any:
    bare = isinstance(found, Mapping) and not {"role", "type", "kwargs", "message"} & set(found)
    return {"role": role, **found} if bare else found
