"""Runs written for other programs: event logs, tables, evaluation events."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import plumbline as plumb
from plumbline.base.errors import ParameterError
from plumbline.exchange.writers.evaluations import evaluation_events
from plumbline.exchange.writers.event_log import EVENT_COLUMNS, event_log
from plumbline.exchange.writers.tables import write_tables
from plumbline.traces import Recording


@pytest.fixture
def run():
    trials = pd.DataFrame({"arm": ["a", "a"], "task_id": ["t", "u"]})
    steps = pd.DataFrame({
        "trial_id": ["a/t/baseline/0/0"] * 3 + ["a/u/baseline/0/0"],
        "kind": ["message", "tool_call", "tool_call", "tool_call"], "name": [None, "check", "pay", "pay"],
        "status": ["ok", "ok", "no_result", "failed"],
        "arguments": [None, '{"id":"T,1"}', '{"amount":12.50}', "{}"],
        "started_at": [None, "2026-07-01T10:00:00+02:00", None, "2026-07-01T08:00:01Z"],
        "agent": [None, None, "payer", None],
    })  # fmt: skip
    return Recording(trials, steps, run_id="r")


def test_an_event_log_has_one_row_a_call_in_the_order_of_steps(run):
    log = event_log(run)
    assert tuple(log.columns) == EVENT_COLUMNS
    assert list(log["concept:name"]) == ["check", "pay", "pay"]
    assert list(log["case:concept:name"]) == ["a/t/baseline/0/0"] * 2 + ["a/u/baseline/0/0"]
    assert list(log["lifecycle:transition"]) == ["complete", "unknown", "ate_abort"]
    assert list(log["org:resource"]) == ["a", "payer", "a"]
    assert log["time:timestamp"].iloc[0] == pd.Timestamp("2026-07-01T08:00:00Z")
    assert pd.isna(log["time:timestamp"].iloc[1]), "a time nobody recorded is not made up"
    assert log["arguments"].iloc[1] == '{"amount":12.50}'


def test_other_kinds_become_events_when_asked_for(run):
    assert list(event_log(run, kinds=("message", "tool_call"))["concept:name"]) == ["message", "check", "pay", "pay"]
    for kinds in ((), ("tool",)):
        with pytest.raises(ParameterError, match="kinds"):
            event_log(run, kinds=kinds)


def test_tables_are_read_back_as_they_were(run, tmp_path):
    trials, steps = write_tables(run, tmp_path / "out", format="parquet")
    read = pq.read_table(steps)
    assert read.column("arguments").to_pylist() == [None, '{"id":"T,1"}', '{"amount":12.50}', "{}"]
    about = json.loads(read.schema.metadata[b"plumbline"])
    assert about == {"run_id": "r", "digest": run.digest}
    _, text = write_tables(run, tmp_path / "out", format="csv")
    back = pd.read_csv(text, dtype=str)
    assert list(back["arguments"].fillna("")) == ["", '{"id":"T,1"}', '{"amount":12.50}', "{}"]
    assert trials.read_bytes() == write_tables(run, tmp_path / "again")[0].read_bytes(), "equal runs give equal bytes"
    with pytest.raises(ParameterError, match="csv or parquet"):
        write_tables(run, tmp_path, format="xlsx")


def test_verdicts_become_evaluation_events_and_only_decided_ones_have_a_score(run):
    policy = plumb.Policy("p", [plumb.MustCall("check"), plumb.Ordering("check", "pay"), plumb.CallAtMost("refund", 1)])
    verdicts = plumb.check(run, policy).to_frame()
    body = evaluation_events(verdicts, time_unix_nano=5)
    records = body["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert len(records) == len(verdicts)
    told = [{a["key"]: next(iter(a["value"].values())) for a in r["attributes"]} for r in records]
    for record, row, values in zip(records, verdicts.to_dict("records"), told, strict=True):
        assert record["eventName"] == "gen_ai.evaluation.result"
        assert record["timeUnixNano"] == "5"
        assert values["gen_ai.evaluation.name"] == row["rule"]
        assert values["gen_ai.evaluation.score.label"] == row["verdict"]
        decided = {"held": 1.0, "violated": 0.0}.get(row["verdict"])
        assert values.get("gen_ai.evaluation.score.value") == decided
    assert {v["gen_ai.evaluation.score.label"] for v in told} >= {"held", "violated"}
    assert len({v["gen_ai.evaluation.score.label"] for v in told}) > 2, "the example has undecided verdicts too"
    violated = next(v for v in told if v["gen_ai.evaluation.score.label"] == "violated")
    assert "expected" in violated["gen_ai.evaluation.explanation"]
    json.dumps(body, allow_nan=False)
    with pytest.raises(ParameterError, match="witness"):
        evaluation_events(verdicts.drop(columns="witness"))
