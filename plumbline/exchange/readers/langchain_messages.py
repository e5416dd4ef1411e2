"""LangChain messages and LangGraph states: dumped, serialised, or the message objects themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.conversations import LABELS, conversations, labels_of, sample
from plumbline.exchange.readers.langchain_turns import LANGCHAIN_COLUMNS, langchain_turns, plain_message
from plumbline.exchange.source import Source

__all__ = ["READER"]

_COLUMNS = (
    Column("messages", ("messages", "values.messages", "kwargs.messages", "output.messages"), doc="LangGraph's state"),
    *LABELS,
    *LANGCHAIN_COLUMNS,
)
_PLACED = ("messages", "values", "kwargs", "output", "lc")


def _is_message(value: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(value.get("role"), str) and value.get("type") != "chat":
        return False  # an OpenAI item may have a type too
    return plain_message(value) is not None


def _sniff(source: Source) -> str | None:
    found = None if source.is_folder else sample(source, READER.find, _is_message)
    return None if found is None else "messages of types such as human and ai"


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    drafts = []
    for where, messages, beside in conversations(source, reader.find, _is_message):
        talk, about = langchain_turns(messages, find=reader.find)
        drafts.append(talk.trial(where, **(about | labels_of(beside, reader.find, placed=_PLACED))))
    return drafts


READER = Reader("langchain", "LangChain messages", _COLUMNS, _sniff, _read)
