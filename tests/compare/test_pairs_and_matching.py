"""All pairs of a cell against a plain loop, and pairings that are never worse than the first that fits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.compare import align_paths, match_calls, pair_similarity
from plumbline.compare.pairing import best_pairing
from tests.compare.oracle import greedy_pairs, most_pairs, similarity


def flat(paths):
    lengths = [len(path) for path in paths]
    codes = np.array([code for path in paths for code in path], np.int8)
    return codes, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


paths_of_cells = st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=7), st.integers(0, 2)), max_size=14)


@settings(deadline=None, max_examples=60)
@given(paths_of_cells)
def test_all_pairs_equal_the_plain_loop(drawn):
    paths, cells = [path for path, _ in drawn], np.array([cell for _, cell in drawn], np.int64)
    found = pair_similarity(flat(paths), cells)
    assert found.cells.tolist() == sorted(set(cells.tolist()))
    for position, cell in enumerate(found.cells):
        members = np.flatnonzero(cells == cell)
        alike = [[similarity(paths[i], paths[j]) for j in members if j != i] for i in members]
        same = [[paths[i] == paths[j] for j in members if j != i] for i in members]
        assert found.trials[position] == len(members)
        if len(members) < 2:
            assert np.isnan([found.similarity[position], found.identical[position], *found.per_trial[members]]).all()
            continue
        assert found.similarity[position] == pytest.approx(np.mean(alike))
        assert found.identical[position] == pytest.approx(np.mean(same))
        assert found.per_trial[members] == pytest.approx(np.mean(alike, axis=1))
        assert found.per_trial_identical[members] == pytest.approx(np.mean(same, axis=1))


def test_all_pairs_over_many_chunks(monkeypatch):
    r = np.random.default_rng(8)
    paths = [r.integers(0, 5, r.integers(0, 9)).tolist() for _ in range(120)]
    cells = np.repeat([4, 7], 60)
    whole = pair_similarity(flat(paths), cells)
    monkeypatch.setattr("plumbline.compare.pairs._PAIRS_AT_ONCE", 37)
    parts = pair_similarity(flat(paths), cells)
    assert parts.similarity == pytest.approx(whole.similarity)
    expected = np.mean([similarity(paths[i], paths[j]) for i in range(60) for j in range(i)])
    assert whole.similarity[0] == pytest.approx(expected)
    frame = whole.to_frame()
    assert frame["pairs"].tolist() == [1770, 1770]


def test_a_cell_of_one_cannot_tell():
    found = pair_similarity(flat([[1, 2]]), np.zeros(1, int))
    assert found.to_frame()["similarity"].isna().all()
    assert "1 cells without a pair" in str(found)


@pytest.mark.parametrize("cells", [np.zeros(2, int), np.array([-1]), np.array([0.0]), np.zeros((1, 1), int)])
def test_labels_must_fit(cells):
    with pytest.raises(ParameterError, match="give one label"):
        pair_similarity(flat([[1]]), cells)


def test_references_must_fit():
    with pytest.raises(ParameterError, match="each from 0 to 0"):
        align_paths(flat([[1]]), flat([[1]]), np.array([1]))


fits = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=5)
)


@settings(deadline=None, max_examples=60)
@given(fits, st.randoms())
def test_the_pairing_is_the_best_whatever_the_order(table, random):
    cost = np.where(np.array(table), 0.0, 1.0 + np.arange(len(table[0])) / 10)
    pairs = best_pairing(cost)
    met = sum(table[i][j] for i, j in pairs)
    assert len(pairs) == min(cost.shape)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert met == most_pairs(table) >= greedy_pairs(table)
    turned = list(table)
    random.shuffle(turned)
    again = np.where(np.array(turned), 0.0, 1.5)
    assert sum(turned[i][j] for i, j in best_pairing(again)) == met


calls = st.lists(
    st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 1))), max_size=5
)


@settings(deadline=None, max_examples=60)
@given(calls, calls)
def test_matching_counts_each_call_once(made, expected):
    found = match_calls(made, expected)
    counted = (Counter(map(canonical_json, made)) & Counter(map(canonical_json, expected))).total()
    assert found.matched == counted
    assert found.equal is (Counter(map(canonical_json, made)) == Counter(map(canonical_json, expected)))
    assert 0 <= found.f1 <= 1
    assert match_calls(expected, made).matched == counted
    loose = match_calls(made, expected, arguments="contained")
    assert counted <= loose.matched <= match_calls(made, expected, arguments="ignored").matched


def test_nothing_expected_and_nothing_made():
    found = match_calls([], [])
    assert (found.f1, found.precision, found.recall, found.equal, found.all_met) == (1.0, None, None, True, True)
    assert match_calls([("a", {})], []).f1 == 0.0
    assert match_calls([], [("a", {})]).precision is None
    assert match_calls([("a", None)], [("a", {})]).matched == 0
    assert "0 calls matched of 1 expected and 0 made" in str(match_calls([], [("a", {})]))
