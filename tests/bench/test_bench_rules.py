"""The benchmark of the rules gives right answers; how fast it is, is measured elsewhere and never gates a test."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.generate import synthetic
from tests.bench.race import Times, peak_bytes, race, row
from tests.bench.rules_bench import MIXED, SIX, TWENTY_FOUR, bench, wrong_answers


@pytest.mark.parametrize("policy", [SIX, TWENTY_FOUR, MIXED], ids=["six", "twenty-four", "mixed"])
def test_answers_equal_the_oracle(policy):
    assert len(policy) == (6 if policy is SIX else 24)
    assert wrong_answers(synthetic(400, 5), policy) == 0


def test_bench_measures_every_goal_it_names():
    rows = bench(rounds=1, tiny=True)
    assert {r["id"] for r in rows} == {"P1", "P2", "P3", "P4", "P13"}
    for r in rows:
        assert (r["ratio"] is None) == (r["ok"] is None) == bool(r["note"])
        assert r["ratio"] is None or r["ratio"] > 0


def test_synthetic_runs_repeat_and_hold_what_the_goals_assume():
    a, b = synthetic(3000, 1), synthetic(3000, 1)
    assert all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("tool", "status", "amount", "trial"))
    assert 7.5 < a.n_steps / a.trials < 9
    assert (np.diff(a.offsets) == 0).any()
    assert 0.02 < (a.status == 1).mean() < 0.04
    assert (a.status == 2).any()


def test_a_race_compares_candidates_round_by_round():
    order: list[str] = []
    times = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=3, warm=1)
    assert order == ["a", "b"] * 4
    assert len(times.seconds["a"]) == 3
    measured = Times({"fast": (1.0, 2.0, 9.0), "slow": (2.0, 6.0, 9.0)}, {"fast": 1.0, "slow": 2.0})
    assert measured.ratios("slow", "fast") == [1.0, 1.5, 0.5]
    assert measured.ratio("slow", "fast") == 1.0


def test_a_row_says_whether_its_goal_is_met():
    assert row("P1", "x", 3, 5, "<=")["ok"] is True
    assert row("P1", "x", 3, 5, ">=")["ok"] is False
    assert row("P1", "x", None, 5, ">=", note="not run")["ok"] is None
    with pytest.raises(ValueError, match="better"):
        row("P1", "x", 3, 5, "<")


def test_peak_bytes_sees_a_numpy_array():
    assert 8_000_000 <= peak_bytes(lambda: np.ones(1_000_000)) < 9_000_000
