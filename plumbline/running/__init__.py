"""Running and replaying agents against a domain's tools."""

from plumbline.running.asking import Conversation
from plumbline.running.describing import describe
from plumbline.running.effects import EFFECT_FINDINGS, EffectLedger
from plumbline.running.estimating import Estimate
from plumbline.running.faults import FAULT_KINDS, FAULTS, Fault, FaultKind, FaultPlan
from plumbline.running.faulty import Faulty, InjectedError
from plumbline.running.given import parse_arguments
from plumbline.running.journal import Journal
from plumbline.running.judging import PairEvidence, contracts_of, judge_pairs, pair_evidence
from plumbline.running.ordering import run_order
from plumbline.running.pairs import plan_pairs, run_pairs, table_case, table_world
from plumbline.running.plan import run_plan
from plumbline.running.planned import PlannedAgent, Question, named_by_task, planned_agent
from plumbline.running.progress import Progress, ProgressLine
from plumbline.running.react import Guard, ReactAgent
from plumbline.running.replay import Decision, ReplayArm, replay
from plumbline.running.retry import call_with_retries, is_transient
from plumbline.running.sealed import SealedPlan
from plumbline.running.stops import BudgetStopError, HarnessError, NoResponseError, TurnLimitError
from plumbline.running.study_run import build_arms, now_utc, run_study
from plumbline.running.system import Agent, System, Task, TrialKey, Variant, unchanged
from plumbline.running.tool import Tool, exact
from plumbline.running.toolbox import Toolbox
from plumbline.running.transport import Call, Direct, Reply, Transport
from plumbline.running.trial import TrialRecord, run_trial

__all__ = [
    "EFFECT_FINDINGS",
    "FAULTS",
    "FAULT_KINDS",
    "Agent",
    "BudgetStopError",
    "Call",
    "Conversation",
    "Decision",
    "Direct",
    "EffectLedger",
    "Estimate",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "Faulty",
    "Guard",
    "HarnessError",
    "InjectedError",
    "Journal",
    "NoResponseError",
    "PairEvidence",
    "PlannedAgent",
    "Progress",
    "ProgressLine",
    "Question",
    "ReactAgent",
    "ReplayArm",
    "Reply",
    "SealedPlan",
    "System",
    "Task",
    "Tool",
    "Toolbox",
    "Transport",
    "TrialKey",
    "TrialRecord",
    "TurnLimitError",
    "Variant",
    "build_arms",
    "call_with_retries",
    "contracts_of",
    "describe",
    "exact",
    "is_transient",
    "judge_pairs",
    "named_by_task",
    "now_utc",
    "pair_evidence",
    "parse_arguments",
    "plan_pairs",
    "planned_agent",
    "replay",
    "run_order",
    "run_pairs",
    "run_plan",
    "run_study",
    "run_trial",
    "table_case",
    "table_world",
    "unchanged",
]
