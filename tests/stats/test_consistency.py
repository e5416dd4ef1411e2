"""Agreement of runs: unbiased, with the error that enumeration gives, and no error where none can be told."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    agreement_moments,
    identical_counts,
    pairwise_agreement,
    pairwise_similarity,
    pass_hat_suite,
    pass_k,
)

counts = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def enumerated(shares, n):
    """Exact distribution of the agreement of n runs: every sequence of behaviours with its probability."""
    chances: Counter = Counter()
    for behaviours in product(range(len(shares)), repeat=n):
        chance = math.prod((shares[b] for b in behaviours), start=Fraction(1))
        chances[pairwise_agreement(identical_counts(behaviours)).fraction] += chance
    return chances


@pytest.mark.parametrize("shares", [("1/2", "1/2"), ("3/5", "3/10", "1/10"), ("1/3", "1/3", "1/3")])
def test_mean_and_variance_equal_enumeration(shares):
    shares = [Fraction(share) for share in shares]
    for n in (2, 3, 6):
        chances = enumerated(shares, n)
        mean = sum(value * chance for value, chance in chances.items())
        variance = sum((value - mean) ** 2 * chance for value, chance in chances.items())
        assert agreement_moments(shares, n) == (mean, variance)


@settings(max_examples=40, deadline=None)
@given(counts)
def test_jackknife_equals_deleting_runs(sizes):
    found = pairwise_agreement(sizes)
    runs = [kind for kind, size in enumerate(sizes) for _ in range(size)]
    n = len(runs)
    if n < 2:
        assert not found.known
        return
    pairs = [runs[i] == runs[j] for i in range(n) for j in range(i)]
    assert found.fraction == Fraction(sum(pairs), len(pairs))
    assert found.plug_in >= found.value or found.value == 1.0
    if n > 2:
        parts = [pairwise_agreement(identical_counts(runs[:i] + runs[i + 1 :])).fraction for i in range(n)]
        mean = sum(parts, Fraction(0)) / n
        variance = sum((part - mean) ** 2 for part in parts) * Fraction(n - 1, n)
        assert found.jackknife_variance == pytest.approx(float(variance), abs=1e-15)
    assert found.se is None or found.se > 0


@pytest.mark.parametrize("sizes", [[10], [5, 5], [1] * 10, [2], [1, 1]])
def test_degenerate_counts_never_print_an_error_of_zero(sizes):
    found = pairwise_agreement(sizes)
    assert found.se is None
    assert "not 0" in found.caution[0]
    assert "s.e. cannot be told" in str(found)
    assert 0 <= found.low <= (max(sizes) / sum(sizes)) ** 2


def test_ten_of_ten_bounds_the_common_behaviour():
    found = pairwise_agreement([10])
    assert found.modal_share.low == pytest.approx(0.05 ** (1 / 10))
    assert found.low == pytest.approx(0.05 ** (2 / 10))
    shared = pairwise_agreement([5, 5])
    assert shared.modal_share.confidence == pytest.approx(0.975)


@settings(max_examples=40, deadline=None)
@given(counts)
def test_similarity_of_identical_behaviour_is_the_agreement(sizes):
    runs = np.array([kind for kind, size in enumerate(sizes) for _ in range(size)])
    exact, general = pairwise_agreement(sizes), pairwise_similarity(runs[:, None] == runs[None, :])
    assert general.known == exact.known
    if exact.known:
        assert general.value == pytest.approx(exact.value)
        assert (general.se is None) == (exact.se is None)
        if exact.se is not None:
            assert general.se == pytest.approx(exact.se)


def test_pass_k_of_one_task():
    found = pass_k(3, 4, 5)
    assert not found.known
    assert (found.pass_hat, found.pass_at) == (None, None)
    assert pass_k(0, 0, 1).plug_in is None
    assert pass_k(3, 5, 1).pass_hat == Fraction(3, 5)
    every = [Fraction(sum(1 for a in range(6) for b in range(a) if a < 4 and b < 4), 15)]
    assert [pass_k(4, 6, 2).pass_hat] == every


def test_pass_k_over_tasks_does_not_punish_a_missing_trial():
    c, n = [4, 3, 4, 2, 4, 3], [4, 4, 4, 4, 4, 3]
    found = pass_hat_suite(c, n, 2)
    own = [pass_k(a, b, 2).pass_hat for a, b in zip(c, n, strict=True)]
    assert found.value == pytest.approx(float(sum(own) / 6))
    assert own[-1] == 1
    short = pass_hat_suite(c, n, 4)
    assert not short.known
    assert "1 of 6 tasks have fewer than 4 trials" in short.caution[0]
    assert not pass_hat_suite([4] * 4, [4] * 4, 1).known
    clean = pass_hat_suite([4] * 6, [4] * 6, 3)
    assert (clean.value, clean.low, clean.high, clean.se) == (1.0, None, None, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pairwise_agreement([]), "empty"),
        (lambda: pairwise_agreement([3, 0]), "at least 1"),
        (lambda: agreement_moments([Fraction(1, 2)], 5), "sum to"),
        (lambda: agreement_moments([1.5, -0.5], 5), "sum to"),
        (lambda: agreement_moments([1.0], 1), "at least 2"),
        (lambda: pairwise_similarity([[1, 2], [0, 1]]), "symmetric"),
        (lambda: pairwise_similarity([[1, math.nan], [math.nan, 1]]), "finite"),
        (lambda: pass_k(5, 4, 1), "successes"),
        (lambda: pass_k(3, 4, 0), "k is"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
