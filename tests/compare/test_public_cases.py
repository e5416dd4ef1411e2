"""The shared cases C09 to C14 and C17, by what they expect; the same faults on other data stand in the other files."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from plumbline.base.canonical import canonical_json
from plumbline.compare import (
    ArgumentRules,
    Scoring,
    align_sequences,
    compare_arguments,
    compare_call,
    exact,
    expand,
    match_calls,
    number,
    state,
)

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this checkout")


def case(name: str) -> dict:
    (file,) = CASES.glob(f"{name}-*.json")
    return json.loads(file.read_text(encoding="utf-8"))


def value(expected):
    return float(Fraction(expected)) if isinstance(expected, str) else expected


def calls(listed):
    return [(tool, arguments) for tool, arguments in listed]


def test_c09_repeated_calls():
    found = case("C09")
    for pair in found["input"]["pairs"]:
        got = match_calls(calls(pair["actual"]), calls(pair["expected"]))
        wanted = found["expected"][pair["name"]]
        assert got.matched == wanted["matched"]
        assert got.precision == pytest.approx(value(wanted["precision"]))
        assert got.recall == pytest.approx(value(wanted["recall"]))
        assert got.equal is wanted["equal"]


def test_c10_the_best_pairing():
    found = case("C10")
    actual, expected = calls(found["input"]["actual"]), calls(found["input"]["expected"])
    got = match_calls(actual, expected, arguments="contained")
    assert (got.matched, got.all_met) == (found["expected"]["matched"], found["expected"]["all_met"])
    assert [list(pair) for pair in got.pairs] == found["expected"]["pairing"]
    for turned in (expected[::-1], expected[1:] + expected[:1]):
        assert match_calls(actual[::-1], turned, arguments="contained").all_met


@pytest.mark.parametrize(
    ("mode", "rule"),
    [
        ("strict", exact()),
        ("numeric", number(relative=Decimal("1e-9"))),
        ("numeric+strings", number(relative=Decimal("1e-9"), normalise=("numeric_text",))),
    ],
)
def test_c11_numbers_and_types(mode, rule):
    found = case("C11")
    got = {}
    for name, one, other in found["input"]["pairs"]:
        if name == "i":
            one = other = float("nan")
        rules = ArgumentRules({}, default=rule)
        got[name] = compare_call({"x": other}, {"x": one}, tool="t", rules=rules).equal
    assert got == found["expected"][mode]


def test_c12_none_missing_default_extra():
    found = case("C12")
    defaults = {key: exact(default=given) for key, given in found["input"]["declared_defaults"].items()}
    modes = {"without_defaults": None, "with_defaults": ArgumentRules({found["input"]["tool"]: defaults})}
    reports = {}
    for mode, rules in modes.items():
        got = {}
        for name, actual in found["input"]["actual"].items():
            reports[name] = compare_call(actual, found["input"]["expected"], tool="list_orders", rules=rules)
            got[name] = reports[name].equal
        assert got == found["expected"][mode]
    said = {name: [(each.field, each.verdict) for each in reports[name].differences] for name in "egh"}
    assert said == {
        "e": [("drop_all", "extra")],
        "g": [("status", "different")],
        "h": [("status", "missing")],
    }
    assert "the candidate is null" in str(reports["g"])


def test_c13_empty_trajectories():
    found = case("C13")
    got = {
        pair["name"]: match_calls(calls(pair["actual"]), calls(pair["expected"])) for pair in found["input"]["pairs"]
    }
    assert {name: each.f1 for name, each in got.items()} == found["expected"]["score"]
    assert [each.equal for each in got.values()] == found["expected"]["conforms"]
    scores = [each.f1 for each in got.values()]
    assert sum(scores) / len(scores) == pytest.approx(value(found["expected"]["mean"]))
    assert len(scores) == found["expected"]["n"]


def test_c14_alignment():
    found = case("C14")
    scoring = Scoring(**found["input"]["scoring"])
    words = {"matches": "match", "substitutions": "substitute", "insertions": "extra", "deletions": "skipped"}
    for pair in found["input"]["pairs"]:
        got = align_sequences(pair["actual"], pair["expected"], scoring=scoring)
        turned = align_sequences(pair["expected"], pair["actual"], scoring=scoring)
        wanted = found["expected"][pair["name"]]
        assert got.score == turned.score == wanted["score"]
        for word, edit in words.items():
            assert got.count(edit) == wanted[word], (pair["name"], word)
        assert (got.count("extra"), got.count("skipped")) == (turned.count("skipped"), turned.count("extra"))


def test_c17_arguments_of_different_shapes(tmp_path):
    found = case("C17")
    rows = found["input"]["rows"]
    steps = pd.DataFrame({"name": [r["tool"] for r in rows], "arguments": [canonical_json(r["args"]) for r in rows]})
    steps.to_parquet(tmp_path / "steps.parquet")
    back = pd.read_parquet(tmp_path / "steps.parquet")
    got = compare_arguments(back, steps)
    assert (got.verdicts == "equal").tolist() == found["expected"]["equal"]
    assert [state(back, "y").iloc[i] for i in (0, 1, 2, 3)] == ["value", "missing", "missing", "missing"]
    assert [state(back, "x").iloc[i] for i in (1, 2, 3)] == ["value", "missing", "null"]
    wide = expand(back)
    assert type(wide.loc[1, "x"]) is int
    assert wide.loc[3, "x"] is None
    assert wide.loc[2, "x"] is pd.NA
