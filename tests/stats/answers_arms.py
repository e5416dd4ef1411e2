"""plumbline's answers to the reference entries about two arms, sample size, repeated looks and consistency."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from plumbline.stats import (
    Family,
    adjust,
    agreement_moments,
    anytime_lower,
    clean_runs_anytime,
    confidence_sequence,
    e_process,
    equivalence,
    exact_permutation,
    mcnemar,
    mcnemar_compatible,
    mee,
    miettinen_nurminen,
    mmd_squared,
    mmd_test,
    monte_carlo_check,
    newcombe,
    noninferiority_clean_runs,
    noninferiority_runs,
    pairwise_agreement,
    pass_k,
    pass_probability,
    peeking_probability,
    questions_needed,
    runs_for_power,
    runs_needed,
    sign_flip,
    smallest_eigenvalue,
    spectrum_gram,
    sprt_expected_runs,
    unpaired_test,
    wilson,
)

Entry = dict[str, Any]
WILSON = {"method": "wilson", "sidedness": "two-sided"}
BOUNDS = {
    "wilson_two_sided": WILSON,
    "wilson_one_sided": {"method": "wilson", "sidedness": "lower"},
    "clopper_pearson_one_sided": {"method": "clopper_pearson", "sidedness": "lower"},
    "clopper_pearson_two_sided": {"method": "clopper_pearson", "sidedness": "two-sided"},
}


def ends(estimate: Any) -> list[float]:
    return [estimate.low, estimate.high]


def permutation(entry: Entry) -> Entry:
    given = entry["inputs"]
    arms = given["successes"], given["n"]
    exact = exact_permutation(*arms)
    check = monte_carlo_check(given["published_p"], exact.p, draws=given["draws"])
    return {
        "exact_p_fraction": exact.fraction,
        "exact_p": exact.p,
        "fisher_two_sided_p": unpaired_test(*arms).p,
        "boschloo_scipy_p": unpaired_test(*arms, method="boschloo").p,
        "barnard_pooled_p": unpaired_test(*arms, method="barnard").p,
        "monte_carlo_se": check.se,
        "published_minus_exact_in_se": check.distance,
        "counts_compatible_with_published": list(check.compatible_counts),
        "expected_count": check.expected_count,
        "count_95_range": list(check.count_range),
        "p_95_range": list(check.p_range),
        "P_count_at_least_published": check.chance_at_least,
        "P_count_at_most_published": check.chance_at_most,
    }


def mcnemar_forms(entry: Entry) -> Entry:
    b, c = entry["inputs"]["b"], entry["inputs"]["c"]
    names = {"exact_p": "exact", "mid_p": "midp", "chi2_no_correction_p": "chi2", "chi2_continuity_p": "chi2_cc"}
    return {key: mcnemar(b, c, method=method).p for key, method in names.items()}


def paired_range(entry: Entry) -> Entry:
    pairs, failed = entry["inputs"]["complete_pairs"], entry["inputs"]["a_failures_among_complete_pairs"]
    second = entry["inputs"]["arm_b"][1] - entry["inputs"]["arm_b"][0]
    options = [mcnemar_compatible(first, second, pairs) for first in failed]
    disjoint, overlapping = ([[o.only_second, o.only_first, o.p] for o in kind] for kind in zip(*options, strict=True))
    every = [row[2] for row in disjoint + overlapping]
    return {"disjoint": disjoint, "overlapping": overlapping, "smallest": min(every), "largest": max(every)}


def flips(entry: Entry) -> Entry:
    differences = entry["inputs"]["per_task_difference"]
    found = sign_flip(differences)
    total = 2 ** len(differences)
    return {"count": int(found.fraction * total), "total": total, "p": found.p}


UNPAIRED = {
    "published-pairs-no-retry-vs-retry": ([52, 64], [64, 64]),
    "published-pairs-no-retry-vs-react": ([52, 55], [64, 56]),
    "published-pairs-retry-vs-react": ([64, 55], [64, 56]),
}


def published_pairs(entry: Entry) -> Entry:
    b, c = entry["inputs"]["discordant"]
    answers = {
        "mcnemar_exact_p": mcnemar(b, c).p,
        "mid_p": mcnemar(b, c, method="midp").p,
        "task_signflip_p": sign_flip(entry["inputs"]["per_task_difference"]).p,
        "unpaired_exact_p": exact_permutation(*UNPAIRED[entry["id"]]).p,
    }
    return {key: value for key, value in answers.items() if key in entry["outputs"]}


def difference(entry: Entry) -> Entry:
    arms = entry["inputs"]["successes"], entry["inputs"]["n"]
    answers: Entry = {"difference": newcombe(*arms).value}
    for name, method in (("newcombe_hybrid", newcombe), ("miettinen_nurminen", miettinen_nurminen), ("mee_score", mee)):
        for level in (95, 90):
            answers[f"{name}_{level}"] = ends(method(*arms, confidence=level / 100))
    return answers


def margins(entry: Entry) -> Entry:
    given = entry["inputs"]
    score, exact = (
        equivalence(given["successes"], given["n"], margin=given["margin"], method=method)
        for method in ("miettinen_nurminen", "exact")
    )
    return {
        "z_lower": score.z_lower,
        "p_noninferior": score.p_noninferior,
        "z_upper": score.z_upper,
        "p_nonsuperior": score.p_nonsuperior,
        "tost_p": score.p,
        "exact_p_noninferior": exact.p_noninferior,
        "exact_p_nonsuperior": exact.p_nonsuperior,
        "exact_tost_p": exact.p,
    }


def needed(entry: Entry) -> Entry:
    wall, failures = entry["inputs"]["threshold"], entry["inputs"]["failures"]
    return {key: [runs_needed(wall, failures=f, **bound) for f in failures] for key, bound in BOUNDS.items()}


def gate_power(entry: Entry) -> Entry:
    rate, wall, power = (entry["inputs"][key] for key in ("true_rate", "threshold", "power"))
    answers: Entry = {}
    for key in ("wilson_two_sided", "clopper_pearson_one_sided"):
        found = runs_for_power(rate, wall, power=power, **BOUNDS[key])
        answers[key] = {"n": found.n, "failures_allowed": found.failures_allowed, "power": found.power}
    answers["pass_probability_n73_zero_failures"] = pass_probability(rate, 73, wall, **WILSON)
    answers["pass_probability_n64_zero_failures"] = pass_probability(rate, 64, wall)
    return answers


def clean_arms(entry: Entry) -> Entry:
    return {
        "clean_n_per_arm": [noninferiority_clean_runs(margin) for margin in entry["inputs"]["margins"]],
        "n_per_arm_p_0_98_margin_0_05": noninferiority_runs(0.98, 0.05),
        "n_per_arm_p_0_95_margin_0_05": noninferiority_runs(0.95, 0.05),
        "n_per_arm_p_0_98_margin_0_10": noninferiority_runs(0.98, 0.10),
        "n_per_arm_p_0_99_margin_0_02": noninferiority_runs(0.99, 0.02),
    }


def miller(entry: Entry) -> Entry:
    given = entry["inputs"]
    found = questions_needed(
        given["delta"],
        between_variance=float(Fraction(given["omega2"])),
        noise_first=given["sigma2_over_K"],
        alpha=given["alpha"],
        power=given["power"],
    )
    return {"n": found, "ceil": int(np.ceil(found))}


def multiplicity(entry: Entry) -> Entry:
    p = {str(position): value for position, value in enumerate(entry["inputs"]["p"])}
    family = Family(name="reference", members=tuple(p))
    methods = ("bonferroni", "holm", "hommel", "benjamini_hochberg", "benjamini_yekutieli")
    found = {method: adjust(p, family=family, alpha=entry["inputs"]["alpha"], method=method) for method in methods}
    return {method: list(answer.adjusted.values()) for method, answer in found.items()} | {
        "rejected_holm": len(found["holm"].rejected),
        "rejected_bh": len(found["benjamini_hochberg"].rejected),
    }


def anytime(entry: Entry) -> Entry:
    c, n = entry["inputs"]["successes"], entry["inputs"]["n"]
    confidence = 1 - entry["inputs"]["alpha"]
    return {
        "beta_1_1": ends(confidence_sequence(c, n, confidence=confidence)),
        "beta_half_half": ends(confidence_sequence(c, n, confidence=confidence, mixture="half")),
        "one_sided_truncated_uniform_lower": anytime_lower(c, n, confidence=confidence).low,
    }


def evidence(entry: Entry) -> Entry:
    given = entry["inputs"]
    found = e_process(given["successes"], given["failures"], threshold=given["p0"])
    return {"log_e": found.log_e, "e": found.e, "anytime_p": found.anytime_p, "reject_at_20": found.rejects(0.05)}


def clean_looks(entry: Entry) -> Entry:
    wall, alpha = entry["inputs"]["threshold"], entry["inputs"]["alpha"]
    return {
        "beta_1_1_two_sided": clean_runs_anytime(wall, alpha=alpha, method="confidence_sequence"),
        "truncated_uniform_one_sided": clean_runs_anytime(wall, alpha=alpha),
        "sprt_point_alternative_0_99": clean_runs_anytime(wall, alpha=alpha, method="sprt"),
        "point_alternative_1_0": clean_runs_anytime(wall, alpha=alpha, method="sprt", alternative=1.0),
        "fixed_n_clopper_pearson": runs_needed(wall),
        "fixed_n_wilson_two_sided": runs_needed(wall, **WILSON),
    }


def peeking(entry: Entry) -> Entry:
    given = entry["inputs"]
    return {
        key: list(peeking_probability(given["true_rate"], given["threshold"], looks=given["N"], **BOUNDS[key]))
        for key in ("wilson_two_sided", "wilson_one_sided", "clopper_pearson_one_sided")
    }


def agreement(entry: Entry) -> Entry:
    found = pairwise_agreement(entry["inputs"]["counts"])
    # Where the jackknife is 0 it means nothing, and plumbline gives no error at all.
    assert (found.se is None) == (found.jackknife_variance == 0)
    return {
        "U": found.value,
        "U_fraction": found.fraction,
        "V": found.plug_in,
        "distinct": found.distinct,
        "jackknife_variance": found.jackknife_variance,
        "jackknife_variance_fraction": Fraction(found.jackknife_variance).limit_denominator(10_000),
        "jackknife_se": found.se or 0.0,
    }


def true_variance(entry: Entry) -> Entry:
    shares = [Fraction(share) for share in entry["inputs"]["p"]]
    mean, variance = agreement_moments(shares, entry["inputs"]["n"])
    return {"expectation": mean, "variance": variance, "variance_fraction": variance}


def pass_hat(entry: Entry) -> Entry:
    found = pass_k(entry["inputs"]["successes"], entry["inputs"]["trials"], entry["inputs"]["k"])
    return {
        "pass_hat_k": found.pass_hat,
        "fraction": found.pass_hat,
        "pass_at_k": found.pass_at,
        "plug_in_biased": found.plug_in,
    }


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, above = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def edit_similarity(entry: Entry) -> Entry:
    words = entry["inputs"]["strings"]
    gram = [[1 - levenshtein(a, b) / max(len(a), len(b)) for b in words] for a in words]
    return {"min_eigenvalue": smallest_eigenvalue(gram), "gram": gram}


def lcs_similarity(entry: Entry) -> Entry:
    words = entry["inputs"]["strings"]

    def common(a: str, b: str) -> int:
        if not a or not b:
            return 0
        return common(a[1:], b[1:]) + 1 if a[0] == b[0] else max(common(a[1:], b), common(a, b[1:]))

    return {"min_eigenvalue": smallest_eigenvalue([[2 * common(a, b) / len(a + b) for b in words] for a in words])}


def mmd(entry: Entry) -> Entry:
    x, y = entry["inputs"]["X"], entry["inputs"]["Y"]
    gram, first = spectrum_gram(x + y), np.arange(len(x) + len(y)) < len(x)
    found = mmd_test(gram, first)
    splits = round(1 / found.smallest_attainable_p)
    pair = spectrum_gram(["abc", "abd", "acb"])
    return {
        "mmd2_u": mmd_squared(gram, first),
        "permutation_count": int(found.fraction * splits),
        "splits": splits,
        "p": found.p,
        "k_abc_abd": pair[0, 1],
        "k_abc_acb": pair[0, 2],
    }


def agentassay(entry: Entry) -> Entry:
    under_null, under_alternative = sprt_expected_runs(0.9, 0.8, alpha=0.05, beta=0.1)
    pairs = {key: [int(part) for part in key.split("/")] for key in entry["inputs"]["wilson_printed"]}
    return {
        "wilson_actual": {key: ends(wilson(*pair)) for key, pair in pairs.items()},
        "wald_expected_n_under_h0": under_null,
        "wald_expected_n_under_h1": under_alternative,
    }


ANSWERS = {
    "permutation-": permutation,
    "mcnemar-": mcnemar_forms,
    "paired-range-": paired_range,
    "task-signflip-": flips,
    "published-pairs-": published_pairs,
    "diff-ci-": difference,
    "equivalence-": margins,
    "runs-needed-": needed,
    "gate-power-": gate_power,
    "non-inferiority-clean-runs": clean_arms,
    "miller-power-": miller,
    "multiplicity-": multiplicity,
    "confseq-": anytime,
    "eprocess-": evidence,
    "clean-runs-anytime": clean_looks,
    "peeking-false-pass": peeking,
    "agreement-U-true-variance": true_variance,
    "agreement-U-": agreement,
    "pass-hat-": pass_hat,
    "edit-similarity-not-psd": edit_similarity,
    "lcs-dice-not-psd": lcs_similarity,
    "mmd-spectrum-example": mmd,
    "agentassay-examples": agentassay,
}
