"""OpenTelemetry spans in JSON or protobuf: envelopes, bare spans, lists, lines of either, and what SDKs print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plumbline.base.errors import TraceFormatError
from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Reader
from plumbline.exchange.readers import otlp_protobuf
from plumbline.exchange.readers.otlp_values import ENVELOPES, ValueFault, looks_like, spans_in
from plumbline.exchange.readers.span import Span
from plumbline.exchange.readers.span_columns import SPAN_COLUMNS, Lookup
from plumbline.exchange.readers.span_own import own_trial
from plumbline.exchange.readers.span_trials import by_trace, is_trajectory, trial_of
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["READER", "spans_by_line", "spans_of", "trials"]

_ALLOWED = "OTLP JSON is an object with resourceSpans, a list of spans, or one of these a line."


def spans_of(source: Source) -> Iterator[Span]:
    """Give the spans of a source, reading lines one by one.

    Raises
    ------
    TraceFormatError
        Malformed or cut off; names byte and line.
    """
    if otlp_protobuf.looks_like(source):
        yield from otlp_protobuf.spans_of(source)
        return
    for _, spans in spans_by_line(source):
        yield from spans


def spans_by_line(source: Source) -> Iterator[tuple[int, list[Span]]]:
    """Give the number of each line and its spans; of one JSON value, line 1."""
    place = 0
    for offset, line, value in _values(source):
        try:
            spans = list(spans_in(value, place))
        except (ValueFault, RecursionError) as fault:
            error = source.fault(str(fault) or "nested too deeply", byte=offset, line=line, mend=_ALLOWED)
            if source.strict:
                raise error from None
            source.leave_out(error)
            continue
        place += len(spans)
        yield line, spans


def _values(source: Source) -> Iterator[tuple[int, int, Any]]:
    if source.is_object:
        yield 0, 1, source.value
    elif source.is_lines:
        yield from source.records(exact=False)
    else:
        try:
            yield 0, 1, source.json(exact=False)
        except TraceFormatError:
            if source.strict:
                raise
            kept = source.rescued(within=ENVELOPES)
            if kept is not None:
                yield 0, 1, kept


def trials(spans: Iterator[Span] | Sequence[Span], reader: Reader, *, name: str, whole_only: bool) -> list[TrialDraft]:
    """Return the trials of spans, one a trace; with `whole_only` without traces that lack a root or a parent."""
    lookup = Lookup(reader)
    drafts: list[TrialDraft] = []
    left_out = empty = 0
    for trace_id, of_trace in by_trace(spans).items():
        own = own_trial(trace_id, of_trace, source=name)
        draft, whole = own if own is not None else trial_of(trace_id, of_trace, lookup, source=name)
        if whole_only and not whole:
            left_out += 1
        elif not is_trajectory(draft):
            empty += 1
        else:
            drafts.append(draft)
    said = []
    if left_out:
        said.append(f"{left_out} traces of {name} were left out: a root or a parent is missing")
    if whole_only:
        said.append(
            f"{name} is not whole: a trace whose last spans stood after the damage cannot be told from a whole one"
        )
    if empty:
        said.append(f"{empty} traces of {name} hold nothing of an agent and are no trials")
    for draft in drafts[:1]:
        draft.said += said
    return drafts


def _together(sources: Sequence[Source], reader: Reader) -> list[TrialDraft]:
    spans = [span for source in sources for span in spans_of(source)]
    for place, span in enumerate(spans):
        span.place = place
    broken = any(source.broken for source in sources)
    return trials(spans, reader, name=", ".join(source.name for source in sources), whole_only=broken)


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    return _together([source], reader)


def _sniff(source: Source) -> str | None:
    if otlp_protobuf.looks_like(source):
        return "it is OTLP protobuf"
    found = source.peek()
    if found is NO_JSON or (isinstance(found, dict) and "info" in found and "data" in found):
        return None
    return looks_like(found)


READER = Reader("otlp", "OpenTelemetry spans", SPAN_COLUMNS, _sniff, _read, _together)
