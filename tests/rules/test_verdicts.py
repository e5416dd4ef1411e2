"""Verdicts as frames, counts, one answer a trial, and renderings."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.base.schema import KEYS
from plumbline.rules import (
    VERDICTS,
    ArgEquals,
    ArgSatisfies,
    CallAtMost,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    check,
)
from plumbline.traces import Recording

POLICY = Policy(
    "payments",
    [
        MustCall("check"),
        Ordering("check", "pay", severity="high"),
        CallAtMost("pay"),
        ArgEquals("pay", "amount", from_context="total", tolerance="0.01"),
        MustNotCall("pay", when="on_hold", severity="medium", id="no <pay>"),
        ArgSatisfies("pay", id="named", predicate=lambda args, _: "to" in args, severity="low"),
    ],
)
TRIALS = pd.DataFrame(
    {
        "arm": ["a", "a", "b", "b"],
        "task_id": ["t1", "t2", "t1", "t2"],
        "status": ["completed", "completed", "completed", "no_response"],
    }
)


def steps_of(arm, task, *calls):
    common = {"trial_id": f"{arm}/{task}/baseline/0/0", "kind": "tool_call"}
    return [{**common, "name": n, "arguments": a, "status": s} for n, a, s in calls]


def recording():
    steps = [
        *steps_of("a", "t1", ("check", {}, "ok"), ("pay", {"amount": 10, "to": "x"}, "ok")),
        *steps_of(
            "a", "t2", ("pay", {"amount": 5}, "ok"), ("check", {}, "failed"), ("pay", {"amount": 7}, "ok"),
            ("pay", {"to": "y"}, "ok"), ("look", {}, "ok"),
        ),
        *steps_of("b", "t1", ("check", {}, "failed"), ("check", {}, "failed"), ("look", {}, "ok")),
        *steps_of("b", "t2", ("look", {}, "ok")),
    ]  # fmt: skip
    tasks = {"t1": {"context": {"total": 10, "on_hold": False}}, "t2": {"context": {"total": 5, "on_hold": True}}}
    return Recording(TRIALS, pd.DataFrame(steps), run_id="demo", tasks=tasks)


@pytest.fixture(scope="module")
def verdicts():
    return check(recording(), POLICY)


def test_one_row_for_each_trial_and_rule(verdicts):
    frame = verdicts.to_frame()
    expected_columns = [c.name for c in KEYS]
    expected_columns += ["rule", "severity", "verdict", "witness", "expected", "observed", "reason"]
    assert list(frame.columns) == expected_columns
    assert len(frame) == 4 * 6
    assert frame["rule"].tolist() == list(POLICY.ids) * 4
    assert str(frame["witness"].dtype) == "Int64"
    table = frame.pivot(index="trial_id", columns="rule", values="verdict")[list(POLICY.ids)]
    assert table.to_numpy().tolist() == [
        ["held", "held", "held", "held", "not_applicable", "held"],
        ["violated", "violated", "violated", "violated", "violated", "violated"],
        ["violated", "vacuous", "held", "vacuous", "not_applicable", "vacuous"],
        ["unobservable"] * 6,
    ]
    violated = frame["verdict"] == "violated"
    assert frame["expected"].notna().equals(violated)
    assert frame["observed"].notna().equals(violated)
    assert frame["witness"].notna().equals(violated & (frame["rule"] != "must_call:check"))
    assert frame["reason"].notna().equals(~frame["verdict"].isin(["held", "violated"]))
    assert set(frame["reason"].dropna()) == {
        "nothing activated the rule", "the condition is false for this task", "the trial did not complete",
    }  # fmt: skip


def test_every_violating_step_is_listed(verdicts):
    found = verdicts.violations()
    assert list(found.columns) == [*(c.name for c in KEYS), "rule", "severity", "step", "name", "expected", "observed"]
    rows = [
        (trial[0:4], rule, None if step is pd.NA else step)
        for trial, rule, step in zip(found["trial_id"], found["rule"], found["step"], strict=True)
    ]
    assert rows == [
        ("a/t2", "must_call:check", None),
        ("a/t2", "ordering:check-before-pay", 0),
        ("a/t2", "ordering:check-before-pay", 2),
        ("a/t2", "ordering:check-before-pay", 3),
        ("a/t2", "at_most:pay", 2),
        ("a/t2", "at_most:pay", 3),
        ("a/t2", "arg_equals:pay.amount", 2),
        ("a/t2", "arg_equals:pay.amount", 3),
        ("a/t2", "no <pay>", 0),
        ("a/t2", "no <pay>", 2),
        ("a/t2", "no <pay>", 3),
        ("a/t2", "named", 0),
        ("a/t2", "named", 2),
        ("b/t1", "must_call:check", None),
    ]
    told = found.set_index(["rule", "step"])[["name", "expected", "observed"]].iloc[:13].to_numpy().tolist()
    assert told[0] == [
        "check", "a successful call of check",
        "check was called 1 time, none succeeded (1 failed); called instead: pay, look",
    ]  # fmt: skip
    assert told[1] == [
        "pay", "a successful check before pay", "check was called 1 time, none succeeded (1 failed)",
    ]  # fmt: skip
    assert told[4:6] == [
        ["pay", "at most 1 successful call of pay", "successful call number 2"],
        ["pay", "at most 1 successful call of pay", "successful call number 3"],
    ]
    assert told[6:8] == [["pay", "amount == 5 within 0.01", "7"], ["pay", "amount == 5 within 0.01", "missing"]]
    assert told[8] == ["pay", "no successful call of pay", "called successfully"]
    assert told[11] == ["pay", "Every call of pay satisfies named.", '{"amount":5}']
    assert found["observed"].iloc[-1] == "check was called 2 times, none succeeded (2 failed); called instead: look"


def test_the_frame_shows_the_first_violation(verdicts):
    frame = verdicts.to_frame()
    first = verdicts.violations().drop_duplicates(["trial_id", "rule"])
    merged = frame[frame["verdict"] == "violated"].merge(first, on=["trial_id", "rule"], suffixes=("", "_listed"))
    assert len(merged) == len(first) == 7
    for name in ("expected", "observed"):
        assert merged[name].equals(merged[f"{name}_listed"])
    assert merged["witness"].equals(merged["step"])


def test_counts_by_rule_and_arm(verdicts):
    counts = verdicts.by_rule()
    assert list(counts.columns) == ["rule", "severity", "arm", *VERDICTS]
    assert counts[list(VERDICTS)].sum(axis=1).tolist() == [2] * 12
    row = counts[(counts["rule"] == "must_call:check") & (counts["arm"] == "b")].iloc[0]
    assert row[list(VERDICTS)].tolist() == [0, 1, 0, 0, 1]


def test_conforms_is_true_false_or_cannot_tell(verdicts):
    critical = verdicts.conforms()
    assert str(critical.dtype) == "boolean"
    assert critical.index.tolist() == [f"{p}/baseline/0/0" for p in ("a/t1", "a/t2", "b/t1", "b/t2")]
    assert critical.tolist() == [True, False, False, pd.NA]
    only_low = check(recording(), Policy("p", [MustCall("look", severity="low"), Ordering("check", "pay")]))
    assert only_low.conforms("critical").tolist() == [True, False, True, pd.NA]
    assert only_low.conforms("low").tolist() == [False, False, True, pd.NA]
    assert only_low.conforms("high").equals(only_low.conforms("critical").rename("conforms_high"))


def test_a_violation_weighs_more_than_what_cannot_be_told():
    rules = [MustNotCall("look"), MustCall("check")]
    assert check(recording(), Policy("p", rules)).conforms().tolist() == [True, False, False, False]


def test_conforming_to_nothing_is_refused():
    mild = check(recording(), Policy("p", [MustCall("look", severity="low")]))
    with pytest.raises(ParameterError, match=r"no rule of severity 'critical' or worse.*\['low'\]"):
        mild.conforms()
    with pytest.raises(ValueError, match="Allowed: critical"):
        mild.conforms("severe")


def test_notes_name_rules_that_nothing_put_to_the_test(verdicts):
    assert verdicts.notes == ()
    rules = [
        MustNotCall("pya"),
        Ordering("check", "payy"),
        MustCall("check", when=lambda context: False, id="never"),
        ArgEquals("look", "x", from_context="absent"),
        MustCall("look"),
    ]
    notes = check(recording(), Policy("p", rules)).notes
    assert notes == (
        "must_not_call:pya: 'pya' is called nowhere in this run; check the name",
        "ordering:check-before-payy: 'payy' is called nowhere in this run; check the name",
        "ordering:check-before-payy: vacuous everywhere, no trial puts it to the test (3 vacuous, 1 unobservable)",
        "never: vacuous everywhere, no trial puts it to the test (4 not_applicable)",
        "arg_equals:look.x: vacuous everywhere, no trial puts it to the test (4 not_applicable)",
    )


def test_text_and_html_say_the_same(verdicts):
    text, page = repr(verdicts), verdicts._repr_html_()
    assert text.startswith("policy 'payments' version 1, run 'demo': 4 trials\n")
    assert "no <pay>" in text
    assert "no <pay>" not in page
    assert "no &lt;pay&gt;" in page
    cells = [html.unescape(cell) for cell in re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", page)]
    assert cells == [*verdicts.by_rule().columns, *(str(v) for row in verdicts.by_rule().to_numpy() for v in row)]
    assert "<ul>" not in page
    noted = check(recording(), Policy("p", [MustNotCall("pya")]))
    assert f"note: {noted.notes[0]}" in repr(noted)
    assert html.escape(noted.notes[0]) in noted._repr_html_()


def test_a_run_without_a_violation_has_an_empty_but_typed_list():
    clean = check(recording(), Policy("p", [CallAtMost("look", 3)]))
    found = clean.violations()
    assert len(found) == 0
    assert str(found["step"].dtype) == "Int64"
    assert clean.to_frame()["witness"].isna().all()
    assert clean.to_frame()["observed"].isna().all()


def test_arrays_are_compact(verdicts):
    assert (verdicts.verdict.dtype, verdicts.witness.dtype, verdicts.reason.dtype) == (np.int8, np.int32, np.int8)
    assert verdicts.verdict.shape == (6, 4)
    assert len(verdicts.conforms("low")) == 4


def test_observations_quote_the_record_of_each_kind():
    steps = [*steps_of("a", "t1", ("pay", {"amount": True}, "ok"), ("check", {}, "ok"))]
    run = Recording(TRIALS.iloc[:1], pd.DataFrame(steps), run_id="r", tasks={"t1": {"context": {"total": "10.50"}}})
    rules = [
        ArgEquals("pay", "amount", from_context="total", normalise="casefold"),
        ArgSatisfies("pay", id="x", arg="amount", op="in", value=["a", 1.5]),
        Ordering("check", "pay"),
        MustCall("nothing"),
    ]
    found = check(run, Policy("p", rules)).violations()
    assert found[["expected", "observed"]].to_numpy().tolist() == [
        ['amount == "10.50" (casefold)', "true"],
        ['amount in ["a",1.5]', "true"],
        ["a successful check before pay", "check succeeded only at step 1"],
        ["a successful call of nothing", "nothing was never called; called instead: pay, check"],
    ]
