"""Two arms paired by what they were asked; what is incomplete is counted and named."""

from __future__ import annotations

import pandas as pd
import pytest

from plumbline.analysis import graded, paired_outcomes
from plumbline.base.errors import ParameterError
from plumbline.traces import Plan, Recording
from tests.analysis.small_runs import HELD, PAID, small

TASKS = {task: {"context": {"due": True}} for task in ("t", "u", "v")}
PLAN = Plan(("a", "b"), ("t", "u"), ("baseline", "noise"), ("0",), 2)
ROWS = [
    ("a/t/baseline/0/0", "pay", PAID),
    ("a/t/baseline/0/1", "pay", HELD),
    ("a/u/baseline/0/0", "pay", PAID),
    ("a/u/baseline/0/1", "pay", None),
    ("a/t/noise/0/0", "pay", PAID),
    ("b/t/baseline/0/0", "pay", HELD),
    ("b/t/baseline/0/1", "pay", HELD, "agent_error"),
    ("b/u/baseline/0/0", "", PAID, "no_response"),
    ("b/u/baseline/0/1", "pay", PAID),
]


def run(rows=ROWS, plan: Plan | None = PLAN, run_id: str = "r") -> Recording:
    return small(rows, plan=plan, tasks=TASKS, run_id=run_id)


def ok(recording: Recording) -> pd.Series:
    return graded(recording, lambda outcome, context: outcome["paid"] == context["due"])


def paired(recording: Recording, **options):
    return paired_outcomes(recording, "a", recording, "b", ok_first=ok(recording), ok_second=ok(recording), **options)


def test_complete_and_incomplete_pairs_are_counted_and_named():
    found = paired(run(), perturbation="baseline")
    assert vars(found.table) == {"both": 0, "only_first": 1, "only_second": 0, "neither": 1, "incomplete": 2}
    why = found.incomplete.set_index(["task_id", "repetition"])["why"]
    assert why.to_dict() == {("u", 0): "second no_response", ("u", 1): "first undecided"}
    table = found.by_task.set_index("task_id")
    assert table.loc["t"].to_dict() == {"pairs": 2, "incomplete": 0, "first": 1, "second": 0, "difference": 1}
    assert table.loc["u", "incomplete"] == 2
    whole = paired(run())
    assert len(whole.pairs) == 8, "every planned trial stands in a pair"
    assert whole.incomplete["why"].value_counts()["second not_run"] == 1
    assert whole.incomplete["why"].value_counts()["first not_run, second not_run"] == 3


def test_tests_use_the_complete_pairs_and_say_which_tasks_are_left_out():
    found = paired(run(), perturbation="baseline")
    assert found.mcnemar().discordant == (1, 0)
    assert found.mcnemar().n == 2
    assert found.mcnemar(method="midp").p == 0.5
    assert found.sign_flip().n == 1
    assert "left out, no complete pair: u" in found.sign_flip().caution
    swapped = paired_outcomes(run(), "b", run(), "a", ok_first=ok(run()), ok_second=ok(run()), perturbation="baseline")
    assert swapped.table.discordant == (0, 1)
    assert swapped.mcnemar().p == found.mcnemar().p


def test_without_a_complete_pair_there_is_no_p_value():
    found = paired(run(), perturbation="noise")
    assert found.table.n == 0
    assert found.mcnemar().p is None
    assert found.sign_flip().p is None
    assert all(estimate.value is None for estimate in found.measures().values())
    assert "cannot tell" in str(found)


def test_sides_may_stand_in_two_runs_with_other_plans():
    one = run([("a/t/baseline/0/0", "pay", PAID), ("a/v/baseline/0/0", "pay", PAID)], plan=None, run_id="one")
    two = run([("a/t/baseline/0/0", "pay", HELD), ("a/u/baseline/0/0", "pay", PAID)], plan=None, run_id="two")
    found = paired_outcomes(one, "a", two, "a", ok_first=ok(one), ok_second=ok(two))
    assert found.table.discordant == (1, 0)
    assert found.incomplete["why"].tolist() == ["first not planned", "second not planned"]
    assert (found.first, found.second) == ("one/a", "two/a")


def test_what_cannot_be_paired_is_refused():
    with pytest.raises(ParameterError, match="no perturbation 'fault'; it has baseline, noise"):
        paired(run(), perturbation="fault")
    judged = ok(run())
    with pytest.raises(ParameterError, match="no arm 'z'"):
        paired_outcomes(run(), "z", run(), "b", ok_first=judged, ok_second=judged)
    with pytest.raises(ParameterError, match=r"ok_second lacks 2 of 4 trials, the first 'b/t/baseline/0/0'"):
        paired_outcomes(
            run(), "a", run(), "b", ok_first=judged, ok_second=judged.drop(["b/t/baseline/0/0", "b/t/baseline/0/1"])
        )
    with pytest.raises(ParameterError, match="ok_first holds 'a/t/baseline/0/0' twice"):
        paired_outcomes(
            run(), "a", run(), "b", ok_first=pd.concat([judged, judged[["a/t/baseline/0/0"]]]), ok_second=judged
        )


def test_text_and_html_say_the_same():
    found = paired(run(), perturbation="baseline")
    text, page = str(found), found._repr_html_()
    assert text.startswith("r/a paired with r/b, baseline: 2 pairs: both 0, only first 1")
    for note in found.notes():
        assert f"note: {note}" in text
    assert "1 pairs incomplete: second no_response" in page
    assert found.to_frame()["n"].tolist() == [2, 2]
