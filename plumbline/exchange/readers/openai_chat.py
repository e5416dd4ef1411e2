"""OpenAI chat messages: a list, an object with ``messages``, or one of either a line; labels may stand beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.conversations import LABELS, conversations, in_mapping, labels_of, sample
from plumbline.exchange.readers.openai_turns import CHAT_COLUMNS, chat_turns
from plumbline.exchange.readers.texts import listed, recorded
from plumbline.exchange.source import Source

__all__ = ["READER"]

_COLUMNS = (
    Column("messages", ("messages", "request.messages", "input.messages"), doc="the conversation"),
    Column("choices", ("choices", "response.choices"), doc="what the model answered, if not among the messages"),
    *LABELS,
    *CHAT_COLUMNS,
)
_PLACED = ("messages", "choices", "request", "response", "input")


def _is_message(value: Any) -> bool:
    value = in_mapping(value)
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def _sniff(source: Source) -> str | None:
    found = None if source.is_folder else sample(source, READER.find, _is_message)
    return None if found is None else "messages with roles"


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    drafts = []
    for where, messages, beside in conversations(source, reader.find, _is_message):
        answers = [in_mapping(choice) for choice in listed(recorded(reader.find("choices", beside)))[:1]]
        answered = [choice["message"] for choice in answers if isinstance(choice, Mapping) and "message" in choice]
        talk = chat_turns([*messages, *answered], find=reader.find)
        drafts.append(talk.trial(where, **labels_of(beside, reader.find, placed=_PLACED)))
    return drafts


READER = Reader("openai", "OpenAI chat messages", _COLUMNS, _sniff, _read)
