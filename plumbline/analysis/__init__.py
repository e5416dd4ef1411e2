"""Counts with their denominators: k of n, by what, with exposure and missing runs."""

from plumbline.analysis.exposure import as_treated, exposure
from plumbline.analysis.tallies import BEHAVIOUR, estimate, graded, one_trial, share, tally

__all__ = ["BEHAVIOUR", "as_treated", "estimate", "exposure", "graded", "one_trial", "share", "tally"]
