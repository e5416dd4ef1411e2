"""Files too large to hold: read line by line, one recording after the other, each of whole trials."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

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

_PENDING = 1 << 12


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
    the spans of traces that have not ended, and of each trace a digest and which trial it is.

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
    ends = _Ends(source)
    open_traces: dict[str, list[Span]] = {}
    ready: list[TrialDraft] = []

    def closed(ending: Iterable[str]) -> Iterator[TrialDraft]:
        for trace in sorted(ending, key=lambda one: open_traces[one][0].place):
            yield from otlp.trials(open_traces.pop(trace), reader, name=source.name, whole_only=False)

    for line, spans in otlp.spans_by_line(source):
        if line > ends.line:  # the file grew since it was read first
            break
        for span in spans:
            open_traces.setdefault(span.trace_id, []).append(span)
        for draft in closed(trace for trace in {span.trace_id for span in spans} if ends.of(trace) <= line):
            ready.append(draft)
            if len(ready) >= trials:
                yield ready
                ready = []
    for draft in closed(list(open_traces)):
        ready.append(draft)
        if len(ready) >= trials:
            yield ready
            ready = []
    if ready:
        yield ready


class _Ends:
    """On which line each trace ends, in sixteen bytes a trace.

    Ids are kept as digests of eight bytes. Where two ids had one digest, both would be held until the later of their
    lines, or until the file ends: that takes memory, and changes no trial.

    Parameters
    ----------
    source : Source
        JSON lines, read to their end.
    """

    def __init__(self, source: Source) -> None:
        self._ids = self._lines = np.empty(0, np.uint64)
        self.line = 0
        ids, lines = array("Q"), array("Q")
        last = None
        for line, spans in otlp.spans_by_line(source):
            self.line = line
            for trace in {span.trace_id: None for span in spans}:
                if trace == last:
                    lines[-1] = line
                    continue
                if len(ids) >= max(_PENDING, len(self._ids)):
                    self._keep(ids, lines)
                    ids, lines = array("Q"), array("Q")
                ids.append(_digest(trace))
                lines.append(line)
                last = trace
        self._keep(ids, lines)

    def of(self, trace: str) -> int:
        """Return the last line of a trace."""
        wanted = np.uint64(_digest(trace))
        at = int(np.searchsorted(self._ids, wanted))
        return int(self._lines[at]) if at < len(self._ids) and self._ids[at] == wanted else self.line

    def _keep(self, ids: array[int], lines: array[int]) -> None:
        """Add what was read to what is known: of each id the last line."""
        every = np.concatenate([np.frombuffer(ids, np.uint64)[::-1], self._ids])
        at = np.concatenate([np.frombuffer(lines, np.uint64)[::-1], self._lines])
        self._ids, first = np.unique(every, return_index=True)
        self._lines = at[first]


def _digest(trace: str) -> int:
    return int.from_bytes(hashlib.blake2b(trace.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
