"""The arms: an executor with a fixed procedure, a free-form agent, and one that a deterministic layer guards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.domains.accounts_payable.guarding import payment_guard
from plumbline.domains.accounts_payable.procedure import handle
from plumbline.domains.accounts_payable.prompts import (
    CHOICE_EXAMPLE,
    INTERPRET_SYSTEM,
    INTERPRETATION_SCHEMA,
    POLICY_PROSE,
    interpretation_prompt,
)
from plumbline.running import PlannedAgent, Question, ReactAgent, Task, named_by_task, planned_agent
from plumbline.running.clients import ModelClient

__all__ = ["ARMS", "guarded", "plan_execute", "react"]

_QUESTION = Question(INTERPRET_SYSTEM, interpretation_prompt, INTERPRETATION_SCHEMA)


def plan_execute(
    *, max_retries: int = 3, interpret: Callable[[Task], str] = named_by_task, client: ModelClient | None = None,
    model: str | None = None, structured: bool = False, settings: Mapping[str, Any] | None = None,
) -> PlannedAgent:  # fmt: skip
    """Make the executor: understand the request once, then follow the reference procedure.

    Parameters and errors are those of ``plumbline.running.planned_agent``.
    """
    return planned_agent(
        handle, _QUESTION, max_retries=max_retries, interpret=interpret, client=client, model=model,
        structured=structured, settings=settings,
    )  # fmt: skip


def react(
    *, client: ModelClient | None = None, model: str | None = None, structured: bool = False, max_turns: int = 24,
    settings: Mapping[str, Any] | None = None, guard: Any = None,
) -> ReactAgent:  # fmt: skip
    """Make the free-form arm: a model that is told the policy and calls the tools.

    Parameters
    ----------
    client : ModelClient
        Decides.
    model : str
        Model to ask.
    structured : bool
        One call at a time as JSON under a schema, for models that do not call tools by themselves.
    max_turns : int
        Questions at most in one trial.
    settings : mapping, optional
        Sampling settings; by default answers of at most 1,024 tokens.
    guard : callable, optional
        See ``plumbline.running.ReactAgent``.

    Raises
    ------
    ParameterError
        There is no client or no model.
    """
    if client is None or not model:
        raise ParameterError("this arm needs a model to ask: give client= and model=")
    return ReactAgent(
        client, model, system=POLICY_PROSE, max_turns=max_turns, guard=guard, structured=structured,
        example=CHOICE_EXAMPLE if structured else "", settings=dict(settings or {"max_tokens": 1024}),
    )  # fmt: skip


_CHOICE = {"max_tokens": 128}
ARMS: Mapping[str, Callable[..., Any]] = {
    "plan_execute": plan_execute,
    "plan_execute_once": functools.partial(plan_execute, max_retries=0),
    "react": react,
    "guarded": functools.partial(react, guard=payment_guard),
    "plan_execute_schema": functools.partial(plan_execute, structured=True),
    "react_choice": functools.partial(react, structured=True, settings=_CHOICE),
    "guarded_choice": functools.partial(react, structured=True, settings=_CHOICE, guard=payment_guard),
}
"""What makes the agent of each arm; ``plan_execute_once`` does not repeat a call that failed. The last three hold every
answer to a JSON Schema, for models that do not call tools by themselves."""
guarded = ARMS["guarded"]
