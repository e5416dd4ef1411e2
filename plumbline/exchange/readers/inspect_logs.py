"""Inspect logs: ``.json`` as it stands, ``.eval`` through Inspect's own reader where that is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from plumbline.base.errors import TraceFormatError
from plumbline.exchange.drafts import Labels, TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.inspect_turns import sample_turns
from plumbline.exchange.readers.texts import recorded, shown, whole_number
from plumbline.exchange.source import NO_JSON, Source

__all__ = ["READER"]

_COLUMNS = (
    Column("arm", ("eval.metadata.arm", "eval.model"), doc="of the log: the model under test"),
    Column("suite", ("eval.task",), doc="of the log: name of the evaluation"),
    Column("task", ("id",), required=True, doc="of a sample"),
    Column("family", ("metadata.family", "metadata.family_id"), doc="of a sample"),
    Column("perturbation", ("metadata.perturbation",), doc="of a sample"),
    Column("variant", ("metadata.variant",), doc="of a sample"),
    Column("epoch", ("epoch",), required=True, doc="of a sample, from 1"),
    Column("target", ("target",), doc="of a sample: what should come out"),
    Column("scores", ("scores",), doc="of a sample: value of each scorer"),
    Column("error", ("error",), doc="of a sample: what stopped it"),
    Column("limit", ("limit",), doc="of a sample: the limit it ran into"),
)
_ZIP = b"PK\x03\x04"
_BUDGETS = ("token", "cost", "time", "working")
"""Limits that end a trial from outside; running out of turns or context is what the agent did."""


def _sniff(source: Source) -> str | None:
    if source.is_folder:
        return None
    if source.is_object:
        return _why(source.value)
    if source.head.startswith(_ZIP):
        return "a zip archive with the ending .eval" if source.name.endswith(".eval") else None
    found = source.peek()
    return None if found is NO_JSON else _why(found)


def _why(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "an EvalLog object" if hasattr(value, "samples") and hasattr(value, "eval") else None
    head = value.get("eval")
    known = isinstance(head, Mapping) and "model" in head and "task" in head and ("status" in value or "plan" in value)
    return "an object with eval, status and samples" if known else None


def _log(source: Source) -> Mapping[str, Any]:
    value: Any
    if source.is_object and not isinstance(source.value, Mapping):
        dump = getattr(source.value, "model_dump", None)
        value = dump(mode="json", exclude_none=True) if callable(dump) else None
    elif not source.is_object and source.head.startswith(_ZIP):
        value = _through_inspect(source)
    else:
        value = source.json()
    if not isinstance(value, Mapping) or _why(value) is None:
        raise source.fault("this is no Inspect log: it lacks eval.task, eval.model or status")
    if source.broken:
        raise source.broken[0]  # a log is one object: half of it is no log
    return value


def _through_inspect(source: Source) -> Any:
    try:
        read_eval_log = importlib.import_module("inspect_ai.log").read_eval_log
    except ImportError:
        raise TraceFormatError(
            "an .eval log is read through Inspect's own reader, which is not installed", source=source.name,
            mend="Run 'pip install inspect-ai', or convert it: 'inspect log convert FILE --to json --output-dir DIR'.",
        ) from None  # fmt: skip
    if source.path is None:
        raise source.fault("an .eval log is read from its file", mend="Give the path instead of the bytes.")
    try:
        log = read_eval_log(str(source.path))
    except Exception as error:  # whatever their reader makes of a damaged archive
        raise source.fault(f"Inspect cannot read this log ({type(error).__name__}: {error})") from error
    return log.model_dump(mode="json", exclude_none=True)


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    log = _log(source)
    samples = log.get("samples")
    if not isinstance(samples, list):
        raise source.fault(
            f"the log (status {shown(log.get('status'))}) holds no samples",
            mend="It was read without them, or the evaluation ended before the first one.",
        )
    drafts = [_trial(source, place, sample, log, reader) for place, sample in enumerate(samples)]
    if log.get("status") != "success" and drafts:
        drafts[0].said.append(f"the evaluation ended with status {shown(log.get('status'))}; samples may be missing")
    return drafts


def _trial(source: Source, place: int, sample: Any, log: Mapping[str, Any], reader: Reader) -> TrialDraft:
    where = f"{source.name} sample {place}"
    if not isinstance(sample, Mapping):
        raise source.fault(f"{where} is no object")
    task, epoch = recorded(reader.find("task", sample)), whole_number(reader.find("epoch", sample))
    if isinstance(task, bool) or not isinstance(task, int | str) or epoch is None or epoch < 1:
        raise source.fault(f"{where}: id {shown(task)}, epoch {shown(sample.get('epoch'))}; an epoch counts from 1")
    texts = {name: recorded(reader.find(name, sample)) for name in ("family", "perturbation", "variant")}
    arm = reader.find("arm", log)
    labels = Labels(
        arm=arm if isinstance(arm, str) else None, task=str(task), repetition=epoch - 1,
        **{name: value if isinstance(value, str) else None for name, value in texts.items()},
    )  # fmt: skip
    head = log["eval"]
    attributes = {"trace_id": sample.get("uuid"), "eval.task": head.get("task"), "eval.model": head.get("model")}
    metadata = sample.get("metadata")
    attributes |= {f"metadata.{key}": value for key, value in metadata.items()} if isinstance(metadata, Mapping) else {}
    status, error = _ending(reader, sample)
    scores = reader.find("scores", sample)
    outcome = (
        {k: v.get("value") for k, v in scores.items() if isinstance(v, Mapping)} if isinstance(scores, Mapping) else {}
    )
    target = reader.find("target", sample)
    return sample_turns(sample).trial(
        where, labels=labels, attributes=attributes, status=status, error=error, outcome=outcome or None,
        context={"target": target} if recorded(target) is not None else None,
        model=head["model"] if isinstance(head.get("model"), str) else None,
        started_at=_time(sample.get("started_at")), latency_ms=_milliseconds(sample.get("total_time")),
        **_tokens(sample),
    )  # fmt: skip


def _ending(reader: Reader, sample: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return status and error: an exception is the harness's, a limit the agent's or the budget's."""
    error, limit = recorded(reader.find("error", sample)), recorded(reader.find("limit", sample))
    if error is not None:
        words = error.get("message") if isinstance(error, Mapping) else error
        return "harness_error", words if isinstance(words, str) else shown(error)
    if isinstance(limit, Mapping):
        kind = limit.get("type")
        words = f"{kind} limit of {shown(limit.get('limit'))} reached"
        return ("budget_stop" if kind in _BUDGETS else "agent_error"), words
    return "completed", None


def _tokens(sample: Mapping[str, Any]) -> dict[str, Any]:
    usage = sample.get("model_usage")
    each = [use for use in usage.values() if isinstance(use, Mapping)] if isinstance(usage, Mapping) else []
    found: dict[str, Any] = {}
    for name, key in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens")):
        counts = [count for use in each if (count := whole_number(use.get(key))) is not None]
        found[name] = sum(counts) if counts else None
    return found


def _time(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _milliseconds(seconds: Any) -> float | None:
    try:
        return None if seconds is None or isinstance(seconds, bool | str) else float(seconds) * 1000
    except (TypeError, ValueError, OverflowError):
        return None


READER = Reader("inspect", "Inspect logs", _COLUMNS, _sniff, _read)
