"""Trace diffs: two traces side by side as a widget, a static table and text."""

from plumbline.show.diff.model import TraceDiff, diff
from plumbline.show.diff.runs import diff_row, diff_run

__all__ = ["TraceDiff", "diff", "diff_row", "diff_run"]
