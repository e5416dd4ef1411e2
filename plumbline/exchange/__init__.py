"""Trace files of other stacks: in, described, and out again."""

from plumbline.exchange.api import read_traces
from plumbline.exchange.coverage import Coverage, coverage
from plumbline.exchange.drafts import NOT_RECORDED, Labels, StepDraft, TrialDraft, Unreadable
from plumbline.exchange.formats import FORMATS, reader_of
from plumbline.exchange.pieces import read_pieces
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.redact import Redaction, redaction
from plumbline.exchange.source import Source
from plumbline.exchange.writers.otlp import otlp_lines, otlp_request

__all__ = [
    "FORMATS",
    "NOT_RECORDED",
    "Column",
    "Coverage",
    "Labels",
    "Reader",
    "Redaction",
    "Source",
    "StepDraft",
    "TrialDraft",
    "Unreadable",
    "coverage",
    "otlp_lines",
    "otlp_request",
    "read_pieces",
    "read_traces",
    "reader_of",
    "redaction",
]
