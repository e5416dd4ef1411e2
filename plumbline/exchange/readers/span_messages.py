"""The messages that a span carries, in whichever of the many places its instrumentation writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.exchange.readers.message_shapes import Message, Part, message_of
from plumbline.exchange.readers.span import Event, Span

__all__ = ["Talk", "talk_of", "tool_event_fields"]

_FLAT = re.compile(r"(llm\.input_messages|llm\.output_messages|gen_ai\.prompt|gen_ai\.completion)\.(\d+)\.(.+)")
_EVENT_ROLE = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
_DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.operation.details")
_OUTPUT_EVENTS = ("gen_ai.choice",)


class Talk:
    """What went into a model and what came out, and what of it could not be read."""

    __slots__ = ("given", "said", "unread")

    def __init__(self) -> None:
        self.given: list[Message] = []
        self.said: list[Message] = []
        self.unread: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.given or self.said or self.unread)


def talk_of(span: Span) -> Talk:
    """Return the messages of a span, from the first of the places in which there are any.

    Places, in order: message attributes or events of the current GenAI conventions, the older span events,
    OpenInference and OpenLLMetry's numbered attributes, the Vercel AI SDK, pydantic-ai, Google ADK.
    """
    talk = Talk()
    for place in _PLACES:
        place(span, talk)
        if talk:
            return talk
    return talk


def tool_event_fields(span: Span) -> dict[str, Any]:
    """Return arguments and result of a tool's span that stand in its events, as Strands writes them.

    Examples
    --------
    >>> event = Event("gen_ai.tool.message", {"role": "tool", "content": '{"n": 1}', "id": "t1"})
    >>> tool_event_fields(Span("t", "s", None, "execute_tool x", 1, 2, "ok", None, {}, [event], {}, "", 0))
    {'arguments': '{"n": 1}', 'call_id': 't1'}
    """
    found: dict[str, Any] = {}
    for event in span.events:
        attributes = event.attributes
        if event.name == "gen_ai.tool.message":
            found.setdefault("arguments", attributes.get("content"))
        elif event.name == "gen_ai.choice":
            found["result"] = attributes.get("message")
        elif event.name in _DETAILS:
            for name, kind, field in (("input", "call", "arguments"), ("output", "reply", "result")):
                for message in _messages(attributes.get(f"gen_ai.{name}.messages"), "tool", Talk()):
                    for part in message.parts:
                        if part.kind == kind:
                            found[field] = part.value
                            found.setdefault("call_id", part.call_id)
        if isinstance(attributes.get("id"), str) and event.name in ("gen_ai.tool.message", "gen_ai.choice"):
            found.setdefault("call_id", attributes["id"])
    return {name: value for name, value in found.items() if value is not None}


def _current(span: Span, talk: Talk) -> None:
    holders = [span.attributes, *(event.attributes for event in span.events if event.name in _DETAILS)]
    for holder in holders:
        talk.given += _messages(holder.get("gen_ai.input.messages"), "user", talk)
        talk.said += _messages(holder.get("gen_ai.output.messages"), "assistant", talk)
    instructions = span.attributes.get("gen_ai.system_instructions")
    if instructions is not None and talk:
        talk.given[:0] = [Message("system", _parts(instructions, talk))]


def _events(span: Span, talk: Talk) -> None:
    events = span.events
    listed = span.attributes.get("events")
    if listed is not None and not any(event.name in _EVENT_ROLE for event in events):
        found = _parsed(listed, talk)
        listed = [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []
        events = [Event(str(e.get("event.name", "")), e) for e in listed]
    pieces: dict[Any, Message] = {}
    for event in events:
        if event.name in _EVENT_ROLE:
            talk.given.append(_event_message(event.attributes, _EVENT_ROLE[event.name], talk))
        elif event.name in _OUTPUT_EVENTS:
            index = event.attributes.get("index", 0)
            message = _choice(event.attributes, talk)
            if index in pieces:
                _append(pieces[index], message)
            else:
                pieces[index] = message
        elif event.name == "gen_ai.content.prompt":
            talk.given += _messages(event.attributes.get("gen_ai.prompt"), "user", talk)
        elif event.name == "gen_ai.content.completion":
            talk.said += _messages(event.attributes.get("gen_ai.completion"), "assistant", talk)
    talk.said += [pieces[index] for index in list(pieces)[:1]]
    if len(pieces) > 1:
        talk.unread.append(f"{len(pieces) - 1} further choices of one answer")


def _event_message(attributes: Mapping[str, Any], role: str, talk: Talk) -> Message:
    whole = {
        name: _parsed(value, talk) if name in ("content", "tool_calls") and _is_json(value) else value
        for name, value in attributes.items()
    }
    body = whole.pop("body", None)
    if isinstance(body, Mapping):
        whole |= body
    if role == "tool" and isinstance(whole.get("id"), str):
        whole.setdefault("tool_call_id", whole["id"])
    return message_of({"role": role, **whole}, role)


def _choice(attributes: Mapping[str, Any], talk: Talk) -> Message:
    found = attributes.get("message", attributes.get("content"))
    if _is_json(found):
        found = _parsed(found, talk)
    if isinstance(found, Mapping):
        inner = dict(found)
    else:
        inner = {"content": found}
    if "tool_calls" in attributes:
        inner["tool_calls"] = _parsed(attributes["tool_calls"], talk)
    return message_of({"role": "assistant", **inner}, "assistant")


def _append(message: Message, piece: Message) -> None:
    """Join a piece of a streamed answer to what came before it; pieces of one call follow each other."""
    for part in piece.parts:
        last = message.parts[-1] if message.parts else None
        same = last is not None and last.kind == part.kind and part.kind in ("text", "call")
        follows = same and last is not None and (part.kind == "text" or part.call_id in (None, last.call_id))
        if follows and last is not None and isinstance(last.value, str) and isinstance(part.value, str):
            last.value += part.value
        else:
            message.parts.append(part)


def _numbered(span: Span, talk: Talk) -> None:
    """Messages spread over attributes with numbers in their names; the numbers order them, not the text."""
    trees: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in span.attributes.items():
        if name.startswith(("llm.", "gen_ai.")) and (found := _FLAT.fullmatch(name)):
            trees.setdefault(found[1], {}).setdefault(int(found[2]), {})[found[3]] = value
    for root, numbered in trees.items():
        into = talk.given if root.endswith(("input_messages", "prompt")) else talk.said
        role = "user" if into is talk.given else "assistant"
        into += [message_of(_tree(numbered[number], talk), role) for number in sorted(numbered)]


def _tree(flat: Mapping[str, Any], talk: Talk) -> dict[str, Any]:
    """Return ``{"tool_calls": [{"id": …}]}`` of ``tool_calls.0.id`` and the like."""
    made: dict[str, Any] = {}
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in flat.items():
        name = name.removeprefix("message.")
        head, _, rest = name.partition(".")
        number, _, inner = rest.partition(".")
        if head in ("tool_calls", "contents") and number.isdecimal():
            inner = inner.removeprefix("tool_call.").removeprefix("message_content.").removeprefix("function.")
            lists.setdefault(head, {}).setdefault(int(number), {})[inner] = value
        else:
            made[name] = value
    for head, numbered in lists.items():
        made[head] = [numbered[number] for number in sorted(numbered)]
    if "function_call_name" in made:
        made["function_call"] = {
            "name": made["function_call_name"], "arguments": made.get("function_call_arguments_json", ""),
        }  # fmt: skip
    if isinstance(made.get("content"), str) and made["content"][:2] in ("[{", '{"'):
        opened = _parsed(made["content"], Talk())
        if isinstance(opened, list) and all(isinstance(o, dict) and "type" in o for o in opened):
            made["content"] = opened
    return made


def _vercel(span: Span, talk: Talk) -> None:
    attributes = span.attributes
    prompt = attributes.get("ai.prompt.messages")
    if prompt is None and (found := attributes.get("ai.prompt")) is not None:
        opened = _parsed(found, talk)
        prompt = opened.get("messages", opened.get("prompt")) if isinstance(opened, Mapping) else opened
    talk.given += _messages(prompt, "user", talk)
    text, calls = attributes.get("ai.response.text"), attributes.get("ai.response.toolCalls")
    if text or calls:
        said = {"role": "assistant", "content": text, "tool_calls": _parsed(calls, talk) if calls else []}
        talk.said.append(message_of(said, "assistant"))


def _pydantic(span: Span, talk: Talk) -> None:
    for name in ("pydantic_ai.all_messages", "all_messages_events"):
        found = span.attributes.get(name)
        if found is not None:
            talk.given += _messages(found, "user", talk)
            return


def _adk(span: Span, talk: Talk) -> None:
    request = span.attributes.get("gcp.vertex.agent.llm_request")
    response = span.attributes.get("gcp.vertex.agent.llm_response")
    asked = _parsed(request, talk) if request else None
    if isinstance(asked, Mapping):
        talk.given += _messages(asked.get("contents"), "user", talk)
    answered = _parsed(response, talk) if response else None
    if isinstance(answered, Mapping) and isinstance(answered.get("content"), Mapping):
        talk.said.append(message_of(answered["content"], "assistant"))


_PLACES: tuple[Callable[[Span, Talk], None], ...] = (_current, _events, _numbered, _vercel, _pydantic, _adk)


def _messages(found: Any, role: str, talk: Talk) -> list[Message]:
    if found is None or found == "":
        return []
    if _is_json(found):
        found = _parsed(found, talk)
        if found is None:
            return []
    if isinstance(found, Mapping) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if isinstance(found, list):
        return [message_of(one, role) for one in found]
    return [message_of(found, role)]


def _parts(found: Any, talk: Talk) -> list[Part]:
    return message_of({"role": "system", "content": _parsed(found, talk) if _is_json(found) else found}).parts


def _is_json(found: Any) -> bool:
    return isinstance(found, str) and found.lstrip()[:1] in ("[", "{")


def _parsed(found: Any, talk: Talk) -> Any:
    """Return the value that JSON text spells; what is not whole is noted and read as nothing."""
    if not isinstance(found, str):
        return found
    try:
        return parse_json(found)
    except (ValueError, RecursionError):
        if _is_json(found):
            talk.unread.append(f"messages: not JSON: {found}")
            return None
        return found
