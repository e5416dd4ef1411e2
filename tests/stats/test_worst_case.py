"""The worst condition: a true minimum, never skipping a planned cell, and statements about all cells at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.stats import (
    clopper_pearson,
    largest_drop,
    minimum_upper_bound,
    per_cell_level,
    published_minimum,
    simultaneous_bounds,
    tasks_estimate,
    wilson,
    worst_case,
)

CELLS = {"baseline": (40, 40), "reworded": (40, 40), "noise": (39, 40), "tools": (12, 12)}
cell = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
cells = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), cell, min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(cells)
def test_minimum_is_one_of_the_bounds_and_below_all(counts):
    found = worst_case({name: clopper_pearson(*pair) for name, pair in counts.items()})
    lows = {name: clopper_pearson(*pair).low for name, pair in counts.items()}
    assert found.bound == min(lows.values())
    assert all(found.bound <= low for low in lows.values())
    assert set(found.cells) == {name for name, low in lows.items() if low == found.bound}


@settings(max_examples=40, deadline=None)
@given(cells)
def test_simultaneous_bounds_are_lower_and_the_upper_one_is_above(counts):
    joint = simultaneous_bounds(counts)
    single = worst_case({name: clopper_pearson(*pair) for name, pair in counts.items()})
    assert worst_case(joint).bound <= single.bound
    upper = minimum_upper_bound(counts)
    assert upper.high >= single.bound
    assert upper.low is None
    assert upper.value == min(c / n for c, n in counts.values())


def test_the_published_rule_passes_over_a_small_clean_cell():
    estimates = {name: wilson(*pair) for name, pair in CELLS.items()}
    true, rule = worst_case(estimates), published_minimum(estimates)
    assert true.cells == ("tools",)
    assert rule.cells == ("noise",)
    assert rule.bound > true.bound
    assert f"{true.bound:.4f}" in rule.caution[0]
    tie = published_minimum({name: estimates[name] for name in ("reworded", "tools")})
    assert tie.cells == ("reworded",)
    assert true.rule != rule.rule


def test_ties_name_every_cell():
    estimates = {name: wilson(*CELLS[name]) for name in ("baseline", "reworded")}
    assert worst_case(estimates).cells == ("baseline", "reworded")


def test_a_planned_cell_without_runs_is_not_skipped():
    estimates = {name: wilson(*pair) for name, pair in CELLS.items()}
    missing = worst_case(estimates, planned=[*CELLS, "faults"])
    assert not missing.known
    assert missing.unanswered == ("faults",)
    assert "faults" in str(missing)
    empty = worst_case({**estimates, "faults": wilson(0, 0)})
    assert empty.bound is None
    few = worst_case({"a": tasks_estimate([9, 9], [9, 9])})
    assert not few.known
    assert not published_minimum({**estimates, "faults": wilson(0, 0)}).known


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: worst_case({}), "no cell is planned"),
        (lambda: worst_case({"a": wilson(1, 2)}, planned=["b"]), "were not planned"),
        (lambda: worst_case({"a": wilson(1, 2)}, planned=["a", "a"]), "stands twice"),
        (lambda: worst_case({"a": wilson(1, 2), "b": clopper_pearson(1, 2)}), "differ"),
        (lambda: worst_case({"a": wilson(1, 2, sidedness="upper")}), "no lower end"),
        (lambda: simultaneous_bounds({}), "no cell"),
        (lambda: minimum_upper_bound({"a": (0, 0)}), "no runs"),
        (lambda: per_cell_level(0), "cells"),
        (lambda: per_cell_level(3, correction="tukey"), "choose one of"),
        (lambda: largest_drop((3, 3), {}), "cells"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_largest_drop_is_corrected_below_and_not_above():
    counts = {"noise": (62, 64), "fault": (52, 64), "tools": (34, 34)}
    found = largest_drop((64, 64), counts)
    alone = largest_drop((64, 64), {"fault": (52, 64)})
    assert (found.lower_cell, found.upper_cell) == ("fault", "fault")
    assert found.upper == alone.upper
    assert found.lower < alone.lower
    assert found.per_cell["fault"] == pytest.approx(12 / 64)
    assert found.lower < found.per_cell["fault"] < found.upper
