"""The toolbox: what an agent acts through, and what records every step it takes."""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.base.schema import KEYS, STEPS
from plumbline.rules.layouts import Layout
from plumbline.running.effects import EffectLedger
from plumbline.running.faults import Fault
from plumbline.running.faulty import Faulty
from plumbline.running.given import NOTHING, Given, read_arguments
from plumbline.running.offering import offer
from plumbline.running.stops import HarnessError
from plumbline.running.tool import Tool, exact
from plumbline.running.transport import Call, Direct, Transport

__all__ = ["Clock", "Toolbox", "read_clock"]

Clock = Callable[[], datetime]
_PLAIN = Layout()
_BLANK: dict[str, Any] = {c.name: None for c in STEPS[len(KEYS) :]}


class Toolbox:
    """Tools bound to one trial's system of record; every use becomes a step.

    Parameters
    ----------
    tools : sequence of Tool
        The tools that work.
    world : object
        The trial's own system of record, handed to each tool as its first argument.
    fault : Fault, optional
        The fault planned for this trial.
    transport : Transport, optional
        Carries calls to the tools; by default straight to ``world``. A fault is laid over it.
    clock : callable, optional
        Gives the time with its zone. Without one no time is recorded.
    decoys : sequence of Tool
        Tools that are offered but do not exist; calling one fails as ``no_such_tool``.
    given : Variant, optional
        What the trial's variant changes in what the agent is told: order, descriptions and schemas of tools, layout of
        results, sampling settings.
    sleep : callable
        Waits a number of seconds where a fault makes an answer late.

    Attributes
    ----------
    steps : list of dict
        The steps so far, with the columns of the steps frame except its keys.
    offered : tuple of Tool
        What the agent is told of, in order.
    problem : HarnessError or None
        What broke in the harness, kept even if the agent swallowed the exception.
    effects : EffectLedger
        What the system of record did that the steps do not say, and the reverse.

    Raises
    ------
    ParameterError
        Two tools share a name, or the fault names a tool that is not there.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> box = Toolbox([Tool("double", lambda world, n: 2 * n, schema)], None)
    >>> box.call("double", {"n": 4})
    8
    >>> [(s["name"], s["arguments"], s["result"], s["status"]) for s in box.steps]
    [('double', '{"n":4}', '8', 'ok')]
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        world: Any,
        *,
        fault: Fault | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
        decoys: Sequence[Tool] = (),
        given: Any = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        names = [tool.name for tool in (*tools, *decoys)]
        if len(set(names)) != len(names):
            raise ParameterError(f"every tool needs a name of its own; found {names}")
        if fault is not None and fault.tool not in names[: len(tools)]:
            raise ParameterError(f"the fault names tool {fault.tool!r}; the tools are {', '.join(names[: len(tools)])}")
        self.steps: list[dict[str, Any]] = []
        self.offered = offer((*tools, *decoys), given)
        self.settings: dict[str, Any] = dict(getattr(given, "sampling", None) or {})
        self._layout = getattr(given, "layout", None) or _PLAIN
        self.effects = EffectLedger(world)
        self.spent: dict[str, Any] = {}
        self._tools = {tool.name: tool for tool in tools}
        self._calls = dict.fromkeys(self._tools, 0)
        self._clock = clock
        inner = transport if transport is not None else Direct(world)
        self._transport: Transport = inner if fault is None else Faulty(inner, fault, sleep=sleep)
        self._lock = threading.RLock()
        self._broken: list[HarnessError] = []
        self._agent: str | None = None
        self._parent: str | None = None

    @property
    def problem(self) -> HarnessError | None:
        """What broke in the harness last, None if nothing did."""
        return self._broken[-1] if self._broken else None

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        group: int | None = None,
        call_id: str | None = None,
        evidence: str | None = None,
        parallel: int = 1,
    ) -> Any:
        """Call a tool and record the step, whether it works or not.

        Parameters
        ----------
        name : str
            Tool to call.
        arguments : mapping
            JSON values by argument name. A binary float counts as the shortest decimal that spells it.
        group : int, optional
            Parallel calls of one turn share it.
        call_id : str, optional
            The caller's own id of this call.
        evidence : str, optional
            Where the arguments come from when they were not recorded directly.
        parallel : int
            How many calls the turn makes, this one included.

        Returns
        -------
        object
            The result as it was recorded: plain JSON values, numbers with a point as ``Decimal``.

        Raises
        ------
        ToolError
            The call failed: ``no_such_tool``, ``bad_arguments``, ``transient`` or the tool's own reason. A ``timeout``
            says nothing of the effect, so its step is ``no_result``: it may have happened.
        HarnessError
            The tool's code broke; recorded as ``tool_bug``. It ends the trial even if the agent swallows it.
        """
        with self._lock:
            given = read_arguments(arguments)
            step = self._open("tool_call", name, given, group=group, call_id=call_id, evidence=evidence)
            self.effects.before(step["step"])
            tool = self._tools.get(name)
            try:
                if given.values is None:
                    unread = f"{name}: the arguments are not a JSON object; found {given.unread}"
                    raise self._unknown(name) if tool is None else ToolError(unread, "bad_arguments")
                if tool is None:
                    raise self._unknown(name)
                return self._send(tool, given.values, step, parallel)
            except ToolError as error:
                status = "no_result" if error.error_type == "timeout" else "failed"
                step.update(status=status, error_type=error.error_type, error=str(error))
                step["injected"] = getattr(error, "injected", None)
                raise
            except HarnessError as error:
                self._broken.append(error)
                raise
            finally:
                self.effects.after(step["step"], step["status"], mutating=tool is not None and tool.mutating)
                step["ended_at"] = self._now()

    def _send(self, tool: Tool, arguments: dict[str, Any], step: dict[str, Any], parallel: int) -> Any:
        self._calls[tool.name] += 1
        try:
            reply = self._transport.send(Call(tool, arguments, self._calls[tool.name], parallel))
            result = exact(reply.result)
            step.update(result=canonical_json(result), status="ok", injected=reply.injected)
            return result
        except ToolError:
            raise
        except HarnessError as error:  # the call may have arrived, so the step stays 'no_result'
            step.update(error_type="harness", error=str(error))
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            step.update(status="failed", error_type="tool_bug", error=what)
            raise HarnessError(f"tool {tool.name!r} broke on {step['arguments']} ({what}); mend the tool") from error

    def _unknown(self, name: str) -> ToolError:
        return ToolError(f"no such tool: {name}; there are {', '.join(self._tools)}", "no_such_tool")

    @contextlib.contextmanager
    def sub_agent(self, name: str, arguments: Mapping[str, Any] | None = None) -> Iterator[Toolbox]:
        """Hand part of the work to another agent: its steps name it and the call they were made within.

        Parameters
        ----------
        name : str
            Name of the agent.
        arguments : mapping, optional
            What it is asked.

        Yields
        ------
        Toolbox
            The same tools; what it says with ``finish`` is the result of the call, not the trial's last words.

        Examples
        --------
        >>> box = Toolbox([Tool("ping", lambda world: "pong", {"type": "object", "properties": {}})], None)
        >>> with box.sub_agent("checker", {"look": "twice"}) as inner:
        ...     said = inner.finish(inner.call("ping", {}))
        >>> [(s["kind"], s["name"], s["call_id"], s["parent_call_id"], s["agent"]) for s in box.steps]
        [('agent_call', 'checker', 'agent-0', None, None), ('tool_call', 'ping', None, 'agent-0', 'checker')]
        """
        with self._lock:
            step = self._open("agent_call", name, read_arguments({} if arguments is None else arguments))
            step["call_id"] = f"agent-{step['step']}"
        inner = copy.copy(self)
        inner._agent, inner._parent = name, step["call_id"]
        try:
            yield inner
            step["status"] = "ok"
        except BaseException as error:
            step.update(status="failed", error_type=type(error).__name__, error=str(error))
            raise
        finally:
            step["ended_at"] = self._now()

    def decide(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        evidence: str | None = None,
    ) -> None:
        """Record a decision that is not a tool call, such as how the request was understood."""
        step = self._open("decision", name, read_arguments({} if arguments is None else arguments), evidence=evidence)
        step.update(status="ok", ended_at=step["started_at"])
        if result is not None:
            step["result"] = canonical_json(exact(result))

    def block(
        self, name: str, arguments: Any, reason: str, *, group: int | None = None, call_id: str | None = None
    ) -> None:
        """Record a tool call that something refused before it was sent; it did not happen."""
        step = self._open("tool_call", name, read_arguments(arguments), group=group, call_id=call_id)
        step.update(status="blocked", error_type="refused", error=reason, ended_at=step["started_at"])

    def say(self, text: str) -> None:
        """Record a message of the agent."""
        step = self._open("message", None, NOTHING)
        step.update(result=canonical_json(text), status="ok", ended_at=step["started_at"])

    def finish(self, text: str) -> None:
        """Record the agent's last words; said twice, the later ones count.

        Raises
        ------
        ParameterError
            The words are not text.
        """
        if not isinstance(text, str):
            raise ParameterError(f"an agent's last words are text; found {type(text).__name__} {text!r}")
        if self._parent is not None:  # a sub-agent answers its caller
            step = next(s for s in self.steps if s["call_id"] == self._parent)
            step["result"] = canonical_json(text)
            return
        step = self._open("final", None, NOTHING)
        step.update(result=canonical_json(text), status="ok", ended_at=step["started_at"])

    def used(
        self, *, tokens_in: int | None = None, tokens_out: int | None = None, cost_usd: float | None = None
    ) -> None:
        """Add what one question to a model used; what a provider does not say stays unknown, not 0."""
        with self._lock:
            for name, value in (("tokens_in", tokens_in), ("tokens_out", tokens_out), ("cost_usd", cost_usd)):
                if value is not None:
                    self.spent[name] = self.spent.get(name, 0) + value

    def new_group(self) -> int:
        """Return a number that no group of this trial has yet."""
        return 1 + max((s["group"] for s in self.steps if s["group"] is not None), default=-1)

    def write(self, result: Any) -> str:
        """Write a result out as the agent reads it: in the layout of the trial's variant, else as the tool gave it.

        The record holds the same result as canonical JSON, whose sorted fields would be one of the variants' layouts.
        """
        return str(self._layout.write(result))

    @property
    def final_text(self) -> str | None:
        """The last words said so far, None if there are none."""
        said = [step["result"] for step in self.steps if step["kind"] == "final"]
        return str(parse_json(said[-1])) if said else None

    def _open(
        self,
        kind: str,
        name: str | None,
        given: Given,
        *,
        group: int | None = None,
        call_id: str | None = None,
        evidence: str | None = None,
    ) -> dict[str, Any]:
        step = _BLANK | {
            "kind": kind, "name": name, "arguments": given.text, "unread": given.unread,
            "group": group, "call_id": call_id, "evidence": evidence, "started_at": self._now(), "status": "no_result",
            "agent": self._agent, "parent_call_id": self._parent,
        }  # fmt: skip
        with self._lock:
            step["step"] = len(self.steps)
            self.steps.append(step)
        return step

    def _now(self) -> str | None:
        return None if self._clock is None else read_clock(self._clock).isoformat()


def read_clock(clock: Clock) -> datetime:
    """Read a clock and insist on a zone."""
    now = clock()
    if now.tzinfo is None:
        raise ParameterError(f"the clock gave {now.isoformat()} without a zone; give datetime.now(UTC) or the like")
    return now
