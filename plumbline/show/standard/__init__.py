"""The standard conformance report: any run, any policy, without a study."""

from plumbline.show.standard.beneath import bound_table, matrix_table, wide_counts, worded
from plumbline.show.standard.frames import (
    arm_counts,
    fault_counts,
    rule_counts,
    rule_table,
    steps_of,
    witness_table,
    witnesses,
    worst_violation,
)
from plumbline.show.standard.index import index_page
from plumbline.show.standard.parts import aligned_calls, beside, counterparts, onset_note
from plumbline.show.standard.pdf import find_browser, print_pdf
from plumbline.show.standard.words import answer, cannot_claim
from plumbline.show.standard.writing import StandardReport, standard_report

__all__ = [
    "StandardReport",
    "aligned_calls",
    "answer",
    "arm_counts",
    "beside",
    "bound_table",
    "cannot_claim",
    "counterparts",
    "fault_counts",
    "find_browser",
    "index_page",
    "matrix_table",
    "onset_note",
    "print_pdf",
    "rule_counts",
    "rule_table",
    "standard_report",
    "steps_of",
    "wide_counts",
    "witness_table",
    "witnesses",
    "worded",
    "worst_violation",
]
