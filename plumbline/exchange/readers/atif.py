"""ATIF trajectories: one file each, a list of them, or one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plumbline.exchange.drafts import TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.atif_turns import ATIF_COLUMNS, atif_turns, spent
from plumbline.exchange.readers.conversations import LABELS, labels_of
from plumbline.exchange.readers.texts import recorded, shown
from plumbline.exchange.source import Source

__all__ = ["READER"]

_OWN = (
    Column("trace_id", ("session_id", "trajectory_id"), doc="id of the run"),
    Column("arm", ("extra.arm", "agent.name"), doc="the agent system"),
    Column("task", ("extra.task", "extra.task_id", "extra.task_name"), doc="outside the standard"),
    Column("model", ("agent.model_name",), doc="model that decided"),
)
_COLUMNS = (*_OWN, *(column for column in LABELS if column.field not in {own.field for own in _OWN}), *ATIF_COLUMNS)
_PLACED = ("steps", "final_metrics", "subagent_trajectories")


def _is_trajectory(value: Any) -> bool:
    return isinstance(value, Mapping) and str(value.get("schema_version")).startswith("ATIF-v1")


def _sniff(source: Source) -> str | None:
    value = None if source.is_folder else source.peek()
    if isinstance(value, list) and value:
        value = value[0]
    return f"schema_version {value['schema_version']}" if isinstance(value, Mapping) and _is_trajectory(value) else None


def _trajectories(source: Source) -> Iterator[tuple[str, Any]]:
    if source.is_lines:
        for _, number, value in source.records():
            yield f"{source.name} line {number}", value
        return
    value = source.json()
    if isinstance(value, list):
        yield from ((f"{source.name} item {place}", item) for place, item in enumerate(value))
    else:
        yield source.name, value


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    drafts = []
    for where, trajectory in _trajectories(source):
        if not _is_trajectory(trajectory) or not isinstance(trajectory.get("steps"), list):
            found = shown(trajectory.get("schema_version")) if isinstance(trajectory, Mapping) else "no object"
            raise source.fault(
                f"{where} is no ATIF trajectory (schema_version {found})",
                mend="A trajectory has schema_version ATIF-v1.0 to ATIF-v1.8 and a list of steps.",
            )
        talk = atif_turns(trajectory, find=reader.find)
        fields = labels_of(trajectory, reader.find, placed=_PLACED) | spent(trajectory)
        if (more := trajectory.get("continued_trajectory_ref")) is not None:
            fields["said"] = [*fields["said"], f"the run goes on in {shown(more)}, which was not read with it"]
        drafts.append(talk.trial(where, started_at=_start(trajectory), **fields))
    return drafts


def _start(trajectory: Mapping[str, Any]) -> str | None:
    times = [recorded(s.get("timestamp")) for s in trajectory["steps"] if isinstance(s, Mapping)]
    return next((time for time in times if isinstance(time, str)), None)


READER = Reader("atif", "ATIF trajectories", _COLUMNS, _sniff, _read)
