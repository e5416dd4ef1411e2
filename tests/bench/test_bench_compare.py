"""The benchmark of alignment and typed comparison gives right answers; its speed never gates a test."""

from __future__ import annotations

import numpy as np

from tests.bench.compare_bench import bench, random_paths, same, usual_paths, wrong_answers


def test_answers_equal_the_oracle():
    assert wrong_answers(usual_paths(150, 21)) == 0
    assert wrong_answers(random_paths(150, 22)) == 0


def test_bench_measures_every_goal_it_names():
    rows = bench(rounds=1, tiny=True)
    assert {r["id"] for r in rows} == {"P5", "P6", "P7", "P8", "P12", "P13", "P15"}
    for r in rows:
        assert (r["ratio"] is None) == (r["ok"] is None) == bool(r["note"])
        assert r["ratio"] is None or r["ratio"] > 0


def test_random_paths_are_all_different_and_usual_ones_are_not():
    texts = [text for text, _ in random_paths(400, 3).texts()]
    assert len(set(texts)) == len(texts)
    usual = usual_paths(2000, 3)
    assert len({text for text, _ in usual.texts()}) < usual.trials / 2
    assert np.array_equal(usual.codes, usual_paths(2000, 3).codes)


def test_the_loop_the_bench_compares_with_keeps_types_apart():
    assert same({"a": [1, "x"]}, {"a": [1, "x"]})
    assert not same({"a": 1}, {"a": 1.0})
    assert not same([1], [1, 1])
