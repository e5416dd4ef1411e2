"""The toolbox: what an agent acts through, and what records every step it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.base.schema import KEYS, STEPS
from plumbline.running.faults import Fault, Faulty
from plumbline.running.stops import HarnessError
from plumbline.running.tool import Tool, exact
from plumbline.running.transport import Call, Direct, Transport

__all__ = ["Clock", "Toolbox", "read_clock"]

Clock = Callable[[], datetime]
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

    Attributes
    ----------
    steps : list of dict
        The steps so far, with the columns of the steps frame except its keys.
    problem : HarnessError or None
        What broke in the harness, kept even if the agent swallowed the exception.

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
    ) -> None:
        names = [tool.name for tool in (*tools, *decoys)]
        if len(set(names)) != len(names):
            raise ParameterError(f"every tool needs a name of its own; found {names}")
        if fault is not None and fault.tool not in names[: len(tools)]:
            raise ParameterError(f"the fault names tool {fault.tool!r}; the tools are {', '.join(names[: len(tools)])}")
        self.steps: list[dict[str, Any]] = []
        self.problem: HarnessError | None = None
        self.offered = (*tools, *decoys)
        self._tools = {tool.name: tool for tool in tools}
        self._calls = dict.fromkeys(self._tools, 0)
        self._clock = clock
        inner = transport if transport is not None else Direct(world)
        self._transport: Transport = inner if fault is None else Faulty(inner, fault)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        group: int | None = None,
        call_id: str | None = None,
        evidence: str | None = None,
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

        Returns
        -------
        object
            The result as it was recorded: plain JSON values, numbers with a point as ``Decimal``.

        Raises
        ------
        ToolError
            The call failed: ``no_such_tool``, ``bad_arguments``, ``transient`` or the tool's own reason.
        HarnessError
            The tool's code broke; recorded as ``tool_bug``. It ends the trial even if the agent swallows it.
        """
        given = _read(arguments)
        step = self._open("tool_call", name, given, group=group, call_id=call_id, evidence=evidence)
        try:
            tool = self._find(name)
            if given.values is None:
                raise ToolError(f"{name}: the arguments are not a JSON object; found {given.unread}", "bad_arguments")
            return self._send(tool, given.values, step)
        except ToolError as error:
            step.update(status="failed", error_type=error.error_type, error=str(error))
            step["injected"] = getattr(error, "injected", None)
            raise
        except HarnessError as error:
            self.problem = error
            raise
        finally:
            step["ended_at"] = self._now()

    def _send(self, tool: Tool, arguments: dict[str, Any], step: dict[str, Any]) -> Any:
        self._calls[tool.name] += 1
        try:
            reply = self._transport.send(Call(tool, arguments, self._calls[tool.name]))
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

    def _find(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolError(f"no such tool: {name}; there are {', '.join(self._tools)}", "no_such_tool")
        return self._tools[name]

    def decide(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        evidence: str | None = None,
    ) -> None:
        """Record a decision that is not a tool call, such as how the request was understood."""
        step = self._open("decision", name, _read({} if arguments is None else arguments), evidence=evidence)
        step.update(status="ok", ended_at=step["started_at"])
        if result is not None:
            step["result"] = canonical_json(exact(result))

    def block(self, name: str, arguments: Mapping[str, Any], reason: str, *, group: int | None = None) -> None:
        """Record a tool call that something refused before it was sent; it did not happen."""
        step = self._open("tool_call", name, _read(arguments), group=group)
        step.update(status="blocked", error_type="refused", error=reason, ended_at=step["started_at"])

    def say(self, text: str) -> None:
        """Record a message of the agent."""
        step = self._open("message", None, _NOTHING)
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
        step = self._open("final", None, _NOTHING)
        step.update(result=canonical_json(text), status="ok", ended_at=step["started_at"])

    @property
    def final_text(self) -> str | None:
        """The last words said so far, None if there are none."""
        said = [step["result"] for step in self.steps if step["kind"] == "final"]
        return str(parse_json(said[-1])) if said else None

    def _open(
        self,
        kind: str,
        name: str | None,
        given: _Given,
        *,
        group: int | None = None,
        call_id: str | None = None,
        evidence: str | None = None,
    ) -> dict[str, Any]:
        step = _BLANK | {
            "step": len(self.steps), "kind": kind, "name": name, "arguments": given.text, "unread": given.unread,
            "group": group, "call_id": call_id, "evidence": evidence, "started_at": self._now(), "status": "no_result",
        }  # fmt: skip
        self.steps.append(step)
        return step

    def _now(self) -> str | None:
        return None if self._clock is None else read_clock(self._clock).isoformat()


class _Given(NamedTuple):
    """Arguments as given: as values and as canonical text, or as the text of what could not be read."""

    values: dict[str, Any] | None = None
    text: str | None = None
    unread: str | None = None


_NOTHING = _Given()


def _read(arguments: Any) -> _Given:
    try:
        if not isinstance(arguments, Mapping):
            raise TypeError
        values = exact(arguments)
        return _Given(values, canonical_json(values))
    except (TypeError, ValueError, RecursionError):
        text = arguments if isinstance(arguments, str) else repr(arguments)
        return _Given(unread=text.encode(errors="backslashreplace").decode())


def read_clock(clock: Clock) -> datetime:
    """Read a clock and insist on a zone."""
    now = clock()
    if now.tzinfo is None:
        raise ParameterError(f"the clock gave {now.isoformat()} without a zone; give datetime.now(UTC) or the like")
    return now
