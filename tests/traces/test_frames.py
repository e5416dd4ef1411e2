"""Every row that does not fit is refused with its place and its mend."""

from __future__ import annotations

import pandas as pd
import pytest

from plumbline.base.errors import (
    ArgumentsError,
    DuplicateTrialError,
    OrphanStepError,
    ParameterError,
    SchemaError,
)
from plumbline.traces import Plan, Recording, call_counts, calls, concat_recordings, paths


def trials(**more):
    return pd.DataFrame({"arm": ["a", "a"], "task_id": ["t1", "t2"], **more})


def steps(**more):
    base = {"trial_id": ["a/t1/baseline/0/0"] * 2, "kind": "tool_call", "name": ["look", "pay"]}
    return pd.DataFrame({**base, **more})


def made(**more):
    return Recording(trials(), steps(**more), run_id="r")


def test_what_is_left_out_gets_its_documented_default():
    run = made()
    first = run.trials.iloc[0]
    assert (first["trial_id"], first["family_id"], first["status"]) == ("a/t1/baseline/0/0", "t1", "completed")
    assert list(run.steps["step"]) == [0, 1]
    assert set(run.steps["status"]) == {"ok"}


def test_arguments_become_canonical_text():
    run = made(arguments=['{"b": 1, "a": 2.50}', {"x": None}])
    assert list(run.steps["arguments"]) == ['{"a":2.50,"b":1}', '{"x":null}']


def test_missing_is_not_null_is_not_empty():
    run = made(arguments=[None, "null"])
    assert run.steps["arguments"].isna().tolist() == [True, False]


@pytest.mark.parametrize("bad", ["{'a': 1}", '{"a": NaN}', "{", "", '{"a":1,"a":2}'])
def test_arguments_that_are_not_json_are_named(bad):
    with pytest.raises(ArgumentsError) as caught:
        made(arguments=['{"a":1}', bad])
    (failure,) = caught.value.failures
    assert (failure.table, failure.row, failure.trial_id) == ("steps", 1, "a/t1/baseline/0/0")
    assert "unread" in failure.mend


def test_a_duplicate_trial_names_both_rows():
    with pytest.raises(DuplicateTrialError, match="row 1, trial a/t1/baseline/0/0") as caught:
        Recording(trials(task_id=["t1", "t1"]), run_id="r")
    assert "row 0" in str(caught.value)


def test_steps_without_their_trial_are_named():
    with pytest.raises(OrphanStepError, match="steps row 1, trial gone") as caught:
        made(trial_id=["a/t1/baseline/0/0", "gone"])
    assert len(caught.value.failures) == 1


@pytest.mark.parametrize(
    ("frames", "match"),
    [
        (lambda: Recording(trials(status="done"), run_id="r"), "Allowed: completed, agent_error"),
        (lambda: Recording(trials(colour="red"), run_id="r"), "unknown columns"),
        (lambda: Recording(trials().drop(columns="arm"), run_id="r"), "lacks the columns"),
        (lambda: Recording(trials(arm=["a/b", "c"]), run_id="r"), "separates the parts"),
        (lambda: Recording(trials(arm=["a", None]), run_id="r"), "may not be empty"),
        (lambda: Recording(trials(trial_id=["x", "a/t2/baseline/0/0"]), run_id="r"), "Its parts spell"),
        (lambda: Recording(trials(repetition=[0, 1.5]), run_id="r"), "int64"),
        (lambda: Recording(trials(tokens_in=[True, 1]), run_id="r"), "int64"),
        (lambda: made(step=[0, 2]), "1 was due"),
        (lambda: made(step=[0, 0]), "1 was due"),
        (lambda: made(name=["look", None]), "needs the tool's name"),
        (lambda: made(kind=["tool_call", "dance"]), "Allowed: tool_call"),
        (lambda: made(task_id=["t1", "t2"]), "Its trial says 't1'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(frames, match):
    with pytest.raises(SchemaError, match=match):
        frames()


def test_order_of_rows_does_not_matter():
    shuffled = Recording(trials().iloc[::-1], steps(step=[0, 1]).iloc[::-1], run_id="r")
    assert shuffled.digest == made().digest


def test_planned_recorded_completed_and_missing_are_four_numbers():
    plan = Plan(("a",), ("t1", "t2"), ("baseline", "noise"), ("0",), 1)
    run = Recording(trials(status=["completed", "no_response"]), run_id="r", plan=plan)
    assert vars(run.counts()) == {"planned": 4, "recorded": 2, "completed": 1, "missing": 3}
    assert run.planned()["status"].tolist() == ["completed", "not_run", "no_response", "not_run"]


def test_a_trial_nobody_planned_is_refused():
    with pytest.raises(SchemaError, match="not in the plan"):
        Recording(trials(), run_id="r", plan=Plan(("a",), ("t1",), ("baseline",), ("0",), 1))


def test_a_plan_must_be_possible():
    with pytest.raises(ParameterError, match="at least 1"):
        Plan(("a",), ("t",), ("p",), ("0",), 0)
    with pytest.raises(ParameterError, match="each once"):
        Plan(("a", "a"), ("t",), ("p",), ("0",), 1)


def test_runs_are_joined_only_if_no_trial_stands_twice():
    other = Recording(trials(arm="b"), run_id="s")
    assert len(concat_recordings([made(), other], run_id="both").trials) == 4
    with pytest.raises(DuplicateTrialError, match="also in 'r'"):
        concat_recordings([made(), made()], run_id="both")


def test_joined_runs_must_agree_on_the_truth():
    one = Recording(trials(), run_id="r", tasks={"t1": {"context": {"due": 1}}})
    two = Recording(trials(arm="b"), run_id="s", tasks={"t1": {"context": {"due": 2}}})
    with pytest.raises(SchemaError, match="cannot be both"):
        concat_recordings([one, two], run_id="both")


def test_views_of_steps():
    run = made(status=["failed", "ok"])
    assert paths(run.steps).tolist() == ["look > pay"]
    assert paths(run.steps, happened=True).tolist() == ["pay"]
    assert call_counts(run.steps).loc["look", "failed"] == 1
    with pytest.raises(ParameterError, match="tools called: look, pay"):
        calls(run.steps, tool="lok")
