"""tau-bench result files: tasks x trials, with the ground-truth calls of each task and the reward of each trial.

A run that the benchmark could not carry out is written there with reward 0, an ``error`` and no messages. It says
nothing of the agent and is read as such, not as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import Labels, TrialDraft
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.readers.conversations import find_in
from plumbline.exchange.readers.openai_turns import CHAT_COLUMNS, chat_turns
from plumbline.exchange.readers.texts import recorded, shown, whole_number
from plumbline.exchange.readers.turns import Conversation, Failed
from plumbline.exchange.source import Source

__all__ = ["READER", "reported_error"]

_OWN = (
    Column("task", ("task_id",), required=True, doc="number of the task"),
    Column("repetition", ("trial",), required=True, doc="which of the trials of the task"),
    Column("outcome", ("reward",), required=True, doc="1 if the database and what the user was told are right, else 0"),
    Column("messages", ("traj",), required=True, doc="chat messages, the simulated user's too"),
    Column("truth", ("info.task",), doc="the task: instruction, user and the calls that should be made"),
    Column("score", ("info.reward_info",), doc="what the reward is made of"),
    Column("error", ("info.error",), doc="what stopped the benchmark"),
    Column("user_cost", ("info.user_cost",), doc="US dollars for the simulated user"),
)
_COLUMNS = (*_OWN, *CHAT_COLUMNS)
_FIND = find_in(_COLUMNS)
_ERROR = re.compile(r"(?:Error: |Unknown action )")
_TOLD = ("user_id", "actions", "instruction", "outputs")


def reported_error(result: Any) -> Failed | None:
    """Take a result that begins as the benchmark's tools begin a refusal for the report of a failure.

    Examples
    --------
    >>> reported_error("Error: gift card balance is not enough")
    Failed(error_type='refused', error='gift card balance is not enough')
    """
    if not isinstance(result, str) or _ERROR.match(result) is None:
        return None
    return Failed("refused", result.removeprefix("Error: "))


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_FIND(c.field, value) is not _MISSING for c in _OWN if c.required)


_MISSING = _FIND("task", {})


def _sniff(source: Source) -> str | None:
    value = None if source.is_folder else source.peek()
    first = value[0] if isinstance(value, list) and value else value
    return "records with task_id, trial, reward and traj" if _is_record(first) else None


def _read(source: Source, reader: Reader) -> list[TrialDraft]:
    if source.is_lines:
        records = [(f"{source.name} line {number}", value) for _, number, value in source.records()]
    else:
        value = source.json()
        found = value if isinstance(value, list) else [value]
        records = [(f"{source.name} record {place}", record) for place, record in enumerate(found)]
    return [_trial(source, where, record, reader) for where, record in records]


def _trial(source: Source, where: str, record: Any, reader: Reader) -> TrialDraft:
    if not isinstance(record, Mapping):
        raise source.fault(f"{where} is no record but {shown(record)[:80]}", mend="A record is an object with traj.")
    for column in reader.columns:
        if column.required and reader.find(column.field, record) is _MISSING:
            raise source.fault(
                f"{where} has no {column.field} ({column.doc}); it has {sorted(map(str, record))[:12]}",
                mend="Name where it stands with reader_of('tau_bench').with_columns(Column(…)).",
            )
    task, repetition = reader.find("task", record), whole_number(reader.find("repetition", record))
    if isinstance(task, bool) or not isinstance(task, int | str) or repetition is None or repetition < 0:
        raise source.fault(f"{where}: task {shown(task)}, trial {shown(record.get('trial'))}; both are whole numbers")
    messages = reader.find("messages", record)
    if not isinstance(messages, list):
        raise source.fault(f"{where}: traj is {shown(messages)[:80]}, not a list of messages")
    talk = chat_turns(messages, failure=reported_error, find=reader.find)
    labels = Labels(task=str(task), repetition=repetition)
    return _with_outcome(talk, where, record, reader, labels)


def _with_outcome(
    talk: Conversation, where: str, record: Mapping[str, Any], reader: Reader, labels: Labels
) -> TrialDraft:
    stopped = recorded(reader.find("error", record))
    score = reader.find("score", record)
    cost = recorded(reader.find("user_cost", record))
    outcome = {"reward": reader.find("outcome", record)}
    if isinstance(score, Mapping) and isinstance(score.get("info"), Mapping):
        outcome |= {key: value for key, value in score["info"].items() if key != "reward"}
    return talk.trial(
        where,
        labels=labels,
        attributes={"trace_id": f"{labels.task}/{labels.repetition}", "user_cost": cost},
        outcome=None if stopped is not None else outcome,
        context=_truth(reader.find("truth", record)),
        status="completed" if stopped is None else "harness_error",
        error=None if stopped is None else stopped if isinstance(stopped, str) else shown(stopped),
    )


def _truth(task: Any) -> dict[str, Any] | None:
    """Return what should have happened: the calls with their arguments, what the user must be told, what was asked."""
    if not isinstance(task, Mapping):
        return None
    truth = {key: task[key] for key in _TOLD if key in task}
    if isinstance(task.get("actions"), list):
        truth["actions"] = [
            {"name": action.get("name"), "arguments": action.get("kwargs", action.get("arguments", {}))}
            for action in task["actions"]
            if isinstance(action, Mapping)
        ]
    return truth


READER = Reader("tau_bench", "tau-bench results", _COLUMNS, _sniff, _read)
