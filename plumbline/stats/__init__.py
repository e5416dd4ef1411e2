"""Estimates from plain arrays: this floor sees counts and cluster labels, nothing else."""

from plumbline.stats.blocks import sign_flip
from plumbline.stats.differences import newcombe
from plumbline.stats.estimate import Contrast, Estimate
from plumbline.stats.monte_carlo import monte_carlo_check
from plumbline.stats.paired import mcnemar, pair_table
from plumbline.stats.proportions import clopper_pearson, wilson
from plumbline.stats.two_arms import exact_permutation

__all__ = [
    "Contrast",
    "Estimate",
    "clopper_pearson",
    "exact_permutation",
    "mcnemar",
    "monte_carlo_check",
    "newcombe",
    "pair_table",
    "sign_flip",
    "wilson",
]
