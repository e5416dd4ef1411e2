"""A free-form agent: the model sees the tools and decides every step; a guard may refuse a step before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.running.asking import Conversation
from plumbline.running.clients.protocol import ModelCall, ModelClient, ModelReply
from plumbline.running.describing import describe
from plumbline.running.given import parse_arguments
from plumbline.running.stops import HarnessError, TurnLimitError
from plumbline.running.system import Agent, Task, TrialKey
from plumbline.running.tool import exact
from plumbline.running.toolbox import Toolbox

__all__ = ["Guard", "ReactAgent"]

Guard = Callable[[str, Any, Toolbox], str | None]
"""``guard(tool, arguments, toolbox)`` gives the reason to refuse a call, None to let it through. Arguments that the
model spelt wrongly come as the text that it wrote."""


@dataclass(frozen=True)
class ReactAgent:
    """Let a model call tools until it answers in words.

    Parameters
    ----------
    client : ModelClient
        Who decides.
    model : str
        Model to ask.
    system : str
        Standing instructions.
    max_turns : int
        Questions at most in one trial, at least 1. An agent that needs more ends as ``agent_error`` with its steps.
    settings : mapping
        Sampling settings; by default answers of at most 1,024 tokens.
    guard : callable, optional
        Refuses calls; a refusal is a step of status ``blocked``, and the model is told the reason.
    structured : bool
        Ask for one call at a time as JSON under a schema, for models or servers that do not call tools by themselves.
    example : str
        Conversation shown to the model before the task, in the form that ``structured`` asks for.
    expected_calls : int
        Questions that a trial is expected to need, for the estimate of cost.

    Raises
    ------
    ParameterError
        ``max_turns`` is not a whole number of at least 1, or the model has no name.
    """

    client: ModelClient
    model: str
    system: str = field(default="", kw_only=True)
    max_turns: int = field(default=12, kw_only=True)
    settings: Mapping[str, Any] = field(default_factory=lambda: {"max_tokens": 1024}, kw_only=True)
    guard: Guard | None = field(default=None, kw_only=True)
    structured: bool = field(default=False, kw_only=True)
    example: str = field(default="", kw_only=True)
    expected_calls: int = field(default=7, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.max_turns, bool) or not isinstance(self.max_turns, int) or self.max_turns < 1:
            raise ParameterError(f"max_turns must be a whole number of at least 1; found {self.max_turns!r}")
        if not isinstance(self.model, str) or not self.model:
            raise ParameterError(f"an agent that asks a model needs its name; found {self.model!r}")

    def describe(self) -> dict[str, Any]:
        """Return what decides how it acts; the client only carries."""
        return {
            "agent": "react", "model": self.model, "system": self.system, "max_turns": self.max_turns,
            "settings": exact(dict(self.settings)), "structured": self.structured, "example": self.example,
            "guard": None if self.guard is None else describe(self.guard),
        }  # fmt: skip

    def for_trial(self, key: TrialKey) -> Agent:
        """Return the agent of one trial, whose questions carry the trial's id."""

        def act(task: Task, toolbox: Toolbox, /) -> str:
            return self._act(task, toolbox, key.trial_id)

        return act

    def __call__(self, task: Task, toolbox: Toolbox, /) -> str:
        """Refuse: without its key a question cannot be recorded under its trial."""
        raise HarnessError("a ReactAgent needs the trial's key; run it through run_trial, run_plan or run_study")

    def _act(self, task: Task, toolbox: Toolbox, trial_id: str) -> str:
        tools = [tool.to_dict() for tool in toolbox.offered]
        talk = Conversation(
            self.client, toolbox, model=self.model, trial_id=trial_id, settings=self.settings,
            system=_told(self.system, tools, self.example) if self.structured else self.system,
            tools=() if self.structured else tools,
        )  # fmt: skip
        talk.say(task.prompt or "")
        for _ in range(self.max_turns):
            reply = talk.ask(schema=_schema(toolbox) if self.structured else None)
            if self.structured:
                done = self._structured_turn(reply, toolbox, talk)
            else:
                done = self._turn(reply, toolbox, talk)
            if done is not None:
                return done
        raise TurnLimitError(f"no end after {self.max_turns} turns")

    def _turn(self, reply: ModelReply, toolbox: Toolbox, talk: Conversation) -> str | None:
        if not reply.calls:
            return reply.text
        if reply.text:
            toolbox.say(reply.text)
        group = toolbox.new_group()
        talk.results([(c.id, *self._call(c, toolbox, group, len(reply.calls))) for c in reply.calls])
        return None

    def _structured_turn(self, reply: ModelReply, toolbox: Toolbox, talk: Conversation) -> str | None:
        choice = parse_arguments(reply.text)
        if isinstance(choice, dict) and isinstance(choice.get("answer"), str):
            return str(choice["answer"])
        if not isinstance(choice, dict) or not isinstance(choice.get("tool"), str):
            toolbox.say(reply.text)
            talk.say('That is no choice: answer {"tool": …, "arguments": {…}} or {"answer": …}.')
            return None
        arguments = choice.get("arguments")
        text = arguments if isinstance(arguments, str) else canonical_json(arguments)
        said, wrong = self._call(ModelCall("", choice["tool"], text), toolbox, toolbox.new_group(), 1)
        talk.say(f"{'Error' if wrong else 'Result'} of {choice['tool']}: {said}")
        return None

    def _call(self, call: ModelCall, toolbox: Toolbox, group: int, parallel: int) -> tuple[str, bool]:
        arguments = parse_arguments(call.arguments)
        refused = None if self.guard is None else self.guard(call.name, arguments, toolbox)
        call_id = call.id or None
        if refused is not None:
            toolbox.block(call.name, arguments, refused, group=group, call_id=call_id)
            return f"refused: {refused}", True
        try:
            result = toolbox.call(call.name, arguments, group=group, call_id=call_id, parallel=parallel)
            return toolbox.write(result), False
        except ToolError as error:
            return str(error), True


def _told(system: str, tools: list[dict[str, Any]], example: str) -> str:
    lines = [f"- {t['name']} {canonical_json(exact(t['parameters']))}: {t['description']}" for t in tools]
    told = f"{system}\n\nTools:\n" + "\n".join(lines)
    return f"{told}\n\n{example}" if example else told


def _schema(toolbox: Toolbox) -> dict[str, Any]:
    """Return the JSON Schema of one choice: a call with its arguments, or an answer."""
    calls = [
        {
            "type": "object", "required": ["tool", "arguments"], "additionalProperties": False,
            "properties": {"tool": {"const": tool.name}, "arguments": dict(tool.parameters)},
        }
        for tool in toolbox.offered
    ]  # fmt: skip
    answer = {
        "type": "object", "required": ["answer"], "additionalProperties": False,
        "properties": {"answer": {"type": "string"}},
    }  # fmt: skip
    return {"anyOf": [*calls, answer]}
