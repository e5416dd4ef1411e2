"""Inspect logs: samples become trials; calls of sub-agents are found in the events; errors say whose they are."""

from __future__ import annotations

import json
import sys
import types
import zipfile

import pytest

from plumbline.base.errors import TraceFormatError
from plumbline.exchange import read_traces
from plumbline.exchange.drafts import Unreadable
from plumbline.exchange.readers.inspect_turns import sample_turns


def asked(*calls):
    return {"role": "assistant", "content": "looking", "tool_calls": [dict(c, type="function") for c in calls]}


def told(call_id, content, **more):
    return {"role": "tool", "tool_call_id": call_id, "content": content, "function": "quote"} | more


def call(call_id, function="quote", **given):
    return {"id": call_id, "function": function, "arguments": given}


def event(call_id, function, span, **more):
    base = {"event": "tool", "id": call_id, "function": function, "span_id": span, "arguments": {}, "result": "ok"}
    return base | {"timestamp": f"2026-03-01T09:00:0{len(call_id)}Z", "completed": "2026-03-01T09:00:09Z"} | more


def begin(span, parent, kind, name):
    return {"event": "span_begin", "id": span, "parent_id": parent, "type": kind, "name": name, "span_id": span}


MESSAGES = [
    {"role": "user", "content": "compare"},
    asked(call("a", sym="AB"), call("b", sym="CD"), dict(call("c"), parse_error='cut off: {"sym":')),
    told("b", "", error={"type": "timeout", "message": "too slow"}),
    told("a", "12.50"),
    asked(call("h", "helper", task="x")),
    told("h", "sub done", function="helper"),
    {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "so"}, {"type": "text", "text": "done"}]},
]
EVENTS = [
    {"event": "model", "span_id": "top"},
    begin("s1", "top", "tool", "quote"),
    event("a", "quote", "top"),
    {"event": "model", "span_id": "top"},
    begin("s2", "top", "tool", "helper"),
    event("h", "helper", "top"),
    begin("s3", "s2", "agent", "scout"),
    {"event": "model", "span_id": "s3"},
    begin("s4", "s3", "tool", "quote"),
    event("i1", "quote", "s3", arguments={"sym": "EF"}),
    begin("s5", "s3", "tool", "quote"),
    event("i2", "quote", "s3", error={"type": "permission", "message": "no"}, result=""),
    {"event": "model", "span_id": "s3"},
    event("i3", "quote", "s3", pending=True),
]


def sample(**more):
    base = {"id": "s1", "epoch": 2, "input": "compare", "target": "12.50", "messages": MESSAGES, "events": EVENTS}
    return base | {"scores": {"match": {"value": "C", "answer": "x"}}, "uuid": "u-1", "total_time": 0.5} | more


def log(*samples, **more):
    head = {"task": "quotes", "model": "mock/model", "task_id": "t"}
    return {"version": 2, "status": "success", "eval": head, "plan": {}, "samples": list(samples), **more}


def test_a_sample():
    run = read_traces(log(sample(model_usage={"mock/model": {"input_tokens": 5, "output_tokens": 7}})))
    assert run.notes["import"]["format"] == "inspect"
    row = run.trials.iloc[0]
    assert (row["trial_id"], row["model"]) == ("mock%2Fmodel/s1/baseline/0/1", "mock/model")
    assert (row["outcome"], run.context("s1")) == ('{"match":"C"}', {"target": "12.50"})
    assert (row["tokens_in"], row["tokens_out"], row["latency_ms"]) == (5, 7, 500.0)
    assert (row["prompt"], row["final_output"]) == ("compare", "done")
    calls = run.steps[run.steps["kind"] == "tool_call"]
    columns = ["call_id", "status", "error_type", "parent_call_id", "agent"]
    assert calls[columns].fillna("").values.tolist() == [
        ["a", "ok", "", "", ""],
        ["b", "failed", "timeout", "", ""],
        ["c", "no_result", "", "", ""],
        ["h", "ok", "", "", ""],
        ["i1", "ok", "", "h", "scout"],
        ["i2", "failed", "permission", "h", "scout"],
        ["i3", "no_result", "", "h", "scout"],
    ]
    groups = calls["group"].tolist()
    assert groups[:3] == [0, 0, 0]
    assert groups[4] == groups[5] != groups[6]
    assert len(set(groups)) == 4
    assert calls["started_at"].tolist()[0] == "2026-03-01T09:00:01Z"


def test_a_call_that_could_not_be_parsed_is_not_a_call_without_arguments():
    steps = [s for s in sample_turns(sample()).steps if s.call_id == "c"]
    assert [s.arguments for s in steps] == [Unreadable('cut off: {"sym":', "marked invalid")]


def test_texts_kept_elsewhere_are_put_back():
    messages = [asked(call("a", note="attachment://h1")), told("a", "attachment://h2"), told("a", "attachment://lost")]
    talk = sample_turns({"messages": messages, "attachments": {"h1": "a long note", "h2": "a long answer"}})
    (step,) = [s for s in talk.steps if s.kind == "tool_call"]
    assert (step.arguments, step.result) == ({"note": "a long note"}, "a long answer")
    assert "attachment://lost" in talk.unread[0]


def test_calls_inside_the_event_of_an_older_log():
    inner = event("i", "look", None, arguments={"n": 1})
    talk = sample_turns({"messages": MESSAGES, "events": [event("h", "helper", None, events=[inner])]})
    assert [(s.name, s.parent_call_id, s.agent) for s in talk.steps if s.call_id == "i"] == [("look", "h", "helper")]


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ({"error": {"message": "no tokenizer", "traceback": "…"}}, "harness_error", "no tokenizer"),
        ({"limit": {"type": "message", "limit": 20}}, "agent_error", "message limit of 20 reached"),
        ({"limit": {"type": "token", "limit": 99}}, "budget_stop", "token limit of 99 reached"),
    ],
)
def test_an_ending_says_whose_it_is(more, status, words):
    row = read_traces(log(sample(**more))).trials.iloc[0]
    assert (row["status"], row["error"]) == (status, words)


def test_samples_and_epochs_are_tasks_and_repetitions():
    samples = [sample(id=i, epoch=e) for e in (1, 2) for i in (1, "two/2")]
    run = read_traces(log(*samples))
    assert run.trials["trial_id"].str.removeprefix("mock%2Fmodel/").tolist() == [
        "1/baseline/0/0", "1/baseline/0/1", "two%2F2/baseline/0/0", "two%2F2/baseline/0/1",
    ]  # fmt: skip


def test_a_log_without_samples_or_of_half_an_evaluation_says_so():
    with pytest.raises(TraceFormatError, match="holds no samples"):
        read_traces({key: value for key, value in log().items() if key != "samples"})
    run = read_traces(log(sample(), status="cancelled"))
    assert any('status "cancelled"' in line for line in run.notes["import"]["said"])
    cut = json.dumps(log(sample(), sample(epoch=1))).encode()[:-40]
    for strict in (True, False):
        with pytest.raises(TraceFormatError, match="cut off"):
            read_traces(cut, format="inspect", strict=strict)


@pytest.mark.parametrize("epoch", [0, None, True, "1"])
def test_an_epoch_counts_from_one(epoch):
    with pytest.raises(TraceFormatError, match="epoch"):
        read_traces(log(sample(epoch=epoch)))


def archive(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", "{}")
    return path


def test_without_inspect_an_eval_log_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)  # what an import of a missing module looks like
    with pytest.raises(TraceFormatError, match="pip install inspect-ai"):
        read_traces(archive(tmp_path / "log.eval"))


def test_an_eval_log_is_read_through_inspect_s_reader(tmp_path, monkeypatch):
    """Their reader is stood in for: it is handed the file, and what it returns is read as a log."""
    path = archive(tmp_path / "log.eval")
    handed = []

    class EvalLog:
        def model_dump(self, *, mode, exclude_none):
            return log(sample())

    def read_eval_log(file):
        handed.append(file)
        if len(handed) > 1:
            raise KeyError("samples")
        return EvalLog()

    module = types.ModuleType("inspect_ai.log")
    module.read_eval_log = read_eval_log
    monkeypatch.setitem(sys.modules, "inspect_ai", types.ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.log", module)
    assert read_traces(path, run_id="x").digest == read_traces(log(sample()), run_id="x").digest
    assert handed == [str(path)]
    with pytest.raises(TraceFormatError, match="Inspect cannot read this log"):
        read_traces(path)


@pytest.mark.filterwarnings("default")
def test_a_log_that_inspect_wrote(tmp_path):
    """Their own writer, both file types: the same steps come back."""
    inspect_log = pytest.importorskip("inspect_ai.log")
    written = {
        "version": 2, "status": "success", "plan": {},
        "eval": {"task": "quotes", "model": "mock/model", "task_id": "t", "run_id": "r", "eval_id": "e",
                 "created": "2026-03-01T09:00:00+00:00", "task_file": None, "dataset": {}, "config": {}},
        "samples": [sample(events=[], scores={"match": {"value": "C", "answer": "x", "explanation": "y"}})],
    }  # fmt: skip
    parsed = inspect_log.EvalLog.model_validate(written)
    digests = set()
    for ending in ("eval", "json"):
        path = tmp_path / f"log.{ending}"
        inspect_log.write_eval_log(parsed, str(path))
        run = read_traces(path, run_id="x")
        assert (run.steps["kind"] == "tool_call").sum() == 4
        assert run.steps["unread"].dropna().tolist() == ['arguments: marked invalid: cut off: {"sym":']
        digests.add(run.digest)
    assert len(digests) == 1
