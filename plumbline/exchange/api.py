"""``read_traces``: traces of any stack in, one recording out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError, TraceFormatError
from plumbline.exchange.assemble import assemble
from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.formats import detect, reader_of
from plumbline.exchange.labels import Label, label_rules
from plumbline.exchange.reader import Reader
from plumbline.exchange.redact import Redaction, redaction
from plumbline.exchange.source import Source, open_source
from plumbline.traces import Recording

__all__ = ["judge", "read_traces"]


def read_traces(
    source: object,
    *,
    format: str | Reader = "auto",
    arm: Label = None,
    task: Label = None,
    family: Label = None,
    perturbation: Label = None,
    run_id: str | None = None,
    labels: str | Path | Mapping[str, Mapping[str, str]] | None = None,
    redact: str | Path | Redaction | Mapping[str, Any] | None = None,
    failed: Callable[[Any], bool] | None = None,
    strict: bool = True,
) -> Recording:
    """Read traces of any known stack as one run.

    Parameters
    ----------
    source : path, sequence of paths, bytes, or object
        Files, a folder, or what a JSON parser made of one. Gzip is unpacked.
    format : str or Reader
        Name of a format, or a reader with columns of your own; by default it is recognised from the content.
    arm, task, family, perturbation : str, mapping or callable, optional
        Text for every trial, ``{"attribute": NAME}`` to take an attribute of the trace, or a function from
        ``TrialDraft`` to text. Defaults: what the trace says, else ``agent``, the trace's id, the task, ``baseline``.
    run_id : str, optional
        Name of the run; by default that of the first file.
    labels : path or mapping, optional
        CSV file with a column ``trace_id`` or ``source`` and one column a label, or ``{trace_id: {label: text}}``.
    redact : path, mapping or Redaction, optional
        Rules that take content out before it is stored; whatever a rule cannot be applied to stops the import.
    failed : callable, optional
        Takes the result of a call that no status calls failed and says whether it reports a failure.
    strict : bool
        Refuse a file that is cut off or malformed. False keeps whole trials only, and ``notes["import"]`` says so.

    Returns
    -------
    Recording
        Trials in order of appearance within each cell; ``notes["import"]`` says what was read and what was done.

    Raises
    ------
    TraceFormatError
        Cut off, malformed, or of no known format; names file, byte and line.
    ParameterError
        A label, a format or a redaction rule is impossible.
    NotFoundError
        There is no such file.

    Examples
    --------
    >>> talk = [{"role": "user", "content": "Pay it"}, {"role": "assistant", "tool_calls": [
    ...     {"id": "c1", "function": {"name": "pay", "arguments": '{"amount": 12.50}'}}]},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "done"}]
    >>> read_traces(talk, format="openai", arm="v2", task="INV-1").steps["arguments"].dropna().tolist()
    ['{"amount":12.50}']
    """
    rules = label_rules(arm=arm, task=task, family=family, perturbation=perturbation, labels=labels)
    hidden = redaction(redact)
    sources = [open_source(one, strict=strict) for one in _inputs(source)]
    drafts, about = _drafts(sources, format)
    if failed is not None:
        judge(drafts, failed)
    if hidden is not None:
        about["redaction"] = hidden.apply(drafts)
    if not drafts:
        raise TraceFormatError(
            "no execution of an agent was found", source=sources[0].name,
            mend="A trajectory needs at least one span or message; nothing empty is taken for a run.",
        )  # fmt: skip
    return assemble(drafts, run_id=run_id or _run_id(sources[0]), labels=rules, about=about)


def _inputs(given: object) -> list[object]:
    if isinstance(given, list | tuple) and given and all(isinstance(one, str | Path | Source) for one in given):
        return list(given)
    if isinstance(given, list | tuple) and not given:
        raise ParameterError("read_traces was given an empty list; give at least one file or message")
    return [given]


def _drafts(sources: Sequence[Source], format: str | Reader) -> tuple[list[TrialDraft], dict[str, Any]]:
    """Read every source; neighbours of one format are read together where the format spreads a trace over files."""
    chosen = [_chosen(source, format) for source in sources]
    drafts: list[TrialDraft] = []
    done: set[str] = set()
    for source, (reader, _) in zip(sources, chosen, strict=True):
        if reader.together is None:
            drafts += reader.read(source, reader)
        elif reader.name not in done:
            done.add(reader.name)
            drafts += reader.together(
                [s for s, (r, _) in zip(sources, chosen, strict=True) if r.name == reader.name], reader
            )
    about: dict[str, Any] = {
        "files": [
            {"name": s.name, "digest": s.digest, "format": r.name, "columns": r.version, "why": why}
            for s, (r, why) in zip(sources, chosen, strict=True)
        ],
        "format": ", ".join(dict.fromkeys(reader.name for reader, _ in chosen)),
        "left_out": [str(error) for source in sources for error in source.broken],
    }
    return drafts, about


def _chosen(source: Source, format: str | Reader) -> tuple[Reader, str]:
    if isinstance(format, Reader):
        return format, "given"
    return detect(source) if format == "auto" else (reader_of(format), "named")


def judge(drafts: Sequence[TrialDraft], failed: Callable[[Any], bool]) -> None:
    """Mark calls as failed whose result a rule reads as the report of a failure, and say how many."""
    for draft in drafts:
        changed = 0
        for step in draft.steps:
            if step.kind != "tool_call" or step.status != "ok":
                continue
            verdict = failed(step.result)
            if not isinstance(verdict, bool):
                raise ParameterError(f"failed(result) must return True or False; found {verdict!r} in {draft.source}")
            if verdict:
                step.status, step.error_type = "failed", step.error_type or "reported"
                changed += 1
        if changed:
            draft.said.append(f"{changed} calls are failed because the given rule read a failure in their result")


def _run_id(source: Source) -> str:
    stem = source.name
    for ending in (".gz", ".jsonl", ".json", ".pb", ".eval"):
        stem = stem.removesuffix(ending)
    return stem.strip("()").replace("/", "_") or "imported"
