"""OpenAI Responses: a list of items, or an object with ``input`` and ``output``; one of either a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import NOT_RECORDED, TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.conversations import LABELS, conversations, in_mapping, labels_of, sample
from plumbline.exchange.readers.openai_turns import RESPONSES_COLUMNS, responses_turns
from plumbline.exchange.readers.texts import listed, recorded, shown, whole_number
from plumbline.exchange.source import Source

__all__ = ["READER"]


def _items(found: Mapping[str, Any]) -> Any:
    """Return input and output items in order; an input that is text is what the user said."""
    response = in_mapping(found.get("response"))
    request = in_mapping(found.get("request"))
    outer = response if isinstance(response, Mapping) else found
    asked = (request if isinstance(request, Mapping) else found).get("input")
    if "output" not in outer and asked is None:
        return NOT_RECORDED
    spoken = [{"role": "user", "content": asked}] if isinstance(asked, str) else listed(asked)
    return [*spoken, *listed(outer.get("output"))]


_COLUMNS = (
    Column("messages", ("items", _items), doc="items, or input and output"),
    Column("instructions", ("instructions", "request.instructions", "response.instructions"), doc="system prompt"),
    Column("tokens_in", ("usage.input_tokens", "response.usage.input_tokens")),
    Column("tokens_out", ("usage.output_tokens", "response.usage.output_tokens")),
    Column("status", ("status", "response.status"), doc="how the response ended"),
    Column("error", ("error", "response.error", "incomplete_details", "response.incomplete_details")),
    *LABELS,
    *RESPONSES_COLUMNS,
)
_PLACED = ("items", "input", "output", "request", "response", "instructions", "usage", "status", "error")
_STATUSES = {"failed": "harness_error", "cancelled": "harness_error", "incomplete": "agent_error"}
"""A response that the provider could not make says nothing of the agent; one cut off at a limit is what it did."""


def _is_item(value: Any) -> bool:
    value = in_mapping(value)
    return isinstance(value, Mapping) and (isinstance(value.get("role"), str) or _kind(value) is not None)


def _kind(value: Mapping[str, Any]) -> str | None:
    kind = value.get("type")
    known = isinstance(kind, str) and (kind in ("message", "reasoning") or kind.endswith(("_call", "_call_output")))
    return kind if known else None


def _sniff(source: Source) -> str | None:
    if source.is_folder:
        return None
    found = sample(source, READER.find, _is_item)
    if found is None or not any(_kind(in_mapping(item)) for item in found):
        return None
    return "items with types such as function_call"


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    drafts = []
    for where, items, beside in conversations(source, reader.find, _is_item):
        system = recorded(reader.find("instructions", beside))
        said = [{"role": "system", "content": system}] if system else []
        talk = responses_turns([*said, *items], find=reader.find)
        fields = labels_of(beside, reader.find, placed=_PLACED)
        fields |= {name: whole_number(reader.find(name, beside)) for name in ("tokens_in", "tokens_out")}
        status, error = reader.find("status", beside), recorded(reader.find("error", beside))
        if isinstance(status, str) and status in _STATUSES:
            fields["status"] = _STATUSES[status]
            fields["error"] = f"response {status}: {error if isinstance(error, str) else shown(error)}"
        drafts.append(talk.trial(where, **fields))
    return drafts


READER = Reader("openai_responses", "OpenAI Responses", _COLUMNS, _sniff, _read)
