"""What a diff holds: every step in one row, every difference, failure, fault and violation in its place."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.rules import MustCall, Policy, check
from plumbline.show.diff import diff, diff_row, diff_run
from plumbline.traces import Plan, Recording
from tests.traces_to_show import NEW, OLD, POLICY, call, everything, grade, recording

OLD_ID, NEW_ID = "old/INV-1/baseline/0/0", "new/INV-1/baseline/0/0"


@pytest.fixture(scope="module")
def made():
    return everything()


def test_every_step_of_both_sides_stands_in_one_row(made):
    frame = made.to_frame()
    assert sorted(frame["step_left"].dropna()) == list(range(len(OLD)))
    assert sorted(frame["step_right"].dropna()) == list(range(len(NEW)))
    names = [step["name"] or step["kind"] for step in OLD]
    assert all(
        names[step] == name for step, name in zip(frame["step_left"], frame["name_left"], strict=True) if pd.notna(step)
    )


def test_every_kind_of_row_is_named(made):
    marks = made.to_frame().set_index("name_right")["mark"]
    assert marks["thought"] == marks["final"] == "words"
    assert marks["fetch_invoice"] == marks["check_vendor"] == marks["read_policy"] == "same"
    assert marks["post_log"] == "moved"
    assert marks["match_order"] == "args"
    assert marks["delete_vendor"] == "tool"
    assert marks["check_duplicate"].tolist() == ["status", "repeated"]
    assert marks["schedule_payment"].tolist() == ["args", "repeated"]


def test_differences_name_the_field_and_the_ratio(made):
    frame = made.to_frame().set_index("name_right")
    assert frame.loc["match_order", "differences"] == "lines[0].n: 3 → 30 (x10); another number"
    told = frame["differences"]["schedule_payment"].iloc[0]
    assert "amount: 4820.0 → 48200.0 (x10)" in told
    assert 'memo: from character 100,001 on: x" → y"' in told
    assert len(told) < 300, "a long value is shown where it differs, not from its start"


def test_failures_faults_and_notes_are_kept(made):
    frame = made.to_frame()
    row = frame[frame["injected_right"].notna()].iloc[0]
    assert (row["name_right"], row["status_left"], row["status_right"]) == ("check_duplicate", "ok", "failed")
    notes = frame.set_index("name_right")["note"]
    assert notes["fetch_invoice"] == "the two results differ"
    assert notes["post_log"] == "now on the other side of match_order (step 8)"
    assert notes["check_duplicate"].iloc[1] == "the same call as step 3, which failed"


def test_violations_stand_at_their_witness_and_missing_calls_in_the_foot(made):
    frame = made.to_frame()
    found = frame.loc[frame["rules_right"].fillna("") != "", ["step_right", "rules_right"]].to_numpy().tolist()
    assert found == [
        [9, "must_not_call:delete_vendor (critical)"],
        [11, "at_most:schedule_payment (critical)"],
    ]
    foot = {row.label: row for row in made.foot}
    assert foot["calls not made"].left == (("", "none"),)
    assert foot["calls not made"].right[0][1] == "✗ violates must_call:request_approval (high)"
    assert foot["rules"].right == (("bad", "3 violated"),)
    assert made.rows[made.first].violates


def test_the_foot_sets_outcomes_against_the_ground_truth(made):
    foot = {row.label: row for row in made.foot}
    assert [line[1] for line in foot["outcome"].left] == ["≠ amount 4820.0", "paid true"]
    assert [line[1] for line in foot["outcome"].right] == ["≠ amount 48200.0 (x10)", "paid true"]
    assert (foot["against ground truth"].left, foot["against ground truth"].right) == (
        (("good", "✓ right"),),
        (("bad", "✗ wrong"),),
    )
    assert foot["ground truth"].shared
    assert [line[1] for line in foot["ground truth"].left] == ["amount 4820.0", 'vendor.id "V-1"']


def test_what_is_not_known_is_said():
    left = pd.DataFrame([call("a", {"x": 1}), call("b"), call("c", {})])
    right = pd.DataFrame([call("a", {"x": 1}), call("b", {}), call("c") | {"unread": "{broken"}])
    shown = diff(left, right)
    assert shown.to_frame()["mark"].tolist() == ["same", "args not recorded", "args unreadable"]
    assert shown.to_frame()["rules_left"].isna().all(), "unchecked is not the same as without violation"
    foot = {row.label: row.left[0][1] for row in shown.foot}
    assert foot == {
        "ended": "not known: only steps were given",
        "outcome": "not recorded",
        "against ground truth": "not judged: no grader was given",
        "rules": "not checked against rules",
    }
    assert "not checked against rules" in shown.summary


def test_an_outcome_that_cannot_be_graded_is_not_called_wrong():
    run = recording()
    trials = run.trials.assign(status=["harness_error" if arm == "new" else "completed" for arm in run.trials["arm"]])
    trials.loc[trials["arm"] == "old", "outcome"] = None
    made = diff_run(
        Recording(trials, run.steps, run_id="viewing", tasks=run.tasks), task="INV-1", arms=("old", "new"), grade=grade
    )
    (row,) = [row for row in made.foot if row.label == "against ground truth"]
    assert row.left == (("caution", "cannot tell: no outcome was recorded"),)
    assert row.right[0][1].startswith("cannot tell: how the trial ended")


def test_the_rules_for_arguments_decide_what_differs():
    left, right = (pd.DataFrame([call("pay", {"amount": 1, "note": note})]) for note in ("a", "b"))
    assert diff(left, right).to_frame()["mark"].tolist() == ["args"]
    softened = diff(left, right, argument_rules={"pay": {"note": ("text", "low")}})
    assert softened.to_frame()["mark"].tolist() == ["same by the rules"]
    assert not softened.rows[0].differs
    assert "not counted by the rules" in softened.to_frame()["differences"][0]


def test_tools_that_may_stand_in_any_order_are_not_moved():
    one, two = call("look", {"x": 1}), call("peek", {"y": 1})
    frames = pd.DataFrame([one, two]), pd.DataFrame([two, one])
    assert "moved" in diff(*frames).to_frame()["mark"].tolist()
    marks = {"look": {"read_only": True}, "peek": {"read_only": True}}
    assert "moved" not in diff(*frames, tools=marks).to_frame()["mark"].tolist()


def test_what_was_said_between_calls_keeps_its_place_when_a_call_moved():
    one, two, three = call("a", {"x": 1}), call("b", {"y": 1}), call("c", {"z": 1})
    said = call("user", {"text": "go on"}) | {"kind": "message"}
    left, right = pd.DataFrame([one, said, two, three]), pd.DataFrame([said, two, three, one])
    frame = diff(left, right).to_frame()
    assert frame[["name_left", "name_right", "mark"]].to_numpy().tolist() == [
        ["a", "a", "moved"],
        ["user", "user", "same"],
        ["b", "b", "same"],
        ["c", "c", "same"],
    ]


@pytest.mark.parametrize("empty", ["left", "right", "both"])
def test_a_trial_without_a_step_is_shown_beside_a_gap(empty):
    trials = pd.DataFrame({"arm": ["a", "b"], "task_id": "t"})
    ids = {"left": ["b"], "right": ["a"], "both": []}[empty]
    steps = pd.DataFrame([{**call("pay", {}), "trial_id": f"{arm}/t/baseline/0/0"} for arm in ids] or None)
    run = Recording(trials, steps, run_id="r") if ids else Recording(trials, run_id="r")
    made = diff_run(run, task="t", arms=("a", "b"))
    expected = {"left": ["new"], "right": ["gone"], "both": []}[empty]
    assert made.to_frame()["mark"].tolist() == expected
    assert (made.first, made.summary) == (
        (-1, "neither trial recorded a step") if empty == "both" else (0, made.summary)
    )
    assert str(made)


def test_steps_of_a_row_are_the_rows_that_were_recorded(made):
    run = recording()
    place = next(n for n, row in enumerate(made.rows) if row.right is not None and row.right.step == 9)
    found = made.steps(place)
    assert found["side"].tolist() == ["left", "right"]
    for side, trial in (("left", OLD_ID), ("right", NEW_ID)):
        given = found[found["side"] == side].iloc[0]
        recorded = run.steps[(run.steps["trial_id"] == trial) & (run.steps["step"] == given["step"])].iloc[0]
        assert (given["name"], given["arguments"]) == (recorded["name"], recorded["arguments"])
    with pytest.raises(ParameterError, match="rows run from 0 to 12"):
        made.steps(13)


def test_walking_through_the_trials_of_the_cell(made):
    assert made.cell.labels == ("variant 0, repetition 0", "variant 0, repetition 1")
    other = made.walk(1)
    assert other.titles == ("old/INV-1/baseline/0/1", "new/INV-1/baseline/0/1")
    assert other.cell.here == 1
    assert other.left.findings is not None, "the other pair is checked too"
    with pytest.raises(ParameterError, match="places 0 to 1"):
        made.walk(2)


def test_a_violated_row_leads_to_its_step():
    run = recording()
    verdicts = check(run, POLICY)
    rows = verdicts.violations()
    row = rows[rows["rule"] == "at_most:schedule_payment"].iloc[0]
    made = diff_row(run, row, against="old", verdicts=verdicts)
    assert made.titles == (OLD_ID, NEW_ID)
    assert made.rows[made.first].right.step == row["step"] == 11
    table = verdicts.to_frame()
    table = table[(table["rule"] == "must_not_call:delete_vendor") & (table["verdict"] == "violated")]
    assert diff_row(run, table.iloc[0], against="old").rows[-1].right.kind == "final"
    assert diff_row(run, table.iloc[0], against="old").start == 8
    assert diff((run, row), (run, OLD_ID)).titles == (NEW_ID, OLD_ID)


def test_one_trial_in_two_runs_is_told_apart():
    run = recording()
    other = Recording(
        run.trials.drop(columns="run_id"), run.steps.drop(columns="run_id"), run_id="later", tasks=run.tasks
    )
    verdicts = check(other, POLICY)
    made = diff((run, NEW_ID), (other, NEW_ID), verdicts=(None, verdicts))
    assert made.titles == (f"{NEW_ID} (viewing)", f"{NEW_ID} (later)")
    assert made.left.findings is None
    assert made.right.findings is not None
    assert "one side was not checked" in made.summary
    assert made.to_frame()["mark"].eq("same").all()
    with pytest.raises(ParameterError, match="cover neither"):
        diff((run, NEW_ID), (run, OLD_ID), verdicts=verdicts)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("react", pd.DataFrame([call("a")]), "a is a str; give the steps of one trial"),
        (pd.DataFrame([call("a")]), ("run", "id"), "b is a tuple"),
        (pd.DataFrame([call("a")])[:0], pd.DataFrame([call("a")]), "left trace: the frame holds no step"),
        (pd.DataFrame([call("a")]), pd.DataFrame({"name": ["a"]}), "right trace: columns lacking"),
        (pd.DataFrame([call("a") | {"trial_id": t} for t in "xy"]), pd.DataFrame([call("a")]), "holds 2 trials"),
        (pd.DataFrame([call("a") | {"step": 1}] * 2), pd.DataFrame([call("a")]), "a step number stands twice"),
        (pd.DataFrame([call("a") | {"arguments": "[1]"}]), pd.DataFrame([call("a")]), "a JSON object"),
        (pd.DataFrame([call("a") | {"status": "fine"}]), pd.DataFrame([call("a")]), "'fine' is unknown"),
        (pd.DataFrame([call("a") | {"kind": "nap"}]), pd.DataFrame([call("a")]), "kind 'nap' is unknown"),
    ],
)
def test_what_is_no_trace_is_refused(a, b, said):
    with pytest.raises(ParameterError, match=said):
        diff(a, b)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"verdicts": "all"}, "verdicts is a str"),
        ({"titles": ("left", "")}, "titles are two texts"),
        ({"argument_rules": 3}, "argument_rules is 3"),
    ],
)
def test_odd_options_are_refused(more, said):
    frame = pd.DataFrame([call("a", {})])
    with pytest.raises(ParameterError, match=said):
        diff(frame, frame, **more)


def test_a_diff_by_task_says_what_there_is():
    run = recording()
    with pytest.raises(ParameterError, match="no arm 'nobody'; it has"):
        diff_run(run, task="INV-1", arms=("old", "nobody"))
    with pytest.raises(ParameterError, match="name two"):
        diff_run(run, task="INV-1", arms="old")
    with pytest.raises(NotFoundError, match="its tasks are INV-1"):
        diff_run(run, task="INV-2", arms=("old", "new"))
    with pytest.raises(NotFoundError, match="of that task it holds"):
        diff_run(run, task="INV-1", arms=("old", "new"), repetition=7)
    with pytest.raises(ParameterError, match="is of arm 'new' itself"):
        diff_row(run, {"trial_id": NEW_ID, "witness": 1}, against="new")
    with pytest.raises(ParameterError, match="names no trial"):
        diff_row(run, {"rule": "x"}, against="new")
    planned = Plan(("old", "new"), ("INV-1",), ("baseline",), ("0",), 3)
    with pytest.raises(NotFoundError, match="planned, but left no record"):
        diff_run(
            Recording(run.trials, run.steps, run_id="viewing", plan=planned),
            task="INV-1",
            arms=("old", "new"),
            repetition=2,
        )


def test_a_condition_that_did_not_apply_is_counted_by_its_own_name():
    run = recording()
    policy = Policy("p", [MustCall("nothing_like_it"), MustCall("post_log")])
    made = diff((run, OLD_ID), (run, NEW_ID), verdicts=check(run, policy))
    (row,) = [row for row in made.foot if row.label == "rules"]
    assert row.left[0][1] == "1 held, 1 violated"


def test_numbers_keep_the_spelling_they_were_recorded_with():
    one = pd.DataFrame([call("pay") | {"arguments": '{"amount":4500.00}'}])
    other = pd.DataFrame([call("pay") | {"arguments": '{"amount":45000.00}'}])
    assert diff(one, other).to_frame()["differences"].tolist() == ["amount: 4500.00 → 45000.00 (x10); another number"]
    assert json.loads(one["arguments"][0])["amount"] == 4500
