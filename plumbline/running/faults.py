"""Faults planned per trial, and the transport that delivers them.

A fault is a plain value of one trial: it holds no state, so no trial can use up the fault of another. What has been
delivered is counted by the transport, of which every trial has its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.running.system import TrialKey
from plumbline.running.transport import Call, Reply, Transport
from plumbline.traces import Plan

__all__ = ["FAULTS", "Fault", "FaultPlan", "Faulty", "InjectedError"]

FAULTS: Mapping[str, str] = {
    "http_503": "HTTP 503: this service is temporarily unavailable, the request was not carried out",
    "http_429": "HTTP 429: over the rate limit, the request was not carried out",
    "connection_reset": "connection reset by the other side before the request was carried out",
}
"""Errors that can be injected, with what the agent is told. All strike before the tool's body and are transient."""


class InjectedError(ToolError):
    """A tool error that comes from the fault plan, not from the tool."""

    def __init__(self, message: str, error_type: str, injected: str) -> None:
        super().__init__(message, error_type)
        self.injected = injected


@dataclass(frozen=True)
class Fault:
    """One fault planned for one trial.

    Parameters
    ----------
    tool : str
        Tool whose call fails.
    error : str
        One of ``http_503``, ``http_429``, ``connection_reset``; it strikes before the tool's body runs.
    times : int
        How many calls in a row fail, at least 1.
    on_call : int
        Which call of that tool is the first to fail, from 1.
    spent_by : str, optional
        Id of the trial that used the fault up before this one. It describes records of the published studies, where one
        fault served a whole cell; such a fault is never delivered. Plans of our own leave it empty.

    Raises
    ------
    ParameterError
        The error is unknown, or a number is not a whole number of at least 1.

    Examples
    --------
    >>> Fault("check_duplicate", "http_429").to_json()
    '{"error":"http_429","on_call":1,"times":1,"tool":"check_duplicate"}'
    """

    tool: str
    error: str
    times: int = 1
    on_call: int = 1
    spent_by: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not self.tool or self.error not in FAULTS:
            raise ParameterError(
                f"a fault names a tool and one of {', '.join(FAULTS)}; found tool {self.tool!r}, error {self.error!r}"
            )
        for name in ("times", "on_call"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"fault.{name} must be a whole number of at least 1; found {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as JSON values; ``spent_by`` only where it is set."""
        values: dict[str, Any] = {
            "tool": self.tool, "error": self.error, "times": self.times, "on_call": self.on_call,
        }  # fmt: skip
        return values if self.spent_by is None else values | {"spent_by": self.spent_by}

    def to_json(self) -> str:
        """Return the canonical JSON text that the trials frame stores."""
        return canonical_json(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Fault:
        """Read a fault from the text that ``to_json`` writes."""
        values = parse_json(text)
        known = {"tool", "error", "times", "on_call", "spent_by"}
        if not isinstance(values, dict) or not {"tool", "error"} <= set(values) <= known:
            raise ParameterError(f"a fault has the keys {sorted(known)}, tool and error at least; found {text!r}")
        return cls(**values)


class Faulty:
    """Delivers one trial's fault; every other call passes.

    Parameters
    ----------
    inner : Transport
        Where calls go that are not faulted.
    fault : Fault
        The fault of this trial.

    Attributes
    ----------
    delivered : int
        How often the fault has struck.
    """

    def __init__(self, inner: Transport, fault: Fault) -> None:
        self.inner, self.fault, self.delivered = inner, fault, 0

    def send(self, call: Call) -> Reply:
        """Fail the call if it is one that the plan names, else pass it on."""
        fault = self.fault
        due = fault.on_call <= call.number < fault.on_call + fault.times
        if due and call.tool.name == fault.tool and fault.spent_by is None:
            self.delivered += 1
            raise InjectedError(FAULTS[fault.error], "transient", fault.error)
        return self.inner.send(call)


@dataclass(frozen=True)
class FaultPlan:
    """Which trial meets which fault, written before the run.

    Parameters
    ----------
    faults : mapping of str to Fault
        Trial id to fault; a trial that is not named has none.

    Raises
    ------
    ParameterError
        A key is not a trial id, or a value is not a fault.
    """

    faults: Mapping[str, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, fault in self.faults.items():
            TrialKey.parse(name)
            if not isinstance(fault, Fault):
                raise ParameterError(f"the fault of trial {name!r} must be a Fault; found {fault!r}")
        object.__setattr__(self, "faults", dict(self.faults))

    @classmethod
    def build(cls, plan: Plan, fault: Callable[[TrialKey], Fault | None]) -> FaultPlan:
        """Ask a function for the fault of every planned trial; None means that the trial has none.

        Examples
        --------
        >>> plan = Plan(("a",), ("T-1",), ("baseline", "tool_fault"), ("0",), 2)
        >>> built = FaultPlan.build(plan, lambda k: Fault("t", "http_503") if k.perturbation == "tool_fault" else None)
        >>> list(built)
        ['a/T-1/tool_fault/0/0', 'a/T-1/tool_fault/0/1']
        """
        asked = {name: fault(TrialKey.parse(name)) for name in plan.trial_ids()}
        return cls({name: found for name, found in asked.items() if found is not None})

    @property
    def digest(self) -> str:
        """SHA-256 of the plan, as ``sha256:…``; equal plans have equal digests."""
        text = canonical_json({name: fault.to_dict() for name, fault in self.faults.items()})
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def get(self, trial_id: str) -> Fault | None:
        """Return the fault of a trial, None if it has none."""
        return self.faults.get(trial_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)
