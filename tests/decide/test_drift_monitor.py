"""The drift monitor: words, false alarms as promised, changes found, and a state that survives a restart."""

from __future__ import annotations

import doctest
import importlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import InputError, NotFoundError, ParameterError, SchemaVersionError
from plumbline.decide.drift import (
    Alerts,
    DriftMonitor,
    DriftRules,
    Session,
    compliance_by_position,
    read_monitor,
    sessions_of,
)
from plumbline.exchange.receiver import Spool
from plumbline.exchange.receiver.serve import run_of_spool
from plumbline.rules import CallAtMost, MustNotCall, Policy
from plumbline.traces import Recording
from tests.exchange.receiver.receiver_help import body, span

POLICY = Policy("p", [MustNotCall("drop", severity="critical")])


def usual(chance: np.random.Generator, i: int, **changed) -> Session:
    tools = ("fetch", *["read"] * int(chance.integers(1, 4)), "shell", "answer")
    made = Session(
        id=f"s{i}", tools=tools, tokens_in=int(chance.lognormal(7, 0.3)), tokens_out=int(chance.lognormal(5, 0.3)),
        duration_ms=float(chance.lognormal(8, 0.4)), conforms=bool(chance.random() > 0.01),
    )  # fmt: skip
    return replace(made, **changed)


def fed(monitor: DriftMonitor, sessions) -> Alerts:
    return Alerts([alert for one in sessions for alert in monitor.observe(one)])


@pytest.mark.parametrize("name", ["monitor", "positions", "ruling"])
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"plumbline.decide.drift.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_a_tool_called_more_is_said_in_words():
    chance = np.random.default_rng(1)
    monitor = DriftMonitor(name="support agent")
    fed(monitor, [usual(chance, i) for i in range(20)])
    late = [usual(chance, i) for i in range(20, 30)]
    found = fed(monitor, [replace(one, tools=(*one.tools[:-1], *["shell"] * 14, "answer")) for one in late])
    texts = [alert.text for alert in found if alert.feature == "tool_mix"]
    assert texts == [
        "called shell 14 times more than baseline (15 a session against 1): "
        "10 sessions s20 to s29 against 20 sessions s0 to s19"
    ]
    assert "called shell 14 times more" in found._repr_html_()
    assert "adjusted p" in str(found)
    assert found.to_frame()["feature"].tolist() == [one.feature for one in found]


@pytest.mark.parametrize("times", [3, 6])
def test_one_long_session_alarms_at_once(times):
    chance = np.random.default_rng(2)
    monitor = DriftMonitor()
    fed(monitor, [usual(chance, i) for i in range(20)])
    found = monitor.observe(usual(chance, 20, duration_ms=float(np.exp(8) * times**2)))
    assert [alert.feature for alert in found] == ["duration_ms"]
    assert "milliseconds against a baseline median of" in found[0].text
    assert "session s20 against 20 sessions s0 to s19" in found[0].text
    assert "beyond every baseline session" in found[0].rule


def test_order_is_named_by_its_pair():
    chance = np.random.default_rng(3)
    monitor = DriftMonitor()
    fed(monitor, [usual(chance, i, tools=("find", "check", "pay")) for i in range(20)])
    found = fed(monitor, [usual(chance, i, tools=("find", "pay", "check")) for i in range(20, 30)])
    assert [alert.feature for alert in found] == ["order"]
    assert found[0].text.startswith("calls follow one another otherwise: check then pay in 0% of sessions against 100%")


def test_failures_are_found_by_the_cusum_and_by_the_e_process():
    chance = np.random.default_rng(4)
    for way in ("cusum", "e_process"):
        monitor = DriftMonitor(DriftRules(conformance=way))
        good = fed(monitor, [usual(chance, i, conforms=True) for i in range(30)])
        assert not [one for one in good if one.feature == "conformance"]
        bad = fed(monitor, [usual(chance, i, conforms=i % 2 == 0) for i in range(30, 50)])
        alert = next(one for one in bad if one.feature == "conformance")
        assert "decided sessions up to" in alert.text
        assert "against an accepted rate of 0.02" in alert.text
    undecided = DriftMonitor()
    fed(undecided, [usual(chance, i, conforms=None) for i in range(30)])
    assert undecided.decided == 0


def test_the_sound_rules_alarm_no_more_than_they_say():
    """Agents that never change, 80 sessions each: false alarms per 100 sessions stay below what is printed."""
    chance = np.random.default_rng(5)
    rules = DriftRules(draws=199, alpha=0.05)
    expected = rules.false_alarms()
    alarmed, looked = 0, 0
    for _ in range(5):
        monitor = DriftMonitor(rules)
        found = fed(monitor, [usual(chance, i, conforms=None) for i in range(80)])
        alarmed += len({(one.sessions, one.feature in ("tool_mix", "order")) for one in found})
        looked += 60
    assert alarmed / looked <= expected["per_session"].sum() + 0.03
    assert expected["per_100_sessions"].sum() == pytest.approx(0.27 + 0.5 + 100 / 566.994, abs=0.01)


def test_the_public_rule_prints_its_false_alarm_rate():
    rules = DriftRules(method="public")
    table = rules.false_alarms([Session(id="a", tools=("x",)), Session(id="b", tools=("x", "y"))])
    assert table["per_session"].iloc[0] == pytest.approx(0.018768522060029734)
    assert "0.27%" in table["basis"].iloc[0]
    assert table["per_session"].iloc[-1] == 0.0, "{x, y} against {x} is exactly 0.5"
    assert pd.isna(rules.false_alarms()["per_session"].iloc[-1])


def test_the_public_rule_alarms_more_often_than_it_is_believed_to():
    chance = np.random.default_rng(6)
    alarms = 0
    for _ in range(1_500):
        monitor = DriftMonitor(DriftRules(method="public"))
        numbers = chance.normal(1_000, 100, size=11)
        fed(monitor, [Session(id=str(i), tools=("a",), duration_ms=float(x)) for i, x in enumerate(numbers)])
        alarms += bool(monitor.alerts)
    assert alarms / 1_500 == pytest.approx(0.01877, abs=0.012)


def test_the_public_rule_names_tools_that_came_and_went():
    monitor = DriftMonitor(DriftRules(method="public"))
    fed(monitor, [Session(id=str(i), tools=("a", "b")) for i in range(10)])
    found = monitor.observe(Session(id="10", tools=("c", "d")))
    assert found[0].text == "tools no longer called: a, b; newly called: c, d: session 10 against 9"
    assert found[0].rule == "Jaccard 0 below 0.5"
    infinite = monitor.observe(Session(id="11", tools=("c", "d", "c")))
    assert infinite[0].rule == "z infinite, the baseline never varied above 3"


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 45), st.integers(0, 1_000), st.sampled_from(["sound", "public"]))
def test_a_restart_changes_nothing(stop, seed, method):
    chance = np.random.default_rng(seed)
    sessions = [usual(chance, i) if i < 25 else usual(chance, i, tokens_in=50_000) for i in range(45)]
    rules = DriftRules(method=method, draws=99, alpha=0.05)
    whole, first = DriftMonitor(rules), DriftMonitor(rules)
    fed(whole, sessions)
    fed(first, sessions[:stop])
    again = DriftMonitor.from_dict(json.loads(json.dumps(first.to_dict())))
    fed(again, sessions[stop:])
    assert again.to_dict() == whole.to_dict()
    assert again.alerts == whole.alerts
    assert whole.alerts


def test_the_state_stands_in_a_file(tmp_path):
    monitor = DriftMonitor()
    fed(monitor, [usual(np.random.default_rng(7), i) for i in range(25)])
    file = monitor.save(tmp_path / "state.json")
    assert read_monitor(file).to_dict() == monitor.to_dict()
    with pytest.raises(NotFoundError, match="a new monitor starts with DriftMonitor"):
        read_monitor(tmp_path / "none.json")
    file.write_text(file.read_text()[:100])
    with pytest.raises(InputError, match="not a whole monitor state"):
        read_monitor(file)
    file.write_text('{"schema": "plumbline.drift/9"}')
    with pytest.raises(SchemaVersionError, match=r"state\.json: schema 'plumbline.drift/9'"):
        read_monitor(file)


def recording(calls: dict[str, list[str]], *, run_id: str = "r", **columns) -> Recording:
    trials = pd.DataFrame({"arm": "a", "task_id": list(calls), **columns})
    rows = [(f"a/{task}/baseline/0/0", name) for task, names in calls.items() for name in names]
    steps = pd.DataFrame(rows, columns=["trial_id", "name"]).assign(kind="tool_call")
    steps.loc[steps["name"] == "compaction", "kind"] = "message"
    return Recording(trials, steps, run_id=run_id)


def test_sessions_of_a_run_come_in_the_order_of_their_start():
    run = recording(
        {"t1": ["read"], "t2": ["drop"], "t3": []},
        started_at=["2026-08-02T00:00:00Z", "2026-08-01T00:00:00Z", None], tokens_in=[5, 6, None],
    )  # fmt: skip
    found = sessions_of(run, policy=POLICY)
    assert [(one.id.split("/")[1], one.tools, one.conforms, one.tokens_in) for one in found] == [
        ("t2", ("drop",), False, 6), ("t1", ("read",), True, 5), ("t3", (), True, None),
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="no arm 'b'"):
        sessions_of(run, arm="b")


def test_a_growing_run_is_taken_in_once():
    monitor = DriftMonitor()
    monitor.observe_run(recording({"t1": ["read"]}), policy=POLICY)
    monitor.observe_run(recording({"t1": ["read"], "t2": ["drop"]}), policy=POLICY)
    assert (len(monitor.seen), monitor.failures) == (2, 1)
    with pytest.raises(ParameterError, match="was seen before"):
        monitor.observe(Session(id="a/t1/baseline/0/0"))
    assert "gathering its baseline, 2 of 20 sessions" in str(monitor)


def test_what_was_not_recorded_is_not_watched_and_said():
    monitor = DriftMonitor()
    fed(monitor, [Session(id=str(i), tools=("a",) * (1 + i % 2)) for i in range(20)])
    assert monitor.not_watched()["input tokens"] == "recorded in 0 of 20 baseline sessions"
    assert "tool calls" not in monitor.not_watched()
    assert "not watched: milliseconds" in str(monitor)
    assert "expected false alarms in 100 sessions" in monitor._repr_html_()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"baseline": 10}, "baseline is 10; give a whole number of at least 20"),
        ({"method": "loose"}, "choose from sound, public"),
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"usual": 0.2}, "the feared failure rate is higher"),
        ({"window": True}, "window is True"),
    ],
)
def test_rules_that_cannot_be_are_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        DriftRules(**given)


def test_compliance_falls_after_a_compaction_and_late():
    late = ["pay", *["read"] * 6, "compaction", "pay"]
    run = recording({"t1": late, "t2": ["pay", "read"], "t3": ["read"] * 60})
    found = compliance_by_position(run, Policy("p", [CallAtMost("pay", 1)]))
    rows = {(row["by"], row["where"]): row for row in found.to_frame().to_dict("records")}
    kept = {where: (row["k"], row["n"]) for (by, where), row in rows.items() if by == "position"}
    assert kept == {
        "calls 1-5": (3, 3), "calls 6-10": (1, 2), "calls 11-20": (1, 1), "calls 21-50": (1, 1), "calls 51 on": (1, 1),
    }  # fmt: skip
    assert (rows["compactions", "after one"]["k"], rows["compactions", "after one"]["n"]) == (0, 1)
    assert (rows["slice", "compacted"]["k"], rows["slice", "long"]["k"], rows["slice", "other"]["k"]) == (0, 1, 1)
    assert "after two or more: cannot tell (no session came so far)" in str(found)
    assert rows["compactions", "after two or more"]["n"] == 0
    with pytest.raises(ParameterError, match="that rise"):
        compliance_by_position(run, POLICY, edges=(5, 5))


def test_what_the_receiver_took_in_is_watched_as_it_grows(tmp_path):
    """Traces arrive in two lots; the run that is made of the spool each time is taken in once."""
    pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    out = tmp_path / "run"
    monitor = DriftMonitor(DriftRules(method="public", baseline=3))
    spool = Spool(out)
    lots = [[(1, "pay"), (2, "pay"), (3, "pay")], [(4, "shell")]]
    for lot in lots:
        spans = [span(100 * trace, trace=trace, **{"gen_ai.tool.name": name}) for trace, name in lot]
        spool.add(json.loads(body(*spans))).result(timeout=20)
        monitor.observe_run(run_of_spool(out))
    spool.close()
    assert len(monitor.seen) == 4
    assert [alert.feature for alert in monitor.alerts] == ["tool_set"]
    assert monitor.alerts[0].text.startswith("tools no longer called: pay; newly called: shell")
