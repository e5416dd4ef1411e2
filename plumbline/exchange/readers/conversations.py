"""Files of conversations: one or many, bare or with labels beside them, in one JSON value or one a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from plumbline.exchange.drafts import NOT_RECORDED, Labels
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.texts import shown, whole_number
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["LABELS", "Found", "conversations", "find_in", "in_mapping", "labels_of", "sample"]

Find = Callable[[str, Mapping[str, Any]], Any]
IsMessage = Callable[[Any], bool]

_DEEPEST, _LOOKED_AT = 3, 20
_DEFINITIONS = ("tools", "functions", "tool_choice", "tool_definitions")


def _label(name: str, *more: str) -> Column:
    names = (name, *more)
    paths = (*names, *(f"{place}.{n}" for place in ("labels", "metadata") for n in names))
    return Column(name, paths, doc="beside the messages, or under labels or metadata there")


LABELS = (
    Column("trace_id", ("trace_id", "conversation_id", "session_id", "thread_id", "id"), doc="id of the conversation"),
    _label("arm"),
    _label("task", "task_id"),
    _label("family", "family_id"),
    _label("perturbation"),
    _label("variant"),
    _label("repetition"),
    Column("outcome", ("outcome",), doc="terminal state, an object"),
    Column("context", ("context",), doc="what should have happened, an object"),
    Column("model", ("model",), doc="model that decided"),
)
"""What may stand beside a conversation."""


class Found(NamedTuple):
    """One conversation: where it stands, its messages, and what stands beside them."""

    where: str
    messages: list[Any]
    beside: Mapping[str, Any]


def find_in(columns: tuple[Column, ...]) -> Find:
    """Return the look-up of fields that a reader with these columns would do."""
    return Reader("", "", columns, lambda source: None, lambda source, reader: []).find


def in_mapping(value: Any) -> Any:
    """Return a message or wrapper as a mapping, if it is an object of a client library that can say itself as one."""
    dump = None if isinstance(value, Mapping | list | str) else getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


def sample(source: Source, find: Find, is_message: IsMessage) -> list[Any] | None:
    """Return the messages of the first conversation, None if there is none; for recognising a format."""
    value = in_mapping(source.peek())
    if value is NO_JSON:
        return None
    many = isinstance(value, list) and not any(map(is_message, value[:1]))
    for one in map(in_mapping, value[:_LOOKED_AT] if many else [value]):
        if isinstance(one, Mapping) and not is_message(one):
            one = find("messages", one)
        found = one if isinstance(one, list) else [one]
        if found:  # an empty conversation says nothing of its format
            return found if all(map(is_message, found)) else None
    return None


def conversations(source: Source, find: Find, is_message: IsMessage) -> Iterator[Found]:
    """Give every conversation of a source.

    Raises
    ------
    TraceFormatError
        Something in it is neither a message nor a conversation; names its place.
    """
    if source.is_lines:
        yield from _lines(source, find, is_message)
        return
    value = in_mapping(source.json())
    if isinstance(value, list) and any(map(is_message, value)):
        if not source.broken:  # half a conversation is not one
            yield Found(source.name, value, {})
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield _one(source, f"{source.name} item {place}", in_mapping(item), find, is_message)
    else:
        yield _one(source, source.name, value, find, is_message)


def _lines(source: Source, find: Find, is_message: IsMessage) -> Iterator[Found]:
    together: list[Any] = []
    first_whole: int | None = None
    for offset, number, value in source.records():
        if is_message(value):
            together.append(value)
        else:
            first_whole = number if first_whole is None else first_whole
            yield _one(source, f"{source.name} line {number}", value, find, is_message, byte=offset, line=number)
        if together and first_whole is not None:
            raise source.fault(
                f"single messages and whole conversations are mixed (line {first_whole} holds a conversation)",
                byte=offset, line=number, mend="Write one conversation a line, or one message a line.",
            )  # fmt: skip
    if together and not source.broken:
        yield Found(source.name, together, {})


def _one(
    source: Source, where: str, value: Any, find: Find, is_message: IsMessage, byte: int | None = None,
    line: int | None = None,
) -> Found:  # fmt: skip
    messages: Any = value
    beside: Mapping[str, Any] = {}
    if isinstance(value, Mapping):
        messages, beside = find("messages", value), value
    if not isinstance(messages, list):
        keys = sorted(map(str, beside))[:12] if beside else type(value).__name__
        raise source.fault(
            f"{where} holds no messages (found {keys})", byte=byte, line=line,
            mend="Give a list of messages, or an object with 'messages'; add other names with with_columns(…).",
        )  # fmt: skip
    return Found(where, messages, beside)


def labels_of(found: Mapping[str, Any], find: Find, *, placed: Sequence[str] = ()) -> dict[str, Any]:
    """Return fields of a draft that stand beside the messages: labels, attributes, outcome, model, what is unread.

    Parameters
    ----------
    found : mapping
        What stands beside, the messages too.
    find : callable
        The reader's look-up.
    placed : sequence of str
        Keys that the reader itself has placed.

    Examples
    --------
    >>> fields = labels_of({"messages": [], "task": 7, "metadata": {"arm": "v2"}, "seed": 1}, find_in(LABELS))
    >>> fields["labels"].task, fields["labels"].arm, fields["attributes"]["metadata.arm"]
    ('7', 'v2', 'v2')
    """
    names = ("arm", "task", "family", "perturbation", "variant")
    labels = Labels(**{name: _text(find(name, found)) for name in names}, repetition=_count(find("repetition", found)))
    attributes: dict[str, Any] = {}
    unread: list[str] = []
    for key, value in found.items():
        if key not in placed and key not in _DEFINITIONS:
            _flatten(str(key), value, attributes, unread, depth=0)
    more: dict[str, Any] = {}
    for name in ("outcome", "context"):
        value = find(name, found)
        if isinstance(value, Mapping):
            more[name] = value
            unread[:] = [note for note in unread if not note.startswith((f"{name}:", f"{name}."))]
    if isinstance(model := find("model", found), str):
        more["model"] = model
    if isinstance(trace := _text(find("trace_id", found)), str):
        attributes["trace_id"] = trace
    defined: list[Any] = next((found[key] for key in _DEFINITIONS if isinstance(found.get(key), list)), [])
    said = [f"{len(defined)} tool definitions stand beside the messages; they are no calls"] if defined else []
    return {"labels": labels, "attributes": attributes, "unread": unread, "said": said, **more}


def _flatten(key: str, value: Any, into: dict[str, Any], unread: list[str], *, depth: int) -> None:
    if value is None or isinstance(value, str | int | float) or whole_number(value) is not None:
        into[key] = value
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for inner, item in value.items():
            _flatten(f"{key}.{inner}", item, into, unread, depth=depth + 1)
    elif value not in ([], {}):
        unread.append(f"{key}: {shown(value)}")


def _text(value: Any) -> str | None:
    if value is NOT_RECORDED or value is None or value == "" or isinstance(value, bool):
        return None
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else None


def _count(value: Any) -> int | None:
    count = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else whole_number(value)
    return count if count is not None and count >= 0 else None
