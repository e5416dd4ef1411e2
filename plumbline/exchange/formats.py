"""The formats that are known, in the order in which they are tried. A reader is imported when it is needed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

from plumbline.base.errors import ParameterError, TraceFormatError
from plumbline.exchange.reader import Reader
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["FORMATS", "detect", "reader_of"]

FORMATS: Mapping[str, str] = {
    "project_folder": "project_folder",
    "inspect": "inspect_logs",
    "otlp": "otlp",
    "mlflow": "mlflow",
    "langfuse": "langfuse",
    "langsmith": "langsmith",
    "tau_bench": "tau_bench",
    "atif": "atif",
    "langchain": "langchain_messages",
    "anthropic": "anthropic_messages",
    "openai_responses": "openai_responses",
    "openai": "openai_chat",
}
"""Name of each format and the module that reads it; the narrow ones stand before those they could be mistaken for."""


def reader_of(name: str) -> Reader:
    """Return the reader of a format.

    Raises
    ------
    ParameterError
        No format of that name.

    Examples
    --------
    >>> reader_of("otlp").title
    'OpenTelemetry spans'
    """
    if name not in FORMATS:
        raise ParameterError(f"format {name!r} is not known; choose 'auto' or one of {', '.join(FORMATS)}")
    reader: Reader = importlib.import_module(f"plumbline.exchange.readers.{FORMATS[name]}").READER
    return reader


def detect(source: Source) -> tuple[Reader, str]:
    """Return the first reader that recognises a source, and why.

    Raises
    ------
    TraceFormatError
        None does; the message says what the source looks like.

    Examples
    --------
    >>> detect(Source("s", data=b'{"traceId":"1f","spanId":"2a","name":"chat"}'))[0].name
    'otlp'
    """
    for name in FORMATS:
        if importlib.util.find_spec(f"plumbline.exchange.readers.{FORMATS[name]}") is None:
            continue
        reader = reader_of(name)
        if (why := reader.sniff(source)) is not None:
            return reader, why
    raise TraceFormatError(
        f"no known format: {_look(source)}", source=source.name,
        mend=f"Name it with format=, one of {', '.join(FORMATS)}; if its columns have other names, add them with "
        "reader_of(NAME).with_columns(…).",
    )  # fmt: skip


def _look(source: Source) -> str:
    if source.is_folder:
        return "a folder without the files of a recorded project"
    found = source.peek()
    if found is NO_JSON:
        start = source.head[:24]
        return f"it starts with {start!r}" if start else "the file is empty"
    return _shape(found)


def _shape(found: Any) -> str:
    if isinstance(found, Mapping):
        return f"an object with the keys {sorted(map(str, found))[:12]}"
    if isinstance(found, list):
        return f"a list of {len(found)} items, the first {_shape(found[0])}" if found else "an empty list"
    return f"a value of type {type(found).__name__}"
