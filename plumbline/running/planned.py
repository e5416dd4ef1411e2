"""An agent that understands a request once, then follows a fixed procedure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.running.asking import Conversation
from plumbline.running.clients import ModelClient
from plumbline.running.describing import describe, digest
from plumbline.running.given import parse_arguments
from plumbline.running.stops import HarnessError
from plumbline.running.system import Agent, Task, TrialKey
from plumbline.running.toolbox import Toolbox

__all__ = ["SHORT", "PlannedAgent", "Question", "named_by_task", "planned_agent"]

SHORT: Mapping[str, Any] = {"max_tokens": 64}
"""Sampling settings of the one question."""


def named_by_task(task: Task) -> str:
    """Return the task's own document, as if the request had been understood."""
    return task.id


@dataclass(frozen=True)
class Question:
    """How a model is asked which document a request names.

    Parameters
    ----------
    system : str
        Standing instructions.
    prompt : callable
        ``prompt(request)`` gives the question.
    schema : mapping
        JSON Schema of the answer, an object with ``invoice_id``.
    """

    system: str
    prompt: Callable[[str], str]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class PlannedAgent:
    """Understand the request once, then follow a fixed procedure.

    Parameters
    ----------
    procedure : callable
        ``procedure(toolbox, document_id, max_retries)`` does the work and returns what is reported.
    max_retries : int
        How often a call is repeated after a transient error, 0 or more.
    interpret : callable
        ``interpret(task)`` returns the number of the document the request names; not used with a client.
    question : Question
        How a model is asked for it.
    client : ModelClient, optional
        Reads the request instead.
    model : str, optional
        Model to ask.
    structured : bool
        Ask for JSON under a schema instead of JSON in free text.
    settings : mapping
        Sampling settings.
    """

    procedure: Callable[[Toolbox, str, int], str]
    max_retries: int
    interpret: Callable[[Task], str]
    question: Question
    client: ModelClient | None = None
    model: str | None = None
    structured: bool = False
    settings: Mapping[str, Any] = field(default_factory=lambda: dict(SHORT))

    @property
    def expected_calls(self) -> int:
        """Questions to a model in one trial."""
        return 0 if self.client is None else 1

    @property
    def system(self) -> str:
        """Standing instructions of the model."""
        return "" if self.client is None else self.question.system

    def describe(self) -> dict[str, Any]:
        """Return what decides how it acts."""
        known: dict[str, Any] = {
            "agent": "plan_execute", "max_retries": self.max_retries, "procedure": _procedure(self.procedure),
        }  # fmt: skip
        if self.client is None:
            return known | {"interpret": describe(self.interpret)}
        asked = {"system": self.system, "prompt": self.question.prompt(""), "settings": describe(dict(self.settings))}
        return known | asked | {"model": self.model, "structured": self.structured}

    def for_trial(self, key: TrialKey) -> Agent:
        """Return the agent of one trial, whose question carries the trial's id."""
        if self.client is None:
            return self

        def act(task: Task, toolbox: Toolbox, /) -> str:
            found = self._ask(task, toolbox, key.trial_id)
            toolbox.decide("interpret_request", {"request": task.prompt}, {"invoice_id": found, "operation": "process"})
            if not isinstance(found, str):
                return "The request names no invoice that could be understood; nothing was done."
            return self.procedure(toolbox, found, self.max_retries)

        return act

    def _ask(self, task: Task, toolbox: Toolbox, trial_id: str) -> str | None:
        """Return the number the model read, None if its answer is no such JSON; its words are kept as a message."""
        if self.client is None or self.model is None:
            raise HarnessError("the executor has no model to ask")
        talk = Conversation(
            self.client, toolbox, model=self.model, trial_id=trial_id, system=self.system, settings=self.settings
        )
        talk.say(self.question.prompt(task.prompt or ""))
        reply = talk.ask(schema=dict(self.question.schema) if self.structured else None)
        toolbox.say(reply.text)
        said = parse_arguments(reply.text)
        if isinstance(said, str):  # a base model goes on after its answer
            said = parse_arguments(said.strip().partition("\n")[0])
        found = said.get("invoice_id") if isinstance(said, dict) else None
        return found if isinstance(found, str) and found else None

    def __call__(self, task: Task, toolbox: Toolbox, /) -> str:
        """Do the task without a model."""
        if self.client is not None:
            raise HarnessError("an executor that asks a model needs the trial's key; run it through run_study")
        invoice_id = self.interpret(task)
        understood = {"invoice_id": invoice_id, "operation": "process"}
        toolbox.decide("interpret_request", {"invoice_id": invoice_id}, understood)
        return self.procedure(toolbox, invoice_id, self.max_retries)


def _procedure(procedure: Callable[..., Any]) -> dict[str, Any]:
    """Describe a procedure with all that its module holds: it may be the door to a class beside it."""
    module = inspect.getmodule(procedure)
    try:
        whole = "" if module is None else inspect.getsource(module)
    except OSError:
        whole = ""
    return {**describe(procedure), "module": digest(whole)}


def planned_agent(
    procedure: Callable[[Toolbox, str, int], str], question: Question, *, max_retries: int,
    interpret: Callable[[Task], str], client: ModelClient | None = None, model: str | None = None,
    structured: bool = False, settings: Mapping[str, Any] | None = None,
) -> PlannedAgent:  # fmt: skip
    """Make a planned agent; see ``PlannedAgent``.

    Raises
    ------
    ParameterError
        ``max_retries`` is not a whole number of at least 0, or a client comes without a model.
    """
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
        raise ParameterError(f"max_retries must be a whole number of at least 0; found {max_retries!r}")
    if client is None and structured:
        raise ParameterError("plan_execute asks under a schema only with a client: give client= and model=")
    if client is not None and not model:
        raise ParameterError("plan_execute with a client needs the name of the model: give model=")
    return PlannedAgent(procedure, max_retries, interpret, question, client, model, structured, dict(settings or SHORT))
