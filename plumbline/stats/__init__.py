"""Estimates from plain arrays: this floor sees counts and cluster labels, nothing else."""

from __future__ import annotations

from plumbline.stats.blocks import sign_flip, task_difference, task_equivalence
from plumbline.stats.bootstrap import bootstrap_rates, cluster_bootstrap
from plumbline.stats.carried import carried_rate
from plumbline.stats.cluster_intervals import cluster_t, effective_interval, korn_graubard
from plumbline.stats.clusters import (
    ClusterCounts,
    RhoScenario,
    anova_icc,
    cluster_counts,
    cluster_se,
    design_effect,
    rho_scenarios,
)
from plumbline.stats.consistency import (
    Agreement,
    PassK,
    agreement_moments,
    identical_counts,
    pairwise_agreement,
    pairwise_similarity,
    pass_hat_suite,
    pass_k,
)
from plumbline.stats.differences import mee, miettinen_nurminen, newcombe, score_z
from plumbline.stats.drift import (
    NOMINAL_Z3,
    false_alarm_table,
    jaccard_false_alarm,
    rank_p_value,
    zscore_false_alarm,
    zscore_threshold,
)
from plumbline.stats.drift_cusum import BernoulliCusum, cusum_run_length, simulated_run_length
from plumbline.stats.drift_mix import ToolMix, tool_mix_test, window_rank_test
from plumbline.stats.drift_simulated import SESSION_KINDS, any_false_alarm
from plumbline.stats.estimate import Contrast, Estimate
from plumbline.stats.exact_tables import unpaired_test
from plumbline.stats.graders import Grading, corrected_rate, grading, prediction_powered
from plumbline.stats.kernels import distance_test, mmd_squared, mmd_test, smallest_eigenvalue, spectrum_gram
from plumbline.stats.looks import peeking_probability, sprt_expected_runs
from plumbline.stats.margins import Equivalence, equivalence
from plumbline.stats.missing import MissingBounds, missing_bounds, missingness_homogeneity
from plumbline.stats.monte_carlo import MonteCarloCheck, monte_carlo_check
from plumbline.stats.multiplicity import Adjusted, Family, adjust
from plumbline.stats.operating import (
    CellsCoverage,
    MissRate,
    SuiteMiss,
    cells_coverage,
    suite_miss_rate,
    worst_miss_rate,
)
from plumbline.stats.paired import CompatiblePairing, PairTable, mcnemar, mcnemar_compatible, pair_table
from plumbline.stats.paired_intervals import newcombe_paired, paired_equivalence, tango
from plumbline.stats.permutation import permutation_means
from plumbline.stats.plan import PlanScenario, RunsPlan, plan_runs
from plumbline.stats.planning import GatePower, gate_failures, pass_probability, runs_for_power, runs_needed
from plumbline.stats.planning_two_arms import noninferiority_clean_runs, noninferiority_runs, questions_needed
from plumbline.stats.proportions import clopper_pearson, proportion, proportion_bounds, wilson
from plumbline.stats.raters import RaterAgreement, rater_agreement, rating_table
from plumbline.stats.sequential import (
    EProcess,
    anytime_lower,
    clean_runs_anytime,
    combine_e_values,
    confidence_sequence,
    e_process,
)
from plumbline.stats.simultaneous import (
    LargestDrop,
    largest_drop,
    minimum_upper_bound,
    per_cell_level,
    simultaneous_bounds,
)
from plumbline.stats.task_scope import clean_tasks, tasks_estimate
from plumbline.stats.two_arms import exact_permutation, stratified_permutation
from plumbline.stats.worst_cell import WorstCase, published_minimum, worst_case

__all__ = [
    "NOMINAL_Z3",
    "SESSION_KINDS",
    "Adjusted",
    "Agreement",
    "BernoulliCusum",
    "CellsCoverage",
    "ClusterCounts",
    "CompatiblePairing",
    "Contrast",
    "EProcess",
    "Equivalence",
    "Estimate",
    "Family",
    "GatePower",
    "Grading",
    "LargestDrop",
    "MissRate",
    "MissingBounds",
    "MonteCarloCheck",
    "PairTable",
    "PassK",
    "PlanScenario",
    "RaterAgreement",
    "RhoScenario",
    "RunsPlan",
    "SuiteMiss",
    "ToolMix",
    "WorstCase",
    "adjust",
    "agreement_moments",
    "anova_icc",
    "any_false_alarm",
    "anytime_lower",
    "bootstrap_rates",
    "carried_rate",
    "cells_coverage",
    "clean_runs_anytime",
    "clean_tasks",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_counts",
    "cluster_se",
    "cluster_t",
    "combine_e_values",
    "confidence_sequence",
    "corrected_rate",
    "cusum_run_length",
    "design_effect",
    "distance_test",
    "e_process",
    "effective_interval",
    "equivalence",
    "exact_permutation",
    "false_alarm_table",
    "gate_failures",
    "grading",
    "identical_counts",
    "jaccard_false_alarm",
    "korn_graubard",
    "largest_drop",
    "mcnemar",
    "mcnemar_compatible",
    "mee",
    "miettinen_nurminen",
    "minimum_upper_bound",
    "missing_bounds",
    "missingness_homogeneity",
    "mmd_squared",
    "mmd_test",
    "monte_carlo_check",
    "newcombe",
    "newcombe_paired",
    "noninferiority_clean_runs",
    "noninferiority_runs",
    "pair_table",
    "paired_equivalence",
    "pairwise_agreement",
    "pairwise_similarity",
    "pass_hat_suite",
    "pass_k",
    "pass_probability",
    "peeking_probability",
    "per_cell_level",
    "permutation_means",
    "plan_runs",
    "prediction_powered",
    "proportion",
    "proportion_bounds",
    "published_minimum",
    "questions_needed",
    "rank_p_value",
    "rater_agreement",
    "rating_table",
    "rho_scenarios",
    "runs_for_power",
    "runs_needed",
    "score_z",
    "sign_flip",
    "simulated_run_length",
    "simultaneous_bounds",
    "smallest_eigenvalue",
    "spectrum_gram",
    "sprt_expected_runs",
    "stratified_permutation",
    "suite_miss_rate",
    "tango",
    "task_difference",
    "task_equivalence",
    "tasks_estimate",
    "tool_mix_test",
    "unpaired_test",
    "wilson",
    "window_rank_test",
    "worst_case",
    "worst_miss_rate",
    "zscore_false_alarm",
    "zscore_threshold",
]
