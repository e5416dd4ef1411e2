from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from plumbline.base.errors import ParameterError, ToolError
from plumbline.running import (
    BudgetStopError,
    Direct,
    Fault,
    HarnessError,
    NoResponseError,
    TrialKey,
    Variant,
    run_trial,
)


def careful(task, toolbox):
    toolbox.call("read", {})
    toolbox.call("add", {"by": 1})
    return "done"


def test_a_trial_has_a_world_of_its_own_and_gives_it_back(counting):
    records = [run_trial(careful, counting.tasks[0], counting, arm="a", repetition=r) for r in range(2)]
    assert [r.trial["outcome"] for r in records] == ['{"value":1}', '{"value":1}']
    assert len(counting.worlds) == 2
    assert all(world.closed for world in counting.worlds)


def test_a_completed_trial(counting):
    record = run_trial(careful, counting.tasks[1], counting, arm="a", provenance="re_executed", model="m")
    assert record.trial == {
        "arm": "a", "task_id": "T-2", "family_id": "T", "perturbation": "baseline", "variant": "0", "repetition": 0,
        "trial_id": "a/T-2/baseline/0/0", "status": "completed", "error": None, "exposure": "none_planned",
        "fault": None, "outcome": '{"value":1}', "prompt": "Count on.", "final_output": "done", "model": "m",
        "provenance": "re_executed", "started_at": None, "latency_ms": None,
    }  # fmt: skip
    assert [(s["trial_id"], s["kind"], s["name"]) for s in record.steps] == [
        ("a/T-2/baseline/0/0", "tool_call", "read"),
        ("a/T-2/baseline/0/0", "tool_call", "add"),
        ("a/T-2/baseline/0/0", "final", None),
    ]


def test_weakness_21_an_agent_that_raises_keeps_its_steps_and_the_ledger_is_still_read(counting):
    def agent(task, toolbox):
        toolbox.call("add", {"by": 5})
        raise RuntimeError("lost the thread")

    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert (record.trial["status"], record.trial["error"]) == ("agent_error", "RuntimeError: lost the thread")
    assert record.trial["outcome"] == '{"value":5}'
    assert [s["name"] for s in record.steps] == ["add"]
    assert record.trial["final_output"] is None


def test_a_tool_error_that_the_agent_lets_through_is_the_agent_s(counting):
    record = run_trial(lambda t, b: b.call("add", {"by": -1}), counting.tasks[0], counting, arm="a")
    assert record.trial["status"] == "agent_error"
    assert record.steps[0]["error_type"] == "refused"


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (HarnessError("x"), "harness_error"),
        (NoResponseError("x"), "no_response"),
        (BudgetStopError("x"), "budget_stop"),
    ],
)
def test_infrastructure_is_not_behaviour(counting, problem, status):
    def agent(task, toolbox):
        toolbox.call("add", {"by": 1})
        raise problem

    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert (record.trial["status"], record.trial["outcome"], len(record.steps)) == (status, '{"value":1}', 1)


def test_a_tool_bug_that_the_agent_swallows_still_ends_as_harness_error(counting):
    def agent(task, toolbox):
        with contextlib.suppress(Exception):
            toolbox.call("broken", {})
        return "all is well"

    def fumbling(task, toolbox):
        with contextlib.suppress(Exception):
            toolbox.call("broken", {})
        raise RuntimeError("and then something else")

    for tried in (agent, fumbling):
        record = run_trial(tried, counting.tasks[0], counting, arm="a")
        assert record.trial["status"] == "harness_error"
        assert "ZeroDivisionError" in record.trial["error"]
        assert record.steps[0]["error_type"] == "tool_bug"


def test_an_outcome_that_cannot_be_read_is_a_harness_error_and_not_an_empty_outcome(counting):
    def unreadable(world, task):
        raise KeyError("gone")

    counting.outcome = unreadable
    record = run_trial(careful, counting.tasks[0], counting, arm="a")
    assert (record.trial["status"], record.trial["outcome"]) == ("harness_error", None)
    assert "could not be read" in record.trial["error"]


def test_an_interrupt_is_not_recorded_as_behaviour(counting):
    def agent(task, toolbox):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trial(agent, counting.tasks[0], counting, arm="a")
    assert counting.worlds[0].closed


def test_the_agent_never_sees_the_ground_truth(counting):
    seen = []
    run_trial(lambda task, box: seen.append(task), counting.tasks[0], counting, arm="a")
    assert counting.tasks[0].context == {"secret": 1}
    assert dict(seen[0].context) == {}


def test_the_variant_decides_what_the_agent_is_given(counting):
    seen = []

    def agent(task, toolbox):
        seen.append((task.prompt, [tool.name for tool in toolbox.offered]))
        with pytest.raises(ToolError, match="no such tool"):
            toolbox.call("reset", {})

    given = Variant("Please count.", ("reset",))
    record = run_trial(agent, counting.tasks[0], counting, arm="a", perturbation="p", given=given)
    assert seen == [("Please count.", ["read", "add", "broken", "reset"])]
    assert record.trial["prompt"] == "Please count."
    assert record.trial["status"] == "completed"
    record = run_trial(careful, counting.tasks[0], counting, arm="a", perturbation="p", given=Variant(None))
    assert record.trial["prompt"] is None


def test_a_perturbation_nobody_defined_is_refused_rather_than_run_as_the_baseline(counting):
    with pytest.raises(ParameterError, match="only 'baseline'"):
        run_trial(careful, counting.tasks[0], counting, arm="a", perturbation="paraphrase")
    with pytest.raises(ParameterError, match="has no decoy"):
        run_trial(careful, counting.tasks[0], counting, arm="a", given=Variant("x", ("other",)))
    with pytest.raises(ParameterError, match="provenance"):
        run_trial(careful, counting.tasks[0], counting, arm="a", provenance="guessed")


@pytest.mark.parametrize(
    ("fault", "exposure"),
    [
        (None, "none_planned"),
        (Fault("read", "http_503"), "delivered"),
        (Fault("read", "http_503", on_call=2), "not_delivered"),
        (Fault("add", "http_503"), "delivered"),
        (Fault("broken", "http_503"), "not_delivered"),
        (Fault("read", "http_503", spent_by="a/T-1/tool_fault/0/0"), "not_delivered"),
    ],
)
def test_exposure_says_whether_the_planned_fault_was_met(counting, fault, exposure):
    record = run_trial(careful, counting.tasks[0], counting, arm="a", fault=fault)
    assert record.trial["exposure"] == exposure
    assert record.trial["fault"] == (None if fault is None else fault.to_json())
    assert any(s["injected"] for s in record.steps) == (exposure == "delivered")


def test_weakness_1_two_trials_of_one_variant_both_meet_their_fault(counting):
    fault = Fault("read", "http_503")
    records = [
        run_trial(careful, counting.tasks[0], counting, arm=arm, repetition=r, fault=fault)
        for arm in ("a", "b")
        for r in range(2)
    ]
    assert [r.trial["exposure"] for r in records] == ["delivered"] * 4


def test_final_words_are_recorded_once(counting):
    def agent(task, toolbox):
        toolbox.finish("done")
        return "done"

    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert [s["kind"] for s in record.steps] == ["final"]
    record = run_trial(lambda t, b: 4, counting.tasks[0], counting, arm="a")
    assert record.trial["status"] == "agent_error"
    assert "last words are text" in record.trial["error"]


def test_times_come_from_the_clock(counting):
    ticks = iter(range(100))
    clock = lambda: datetime(2026, 7, 1, tzinfo=UTC) + timedelta(milliseconds=next(ticks))  # noqa: E731
    record = run_trial(lambda t, b: None, counting.tasks[0], counting, arm="a", clock=clock)
    assert record.trial["started_at"] == "2026-07-01T00:00:00+00:00"
    assert record.trial["latency_ms"] == 1.0


def test_the_transport_can_be_replaced(counting):
    sent = []

    class Listening(Direct):
        def send(self, call):
            sent.append((call.tool.name, call.number))
            return super().send(call)

    record = run_trial(careful, counting.tasks[0], counting, arm="a", wire=Listening, fault=Fault("read", "http_503"))
    assert sent == []
    record = run_trial(careful, counting.tasks[0], counting, arm="a", wire=Listening)
    assert sent == [("read", 1), ("add", 1)]
    assert record.trial["status"] == "completed"


@pytest.mark.parametrize("text", ["a/b/c/d", "a/b/c/d/x", "a/b/c/d/-1", "a//c/d/0", "a/b/c/d/0/0", "a/b/c/d/²"])
def test_a_text_that_is_no_trial_id_is_refused(text):
    with pytest.raises(ParameterError, match="trial id"):
        TrialKey.parse(text)
