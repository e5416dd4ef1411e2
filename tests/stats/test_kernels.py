"""Paths of two sets of runs: a similarity that is a kernel, one that is not, and reassignments within tasks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import distance_test, mmd_squared, mmd_test, smallest_eigenvalue, spectrum_gram
from tests.stats.answers_arms import levenshtein

paths = st.lists(st.text("abc", max_size=5), min_size=4, max_size=8)


@settings(max_examples=40, deadline=None)
@given(paths, st.sampled_from([(1,), (2,), (1, 2), (1, 2, 3)]))
def test_the_spectrum_kernel_is_a_kernel(sequences, lengths):
    gram = spectrum_gram(sequences, lengths=lengths)
    assert smallest_eigenvalue(gram) > -1e-9
    assert np.array_equal(gram, gram.T)
    assert (np.diag(gram) == 1).all()
    assert ((gram >= 0) & (gram <= 1 + 1e-12)).all()


def test_composition_and_order_are_told_apart():
    same_tools = spectrum_gram(["abc", "cba"], lengths=(1,))
    assert same_tools[0, 1] == pytest.approx(1.0)
    assert spectrum_gram(["abc", "cba"], lengths=(2,))[0, 1] == 0.0
    with_arguments = spectrum_gram(["abc", "abc"], extra=[["pay:10"], ["pay:100"]])
    assert with_arguments[0, 1] == pytest.approx(5 / 6)
    assert spectrum_gram(["", ""])[0, 1] == 1.0
    assert spectrum_gram(["", "a"])[0, 1] == 0.0
    names = spectrum_gram([("fetch", "pay"), ("fetchpay",)])
    assert names[0, 1] == 0.0


def test_an_edit_similarity_is_refused():
    words = ["ab", "ba", "aba", "bab"]
    gram = [[1 - levenshtein(a, b) / max(len(a), len(b)) for b in words] for a in words]
    first = np.array([True, True, False, False])
    for function in (mmd_squared, mmd_test):
        with pytest.raises(ParameterError, match=r"negative eigenvalue, -0\.177043"):
            function(gram, first)
    assert distance_test([[levenshtein(a, b) for b in words] for a in words], first).known


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=5, max_size=7), st.integers(2, 3))
def test_p_equals_reassigning_by_hand(sequences, size):
    gram = spectrum_gram(sequences)
    n = len(sequences)

    def squared(part):
        rest = [i for i in range(n) if i not in part]
        own = np.mean([gram[i, j] for i in part for j in part if i != j])
        other = np.mean([gram[i, j] for i in rest for j in rest if i != j])
        return own + other - 2 * np.mean([gram[i, j] for i in part for j in rest])

    seen = squared(range(size))
    values = [squared(part) for part in combinations(range(n), size)]
    found = mmd_test(gram, np.arange(n) < size)
    assert found.statistic == pytest.approx(seen)
    assert found.fraction == Fraction(sum(value >= seen - 1e-12 for value in values), len(values))
    assert 0 < found.smallest_attainable_p <= found.p <= 1


def test_tasks_as_blocks_stop_a_false_difference():
    """Two arms behave alike on each task but ran the tasks in different numbers: only the blocked test sees that."""
    sequences = ["aa"] * 6 + ["bb"] + ["aa"] + ["bb"] * 6
    first = np.arange(14) < 7
    tasks = [{"aa": "one", "bb": "two"}[path] for path in sequences]
    gram = spectrum_gram(sequences)
    free, blocked = mmd_test(gram, first), mmd_test(gram, first, blocks=tasks)
    assert free.fraction == Fraction(2 * (7 * 7 + 1), 3432)
    assert blocked.p == 1.0
    assert "within 2 blocks" in blocked.method


def test_random_reassignment_is_seeded_and_never_zero():
    gram = spectrum_gram(["ab"] * 12 + ["ba"] * 12)
    first = np.arange(24) < 12
    one, two = (mmd_test(gram, first, draws=99, generator=np.random.default_rng(4)) for _ in range(2))
    assert one == two
    assert (one.p, one.seed) == (0.01, 4)
    with pytest.raises(ParameterError, match="too many to make all"):
        mmd_test(gram, first)
    alone = mmd_test(gram, first, blocks=["x"] * 12 + ["y"] * 12)
    assert alone.p == 1.0
    assert "no reassignment" in alone.caution[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectrum_gram([]), "at least one"),
        (lambda: spectrum_gram(["a"], lengths=()), "at least one"),
        (lambda: spectrum_gram(["a"], lengths=(0,)), "at least 1"),
        (lambda: spectrum_gram(["a"], extra=[]), "one each"),
        (lambda: mmd_test(np.eye(4), [1, 1, 0, 0]), "true or false"),
        (lambda: mmd_test(np.eye(4), np.array([True, False, False, False])), "needs two"),
        (lambda: mmd_test(np.eye(4), np.arange(4) < 2, blocks=["a"]), "one per run"),
        (lambda: smallest_eigenvalue([[1, 2], [0, 1]]), "symmetric"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
