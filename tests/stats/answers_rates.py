"""plumbline's answers to the reference entries about one proportion, missing runs, clusters and cells."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

from plumbline.stats import (
    anova_icc,
    cells_coverage,
    clean_tasks,
    cluster_se,
    cluster_t,
    effective_interval,
    exact_permutation,
    korn_graubard,
    mcnemar,
    missing_bounds,
    missingness_homogeneity,
    pass_hat_suite,
    pass_k,
    per_cell_level,
    proportion,
    published_minimum,
    rho_scenarios,
    runs_needed,
    simultaneous_bounds,
    suite_miss_rate,
    task_difference,
    tasks_estimate,
    unpaired_test,
    wilson,
    worst_case,
    worst_miss_rate,
)
from plumbline.stats.clusters import design_effect

Entry = dict[str, Any]


def ends(estimate: Any) -> list[float]:
    return [estimate.low, estimate.high]


def prop(entry: Entry) -> Entry:
    c, n = entry["inputs"]["successes"], entry["inputs"]["n"]
    answers: Entry = {"estimate": wilson(c, n).value}
    for key, method in (
        ("wilson_two_sided", "wilson"),
        ("wilson_two_sided_cc", "wilson_cc"),
        ("clopper_pearson_two_sided", "clopper_pearson"),
        ("jeffreys_equal_tailed", "jeffreys"),
        ("agresti_coull_unclipped", "agresti_coull"),
    ):
        answers[key] = ends(proportion(c, n, method=method))
    for method in ("wilson", "clopper_pearson"):
        answers[f"{method}_one_sided_lower"] = proportion(c, n, method=method, sidedness="lower").low
        answers[f"{method}_one_sided_upper"] = proportion(c, n, method=method, sidedness="upper").high
    return answers


def wilson_z(entry: Entry) -> Entry:
    confidence = 2 * NormalDist().cdf(entry["inputs"]["z"]) - 1
    return {"lower": wilson(entry["inputs"]["successes"], entry["inputs"]["n"], confidence=confidence).low}


def faulted(entry: Entry) -> Entry:
    given = entry["inputs"]
    a, b = given["plan_execute_no_retry"], given["plan_execute_three_retries"]
    assert not wilson(*given["react_parity_or_retry"]).known
    return {
        "no_retry_wilson": ends(wilson(*a)),
        "retry_wilson": ends(wilson(*b)),
        "no_retry_vs_retry_mcnemar_p": mcnemar(b[0] - a[0], 0).p,
        "fisher_20_32_vs_32_32": unpaired_test([a[0], b[0]], [a[1], b[1]]).p,
    }


def coverage(entry: Entry) -> Entry:
    answers: Entry = {}
    for key, method, sidedness in (
        ("wilson_two_sided_lower", "wilson", "two-sided"),
        ("wilson_one_sided_lower", "wilson", "lower"),
        ("clopper_pearson_one_sided_lower", "clopper_pearson", "lower"),
        ("jeffreys_one_sided_lower", "jeffreys", "lower"),
    ):
        half, high = (
            worst_miss_rate(entry["inputs"]["n"], method=method, sidedness=sidedness, at_least=floor)
            for floor in (0.5, 0.9)
        )
        answers[key] = {"worst_noncoverage_p_ge_0_5": half.rate, "worst_noncoverage_p_ge_0_9": high.rate}
        answers[key] |= {"at_c": half.successes, "at_p": half.true_rate}
    return answers


def manski(entry: Entry) -> Entry:
    c, done, planned = (entry["inputs"][key] for key in ("successes", "observed", "planned"))
    found = missing_bounds(c, done, planned)
    exact = missing_bounds(c, done, planned, method="clopper_pearson", sidedness="lower")
    return {
        "worst_case": found.worst.value,
        "best_case": found.best.value,
        "complete_case": found.complete.value,
        "identification_width": found.width,
        "wilson_lower_of_worst": found.worst.low,
        "wilson_lower_of_best": found.best.low,
        "wilson_upper_of_best": found.best.high,
        "clopper_pearson_one_sided_lower_of_worst": exact.worst.low,
        "complete_case_wilson": ends(found.complete),
    }


def certified(entry: Entry) -> Entry:
    observed = {name: tuple(pair) for name, pair in entry["inputs"]["observed"].items()}
    complete = worst_case({name: wilson(*pair) for name, pair in observed.items()})
    rule = published_minimum({name: wilson(*pair) for name, pair in observed.items()})
    if "missing" not in entry["inputs"]:
        return {"minimum": complete.bound, "published": round(rule.bound, 4)}
    bounds = {name: missing_bounds(c, n, n + entry["inputs"]["missing"][name]) for name, (c, n) in observed.items()}
    failed = worst_case({name: found.worst for name, found in bounds.items()}).bound
    passed = worst_case({name: found.best for name, found in bounds.items()}).bound
    return {
        "missing_fail_all": failed,
        "complete_cases": complete.bound,
        "missing_pass_all": passed,
        "lower_bound_of_smallest_point_estimate_first_on_tie": rule.bound,
        "published_0_2_0": round(failed, 4),
        "published_0_3_0": round(rule.bound, 4),
    }


def homogeneity(entry: Entry) -> Entry:
    missing, observed = entry["inputs"]["missing"], entry["inputs"]["observed"]
    whole = missingness_homogeneity(missing, observed)
    decoy = [missing[4], sum(missing) - missing[4]], [64, 5 * 64]
    return {
        "decoy_vs_rest_fisher_p": unpaired_test(*decoy).p,
        "chi2": whole.statistic,
        "df": int(whole.method.split(", ")[1].split()[0]),
        "chi2_p": whole.p,
    }


def tau_bench(entry: Entry) -> Entry:
    c, m = entry["inputs"]["successes_per_task"], entry["inputs"]["trials_per_task"]
    n, total = [m] * len(c), sum(c)
    passes = [pass_hat_suite(c, n, k) for k in range(1, m + 1)]
    icc = anova_icc(c, n)
    effect = design_effect(m, float(icc))
    naive = (total / sum(n) * (1 - total / sum(n)) / sum(n)) ** 0.5
    return {
        "pass_hat": [found.value for found in passes],
        "pass_hat_fractions": [sum(pass_k(x, m, k).pass_hat for x in c) / len(c) for k in range(1, m + 1)],
        "pass_hat_se_over_tasks": [found.se for found in passes],
        "naive_binomial_se": naive,
        "cluster_se_cr0": cluster_se(c, n, correction="CR0"),
        "cluster_se_cr1": cluster_se(c, n),
        "cluster_t_interval": ends(cluster_t(c, n)),
        "naive_wilson": ends(wilson(total, sum(n))),
        "anova_icc": tasks_estimate(c, n).icc,
        "anova_icc_fraction": icc,
        "design_effect": effect,
        "effective_n": sum(n) / effect,
        "wilson_effective_n": ends(effective_interval(total, sum(n), sum(n) / effect)),
        "cr0_variance_ratio_to_binomial": (cluster_se(c, n, correction="CR0") / naive) ** 2,
    }


def scenarios(entry: Entry) -> Entry:
    given = entry["inputs"]
    rows = rho_scenarios(given["successes"], given["n"], runs_per_cluster=given["runs_per_task"], rhos=given["rho"])
    return {
        str(rho): {
            "design_effect": row.design_effect,
            "effective_n": row.effective_n,
            "wilson_lower": row.wilson_lower,
            "clopper_pearson_one_sided_lower": row.clopper_pearson_lower,
        }
        for rho, row in zip(given["rho"], rows, strict=True)
    }


def by_task(entry: Entry) -> Entry:
    c, m = entry["inputs"]["successes_per_task"], entry["inputs"]["runs_per_task"]
    n, faulted_runs = [m] * len(c), [0 if x == 4 else 4 for x in c]
    icc = anova_icc(c, n)
    size = sum(n) / design_effect(m, float(icc))
    return {
        "naive_wilson": ends(wilson(sum(c), sum(n))),
        "anova_icc": tasks_estimate(c, n).icc,
        "anova_icc_fraction": icc,
        "design_effect": design_effect(m, float(icc)),
        "effective_n": size,
        "wilson_effective_n": ends(effective_interval(sum(c), sum(n), size)),
        "cluster_se": task_difference([x / m for x in c]).se,
        "cluster_t_interval": ends(cluster_t(c, n)),
        "faulted_icc": float(anova_icc(faulted_runs, [4] * len(c))),
    }


def korn(entry: Entry) -> Entry:
    given = entry["inputs"]
    one, two = (
        korn_graubard(given["successes"], given["n"], given["tasks"], effect=given["deff"], sidedness=side)
        for side in ("lower", "two-sided")
    )
    return {"n_star": one.effective_n, "two_sided_lower": two.low, "one_sided_lower": one.low}


def whole_tasks(entry: Entry) -> Entry:
    c, k = entry["inputs"]["clean_tasks"], entry["inputs"]["tasks"]
    runs = [8] * c + [7] * (k - c)
    return {
        "clopper_pearson_one_sided_lower": clean_tasks(runs, [8] * k).low,
        "clopper_pearson_two_sided_lower": clean_tasks(runs, [8] * k, sidedness="two-sided").low,
        "wilson_two_sided_lower": effective_interval(c, k, k).low,
    }


def suite(entry: Entry) -> Entry:
    rates, runs = entry["inputs"]["task_rates"], entry["inputs"]["runs_per_task"]
    exact = suite_miss_rate(rates, runs)
    return {
        "suite_mean": exact.suite_mean,
        "noncoverage_clopper_pearson_one_sided": exact.miss_rate,
        "noncoverage_wilson_two_sided_lower": suite_miss_rate(
            rates, runs, method="wilson", sidedness="two-sided"
        ).miss_rate,
        "sd_ratio_to_binomial": exact.sd_ratio,
    }


def cells(entry: Entry) -> Entry:
    rates, n = entry["inputs"]["true_rates"], entry["inputs"]["n"]
    exact, naive = cells_coverage(rates, n), cells_coverage(rates, n, method="wilson", sidedness="two-sided")
    return {
        "wilson_two_sided": {
            "P_min_bound_not_above_true_min": naive.minimum_covered,
            "P_all_cells_simultaneously_covered": naive.all_covered,
        },
        "clopper_pearson_one_sided": {
            "P_min_bound_not_above_true_min": exact.minimum_covered,
            "P_all_cells_simultaneously_covered": exact.all_covered,
        },
        "expected_min_estimate": exact.expected_minimum,
        "bias_of_min_estimate": exact.bias,
        "P_naive_wilson_upper_of_observed_worst_cell_covers_true_min": naive.worst_interval_covers,
        "expected_certified_bound_wilson": naive.expected_bound,
    }


def cell_level(entry: Entry) -> Entry:
    k = entry["inputs"]["k"]
    level = per_cell_level(k)
    bounds = simultaneous_bounds({str(cell): (64, 64) for cell in range(k)})
    return {
        "bonferroni": level,
        "sidak": per_cell_level(k, correction="sidak"),
        "clopper_pearson_lower_64_of_64_bonferroni": worst_case(bounds).bound,
        "runs_needed_zero_failures_threshold_0_95": runs_needed(0.95, confidence=1 - level),
    }


def reliability(entry: Entry) -> Entry:
    (c1, n1), (c2, n2) = entry["outputs"]["counts"]
    from plumbline.stats import newcombe

    pair = [c1, c2], [n1, n2]
    return {
        "difference": exact_permutation(*pair).difference,
        "fisher_p": unpaired_test(*pair).p,
        "newcombe_95": ends(newcombe(*pair)),
    }


def invariance(entry: Entry) -> Entry:
    found = wilson(entry["outputs"]["count"], entry["inputs"]["n"])
    return {"rate": found.value, "wilson_95": ends(found)}


ANSWERS = {
    "prop-": prop,
    "wilson-z-rounding": wilson_z,
    "faulted-runs-only": faulted,
    "coverage-lower-": coverage,
    "manski-": manski,
    "certified-": certified,
    "missingness-not-uniform": homogeneity,
    "tau-bench-": tau_bench,
    "effective-n-": scenarios,
    "parity-plan-execute-tool-fault-by-task": by_task,
    "korn-graubard-": korn,
    "task-level-": whole_tasks,
    "suite-scope-": suite,
    "min-over-cells-": cells,
    "per-cell-level-": cell_level,
    "reliabilitybench-counts": reliability,
    "semantic-invariance-counts": invariance,
}
