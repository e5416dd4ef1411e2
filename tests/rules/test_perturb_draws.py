"""Chance by name: independent of everything else that is drawn, and without repeats until everything was given."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.rules.draws import Draw, draw_for, nth_arrangement, nth_subset, stream

NAMES = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4)


def first(seed, *names):
    return int(stream(seed, *names).integers(2**62))


@settings(deadline=None, max_examples=30)
@given(NAMES, NAMES, st.integers(0, 2**70), st.integers(0, 2**70))
def test_different_seeds_or_names_give_different_numbers(one, other, seed, another):
    same = one == other and seed == another
    assert (first(seed, *one) == first(another, *other)) == same


def test_names_are_not_glued_together():
    """A stream of ('ab', 'c') is not that of ('a', 'bc'), as it would be if the names were joined."""
    assert len({first(7, *names) for names in (("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"))}) == 4


def test_a_stream_is_the_same_in_another_process():
    """The founding study used Python's own hash of a text, which differs from process to process."""
    program = "from plumbline.rules.draws import stream; print(stream(7, 'parity', 'INV-7002').integers(2**62))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(out.stdout) == first(7, "parity", "INV-7002")


def test_streams_of_neighbouring_variants_are_not_correlated():
    numbers = np.array([stream(7, "s", "t", "p", str(n)).random(50) for n in range(60)])
    across = np.corrcoef(numbers)[np.triu_indices(60, 1)]
    assert abs(across.mean()) < 0.02
    assert abs(numbers.mean() - 0.5) < 0.02


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9), st.integers(1, 12), st.data())
def test_every_output_comes_once_before_any_comes_again(seed, size, data):
    rounds = data.draw(st.integers(1, 3))
    made = [draw_for(seed, "s", "t", "p", candidate=n, size=size) for n in range(size * rounds)]
    for turn in range(rounds):
        assert sorted(draw.choice for draw in made[turn * size : (turn + 1) * size]) == list(range(size))
    assert [draw.exhausted for draw in made] == [n >= size for n in range(size * rounds)]


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 10**30), st.integers(0, 12))
def test_a_choice_lies_within_any_size_and_does_not_depend_on_later_ones(size, candidate):
    draws = [draw_for(7, "s", "t", "p", candidate=n, size=size).choice for n in range(candidate + 1)]
    assert all(0 <= choice < size for choice in draws)
    assert len(set(draws)) == min(len(draws), size)
    assert draw_for(7, "s", "t", "p", candidate=candidate, size=size).choice == draws[-1]


def test_each_order_of_three_is_as_likely_as_any_other():
    seen = Counter(
        tuple(draw_for(seed, "s", "t", "p", candidate=n, size=3).choice for n in range(3)) for seed in range(600)
    )
    assert set(seen) == set(itertools.permutations(range(3)))
    expected = 600 / 6
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 20.5  # chi-square, 5 df, p = 0.001


@pytest.mark.parametrize("items", ["a", "abc", "abcde"])
def test_arrangements_are_all_the_orders(items):
    made = [nth_arrangement(items, n) for n in range(factorial(len(items)))]
    assert made == list(itertools.permutations(items))


@pytest.mark.parametrize(("items", "size"), [("abc", 2), ("abcdef", 3), ("ab", 0), ("abcd", 4)])
def test_subsets_are_all_the_combinations(items, size):
    made = [nth_subset(items, size, n) for n in range(comb(len(items), size))]
    assert made == list(itertools.combinations(items, size))


@pytest.mark.parametrize(
    "call",
    [
        lambda: stream(-1, "a"),
        lambda: stream(True, "a"),
        lambda: stream(1.0, "a"),
        lambda: stream(7),
        lambda: stream(7, ""),
        lambda: stream(7, 3),
        lambda: Draw(7, ("a",), -1),
        lambda: Draw(7, ("a",), 0, 0),
        lambda: Draw(7, ("a",), 0).choice,
        lambda: nth_arrangement("abc", 6),
        lambda: nth_subset("abc", 2, 3),
        lambda: nth_subset("abc", 2, True),
    ],
)
def test_impossible_requests_are_refused(call):
    with pytest.raises(ParameterError):
        call()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 20))
def test_a_candidate_has_its_own_numbers_from_the_start_at_every_call(candidate):
    draw = Draw(7, ("s", "t", "p"), candidate)
    assert draw.generator.integers(10**9) == draw.generator.integers(10**9)
    assert draw.generator.integers(10**9) != Draw(7, ("s", "t", "p"), candidate + 1).generator.integers(10**9)
