"""Trials as bands read them: the answer, the calls that happened, the sub-agents, and which trials belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.traces import Recording

__all__ = ["NO_ANSWER", "Call", "Trial", "fixtures_of", "one_arm"]

NO_ANSWER = object()
"""Stands where an answer is no JSON."""
_TRIALS = (
    "trial_id", "task_id", "perturbation", "variant", "repetition", "status", "prompt", "final_output", "outcome",
    "tokens_in", "tokens_out", "cost_usd", "latency_ms",
)  # fmt: skip
_STEPS = (
    "trial_id", "step", "kind", "name", "arguments", "result", "status", "group", "call_id", "parent_call_id", "agent",
)  # fmt: skip
_HAPPENED = ("ok", "no_result")


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a tool or of an agent."""

    step: int
    name: str
    arguments_text: str | None
    result_text: str | None
    status: str = "ok"
    group: int | None = None
    call_id: str | None = None

    @cached_property
    def arguments(self) -> Any:
        """Arguments as values; None if they were not recorded."""
        return None if self.arguments_text is None else parse_json(self.arguments_text)

    @cached_property
    def result(self) -> Any:
        """The result as values; text that is JSON itself is read."""
        if self.result_text is None:
            return None
        value = parse_json(self.result_text)
        if isinstance(value, str):
            try:
                return parse_json(value)
            except ValueError:
                return value
        return value


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial with what bands measure of it."""

    trial_id: str
    status: str
    prompt: str | None
    final_output: str | None
    outcome: str | None
    tokens: float | None
    cost: float | None
    latency_ms: float | None
    calls: tuple[Call, ...]
    """Calls of tools that happened or may have, by the agent itself."""
    agents: tuple[tuple[Call, str], ...]
    """Calls of agents, each with the name of the tool call before it."""
    children: Mapping[str | None, int]
    """Steps on record within each call, by its id."""
    steps: int

    @property
    def behaved(self) -> bool:
        """Whether the record says something about the agent."""
        return self.status in ("completed", "agent_error")

    @cached_property
    def answer(self) -> Any:
        """The final output as JSON, or ``NO_ANSWER``."""
        return _json(self.final_output)

    @cached_property
    def outcome_value(self) -> Any:
        """The outcome as JSON, or ``NO_ANSWER``."""
        return _json(self.outcome)

    @cached_property
    def path(self) -> tuple[tuple[str, str | None], ...]:
        """Names and arguments of the calls."""
        return tuple((call.name, call.arguments_text) for call in self.calls)


def _json(text: str | None) -> Any:
    if text is None:
        return NO_ANSWER
    try:
        return parse_json(text)
    except ValueError:
        return NO_ANSWER


def one_arm(recording: Recording, arm: str | None, what: str) -> str:
    """Return the arm that is meant: the one named, else the only one.

    Raises
    ------
    ParameterError
        No such arm, or several and none was named.
    """
    arms = recording.arms
    if arm is not None:
        if arm not in arms:
            raise ParameterError(f"{what} {recording.run_id!r} has no arm {arm!r}; it has {', '.join(arms)}")
        return arm
    if len(arms) != 1:
        raise ParameterError(f"{what} {recording.run_id!r} has the arms {', '.join(arms)}; name one")
    return arms[0]


def fixtures_of(recording: Recording, arm: str) -> tuple[dict[str, list[Trial]], dict[str, str]]:
    """Return the trials of an arm by fixture, in order of repetition, and the task of each fixture.

    A fixture is a task; where a run holds several perturbations or variants it is ``task/perturbation/variant``.
    """
    rows = recording.trials
    plain = rows["perturbation"].nunique() <= 1 and rows["variant"].nunique() <= 1
    mine = rows[rows["arm"] == arm].sort_values("repetition", kind="stable")
    steps = recording.steps
    columns = {name: _listed(steps[name]) for name in _STEPS}
    of_trial: dict[str, list[int]] = {}
    for at, trial in enumerate(columns["trial_id"]):
        of_trial.setdefault(trial, []).append(at)
    found: dict[str, list[Trial]] = {}
    tasks: dict[str, str] = {}
    for values in zip(*(_listed(mine[name]) for name in _TRIALS), strict=True):
        row: dict[str, Any] = dict(zip(_TRIALS, values, strict=True))
        fixture = row["task_id"] if plain else f"{row['task_id']}/{row['perturbation']}/{row['variant']}"
        found.setdefault(fixture, []).append(_trial(row, of_trial.get(row["trial_id"], []), columns))
        tasks[fixture] = row["task_id"]
    return found, tasks


def _listed(column: Any) -> list[Any]:
    return column.astype(object).where(column.notna(), None).tolist()


def _trial(row: Mapping[str, Any], rows: list[int], columns: Mapping[str, list[Any]]) -> Trial:
    calls: list[Call] = []
    agents: list[tuple[Call, str]] = []
    children: dict[str | None, int] = {}
    before = ""
    for at in rows:
        kind, parent = columns["kind"][at], columns["parent_call_id"][at]
        if parent is not None:
            children[parent] = children.get(parent, 0) + 1
        if kind not in ("tool_call", "agent_call") or columns["status"][at] not in _HAPPENED or parent is not None:
            continue
        call = Call(
            int(columns["step"][at]), columns["name"][at] or "", columns["arguments"][at], columns["result"][at],
            columns["status"][at], columns["group"][at], columns["call_id"][at],
        )  # fmt: skip
        if kind == "agent_call":
            agents.append((call, before))
        else:
            calls.append(call)
            before = call.name
    used = [row[name] for name in ("tokens_in", "tokens_out") if row[name] is not None]
    return Trial(
        trial_id=row["trial_id"],
        status=row["status"],
        prompt=row["prompt"],
        final_output=row["final_output"],
        outcome=row["outcome"],
        tokens=float(sum(used)) if used else None,
        cost=row["cost_usd"],
        latency_ms=row["latency_ms"],
        calls=tuple(calls),
        agents=tuple(agents),
        children=children,
        steps=len(rows),
    )
