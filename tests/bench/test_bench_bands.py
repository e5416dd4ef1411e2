"""The benchmark of bands measures what it names."""

from __future__ import annotations

from tests.bench.bands_bench import bench


def test_it_measures_every_fixture():
    (row,) = bench(rounds=1, tiny=True)
    assert row["id"] == "B1"
    assert "300 fixtures" in row["what"]
    assert row["ratio"] > 0
