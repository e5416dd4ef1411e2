"""What a reader makes of a file: trials in draft, with everything it saw and could not place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from plumbline.base.schema import KINDS, STEP_STATUSES

__all__ = ["NOT_RECORDED", "Labels", "NotRecorded", "StepDraft", "TrialDraft", "Unreadable"]


class NotRecorded:
    """The one value of a field the trace does not hold; an empty object or null is a value that was recorded."""

    def __repr__(self) -> str:
        return "NOT_RECORDED"

    def __bool__(self) -> bool:
        return False


NOT_RECORDED: Final = NotRecorded()


@dataclass(frozen=True)
class Unreadable:
    """A value that was recorded but cannot be read without loss, kept as it was found.

    Parameters
    ----------
    text : str
        As found.
    reason : str
        Why it was not read: ``truncated``, ``not JSON``, ``not an object``, ``NaN``, ``two values``, …
    """

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What a trial is, as far as the trace says; None where it does not, see ``read_traces`` for the defaults."""

    arm: str | None = None
    task: str | None = None
    family: str | None = None
    perturbation: str | None = None
    variant: str | None = None
    repetition: int | None = None


@dataclass(kw_only=True)
class StepDraft:
    """One event. Times are ISO 8601 text with zone or None; `group` numbers the turn whose parallel calls share it."""

    kind: str
    name: str | None = None
    arguments: Any = NOT_RECORDED
    result: Any = NOT_RECORDED
    status: str = "ok"
    group: int | None = None
    call_id: str | None = None
    parent_call_id: str | None = None
    agent: str | None = None
    error_type: str | None = None
    error: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    evidence: str | None = None
    injected: str | None = None
    unread: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.status not in STEP_STATUSES:
            raise ValueError(f"no step of kind {self.kind!r} and status {self.status!r}")


@dataclass(kw_only=True)
class TrialDraft:
    """One execution of an agent as read from a file.

    Parameters
    ----------
    source : str
        Where it was read: file, and trace id, line or position in it.
    labels : Labels
        What the trace itself says of the trial.
    steps : list of StepDraft
        In the order in which they are taken to have happened.
    order_evidence : str
        What that order rests on: ``"causal"`` (message order, parents, call ids), ``"clock"``, ``"mixed"``, ``"file"``.
    status : str
        One of ``plumbline.base.schema.TRIAL_STATUSES``.
    outcome : mapping, optional
        Terminal state, if the trace holds one.
    context : mapping, optional
        What the trace says should have happened (ground truth), for the task.
    unread : list of str
        What could not be placed in any step.
    said : list of str
        What the reader did that a reader of the run must know: duplicates merged, clocks set right, history dropped.
    attributes : mapping
        Attributes of the trace that a label mapping or callable may read.
    """

    source: str
    labels: Labels = field(default_factory=Labels)
    steps: list[StepDraft] = field(default_factory=list)
    order_evidence: str = "causal"
    status: str = "completed"
    error: str | None = None
    outcome: Mapping[str, Any] | None = None
    context: Mapping[str, Any] | None = None
    prompt: str | None = None
    final_output: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    started_at: str | None = None
    provenance: str = "imported"
    exposure: str = "none_planned"
    fault: Mapping[str, Any] | None = None
    unread: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    attributes: Mapping[str, Any] = field(default_factory=dict)
