"""Trace files of other stacks: in, described, and out again."""

from plumbline.exchange.api import read_traces
from plumbline.exchange.drafts import NOT_RECORDED, Labels, StepDraft, TrialDraft, Unreadable
from plumbline.exchange.formats import FORMATS, reader_of
from plumbline.exchange.reader import Column, Reader
from plumbline.exchange.source import Source

__all__ = [
    "FORMATS",
    "NOT_RECORDED",
    "Column",
    "Labels",
    "Reader",
    "Source",
    "StepDraft",
    "TrialDraft",
    "Unreadable",
    "read_traces",
    "reader_of",
]
