"""The rows of a run: columns, allowed words and the schema's name. No pandas or Arrow is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "EXPOSURES",
    "KEYS",
    "KINDS",
    "PROVENANCES",
    "SCHEMA",
    "STEPS",
    "STEP_STATUSES",
    "TRIALS",
    "TRIAL_STATUSES",
    "Column",
    "trial_id",
]

SCHEMA = "plumbline.run/1"

TRIAL_STATUSES = ("completed", "agent_error", "not_run", "no_response", "budget_stop", "harness_error")
"""``completed`` and ``agent_error`` are behaviour; the other four are infrastructure and never count as behaviour."""
EXPOSURES = ("delivered", "not_delivered", "none_planned")
PROVENANCES = ("live", "replayed", "re_executed", "reconstructed", "imported")
KINDS = ("tool_call", "decision", "message", "thought", "agent_call", "final")
STEP_STATUSES = ("ok", "failed", "no_result", "blocked")
"""``failed`` and ``blocked`` calls did not happen; ``no_result`` may have happened."""


@dataclass(frozen=True)
class Column:
    """One column: name, storage type, whether it may be null, allowed words, whether it holds JSON text, meaning."""

    name: str
    type: Literal["string", "int64", "float64"]
    required: bool = False
    words: tuple[str, ...] = ()
    json: bool = False
    doc: str = ""


KEYS = (
    Column("run_id", "string", True, doc="name of the run"),
    Column("arm", "string", True, doc="agent architecture or version under test"),
    Column("task_id", "string", True, doc="one case of a domain"),
    Column("family_id", "string", True, doc="seed input this task descends from"),
    Column("perturbation", "string", True, doc="transformation of the input; 'baseline' is none"),
    Column("variant", "string", True, doc="which frozen output of the perturbation"),
    Column("repetition", "int64", True, doc="the same variant issued again, from 0"),
    Column("trial_id", "string", True, doc="arm/task/perturbation/variant/repetition"),
)

TRIALS = (
    *KEYS,
    Column("status", "string", True, TRIAL_STATUSES, doc="how the trial ended"),
    Column("error", "string", doc="what stopped it, in words"),
    Column("exposure", "string", True, EXPOSURES, doc="whether the planned fault was met"),
    Column("fault", "string", json=True, doc="the fault planned for this trial, as JSON; null if none"),
    Column("outcome", "string", json=True, doc="terminal state read from the system of record, as JSON"),
    Column("prompt", "string", doc="input given to the agent; null if not recorded"),
    Column("final_output", "string", doc="last words of the agent"),
    Column("model", "string", doc="model that decided, null for deterministic arms"),
    Column("provenance", "string", True, PROVENANCES, doc="where this record comes from"),
    Column("tokens_in", "int64", doc="input tokens"),
    Column("tokens_out", "int64", doc="output tokens"),
    Column("cost_usd", "float64", doc="cost in US dollars"),
    Column("latency_ms", "float64", doc="wall time in milliseconds"),
    Column("started_at", "string", doc="start, ISO 8601 with zone"),
)

STEPS = (
    *KEYS,
    Column("step", "int64", True, doc="position within the trial, from 0, without gaps"),
    Column("group", "int64", doc="parallel calls of one turn share it"),
    Column("kind", "string", True, KINDS, doc="kind of event"),
    Column("name", "string", doc="tool, decision or agent name"),
    Column("arguments", "string", json=True, doc="canonical JSON object; null if not recorded"),
    Column("result", "string", json=True, doc="canonical JSON; null if not recorded"),
    Column("status", "string", True, STEP_STATUSES, doc="whether the call happened"),
    Column("error_type", "string", doc="class of the failure"),
    Column("error", "string", doc="the failure in words"),
    Column("injected", "string", doc="name of the injected fault this step met, null if none"),
    Column("call_id", "string", doc="the caller's id of this call"),
    Column("parent_call_id", "string", doc="call this one was made within"),
    Column("agent", "string", doc="agent or sub-agent that made the step"),
    Column("evidence", "string", doc="where this step's arguments come from when they were not recorded directly"),
    Column("started_at", "string", doc="start, ISO 8601 with zone"),
    Column("ended_at", "string", doc="end, ISO 8601 with zone"),
    Column("tokens_in", "int64", doc="input tokens"),
    Column("tokens_out", "int64", doc="output tokens"),
    Column("unread", "string", doc="what could not be read or placed, as found"),
)


def trial_id(arm: str, task_id: str, perturbation: str, variant: str | int, repetition: int) -> str:
    """Return the id of a trial.

    Examples
    --------
    >>> trial_id("react", "INV-7002", "tool_fault", 0, 1)
    'react/INV-7002/tool_fault/0/1'
    """
    return f"{arm}/{task_id}/{perturbation}/{variant}/{repetition}"
