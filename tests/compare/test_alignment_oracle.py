"""Scores and scripts against the full table in plain Python, ties included, and against Levenshtein."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from plumbline.base.errors import ParameterError
from plumbline.compare import Scoring, align_paths, align_sequences
from plumbline.compare.kernel import Columns, batches, common_batch
from plumbline.compare.scripts import OPS
from tests.compare.oracle import needleman_wunsch

few = st.lists(st.integers(0, 2), max_size=9)
some = st.lists(st.integers(0, 9), max_size=14)
scorings = st.tuples(st.integers(1, 5), st.integers(-4, 2), st.integers(-4, 0)).filter(
    lambda s: s[0] > max(s[1], 2 * s[2])
)


def flat(paths, dtype=np.int16):
    codes = np.array([code for path in paths for code in path], dtype)
    return codes, np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64)


@settings(deadline=None, max_examples=150)
@given(st.one_of(st.tuples(few, few), st.tuples(some, some)))
def test_score_and_script_equal_the_table(pair):
    found = align_sequences(*pair)
    assert (found.score, found.script) == needleman_wunsch(*pair)
    assert found.score == len(pair[0]) + len(pair[1]) - 3 * Levenshtein.distance(*pair)


@settings(deadline=None, max_examples=80)
@given(few, few, scorings)
def test_other_scores_equal_the_table(one, other, weights):
    found = align_sequences(one, other, scoring=Scoring(*weights))
    assert (found.score, found.script) == needleman_wunsch(one, other, *weights)


@settings(deadline=None, max_examples=60)
@given(some, some, st.permutations(range(10)))
def test_renaming_and_turning_the_pair_round(one, other, names):
    found = align_sequences(one, other)
    renamed = align_sequences([f"tool {names[x]}" for x in one], [f"tool {names[x]}" for x in other])
    assert renamed == found
    assert align_sequences(other, one).score == found.score
    assert align_sequences(one, one).script == ("match",) * len(one)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(few, st.integers(0, 2)), min_size=1, max_size=30), st.tuples(few, few, few))
def test_many_pairs_at_once_equal_each_alone(drawn, references):
    paths, chosen = [path for path, _ in drawn], [reference for _, reference in drawn]
    found = align_paths(flat(paths, np.int8), flat(references, np.int8), np.array(chosen)).each()
    for position, (path, reference) in enumerate(drawn):
        script = found.ops[found.offsets[position] : found.offsets[position + 1]]
        got = int(found.scores[position]), tuple(OPS[op] for op in script)
        assert got == needleman_wunsch(path, references[reference])
    counts = [[needleman_wunsch(p, references[r])[1].count(op) for op in OPS] for p, r in drawn]
    assert align_paths(flat(paths), flat(references), np.array(chosen)).counts().tolist() == counts


@pytest.mark.parametrize(
    ("length", "symbols", "dtype"),
    [
        (1, 1, np.int8),
        (63, 2, np.int8),
        (64, 4, np.int8),
        (150, 3, np.int16),
        (90, 400, np.int16),
        (40, 40_000, np.int32),
    ],
)
def test_long_paths_and_many_names(length, symbols, dtype):
    r = np.random.default_rng(length)
    pairs = [(r.integers(0, symbols, r.integers(length // 2, length + 1)).tolist(),
              r.integers(0, symbols, length).tolist()) for _ in range(3)]  # fmt: skip
    found = align_paths(flat([p for p, _ in pairs], dtype), flat([q for _, q in pairs], dtype), np.arange(3)).each()
    for position, pair in enumerate(pairs):
        script = found.ops[found.offsets[position] : found.offsets[position + 1]]
        assert (int(found.scores[position]), tuple(OPS[op] for op in script)) == needleman_wunsch(*pair)


def test_a_wide_batch_takes_the_other_branch_and_says_the_same():
    r = np.random.default_rng(11)
    paths = [r.integers(0, 3, r.integers(0, 7)).tolist() for _ in range(900)]
    references = [r.integers(0, 3, r.integers(0, 7)).tolist() for _ in range(900)]
    found = align_paths(flat(paths, np.int8), flat(references, np.int8), np.arange(900))
    assert len(found.scores) > 256
    each = found.each()
    for position in range(0, 900, 7):
        script = each.ops[each.offsets[position] : each.offsets[position + 1]]
        got = int(each.scores[position]), tuple(OPS[op] for op in script)
        assert got == needleman_wunsch(paths[position], references[position])


def test_scores_without_scripts_equal_levenshtein(monkeypatch):
    r = np.random.default_rng(5)
    paths = [r.integers(0, 4, r.integers(0, 30)).tolist() for _ in range(600)]
    codes, offsets = flat(paths, np.int8)
    for largest in (1 << 25, 1):  # one matrix of all paths, or one per batch
        monkeypatch.setattr("plumbline.compare.kernel.LARGEST_MATRIX", largest)
        columns = Columns(codes, offsets)
        left, right = r.integers(0, 600, (2, 2000))
        for batch in batches(columns.lengths[left], columns.lengths[right], 1 << 15):
            one, other = columns.of(left[batch]), columns.of(right[batch])
            found = one[1] + other[1] - common_batch(*one, *other)
            expected = [
                Levenshtein.distance(paths[i], paths[j]) for i, j in zip(left[batch], right[batch], strict=True)
            ]
            assert found.tolist() == expected


def test_a_pair_too_long_is_refused_before_memory_is_taken():
    lengths = np.array([20_000])
    with pytest.raises(ParameterError, match="20000 and 20000 steps are too long to align"):
        next(batches(lengths, lengths))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ((1, 1, -1), "must exceed mismatch"),
        ((-4, -5, -2), "twice the gap"),
        ((2.0, -1, -2), "match is 2.0"),
        ((True, -1, -2), "match is True"),
        ((2, -1, -5000), "gap is -5000"),
    ],
)
def test_scores_that_cannot_work_are_refused(weights, said):
    with pytest.raises(ParameterError, match=said):
        Scoring(*weights)


def test_counting_an_unknown_edit_is_refused():
    with pytest.raises(ParameterError, match="edit is 'moved'"):
        align_sequences("ab", "ba").count("moved")
