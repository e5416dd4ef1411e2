"""What the published figures of equivalence hide, on the committed runs: ground truth, unequal paths, ties, pairs."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from plumbline.analysis import graded, paired_outcomes
from plumbline.compare.normalise import published_value
from plumbline.domains.procure_to_pay.truth import grade_published
from tests.domains.committed import consistent, counts, equivalent, rules, run


def test_a_wrong_incumbent_makes_a_right_replacement_diverge():
    table = equivalent("parity").against_truth.set_index(["incumbent", "replacement"])
    assert table["different"].sum() == 18
    assert table.loc[("wrong", "right"), "different"] == 16
    assert table.loc[("right", "wrong"), "different"] == 2
    assert table.loc[("right", "right"), "same"] == 336
    assert table["cannot_tell"].sum() == 0
    assert counts(equivalent("parity").no_worse) == (352, 354)
    other = equivalent("retry").against_truth.set_index(["incumbent", "replacement"])
    assert other.loc[("wrong", "right"), "different"] == 0
    assert other.loc[("right", "wrong"), "different"] == 2
    assert counts(equivalent("retry").no_worse) == counts(equivalent("retry").outcome)


def naive_matched_steps(study: str) -> tuple[int, int, int]:
    """Matched steps, agreeing ones, and pairs without a difference: an aligner and a comparison of this test's own."""
    found, steps = equivalent(study), run(study).steps
    calls = steps[steps["kind"] == "tool_call"]
    of = {t: list(zip(p["name"], map(json.loads, p["arguments"]), strict=True)) for t, p in calls.groupby("trial_id")}
    low = {
        (tool, f)
        for tool, fields in rules().items()
        for f, (kind, s) in fields.items()
        if s == "low" or kind == "ignore"
    }
    matched = agreeing = whole = 0
    for trial, against in zip(found.pairs["trial_id"], found.pairs["against"], strict=True):
        new, old = of[trial], of[against]
        score = {(i, 0): -2 * i for i in range(len(new) + 1)} | {(0, j): -2 * j for j in range(len(old) + 1)}
        for i, (a, _) in enumerate(new, 1):
            for j, (b, _) in enumerate(old, 1):
                diagonal = score[i - 1, j - 1] + (2 if a == b else -1)
                score[i, j] = max(diagonal, score[i - 1, j] - 2, score[i, j - 1] - 2)
        i, j, clean = len(new), len(old), True
        while i and j:
            same = new[i - 1][0] == old[j - 1][0]
            if score[i, j] == score[i - 1, j - 1] + (2 if same else -1):
                if same:
                    tool, one, two = new[i - 1][0], new[i - 1][1], old[j - 1][1]
                    keys = [k for k in one.keys() | two.keys() if (tool, k) not in low]
                    equal = all(
                        k in one and k in two and published_value(one[k]) == published_value(two[k]) for k in keys
                    )
                    matched, agreeing, clean = matched + 1, agreeing + equal, clean and equal
                i, j = i - 1, j - 1
            elif score[i, j] == score[i, j - 1] - 2:
                j -= 1
            else:
                i -= 1
        whole += clean
    return matched, agreeing, whole


@pytest.mark.parametrize("study", ["parity", "retry"])
def test_argument_agreement_without_conditioning_on_equal_paths(study):
    found = equivalent(study)
    matched, agreeing, whole = naive_matched_steps(study)
    assert counts(found.matched_steps) == (agreeing, matched)
    assert counts(found.matched_arguments) == (whole, len(found.pairs))
    assert found.arguments.n < found.matched_arguments.n, "its own denominator: all pairs"
    assert found.matched_steps.low is None, "steps are not independent, so they give no interval"


def test_two_runs_against_each_other_instead_of_the_mode_against_itself():
    """A 1:1 tie counts as half consistent in the publication; two runs that differ do not agree at all."""
    for study, untied in (("parity", 180), ("retry", 160)):
        found = equivalent(study)
        assert 192 - len(found.ties) == untied
        assert found.incumbent_agreement.same_variant.value == pytest.approx(untied / 192, abs=1e-12)
        assert found.self_consistency.value == pytest.approx((192 + untied) / 384, abs=1e-12)
    alike = equivalent("parity").incumbent_agreement
    assert alike.tasks["se"].isna().all(), "all runs alike: the error cannot be told, it is not 0"
    assert (alike.tasks["agreement"] == 1).all()
    assert alike.baseline.low is None
    react = equivalent("parity").replacement_agreement.tasks.set_index("task_id")
    steps = run("parity").steps
    mine = steps[steps["trial_id"].str.startswith("react/INV-7007/baseline/") & (steps["kind"] == "tool_call")]
    sizes = Counter(mine.groupby("trial_id")["name"].agg(tuple)).values()
    assert react.loc["INV-7007", "agreement"] == pytest.approx(sum(c * (c - 1) for c in sizes) / 56, abs=1e-12)
    assert react.loc["INV-7007", "variance"] == pytest.approx(react.loc["INV-7007", "se"] ** 2)
    once = consistent("determinism", "react").agreement
    assert once.same_variant.value is None, "no variant was run twice there"


def test_pass_k_has_each_tasks_own_counts():
    table = equivalent("parity").incumbent_passes.tasks.set_index(["over", "task_id", "k"])
    for task, right in (("INV-7002", 44), ("INV-7003", 48)):
        row = table.loc[("all", task, 2)]
        assert (row["successes"], row["trials"]) == (right, 48)
        assert row["pass_hat"] == pytest.approx(right * (right - 1) / (48 * 47), abs=1e-12)
    row = equivalent("parity").replacement_passes.tasks.set_index(["over", "task_id", "k"]).loc[("all", "INV-7009", 8)]
    assert (row["successes"], row["trials"]) == (18, 18)
    short = consistent("determinism", "react").passes
    assert short.suite["baseline", 8].value is None
    assert "fewer than 8" in short.suite["baseline", 8].caution[0]


def test_paired_by_repetition_the_true_pairs_do_not_depend_on_order():
    found = equivalent("parity", "plumbline")
    assert len(found.ties) == 0
    assert len(found.pairs) == 354
    table = found.against_truth.set_index(["incumbent", "replacement"])
    met = run("parity").trials.set_index("trial_id")["exposure"]
    wrong = found.pairs[~found.pairs["incumbent_right"]]
    assert (met[wrong["against"]] == "delivered").all(), "the incumbent was wrong only where its own run was faulted"
    assert table.loc[("wrong", "right"), "different"] == len(wrong) == 8
    assert counts(found.outcome) == (344, 354)


PAIRED = [
    ("parity", "plan_execute", "retry", "plan_execute", (0, 12), 64, 0.00048828125, 0.25),
    ("parity", "plan_execute", "retry", "react", (1, 8), 56, 0.0390625, 0.5),
    ("retry", "plan_execute", "retry", "react", (1, 0), 56, 1.0, 1.0),
]


@pytest.mark.parametrize(("one", "arm", "two", "other", "discordant", "pairs", "p", "over_tasks"), PAIRED)
def test_the_pairs_are_known_and_give_other_p_values(one, arm, two, other, discordant, pairs, p, over_tasks):
    found = paired_outcomes(
        run(one), arm, run(two), other, perturbation="tool_fault",
        ok_first=graded(run(one), grade_published), ok_second=graded(run(two), grade_published),
    )  # fmt: skip
    assert found.table.discordant == discordant
    assert (found.table.n, found.table.incomplete) == (pairs, 64 - pairs)
    assert found.mcnemar().p == p
    assert found.sign_flip().p == over_tasks
    if pairs == 56:
        assert set(found.incomplete["task_id"]) == {"INV-7009"}
        assert set(found.incomplete["why"]) == {"second no_response"}
        assert any("INV-7009" in line for line in found.sign_flip().caution)
