from __future__ import annotations

from decimal import Decimal

import pytest

from plumbline.base.errors import ParameterError
from plumbline.running import Decision, Fault, NoResponseError, ReplayArm, replay, run_trial
from plumbline.running.toolbox import Toolbox


def test_results_errors_and_outcome_come_from_the_tools_and_not_from_the_record(counting):
    agent = replay([("add", {"by": Decimal("2.50")}), ("add", {"by": -1}), ("nothing", {}), ("read", {})], final="ok")
    record = run_trial(agent, counting.tasks[0], counting, arm="a", provenance="reconstructed")
    assert [(s["name"], s["status"], s["error_type"]) for s in record.steps[:4]] == [
        ("add", "ok", None),
        ("add", "failed", "refused"),
        ("nothing", "failed", "no_such_tool"),
        ("read", "ok", None),
    ]
    assert record.steps[3]["result"] == record.trial["outcome"] == '{"value":2.50}'
    assert (record.trial["final_output"], record.trial["status"]) == ("ok", "completed")
    again = run_trial(agent, counting.tasks[0], counting, arm="a", provenance="reconstructed")
    assert again == record


def test_a_replayed_trial_meets_its_fault_and_the_record_goes_on(counting):
    agent = replay([("add", {"by": 1}), ("add", {"by": 1})])
    record = run_trial(agent, counting.tasks[0], counting, arm="a", fault=Fault("add", "http_429"))
    assert [s["injected"] for s in record.steps] == ["http_429", None]
    assert record.trial["outcome"] == '{"value":1}'
    assert record.trial["final_output"] is None


def test_every_kind_of_decision(counting):
    steps = [
        Decision("plan", {"x": 1}, kind="decision", result="go", evidence="published"),
        Decision("thinking aloud", kind="message"),
        Decision("add", {"by": 1}, kind="blocked", result="not yet", group=2),
        Decision("add", {"by": 1}, group=2, evidence="inferred"),
    ]
    box = Toolbox(counting.tools, counting.new_world())
    replay(steps)(counting.tasks[0], box)
    assert [(s["kind"], s["name"], s["status"], s["group"], s["evidence"], s["result"]) for s in box.steps] == [
        ("decision", "plan", "ok", None, "published", '"go"'),
        ("message", None, "ok", None, None, '"thinking aloud"'),
        ("tool_call", "add", "blocked", 2, None, None),
        ("tool_call", "add", "ok", 2, "inferred", '{"value":1}'),
    ]
    assert box.steps[2]["error"] == "not yet"


def test_a_record_that_stopped_early_keeps_its_effects(counting):
    agent = replay([("add", {"by": 7})], stop=NoResponseError("the provider refused"))
    record = run_trial(agent, counting.tasks[0], counting, arm="a")
    assert (record.trial["status"], record.trial["outcome"]) == ("no_response", '{"value":7}')
    assert record.trial["error"] == "NoResponseError: the provider refused"
    assert len(record.steps) == 1


def test_a_tool_bug_ends_a_replay(counting):
    record = run_trial(replay([("broken", {}), ("add", {"by": 1})]), counting.tasks[0], counting, arm="a")
    assert record.trial["status"] == "harness_error"
    assert len(record.steps) == 1


def test_an_arm_finds_the_record_of_its_trial_and_a_missing_one_is_no_response(counting):
    arm = ReplayArm({"a/T-1/baseline/0/1": replay([("add", {"by": 3})])})
    records = [run_trial(arm, counting.tasks[0], counting, arm="a", repetition=r) for r in range(2)]
    assert [r.trial["status"] for r in records] == ["no_response", "completed"]
    assert [r.trial["outcome"] for r in records] == ['{"value":0}', '{"value":3}']
    assert "a/T-1/baseline/0/0" in records[0].trial["error"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: replay([("add",)]),
        lambda: replay(["add"]),
        lambda: replay([("add", None)]),
        lambda: replay([], final="x", stop=NoResponseError("y")),
        lambda: Decision("add", {}, kind="thought"),
        lambda: Decision("add", {"by": 1}, result={"value": 1}),
    ],
)
def test_a_record_that_cannot_be_replayed_is_refused(make):
    with pytest.raises(ParameterError):
        make()
