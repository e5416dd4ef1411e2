"""Families declared before the runs, and tests that could never reject."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from plumbline.base.errors import ParameterError
from plumbline.stats import Family, adjust, mcnemar

values = st.lists(st.floats(0.0001, 1), min_size=1, max_size=8)


def family_of(p, kind="critical"):
    return Family(name="f", members=tuple(p), kind=kind)


@settings(max_examples=40, deadline=None)
@given(values)
def test_holm_by_its_definition(values):
    p = {str(i): value for i, value in enumerate(values)}
    found = adjust(p, family=family_of(p))
    order = sorted(p, key=p.get)
    running = 0.0
    for rank, name in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[name]))
        assert found.adjusted[name] == pytest.approx(running)


@settings(max_examples=40, deadline=None)
@given(values)
def test_benjamini_hochberg_equals_scipy(values):
    p = {str(i): value for i, value in enumerate(values)}
    found = adjust(p, family=family_of(p, "exploratory"))
    assert list(found.adjusted.values()) == pytest.approx(false_discovery_control(values).tolist())
    assert all(found.adjusted[name] >= p[name] - 1e-12 for name in p)


def test_kinds_choose_their_correction():
    p = {"a": 0.01, "b": 0.04}
    assert adjust(p, family=family_of(p)).method == "holm"
    assert adjust(p, family=family_of(p, "exploratory")).method == "benjamini_hochberg"
    assert "1 rejected" in str(adjust({"a": 0.01, "b": 0.2}, family=family_of(p)))


def test_tests_that_could_never_reject_are_dropped_by_name():
    contrasts = {"many": mcnemar(12, 1), "few": mcnemar(2, 0), "none": mcnemar(0, 0)}
    p = {name: contrast.p for name, contrast in contrasts.items()}
    floor = {name: contrast.smallest_attainable_p for name, contrast in contrasts.items()}
    found = adjust(p, family=family_of(p), smallest_attainable=floor)
    assert found.dropped == ("few", "none")
    assert found.adjusted == {"many": pytest.approx(p["many"])}
    assert found.rejected == ("many",)
    kept = adjust(p, family=family_of(p))
    assert kept.adjusted["many"] == pytest.approx(3 * p["many"])
    assert "dropped" in str(found)
    gone = adjust({"x": 1.0}, family=family_of({"x": 1.0}), smallest_attainable={"x": 1.0})
    assert (gone.adjusted, gone.rejected) == ({}, ())


def test_a_family_is_what_was_declared():
    family = family_of({"a": 1, "b": 1})
    with pytest.raises(ParameterError, match="without a p-value: b"):
        adjust({"a": 0.1}, family=family)
    with pytest.raises(ParameterError, match="not declared: c"):
        adjust({"a": 0.1, "b": 0.2, "c": 0.3}, family=family)
    with pytest.raises(ParameterError, match="p of 'b'"):
        adjust({"a": 0.1, "b": math.nan}, family=family)
    with pytest.raises(ParameterError, match="choose one of"):
        adjust({"a": 0.1, "b": 0.2}, family=family, method="fisher")
    with pytest.raises(ParameterError, match="each once"):
        Family(name="x", members=("a", "a"))
    with pytest.raises(ParameterError, match="each once"):
        Family(name="x", members=())
    with pytest.raises(ParameterError, match="kind"):
        Family(name="x", members=("a",), kind="casual")
