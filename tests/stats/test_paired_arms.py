"""Pairs and tasks: McNemar, sign flips, paired intervals and equivalence, each against an independent oracle."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, ttest_1samp

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    PairTable,
    equivalence,
    mcnemar,
    mcnemar_compatible,
    newcombe,
    newcombe_paired,
    pair_table,
    paired_equivalence,
    sign_flip,
    tango,
    task_difference,
    task_equivalence,
)

tables = (
    st.tuples(*[st.integers(0, 30)] * 4)
    .filter(sum)
    .map(lambda t: PairTable(both=t[0], only_first=t[1], only_second=t[2], neither=t[3]))
)


def test_pairs_are_counted_and_incomplete_ones_named():
    table = pair_table([1, 1, 0, 0, None, 1], [True, False, True, False, 1, math.nan])
    assert (table.both, table.only_first, table.only_second, table.neither, table.incomplete) == (1, 1, 1, 1, 2)
    assert table.n == 4
    assert "2 incomplete" in str(table)
    assert tango(table).caution == ("2 incomplete pairs left out",)
    assert not tango(pair_table([None], [1])).known
    assert pair_table([None], [1]).difference is None


@pytest.mark.parametrize(("a", "b"), [([1], [1, 0]), ([], []), ([2], [1]), (["yes"], [1]), ([0.5], [1])])
def test_impossible_pairs_raise(a, b):
    with pytest.raises(ParameterError):
        pair_table(a, b)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_the_binomial_test(b, c):
    found = mcnemar(b, c)
    assert found.p == pytest.approx(binomtest(min(b, c), b + c, 0.5).pvalue if b + c else 1.0, rel=1e-12)
    assert mcnemar(c, b).fraction == found.fraction
    assert 0 < mcnemar(b, c, method="midp").p <= found.p <= 1
    assert found.smallest_attainable_p <= found.p


def test_no_discordant_pair_is_no_evidence():
    assert mcnemar(0, 0).p == 1.0
    assert mcnemar(0, 0).caution == ("no pair differs",)
    assert not mcnemar(0, 0, method="chi2").known
    assert mcnemar(3, 1, pairs=10).difference == pytest.approx(0.2)
    with pytest.raises(ParameterError, match="4 pairs differ"):
        mcnemar(3, 1, pairs=3)


def test_margins_do_not_determine_a_paired_p():
    """Two arms with 5 and 3 failures of 20: the p depends on which pairs failed together."""
    options = mcnemar_compatible(5, 3, 20)
    assert [(o.both_failed, o.only_second, o.only_first) for o in options] == [
        (0, 5, 3),
        (1, 4, 2),
        (2, 3, 1),
        (3, 2, 0),
    ]
    assert len({o.p for o in options}) == 4
    with pytest.raises(ParameterError, match="do not fit"):
        mcnemar_compatible(5, 30, 20)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9), st.sampled_from(["two-sided", "greater", "less"]))
def test_sign_flip_equals_enumeration(differences, alternative):
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product([1, -1], repeat=len(differences))
    ]
    seen = sum(differences)
    extreme = {
        "two-sided": [abs(s) >= abs(seen) for s in sums],
        "greater": [s >= seen for s in sums],
        "less": [s <= seen for s in sums],
    }[alternative]
    exact = Fraction(sum(extreme), len(sums))
    assert sign_flip(differences, alternative=alternative).fraction == exact
    tenths = sign_flip([d / 10 + 0.0 for d in differences], alternative=alternative)
    assert tenths.fraction == exact
    assert sign_flip([d * math.pi for d in differences], alternative=alternative).fraction == exact


def test_few_tasks_cannot_reach_significance():
    found = sign_flip([8, 8, 8, 8, 8, 0, 0, 0])
    assert found.p == found.smallest_attainable_p == 2 / 2**5
    assert "5 of 8 tasks differ: no p below 0.0625 is possible" in found.caution
    assert sign_flip([8] * 6).caution == ()
    assert sign_flip([0, 0]).p == 1.0


def test_many_tasks_are_exact_for_rates_and_random_for_odd_numbers():
    chance = np.random.default_rng(11)
    counts = chance.integers(-3, 5, 200)
    exact = sign_flip(counts.tolist())
    assert exact.mc_se is None
    assert sign_flip((counts / 12).tolist()).p == exact.p
    random = sign_flip((counts * math.pi).tolist(), generator=np.random.default_rng(12))
    assert random.seed == 12
    assert abs(random.p - exact.p) < 5 * random.mc_se + 1e-4
    with pytest.raises(ParameterError, match="generator"):
        sign_flip((counts * math.pi).tolist())
    halves = sign_flip([0.5] * 63)
    assert halves.fraction is None
    assert halves.p == pytest.approx(2 / 2**63, rel=1e-12)


def tango_by_optimiser(table, delta):
    """Maximise the multinomial likelihood under the hypothesis, instead of solving the quadratic."""
    b, c, rest, n = table.only_first, table.only_second, table.both + table.neither, table.n

    def loss(q):
        cells = ((b, q + delta), (c, q), (rest, 1 - 2 * q - delta))
        return -sum(count * math.log(max(chance, 1e-300)) for count, chance in cells if count)

    bounds = (max(0.0, -delta), (1 - delta) / 2)
    q = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))


@settings(max_examples=25, deadline=None)
@given(tables)
def test_tango_ends_solve_the_score_equation(table):
    found = tango(table)
    z = 1.959963984540054
    assert -1 <= found.low <= found.value <= found.high <= 1
    if -0.99 < found.low < found.value - 1e-6:
        assert tango_by_optimiser(table, found.low) == pytest.approx(z, abs=2e-4)
    if found.value + 1e-6 < found.high < 0.99:
        assert tango_by_optimiser(table, found.high) == pytest.approx(-z, abs=2e-4)


@settings(max_examples=25, deadline=None)
@given(tables, st.sampled_from([tango, newcombe_paired]))
def test_paired_intervals_mirror(table, method):
    swapped = PairTable(
        both=table.both, only_first=table.only_second, only_second=table.only_first, neither=table.neither
    )
    found, other = method(table), method(swapped)
    assert found.low == pytest.approx(-other.high, abs=1e-12)
    assert found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high


def test_newcombe_without_correlation_is_the_unpaired_one():
    table = PairTable(both=24, only_first=16, only_second=6, neither=4)  # 24 * 4 = 16 * 6
    found, unpaired = newcombe_paired(table), newcombe([40, 30], [50, 50])
    assert (found.low, found.high) == pytest.approx((unpaired.low, unpaired.high), rel=1e-12)


def test_pairing_sharpens_equivalence():
    table = PairTable(both=54, only_first=1, only_second=1, neither=8)
    paired = paired_equivalence(table, margin=0.1)
    unpaired = equivalence([55, 55], [64, 64], margin=0.1)
    assert paired.verdict == "equivalent"
    assert unpaired.verdict == "not shown"
    assert paired.interval.low > unpaired.interval.low


def test_equivalence_agrees_with_its_interval():
    for successes, n, margin in (([64, 55], [64, 56], 0.05), ([64, 55], [64, 56], 0.1), ([52, 64], [64, 64], 0.1)):
        found = equivalence(successes, n, margin=margin)
        assert found.noninferior == (found.interval.low > -margin)
        assert found.equivalent == (-margin < found.interval.low and found.interval.high < margin)
        assert str(found).startswith(found.verdict)


def test_direction_matters():
    assert equivalence([55, 64], [56, 64], margin=0.05).verdict == "not shown"
    assert equivalence([64, 55], [64, 56], margin=0.05).verdict == "non-inferior only"


@pytest.mark.parametrize("margin", [0, 1, -0.1, 5, math.nan, None, True])
def test_a_margin_is_needed(margin):
    with pytest.raises(ParameterError, match="margin"):
        equivalence([5, 5], [6, 6], margin=margin)


def test_limits_are_said():
    with pytest.raises(ParameterError, match="use method='miettinen_nurminen'"):
        equivalence([1500, 1500], [1500, 1500], margin=0.05, method="exact")
    with pytest.raises(ParameterError, match="below 0\\.5"):
        equivalence([5, 5], [6, 6], margin=0.1, alpha=0.5)


def test_tasks_as_units():
    differences = [0.5, 0, 0, 0, 0.5, 0, 0, 0.5]
    found = task_difference(differences)
    theirs = ttest_1samp(differences, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)
    answer = task_equivalence([0.02, -0.01, 0.03, 0.0, 0.01], margin=0.05)
    assert answer.p_noninferior == pytest.approx(
        ttest_1samp([0.02, -0.01, 0.03, 0.0, 0.01], -0.05, alternative="greater").pvalue, rel=1e-9
    )
    assert answer.verdict == "equivalent"


def test_too_few_or_equal_tasks_cannot_tell():
    few = task_difference([0.1, 0.2, 0.0, 0.3])
    assert (few.known, few.scope) == (False, "none")
    assert task_equivalence([0.0] * 4, margin=0.1).verdict == "cannot tell"
    flat = task_difference([0.0] * 8)
    assert flat.known
    assert (flat.low, flat.high, flat.se) == (None, None, None)
    same = task_equivalence([0.0] * 8, margin=0.1)
    assert (same.verdict, same.equivalent, same.noninferior) == ("cannot tell", False, False)
