"""Running and replaying agents against a domain's tools."""

from plumbline.running.faults import FAULT_KINDS, Fault, FaultKind, FaultPlan
from plumbline.running.faulty import Faulty, InjectedError
from plumbline.running.plan import run_plan
from plumbline.running.replay import Decision, ReplayArm, replay
from plumbline.running.retry import call_with_retries, is_transient
from plumbline.running.stops import BudgetStopError, HarnessError, NoResponseError
from plumbline.running.system import Agent, System, Task, TrialKey, Variant, unchanged
from plumbline.running.tool import Tool, exact
from plumbline.running.toolbox import Toolbox
from plumbline.running.transport import Call, Direct, Reply, Transport
from plumbline.running.trial import TrialRecord, run_trial

__all__ = [
    "FAULT_KINDS",
    "Agent",
    "BudgetStopError",
    "Call",
    "Decision",
    "Direct",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "Faulty",
    "HarnessError",
    "InjectedError",
    "NoResponseError",
    "ReplayArm",
    "Reply",
    "System",
    "Task",
    "Tool",
    "Toolbox",
    "Transport",
    "TrialKey",
    "TrialRecord",
    "Variant",
    "call_with_retries",
    "exact",
    "is_transient",
    "replay",
    "run_plan",
    "run_trial",
    "unchanged",
]
