"""Recorded runs: frames, validation, Arrow run folders."""

from plumbline.traces.recording import Counts, Plan, Recording, concat_recordings
from plumbline.traces.store import read_run, write_run, write_text

__all__ = ["Counts", "Plan", "Recording", "concat_recordings", "read_run", "write_run", "write_text"]
