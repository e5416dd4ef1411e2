"""Drift rules: false-alarm rates exact where exact, simulated within 0.03, and tests that keep their level."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    NOMINAL_Z3,
    BernoulliCusum,
    any_false_alarm,
    cusum_run_length,
    e_process,
    false_alarm_table,
    jaccard_false_alarm,
    mmd_test,
    rank_p_value,
    simulated_run_length,
    spectrum_gram,
    tool_mix_test,
    window_rank_test,
    zscore_false_alarm,
    zscore_threshold,
)

EXACT_Z = {
    5: (0.051979694201925934, 7.252072286710695),
    10: (0.018768522060029734, 4.2940911918198745),
    20: (0.008636093415381485, 3.532362837302007),
    30: (0.006208679411170484, 3.3346516899447725),
    50: (0.0045958599781630695, 3.191957771220279),
}
EXACT_JACCARD = {
    (6, 0.5, 0): 0.693359375,
    (6, 0.5, 2): 0.32421875,
    (6, 0.7, 0): 0.3267365305680001,
    (6, 0.9, 0): 0.01387742392799999,
    (3, 0.5, 0): 0.59375,
    (10, 0.8, 0): 0.09664076001386165,
    (2, 0.5, 1): 0.25,
    (1, 0.5, 1): 0.0,
}


@pytest.mark.parametrize("k", EXACT_Z)
def test_z_above_three_alarms_more_often_than_it_is_believed_to(k):
    rate, threshold = EXACT_Z[k]
    assert zscore_false_alarm(k) == pytest.approx(rate, rel=1e-9)
    assert zscore_threshold(k) == pytest.approx(threshold, rel=1e-9)
    assert pytest.approx(0.0026997960632601866, rel=1e-9) == NOMINAL_Z3
    assert zscore_false_alarm(k, threshold=zscore_threshold(k)) == pytest.approx(NOMINAL_Z3, rel=1e-9)


def test_the_rate_of_z_is_what_a_simulation_gives():
    values = np.random.default_rng(11).normal(size=(60_000, 11))
    z = np.abs(values[:, 10] - values[:, :10].mean(axis=1)) / values[:, :10].std(axis=1, ddof=1)
    assert (z > 3).mean() == pytest.approx(zscore_false_alarm(10), abs=0.002)


@pytest.mark.parametrize("setting", EXACT_JACCARD)
def test_the_jaccard_rule_depends_on_how_optional_the_tools_are(setting):
    optional, chance, always = setting
    found = jaccard_false_alarm([chance], times=optional, always=always)
    assert found == pytest.approx(EXACT_JACCARD[setting], rel=1e-9, abs=1e-15)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), max_size=3),
    st.integers(0, 2),
    st.sampled_from([0.3, 0.5, 0.8]),
)
def test_the_jaccard_rate_is_the_sum_over_all_pairs_of_sets(chances, always, edge):
    total = 0.0
    kinds = list(itertools.product((0, 1), repeat=len(chances)))
    for one, two in itertools.product(kinds, kinds):
        weight = math.prod((u if a else 1 - u) * (u if b else 1 - u) for u, a, b in zip(chances, one, two, strict=True))
        both = always + sum(a and b for a, b in zip(one, two, strict=True))
        either = always + sum(a or b for a, b in zip(one, two, strict=True))
        total += weight if either and Fraction(both, either) < Fraction(str(edge)) else 0.0
    assert jaccard_false_alarm(chances, always=always, threshold=edge) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "share"), [("normal", 0.40), ("poisson", 0.56), ("lognormal", 0.92), ("almost_constant", 0.99)]
)
def test_some_alarm_in_sessions_11_to_100(kind, share):
    found = any_false_alarm(kind, draws=4_000, generator=np.random.default_rng(7))
    assert found.value == pytest.approx(share, abs=0.03)
    assert found.n == 4_000


def test_the_cusum_waits_and_finds_as_stated():
    cusum = BernoulliCusum(usual=0.02, feared=0.10, limit=3.0)
    assert cusum.false_alarm_every() == pytest.approx(566.9944301899758, rel=1e-9)
    assert cusum.delay() == pytest.approx(31.23665344774832, rel=1e-9)
    assert cusum.false_alarm_every() == pytest.approx(590, rel=0.05), "the reference says about 590, a simulation"
    assert round(cusum.delay()) == 31
    assert "false alarm every 567 trials, delay 31" in str(cusum)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.10, 0.5])
def test_the_run_length_is_what_a_simulation_gives(rate):
    cusum = BernoulliCusum()
    found = simulated_run_length(cusum, rate, runs=20_000, generator=np.random.default_rng(3))
    assert abs(found.value - cusum_run_length(cusum, rate)) < 4 * found.se
    assert found.value == pytest.approx(cusum_run_length(cusum, rate), rel=0.03)


def test_the_cusum_stops_at_its_alarm_and_starts_again():
    cusum = BernoulliCusum()
    alarmed = cusum.after([True, True, False])
    assert alarmed.alarm
    assert alarmed.seen == 2, "what follows an alarm is not counted until it is dealt with"
    assert not alarmed.restarted().alarm
    assert cusum.after([False] * 500).value == 0.0
    assert cusum_run_length(cusum, 0.0) == math.inf
    with pytest.raises(ParameterError, match="the feared failure rate is higher"):
        BernoulliCusum(usual=0.1, feared=0.1)
    with pytest.raises(ParameterError, match="the sum never alarms"):
        simulated_run_length(cusum, 0.0, runs=2, generator=np.random.default_rng(1))


def test_the_e_process_rarely_cries_wolf_whenever_it_is_looked_at():
    """Failures above their usual rate, looked at after every run: at most alpha of agents ever alarm."""
    chance = np.random.default_rng(5)
    failures = np.cumsum(chance.random((400, 300)) < 0.02, axis=1)
    known = {}
    alarms = 0
    for line in failures:
        for n in range(5, 301, 5):
            f = int(line[n - 1])
            if (f, n) not in known:
                known[f, n] = e_process(f, n - f, threshold=0.02).rejects(0.05)
            if known[f, n]:
                alarms += 1
                break
    assert alarms / 400 <= 0.05 + 0.03


def test_a_rank_has_a_finest_step():
    assert rank_p_value(100.0, range(19)).fraction == Fraction(1, 20)
    assert rank_p_value(100.0, range(18)).smallest_attainable_p == pytest.approx(1 / 19)
    assert rank_p_value(-5.0, range(19), alternative="less").fraction == Fraction(1, 20)
    assert rank_p_value(3.0, [3.0] * 19).p == 1.0, "ties count against a change"
    with pytest.raises(ParameterError, match="position 1"):
        rank_p_value(1.0, [1.0, math.nan])


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_the_rank_keeps_its_level_on_skewed_values(side):
    chance = np.random.default_rng(2)
    values = chance.lognormal(0, 1, size=(4_000, 20))
    share = np.mean([rank_p_value(line[19], line[:19], alternative=side).p <= 0.05 for line in values])
    assert share == pytest.approx(0.05, abs=0.012)


def test_the_tool_that_changed_is_named_and_no_other():
    counts = {"read": [3, 2, 3, 4, 3, 2, 3, 3, 2, 4, 3, 3], "shell": [1] * 8 + [15, 14, 16, 15]}
    mix = tool_mix_test(counts, np.arange(12) >= 8)
    assert mix.tools.rejected == ("shell",)
    assert mix.overall.fraction == Fraction(1, 495)
    assert (mix.baseline["shell"], mix.window["shell"]) == (1.0, 15.0)
    assert "shell: 1 -> 15 calls a session" in str(mix)


def test_a_tool_that_could_never_alarm_is_dropped_by_name():
    mix = tool_mix_test({"a": [1, 1, 1, 9], "b": [0, 0, 0, 0]}, np.array([False, False, False, True]))
    assert mix.tools.dropped == ("a", "b")
    assert "cannot alarm with so few sessions" in str(mix)


def test_calls_that_come_in_bursts_do_not_raise_the_level():
    """A session makes all its calls of one kind or none: over calls G would alarm nearly always, over sessions not."""
    chance = np.random.default_rng(8)
    alarms = 0
    for _ in range(200):
        burst = 20 * (chance.random(11) < 0.4)
        mix = tool_mix_test({"a": burst, "b": 20 - burst}, np.arange(11) >= 8)
        alarms += mix.overall.p <= 0.05
    assert alarms / 200 <= 0.05 + 0.03


def test_large_windows_need_a_source_of_chance_and_are_reproducible():
    counts = {"a": list(range(40))}
    with pytest.raises(ParameterError, match="reassignments are too many"):
        tool_mix_test(counts, np.arange(40) >= 20)
    one, two = (
        tool_mix_test(counts, np.arange(40) >= 20, draws=500, generator=np.random.default_rng(4)) for _ in range(2)
    )
    assert one == two
    assert one.tools.rejected == ("a",)
    with pytest.raises(ParameterError, match="some of both"):
        tool_mix_test(counts, np.zeros(40, bool))


def test_a_window_is_ranked_against_its_baseline():
    found = window_rank_test([1, 2, 3, 4, 5], [9, 10, 11])
    assert found.fraction == Fraction(1, 28), "both ends of 56 choices, of which one is as extreme on each side"
    assert found.difference == 7
    assert window_rank_test([2, 2, 2], [2, 2]).p == 1.0


def test_order_is_tested_apart_from_composition():
    paths = ["abc"] * 4 + ["acb"] * 4
    side = np.arange(8) < 4
    assert mmd_test(spectrum_gram(paths, lengths=(1,)), side).p == 1.0
    assert mmd_test(spectrum_gram(paths, lengths=(2,)), side).fraction == Fraction(1, 35)


def test_the_table_says_what_is_believed_and_what_is_so():
    table = false_alarm_table()
    ten = table[table["setting"] == "10 baseline sessions"].iloc[0]
    assert ten["per_100_sessions"] == pytest.approx(1.876852206, rel=1e-9)
    assert ten["believed"] == pytest.approx(NOMINAL_Z3)
    assert ten["mended_threshold"] == pytest.approx(4.2940911918, rel=1e-9)
    never = table[table["setting"].str.startswith("1 optional tool used")].iloc[0]
    assert never["false_alarm"] == 0.0, "{a, b} against {a} is exactly 0.5: the rule never fires"
    cusum = table[table["rule"] == "CUSUM of failures"].iloc[0]
    assert 1 / cusum["false_alarm"] == pytest.approx(566.9944301899758)
