"""The benchmark of the trace-diff viewer draws what it times; its speed never gates a test."""

from __future__ import annotations

import pytest

from tests.bench.diff_bench import STEPS, bench
from tests.browser import missing
from tests.traces_to_show import many_steps


@pytest.mark.browser
def test_bench_measures_every_goal_it_names():
    rows = bench(rounds=1, tiny=True)
    assert [r["id"] for r in rows] == ["W1", "W2", "W3"]
    for r in rows:
        assert (r["ratio"] is None) == bool(missing()) == bool(r["note"])
        assert r["ratio"] is None or r["ratio"] > 0


def test_the_traces_that_are_timed_are_long_and_differ():
    made = many_steps(STEPS)
    assert len(made.rows) == STEPS
    assert sum(row.differs for row in made.rows) > STEPS / 10
