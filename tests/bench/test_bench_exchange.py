"""The benchmark of reading and receiving measures what it names; its speed never gates a test."""

from __future__ import annotations

from plumbline.exchange import read_pieces, read_traces
from tests.bench.exchange_bench import SPANS_A_TRACE, bench, flatten, traces


def test_bench_measures_every_goal_it_names():
    rows = bench(rounds=1, tiny=True)
    assert [row["id"] for row in rows] == ["P11"] * 5
    assert all(row["ratio"] > 0 for row in rows)


def test_what_is_compared_reads_the_same_spans_and_pieces_are_the_whole(tmp_path):
    text = "\n".join(traces(7)) + "\n"
    (tmp_path / "t.jsonl").write_text(text)
    whole = read_traces(tmp_path / "t.jsonl", run_id="imported")
    assert len(flatten(text.encode())) == len(whole.steps) == 7 * SPANS_A_TRACE
    pieces = list(read_pieces(tmp_path / "t.jsonl", trials=3))
    assert [len(piece.trials) for piece in pieces] == [3, 3, 1]
    told = [row for piece in pieces for row in piece.steps[["trial_id", "step", "name", "arguments"]].values.tolist()]
    assert sorted(told) == sorted(whole.steps[["trial_id", "step", "name", "arguments"]].values.tolist())
