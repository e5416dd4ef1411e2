"""What chat messages did not hold of a run: they are read back, and every column of every row is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.schema import KEYS, STEPS, TRIALS
from plumbline.exchange.assemble import assemble
from plumbline.exchange.readers.openai_chat import READER
from plumbline.exchange.source import Source
from plumbline.traces import Recording

__all__ = ["Loss", "Written", "losses"]

_KEYS = {column.name for column in KEYS}
_STEP_COLUMNS = [c.name for c in STEPS if c.name not in _KEYS and c.name not in ("step", "group")]
_TRIAL_COLUMNS = [c.name for c in TRIALS if c.name not in ("run_id", "provenance")]
_WORDS = {
    "status": "a tool message has no flag for calls that failed or were blocked",
    "kind": "a message is not marked as the final one",
    "call_id": "a call needs an id, so one was made up",
    "arguments": "arguments that are left out mean none, not unknown",
    "parent_call_id": "a call is not within another",
    "agent": "a message has a role, and a name only if it is not the role",
}


@dataclass(frozen=True)
class Loss:
    """One thing the format could not hold.

    Parameters
    ----------
    what : str
        Column, or ``left out``, ``added``, ``moved``, ``group``.
    count : int
        Rows it concerns.
    example : str
        The first of them: trial, step, what was there and what is read back.
    """

    what: str
    count: int
    example: str

    def __str__(self) -> str:
        words = _WORDS.get(self.what.removeprefix("step "))
        return f"{self.what}: {self.count:,} ({words + '; ' if words else ''}for example {self.example})"


class Written(NamedTuple):
    """One trial as written: its row, its steps, and which step each step read back tells (None: added)."""

    trial: Mapping[Any, Any]
    steps: Sequence[Mapping[Any, Any]]
    order: Sequence[int | None]


class _Tally:
    def __init__(self) -> None:
        self.found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, example: str) -> None:
        count, first = self.found.get(what, (0, example))
        self.found[what] = count + 1, first


def losses(
    recording: Recording,
    conversations: Sequence[Mapping[str, Any]],
    written: Sequence[Written],
    left_out: Sequence[str],
) -> list[Loss]:
    """Read conversations back and list what differs from the run they were written from."""
    tally = _Tally()
    for trial in left_out:
        tally.add("trials left out", f"{trial}, ended by the infrastructure")
    if conversations:
        back = assemble(READER.read(Source("written", value=list(conversations)), READER), run_id=recording.run_id)
        trials = {row["trial_id"]: row for row in back.trials.to_dict("records")}
        steps = {name: rows.to_dict("records") for name, rows in back.steps.groupby("trial_id", sort=False)}
        for one in written:
            name = one.trial["trial_id"]
            _trial(tally, one.trial, trials[name])
            _steps(tally, name, one, steps.get(name, []))
        for task in sorted({one.trial["task_id"] for one in written}):
            if canonical_json(dict(recording.tasks.get(task, {}))) != canonical_json(dict(back.tasks.get(task, {}))):
                tally.add("task", f"{task}: {sorted(recording.tasks.get(task, {}))} are recorded of it")
    return [Loss(what, count, example) for what, (count, example) in tally.found.items()]


def _trial(tally: _Tally, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> None:
    for column in _TRIAL_COLUMNS:
        if not _same(before[column], after[column]):
            tally.add(f"trial {column}", f"{before['trial_id']}: {_shown(before[column])} is {_shown(after[column])}")


def _steps(tally: _Tally, name: str, one: Written, back: Sequence[Mapping[Any, Any]]) -> None:
    told = [at for at in one.order if at is not None]
    for lost in sorted(set(range(len(one.steps))) - set(told)):
        kind = one.steps[lost]["kind"]
        tally.add(f"steps left out, {kind}", f"{name} step {lost}, {_shown(one.steps[lost]['name'])}")
    if told != sorted(told):
        tally.add("steps moved", f"{name}: words between calls asked for together stand before them")
    if len(back) != len(one.order):
        tally.add("steps split or merged", f"{name}: {len(one.order)} were written, {len(back)} are read")
        return
    for at, after in zip(one.order, back, strict=True):
        if at is None:
            tally.add("steps added", f"{name}: {_shown(after['result'])}, which only the trial's row held")
            continue
        for column in _STEP_COLUMNS:
            if not _same(one.steps[at][column], after[column]):
                change = f"{_shown(one.steps[at][column])} is {_shown(after[column])}"
                tally.add(f"step {column}", f"{name} step {at}: {change}")
    pairs = [(one.steps[at], after) for at, after in zip(one.order, back, strict=True) if at is not None]
    if _parts([before["group"] for before, _ in pairs]) != _parts([after["group"] for _, after in pairs]):
        tally.add("step group", f"{name}: which calls were asked for together")


def _parts(groups: Sequence[Any]) -> list[int]:
    """Number groups by first appearance; a step without one stands for itself."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(("own", at) if _missing(group) else group, len(seen)) for at, group in enumerate(groups)]


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or bool(value != value)


def _same(before: Any, after: Any) -> bool:
    if _missing(before) or _missing(after):
        return _missing(before) and _missing(after)
    return bool(before == after)


def _shown(value: Any) -> str:
    text = "nothing" if _missing(value) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
