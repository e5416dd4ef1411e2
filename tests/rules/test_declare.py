"""Temporal rules against their LTLf definitions, on random short traces, in every world; and against pm4py if there."""

from __future__ import annotations

import importlib.util
import json
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline.base.errors import PolicyError
from plumbline.rules import (
    DECLARE,
    AlternatePrecedence,
    AlternateResponse,
    ChainPrecedence,
    ChainResponse,
    NotCoExistence,
    NotSuccession,
    Ordering,
    Policy,
    Precedence,
    RespondedExistence,
    Response,
    Where,
    check,
)
from plumbline.traces import Recording
from tests.rules.ltlf import FORMULAS, Call, holds, in_world, verdicts

RELATIONS = {
    "response": Response, "chain response": ChainResponse, "alternate response": AlternateResponse,
    "precedence": Precedence, "chain precedence": ChainPrecedence, "alternate precedence": AlternatePrecedence,
    "not succession": NotSuccession, "responded existence": RespondedExistence, "not co-existence": NotCoExistence,
}  # fmt: skip
WHERE = Where("big")


def answers(rules, traces):
    """The verdict of each rule on each trace: one run, so that hypothesis draws many traces at once."""
    trials = pd.DataFrame({"arm": "a", "task_id": [f"t{n:04}" for n in range(len(traces))]})
    rows = []
    for n, calls in enumerate(traces):
        for call in calls:
            arguments = {"big": call.meets} | ({} if call.entity is None else {"id": call.entity})
            written = json.dumps(arguments, sort_keys=True) if call.read else None
            rows.append((f"a/t{n:04}/baseline/0/0", "tool_call", call.name, written, None, call.status))
    steps = pd.DataFrame(rows, columns=["trial_id", "kind", "name", "arguments", "result", "status"], dtype=object)
    found = check(Recording(trials, steps, run_id="r"), Policy("p", rules))
    frame = found.to_frame()
    located = frame["rule"].isin([rule.id for rule in rules if not isinstance(rule, plumb.MustCall)])
    assert (frame["witness"].notna() == (frame["verdict"] == "violated"))[located].all()
    return {rule.id: frame.loc[frame["rule"] == rule.id, "verdict"].tolist() for rule in rules}


def made(template, by, where):
    rule = RELATIONS[template]
    options = {"by": "id"} if by else {}
    if where and template != "not co-existence":
        options["where"] = WHERE
    return rule("a", "b", **options)


def one(found):
    return found.pop() if len(found) == 1 else "unobservable"


CERTAIN = st.builds(
    Call, st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.booleans(),
    st.sampled_from(["ok", "ok", "ok", "failed", "blocked"]), st.just(True),
)  # fmt: skip
PERHAPS = st.builds(
    Call, st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.booleans(),
    st.sampled_from(["ok", "no_result"]), st.just(True),
)  # fmt: skip
BLIND = st.builds(
    Call, st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.booleans(),
    st.sampled_from(["ok", "ok", "no_result"]), st.sampled_from([True, True, False]),
)  # fmt: skip


def lists(call, size):
    return st.lists(st.lists(call, max_size=size), min_size=1, max_size=12)


@pytest.mark.parametrize("by", [False, True], ids=["trial", "entity"])
@pytest.mark.parametrize("where", [False, True], ids=["always", "where"])
@settings(max_examples=25, deadline=None)
@given(st.one_of(lists(CERTAIN, 7), lists(PERHAPS, 5)))
def test_verdicts_are_those_of_the_formula_in_every_world(by, where, traces):
    rules = {template: made(template, by, where) for template in RELATIONS}
    found = answers(list(rules.values()), traces)
    for template, rule in rules.items():
        for calls, got in zip(traces, found[rule.id], strict=True):
            ideal = [call if where else call._replace(meets=True) for call in calls]
            assert got == one(verdicts(template, ideal, by=by)), (template, calls)


@pytest.mark.parametrize("by", [False, True], ids=["trial", "entity"])
@settings(max_examples=25, deadline=None)
@given(lists(BLIND, 3))
def test_where_arguments_are_not_on_record_no_verdict_is_wrong(by, traces):
    rules = {template: made(template, by, True) for template in RELATIONS}
    found = answers(list(rules.values()), traces)
    for template, rule in rules.items():
        for calls, got in zip(traces, found[rule.id], strict=True):
            ideal = [call if template != "not co-existence" else call._replace(meets=True) for call in calls]
            assert got in ("unobservable", one(verdicts(template, ideal, by=by))), (template, calls)


@settings(max_examples=25, deadline=None)
@given(lists(PERHAPS, 6))
def test_precedence_without_options_is_ordering(traces):
    found = answers([Ordering("a", "b"), Precedence("a", "b")], traces)
    assert found["ordering:a-before-b"] == found["precedence:a-before-b"]


@settings(max_examples=4, deadline=None)
@given(st.lists(st.text("abc", max_size=7), min_size=8, max_size=40))
def test_declared_templates_are_satisfied_where_their_formula_is(words):
    traces = [[Call(name) for name in word] for word in words]
    for template in DECLARE:
        rules = plumb.declare(template, *("ab" if template in two_tools() else "a"))
        found = answers(list(rules), traces)
        for n, calls in enumerate(traces):
            told = [found[rule.id][n] for rule in rules]
            assert set(told) <= {"held", "violated", "vacuous"}
            assert ("violated" not in told) == satisfied(template, calls), (template, calls, told)


def two_tools():
    return [name for name in DECLARE if not name.startswith(("existence", "absence"))]


def satisfied(template, calls):
    return holds(FORMULAS[template], calls, 0)


def test_every_template_has_a_formula_and_is_found_under_its_spellings():
    assert set(DECLARE) == set(FORMULAS)
    assert plumb.declare("Chain_Response", "a", "b") == (ChainResponse("a", "b"),)
    assert plumb.declare("coexistence", "a", "b") == plumb.declare("Co-Existence", "a", "b")
    assert plumb.declare("not succession", "a", "b") == (NotSuccession("a", "b"),)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (("respons", "a", "b"), "Did you mean 'response'"),
        (("response", "a"), "takes 2 tools; found 1"),
        (("existence", "a", "b"), "takes 1 tool; found 2"),
        ((None, "a"), "not known"),
        (("response", "a", "a"), "give two tools"),
    ],
)
def test_what_is_no_template_is_refused(given_, message):
    with pytest.raises(PolicyError, match=message):
        plumb.declare(*given_)


def test_the_oracle_knows_the_textbook_traces():
    for template, good, bad in (
        ("response", "aab", "aba"), ("alternate response", "abab", "aab"), ("chain response", "abcab", "acb"),
        ("precedence", "cabb", "bab"), ("alternate precedence", "abab", "abb"), ("chain precedence", "abcab", "acb"),
        ("not succession", "bba", "acb"), ("responded existence", "ba", "aa"), ("not co-existence", "aa", "ba"),
    ):  # fmt: skip
        assert in_world(template, [Call(n) for n in good], by=False) == "held", template
        assert in_world(template, [Call(n) for n in bad], by=False) == "violated", template


SHARED = {
    "existence": "existence", "absence": "absence", "responded_existence": "responded existence",
    "coexistence": "co-existence", "response": "response", "precedence": "precedence", "succession": "succession",
    "altresponse": "alternate response", "altprecedence": "alternate precedence", "chainresponse": "chain response",
    "chainprecedence": "chain precedence", "noncoexistence": "not co-existence",
}  # fmt: skip
"""Templates by the name pm4py has for them. Its nonsuccession says that succession does not hold or is never activated,
not the DECLARE template (after a no b); the oracle of LTLf judges that one."""


@pytest.mark.skipif(importlib.util.find_spec("pm4py") is None, reason="pm4py is a peer in benchmarks only")
def test_verdicts_agree_with_pm4py():
    import pm4py

    dice = random.Random(20261201)
    words = ["".join(dice.choice("abc") for _ in range(dice.randint(1, 7))) for _ in range(200)]
    rows = [
        (f"{n:03}", name, pd.Timestamp("2026-01-01", tz="UTC") + pd.Timedelta(seconds=at))
        for n, word in enumerate(words)
        for at, name in enumerate(word)
    ]
    log = pd.DataFrame(rows, columns=["case:concept:name", "concept:name", "time:timestamp"])
    traces = [[Call(name) for name in word] for word in words]
    for theirs, ours in SHARED.items():
        key = ("a", "b") if ours in two_tools() else "a"
        judged = pm4py.conformance_declare(log, {theirs: {key: {"support": 1, "confidence": 1.0}}})
        rules = plumb.declare(ours, *key)
        found = answers(list(rules), traces)
        for n, told in enumerate(judged):
            assert told["is_fit"] == all(found[rule.id][n] != "violated" for rule in rules), (ours, words[n])
