"""The benchmark of the runner runs, and runs what it says; how fast, is measured elsewhere and never gates a test."""

from __future__ import annotations

from plumbline.domain import load_domain
from tests.bench.runner_bench import bench, study


def test_bench_measures_every_bar_it_names():
    rows = bench(rounds=1, tiny=True)
    assert [r["id"] for r in rows] == ["R1", "R2", "R3"]
    assert all(r["ratio"] >= 0 and r["ok"] in (True, False) for r in rows)


def test_the_trials_that_are_measured_have_eight_good_steps():
    run = study(load_domain("procure_to_pay"), 20)
    assert set(run.trials["status"]) == {"completed"}
    assert set(run.steps.groupby("trial_id").size()) == {8}
    assert set(run.steps["status"]) == {"ok"}
