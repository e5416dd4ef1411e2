"""LangGraph and LangChain agents: a graph that is handed LangChain tools is recorded as it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.running.stops import TurnLimitError
from plumbline.running.system import Agent, Task
from plumbline.running.toolbox import Toolbox

__all__ = ["langgraph_agent"]


def langgraph_agent(
    build: Callable[[list[Any]], Any], *, config: Mapping[str, Any] | None = None, recursion_limit: int = 50
) -> Agent:
    """Make a recordable agent of a LangGraph graph.

    Parameters
    ----------
    build : callable
        ``build(tools)`` returns a compiled graph whose state has ``messages``, such as
        ``lambda tools: create_react_agent(model, tools)``. It is called afresh for every trial.
    config : mapping, optional
        Passed to the graph.
    recursion_limit : int
        Supersteps at most; more end the trial as ``agent_error`` with its steps kept.

    Returns
    -------
    Agent
        Every tool call is a step with the framework's call id; calls of one message share a group. Graphs nested in a
        tool are recorded through that tool.

    Raises
    ------
    ImportError
        When it runs without ``langgraph`` and ``langchain-core``.
    """

    async def agent(task: Task, toolbox: Toolbox, /) -> str | None:
        from langgraph.errors import GraphRecursionError

        turns = _Turns(toolbox)
        graph = build(_tools(toolbox, turns))
        settings = {"recursion_limit": recursion_limit, **(config or {})}
        settings["callbacks"] = [*settings.get("callbacks", ()), _listener(turns)]
        try:
            state = await graph.ainvoke({"messages": [("user", task.prompt or "")]}, settings)
        except GraphRecursionError as error:
            raise TurnLimitError(str(error)) from error
        return _last_words(state["messages"])

    return agent


class _Turns:
    """Which calls were asked for in one message."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.groups: dict[str, tuple[int, int]] = {}
        self._next = 0

    def note(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Give the calls of one message a group."""
        group, self._next = self._next, self._next + 1
        for call in calls:
            self.groups[str(call.get("id"))] = (group, len(calls))

    def spend(self, usage: Mapping[str, Any] | None) -> None:
        """Count the tokens of one answer."""
        if usage:
            self.toolbox.used(tokens_in=usage.get("input_tokens"), tokens_out=usage.get("output_tokens"))


def _listener(turns: _Turns) -> Any:
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):
        run_inline = True  # a turn must be known before its calls arrive

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for batch in response.generations:
                message = getattr(batch[0], "message", None)
                calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
                turns.spend(getattr(message, "usage_metadata", None))
                for call in getattr(message, "invalid_tool_calls", ()):
                    _keep_malformed(turns.toolbox, call)
                if calls:
                    turns.note(calls)

    return Listener()


def _keep_malformed(toolbox: Toolbox, call: Mapping[str, Any]) -> None:
    """Record a call whose arguments the framework could not read, which no tool will ever see."""
    try:
        toolbox.call(str(call.get("name")), call.get("args") or "", call_id=call.get("id"))  # type: ignore[arg-type]
    except ToolError:
        return


def _tools(toolbox: Toolbox, turns: _Turns) -> list[Any]:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import StructuredTool

    class RecordedTool(StructuredTool):
        """Takes the whole call, with its id, and answers with a message."""

        def invoke(self, input: Any, config: Any = None, **_: Any) -> Any:
            call = input if isinstance(input, dict) and input.get("type") == "tool_call" else {"args": input}
            call_id = call.get("id")
            group, parallel = turns.groups.get(str(call_id), (None, 1))
            try:
                result = toolbox.call(self.name, call["args"], group=group, call_id=call_id, parallel=parallel)
                text, status = toolbox.write(result), "success"
            except ToolError as error:
                text, status = str(error), "error"
            if call_id is None:
                return text
            return ToolMessage(text, tool_call_id=call_id, name=self.name, status=status)

        async def ainvoke(self, input: Any, config: Any = None, **_: Any) -> Any:
            return self.invoke(input, config)

    return [
        RecordedTool(
            name=tool.name, description=tool.description or tool.name, args_schema=dict(tool.parameters), func=_unused
        )
        for tool in toolbox.offered
    ]


def _unused(**arguments: Any) -> None:
    """Stand where the framework wants a function; calls go through ``invoke``."""


def _last_words(messages: Sequence[Any]) -> str | None:
    if not messages:
        return None
    content = messages[-1].content
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content)
