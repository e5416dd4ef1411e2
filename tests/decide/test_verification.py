"""Verification: a certificate is made again from the traces, and whatever differs is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

import plumbline as plumb
from plumbline.base.errors import InputError, NotFoundError, ParameterError, SchemaVersionError
from plumbline.decide import certify, read_certificate, verify
from plumbline.rules import MustCall, Policy
from plumbline.traces import Plan, Recording
from tests.decide.making import ARM, POLICY, Trial, clean_run, met, plan_of, run_of

PLAN = plan_of(tasks=5, perturbations=("baseline", "fault"), repetitions=4)


@pytest.fixture
def run() -> Recording:
    return clean_run(PLAN, met)


@pytest.fixture
def folder(run, tmp_path):
    return run.save(tmp_path / "run")


def changed(run: Recording, **parts: object) -> Recording:
    kept = {name: getattr(run, name) for name in ("run_id", "tasks", "plan", "domain", "notes")}
    frames = {name: parts.pop(name, getattr(run, name)) for name in ("trials", "steps")}
    return Recording(frames["trials"], frames["steps"], **{**kept, **parts})


def whats(report: object) -> set[str]:
    return {difference.what for difference in report.differences}


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"rule": "published"},
        {"rule": "completed_minimum", "confidence": 0.9},
        {"scope": "tasks", "rho": 0.2},
        {"threshold": 0.5, "ignorable": {"budget_stop": "cap"}},
        {"sidedness": "two-sided", "faults": ["fault"]},
        {"plan": plan_of(tasks=5, perturbations=("baseline",), repetitions=2)},
        {"measure": "all"},
    ],
)
def test_a_certificate_holds_after_a_round_trip(run, folder, tmp_path, asked):
    made = certify(run, arm=ARM, policy=POLICY, **asked)
    path = made.save(tmp_path / "cert.json")
    again = read_certificate(path)
    assert again == made
    assert again.to_dict() == made.to_dict()
    report = verify(again, folder, POLICY)
    assert report.ok, str(report)
    assert "holds, made again from the traces" in str(report)


def test_one_changed_argument_is_named_by_its_trial(founding, domain, tmp_path):
    run = founding["retry"]
    made = certify(run, arm="react", policy=domain.policy)
    steps = run.steps.copy()
    name = "react/INV-7006/baseline/0/1"
    row = steps.index[(steps["trial_id"] == name) & (steps["name"] == "schedule_payment")][0]
    steps.loc[row, "arguments"] = steps.loc[row, "arguments"].replace("7750.00", "77500.00")
    other = changed(run, steps=steps).save(tmp_path / "run")
    report = verify(made, other, domain.policy)
    assert not report.ok
    rows = [difference for difference in report.differences if difference.what == "rows"]
    assert [difference.where for difference in rows] == ["1 trials changed"]
    assert name in rows[0].expected
    cells = {difference.where for difference in report.differences if difference.what == "cells"}
    assert {"baseline.k", "baseline.bound"} <= cells, "a wrong amount is a critical violation"
    assert report.derived.cell("baseline").k == 63


@pytest.mark.parametrize(("column", "value"), [("outcome", '{"paid":true}'), ("error", "late"), ("final_output", "x")])
def test_a_changed_outcome_or_error_is_seen_though_every_figure_stays(run, column, value):
    made = certify(run, arm=ARM, policy=POLICY)
    trials = run.trials.copy()
    trials[column] = [value if i == 3 else None for i in range(len(trials))]
    report = verify(made, changed(run, trials=trials), POLICY)
    assert whats(report) == {"rows"}
    assert trials["trial_id"][3] in report.differences[0].expected


def test_a_row_changed_in_place_is_seen(run):
    made = certify(run, arm=ARM, policy=POLICY)
    run.steps["result"] = run.steps["result"].where(run.steps.index != 5, '{"late":true}')
    assert whats(verify(made, run, POLICY)) == {"rows"}


def test_another_arms_row_a_task_and_a_result_are_part_of_the_evidence(run):
    both = clean_run(Plan((ARM, "old"), PLAN.tasks, PLAN.perturbations, PLAN.variants, 4), met)
    made = certify(both, arm=ARM, policy=POLICY)
    trials = both.trials.copy()
    trials["prompt"] = ["hello" if arm == "old" else None for arm in trials["arm"]]
    report = verify(made, changed(both, trials=trials), POLICY)
    assert [(d.what, d.where) for d in report.differences] == [
        ("rows", f"the run outside arm {ARM}, its tasks or its plan")
    ]
    steps = both.steps.copy()
    steps["result"] = ['{"ok":true}'] + [None] * (len(steps) - 1)
    assert whats(verify(made, changed(both, steps=steps), POLICY)) == {"rows"}
    report = verify(made, changed(both, tasks={"t0": {"context": {"amount": 1}}}), POLICY)
    assert whats(report) == {"rows", "tasks"}


def test_another_policy_is_seen_though_its_verdicts_agree(run):
    made = certify(run, arm=ARM, policy=POLICY)
    other = Policy("pay", [*POLICY.rules, MustCall("check", severity="high", id="again")])
    report = verify(made, run, other)
    assert whats(report) == {"policy"}
    harder = Policy("pay", [MustCall("never"), *POLICY.rules])
    assert {"policy", "bound", "cells"} <= whats(verify(made, run, harder))


def test_another_plan_is_seen(run):
    made = certify(run, arm=ARM, policy=POLICY)
    wider = changed(run, plan=plan_of(tasks=5, perturbations=("baseline", "fault"), repetitions=5))
    report = verify(made, wider, POLICY)
    assert {"plan", "cells", "bound"} <= whats(report)
    assert report.derived.bound is None, "a planned run without a record has met no fault"
    dropped = changed(run, plan=None)
    assert "plan" in whats(verify(made, dropped, POLICY))


def test_dropped_and_added_trials_are_named(run):
    made = certify(run, arm=ARM, policy=POLICY)
    last = run.trials["trial_id"].iloc[-1]
    fewer = changed(run, trials=run.trials.iloc[:-1], steps=run.steps[run.steps["trial_id"] != last])
    report = verify(made, fewer, POLICY)
    assert any(d.where == "1 trials gone" and last in d.expected for d in report.differences)
    grown = verify(certify(fewer, arm=ARM, policy=POLICY), run, POLICY)
    assert any(d.where == "1 trials new" and last in d.expected for d in grown.differences)


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("bound", 0.999, "bound"),
        ("attained_by", ["fault"], "bound"),
        ("caution", ["all is well"], "words"),
        ("confidence", 0.5, "parameters"),
        ("tasks", ["t9"], "words"),
        ("threshold", 0.5, "parameters"),
        ("rule", "best", "derivation"),
        ("arm", "nobody", "derivation"),
    ],
)
def test_an_edited_file_does_not_verify(run, folder, tmp_path, key, value, what):
    path = certify(run, arm=ARM, policy=POLICY).save(tmp_path / "cert.json")
    body = json.loads(path.read_text())
    assert body[key] != value
    path.write_text(json.dumps(body | {key: value}))
    report = verify(read_certificate(path), folder, POLICY)
    assert not report.ok
    assert what in whats(report)


def test_every_count_of_a_condition_is_checked(run, tmp_path):
    path = certify(run, arm=ARM, policy=POLICY).save(tmp_path / "cert.json")
    whole = json.loads(path.read_text())
    for key, value in whole["cells"][1].items():
        body = json.loads(path.read_text())
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        body["cells"][1][key] = value + 1 if isinstance(value, int | float) else f"{value}x"
        path.write_text(json.dumps(body))
        assert "cells" in whats(verify(read_certificate(path), run, POLICY)), key
        path.write_text(json.dumps(whole))


def test_a_folder_whose_rows_were_changed_behind_its_back_does_not_verify(run, folder):
    made = certify(run, arm=ARM, policy=POLICY)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["plan"]["repetitions"] = 9
    (folder / "manifest.json").write_text(json.dumps(manifest))
    report = verify(made, folder, POLICY)
    assert not report.ok
    assert whats(report) == {"rows"}
    assert "does not match the manifest" in report.differences[0].found


def test_what_is_needed_must_be_given(run, tmp_path, domain, founding):
    made = certify(run, arm=ARM, policy=POLICY)
    with pytest.raises(ParameterError, match="was made with policy pay version 1"):
        verify(made, run)
    with pytest.raises(NotFoundError, match="there is no run"):
        verify(made, tmp_path / "nowhere", POLICY)
    graded = certify(founding["retry"], arm="react", measure="outcome", grade=domain.grade)
    with pytest.raises(ParameterError, match="judged by"):
        verify(graded, founding["retry"])
    assert verify(graded, founding["retry"], grade=domain.grade).ok
    assert "grade" in whats(verify(graded, founding["retry"], grade=lambda outcome, context: True))


def test_another_version_is_a_note_and_not_a_difference(run):
    made = certify(run, arm=ARM, policy=POLICY)
    older = replace(made, evidence=replace(made.evidence, version="0.0.1"))
    report = verify(older, run, POLICY)
    assert report.ok
    assert f"made by plumbline 0.0.1, made again by {plumb.__version__}" in report.notes[0]
    assert report.to_frame().empty
    assert report.to_dict()["ok"] is True


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("", InputError, "is not JSON"),
        ("[]", SchemaVersionError, "schema 'list'"),
        ('{"schema": "plumbline.certificate/2"}', SchemaVersionError, "this version reads 'plumbline.certificate/1'"),
        ('{"schema": "plumbline.certificate/1"}', InputError, "not a whole certificate"),
        ('{"schema": "plumbline.certificate/1", "bound": NaN}', InputError, "NaN is not a JSON number"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused(tmp_path, text, error, match):
    path = tmp_path / "cert.json"
    path.write_text(text)
    with pytest.raises(error, match=match):
        read_certificate(path)
    with pytest.raises(NotFoundError, match="there is no certificate"):
        read_certificate(tmp_path / "none.json")


def test_a_missing_or_strange_key_is_refused(run, tmp_path):
    path = certify(run, arm=ARM, policy=POLICY).save(tmp_path / "cert.json")
    body = json.loads(path.read_text())
    for change in ({"mood": "good"}, {"bound": ...}):
        edited = {key: value for key, value in {**body, **change}.items() if value is not ...}
        path.write_text(json.dumps(edited))
        with pytest.raises(InputError, match="not a whole certificate"):
            read_certificate(path)
    with pytest.raises(NotFoundError, match="no folder"):
        certify(run, arm=ARM, policy=POLICY).save(tmp_path / "nowhere" / "cert.json")


def test_the_quick_way_to_make_a_run_gives_the_rows_of_the_checked_way():
    trials = [
        Trial(), Trial(task="t1", good=False), Trial(perturbation="fault", exposure="delivered", good=None),
        Trial(repetition=1, status="budget_stop", good=None, started_at="2026-08-01T00:00:00Z"), Trial(arm="old"),
    ]  # fmt: skip
    assert run_of(trials).digest == run_of(trials, check=True).digest
    pd.testing.assert_frame_equal(run_of(trials).trials, run_of(trials, check=True).trials)
    pd.testing.assert_frame_equal(run_of(trials).steps, run_of(trials, check=True).steps)
