"""What a drift monitor sees of a session: sizes, time, the tools in order, and whether it conformed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules import Policy, check
from plumbline.traces import Recording

__all__ = ["NUMBERS", "Session", "sessions_of"]

NUMBERS = {
    "tokens_in": "input tokens",
    "tokens_out": "output tokens",
    "duration_ms": "milliseconds",
    "tool_calls": "tool calls",
}
"""The numbers of a session, with their words."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """One completed session.

    Parameters
    ----------
    id : str
        Its trial id; a monitor takes each id once.
    tools : tuple of str
        Tools called, in order, failed calls too.
    tokens_in, tokens_out : int, optional
        None if not recorded.
    duration_ms : float, optional
        None if not recorded.
    conforms : bool, optional
        None if no policy was given or a rule could not be observed.
    """

    id: str
    tools: tuple[str, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    duration_ms: float | None = None
    conforms: bool | None = None

    @property
    def tool_calls(self) -> int:
        """How many calls it made."""
        return len(self.tools)

    def number(self, name: str) -> float | None:
        """Return one of ``NUMBERS``, None if not recorded."""
        value = getattr(self, name)
        return None if value is None else float(value)

    def to_dict(self) -> dict[str, Any]:
        """Return the session as JSON values."""
        return asdict(self) | {"tools": list(self.tools)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Session:
        """Read a session from JSON values."""
        return cls(**{**values, "tools": tuple(map(str, values["tools"]))})


def sessions_of(
    recording: Recording, *, policy: Policy | None = None, severity: str = "critical", arm: str | None = None
) -> tuple[Session, ...]:
    """Return the completed sessions of a run in the order in which they started.

    Parameters
    ----------
    recording : Recording
        A run, recorded, imported or received. What ended without being behaviour is left out.
    policy : Policy, optional
        Decides ``conforms``.
    severity : {'critical', 'high', 'medium', 'low'}
        The mildest severity that counts.
    arm : str, optional
        Only this arm; needed where the run has several, since a monitor watches one agent.

    Returns
    -------
    tuple of Session
        Sessions without a start come last, in recorded order.

    Raises
    ------
    ParameterError
        Several arms and none named, or no such arm.
    """
    arms = recording.arms
    if arm is None and len(arms) > 1:
        raise ParameterError(f"run {recording.run_id!r} has the arms {', '.join(arms)}; watch one: give arm=…")
    if arm is not None and arm not in arms:
        raise ParameterError(f"run {recording.run_id!r} has no arm {arm!r}; it has {', '.join(arms)}")
    rows = recording.trials[recording.trials["status"].isin(["completed", "agent_error"])]
    if arm is not None:
        rows = rows[rows["arm"] == arm]
    start = pd.to_datetime(rows["started_at"], utc=True, format="ISO8601", errors="coerce")
    rows = rows.iloc[start.reset_index(drop=True).sort_values(kind="stable", na_position="last").index]
    calls = recording.steps[recording.steps["kind"] == "tool_call"]
    tools = calls.groupby("trial_id", sort=False)["name"].agg(tuple).to_dict()
    verdict = {} if policy is None else check(recording, policy).conforms(severity).to_dict()
    return tuple(
        Session(
            id=str(row["trial_id"]),
            tools=tuple(map(str, tools.get(row["trial_id"], ()))),
            tokens_in=_known(row["tokens_in"], int),
            tokens_out=_known(row["tokens_out"], int),
            duration_ms=_known(row["latency_ms"], float),
            conforms=_known(verdict.get(row["trial_id"]), bool),
        )
        for row in rows.to_dict("records")
    )


def _known(value: Any, kind: type) -> Any:
    return None if value is None or pd.isna(value) else kind(value)
