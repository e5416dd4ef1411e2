"""What stops a trial without being the agent's behaviour.

An agent's own exception is behaviour (``agent_error``). These are not: they end the trial under a status of their own,
so that infrastructure never counts for or against an agent.
"""

from __future__ import annotations

from typing import ClassVar

from plumbline.base.errors import PlumblineError

__all__ = ["BudgetStopError", "HarnessError", "NoResponseError", "TurnLimitError"]


class HarnessError(PlumblineError):
    """The harness, a tool's code or the system of record broke; the trial says nothing about the agent."""

    status: ClassVar[str] = "harness_error"


class NoResponseError(HarnessError):
    """Whoever decides gave no answer: the provider refused, or no recorded answer exists."""

    status: ClassVar[str] = "no_response"


class BudgetStopError(HarnessError):
    """The spending cap was reached before the trial could end."""

    status: ClassVar[str] = "budget_stop"


class TurnLimitError(PlumblineError):
    """The agent used every turn it was given without coming to an end; its steps are kept, and it is its behaviour."""
