"""Preparing a run: order, codes, empty trials, and every refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from plumbline.base.errors import ParameterError
from plumbline.rules import ArgEquals, MustCall, Policy, check, prepare

TRIALS = pd.DataFrame({"trial_id": ["x", "y", "z"], "task_id": ["t", "t", "u"]})
STEPS = pd.DataFrame(
    {
        "trial_id": ["x", "x", "x", "z"],
        "kind": ["message", "tool_call", "tool_call", "tool_call"],
        "name": [None, "pay", "look", "pay"],
        "status": ["ok", "ok", "failed", "no_result"],
    }
)


def change(frame, **columns):
    return frame.assign(**columns)


def test_rows_are_grouped_by_what_happened():
    table = prepare(STEPS, TRIALS)
    assert (table.n_trials, table.n_steps) == (3, 4)
    assert table.offsets.tolist() == [0, 3, 3, 4]
    assert [part.tolist() for part in table.group("pay")] == [[1], [0]]
    assert [part.tolist() for part in table.group("pay", 2)] == [[3], [2]]
    assert table.group("look")[0].size == table.group("absent")[0].size == 0
    assert table.attempted == {"pay", "look"}
    assert table.tasks == ("t", "u")
    assert table.keys["trial_id"].tolist() == ["x", "y", "z"]


def test_a_name_that_is_no_tool_is_not_attempted():
    table = prepare(change(STEPS, name=["plan", "pay", "look", "pay"]), TRIALS)
    assert table.attempted == {"pay", "look"}
    assert table.group("plan")[0].size == 0


@pytest.mark.parametrize("n_tools", [70, 17_000])
def test_many_tools_need_wider_codes(n_tools):
    names = [f"tool{i}" for i in range(n_tools)]
    steps = pd.DataFrame({"trial_id": "x", "kind": "tool_call", "name": names, "status": "ok"})
    steps.loc[n_tools - 1, "status"] = "no_result"
    table = prepare(steps, TRIALS)
    assert table.group(names[-2])[0].tolist() == [n_tools - 2]
    assert table.group(names[-1])[0].size == 0
    assert table.group(names[-1], 2)[0].tolist() == [n_tools - 1]
    assert table.called.itemsize == (2 if n_tools < 16_383 else 4)


def test_frames_and_arrow_tables_prepare_alike():
    def arrays(table):
        return [a.tolist() for a in (table.offsets, table.trial, table.called, table.status, table.order, table.task)]

    whole = prepare(STEPS, TRIALS)
    steps, trials = pa.Table.from_pandas(STEPS), pa.Table.from_pandas(TRIALS)
    assert arrays(prepare(steps, trials)) == arrays(whole)
    chunked = pa.concat_tables([steps.slice(0, 2), steps.slice(2)])
    assert arrays(prepare(chunked, trials)) == arrays(whole)
    encoded = pa.table({name: steps[name].combine_chunks().dictionary_encode() for name in steps.column_names})
    assert arrays(prepare(encoded, trials)) == arrays(whole)
    numbered = prepare(change(STEPS, trial_id=[0, 0, 0, 2]), change(TRIALS, trial_id=range(3)))
    assert arrays(numbered) == arrays(whole)


@pytest.mark.parametrize(
    ("steps", "trials", "message"),
    [
        (STEPS.drop(columns="kind"), TRIALS, r"steps lack the columns \['kind'\]"),
        (STEPS, TRIALS.drop(columns="task_id"), r"trials lack the columns \['task_id'\]"),
        (change(STEPS, trial_id=["x", "x", "z", "x"]), TRIALS, "row 3 belongs to an earlier trial"),
        (change(STEPS, trial_id=["x", "x", "x", "w"]), TRIALS, "the trial 'w', which trials do not hold"),
        (change(STEPS, trial_id=["x", "x", "x", None]), TRIALS, "trial_id may not be empty"),
        (change(STEPS, trial_id=[0, 0, 0, 3]), change(TRIALS, trial_id=range(3)), "steps name trial 3"),
        (change(STEPS, trial_id=[-1, 0, 0, 1]), change(TRIALS, trial_id=range(3)), "steps name trial -1"),
        (STEPS, change(TRIALS, trial_id=["x", "x", "z"]), "stands on more than one row"),
        (change(STEPS, kind="call"), TRIALS, "'kind' holds 'call'; allowed: tool_call"),
        (change(STEPS, status="done"), TRIALS, "'status' holds 'done'; allowed: ok"),
        (change(STEPS, status=["ok", None, "ok", "ok"]), TRIALS, "steps row 1: status may not be empty"),
        (change(STEPS, name=[None, "pay", None, "pay"]), TRIALS, "row 2 is a tool call without a name"),
        (STEPS, change(TRIALS, status="done"), "trials column 'status' holds 'done'"),
        (STEPS, change(TRIALS, task_id=["t", None, "u"]), "trials row 1: task_id may not be empty"),
        (change(STEPS, arguments=[1, 2, 3, 4]), TRIALS, "JSON text or a struct; found int64"),
    ],
)
def test_what_cannot_be_prepared_is_refused(steps, trials, message):
    with pytest.raises(ParameterError, match=message):
        prepare(steps, trials)


def test_arguments_of_no_use_are_unread():
    rule = Policy("p", [ArgEquals("pay", "amount", from_context="total")])
    known = {"t": {"total": 1}, "u": {}}

    def first(steps, **options):
        return check(prepare(steps, TRIALS, **options), rule, contexts=known).verdict[0, 0]

    assert first(STEPS) == 4
    assert first(change(STEPS, arguments=None)) == 4
    assert first(change(STEPS, arguments=["", "{not json", "", ""])) == 4
    assert first(change(STEPS, arguments=["", '{"amount":1}', "", ""])) == 0
    texts = pa.array([None, '{"amount":1}', None, None]).dictionary_encode()
    assert first(pa.Table.from_pandas(STEPS).append_column("arguments", texts)) == 0


def test_typed_columns_given_by_name():
    rule = Policy("p", [ArgEquals("pay", "amount", from_context="total")])
    known = {"t": {"total": 1}, "u": {}}
    amount = pa.chunked_array([pa.array([None, 1.0]), pa.array([None, None], pa.float64())])
    table = prepare(STEPS, TRIALS, arguments={"amount": amount})
    assert check(table, rule, contexts=known).verdict[0].tolist() == [0, 2, 3]
    assert check(table, rule).verdict[0].tolist() == [3, 3, 3]  # without contexts there is nothing to compare with
    with pytest.raises(ParameterError, match="argument column 'amount' has 1 rows; the steps have 4"):
        prepare(STEPS, TRIALS, arguments={"amount": pa.array([1.0])})
    with pytest.raises(ParameterError, match="cast it to float64"):
        prepare(STEPS, TRIALS, arguments={"amount": pa.array([1.0] * 4, pa.float32())})


@pytest.mark.parametrize(
    ("column", "total", "verdict"),
    [
        (pa.array([0, 2**63 + 1, 0, 0], pa.uint64()), 2**63 + 1, 0),
        (pa.array([0, 7, 0, 0], pa.int8()), 7.0, 0),
        (pa.array(["0", "1.10", "0", "0"]).cast(pa.decimal128(10, 2)), 1.1, 0),
        (pa.array([[0], [1, 2], [0], [0]]), [1.0, 2], 0),
        (pa.array([{"a": 0}, {"a": 0.5}, {"a": 0}, {"a": 0}]), {"a": 0.5}, 0),
        (pa.array([False, True, False, False]), True, 0),
        (pa.array([False, True, False, False]), 1, 1),
    ],
)
def test_typed_columns_of_every_kind(column, total, verdict):
    rule = Policy("p", [ArgEquals("pay", "x", from_context="total")])
    table = prepare(STEPS, TRIALS, arguments={"x": column})
    assert check(table, rule, contexts={"t": {"total": total}, "u": {}}).verdict[0, 0] == verdict


def test_a_table_serves_several_policies():
    table = prepare(STEPS, TRIALS)
    one, two = Policy("p", [MustCall("pay")]), Policy("q", [MustCall("look")])
    before = [a.copy() for a in (table.order, table.trial, table.starts)]
    assert check(table, one).verdict.tolist() == [[0, 1, 4]]
    assert check(table, two).verdict.tolist() == [[1, 1, 1]]
    assert all(np.array_equal(a, b) for a, b in zip(before, (table.order, table.trial, table.starts), strict=True))


def test_no_steps_at_all():
    table = prepare(STEPS.iloc[:0], TRIALS)
    assert check(table, Policy("p", [MustCall("pay")])).verdict.tolist() == [[1, 1, 1]]
