"""Invariants and policies, checked on columns."""

from plumbline.rules.base import Context, Rule, When
from plumbline.rules.checking import check
from plumbline.rules.invariants import ArgEquals, ArgSatisfies, CallAtMost, MustCall, MustNotCall, Ordering
from plumbline.rules.policy import Policy
from plumbline.rules.policy_file import read_policy
from plumbline.rules.steptable import StepTable, prepare
from plumbline.rules.verdicts import Verdicts
from plumbline.rules.words import SEVERITIES, VERDICTS, Reason

__all__ = [
    "SEVERITIES",
    "VERDICTS",
    "ArgEquals",
    "ArgSatisfies",
    "CallAtMost",
    "Context",
    "MustCall",
    "MustNotCall",
    "Ordering",
    "Policy",
    "Reason",
    "Rule",
    "StepTable",
    "Verdicts",
    "When",
    "check",
    "prepare",
    "read_policy",
]
