"""Invariants and policies, checked on columns; perturbations of tasks, and the guard that checks them."""

from plumbline.rules.asking import Judge, Opinion, Writer, WriteRequest, judge_request, read_opinion
from plumbline.rules.base import Context, Rule, When
from plumbline.rules.budgets import CallBudget, SumAtMost
from plumbline.rules.checking import check
from plumbline.rules.coexistence import NotCoExistence, NotSuccession, RespondedExistence
from plumbline.rules.conditions import Where
from plumbline.rules.declare import DECLARE, declare
from plumbline.rules.draws import Draw, stream
from plumbline.rules.findings import CODES, Finding, GuardResult
from plumbline.rules.flow import ArgFromEarlier, ArgFromResult, MessageBefore, OneCallATurn
from plumbline.rules.guard import guard
from plumbline.rules.guard_parts import remark_findings
from plumbline.rules.guard_text import PRESERVED, compare_texts
from plumbline.rules.invariants import ArgEquals, ArgSatisfies, CallAtMost, MustCall, MustNotCall, Ordering
from plumbline.rules.layouts import Layout
from plumbline.rules.perturb import CHANGES, RELATIONS, Perturbation, compose, perturbation
from plumbline.rules.perturb_catalog import (
    baseline,
    distractor,
    field_order,
    formats,
    paraphrase,
    sampling,
    written_paraphrase,
)
from plumbline.rules.perturb_tools import decoy_tools, schema_order, tool_descriptions, tool_fault, tool_order
from plumbline.rules.policy import Policy
from plumbline.rules.policy_file import read_policy
from plumbline.rules.readings import Reading, Readings, read
from plumbline.rules.review import Review, export_review, read_review
from plumbline.rules.spellings import respell
from plumbline.rules.steptable import StepTable, prepare
from plumbline.rules.task_view import Facts, TaskView, ToolView, view_tools
from plumbline.rules.temporal import (
    AlternatePrecedence,
    AlternateResponse,
    ChainPrecedence,
    ChainResponse,
    Precedence,
    Response,
)
from plumbline.rules.trial_rules import Custom, StepView
from plumbline.rules.variant_sets import Guarded, VariantSet, guard_counts, make_variants
from plumbline.rules.variant_table import VariantTable
from plumbline.rules.variants import Variant
from plumbline.rules.verdicts import Verdicts
from plumbline.rules.words import SEVERITIES, VERDICTS, Reason

__all__ = [
    "CHANGES",
    "CODES",
    "DECLARE",
    "PRESERVED",
    "RELATIONS",
    "SEVERITIES",
    "VERDICTS",
    "AlternatePrecedence",
    "AlternateResponse",
    "ArgEquals",
    "ArgFromEarlier",
    "ArgFromResult",
    "ArgSatisfies",
    "CallAtMost",
    "CallBudget",
    "ChainPrecedence",
    "ChainResponse",
    "Context",
    "Custom",
    "Draw",
    "Facts",
    "Finding",
    "GuardResult",
    "Guarded",
    "Judge",
    "Layout",
    "MessageBefore",
    "MustCall",
    "MustNotCall",
    "NotCoExistence",
    "NotSuccession",
    "OneCallATurn",
    "Opinion",
    "Ordering",
    "Perturbation",
    "Policy",
    "Precedence",
    "Reading",
    "Readings",
    "Reason",
    "RespondedExistence",
    "Response",
    "Review",
    "Rule",
    "StepTable",
    "StepView",
    "SumAtMost",
    "TaskView",
    "ToolView",
    "Variant",
    "VariantSet",
    "VariantTable",
    "Verdicts",
    "When",
    "Where",
    "WriteRequest",
    "Writer",
    "baseline",
    "check",
    "compare_texts",
    "compose",
    "declare",
    "decoy_tools",
    "distractor",
    "export_review",
    "field_order",
    "formats",
    "guard",
    "guard_counts",
    "judge_request",
    "make_variants",
    "paraphrase",
    "perturbation",
    "prepare",
    "read",
    "read_opinion",
    "read_policy",
    "read_review",
    "remark_findings",
    "respell",
    "sampling",
    "schema_order",
    "stream",
    "tool_descriptions",
    "tool_fault",
    "tool_order",
    "view_tools",
    "written_paraphrase",
]
