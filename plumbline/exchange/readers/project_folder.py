"""Run folders of the original project: ``trajectories.jsonl`` in completion order and ``ledger_states.json``.

The original records neither planned nor delivered faults. A trial of its ``tool_fault`` perturbation is taken to have
met the fault if one of its calls failed with one of the three injected errors; which tool was planned follows from the
variant's number, as published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plumbline.base.schema import KINDS
from plumbline.exchange.arguments import read_arguments, read_result
from plumbline.exchange.drafts import NOT_RECORDED, Labels, StepDraft, TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.texts import recorded, shown, whole_number
from plumbline.exchange.readers.turns import storable
from plumbline.exchange.source import Source, open_source

__all__ = ["READER"]

_TRAJECTORIES, _LEDGERS = "trajectories.jsonl", "ledger_states.json"
_COLUMNS = (
    Column("trial_id", ("trial_id",), required=True, doc="arm/task/perturbation/variant/repetition"),
    Column("steps", ("steps",), required=True, doc="in order"),
    Column("prompt", ("task_input",)),
    Column("final_output", ("final_output",)),
    Column("error", ("error",), doc="of a trajectory: what stopped it; of a step: why it failed"),
    Column("model", ("model",)),
    Column("latency_ms", ("latency_ms",)),
    Column("tokens_in", ("tokens_in",)),
    Column("tokens_out", ("tokens_out",)),
    Column("cost_usd", ("cost_usd",)),
    Column("kind", ("kind",), required=True, doc="of a step"),
    Column("name", ("name",), doc="of a step"),
    Column("arguments", ("args",), doc="of a step"),
    Column("result", ("output",), doc="of a step"),
)
_STEP_KEYS = {"kind", "name", "args", "output", "error", "index", "latency_ms", "tokens_in", "tokens_out"}
_RECORD_KEYS = {
    "trial_id", "perturbation", "variant_id", "arm", "task_id", "steps", "final_output", "task_input", "error", "model",
    "seed", "latency_ms", "tokens_in", "tokens_out", "cost_usd",
}  # fmt: skip
_SPOKEN = ("message", "thought", "final")
_FAULT = "tool_fault"
_PLANNED = ("match_purchase_order", "check_duplicate", "check_vendor_status")
_INJECTED = (("http_503", "503"), ("http_429", "429"), ("connection_reset", "connection reset"))
_REFUSED = re.compile(
    r"(Offline|API|RateLimit|Overloaded|BadRequest|Authentication|PermissionDenied|Connection|Timeout|InternalServer|"
    r"ServiceUnavailable|NoResponse)\w*:"
)
"""How the error of a trial begins when nobody answered for the model."""


def _sniff(source: Source) -> str | None:
    if source.is_folder:
        found = source.path is not None and (source.path / _TRAJECTORIES).is_file()
        return f"a folder with {_TRAJECTORIES}" if found else None
    value = source.peek()
    known = isinstance(value, Mapping) and {"trial_id", "variant_id", "arm", "steps"} <= value.keys()
    return "records with trial_id, variant_id, arm and steps" if known else None


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    folder = source.path if source.is_folder else source.path.parent if source.path is not None else None
    records = source
    if folder is not None and source.is_folder:
        records = open_source(folder / _TRAJECTORIES, strict=source.strict)
    ledgers = _ledgers(folder, source)
    beside = sorted(p.name for p in folder.iterdir() if p.is_file()) if folder is not None and source.is_folder else []
    ignored = [name for name in beside if name not in (_TRAJECTORIES, _LEDGERS)]
    said = [f"{_TRAJECTORIES} and {_LEDGERS} were read; not {', '.join(ignored)}"] if ignored else []
    drafts = [_trial(records, number, offset, value, ledgers, reader) for offset, number, value in records.records()]
    if records is not source:
        said += [f"left out: {error}" for error in records.broken]
    for draft in drafts:
        draft.said += said
    return drafts


def _ledgers(folder: Path | None, source: Source) -> Mapping[str, Any] | None:
    """Return the end state of each trial, None if there is no such file."""
    if folder is None or not (folder / _LEDGERS).is_file():
        return None
    file = open_source(folder / _LEDGERS, strict=True)
    states = file.json()
    if not isinstance(states, Mapping) or not all(isinstance(state, Mapping) for state in states.values()):
        raise file.fault("end states are an object of objects, by trial id", mend="Mend or remove the file.")
    return states


def _trial(
    source: Source, line: int, byte: int, record: Any, ledgers: Mapping[str, Any] | None, reader: Reader
) -> TrialDraft:
    if not isinstance(record, Mapping) or not isinstance(record.get("steps"), list):
        raise source.fault("a trajectory is an object with steps", byte=byte, line=line)
    labels = _labels(source, line, byte, record, reader)
    name = str(reader.find("trial_id", record))
    steps, unread = [], []
    for position, given in enumerate(record["steps"]):
        step = _step(given, reader)
        if step is None:
            unread.append(f"step {position}: {shown(given)}")
        else:
            steps.append(step)
    status, error = _ending(recorded(reader.find("error", record)), steps)
    answered = status in ("completed", "agent_error")
    said = [] if ledgers is None or name in ledgers else ["there is no end state on record"]
    state = None if ledgers is None else ledgers.get(name)
    outcome = None if state is None else storable(state, "outcome", unread)
    draft = TrialDraft(
        source=f"{source.name} line {line}", labels=labels, steps=steps, status=status, error=error,
        outcome=outcome, unread=unread, said=said,
        prompt=_text(reader.find("prompt", record)), final_output=_text(reader.find("final_output", record)) or None,
        model=_text(reader.find("model", record)), latency_ms=_number(reader.find("latency_ms", record)),
        cost_usd=_number(reader.find("cost_usd", record)),
        tokens_in=whole_number(reader.find("tokens_in", record)) if answered else None,
        tokens_out=whole_number(reader.find("tokens_out", record)) if answered else None,
        attributes={"trace_id": name, "seed": record.get("seed"), "line": line}, order_evidence="file",
    )  # fmt: skip
    _expose(draft)
    for key, value in record.items():
        if key not in _RECORD_KEYS and value not in (None, {}, [], ""):
            draft.unread.append(f"{key}: {shown(value)}")
    return draft


def _labels(source: Source, line: int, byte: int, record: Mapping[str, Any], reader: Reader) -> Labels:
    name = reader.find("trial_id", record)
    parts = name.split("/") if isinstance(name, str) else []
    if len(parts) != 5 or not parts[4].isdecimal() or not all(parts):
        raise source.fault(
            f"trial id {shown(recorded(name))}", byte=byte, line=line,
            mend="It is arm/task/perturbation/variant/repetition, the last a whole number.",
        )  # fmt: skip
    arm, task, perturbation, variant, repetition = parts
    spelled = {"arm": arm, "task_id": task, "perturbation": perturbation, "variant_id": f"{perturbation}/{variant}"}
    for key, value in spelled.items():
        if key in record and record[key] != value:
            raise source.fault(
                f"trial id {name!r} says {key} {value!r}, the record says {shown(record[key])}", byte=byte, line=line
            )
    return Labels(
        arm=arm, task=task, family=task, perturbation=perturbation, variant=variant, repetition=int(repetition)
    )


def _step(given: Any, reader: Reader) -> StepDraft | None:
    kind = reader.find("kind", given) if isinstance(given, Mapping) else None
    name = _text(reader.find("name", given)) if isinstance(given, Mapping) else None
    if kind not in KINDS or (kind == "tool_call" and not name):
        return None
    error = recorded(reader.find("error", given))
    arguments, result = read_arguments(reader.find("arguments", given)), read_result(reader.find("result", given))
    if kind in _SPOKEN and arguments == {}:
        arguments = NOT_RECORDED  # the original's default of a field that these steps do not have
    if error is not None and result is None:
        result = NOT_RECORDED
    step = StepDraft(kind=str(kind), name=name, arguments=arguments, result=result)
    if error is not None:
        step.status, step.error = "failed", _text(error) or shown(error)
    # the original writes 0 where it did not count
    step.tokens_in, step.tokens_out = (whole_number(given.get(key)) or None for key in ("tokens_in", "tokens_out"))
    step.unread = [f"{key}: {shown(given[key])}" for key in sorted(given.keys() - _STEP_KEYS) if given[key] is not None]
    if kind == "decision" and name is not None and name.startswith("blocked:"):  # how the original records a veto
        step.kind, step.name, step.status = "tool_call", name.removeprefix("blocked:"), "blocked"
        step.error = step.error or _text(step.result)
    return step


def _ending(error: Any, steps: list[StepDraft]) -> tuple[str, str | None]:
    """Return status and error; only a trial with steps was stopped by what its agent did (its turns ran out)."""
    if error is None:
        return "completed", None
    words = error if isinstance(error, str) else shown(error)
    if "budget" in words.split(":")[0].lower():
        return "budget_stop", words
    if steps:
        return "agent_error", words
    return ("no_response" if _REFUSED.match(words) else "harness_error"), words


def _expose(draft: TrialDraft) -> None:
    """Say whether a planned fault was met, from the calls that failed."""
    if draft.labels.perturbation != _FAULT:
        return
    count: dict[str | None, int] = {}
    for step in draft.steps:
        if step.kind != "tool_call":
            continue
        count[step.name] = count.get(step.name, 0) + 1
        met = next((kind for kind, words in _INJECTED if step.status == "failed" and words in (step.error or "")), None)
        if met is not None:
            draft.exposure = "delivered"
            draft.fault = {"tool": ascii(step.name)[1:-1], "error": met, "on_call": count[step.name], "times": 1}
            return
    draft.exposure = "not_delivered"
    variant = draft.labels.variant or ""
    if variant.isdecimal():
        place = int(variant) % len(_PLANNED)
        draft.fault = {"tool": _PLANNED[place], "error": _INJECTED[place][0], "on_call": 1, "times": 1}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    try:
        return None if value is NOT_RECORDED or value is None or isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


READER = Reader("project_folder", "Run folders of the original project", _COLUMNS, _sniff, _read)
