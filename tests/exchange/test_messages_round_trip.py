"""A run as chat messages and back: what the format can hold comes back, and every difference is named."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline.base.canonical import canonical_json
from plumbline.exchange import read_traces
from plumbline.exchange.writers.openai_messages import to_openai_messages
from plumbline.traces import Recording

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "tau-bench" / "gpt-4o-airline.json.gz"
WORDS = st.sampled_from(["pay", "", "12.50", '{"a": 1}', "é", "null"])
VALUES = st.dictionaries(
    st.sampled_from(["a", "b"]), st.none() | st.integers() | WORDS | st.lists(WORDS, max_size=2), max_size=2
)


def recording(steps, **trial):
    frame = pd.DataFrame(steps or {"kind": []}, dtype=object).assign(trial_id="v2/INV-1/reworded/3/1")
    row = {"arm": "v2", "task_id": "INV-1", "perturbation": "reworded", "variant": "3", "repetition": 1}
    return Recording(
        pd.DataFrame([row | trial]), frame, run_id="mine", tasks={"INV-1": {"context": {"should_pay": True}}}
    )


def call(call_id, group, status="ok", result='"done"', **more):
    base = {"kind": "tool_call", "name": "pay", "arguments": '{"amount":12.50}', "call_id": call_id, "group": group}
    return base | {"status": status, "result": None if status == "no_result" else result} | more


def words(agent, text, kind="message"):
    return {"kind": kind, "agent": agent, "result": canonical_json(text), "status": "ok"}


def lost(run):
    return {loss.what for loss in to_openai_messages(run).losses}


FULL = [
    words("system", "be brief"),
    words("user", "pay both"),
    words("assistant", "first look", kind="thought"),
    words("assistant", "two calls"),
    call("a", 0),
    call("b", 0, result='{"paid":true}'),
    call("c", 1, status="no_result"),
    call(
        "d",
        2,
        status="failed",
        result='{"error":{"message":"no money","type":"refused"}}',
        error_type="refused",
        error="no money",
    ),
    call("e", 3, arguments=None, unread='arguments: truncated: {"amount": 1\n2'),
    words("assistant", "done"),
]
KEPT = {"prompt": "pay both", "final_output": "done", "model": "m-1", "outcome": '{"paid":true}'}


def test_nothing_is_lost_of_what_the_format_can_hold(tmp_path):
    run = recording(FULL, **KEPT)
    written = to_openai_messages(run)
    assert written.losses == ()
    assert str(written) == "1 conversations in OpenAI's chat format; nothing was lost"
    back = read_traces(written.save(tmp_path / "talks.jsonl"), run_id="mine")
    assert back.digest == run.digest
    assert [len(m.get("tool_calls", ())) for m in written.conversations[0]["messages"] if "tool_calls" in m] == [
        2,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"status": "failed", "error": "no"}, {"step status", "step error"}),
        ({"status": "blocked", "result": None, "error": "vetoed"}, {"step status", "step result"}),
        ({"status": "failed", "result": None, "error": "no"}, {"step result"}),
        ({"arguments": None}, {"step arguments"}),
        ({"result": None}, {"step result"}),
        ({"result": "3"}, {"step result"}),
        ({"result": '"{\\"a\\":1}"'}, {"step result"}),
        ({"call_id": None}, {"step call_id"}),
        ({"parent_call_id": "p"}, {"step parent_call_id"}),
        ({"started_at": "2026-03-01T09:00:00Z"}, {"step started_at"}),
        ({"evidence": "inferred"}, {"step evidence"}),
        ({"kind": "decision"}, {"steps left out, decision"}),
        ({"tokens_in": 5}, {"step tokens_in"}),
    ],
)
def test_every_other_thing_is_named(change, what):
    found = lost(
        recording([words("user", "x"), call("a", 0) | change, words("assistant", "y")], prompt="x", final_output="y")
    )
    assert found == what


def test_what_a_message_cannot_say_of_itself_is_named():
    spoken = {"prompt": "x", "final_output": "y"}
    assert lost(recording([words("user", "x"), words("assistant", "y", kind="final")], **spoken)) == {"step kind"}
    assert lost(recording([words("user", "x"), words(None, "y")], **spoken)) == {"step agent"}
    assert lost(recording([call("a", 0), words("assistant", "y"), call("b", 0)], final_output="y")) == {"steps moved"}
    assert lost(recording([call("a", 0)], prompt="x", final_output="y")) == {"steps added"}
    assert lost(recording([call("a", 0), call("b", None), call("c", None)])) == set()
    more = {"latency_ms": 5.0, "exposure": "delivered", "status": "agent_error", "tokens_in": 4}
    assert lost(recording([call("a", 0)], **more)) == {f"trial {name}" for name in more}


def test_a_trial_that_the_infrastructure_ended_is_left_out_and_said():
    written = to_openai_messages(recording([], status="no_response"))
    assert written.conversations == ()
    assert "trials left out: 1 (for example v2/INV-1/reworded/3/1, ended by the infrastructure)" in str(written)


STEPS = st.lists(
    st.one_of(
        st.builds(words, st.sampled_from(["user", "assistant", "system", "scout", None]), WORDS.filter(bool)),
        st.builds(
            call,
            st.sampled_from(["a", "b", "plumbline-call-0", None]),
            st.sampled_from([0, 1, None]),
            st.sampled_from(["ok", "failed", "no_result", "blocked"]),
            st.none() | VALUES.map(canonical_json) | WORDS.map(canonical_json),
            arguments=st.none() | VALUES.map(canonical_json),
            unread=st.sampled_from([None, "arguments: truncated: {", "reply names the tool 'x'"]),
            agent=st.sampled_from([None, "scout"]),
        ),
    ),
    max_size=6,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_if_nothing_is_named_nothing_is_lost(steps):
    """The losses are the only differences: a run of which none is named comes back with its digest."""
    run = recording(steps)
    written = to_openai_messages(run)
    back = read_traces(list(written.conversations), format="openai", run_id="mine")
    again = to_openai_messages(back)
    assert json.loads(again.to_jsonl()) == json.loads(written.to_jsonl()) or written.losses
    if not written.losses:
        columns = [name for name in run.steps if name != "group"]
        assert back.steps[columns].equals(run.steps[columns])
        assert back.trials.drop(columns="provenance").equals(run.trials.drop(columns="provenance"))


def test_committed_runs_name_what_chat_cannot_hold():
    run = plumb.read_run(ROOT / "data" / "procure_to_pay" / "retry")
    few = Recording(
        run.trials[:20],
        run.steps[run.steps["trial_id"].isin(run.trials["trial_id"][:20])],
        run_id="few",
        tasks=run.tasks,
    )
    assert {"steps left out, decision", "step call_id", "step kind"} <= lost(few)


@pytest.mark.skipif(not REAL.exists(), reason="the tau-bench trajectories are not here")
def test_real_trajectories_lose_only_that_a_call_failed():
    real = read_traces(REAL)
    keep = real.trials["trial_id"][:24]
    run = Recording(
        real.trials[real.trials["trial_id"].isin(keep)], real.steps[real.steps["trial_id"].isin(keep)],
        run_id="some", tasks=real.tasks,
    )  # fmt: skip
    failed = int((run.steps["status"] == "failed").sum())
    assert failed
    assert {loss.what: loss.count for loss in to_openai_messages(run).losses} == dict.fromkeys(
        ["step status", "step error_type", "step error"], failed
    )
