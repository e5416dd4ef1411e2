"""Recorded runs: frames, validation, Arrow run folders."""

from plumbline.traces.recording import Counts, Plan, Recording, concat_recordings
from plumbline.traces.store import read_run, write_bytes, write_run, write_text
from plumbline.traces.views import call_counts, calls, paths

__all__ = [
    "Counts",
    "Plan",
    "Recording",
    "call_counts",
    "calls",
    "concat_recordings",
    "paths",
    "read_run",
    "write_bytes",
    "write_run",
    "write_text",
]
