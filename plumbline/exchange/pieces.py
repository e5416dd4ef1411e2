"""Files too large to hold: read line by line, one recording after the other, each of whole trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.exchange.api import judge
from plumbline.exchange.assemble import assemble
from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.labels import Label, Numbering, label_rules
from plumbline.exchange.reader import Reader
from plumbline.exchange.readers import otlp
from plumbline.exchange.readers.span import Span
from plumbline.exchange.redact import Redaction, redaction
from plumbline.exchange.source import Source, open_source
from plumbline.traces import Recording

__all__ = ["read_pieces"]


def read_pieces(
    source: str | Path | bytes,
    *,
    trials: int = 1000,
    reader: Reader | None = None,
    arm: Label = None,
    task: Label = None,
    family: Label = None,
    perturbation: Label = None,
    run_id: str = "imported",
    labels: str | Path | Mapping[str, Mapping[str, str]] | None = None,
    redact: str | Path | Redaction | Mapping[str, Any] | None = None,
    failed: Callable[[Any], bool] | None = None,
) -> Iterator[Recording]:
    """Read OTLP JSON lines of any size as recordings of whole trials, one after the other.

    The file is read twice: first only to see on which line each trace ends, then to read it. What is held is one piece,
    the spans of traces that have not ended, and the ids of traces.

    Parameters
    ----------
    source : path or bytes
        JSON lines of spans or envelopes; gzip is unpacked.
    trials : int
        Trials of each recording, at least 1; the last has the rest.
    reader : Reader, optional
        The OTLP reader, with columns of your own.
    arm, task, family, perturbation, labels, redact, failed
        As in ``read_traces``. Rows of a label table that match no trial are not refused here.
    run_id : str
        Name of the run, the same for every piece; repetitions are numbered over all of them.

    Yields
    ------
    Recording

    Raises
    ------
    TraceFormatError
        Malformed or cut off; names byte and line.
    ParameterError
        No JSON lines, or a parameter is impossible.

    Examples
    --------
    >>> span = '{"traceId":"%032x","spanId":"00000000000000aa","name":"execute_tool pay"}'
    >>> lines = "\\n".join(span % n for n in (1, 2, 3)).encode()
    >>> [len(piece.trials) for piece in read_pieces(lines, trials=2, task="t")]
    [2, 1]
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ParameterError(f"trials must be a whole number of at least 1; found {trials!r}")
    opened = open_source(source)
    if not opened.is_lines:
        raise ParameterError(f"{opened.name} is not JSON lines; use read_traces, which holds the whole file")
    rules = label_rules(arm=arm, task=task, family=family, perturbation=perturbation, labels=labels)
    hidden, chosen, numbering = redaction(redact), reader or otlp.READER, Numbering()
    found = False
    for drafts in _drafts(opened, chosen, trials):
        found = True
        if failed is not None:
            judge(drafts, failed)
        about: dict[str, Any] = {"files": [{"name": opened.name}], "format": chosen.name, "left_out": []}
        if hidden is not None:
            about["redaction"] = hidden.apply(drafts)
        yield assemble(drafts, run_id=run_id, labels=rules, about=about, numbering=numbering)
    if not found:
        raise opened.fault("no execution of an agent was found")


def _drafts(source: Source, reader: Reader, trials: int) -> Iterator[list[TrialDraft]]:
    last = _last_lines(source)
    due: dict[int, list[str]] = {}
    for trace, line in last.items():
        due.setdefault(line, []).append(trace)
    open_traces: dict[str, list[Span]] = {}
    ready: list[TrialDraft] = []
    for line, spans in otlp.spans_by_line(source):
        for span in spans:
            open_traces.setdefault(span.trace_id, []).append(span)
        for trace in due.get(line, ()):
            ready += otlp.trials(open_traces.pop(trace), reader, name=source.name, whole_only=False)
            if len(ready) >= trials:
                yield ready
                ready = []
    if ready:
        yield ready


def _last_lines(source: Source) -> dict[str, int]:
    return {span.trace_id: line for line, spans in otlp.spans_by_line(source) for span in spans}
