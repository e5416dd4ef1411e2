"""What the readers of exported traces share: every record becomes a span, and spans become trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from plumbline.base.errors import TraceFormatError
from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Reader
from plumbline.exchange.readers.otlp import trials
from plumbline.exchange.readers.otlp_values import ValueFault
from plumbline.exchange.readers.span import Span
from plumbline.exchange.source import Source

__all__ = ["SpansOf", "reading", "record"]

SpansOf = Callable[[Any], Iterator[Span]]
"""Takes one JSON value of a file and gives its spans."""
_LISTS = ("data", "traces", "runs")


def reading(
    spans_of: SpansOf,
) -> tuple[Callable[[Source, Reader], list[TrialDraft]], Callable[[Sequence[Source], Reader], list[TrialDraft]]]:
    """Return how one source, and how several together, are read with a function that gives the spans of a value."""

    def together(sources: Sequence[Source], reader: Reader) -> list[TrialDraft]:
        spans = [span for source in sources for span in _spans(source, spans_of)]
        for place, span in enumerate(spans):
            span.place = place
        name = ", ".join(source.name for source in sources)
        return trials(spans, reader, name=name, whole_only=any(source.broken for source in sources))

    return (lambda source, reader: together([source], reader)), together


def _spans(source: Source, spans_of: SpansOf) -> Iterator[Span]:
    for offset, line, value in _values(source):
        try:
            yield from spans_of(value)
        except (ValueFault, AttributeError, KeyError, TypeError) as fault:
            what = (
                str(fault)
                if isinstance(fault, ValueFault)
                else f"a record is not of the shape of this format ({fault})"
            )
            error = source.fault(what, byte=offset, line=line)
            if source.strict:
                raise error from None
            source.leave_out(error)


def _values(source: Source) -> Iterator[tuple[int, int, Any]]:
    if source.is_object:
        yield 0, 1, source.value
    elif source.is_lines:
        yield from source.records()
    else:
        try:
            yield 0, 1, source.json()
        except TraceFormatError:
            if source.strict:
                raise
            kept = source.rescued(within=_LISTS)
            if kept is not None:
                yield 0, 1, kept


def record(found: Any, what: str) -> Mapping[str, Any]:
    """Return a record that must be an object."""
    if not isinstance(found, Mapping):
        raise ValueFault(f"{what} must be an object; found {type(found).__name__}")
    return found
