"""The transport that delivers a trial's fault; every other call passes through it untouched."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ToolError
from plumbline.running.faults import FAULT_KINDS, Fault
from plumbline.running.tool import exact
from plumbline.running.transport import Call, Reply, Transport

__all__ = ["Faulty", "InjectedError"]


class InjectedError(ToolError):
    """A tool error that comes from the fault plan, not from the tool."""

    def __init__(self, message: str, error_type: str, injected: str) -> None:
        super().__init__(message, error_type)
        self.injected = injected


class Faulty:
    """Delivers one trial's fault; every other call passes.

    Parameters
    ----------
    inner : Transport
        Where calls go that are not faulted.
    fault : Fault
        The fault of this trial.
    sleep : callable
        Waits a number of seconds; a test gives a clock of its own that only counts them.

    Attributes
    ----------
    delivered : int
        How often the fault has struck.
    """

    def __init__(self, inner: Transport, fault: Fault, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.inner, self.fault, self.sleep = inner, fault, sleep
        self.delivered = self._met = 0

    def send(self, call: Call) -> Reply:
        """Spoil the call if it is one that the plan names, else pass it on."""
        fault = self.fault
        if not self._due(call):
            return self.inner.send(call)
        kind = FAULT_KINDS[fault.error]
        if kind.effect == "none":
            self.delivered += 1
            raise InjectedError(kind.words, str(kind.error_type), fault.error)
        reply = self.inner.send(call)  # a tool that refuses does so in its own words, and the fault was not met
        self.delivered += 1
        if kind.error_type is not None:
            raise InjectedError(kind.words, kind.error_type, fault.error)
        if fault.error == "slow":
            self.sleep(fault.delay_ms / 1000)
            return Reply(reply.result, fault.error)
        return Reply(_spoilt(fault.error, exact(reply.result)), fault.error)

    def _due(self, call: Call) -> bool:
        fault = self.fault
        if call.tool.name != fault.tool or fault.spent_by is not None:
            return False
        number = call.number
        if fault.error == "parallel_503":  # only calls that are one of several in their turn count
            if call.parallel < 2:
                return False
            self._met += 1
            number = self._met
        return fault.on_call <= number < fault.on_call + fault.times


def _spoilt(error: str, result: Any) -> Any:
    """Return what arrives instead of the result."""
    text = canonical_json(result)
    if error == "truncated":
        return text[: max(1, len(text) // 2)]
    if error == "malformed":
        return text.rstrip("]}") + ","
    if isinstance(result, Mapping):
        return list(result.values())
    return {"value": result}
