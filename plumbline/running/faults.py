"""Faults planned per trial: what may go wrong with a call, and which trial meets which fault.

A fault is a plain value of one trial: it holds no state, so no trial can use up the fault of another. What has been
delivered is counted by the transport that delivers it (``faulty``), of which every trial has its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.running.system import TrialKey
from plumbline.traces import Plan

__all__ = ["FAULTS", "FAULT_KINDS", "Fault", "FaultKind", "FaultPlan"]

FAULTS: Mapping[str, str] = {
    "http_503": "HTTP 503: this service is temporarily unavailable, the request was not carried out",
    "http_429": "HTTP 429: over the rate limit, the request was not carried out",
    "connection_reset": "connection reset by the other side before the request was carried out",
}
"""Errors that pass by themselves, with what the agent is told. All strike before the tool's body."""


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault.

    Parameters
    ----------
    effect : str
        ``none``: the tool's body never runs. ``stands``: it ran, and only the answer is lost or spoilt.
    error_type : str or None
        Type of the error the agent gets; None if it gets an answer.
    words : str
        What the agent is told, or what happens to the answer.
    """

    effect: str
    error_type: str | None
    words: str


FAULT_KINDS: Mapping[str, FaultKind] = {
    **{name: FaultKind("none", "transient", words) for name, words in FAULTS.items()},
    "permanent": FaultKind("none", "permanent", "HTTP 410: this operation has been withdrawn and will not come back"),
    "parallel_503": FaultKind("none", "transient", FAULTS["http_503"] + "; the other calls of this turn were"),
    "timeout_after": FaultKind("stands", "timeout", "timed out waiting for the answer; the request had been sent"),
    "slow": FaultKind("stands", None, "the answer comes late, and is right"),
    "truncated": FaultKind("stands", None, "the answer is the first half of its JSON text"),
    "malformed": FaultKind("stands", None, "the answer is JSON text with its closing brackets lost"),
    "wrong_type": FaultKind("stands", None, "the answer has another JSON type than the tool promises"),
}
"""Every kind of fault. ``parallel_503`` strikes one call of a turn that makes several; ``timeout_after`` leaves the
effect standing, so that a second try of a payment pays twice."""


@dataclass(frozen=True)
class Fault:
    """One fault planned for one trial.

    Parameters
    ----------
    tool : str
        Tool whose call fails.
    error : str
        A name of ``FAULT_KINDS``, such as ``http_503`` (before the effect) or ``timeout_after`` (the effect stands).
    times : int
        How many calls in a row fail, at least 1.
    on_call : int
        Which call of that tool is the first to fail, from 1.
    spent_by : str, optional
        Id of the trial that used the fault up before this one. It describes records of the published studies, where one
        fault served a whole cell; such a fault is never delivered. Plans of our own leave it empty.
    delay_ms : int
        How late a ``slow`` answer comes, in milliseconds, at least 1; no other kind has a delay.

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
    delay_ms: int = field(default=2000, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not self.tool or self.error not in FAULT_KINDS:
            allowed = ", ".join(FAULT_KINDS)
            raise ParameterError(
                f"a fault names a tool and one of {allowed}; found tool {self.tool!r}, error {self.error!r}"
            )
        for name in ("times", "on_call", "delay_ms"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"fault.{name} must be a whole number of at least 1; found {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as JSON values; ``spent_by`` and ``delay_ms`` only where they say something."""
        values: dict[str, Any] = {
            "tool": self.tool, "error": self.error, "times": self.times, "on_call": self.on_call,
        }  # fmt: skip
        if self.error == "slow":
            values["delay_ms"] = self.delay_ms
        return values if self.spent_by is None else values | {"spent_by": self.spent_by}

    def to_json(self) -> str:
        """Return the canonical JSON text that the trials frame stores."""
        return canonical_json(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Fault:
        """Read a fault from the text that ``to_json`` writes."""
        values = parse_json(text)
        known = {"tool", "error", "times", "on_call", "spent_by", "delay_ms"}
        if not isinstance(values, dict) or not {"tool", "error"} <= set(values) <= known:
            raise ParameterError(f"a fault has the keys {sorted(known)}, tool and error at least; found {text!r}")
        return cls(**values)


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
