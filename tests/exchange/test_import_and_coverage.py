"""From a file to a run: whole or refused, labelled, redacted, and described for what it cannot support."""

from __future__ import annotations

import contextlib
import gzip
import json

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline.base.errors import NotFoundError, ParameterError, PlumblineError, TraceFormatError
from plumbline.cli import main
from plumbline.exchange import coverage, otlp_request, read_traces
from tests.exchange.otlp_made import tool

QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def talk(task, amount, *, order="c1", answered=True):
    asked = {"id": order, "type": "function", "function": {"name": "pay", "arguments": json.dumps({"amount": amount})}}
    said = [{"role": "user", "content": f"Pay {task}"}, {"role": "assistant", "content": None, "tool_calls": [asked]}]
    if answered:
        said.append({"role": "tool", "tool_call_id": order, "content": '{"paid": true}'})
    return {"messages": [*said, {"role": "assistant", "content": "Done."}]}


def lines(*talks):
    return "".join(json.dumps(one) + "\n" for one in talks)


def spans(*made):
    return {
        "resourceSpans": [
            {"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": list(made)}]}
        ]
    }


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "talks.jsonl"
    path.write_text(lines(talk("A", 1), talk("B", 2)))
    return path


def test_a_file_its_gzip_and_its_objects_are_one_run(file, tmp_path):
    packed = tmp_path / "talks.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    plain = read_traces(file, run_id="r")
    objects = [json.loads(line) for line in file.read_text().splitlines()]
    for other in (read_traces(packed, run_id="r"), read_traces(objects, run_id="r")):
        assert other.steps[["kind", "name", "arguments", "result", "status"]].equals(
            plain.steps[["kind", "name", "arguments", "result", "status"]]
        )
    assert plain.counts().recorded == 2
    assert list(plain.trials["provenance"]) == ["imported"] * 2


def test_a_file_that_is_cut_off_names_its_byte_and_keeps_whole_trials_only_when_asked(file):
    whole = file.read_text()
    file.write_text(whole[:-30])
    with pytest.raises(TraceFormatError) as caught:
        read_traces(file)
    assert caught.value.byte is not None
    assert whole.index("\n") < caught.value.byte <= len(whole) - 30
    assert "talks.jsonl" in str(caught.value)
    kept = read_traces(file, strict=False)
    assert kept.counts().recorded == 1
    assert kept.notes["import"]["left_out"]


@QUICK
@given(st.data())
def test_any_cut_of_spans_is_refused_with_a_named_error_or_read_as_whole(data):
    text = json.dumps(
        spans(tool(1, "pay", {"amount": 12.5}, call_id="c1"), tool(2, "log", {"text": "é"}, call_id="c2"))
    )
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(PlumblineError):
        read_traces(text[:cut].encode(), format="otlp")


@QUICK
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["resourceSpans", "scopeSpans", "spans", "attributes", "messages", "role", "content", "key",
                             "value", "traceId", "spanId", "name", "tool_calls", "function", "arguments", "type"]),
            inner, max_size=4),
        max_leaves=14,
    )
)  # fmt: skip
def test_whatever_stands_in_a_file_a_reader_gives_a_run_or_a_named_error(value):
    with contextlib.suppress(PlumblineError):
        assert read_traces(json.dumps(value).encode()).counts().recorded > 0


def test_labels_come_from_text_attributes_functions_and_tables(file, tmp_path):
    assert set(read_traces(file, arm="v2", family="f", perturbation="paraphrase").trials["arm"]) == {"v2"}
    by_function = read_traces(file, task=lambda draft: draft.prompt.split()[-1])
    assert list(by_function.trials["task_id"]) == ["A", "B"]
    run = read_traces(json.dumps(spans(tool(1, "pay", {"a": 1}, more={"tenant": "north"}))).encode(),
                      arm={"attribute": "tenant"})  # fmt: skip
    assert list(run.trials["arm"]) == ["north"]
    with pytest.raises(ParameterError):
        read_traces(file, arm=3)
    with pytest.raises(PlumblineError):
        read_traces(file, labels=tmp_path / "none.csv")


def test_two_trials_of_one_identity_are_two_repetitions(file):
    run = read_traces(file, task="same")
    assert list(run.trials["repetition"]) == [0, 1]
    assert list(run.steps.query("kind == 'tool_call'")["arguments"]) == ['{"amount":1}', '{"amount":2}']


RULES = """rules:
- {name: amounts, keys: [amount], replace: '[amount]'}
- {name: words, pattern: 'Pay [A-Z]', replace: '[words]'}
"""


def test_redaction_takes_out_before_anything_is_stored(file, tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    run = read_traces(file, redact=tmp_path / "rules.yaml")
    assert set(run.steps.query("kind == 'tool_call'")["arguments"]) == {'{"amount":"[amount]"}'}
    assert set(run.trials["prompt"]) == {"[words]"}
    run.save(tmp_path / "run")
    stored = b"".join(p.read_bytes() for p in (tmp_path / "run").iterdir())
    assert b"Pay A" not in stored
    assert b'"amount":1' not in stored
    assert run.notes["import"]["redaction"]


@pytest.mark.parametrize(
    "rules", ["rules: 3", "rules:\n- {name: x}", "rules:\n- {name: x, pattern: '('}", "rulez: []", "- nothing", "{"]
)
def test_a_rule_that_cannot_be_applied_stops_the_import(file, tmp_path, rules):
    (tmp_path / "rules.yaml").write_text(rules)
    with pytest.raises(PlumblineError):
        read_traces(file, redact=tmp_path / "rules.yaml")


def test_a_value_that_no_rule_can_be_shown_to_hold_for_stops_the_import(tmp_path):
    broken = talk("A", 1)
    broken["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"amount": 1'
    rules = {"rules": [{"name": "amounts", "keys": ["amount"]}]}
    with pytest.raises(TraceFormatError):
        read_traces([broken], redact=rules)
    kept = read_traces([broken], redact=rules | {"unreadable": "drop"})
    assert '"amount": 1' not in str(kept.steps["unread"].tolist())


def test_coverage_says_what_is_there_what_is_not_and_gives_an_example():
    broken = talk("B", 2)
    broken["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"amount": 2'
    run = plumb.Run.of(read_traces([talk("A", 1), broken, talk("C", 3, answered=False)]))
    found = run.coverage()
    assert found.supports("which tools are called") == "possible"
    assert found.supports("argument agreement") == "partly"
    assert found.supports("rules on results") == "possible", "two calls succeeded and both have a result"
    assert found.supports("which calls took effect") == "partly"
    assert found.supports("times of calls") == "impossible"
    assert found.supports("outcomes") == "impossible"
    row = found.tools.iloc[0]
    assert (row["calls"], row["structured"], row["unreadable"], row["no_result"]) == (3, 2, 1, 1)
    assert "missing in" in str(found)
    assert "<table" in found._repr_html_()
    assert list(found.to_frame()["attribute"]) == ["amount"]


def test_rules_that_need_what_is_not_there_are_not_kept():
    broken = talk("A", 1)
    broken["messages"][1]["tool_calls"][0]["function"]["arguments"] = "{"
    run = plumb.Run.of(read_traces([broken], task="A"))
    rule = plumb.ArgSatisfies("pay", id="cap", arg="amount", op="<=", value=5)
    assert run.check(plumb.Policy("p", [rule])).to_frame()["verdict"].tolist() == ["unobservable"]


@QUICK
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pay", "check", "log"]),
            st.dictionaries(
                st.text(min_size=1, max_size=5), st.integers() | st.text(max_size=5) | st.booleans(), max_size=3
            ),
            st.sampled_from(["ok", "failed", "no_result"]),
        ),
        min_size=1, max_size=5,
    )
)  # fmt: skip
def test_a_run_comes_back_from_spans_as_it_was(calls):
    trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"], "prompt": ["Pay."], "outcome": ['{"paid":true}']})
    steps = pd.DataFrame({
        "trial_id": ["a/t/baseline/0/0"] * len(calls), "kind": ["tool_call"] * len(calls),
        "name": [name for name, _, _ in calls], "arguments": [json.dumps(g) for _, g, _ in calls],
        "status": [status for _, _, status in calls],
        "result": ['{"ok":true}' if status == "ok" else None for _, _, status in calls],
    })  # fmt: skip
    run = plumb.Run(trials, steps, run_id="r", tasks={"t": {"context": {"amount": 3}}})
    back = read_traces(json.loads(json.dumps(otlp_request(run))), run_id="r")
    for name in ("trials", "steps"):
        pd.testing.assert_frame_equal(getattr(back, name), getattr(run, name))
    assert back.tasks == run.tasks


def test_the_command_writes_a_run_and_prints_what_it_supports(file, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["import", str(file), "--out", str(out), "--arm", "v2", "--task", "attribute:none"]) in (0, 2)
    capsys.readouterr()
    out = tmp_path / "second"
    assert main(["import", str(file), "--out", str(out), "--arm", "v2"]) == 0
    assert "rules on arguments, argument agreement: 2 of 2 calls" in capsys.readouterr().out
    run = plumb.read_run(out)
    assert set(run.trials["arm"]) == {"v2"}
    assert main(["import", str(file), "--out", str(tmp_path / "third"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 2
    assert run.coverage().calls == coverage(run).calls == 2


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ('{"messages": [', [], "talks.jsonl"), ("", [], "talks.jsonl"), (None, ["--format", "nothing"], "format"),
        (None, ["--redact", "none.yaml"], "none.yaml"), (None, ["--labels", "none.csv"], "none.csv"),
    ],
)  # fmt: skip
def test_bad_input_is_a_sentence_and_nothing_is_written(file, tmp_path, capsys, text, more, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        file.write_text(text)
    assert main(["import", str(file), "--out", "run", *more]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    assert main(["import", str(file), "--out", "run"]) == 2
    assert "there already" in capsys.readouterr().err


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="none"):
        read_traces(tmp_path / "none.json")
    with pytest.raises(ParameterError, match="empty list"):
        read_traces([])
