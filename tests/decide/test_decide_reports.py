"""A decision for machines and for people: JSON, JUnit XML, Markdown, plain text."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from plumbline.decide import GatePlan, gate
from plumbline.traces import Plan
from tests.decide.making import ARM, POLICY, clean_run, plan_of, run_of, trials_of

STRANGE = "a<b>&\"'|`*\x07\nc"


@pytest.fixture(scope="module")
def decisions():
    """One decision of each kind, over three conditions and one critical rule."""
    planned = plan_of(perturbations=("baseline", "other", "third"), repetitions=60)
    plan = GatePlan(threshold=0.9, planned=planned, created="2026-08-01", critical_rules=("must_call:check",))
    bad = clean_run(planned, lambda t: replace(t, good=t.perturbation != "other"))
    holes = run_of([t for t in trials_of(planned) if t.perturbation != "third"], plan=planned)
    runs = {"ship": clean_run(planned), "hold": bad, "escalate": holes}
    return {name: gate(run, arm=ARM, policy=POLICY, plan=plan) for name, run in runs.items()}


def test_the_three_decisions_are_what_they_are_called(decisions):
    assert {name: found.decision for name, found in decisions.items()} == {name: name for name in decisions}
    assert [found.exit_code for found in decisions.values()] == [0, 1, 3]


@pytest.mark.parametrize(
    ("name", "counts", "red"),
    [
        ("ship", ("4", "0", "0"), {}),
        ("hold", ("4", "2", "0"), {"other": "failure", "must_call:check": "failure"}),
        ("escalate", ("4", "0", "1"), {"third": "error"}),
    ],
)
def test_junit_has_a_case_for_every_condition_and_critical_rule(decisions, name, counts, red):
    root = ElementTree.fromstring(decisions[name].junit())
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == counts
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    assert list(cases) == ["baseline", "other", "third", "must_call:check"]
    found = {key: tag for key, case in cases.items() for tag in ("failure", "error") if case.find(tag) is not None}
    assert found == red
    for key, tag in red.items():
        assert cases[key].find(tag).get("message")
        assert cases[key].find(tag).get("type")
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["decision"] == name
    assert properties["gate_plan"] == decisions[name].plan_digest


def test_a_ground_that_is_no_condition_is_a_case_of_its_own(decisions):
    planned = plan_of(repetitions=60)
    plan = GatePlan(threshold=0.9, planned=planned, created="2026-08-01")
    run = clean_run(planned, notes={"gate_plan": "sha256:other"})
    root = ElementTree.fromstring(gate(run, arm=ARM, policy=POLICY, plan=plan).junit())
    assert [case.get("name") for case in root.iter("testcase")] == ["baseline", "plan_changed"]


def test_whatever_a_name_holds_the_reports_stay_well_formed():
    planned = Plan((ARM,), ("t0",), ("baseline", STRANGE), ("0",), 60)
    decision = gate(clean_run(planned), arm=ARM, policy=POLICY, min_bound=0.9)
    root = ElementTree.fromstring(decision.junit())
    assert [case.get("name") for case in root.iter("testcase")][1].startswith("a<b>&\"'|`*\\u0007")
    table = [line for line in decision.markdown().splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1, "every row has the same cells"
    assert "\\<b\\>" in table[-1]
    assert json.loads(json.dumps(decision.to_dict()))["decision"] == "ship"


def test_json_holds_the_checks_and_the_certificate(decisions):
    body = json.loads(json.dumps(decisions["hold"].to_dict(), allow_nan=False))
    assert (body["schema"], body["decision"], body["exit_code"]) == ("plumbline.decision/1", "hold", 1)
    assert [check["status"] for check in body["checks"]] == ["pass", "fail", "pass", "fail"]
    assert body["checks"][1]["numbers"]["failed"] == 60
    assert body["certificate"]["evidence"]["policy"] == POLICY.digest


def test_markdown_and_text_name_every_condition_and_the_decision(decisions):
    for name, found in decisions.items():
        summary, text = found.markdown(), str(found)
        assert summary.startswith(f"## {name.capitalize()}: new in made")
        assert text.startswith(f"{name.upper()}: made, arm new")
        assert max(map(len, text.splitlines())) <= 100
        for said in (summary, text):
            for condition in ("baseline", "other", "third", "must"):
                assert condition in said
        assert found.plan_digest in summary
    assert "FAIL" in str(decisions["hold"])
    assert "cannot tell" in str(decisions["escalate"])
    frame = decisions["escalate"].to_frame()
    assert frame.loc[frame["status"] == "cannot_tell", "code"].tolist() == ["no_runs"]
    assert "ESCALATE" in decisions["escalate"]._repr_html_()
