"""Each field of a band file judged on small runs: noise, overrides, grants, agents, cost, steps, forbidden tools."""

from __future__ import annotations

import pandas as pd
import pytest

import plumbline as plumb
from plumbline.decide.bands import CachedScorer, LexicalScorer, apply_bands, parse_bands, refused_fixtures

HEAD = """schema: plumbline.bands/1
version: 1
owner: ada
approver: grace
created: 2026-11-01
tools:
  look: {effect: read, repeatable: true}
  remove: {effect: delete}
"""
WHY = "why: A reason of some words."


def bands(rules, more=""):
    return parse_bands(f"{HEAD}rules:\n{rules}{more}", source="a test")


def run(name, *, repetitions=1, fixtures=8, calls=("look",), **columns):
    """One fixture a task; `columns` and `calls` may be functions of fixture and repetition."""

    def of(value, at, again):
        return value(at, again) if callable(value) else value

    trials, steps = [], []
    for at in range(fixtures):
        for again in range(repetitions):
            trial = f"{name}/F-{at}/baseline/0/{again}"
            own = {key: of(value, at, again) for key, value in columns.items()}
            trials.append({"arm": name, "task_id": f"F-{at}", "repetition": again, "final_output": '"done"', **own})
            for call in of(calls, at, again):
                kind = "agent_call" if call.startswith("agent:") else "tool_call"
                steps.append({
                    "trial_id": trial, "kind": kind, "name": call.removeprefix("agent:"), "arguments": "{}",
                    "status": "ok", "result": "1",
                })  # fmt: skip
    return plumb.Run(pd.DataFrame(trials), pd.DataFrame(steps), run_id=name)


def verdicts(report, field):
    rows = report.to_frame().query("field == @field")
    return dict(zip(rows["fixture"], rows["verdict"], strict=True))


STEPS = f"  steps:\n    {WHY}\n    severity: block\n    pass: {{at_most: 1.5x}}\n    fail: otherwise\n"


def test_more_work_is_a_ratio_of_steps_and_an_override_holds_for_its_fixture_alone():
    twice = run("new", calls=lambda at, again: ("look",) * (2 if at < 2 else 1))
    found = apply_bands(bands(STEPS), baseline=run("old"), candidate=twice)
    assert [fixture for fixture, word in verdicts(found, "steps").items() if word == "fail"] == ["F-0", "F-1"]
    assert found.decision == "hold"
    wider = STEPS.replace("1.5x", "2.5x").replace("\n", "\n      ").rstrip()
    own = bands(STEPS, f"overrides:\n  - fixture: F-0\n    rules:\n      {wider}\n")
    again = apply_bands(own, baseline=run("old"), candidate=twice)
    assert [fixture for fixture, word in verdicts(again, "steps").items() if word == "fail"] == ["F-1"]
    row = again.to_frame().query("fixture == 'F-0' and field == 'steps'").iloc[0]
    assert (row["scope"], row["band"]) == ("fixture:F-0", "pass at most 2.5x")


def test_a_band_that_the_incumbent_cannot_keep_itself_is_unusable():
    rule = bands(f"  tool_set:\n    {WHY}\n    pass: {{at_least: 1.0}}\n    fail: otherwise\n")
    moody = run("old", repetitions=2, fixtures=40, calls=lambda at, again: ("look", "ask") if again else ("look",))
    steady = run("old", repetitions=2, fixtures=100)
    found = apply_bands(rule, baseline=moody, candidate=run("new", fixtures=40))
    assert found.noise_frame().iloc[0]["state"] == "unusable"
    assert found.decision == "escalate"
    calm = apply_bands(rule, baseline=steady, candidate=run("new", fixtures=100))
    assert calm.noise_frame().iloc[0][["state", "outside", "n"]].tolist() == ["usable", 0, 100]
    assert calm.decision == "ship"
    once = apply_bands(rule, baseline=run("old"), candidate=run("new"))
    assert once.noise_frame().iloc[0]["state"] in ("not_measured", "cannot_tell")


def test_a_forbidden_tool_and_a_tool_without_a_grant_fail_by_name():
    rule = bands(
        f"  forbidden:\n    {WHY}\n    pass: [remove]\n    fail: otherwise\n",
        "grants:\n  every_fixture: [look]\n  fixtures: {F-1: [remove]}\n",
    )
    found = apply_bands(
        rule, baseline=run("old"), candidate=run("new", calls=lambda at, _: ("remove",) if at < 2 else ("look",))
    )
    assert [fixture for fixture, word in verdicts(found, "forbidden").items() if word == "fail"] == ["F-0", "F-1"]
    grants = found.to_frame().query("field == 'grants' and verdict == 'fail'")
    assert grants["note"].tolist() == ["calls remove without a grant"]
    assert refused_fixtures(rule, ["F-0", "F-1"]) == {
        "F-1": "may call remove; add it to grants.pull_requests to allow it by name"
    }
    asked = apply_bands(rule, baseline=run("old"), candidate=run("new"), event="pull_request")
    assert verdicts(asked, "grants")["F-1"] == "fail"


def test_cost_and_tokens_are_warnings_unless_declared_otherwise():
    rule = bands(f"  cost:\n    {WHY}\n    pass: {{at_most: 1.2x}}\n    fail: otherwise\n")
    dear = run("new", cost_usd=0.02)
    found = apply_bands(rule, baseline=run("old", cost_usd=0.01), candidate=dear)
    assert set(verdicts(found, "cost").values()) == {"fail"}
    assert found.decision == "ship"
    blank = apply_bands(rule, baseline=run("old"), candidate=dear)
    assert set(verdicts(blank, "cost").values()) == {"cannot_tell"}


def test_a_connected_agent_is_held_to_when_it_is_called():
    rule = bands(f"  agents:\n    {WHY}\n    pass: {{transcripts: not_required}}\n    fail: otherwise\n")
    old = run("old", calls=("look", "agent:billing"))
    same = apply_bands(rule, baseline=old, candidate=run("new", calls=("look", "agent:billing")))
    assert set(verdicts(same, "agents").values()) == {"pass"}
    gone = apply_bands(
        rule,
        baseline=old,
        candidate=run("new", calls=lambda at, _: ("look",) if at == 3 else ("look", "agent:billing")),
    )
    assert [fixture for fixture, word in verdicts(gone, "agents").items() if word != "pass"] == ["F-3"]


def test_fixtures_on_one_side_only_are_named_and_never_a_pass():
    found = apply_bands(bands(STEPS), baseline=run("old", fixtures=8), candidate=run("new", fixtures=6))
    assert found.only_baseline == ("F-6", "F-7")
    assert found.decision != "ship"


def test_scores_are_kept_by_content_and_never_mixed(tmp_path):
    class Counting(LexicalScorer):
        asked = 0

        def scores(self, pairs):
            Counting.asked += len(list(pairs))
            return super().scores(pairs)

    first = CachedScorer(Counting(), folder=tmp_path)
    told = first.scores([("a b", "a c"), ("a b", "a c"), ("x", "x")])
    first.save()
    once = Counting.asked
    again = CachedScorer(Counting(), folder=tmp_path)
    assert again.scores([("a b", "a c"), ("x", "x")]) == pytest.approx([told[0], told[2]])
    assert Counting.asked == once
