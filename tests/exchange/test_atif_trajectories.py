"""ATIF: calls and observations are joined by id, sub-agents follow their calls, copied context is not told twice."""

from __future__ import annotations

import json

import pytest

from plumbline.base.errors import TraceFormatError
from plumbline.exchange import read_traces
from plumbline.exchange.readers.atif_turns import atif_turns

AGENT = {"name": "clerk", "version": "1.2", "model_name": "m-1"}


def call(call_id, name="price", **given):
    return {"tool_call_id": call_id, "function_name": name, "arguments": given}


def trajectory(*steps, **more):
    return {"schema_version": "ATIF-v1.7", "session_id": "s-1", "agent": AGENT, "steps": list(steps), **more}


TALK = (
    {"step_id": 1, "source": "user", "message": "compare", "timestamp": "2026-03-01T09:00:00Z"},
    {
        "step_id": 2, "source": "agent", "message": "two look-ups", "reasoning_content": "price and volume",
        "tool_calls": [call("a", ticker="AB"), call("b", "volume", ticker="AB")],
        "observation": {"results": [
            {"source_call_id": "b", "content": "1.5M", "is_error": False},
            {"source_call_id": "a", "content": "no such ticker", "extra": {"is_error": True}},
            {"content": "terminal ready"},
        ]},
        "metrics": {"prompt_tokens": 520, "completion_tokens": 80, "cost_usd": 0.25},
    },
    {"step_id": 3, "source": "agent", "message": "done", "metrics": {"prompt_tokens": 600, "cost_usd": 0.5}},
)  # fmt: skip


def test_a_trajectory():
    run = read_traces(trajectory(*TALK, extra={"task": "INV-1"}))
    assert run.notes["import"]["format"] == "atif"
    calls = run.steps[run.steps["kind"] == "tool_call"]
    assert calls[["name", "arguments", "result", "status", "group"]].values.tolist() == [
        ["price", '{"ticker":"AB"}', '"no such ticker"', "failed", 0],
        ["volume", '{"ticker":"AB"}', '"1.5M"', "ok", 0],
    ]
    assert run.steps["agent"].dropna().tolist() == ["user", "assistant", "assistant", "environment", "assistant"]
    row = run.trials.iloc[0]
    assert (row["trial_id"], row["model"], row["prompt"], row["final_output"]) == (
        "clerk/INV-1/baseline/0/0",
        "m-1",
        "compare",
        "done",
    )
    assert (row["tokens_in"], row["tokens_out"], row["cost_usd"]) == (1120, 80, 0.75)
    assert row["started_at"] == "2026-03-01T09:00:00Z"


def test_totals_of_the_trajectory_count_before_the_sums_of_its_steps():
    row = read_traces(trajectory(*TALK, final_metrics={"total_prompt_tokens": 9, "total_cost_usd": 1})).trials.iloc[0]
    assert (row["tokens_in"], row["tokens_out"], row["cost_usd"]) == (9, 80, 1.0)


def test_sub_agents_follow_the_calls_that_began_them():
    def delegating(call_id, name, ref):
        refs = [{"trajectory_id": ref}]
        return {
            "source": "agent", "message": "", "tool_calls": [call(call_id, name)],
            "observation": {"results": [{"source_call_id": call_id, "content": "ok", "subagent_trajectory_ref": refs}]},
        }  # fmt: skip

    deepest = trajectory(TALK[1], trajectory_id="t-2", agent={"name": "checker"})
    inner = trajectory(
        delegating("c2", "check", "t-2"), trajectory_id="t-1", agent={"name": "buyer"}, subagent_trajectories=[deepest]
    )
    talk = atif_turns(
        trajectory(delegating("c1", "buy", "t-1"), delegating("c3", "pay", "elsewhere"), subagent_trajectories=[inner])
    )
    calls = [(s.name, s.call_id, s.parent_call_id, s.agent) for s in talk.steps if s.kind == "tool_call"]
    assert calls == [
        ("buy", "c1", None, None),
        ("check", "c2", "c1", "buyer"),
        ("price", "a", "c2", "checker"),
        ("volume", "b", "c2", "checker"),
        ("pay", "c3", None, None),
    ]
    groups = [s.group for s in talk.steps if s.kind == "tool_call"]
    assert groups[2] == groups[3]
    assert len(set(groups)) == 4
    assert [note for note in talk.unread if "not in this file" in note]
    assert talk.final is None


def test_a_trajectory_that_refers_to_itself_ends():
    refs = [{"trajectory_id": "t-1"}]
    step = {
        "source": "agent", "message": "", "tool_calls": [call("c")],
        "observation": {"results": [{"source_call_id": "c", "content": "ok", "subagent_trajectory_ref": refs}]},
    }  # fmt: skip
    inner = trajectory(step, trajectory_id="t-1")
    talk = atif_turns(trajectory(step, subagent_trajectories=[inner]))
    assert len(talk.steps) == 2


def test_a_sub_agent_nobody_refers_to_is_kept():
    talk = atif_turns(trajectory(*TALK, subagent_trajectories=[trajectory(trajectory_id="t-9")]))
    assert ["t-9" in note for note in talk.unread] == [True]


def test_copied_context_is_not_told_twice():
    run = read_traces(trajectory({**TALK[1], "is_copied_context": True}, *TALK))
    assert (run.steps["kind"] == "tool_call").sum() == 2
    assert run.notes["import"]["said"][0].startswith("1 steps are copied")
    assert "two look-ups" in next(iter(run.notes["import"]["unread"].values()))[0]


def test_one_a_line_and_one_of_another_format_among_them(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(trajectory(*TALK)) + "\n" for _ in range(3)), encoding="utf-8")
    assert read_traces(path).trials["repetition"].tolist() == [0, 1, 2]
    path.write_text(json.dumps(trajectory(*TALK)) + '\n{"schema_version": "other", "steps": []}\n', encoding="utf-8")
    with pytest.raises(TraceFormatError, match="line 2 is no ATIF trajectory"):
        read_traces(path)


def test_what_has_no_place_is_kept():
    talk = atif_turns(
        trajectory({"source": "agent", "message": "x", "tool_calls": [3], "observation": "odd", "more": 1}, 5)
    )
    assert [note.split(":")[0] for note in talk.unread] == [
        "step 0, tool call", "step 0, observation", "step 0, more", "step 1",
    ]  # fmt: skip
