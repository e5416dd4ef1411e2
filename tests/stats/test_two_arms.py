"""Two arms without pairs: exact against enumeration, at sizes where integers overflow floats, and real-valued data."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    exact_permutation,
    mee,
    miettinen_nurminen,
    monte_carlo_check,
    newcombe,
    permutation_means,
    stratified_permutation,
    unpaired_test,
)
from tests.stats.reference_loop import SHARED

arm = st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
big_arm = st.integers(1, 90).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def enumerated(strata, alternative):
    """Reassign runs one by one, and count those at least as extreme: the definition, without a formula."""
    observed = Fraction(0)
    options = []
    for x1, n1, x2, n2 in strata:
        runs = [1] * (x1 + x2) + [0] * (n1 + n2 - x1 - x2)
        centre = Fraction((x1 + x2) * n1, n1 + n2)
        observed += x1 - centre
        options.append([sum(runs[i] for i in part) - centre for part in combinations(range(n1 + n2), n1)])
    values = [sum(choice, Fraction(0)) for choice in product(*options)]
    extreme = {
        "two-sided": lambda v: abs(v) >= abs(observed),
        "greater": lambda v: v >= observed,
        "less": lambda v: v <= observed,
    }[alternative]
    return Fraction(sum(map(extreme, values)), len(values))


@settings(max_examples=40, deadline=None)
@given(arm, arm, st.sampled_from(["two-sided", "greater", "less"]))
def test_exact_equals_enumeration(first, second, alternative):
    found = exact_permutation([first[0], second[0]], [first[1], second[1]], alternative=alternative)
    assert found.fraction == enumerated([(*first, *second)], alternative)
    assert found.p == float(found.fraction)
    assert 0 < found.smallest_attainable_p <= found.p <= 1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(*[st.integers(1, 3)] * 2), min_size=1, max_size=3), st.data())
def test_stratified_equals_enumeration(sizes, data):
    strata = [(data.draw(st.integers(0, m)), m, data.draw(st.integers(0, k)), k) for m, k in sizes]
    x, n = [[a, b] for a, _, b, _ in strata], [[m, k] for _, m, _, k in strata]
    assert stratified_permutation(x, n).fraction == enumerated(strata, "two-sided")


@settings(max_examples=40, deadline=None)
@given(big_arm, big_arm)
def test_p_is_a_chance_and_arms_can_be_exchanged(first, second):
    x, n = [first[0], second[0]], [first[1], second[1]]
    found = exact_permutation(x, n)
    assert 0 < found.p <= 1
    assert exact_permutation(x[::-1], n[::-1]).fraction == found.fraction
    failures = exact_permutation([n[0] - x[0], n[1] - x[1]], n)
    assert failures.fraction == found.fraction
    greater, less = (exact_permutation(x, n, alternative=side).p for side in ("greater", "less"))
    assert greater + less >= 1
    assert stratified_permutation([x], [n]).fraction == found.fraction


@pytest.mark.parametrize(("x", "n"), [([800, 750], [1000, 1000]), ([201, 190], [210, 205]), ([5, 40], [300, 900])])
def test_large_samples_equal_whole_number_arithmetic(x, n):
    found = exact_permutation(x, n)
    total, runs = sum(x), sum(n)
    weights = {
        k: math.comb(n[0], k) * math.comb(n[1], total - k) for k in range(max(0, total - n[1]), min(n[0], total) + 1)
    }
    gap = abs(x[0] * runs - total * n[0])
    exact = Fraction(sum(w for k, w in weights.items() if abs(k * runs - total * n[0]) >= gap), math.comb(runs, total))
    assert sum(weights.values()) == math.comb(runs, total)
    assert found.fraction is None
    assert found.p == pytest.approx(float(exact), rel=1e-11)


def test_far_out_p_is_never_zero():
    found = exact_permutation([0, 3000], [3000, 3000])
    assert 0 < found.p < 1e-300
    assert "upper bound" in found.caution[0]


def test_strata_of_one_arm_say_nothing():
    found = stratified_permutation([[4, 8], [3, 0]], [[8, 8], [8, 0]])
    assert found.fraction == exact_permutation([4, 8], [8, 8]).fraction
    assert "1 of 2 strata" in found.caution[0]
    nothing = stratified_permutation([[3, 0]], [[8, 0]])
    assert not nothing.known
    assert "no stratum" in nothing.caution[-1]


def test_confounded_arms_differ_from_their_strata():
    """Pooling unequal tasks turns no difference within any task into a difference."""
    x, n = [[18, 36], [4, 2]], [[20, 40], [40, 20]]
    assert stratified_permutation(x, n).p == 1.0
    assert exact_permutation(np.sum(x, axis=0).tolist(), np.sum(n, axis=0).tolist()).p < 0.05


def test_library_tests_take_arms_not_rows():
    found = unpaired_test([52, 55], [64, 56], method="barnard")
    wrong = stats.barnard_exact([[52, 12], [55, 1]]).pvalue
    assert found.p == pytest.approx(0.0029807757, abs=1e-6)
    assert wrong == pytest.approx(0.0121817984, abs=1e-5)
    assert unpaired_test([8, 8], [8, 8], method="boschloo").p == 1.0


def test_permutation_of_numbers():
    """Rounding must not split ties: 0.1 + 0.8 equals 0.3 + 0.6 here, in floats it does not."""
    assert permutation_means([0.1, 0.2, 0.7], [0.3, 0.5, 0.9]).fraction == Fraction(10, 20)
    assert permutation_means([2.5, 2.5], [2.5, 2.5]).p == 1.0
    random = permutation_means([0.0] * 11, [5.0] * 11, draws=49, generator=np.random.default_rng(3))
    assert random.p == 1 / 50
    assert random.seed == 3
    assert random.mc_se > 0
    with pytest.raises(ParameterError, match="too many to enumerate"):
        permutation_means([0.0] * 12, [1.0] * 12)
    with pytest.raises(ParameterError, match="draws are random"):
        permutation_means([0.0], [1.0], draws=9)
    with pytest.raises(ParameterError, match="nan"):
        permutation_means([math.nan], [1.0])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_permutation_of_tenths_equals_that_of_integers(a, b):
    whole = permutation_means(a, b).fraction
    assert permutation_means([v / 10 for v in a], [v / 10 for v in b]).fraction == whole


def test_case_c16():
    file = SHARED / "cases" / "C16-permutation-ties-and-zero.json"
    if not file.exists():
        pytest.skip("the shared cases are not beside this checkout")
    case = json.loads(file.read_text(encoding="utf-8"))
    given, expected = case["input"], case["expected"]
    assert permutation_means(given["exact"]["a"], given["exact"]["b"]).p == pytest.approx(
        expected["exact_p"], abs=1e-12
    )
    assert permutation_means(given["constant"]["a"], given["constant"]["b"]).p == expected["constant_p"]
    chance = np.random.default_rng(given["random"]["seed"])
    random = permutation_means(
        given["random"]["a"], given["random"]["b"], draws=given["random"]["n_resamples"], generator=chance
    )
    assert random.p == expected["random_p"]


def test_monte_carlo_check_sees_a_wrong_p():
    assert monte_carlo_check(0.0029, 0.0026793905, draws=20_000).within
    wrong = monte_carlo_check(0.0090, 0.0026793905, draws=20_000)
    assert not wrong.within
    assert wrong.distance > 10
    assert "outside" in str(wrong)
    with pytest.raises(ParameterError, match="never 0"):
        monte_carlo_check(0.5, 0.0, draws=10)


@settings(max_examples=20, deadline=None)
@given(big_arm, big_arm, st.sampled_from([newcombe, miettinen_nurminen, mee]))
def test_difference_intervals_mirror_and_hold_their_estimate(first, second, method):
    x, n = [first[0], second[0]], [first[1], second[1]]
    found, other = method(x, n), method(x[::-1], n[::-1])
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low == pytest.approx(-other.high, abs=1e-12)
    assert method(x, n, sidedness="lower").low == pytest.approx(method(x, n, confidence=0.9).low, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "n"), [([1], [2]), ([1, 2], [0, 3]), ([5, 1], [3, 3]), ([-1, 1], [3, 3]), ([1, 2, 3], [4, 4, 4])]
)
def test_impossible_arms_raise(x, n):
    for function in (exact_permutation, newcombe, unpaired_test):
        with pytest.raises(ParameterError):
            function(x, n)


def test_unknown_names_raise():
    with pytest.raises(ParameterError, match="choose one of"):
        exact_permutation([1, 2], [3, 3], alternative="bigger")
    with pytest.raises(ParameterError, match="one column per arm"):
        stratified_permutation([1, 2], [3, 3])
    with pytest.raises(ParameterError, match="choose one of"):
        unpaired_test([1, 2], [3, 3], method="g")
