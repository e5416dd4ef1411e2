"""The committed runs give back every published count, and nothing that was not published."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import plumbline as plumb
from plumbline.analysis import exposure, graded, tally
from plumbline.domains.procure_to_pay.published import STUDIES, Facts
from plumbline.domains.procure_to_pay.rebuild import rebuild_runs
from plumbline.domains.procure_to_pay.truth import grade_published

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "data" / "published"
SHARED = ROOT.parent / "shared" / "published" / "facts.json"


@cache
def run(name: str) -> plumb.Run:
    return plumb.read_run(ROOT / "data" / "procure_to_pay" / name)


@cache
def judged(name: str, measure: str) -> pd.Series:
    """One value a completed trial; the publication counts completed trials only."""
    recording = run(name)
    policy = plumb.load_domain("procure_to_pay").policy
    if measure == "outcome":
        values = graded(recording, grade_published)
    else:
        severity = {"critical_conformance": "critical", "all_invariants": "low"}[measure]
        values = recording.check(policy).conforms(severity=severity)
    done = set(recording.trials.loc[recording.trials["status"] == "completed", "trial_id"])
    return values.where(values.index.isin(done))


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"{name}.csv", keep_default_na=False)


ROWS = published("proportions")
ROWS = ROWS[ROWS["measure"].isin(["outcome", "critical_conformance", "all_invariants"])]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("measure", ["outcome", "critical_conformance", "all_invariants"])
def test_counts_by_arm_perturbation_and_task_are_the_published_ones(study, measure):
    wanted = ROWS[(ROWS["study"] == study) & (ROWS["measure"] == measure)]
    assert len(wanted) >= 14
    keys = {"all": ["arm"], "perturbation": ["arm", "perturbation"], "task": ["arm", "task_id"]}
    tables = {scope: tally(run(study), judged(study, measure), by=by).set_index(by) for scope, by in keys.items()}
    for row in wanted.itertuples():
        found = tables[row.scope].loc[row.arm if row.scope == "all" else (row.arm, row.name)]
        assert (int(found["k"]), int(found["n"])) == (row.ok, row.n), row
        if row.n == 0:
            assert pd.isna(found["value"]), "nothing completed, so nothing can be told"
            continue
        assert (round(found["low"], 6), round(found["high"], 6)) == (float(row.low), float(row.high)), row


@pytest.mark.parametrize("study", STUDIES)
def test_violations_are_the_published_ones_trial_by_trial(study):
    recording = run(study)
    found = recording.check(plumb.load_domain("procure_to_pay").policy).violations()
    done = set(recording.trials.loc[recording.trials["status"] == "completed", "trial_id"])
    rows = found.loc[found["trial_id"].isin(done), ["trial_id", "rule", "severity"]].drop_duplicates()
    wanted = published("violations")
    wanted = wanted[wanted["study"] == study]
    assert set(rows.itertuples(index=False, name=None)) == set(
        wanted[["trial_id", "rule", "severity"]].itertuples(index=False, name=None)
    )


@pytest.mark.parametrize("study", STUDIES)
def test_every_rule_is_upheld_as_often_as_published(study):
    """The publication counts a rule that was never activated as upheld; we keep these apart and add them here."""
    wanted = published("proportions")
    wanted = wanted[(wanted["study"] == study) & (wanted["measure"] == "upheld")]
    frame = run(study).check(plumb.load_domain("procure_to_pay").policy).to_frame()
    statuses = dict(zip(run(study).trials["trial_id"], run(study).trials["status"], strict=True))
    frame = frame[[statuses[t] == "completed" for t in frame["trial_id"]]]
    counts = frame.groupby(["arm", "rule", "verdict"]).size().unstack(fill_value=0)
    assert len(wanted) >= 26
    for row in wanted.itertuples():
        found = counts.loc[(row.arm, row.name)]
        upheld = found.get("held", 0) + found.get("vacuous", 0)
        assert (upheld, upheld + found.get("violated", 0)) == (row.ok, row.n), row


def test_planned_recorded_completed_and_missing():
    counts = {name: vars(run(name).counts()) for name in STUDIES}
    assert counts == {
        "determinism": {"planned": 576, "recorded": 576, "completed": 494, "missing": 82},
        "parity": {"planned": 768, "recorded": 738, "completed": 738, "missing": 30},
        "retry": {"planned": 768, "recorded": 768, "completed": 716, "missing": 52},
    }
    statuses = run("parity").planned()["status"].value_counts()
    assert statuses["not_run"] == 30


def test_exposure_is_filled_for_every_tool_fault_trial_and_only_there():
    for name in STUDIES:
        trials = run(name).trials
        faulted = trials["perturbation"] == "tool_fault"
        assert set(trials.loc[faulted, "exposure"]) == {"delivered", "not_delivered"}
        assert set(trials.loc[~faulted, "exposure"]) == {"none_planned"}
        met = set(trials.loc[trials["exposure"] == "delivered", "trial_id"])
        rows = published("faults")
        assert met == set(rows.loc[rows["study"] == name, "trial_id"])
        spent = [json.loads(f)["spent_by"] for f in trials.loc[trials["exposure"] == "not_delivered", "fault"]]
        assert set(spent) <= met


def test_the_free_form_agent_met_no_fault_in_parity_or_retry():
    for name in ("parity", "retry"):
        table = exposure(run(name), perturbation="tool_fault").set_index("arm")
        assert table.loc["react", "delivered"] == 0
        assert table.loc["react", "completed"] == 56
        assert table.loc["plan_execute", "delivered"] == 32


def test_every_step_of_a_model_arm_says_what_it_rests_on():
    for name in STUDIES:
        trials = run(name).trials
        made = set(trials.loc[trials["provenance"] == "reconstructed", "trial_id"])
        steps = run(name).steps
        words = {"published", "reference", "inferred", "unknown"}
        assert set(steps.loc[steps["trial_id"].isin(made), "evidence"]) == words
        assert steps.loc[~steps["trial_id"].isin(made), "evidence"].isna().all()
        assert trials["prompt"].isna().all(), "no published prompt is on record"


def test_trials_without_a_response_hold_no_steps_and_their_ledger_is_kept():
    for name, left in (("determinism", 2), ("retry", 2)):
        trials = run(name).trials
        missing = trials[trials["status"] == "no_response"]
        assert missing["error"].str.startswith("NoResponseError: no response").all()
        assert not run(name).steps["trial_id"].isin(missing["trial_id"]).any()
        touched = [o for o in missing["outcome"] if json.loads(o)["approvals"] == 1]
        assert len(touched) == left


def test_two_rebuilds_agree_with_each_other_and_with_what_is_committed():
    system = plumb.load_domain("procure_to_pay")
    once = {r.run_id: r.digest for r in rebuild_runs(PUBLISHED, system=system)}
    twice = {r.run_id: r.digest for r in rebuild_runs(PUBLISHED, system=system)}
    assert once == twice == {name: run(name).digest for name in STUDIES}


def test_paths_come_out_as_published_again():
    """Reference and edits give the path; the trials of retry are replays of those of parity."""
    facts = Facts(PUBLISHED)
    parity = {t.trial_id: t.path for t in facts.trials("parity") if t.path}
    retry = {t.trial_id: t.path for t in facts.trials("retry") if t.path}
    assert len(parity) == 354
    assert len(retry) == 332
    assert all(parity[t] == p for t, p in retry.items())


@pytest.mark.skipif(not SHARED.exists(), reason="the original list of facts is not beside this checkout")
def test_our_tables_hold_what_the_facts_hold():
    facts = json.loads(SHARED.read_text())
    wanted = {t: p for p, ids in facts["derived"]["react_paths"]["parity"].items() for t in ids}
    found = {t.trial_id: t.path for t in Facts(PUBLISHED).trials("parity") if t.path}
    assert found == wanted
    rows = published("violations")
    for study, entry in facts["studies"].items():
        ids = {(t, v["invariant"]) for v in entry["violations"] for t in v["trial_ids"]}
        mine = rows[rows["study"] == study]
        assert set(mine[["trial_id", "rule"]].itertuples(index=False, name=None)) == ids
