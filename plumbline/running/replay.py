"""Recorded decisions, issued again: what was asked comes from the record, what came back comes from the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.running.stops import HarnessError, NoResponseError
from plumbline.running.system import Agent, Task, TrialKey
from plumbline.running.toolbox import Toolbox

__all__ = ["Decision", "ReplayArm", "replay"]

_KINDS = ("tool_call", "decision", "blocked", "message")


@dataclass(frozen=True)
class Decision:
    """One recorded act of an agent.

    Parameters
    ----------
    name : str
        Tool or decision; for a message, its text.
    arguments : mapping
        JSON values by name.
    kind : str
        ``tool_call``, ``decision``, ``blocked`` (a call that a guard refused) or ``message``.
    group : int, optional
        Parallel calls of one turn share it.
    evidence : str, optional
        Where the arguments come from when they were not recorded directly.
    result : object, optional
        What a decision resulted in, or the reason of a refusal. A tool call has none: its result comes from the tool.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    kind: str = field(default="tool_call", kw_only=True)
    group: int | None = field(default=None, kw_only=True)
    evidence: str | None = field(default=None, kw_only=True)
    result: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ParameterError(f"a decision's kind is one of {', '.join(_KINDS)}; found {self.kind!r}")
        if self.kind == "tool_call" and self.result is not None:
            raise ParameterError(f"tool call {self.name!r} may not bring a result; results come from the tools")

    def issue(self, toolbox: Toolbox) -> None:
        """Do it again; a tool that fails is a step like any other."""
        if self.kind == "decision":
            toolbox.decide(self.name, self.arguments, self.result, evidence=self.evidence)
        elif self.kind == "blocked":
            toolbox.block(self.name, self.arguments, str(self.result or "refused"), group=self.group)
        elif self.kind == "message":
            toolbox.say(self.name)
        else:
            try:
                toolbox.call(self.name, self.arguments, group=self.group, evidence=self.evidence)
            except ToolError:
                return  # the recorded agent went on to its next decision, and so does this one


def replay(
    steps: Sequence[Decision | tuple[str, Mapping[str, Any]]],
    *,
    final: str | None = None,
    stop: HarnessError | None = None,
) -> Agent:
    """Make an agent that issues recorded decisions again, against the real tools.

    Parameters
    ----------
    steps : sequence of Decision or (name, arguments)
        What was asked, in order.
    final : str, optional
        Last words on record; without them no final step is made.
    stop : HarnessError, optional
        What ended the record early, such as ``NoResponseError``; it is raised after the last decision.

    Returns
    -------
    Agent
        Results, errors and the outcome of its trial come from the tools and the system of record.

    Raises
    ------
    ParameterError
        Both ``final`` and ``stop`` are given, or a step is neither a decision nor a pair.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {}}
    >>> from plumbline.running import Tool
    >>> box = Toolbox([Tool("ping", lambda world: "pong", schema)], None)
    >>> replay([("ping", {})], final="done")(Task("T-1", None), box), box.steps[0]["result"]
    ('done', '"pong"')
    """
    if final is not None and stop is not None:
        raise ParameterError("a record that was stopped has no last words; give final or stop, not both")
    decisions = [_decision(step) for step in steps]

    def agent(task: Task, toolbox: Toolbox) -> str | None:
        for decision in decisions:
            decision.issue(toolbox)
        if stop is not None:
            raise stop
        return final

    return agent


def _decision(step: Decision | tuple[str, Mapping[str, Any]]) -> Decision:
    if isinstance(step, Decision):
        return step
    if isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) and isinstance(step[1], Mapping):
        return Decision(*step)
    raise ParameterError(f"a recorded step is a Decision or a pair (name, arguments); found {step!r}")


@dataclass(frozen=True)
class ReplayArm:
    """An arm whose every trial issues its own recorded decisions.

    Parameters
    ----------
    agents : mapping of str to Agent
        Trial id to the agent that ``replay`` made of its record. A trial without one ends as ``no_response``.
    """

    agents: Mapping[str, Agent]

    def for_trial(self, key: TrialKey) -> Agent:
        """Return the recorded agent of a trial."""
        missing = NoResponseError(f"no recorded decisions for trial {key.trial_id}")
        return self.agents.get(key.trial_id) or replay([], stop=missing)

    def __call__(self, task: Task, toolbox: Toolbox, /) -> str | None:
        """Refuse: without its key a trial cannot find its record."""
        raise HarnessError("a ReplayArm needs the trial's key; run it through run_trial or run_plan")
