"""A run as OpenAI chat conversations, and what these cannot hold, found by reading them back."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.exchange.writers.lost_in_chat import Loss, Written, losses
from plumbline.traces import Recording

__all__ = ["ChatConversations", "to_openai_messages"]

_BEHAVIOUR = ("completed", "agent_error")
_LABELS = {"arm": "arm", "task_id": "task", "family_id": "family", "perturbation": "perturbation", "variant": "variant"}
_ROLES = ("user", "assistant", "system")


@dataclass(frozen=True)
class ChatConversations:
    """Conversations of a run, one a trial, and what was lost in writing them.

    Parameters
    ----------
    conversations : tuple of dict
        ``messages`` in OpenAI's chat format, and beside them the trial's labels, model, outcome and context.
    losses : tuple of Loss
        What a reader of the conversations would not find, or find changed; empty if the format held everything.
    """

    conversations: tuple[dict[str, Any], ...]
    losses: tuple[Loss, ...]

    def to_jsonl(self) -> str:
        """Return one conversation a line."""
        return "".join(canonical_json(conversation) + "\n" for conversation in self.conversations)

    def save(self, path: str | Path) -> Path:
        """Write one conversation a line; a file that stands there is replaced at once or not at all."""
        target = Path(path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(self.to_jsonl())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return target

    def __str__(self) -> str:
        head = f"{len(self.conversations)} conversations in OpenAI's chat format"
        if not self.losses:
            return f"{head}; nothing was lost"
        return "\n".join([f"{head}; it cannot hold:", *(f"  {loss}" for loss in self.losses)])


def to_openai_messages(recording: Recording) -> ChatConversations:
    """Write a run as OpenAI chat conversations.

    Parameters
    ----------
    recording : Recording
        Trials that an infrastructure failure ended are left out: the format could only tell them as conversations that
        came to nothing.

    Returns
    -------
    ChatConversations
        ``read_traces(found.conversations, format="openai")`` reads them back; ``losses`` says what differs then.

    Examples
    --------
    >>> import pandas as pd
    >>> steps = pd.DataFrame({"trial_id": ["a/t/baseline/0/0"], "kind": ["tool_call"], "name": ["pay"],
    ...     "arguments": ['{"amount":12.50}'], "result": ['"done"'], "call_id": ["c1"]})
    >>> run = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), steps, run_id="mine")
    >>> print(to_openai_messages(run))
    1 conversations in OpenAI's chat format; nothing was lost
    """
    steps = dict(iter(recording.steps.groupby("trial_id", sort=False)))
    conversations: list[dict[str, Any]] = []
    written: list[Written] = []
    left_out: list[str] = []
    for trial in recording.trials.to_dict("records"):
        if trial["status"] not in _BEHAVIOUR:
            left_out.append(trial["trial_id"])
            continue
        rows = steps.get(trial["trial_id"])
        scribe = _Scribe(trial, [] if rows is None else rows.to_dict("records"))
        conversations.append(_beside(trial, recording) | {"messages": scribe.messages})
        written.append(Written(trial, scribe.steps, scribe.order))
    return ChatConversations(tuple(conversations), tuple(losses(recording, conversations, written, left_out)))


def _beside(trial: Mapping[Any, Any], recording: Recording) -> dict[str, Any]:
    found: dict[str, Any] = {"trace_id": trial["trial_id"], "repetition": int(trial["repetition"])}
    found |= {label: trial[column] for column, label in _LABELS.items()}
    if _there(trial["model"]):
        found["model"] = trial["model"]
    if _there(trial["outcome"]):
        found["outcome"] = parse_json(trial["outcome"])
    if trial["task_id"] in recording.tasks and "context" in recording.tasks[trial["task_id"]]:
        found["context"] = recording.context(trial["task_id"])
    return found


class _Scribe:
    """Writes the messages of one trial and remembers which step each of them tells."""

    def __init__(self, trial: Mapping[Any, Any], steps: Sequence[Mapping[Any, Any]]) -> None:
        self.steps = steps
        self.messages: list[dict[str, Any]] = []
        self.order: list[int | None] = []
        spoken = [step for step in steps if step["kind"] in ("message", "final") and _there(step["result"])]
        if _there(trial["prompt"]) and not any(step["agent"] == "user" for step in spoken):
            self._add({"role": "user", "content": trial["prompt"]}, None)
        for turn in _turns(steps):
            if steps[turn[0]]["kind"] == "tool_call":
                self._calls(turn)
            else:
                self._words(turn[0])
        if _there(trial["final_output"]) and not any(step["agent"] != "user" for step in spoken):
            self._add({"role": "assistant", "content": trial["final_output"]}, None)

    def _add(self, message: dict[str, Any], *told: int | None) -> None:
        self.messages.append(message)
        self.order += told

    def _words(self, at: int) -> None:
        step = self.steps[at]
        if step["kind"] not in ("message", "thought", "final") or not _there(step["result"]):
            return
        found, who = parse_json(step["result"]), step["agent"]
        role = who if who in _ROLES else "assistant"
        message: dict[str, Any] = {"role": role}
        if step["kind"] == "thought":
            message |= {"content": None, "reasoning_content": found}
        else:
            message["content"] = found if isinstance(found, str) else [found]
        if role != who and _there(who):
            message["name"] = who
        self._add(message, at)

    def _calls(self, turn: Sequence[int]) -> None:
        names = {self.steps[at]["agent"] for at in turn if _there(self.steps[at]["agent"])}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message["tool_calls"] = [
            {"id": self._id(at), "type": "function", "function": self._function(self.steps[at])} for at in turn
        ]
        if len(names) == 1:
            message["name"] = names.pop()
        self._add(message, *turn)
        for at in turn:
            step = self.steps[at]
            if step["status"] != "no_result":
                self._add({"role": "tool", "tool_call_id": self._id(at), "content": _content(step)})

    def _id(self, at: int) -> str:
        found = self.steps[at]["call_id"]
        return str(found) if _there(found) else f"plumbline-call-{at}"

    def _function(self, step: Mapping[Any, Any]) -> dict[str, Any]:
        arguments = step["arguments"] if _there(step["arguments"]) else _as_found(step["unread"])
        return {"name": step["name"], "arguments": arguments}


def _turns(steps: Sequence[Mapping[Any, Any]]) -> Iterator[list[int]]:
    """Give the places of steps told by one message: calls asked for together, else one step each."""
    together: dict[Any, list[int]] = {}
    for at, step in enumerate(steps):
        if step["kind"] == "tool_call" and _there(step["group"]):
            together.setdefault(step["group"], []).append(at)
    last = {group: places[-1] for group, places in together.items()}
    for at, step in enumerate(steps):
        if step["kind"] != "tool_call" or not _there(step["group"]):
            yield [at]
        elif last[step["group"]] == at:
            yield together[step["group"]]


def _as_found(unread: Any) -> str:
    """Return arguments that could not be read, as they were found; empty text where nothing is recorded."""
    for line in str(unread).split("\n") if _there(unread) else ():
        if line.startswith("arguments: "):
            return str(unread)[str(unread).index(line) :].split(": ", 2)[2]
    return ""


def _content(step: Mapping[Any, Any]) -> Any:
    """Return a result as a tool message holds it; a failure without one as an object that says so."""
    if not _there(step["result"]):
        if step["status"] == "ok":
            return None
        failure = {"message": step["error"] if _there(step["error"]) else step["status"]}
        return json.dumps({"error": failure | ({"type": step["error_type"]} if _there(step["error_type"]) else {})})
    found = parse_json(step["result"])
    return found if isinstance(found, str) else step["result"]


def _there(value: Any) -> bool:
    return not (value is None or value is pd.NA or value != value)
