"""The committed runs give back every published figure of consistency and equivalence, and what these figures hide.

Spelling: the runs are rebuilt, and a model arm's argument that was published only as "equal to the reference" carries
the reference's spelling. The retry study spelled its reference for INV-7005 in capitals; the trials it replays are
those of parity, so the rebuilt reference is in lower case. There, and only there, ``expected`` is compared after the
published normalisation, which folds case. Everything else is compared as published, letter by letter.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import plumbline as plumb
from plumbline.analysis import graded, paired_outcomes
from plumbline.compare.normalise import published_value
from plumbline.domains.procure_to_pay.published import STUDIES
from plumbline.domains.procure_to_pay.truth import grade_published

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "data" / "published"
SHARED = ROOT.parent / "shared" / "published" / "facts.json"
LEDGER = ("paid", "payment_count", "amount_paid", "exception_raised", "approvals")
ARMS = [(s, a) for s in STUDIES for a in json.loads((PUBLISHED / "studies.json").read_text())["studies"][s]["arms"]]
FOLDED = {("retry", "INV-7005")}
"""Study and task whose published reference is spelled in another case than the rebuilt one."""


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"{name}.csv", keep_default_na=False)


@cache
def run(name: str) -> plumb.Run:
    return plumb.read_run(ROOT / "data" / "procure_to_pay" / name)


def rules():
    return plumb.load_domain("procure_to_pay").argument_fields


@cache
def consistent(study: str, arm: str):
    return run(study).consistency(arm=arm, argument_rules=rules(), outcome_keys=LEDGER, grade=grade_published)


def first_finished() -> list[str]:
    """The incumbent run of each tool_fault cell of retry that finished first, from the publication's own table."""
    exposure = run("retry").trials.set_index("trial_id")["exposure"]
    order = []
    for row in published("retry_incumbent").itertuples():
        runs = [f"plan_execute/{row.cell}/{repetition}" for repetition in range(2)]
        faulted = [trial for trial in runs if exposure[trial] == "delivered"]
        assert len(faulted) == 1
        order += faulted if row.reference_repetition == "faulted" else [t for t in runs if t not in faulted]
    return order


@cache
def equivalent(study: str, definition: str = "published"):
    order = first_finished() if study == "retry" else None
    return run(study).equivalence(
        incumbent="plan_execute", replacement="react", argument_rules=rules(), outcome_keys=LEDGER,
        grade=grade_published, order=order, definition=definition,
    )  # fmt: skip


def counts(found) -> tuple[int, int]:
    return found.successes, found.n


def same_interval(row, low, high) -> None:
    assert (round(float(low), 6), round(float(high), 6)) == (float(row.low), float(row.high)), row


CONSISTENCY = {
    "same_path_as_reference": "same path",
    "argument_given_same_path": "same arguments, given the same path",
    "baseline_self_consistency": "baseline runs on the reference path",
}
EQUIVALENCE = {
    "equivalence_outcome": "same outcome",
    "equivalence_path": "same path",
    "equivalence_argument_given_same_path": "same arguments, given the same path",
    "equivalence_incumbent_self_consistency": "incumbent runs like their canonical run",
}


def test_the_tables_hold_all_published_figures():
    rows = published("proportions")
    assert rows["measure"].isin(CONSISTENCY).sum() == 63
    assert rows["measure"].isin(EQUIVALENCE).sum() == 36


@pytest.mark.parametrize(("study", "arm"), ARMS)
def test_consistency_is_the_published_one_in_every_cell(study, arm):
    rows = published("proportions")
    rows = rows[(rows["study"] == study) & (rows["arm"] == arm) & rows["measure"].isin(CONSISTENCY)]
    assert len(rows) == 9
    found = consistent(study, arm)
    cells = found.by("perturbation").set_index(["perturbation", "measure"])
    for row in rows.itertuples():
        measure = CONSISTENCY[row.measure]
        if row.scope == "all":
            whole = found.measures()[measure]
            assert counts(whole) == (row.ok, row.n), row
            same_interval(row, whole.low, whole.high)
            continue
        cell = cells.loc[(row.name, measure)]
        assert (cell["k"], cell["n"]) == (row.ok, row.n), row
        if row.n == 0:
            assert pd.isna(cell["value"])
            assert cell["reads"] == "cannot tell (0/0)"
        else:
            same_interval(row, cell["low"], cell["high"])


@pytest.mark.parametrize("study", ["parity", "retry"])
def test_equivalence_is_the_published_one_by_perturbation_and_by_task(study):
    rows = published("proportions")
    rows = rows[(rows["study"] == study) & rows["measure"].isin(EQUIVALENCE)]
    assert len(rows) == 18
    found = equivalent(study)
    groups = {"perturbation": found.by("perturbation"), "task": found.by("task_id")}
    for row in rows.itertuples():
        measure = EQUIVALENCE[row.measure]
        if row.scope == "all":
            whole = found.measures()[measure]
            assert counts(whole) == (row.ok, row.n), row
            same_interval(row, whole.low, whole.high)
        else:
            table = groups[row.scope]
            (cell,) = table[(table.iloc[:, 0] == row.name) & (table["measure"] == measure)].itertuples()
            assert (cell.k, cell.n) == (row.ok, row.n), row
            same_interval(row, cell.low, cell.high)
    assert len(found.unpaired) == 0
    assert len(found.missing) == {"parity": 30, "retry": 52}[study]


def test_the_headline_counts():
    parity, retry = equivalent("parity"), equivalent("retry")
    measures = ("outcome", "path", "arguments", "self_consistency")
    assert [counts(getattr(retry, m)) for m in measures] == [(330, 332), (76, 332), (56, 76), (352, 384)]
    assert [counts(getattr(parity, m)) for m in measures] == [(336, 354), (76, 354), (65, 76), (372, 384)]


def test_the_published_bound_its_band_and_the_true_minimum():
    parity, retry = equivalent("parity").retirement, equivalent("retry").retirement
    assert (round(parity.bound, 4), parity.perturbation) == (0.5666, "tool_fault")
    assert parity.band == "below 0.60: materially different"
    assert (round(retry.bound, 4), retry.perturbation) == (0.9055, "tool_fault")
    assert retry.band == "0.85 to 0.95: near-equivalent, review divergences"
    assert (round(parity.minimum.bound, 6), parity.minimum.cells) == (0.566641, ("tool_fault",))
    assert (round(retry.minimum.bound, 6), retry.minimum.cells) == (0.898485, ("decoy_tools",))
    assert any("not the minimum" in line for line in retry.caution)
    assert not parity.caution


def value(text) -> str:
    """Canonical JSON of an argument as the publication prints it; nothing where there is nothing."""
    found = None if pd.isna(text) else json.loads(text)
    return "" if found is None else str(found)


def label(row) -> tuple[str, str]:
    """``expected`` and ``got`` of one of our divergences, in the publication's words."""
    if row.kind == "arg":
        named = "" if pd.isna(row.expected) else f"{row.name}.{row.field}={value(row.expected)}"
        return named, value(row.got)
    return tuple("" if pd.isna(text) else text for text in (row.expected, row.got))


def ledger(text: str) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((key, float(item)) for key, item in json.loads(text).items()))


def canonical(study: str, trial: str, kind: str, expected: str, got: str) -> tuple:
    if kind == "outcome":
        return ledger(expected), ledger(got)
    if (study, trial.split("/")[1]) in FOLDED:
        expected = published_value(expected)
    return expected, got


def told(study: str, frame: pd.DataFrame, bare: bool) -> Counter:
    """Our divergences, one a trial; bare: without the tool and field that the publication left out there."""
    found = Counter()
    for row in frame.itertuples():
        expected, got = label(row)
        if bare and row.kind == "arg":
            expected = expected.partition("=")[2]
        both = canonical(study, row.trial_id, row.kind, expected, got)
        found[row.trial_id, row.kind, row.step_index, *both, row.severity] += 1
    return found


def printed(study: str, comparison: str) -> Counter:
    rows = published("divergences")
    rows = rows[(rows["study"] == study) & (rows["comparison"] == comparison)]
    found = Counter()
    for row in rows.itertuples():
        both = canonical(study, row.trial_id, row.kind, row.expected, row.got)
        found[row.trial_id, row.kind, row.step_index, *both, row.severity] += 1
    return found


@pytest.mark.parametrize(("study", "size"), [("determinism", 83), ("parity", 255), ("retry", 257)])
def test_every_published_divergence_of_an_arm_from_itself_comes_out_and_no_other(study, size):
    mine = pd.concat([consistent(s, arm).rows for s, arm in ARMS if s == study])
    wanted = printed(study, "consistency")
    assert sum(wanted.values()) == size
    assert told(study, mine, bare=study != "determinism") == wanted


@pytest.mark.parametrize(("study", "size"), [("parity", 324), ("retry", 301)])
def test_every_published_divergence_of_the_replacement_comes_out_and_no_other(study, size):
    wanted = printed(study, "equivalence")
    assert sum(wanted.values()) == size
    assert told(study, equivalent(study).rows, bare=False) == wanted


@pytest.mark.parametrize("study", ["parity", "retry"])
def test_divergences_are_merged_with_count_and_trial_ids(study):
    merged = equivalent(study).divergences
    found = {}
    for row in merged.itertuples():
        expected, got = label(row)
        both = canonical(study, row.trial_ids[0], row.kind, expected, got)
        found[row.kind, row.step_index, *both, row.severity] = row.trial_ids
        assert row.count == len(row.trial_ids)
    wanted = defaultdict(set)
    for trial, *what in printed(study, "equivalence"):
        wanted[tuple(what)].add(trial)
    assert {what: set(ids) for what, ids in found.items()} == wanted


@pytest.mark.skipif(not SHARED.exists(), reason="the original list of facts is not beside this checkout")
def test_merged_divergences_have_the_counts_of_the_original_list():
    for study, facts in json.loads(SHARED.read_text())["studies"].items():
        if facts["equivalence"]:
            wanted = sorted(
                (d["kind"], d["step_index"], d["count"], tuple(sorted(d["trial_ids"])))
                for d in facts["equivalence"]["divergences"]
            )
            rows = equivalent(study).divergences.itertuples()
            assert sorted((r.kind, r.step_index, r.count, r.trial_ids) for r in rows) == wanted
        for arm, listed in facts["consistency_divergences"].items():
            found = Counter((r.kind, r.step_index, r.trial_id) for r in consistent(study, arm).rows.itertuples())
            assert found == Counter((d["kind"], d["step_index"], t) for d in listed for t in d["trial_ids"])


def test_only_the_named_reference_is_spelled_otherwise(monkeypatch):
    """The exception of this file's docstring is needed, and it is needed nowhere else."""
    monkeypatch.setattr(f"{__name__}.FOLDED", set())
    mine = told("retry", consistent("retry", "react").rows, bare=True)
    mine += told("retry", consistent("retry", "plan_execute").rows, bare=True)
    wanted = printed("retry", "consistency")
    assert {trial.split("/")[1] for trial, *_ in (mine - wanted)} == {"INV-7005"}
    assert {expected for _, _, _, expected, *_ in (wanted - mine)} == {"NORTHGATE-FASTENERS"}


def test_published_results_rest_on_which_run_finished_first():
    """Every tool_fault cell of retry is a 1:1 tie; the publication's choices are honoured, and others differ."""
    found = equivalent("retry")
    assert len(found.ties) == 32
    assert set(found.ties["perturbation"]) == {"tool_fault"}
    assert set(first_finished()) <= set(found.ties["chosen"])
    assert len(first_finished()) == 28, "of the others, no replacement trial was completed"
    default = run("retry").equivalence(
        incumbent="plan_execute", replacement="react", argument_rules=rules(), outcome_keys=LEDGER
    )
    assert counts(default.path) != (76, 332)
    assert counts(default.self_consistency) == (352, 384), "a tie counts half of its runs, whichever is chosen"
    assert len(default.ties) == 32


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
