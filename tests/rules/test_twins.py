"""Rules that read trial by trial say the same of a trial among many as of the trial alone."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.rules import (
    AlternatePrecedence,
    AlternateResponse,
    ArgFromResult,
    CallBudget,
    ChainPrecedence,
    ChainResponse,
    NotCoExistence,
    NotSuccession,
    Policy,
    Precedence,
    RespondedExistence,
    Response,
    SumAtMost,
    check,
)
from plumbline.traces import Recording

RULES = [
    Response("a", "b", by="id"), Response("a", "b", within=1, id="soon"), Precedence("a", before="b"),
    ChainResponse("a", "b"), ChainPrecedence("a", before="b", by="id"), AlternateResponse("a", "b"),
    AlternatePrecedence("a", before="b", by="id"), NotSuccession("a", "b", by="id"), RespondedExistence("a", "b"),
    NotCoExistence("a", "b", by="id"), CallBudget("a", most=1), CallBudget(most=2),
    CallBudget(["a", "b"], most=1, by="id", attempts="possible", id="possible"), SumAtMost("b", "id", most=2),
    ArgFromResult("b", "id", source="a"),
]  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 2), st.sampled_from(["ok", "no_result", "failed"])), max_size=4
)


def recorded(trials):
    rows = [
        {
            "trial_id": f"x/{task}/baseline/0/{n}", "kind": "tool_call", "name": name, "arguments": f'{{"id":{given}}}',
            "status": status, "result": "1" if status == "ok" else None, "error": "no" if status == "failed" else None,
        }
        for n, (task, steps) in trials for name, given, status in steps
    ]  # fmt: skip
    frame = pd.DataFrame([{"arm": "x", "task_id": task, "repetition": n} for n, (task, _) in trials])
    columns = ["trial_id", "kind", "name", "arguments", "status", "result", "error"]
    return Recording(frame, pd.DataFrame(rows, columns=columns, dtype=object), run_id="r")


def told(found):
    table = found.to_frame()[["trial_id", "rule", "verdict", "witness", "reason"]].astype(object)
    return {tuple(row[:2]): tuple(row[2:]) for row in table.where(table.notna(), None).itertuples(index=False)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["s", "t"]), STEPS), min_size=1, max_size=6))
def test_among_many_as_alone(trials):
    policy, numbered = Policy("p", RULES), list(enumerate(trials))
    together = told(check(recorded(numbered), policy))
    apart = {}
    for one in numbered:
        apart |= told(check(recorded([one]), policy))
    assert together == apart


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_a_rule_says_it_reads_is_all_it_reads(rule):
    if rule.reads is None:
        assert rule.kind in ("response", "chain_response", "chain_precedence", "call_budget")
    else:
        assert set(rule.tools) <= set(rule.reads)
