"""The committed runs give back every published figure of consistency and equivalence.

Spelling: the runs are rebuilt, and a model arm's argument that was published only as "equal to the reference" carries
the reference's spelling. The retry study spelled its reference for INV-7005 in capitals; the trials it replays are
those of parity, so the rebuilt reference is in lower case. There, and only there, ``expected`` is compared after the
published normalisation, which folds case. Everything else is compared as published, letter by letter.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pandas as pd
import pytest

from plumbline.compare.normalise import published_value
from tests.domains.committed import (
    ARMS,
    LEDGER,
    SHARED,
    consistent,
    counts,
    equivalent,
    first_finished,
    published,
    rules,
    run,
)

FOLDED = {("retry", "INV-7005")}
"""Study and task whose published reference is spelled in another case than the rebuilt one."""


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
    ties = equivalent("parity").ties
    assert len(ties) == 12, "in parity canonical order picks the published run of each: the faulted one"
    exposure = run("parity").trials.set_index("trial_id")["exposure"]
    assert set(exposure[ties["chosen"]]) == {"delivered"}
