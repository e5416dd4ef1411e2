"""Typed arguments and alignment of traces."""

from plumbline.compare.alignment import Alignment, align
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.calls import ArgumentComparison, compare_arguments, judge_calls
from plumbline.compare.columns import equal_columns
from plumbline.compare.divergence import Divergence
from plumbline.compare.field_rules import (
    FieldRule,
    date,
    enumeration,
    exact,
    identifier,
    ignore,
    instant,
    list_of,
    money,
    multiset_of,
    number,
    set_of,
    text,
)
from plumbline.compare.frames import expand, get, state
from plumbline.compare.kernel import Scoring
from plumbline.compare.matching import CallMatching, match_calls
from plumbline.compare.normalise import NORMALISERS
from plumbline.compare.pairs import PairSimilarity, pair_similarity
from plumbline.compare.paths import Paths, read_paths
from plumbline.compare.published import published_field, published_rules
from plumbline.compare.scripts import Scripts, SequenceAlignment, align_paths, align_sequences
from plumbline.compare.tools import ToolTraits, tool_traits, traits_from_mcp
from plumbline.compare.values import CallComparison, compare_call, compare_values
from plumbline.compare.verdicts import MISSING, SEVERITIES, VERDICTS, FieldComparison, show_ratio

__all__ = [
    "MISSING",
    "NORMALISERS",
    "SEVERITIES",
    "VERDICTS",
    "Alignment",
    "ArgumentComparison",
    "ArgumentRules",
    "CallComparison",
    "CallMatching",
    "Divergence",
    "FieldComparison",
    "FieldRule",
    "PairSimilarity",
    "Paths",
    "Scoring",
    "Scripts",
    "SequenceAlignment",
    "ToolTraits",
    "align",
    "align_paths",
    "align_sequences",
    "compare_arguments",
    "compare_call",
    "compare_values",
    "date",
    "enumeration",
    "equal_columns",
    "exact",
    "expand",
    "get",
    "identifier",
    "ignore",
    "instant",
    "judge_calls",
    "list_of",
    "match_calls",
    "money",
    "multiset_of",
    "number",
    "pair_similarity",
    "published_field",
    "published_rules",
    "read_paths",
    "set_of",
    "show_ratio",
    "state",
    "text",
    "tool_traits",
    "traits_from_mcp",
]
