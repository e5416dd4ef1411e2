"""One sample of an Inspect log, turned into a conversation; calls inside sub-agents come from its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, Unreadable
from plumbline.exchange.readers.texts import content_of, listed, shown
from plumbline.exchange.readers.turns import Conversation, error_field

__all__ = ["sample_turns"]

_ATTACHED = "attachment://"
_PLACED = {
    "id", "role", "content", "source", "tool_calls", "tool_call_id", "function", "error", "model", "metadata",
    "internal", "name",
}  # fmt: skip


def sample_turns(sample: Mapping[str, Any]) -> Conversation:
    """Turn a sample into a conversation.

    Parameters
    ----------
    sample : mapping
        With ``messages`` and, if the log has them, ``events`` and ``attachments``. Calls that only the events hold were
        made by sub-agents, or fell out of a shortened history: they follow the call that was made before them. A call
        marked with ``parse_error`` keeps that text; its empty arguments are not its arguments.

    Examples
    --------
    >>> asked = [{"id": "c", "function": "quote", "arguments": {}, "parse_error": 'cut off: {"sym":'}]
    >>> sample_turns({"messages": [{"role": "assistant", "content": "", "tool_calls": asked}]}).steps[0].arguments
    Unreadable(text='cut off: {"sym":', reason='marked invalid')
    """
    talk = Conversation(failure=error_field)
    attached = sample.get("attachments")
    store = attached if isinstance(attached, Mapping) else {}
    for position, given in enumerate(listed(sample.get("messages"))):
        message = _whole(given, store)
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            talk.unread.append(f"message {position}: {shown(message)}")
            continue
        _message(talk, message)
        for key in sorted(message.keys() - _PLACED):
            if message[key] not in (None, [], {}, ""):
                talk.unread.append(f"message {position}, {key}: {shown(message[key])}")
    _events(talk, sample, store)
    return talk


def _whole(value: Any, store: Mapping[str, Any]) -> Any:
    """Return a value with the texts that the log keeps elsewhere put back in their places."""
    if isinstance(value, str):
        return store.get(value.removeprefix(_ATTACHED), value) if value.startswith(_ATTACHED) else value
    if isinstance(value, Mapping):
        return {key: _whole(item, store) for key, item in value.items()}
    return [_whole(item, store) for item in value] if isinstance(value, list) else value


def _message(talk: Conversation, message: Mapping[str, Any]) -> None:
    role, content = message["role"], message.get("content")
    if role == "tool":
        _reply(talk, message.get("tool_call_id"), content_of(content), message.get("error"), message.get("function"))
        return
    for block in listed(content):
        if isinstance(block, Mapping) and block.get("type") == "reasoning":
            talk.say(role, block.get("reasoning") or block, kind="thought")
        else:
            talk.say(role, block)
    asked = [call for call in listed(message.get("tool_calls")) if isinstance(call, Mapping)]
    if asked:
        group = talk.turn()
        for call in asked:
            talk.call(call.get("function"), _arguments(call), call.get("id"), group=group)


def _arguments(call: Mapping[str, Any]) -> Any:
    if wrong := call.get("parse_error"):
        return Unreadable(wrong if isinstance(wrong, str) else shown(wrong), "marked invalid")
    return call.get("arguments", NOT_RECORDED)


def _reply(talk: Conversation, call_id: Any, found: Any, error: Any, name: Any) -> None:
    wrong = error if isinstance(error, Mapping) else {}
    kind, words = wrong.get("type"), wrong.get("message")
    talk.reply(
        call_id, found, name=name if isinstance(name, str) else None, failed=True if error else None,
        error_type=kind if isinstance(kind, str) else None,
        error=words if isinstance(words, str) else shown(error) if error else None,
    )  # fmt: skip


class _Made(NamedTuple):
    """A tool event: the call it tells of, the call within which it happened, and the sub-agent that made it."""

    event: Mapping[str, Any]
    parent: str | None
    agent: str | None
    turn: Any


def _events(talk: Conversation, sample: Mapping[str, Any], store: Mapping[str, Any]) -> None:
    """Add times to the calls that the messages hold, and the calls that they do not hold."""
    known = {step.call_id: step for step in talk.steps if step.kind == "tool_call"}
    groups: dict[Any, int] = {}
    before: str | None = None
    added = 0
    for made in _tool_events(sample):
        event = _whole(made.event, store)
        call_id = event.get("id") if isinstance(event.get("id"), str) else None
        step = known.get(call_id)
        if step is None:
            inner = Conversation(failure=error_field, agent=made.agent, parent=made.parent)
            step = inner.call(event.get("function"), _arguments(event), call_id, group=None)
            if not event.get("pending"):
                _reply(inner, call_id, content_of(event.get("result")), event.get("error"), None)
            talk.put(inner, after=before)
            step.group = groups.setdefault(made.turn, -1)
            if step.group < 0:
                step.group = groups[made.turn] = talk.turn()
            known[call_id] = step
            added += 1
        _times(step, event)
        before = call_id
    if added:
        talk.said.append(
            "calls that only the events hold (of sub-agents, or from a shortened history) are put in place"
        )


def _times(step: StepDraft, event: Mapping[str, Any]) -> None:
    start, end = event.get("timestamp"), event.get("completed")
    step.started_at = start if isinstance(start, str) else step.started_at
    step.ended_at = end if isinstance(end, str) else step.ended_at


def _tool_events(sample: Mapping[str, Any]) -> Iterator[_Made]:
    spans: dict[Any, Mapping[str, Any]] = {}
    waiting: list[Mapping[str, Any]] = []
    call_of: dict[Any, str] = {}
    turns: dict[Any, int] = {}
    for event in listed(sample.get("events")):
        if not isinstance(event, Mapping) or not isinstance(event.get("span_id"), str | None):
            continue
        kind = event.get("event")
        if kind == "span_begin" and isinstance(event.get("id"), str):
            spans[event["id"]] = event
            if event.get("type") == "tool":
                waiting.append(event)
        elif kind == "model":
            turns[event.get("span_id")] = turns.get(event.get("span_id"), 0) + 1
        elif kind == "tool":
            span = next((s for s in reversed(waiting) if _is_span_of(s, event)), None)
            if span is not None and isinstance(event.get("id"), str):
                waiting.remove(span)
                call_of[span["id"]] = event["id"]
            parent, agent = _ancestry(event.get("span_id"), spans, call_of)
            yield _Made(event, parent, agent, (event.get("span_id"), turns.get(event.get("span_id"), 0)))
            yield from _nested(event)


def _is_span_of(span: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    return span.get("parent_id") == event.get("span_id") and span.get("name") == event.get("function")


def _ancestry(
    span_id: Any, spans: Mapping[Any, Mapping[str, Any]], call_of: Mapping[Any, str]
) -> tuple[str | None, str | None]:
    """Return the call around a span, and the sub-agent that works inside that call."""
    agent: str | None = None
    for _ in range(len(spans) + 1):
        span = spans.get(span_id)
        if span is None:
            return None, None
        if span_id in call_of:
            return call_of[span_id], agent
        if agent is None and span.get("type") == "agent" and isinstance(span.get("name"), str):
            agent = span["name"]
        span_id = span.get("parent_id") if isinstance(span.get("parent_id"), str) else None
    return None, None


def _nested(event: Mapping[str, Any]) -> Iterator[_Made]:
    """Give the tool events that older logs keep inside the event of the call around them."""
    stack = [(event, inner) for inner in reversed(listed(event.get("events")))]
    while stack:
        outer, inner = stack.pop()
        if isinstance(inner, Mapping) and inner.get("event") == "tool":
            parent = outer.get("id") if isinstance(outer.get("id"), str) else None
            yield _Made(inner, parent, str(outer.get("function")), (parent, len(stack)))
            stack += [(inner, deeper) for deeper in reversed(listed(inner.get("events")))]
