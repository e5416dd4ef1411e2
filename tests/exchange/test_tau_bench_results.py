"""tau-bench results: the published table comes out exactly, and what the benchmark could not run is no failure."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import TraceFormatError
from plumbline.exchange import read_traces
from plumbline.stats import anova_icc, pass_hat_suite, pass_k

REAL = Path(__file__).parents[2].parent / "shared" / "tau-bench" / "gpt-4o-airline.json.gz"


def reward(run):
    return [parse_json(outcome)["reward"] == 1 for outcome in run.trials["outcome"]]


def by_task(run):
    counts = run.trials.assign(ok=reward(run)).groupby("task_id")["ok"].agg(["sum", "count"])
    return counts["sum"].tolist(), counts["count"].tolist()


def pass_hat(run, k):
    successes, trials = by_task(run)
    each = [pass_k(c, n, k).pass_hat for c, n in zip(successes, trials, strict=True)]
    return sum(each, Fraction(0)) / len(each)


def record(task, trial, score, *turns, **info):
    messages = [{"role": "system", "content": "rules"}, {"role": "user", "content": f"request {task}"}]
    for name, given, answer in turns:
        asked = {"id": "same", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        messages.append({"role": "tool", "tool_call_id": "same", "name": name, "content": answer})
    messages += [
        {"role": "assistant", "content": "done", "tool_calls": None},
        {"role": "user", "content": "###STOP###"},
    ]
    truth = {
        "user_id": "u",
        "instruction": "you are u",
        "actions": [{"name": "pay", "kwargs": {"n": task}}],
        "outputs": [],
    }
    scored = {"reward": score, "info": {"r_actions": score}, "actions": []}
    base = {"task": truth, "source": "user", "user_cost": 0.01, "reward_info": scored}
    return {"task_id": task, "reward": score, "info": base | info, "traj": messages, "trial": trial}


SCORES = {0: (1.0, 1.0, 0.0), 1: (0.0, 0.0, 0.0), 2: (1.0, 1.0, 1.0)}
FILE = [
    record(
        task,
        trial,
        scores[trial],
        ("look", {"n": 1}, "seen"),
        ("pay", {"n": task}, "Error: not enough"),
        ("pay", {}, "paid"),
    )
    for trial in range(3)
    for task, scores in SCORES.items()
]


def test_tasks_trials_ground_truth_and_rewards():
    run = read_traces(FILE)
    assert run.notes["import"]["format"] == "tau_bench"
    assert len(run.trials) == 9
    assert by_task(run) == ([2, 0, 3], [3, 3, 3])
    assert [pass_hat(run, k) for k in (1, 2, 3)] == [Fraction(5, 9), Fraction(4, 9), Fraction(1, 3)]
    assert run.context("2")["actions"] == [{"name": "pay", "arguments": {"n": 2}}]
    assert parse_json(run.trials["outcome"][0]) == {"r_actions": Decimal("1.0"), "reward": Decimal("1.0")}
    assert run.trials[["prompt", "final_output"]].values.tolist()[0] == ["request 0", "done"]


def test_calls_that_share_an_id_keep_their_own_replies():
    calls = read_traces(FILE).steps.query("kind == 'tool_call' and trial_id == 'agent/1/baseline/0/0'")
    assert calls[["name", "status", "error_type"]].fillna("").values.tolist() == [
        ["look", "ok", ""],
        ["pay", "failed", "refused"],
        ["pay", "ok", ""],
    ]
    assert calls["error"].dropna().tolist() == ["not enough"]
    assert calls["group"].tolist() == [0, 1, 2]


def test_a_run_the_benchmark_could_not_carry_out_is_not_a_failure_of_the_agent():
    broken = {"task_id": 1, "reward": 0.0, "info": {"error": "rate limit", "traceback": "…"}, "traj": [], "trial": 3}
    run = read_traces([*FILE, broken])
    row = run.trials.set_index("trial_id").loc["agent/1/baseline/0/3"]
    assert (row["status"], row["error"]) == ("harness_error", "rate limit")
    assert row.isna()["outcome"]
    assert run.counts().completed == 9


@pytest.mark.parametrize("drop", ["task_id", "trial", "reward", "traj"])
def test_a_record_that_lacks_a_part_is_named(drop):
    lacking = {key: value for key, value in FILE[4].items() if key != drop}
    with pytest.raises(TraceFormatError, match="record 1 has no"):
        read_traces([FILE[0], lacking], format="tau_bench")


@pytest.mark.parametrize("bad", [{"trial": -1}, {"trial": "x"}, {"task_id": None}, {"task_id": True}, {"traj": "text"}])
def test_a_record_with_an_impossible_part_is_refused(bad):
    with pytest.raises(TraceFormatError, match="record 1"):
        read_traces([FILE[0], FILE[1] | bad], format="tau_bench")


def test_two_records_of_one_trial_never_overwrite_each_other():
    with pytest.raises(ValueError, match="are both agent/0/baseline/0/0"):
        read_traces([FILE[0], FILE[0]])


@pytest.fixture(scope="module")
def real():
    if not REAL.exists():
        pytest.skip("the tau-bench trajectories are not here; a user clones the public repository")
    return read_traces(REAL)


def test_the_published_table_comes_out_exactly(real):
    assert len(real.trials) == 200
    assert by_task(real)[1] == [4] * 50
    assert [pass_hat(real, k) for k in (1, 2, 3, 4)] == [
        Fraction(21, 50), Fraction(41, 150), Fraction(11, 50), Fraction(1, 5),
    ]  # fmt: skip
    assert [round(pass_hat_suite(*by_task(real), k).value, 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]


def test_the_intra_task_correlation_comes_out_exactly(real):
    assert anova_icc(*by_task(real)) == Fraction(1465, 3621)


def test_nothing_of_the_real_file_is_lost(real):
    """Against a second reading of the file that knows nothing of readers: each reply stands right behind its call."""
    records = json.loads(gzip.decompress(REAL.read_bytes()))
    steps = dict(iter(real.steps.groupby("trial_id", sort=False)))
    failed = 0
    for item in records:
        found = steps[f"agent/{item['task_id']}/baseline/0/{item['trial']}"]
        calls = found[found["kind"] == "tool_call"]
        expected, talk = [], item["traj"]
        for message, reply in zip(talk, [*talk[1:], {}], strict=True):
            for one in message.get("tool_calls") or []:
                expected.append((one["function"]["name"], one["function"]["arguments"], reply["content"]))
        assert calls["name"].tolist() == [name for name, _, _ in expected]
        for (_, arguments, content), row in zip(expected, calls.itertuples(), strict=True):
            assert json.loads(row.arguments) == json.loads(arguments)
            read = json.loads(row.result)
            assert read == (content if isinstance(read, str) else json.loads(content))
            assert (row.status == "failed") == content.startswith("Error: ")
            failed += row.status == "failed"
        words = [m["content"] for m in talk if m["role"] != "tool" and m["content"]]
        assert [json.loads(text) for text in found[found["kind"] == "message"]["result"]] == words
    assert failed == 73
    assert (real.steps["kind"] == "tool_call").sum() == 1164
    assert real.steps["unread"].isna().all()
    assert real.notes["import"]["unread"] == {}
