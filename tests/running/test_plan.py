from __future__ import annotations

import pytest

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.running import Fault, FaultPlan, Variant, run_plan
from plumbline.traces import Plan


def adder(by):
    def agent(task, toolbox):
        toolbox.call("add", {"by": by})
        return "done"

    return agent


@pytest.fixture
def world(counting):
    counting.variant = lambda task, perturbation, variant: Variant(task.prompt)
    counting.fault = lambda key: Fault("add", "http_503") if key.perturbation == "tool_fault" else None
    return counting


PLAN = Plan(("b", "a"), ("T-2", "T-1"), ("baseline", "tool_fault"), ("0", "1"), 2)


def test_a_plan_gives_one_checked_recording_in_canonical_order(world):
    seen = []
    run = run_plan(
        world, {"a": adder(1), "b": adder(2)}, PLAN, run_id="r", provenance={"a": "live", "b": "re_executed"},
        models={"a": "m"}, progress=lambda done, due: seen.append((done, due)), notes={"why": "test"},
    )  # fmt: skip
    assert list(run.trials["trial_id"]) == sorted(PLAN.trial_ids())
    assert str(run.counts()) == "32 planned, 32 recorded, 16 completed, 0 missing"
    assert seen[0] == (1, 32)
    assert seen[-1] == (32, 32)
    assert run.trials.groupby("arm")["provenance"].unique().map(list).to_dict() == {"a": ["live"], "b": ["re_executed"]}
    assert run.trials["model"].notna().sum() == 16
    assert run.tasks == {"T-2": {"context": {}}, "T-1": {"context": {"secret": 1}}}
    assert (run.domain, run.plan, run.notes) == ("counting", PLAN, {"why": "test"})
    assert set(run.trials.loc[run.trials["task_id"] == "T-2", "family_id"]) == {"T"}


def test_every_tool_fault_trial_meets_a_fault_of_its_own(world):
    run = run_plan(world, {"a": adder(1), "b": adder(2)}, PLAN, run_id="r")
    exposure = run.trials.groupby("perturbation")["exposure"].unique().map(list).to_dict()
    assert exposure == {"baseline": ["none_planned"], "tool_fault": ["delivered"]}
    assert (run.trials["fault"].notna() == (run.trials["perturbation"] == "tool_fault")).all()
    assert set(run.trials.loc[run.trials["perturbation"] == "tool_fault", "status"]) == {"agent_error"}
    assert (run.steps["injected"].notna() == (run.steps["perturbation"] == "tool_fault")).all()


def test_two_runs_are_equal_row_for_row_and_one_argument_changes_the_digest(world):
    arms = {"a": adder(1), "b": adder(2)}
    assert run_plan(world, arms, PLAN, run_id="r").digest == run_plan(world, arms, PLAN, run_id="r").digest
    assert (
        run_plan(world, arms | {"b": adder(3)}, PLAN, run_id="r").digest
        != run_plan(world, arms, PLAN, run_id="r").digest
    )


def test_trials_that_are_left_out_stay_planned_and_count_as_not_run(world):
    only = ["a/T-1/baseline/0/0", "a/T-1/tool_fault/0/1"]
    run = run_plan(world, {"a": adder(1), "b": adder(2)}, PLAN, run_id="r", only=only)
    assert list(run.trials["trial_id"]) == only
    assert (run.counts().planned, run.counts().recorded, run.counts().missing) == (32, 2, 30)


def test_a_run_without_a_single_step_is_a_run(world):
    plan = Plan(("a",), ("T-1",), ("baseline",), ("0",), 1)
    run = run_plan(world, {"a": lambda task, box: None}, plan, run_id="r")
    assert (len(run.trials), len(run.steps)) == (1, 0)


def test_an_explicit_fault_plan_replaces_the_domain_s(world):
    key = "a/T-1/baseline/0/0"
    faults = FaultPlan({key: Fault("add", "http_429")})
    run = run_plan(world, {"a": adder(1), "b": adder(2)}, PLAN, run_id="r", faults=faults)
    assert list(run.trials.loc[run.trials["exposure"] != "none_planned", "trial_id"]) == [key]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"arms": {"a": adder(1)}}, "arms must be given"),
        ({"arms": {"a": adder(1), "b": adder(1), "c": adder(1)}}, "arms must be given"),
        ({"provenance": {"a": "live"}}, "provenance must be given"),
        ({"only": ["a/T-9/baseline/0/0"]}, "not in the plan"),
        ({"only": []}, "no trial is left"),
        ({"faults": FaultPlan({"c/T-1/baseline/0/0": Fault("add", "http_503")})}, "outside the plan"),
        ({"faults": FaultPlan({"a/T-1/baseline/0/0": Fault("pay", "http_503")})}, "planned for"),
    ],
)
def test_a_run_that_cannot_be_honoured_is_refused_before_the_first_trial(world, options, told):
    with pytest.raises(ParameterError, match=told):
        run_plan(world, options.pop("arms", {"a": adder(1), "b": adder(2)}), PLAN, run_id="r", **options)
    assert world.worlds == []


def test_a_task_that_the_domain_does_not_have_is_refused(world):
    with pytest.raises(NotFoundError, match="it has T-1, T-2"):
        run_plan(world, {"a": adder(1)}, Plan(("a",), ("T-3",), ("baseline",), ("0",), 1), run_id="r")
