"""k of n with every denominator; 0 of 0 is no number."""

from __future__ import annotations

import pandas as pd
import pytest

from plumbline.analysis import as_treated, exposure, graded, one_trial, tally
from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.traces import Plan, Recording

PLAN = Plan(("a", "b"), ("t1", "t2"), ("baseline", "tool_fault"), ("0",), 1)


def recording() -> Recording:
    """Eight planned trials: one never recorded, one without a response, one agent error, b never met a fault."""
    rows = []
    for trial in PLAN.trial_ids()[:-1]:
        arm, task, perturbation, variant, repetition = trial.split("/")
        faulted = perturbation == "tool_fault"
        met = "delivered" if arm == "a" else "not_delivered"
        rows.append(
            {
                "arm": arm, "task_id": task, "perturbation": perturbation, "variant": variant,
                "repetition": int(repetition), "exposure": met if faulted else "none_planned",
                "outcome": '{"paid":true}', "status": "completed",
            }
        )  # fmt: skip
    frame = pd.DataFrame(rows)
    frame.loc[1, ["status", "outcome"]] = ["no_response", '{"paid":false}']
    frame.loc[2, ["status", "outcome"]] = ["agent_error", '{"paid":false}']
    frame.loc[4, "outcome"] = None
    tasks = {t: {"context": {"due": True}} for t in PLAN.tasks}
    return Recording(frame, run_id="r", plan=PLAN, tasks=tasks)


def paid(outcome, context):
    return outcome["paid"] == context["due"]


def test_infrastructure_is_missing_and_an_agents_error_is_behaviour():
    run = recording()
    ok = graded(run, paid)
    assert [None if pd.isna(v) else v for v in ok] == [True, None, False, True, None, True, True]
    table = tally(run, ok).set_index(["arm", "perturbation"])
    columns = ["planned", "recorded", "completed", "missing", "undecided", "k", "n"]
    assert table.loc[("a", "baseline"), columns].tolist() == [2, 2, 1, 0, 0, 1, 2]
    assert table.loc[("a", "tool_fault"), columns].tolist() == [2, 2, 1, 1, 0, 1, 1]
    assert table.loc[("b", "baseline"), columns].tolist() == [2, 2, 2, 0, 1, 1, 1]
    assert table.loc[("b", "tool_fault"), columns].tolist() == [2, 1, 1, 1, 0, 1, 1]


def test_nothing_decided_is_no_number():
    run = recording()
    table = tally(run, pd.Series(pd.NA, index=run.trials["trial_id"], dtype="boolean"))
    assert (table["n"] == 0).all()
    assert table[["value", "low", "high"]].isna().all(axis=None)


def test_a_group_without_a_single_record_is_still_there():
    run = recording()
    only = Recording(run.trials[run.trials["arm"] == "a"], run_id="r", plan=PLAN, tasks=run.tasks)
    table = tally(only, graded(only, paid), by=["arm"]).set_index("arm")
    assert table.loc["b", ["planned", "recorded", "missing", "n"]].tolist() == [4, 0, 4, 0]


def test_unknown_keys_and_short_series_are_refused():
    run = recording()
    ok = graded(run, paid)
    with pytest.raises(ParameterError, match="cannot group by"):
        tally(run, ok, by=["colour"])
    with pytest.raises(ParameterError, match="not all 7 of run"):
        tally(run, ok.iloc[:3])


def test_without_ground_truth_nothing_is_graded():
    run = Recording(recording().trials, run_id="r", plan=PLAN)
    with pytest.raises(ParameterError, match="no ground truth for"):
        graded(run, paid)


def test_exposure_counts_and_as_treated_says_cannot_tell():
    run = recording()
    table = exposure(run, perturbation="tool_fault").set_index("arm")
    assert table.loc["a", ["planned", "delivered", "delivered_completed", "unknown"]].tolist() == [2, 2, 1, 0]
    assert table.loc["b", ["planned", "delivered", "not_delivered", "unknown"]].tolist() == [2, 0, 1, 1]
    treated = as_treated(run, graded(run, paid), perturbation="tool_fault").set_index(["arm", "exposure"])
    assert treated.loc[("b", "delivered"), "reads"] == "cannot tell (0/0)"
    assert pd.isna(treated.loc[("b", "delivered"), "value"])
    assert treated.loc[("a", "delivered"), "reads"] == "1/1"
    with pytest.raises(ParameterError, match="no perturbation 'noise'"):
        exposure(run, perturbation="noise")


def test_one_trial_by_name_or_with_a_hint():
    run = recording()
    assert one_trial(run, "a/t1/baseline/0/0").empty
    with pytest.raises(NotFoundError, match="Ids that contain it: a/t1/baseline/0/0"):
        one_trial(run, "t1/base")
    with pytest.raises(NotFoundError, match="The first is"):
        one_trial(run, "zzz")
