"""Anthropic messages with content blocks: a list, an object with ``messages``, or one of either a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.anthropic_turns import (
    ANTHROPIC_COLUMNS,
    anthropic_turns,
    is_call_block,
    is_result_block,
)
from plumbline.exchange.readers.conversations import LABELS, conversations, in_mapping, labels_of, sample
from plumbline.exchange.readers.texts import listed, recorded, whole_number
from plumbline.exchange.source import Source

__all__ = ["READER"]

_COLUMNS = (
    Column("messages", ("messages", "request.messages"), doc="the conversation"),
    Column("response", ("response",), doc="what the model answered, if not among the messages"),
    Column("system", ("system", "request.system"), doc="system prompt"),
    *LABELS,
    *ANTHROPIC_COLUMNS,
)
_PLACED = ("messages", "request", "response", "system")


def _is_message(value: Any) -> bool:
    value = in_mapping(value)
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "content" in value


def _sniff(source: Source) -> str | None:
    found = None if source.is_folder else sample(source, READER.find, _is_message)
    for message in map(in_mapping, found or ()):
        if message["role"] not in ("user", "assistant"):
            return None
        for block in map(in_mapping, listed(message["content"])):
            if is_call_block(block) or is_result_block(block):
                return f"content blocks of type {block['type']}"
        if isinstance(message.get("stop_reason"), str):
            return "messages with stop_reason"
    return None


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    drafts = []
    for where, messages, beside in conversations(source, reader.find, _is_message):
        answer = in_mapping(recorded(reader.find("response", beside)))
        told = [in_mapping(m) for m in [*messages, *([answer] if _is_message(answer) else [])]]
        talk = anthropic_turns(told, system=recorded(reader.find("system", beside)), find=reader.find)
        fields = labels_of(beside, reader.find, placed=_PLACED)
        drafts.append(talk.trial(where, **(_usage(told) | fields)))
    return drafts


def _usage(messages: list[Any]) -> dict[str, Any]:
    """Return model and token counts, where the messages are answers as the client returned them."""
    found: dict[str, Any] = {}
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        if isinstance(message.get("model"), str):
            found.setdefault("model", message["model"])
        usage = message.get("usage")
        for name, key in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens")):
            if isinstance(usage, Mapping) and (count := whole_number(usage.get(key))) is not None:
                found[name] = found.get(name, 0) + count
    return found


READER = Reader("anthropic", "Anthropic messages", _COLUMNS, _sniff, _read)
