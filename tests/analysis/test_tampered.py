"""Recorded traces with one thing changed: every call, every way, one at a time, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest

import plumbline as plumb
from plumbline.analysis import OPERATORS, catches, planted_faults, tampered_traces
from plumbline.base.errors import ParameterError
from plumbline.rules import check

FIELDS = {"look": {"id": ("exact", "high")}, "pay": {"id": ("exact", "critical"), "amount": ("numeric", "critical")}}
POLICY = plumb.Policy("p", [
    plumb.MustCall("look", severity="high"), plumb.MustCall("pay", severity="critical"),
    plumb.Ordering("look", "pay", severity="medium"),
    plumb.CallAtMost("pay", 1), plumb.ArgEquals("pay", "amount", from_context="amount", severity="critical"),
])  # fmt: skip


def a_run(tasks=("t1", "t2")):
    trials, steps = [], []
    for n, task in enumerate(tasks):
        trial = f"a/{task}/baseline/0/0"
        trials.append({"arm": "a", "task_id": task, "outcome": '{"paid":true}'})
        paid = f'{{"amount":{n + 1}.50,"id":"{task}","note":"x","quick":true}}'
        calls = [
            ("look", f'{{"id":"{task}"}}', "ok"), ("odd", "{}", "failed"), ("pay", paid, "ok"), ("log", "{}", "ok"),
        ]  # fmt: skip
        steps.append({"trial_id": trial, "kind": "message", "status": "ok", "result": '"hm"'})
        steps += [
            {"trial_id": trial, "kind": "tool_call", "name": name, "arguments": given, "status": status,
             "result": "null" if status == "ok" else None, "error": None if status == "ok" else "no"}
            for name, given, status in calls
        ]  # fmt: skip
    contexts = {task: {"context": {"amount": n + 1.5}} for n, task in enumerate(tasks)}
    return plumb.Run(pd.DataFrame(trials), pd.DataFrame(steps), run_id="r", tasks=contexts)


@pytest.fixture(scope="module")
def made():
    return tampered_traces(a_run(), POLICY, arm="a", fields=FIELDS)


def path(recording, trial):
    rows = recording.steps[recording.steps["trial_id"] == trial]
    assert rows["step"].tolist() == list(range(len(rows)))
    return [name for kind, name in zip(rows["kind"], rows["name"], strict=True) if kind == "tool_call"]


def test_every_successful_call_is_changed_in_every_way(made):
    kinds = pd.Series([one.kind for one in made.faults]).value_counts().to_dict()
    assert kinds == {"drop": 3, "repeat": 3, "fail": 3, "swap": 2, "delay": 1, "argument": 3}
    assert set(kinds) == set(OPERATORS)
    assert set(made.recording.arms) == {"a", *(one.id for one in made.faults)}
    assert len(made.recording.trials) == 2 * (1 + len(made.faults))


@pytest.mark.parametrize(("fault", "calls"), [
    ("drop:look", ["odd", "pay", "log"]), ("repeat:pay", ["look", "odd", "pay", "pay", "log"]),
    ("swap:look", ["odd", "look", "pay", "log"]), ("swap:pay", ["look", "odd", "log", "pay"]),
    ("delay:look", ["odd", "pay", "log", "look"]), ("fail:look", ["look", "odd", "pay", "log"]),
])  # fmt: skip
def test_what_a_change_leaves(made, fault, calls):
    assert path(made.recording, f"{fault}/t2/baseline/0/0") == calls


def test_one_argument_is_another_tasks_or_ten_times_as_large_and_what_is_not_compared_stays(made):
    steps = made.recording.steps
    rows = steps[(steps["name"] == "pay") & steps["trial_id"].str.contains("/t1/")]
    told = dict(zip(rows["trial_id"].str.partition("/")[0], rows["arguments"], strict=True))
    assert told["argument:pay.amount"] == '{"amount":15.00,"id":"t1","note":"x","quick":true}'
    assert '"id":"t2"' in told["argument:pay.id"]
    assert told["a"] == told["drop:look"]
    assert "argument:pay.note" not in told
    assert "argument:pay.quick" not in told


def test_a_failed_call_says_so_and_severity_is_that_of_the_argument_or_the_worst_rule(made):
    steps = made.recording.steps
    row = steps[(steps["trial_id"] == "fail:pay/t1/baseline/0/0") & (steps["name"] == "pay")].iloc[0]
    assert (row["status"], row["error"]) == ("failed", "made to fail")
    assert pd.isna(row["result"])
    severities = {one.id: one.severity for one in made.faults}
    assert severities["drop:look"] == "high"
    assert severities["repeat:pay"] == "critical"
    assert severities["drop:log"] == "low", "no rule speaks of it"
    assert severities["argument:look.id"] == "high"


def test_what_the_policy_sees_of_it(made):
    found = planted_faults(made.recording, check(made.recording, POLICY), made.faults, reference="a")
    assert found["changed"].all()
    assert not found["harmful"].any()
    seen = set(found.loc[found["caught"], "fault"])
    assert seen == {"drop:look", "drop:pay", "fail:look", "fail:pay", "delay:look", "repeat:pay", "argument:pay.amount"}
    assert catches(found).set_index("kind").loc["drop", ["faults", "trials", "caught"]].tolist() == [3, 6, 4]
    assert set(made.recording.trials.groupby("arm")["provenance"].first().drop("a")) == {"reconstructed"}


def test_nothing_to_change_is_an_error():
    with pytest.raises(ParameterError, match="no completed trial of arm 'b' under 'baseline'"):
        tampered_traces(a_run(), POLICY, arm="b", fields=FIELDS)
