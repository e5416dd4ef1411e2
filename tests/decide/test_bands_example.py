"""The worked example of 300 fixtures: exactly the verdicts that were put in, and nothing else is shown."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from plumbline.base.errors import ParameterError
from plumbline.decide.bands import apply_bands, example_runs, parse_bands, sample_bands

BASELINE, CANDIDATE = example_runs(seed=9)
REPORT = apply_bands(sample_bands(), baseline=BASELINE, candidate=CANDIDATE)


def counted(frame):
    return {key: int(n) for key, n in frame.groupby(["field", "verdict"]).size().items()}


def test_a_reviewer_is_shown_what_moved_and_nothing_else():
    assert counted(REPORT.moved()) == {
        ("text", "warn"): 16,
        ("structure", "pass"): 30,
        ("order", "pass"): 2,
        ("order", "fail"): 1,
        ("tokens", "fail"): 40,
        ("latency", "pass"): 1,
    }
    moved = REPORT.moved()
    assert moved[~moved["fixture"].str.startswith("(")]["fixture"].nunique() == 89


def test_every_other_verdict_is_a_pass():
    rows = REPORT.to_frame()
    assert len(rows) == 7 * 300 + 1
    assert counted(rows)["text", "pass"] == 284
    assert counted(rows)["order", "pass"] == 299
    assert rows["verdict"].value_counts().to_dict() == {"pass": 2101 - 57, "fail": 41, "warn": 16}
    text = rows[rows["field"] == "text"]
    assert text[text["verdict"] == "warn"]["value"].between(0.85, 0.92, inclusive="left").all()
    assert (text["distance"] - (text["value"] - 0.92)).abs().max() < 1e-12


def test_the_write_fails_by_the_value_it_uses_and_the_reads_pass():
    order = REPORT.moved().query("field == 'order'")
    failed = order[order["verdict"] == "fail"].iloc[0]
    assert (
        "schedule_payment (step 2) now comes no later than get_vendor (step 3), and uses its result" in failed["note"]
    )
    for note in order[order["verdict"] == "pass"]["note"]:
        assert "get_invoice" in note
        assert note.endswith("nothing rests on it")


def test_latency_passes_with_a_note_and_its_interval():
    row = REPORT.moved().query("field == 'latency'").iloc[0]
    assert row["value"] == pytest.approx(2100 / 1800)
    assert (row["verdict"], row["unit"], row["band"]) == ("pass", "x", "pass at most 1.5x; warn at most 3x")
    assert row["note"] == "p50 up 1.17x, within the band"
    assert "median 1800 → 2100 ms, ratio 1.17 [1.0" in row["evidence"]
    assert "over 300 pairs" in row["evidence"]


def test_tokens_fail_say_few_runs_and_can_be_waived():
    tokens = REPORT.moved().query("field == 'tokens'")
    assert tokens["value"].round(2).eq(1.6).all()
    assert tokens["note"].eq("above 1.4x").all()
    assert tokens["evidence"].str.contains("1 run against 2: no interval at 0.95, which needs 7 on each side").all()
    waived = REPORT.waive({(fixture, "tokens"): "CHG-1, until May" for fixture in tokens["fixture"]})
    again = waived.moved().query("field == 'tokens'")
    assert again["verdict"].eq("waived").all()
    assert waived.by_field().set_index("field").loc["tokens", "decision"] == "waived"
    assert "pass" not in {d.decision for d in waived.decisions if d.field == "tokens"}
    with pytest.raises(ParameterError, match=r"waivers match no failure, the first: F-0001, steps"):
        REPORT.waive({("F-0001", "steps"): "x"})


def test_the_decision_follows_declared_severity():
    assert (REPORT.decision, REPORT.exit_code) == ("hold", 1)
    text = sample_bands().text
    softer = parse_bands(text.replace("pass: same_unless_idempotent", "severity: warning\n    pass: same"))
    report = apply_bands(softer, baseline=BASELINE, candidate=CANDIDATE)
    assert counted(report.to_frame())["order", "fail"] == 3
    assert (report.decision, report.exit_code) == ("escalate", 3)  # the grey zone is for a reviewer
    same = apply_bands(softer, baseline=BASELINE, candidate=BASELINE)
    assert same.decision == "ship"
    assert same.moved().empty


def test_noise_of_the_incumbent_is_measured_first():
    noise = REPORT.noise_frame().set_index("field")
    assert noise.loc["text", "state"] == "usable"
    assert (noise.loc["text", "n"], noise.loc["text", "outside"]) == (300, 0)
    assert noise.loc["text", "high"] == pytest.approx(0.0122209, abs=1e-6)  # exact: 1 - 0.025 ** (1 / 300)
    tight = parse_bands(sample_bands().text.replace("pass: {at_least: 0.92}", "pass: {at_least: 0.97}"))
    report = apply_bands(tight, baseline=BASELINE, candidate=CANDIDATE)
    text = report.to_frame().query("field == 'text'")
    assert text["verdict"].eq("unusable").all()
    assert text["note"].str.startswith("the incumbent does not keep this band itself: ").all()
    assert text["note"].str.contains("of 300 re-runs outside, .*; 5.0% are allowed; 0.9.. is the edge").all()
    assert report.noise_frame().set_index("field").loc["text", "edge"] < 0.97
    once = apply_bands(sample_bands(), baseline=CANDIDATE, candidate=CANDIDATE)
    assert set(once.noise_frame()["state"]) == {"not_measured"}
    rerun = apply_bands(tight, baseline=CANDIDATE, candidate=CANDIDATE, rerun=CANDIDATE)
    assert set(rerun.noise_frame()["state"]) == {"usable"}


def test_machines_read_the_same():
    root = ElementTree.fromstring(REPORT.junit())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2101", "1", "16")
    failure = root.find(".//failure")
    assert "schedule_payment" in failure.get("message")
    text = REPORT.markdown()
    assert "| tokens | fail | warning | 260 pass, 40 fail | 40 |" in text
    assert "… and 20 more of tokens fail; 10 more of structure pass." in text
    assert REPORT.bands.digest in text
    assert REPORT.to_dict()["fields"][0]["counts"] == {"pass": 284, "warn": 16}
    assert str(REPORT).startswith("HOLD: candidate (constructed_candidate) against incumbent (constructed_baseline)")
    assert "… and 36 more of tokens" in str(REPORT)
    assert "What moved: 90 of 2101 rows." in REPORT._repr_html_()


def test_a_seed_is_a_run():
    again = example_runs(seed=9)
    assert (again[0].digest, again[1].digest) == (BASELINE.digest, CANDIDATE.digest)
    assert example_runs(seed=10)[0].digest != BASELINE.digest
    with pytest.raises(ParameterError, match="at least 100"):
        example_runs(seed=1, fixtures=3)
    for seed in (1, 2, 3):
        old, new = example_runs(seed=seed, fixtures=120)
        report = apply_bands(sample_bands(), baseline=old, candidate=new)
        assert counted(report.moved())["text", "warn"] == 16
        assert len(report.moved()) == 90
