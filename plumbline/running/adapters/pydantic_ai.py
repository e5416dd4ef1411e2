"""pydantic-ai agents: the domain's tools join the agent as a toolset, and every call is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.running.stops import TurnLimitError
from plumbline.running.system import Agent, Task
from plumbline.running.toolbox import Toolbox

__all__ = ["pydantic_ai_agent"]


def pydantic_ai_agent(agent: Any, *, deps: Callable[[Task], Any] | None = None, request_limit: int = 25) -> Agent:
    """Make a recordable agent of a pydantic-ai ``Agent``.

    Parameters
    ----------
    agent : pydantic_ai.Agent
        As it is; the domain's tools are given to each of its runs. Tools of its own run too, but outside the record.
    deps : callable, optional
        ``deps(task)`` gives the dependencies of a run.
    request_limit : int
        Requests to the model at most; more end the trial as ``agent_error`` with its steps kept.

    Returns
    -------
    Agent
        Every tool call is a step with the framework's call id; calls of one answer share a group. A tool's error goes
        to the model as the tool's answer.

    Raises
    ------
    ImportError
        When it runs without ``pydantic-ai-slim``.
    """

    async def recorded(task: Task, toolbox: Toolbox, /) -> str:
        from pydantic_ai.exceptions import UsageLimitExceeded
        from pydantic_ai.usage import RunUsage, UsageLimits

        usage = RunUsage()
        try:
            result = await agent.run(
                task.prompt or "", toolsets=[_toolset(toolbox)], deps=None if deps is None else deps(task), usage=usage,
                usage_limits=UsageLimits(request_limit=request_limit),
            )  # fmt: skip
        except UsageLimitExceeded as error:
            raise TurnLimitError(str(error)) from error
        finally:
            toolbox.used(tokens_in=usage.input_tokens, tokens_out=usage.output_tokens)
        return str(result.output)

    return recorded


def _toolset(toolbox: Toolbox) -> Any:
    from pydantic_ai import Tool
    from pydantic_ai.toolsets import FunctionToolset

    turns: dict[int, int] = {}

    def recorder(name: str) -> Any:
        async def call(ctx: Any, **arguments: Any) -> str:
            group = turns.setdefault(ctx.run_step, len(turns))
            try:
                return toolbox.write(
                    toolbox.call(
                        name, arguments, group=group, call_id=ctx.tool_call_id, parallel=_asked_together(ctx.messages)
                    )
                )
            except ToolError as error:
                return f"error: {error}"

        return call

    return FunctionToolset(
        [
            Tool.from_schema(
                recorder(tool.name), name=tool.name, description=tool.description or tool.name,
                json_schema=dict(tool.parameters), takes_ctx=True,
            )
            for tool in toolbox.offered
        ]
    )  # fmt: skip


def _asked_together(messages: Any) -> int:
    """Return how many calls the last answer of the model asked for."""
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return max(1, sum(isinstance(part, ToolCallPart) for part in message.parts))
    return 1
