"""The commands over run folders: certify, verify, gate, plan, show, parity."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import plumbline as plumb
from plumbline.cli import main
from plumbline.decide import GatePlan, certify, read_certificate
from tests.decide.making import ARM, Trial, clean_run, plan_of, run_of

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "procure_to_pay"
RETRY, PARITY = str(DATA / "retry"), str(DATA / "parity")
POLICY = "name: pay\nrules:\n- {rule: must_call, tool: check}\n- {rule: must_not_call, tool: drop}\n"
TRIAL = "plan_execute/INV-7002/tool_fault/0/0"


def run(capsys, *words: object) -> tuple[int, str, str]:
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def folder(tmp_path):
    """Save a made run; the third trial of ``other`` fails as often as asked."""

    def save(repetitions: int = 60, bad: int = 0, plan: GatePlan | None = None) -> Path:
        planned = plan_of(perturbations=("baseline", "other"), repetitions=repetitions)
        made = clean_run(
            planned,
            lambda t: replace(t, good=not (t.perturbation == "other" and t.repetition < bad)),
            notes=plan.seal() if plan else None,
        )
        return made.save(tmp_path / f"run{repetitions}.{bad}")

    return save


# -- certify and verify ------------------------------------------------------------------------------------------------


def test_certify_prints_the_rules_side_by_side_within_a_hundred_columns(capsys):
    code, out, _ = run(capsys, "certify", RETRY, "--arm", "react")
    assert code == 3, "the figure that was asked for is not available"
    assert max(map(len, out.splitlines())) <= 100
    for said in (
        "retry, arm react: not available",
        "published (release 0.3.0)            suite  0.9434, grade B",
        "published_fail_all (release 0.2.0)   suite  0.4107, grade F",
        "completed_minimum                    suite  0.8985",
        "the smallest of the same bounds is 0.8985 (decoy_tools, 34/34)",
        "0 of 64 planned faults were met",
    ):
        assert said in " ".join(out.split()) or said in out


def test_certify_as_json_holds_the_same(capsys):
    code, out, _ = run(capsys, "certify", PARITY, "--arm", "react", "--rule", "completed_minimum", "--json")
    body = json.loads(out)
    assert code == 0
    assert body["certificate"]["bound"] == pytest.approx(0.9358060632812366)
    assert [row["grade"] for row in body["ladder"]] == ["B", "B", "", "", ""]
    assert body["ladder"][3]["bound"] is None


def test_a_certificate_is_written_and_verified(capsys, tmp_path, folder, policy):
    path, where = tmp_path / "cert.json", folder()
    code, out, _ = run(capsys, "certify", where, "--arm", ARM, "--policy", policy, "--out", path)
    assert code == 0
    assert "plumbline verify" in out
    assert read_certificate(path).bound == pytest.approx(0.05 ** (1 / 60))
    code, out, _ = run(capsys, "verify", path, where, "--policy", policy)
    assert (code, out) == (0, f"certificate of made, arm {ARM}: holds, made again from the traces\n")
    code, out, _ = run(capsys, "verify", path, folder(bad=1), "--policy", policy, "--json")
    assert code == 1
    assert json.loads(out)["ok"] is False
    policy.write_text(POLICY.replace("drop", "dropp"))
    code, out, _ = run(capsys, "verify", path, where, "--policy", policy)
    assert code == 1
    assert "policy: pay version 1 / pay version 1: the certificate says sha256" in " ".join(out.split())


def test_rows_changed_in_the_folder_do_not_verify(capsys, tmp_path, folder, policy):
    path, where = tmp_path / "cert.json", folder()
    run(capsys, "certify", where, "--arm", ARM, "--policy", policy, "--out", path)
    manifest = json.loads((where / "manifest.json").read_text())
    manifest["tasks"] = {"t0": {"context": {"amount": 1}}}
    (where / "manifest.json").write_text(json.dumps(manifest))
    code, out, _ = run(capsys, "verify", path, where, "--policy", policy)
    assert code == 1
    assert "does not match the manifest" in " ".join(out.split())


def test_an_ignorable_cause_needs_its_reason_and_is_named(capsys):
    words = ("certify", RETRY, "--arm", "react", "--ignorable")
    code, out, _ = run(capsys, *words, "no_response=recordings lost")
    assert code == 3
    assert "52 runs left out, cause no_response declared ignorable: recordings lost" in " ".join(out.split())
    assert run(capsys, *words, "no_response")[0] == 2


def test_outcomes_are_judged_by_the_domain_of_the_run(capsys):
    words = ("certify", DATA / "determinism", "--arm", "react", "--measure", "outcome", "--json")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert json.loads(out)["certificate"]["evidence"]["grade_name"].startswith("plumbline.domains.procure_to_pay")


# -- gate --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repetitions", "bad", "code", "word"), [(60, 0, 0, "SHIP"), (60, 30, 1, "HOLD"), (60, 1, 3, "ESCALATE")]
)
def test_the_exit_code_is_the_decision(capsys, folder, policy, repetitions, bad, code, word):
    words = ("gate", folder(repetitions, bad), "--arm", ARM, "--min-bound", "0.95", "--policy", policy)
    found, out, _ = run(capsys, *words)
    assert (found, out.split(":")[0]) == (code, word)
    assert max(map(len, out.splitlines())) <= 100
    found, out, _ = run(capsys, *words, "--json")
    assert (found, json.loads(out)["exit_code"]) == (code, code)


def test_a_gate_with_a_plan_writes_its_reports(capsys, folder, policy, tmp_path):
    planned = plan_of(perturbations=("baseline", "other"), repetitions=60)
    plan = GatePlan(threshold=0.95, planned=planned, created="2026-08-01", critical_rules=("must_not_call:drop",))
    file, junit, summary = tmp_path / "gate.json", tmp_path / "gate.xml", tmp_path / "summary.md"
    file.write_text(json.dumps(plan.to_dict()))
    summary.write_text("# Before\n")
    words = ("--arm", ARM, "--plan", file, "--policy", policy, "--junit", junit, "--markdown", summary)
    assert run(capsys, "gate", folder(plan=plan), *words)[0] == 0
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "0")
    assert summary.read_text().startswith("# Before\n## Ship: new in made")
    code, out, _ = run(capsys, "gate", folder(bad=1, plan=plan), *words)
    assert code == 1
    assert "must_not_call:drop: violated in 1 of 120 trials" in " ".join(out.split())
    assert summary.read_text().count("## ") == 2
    file.write_text(json.dumps(replace(plan, threshold=0.9).to_dict()))
    code, out, _ = run(capsys, "gate", folder(plan=plan), *words)
    assert code == 3
    assert "[plan_changed]" in out


def test_an_owners_policy_needs_no_change_of_ours(capsys, policy):
    policy.write_text("name: mine\nrules:\n- {rule: must_call, tool: fetch_invoice}\n")
    code, out, _ = run(capsys, "gate", DATA / "determinism", "--arm", "react", "--min-bound", "0.5", "--policy", policy)
    assert code == 0
    assert out.startswith("SHIP: determinism, arm react")


# -- plan, show, parity ------------------------------------------------------------------------------------------------


def test_plan_says_how_many_runs(capsys):
    code, out, _ = run(capsys, "plan", "--threshold", "0.95", "--tasks", "8")
    assert code == 0
    for said in ("124 runs per cell", "a clean gate: 59 runs", "rho 0.4: 59 tasks x 8 = 472", "with 8 tasks no number"):
        assert said in out
    body = json.loads(run(capsys, "plan", "--threshold", "0.95", "--tasks", "8", "--conditions", "6", "--json")[1])
    assert (body["needed"]["n"], body["total_runs"]) == (124, 744)
    assert body["scenarios"][0]["most"] is None
    assert run(capsys, "plan", "--threshold", "0.95", "--true-rate", "0.9")[0] == 2


def test_show_one_trial(capsys):
    code, out, _ = run(capsys, "show", PARITY, "--trial", TRIAL)
    assert code == 0
    assert out.splitlines()[0] == f"{TRIAL}: completed, exposure delivered, re_executed"
    assert "injected fault: http_503" in out
    assert "must_call:match_purchase_order (critical), missing call" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    code, out, _ = run(capsys, "show", RETRY, "--trial", TRIAL)
    assert "no rule of the policy is violated" in out
    body = json.loads(run(capsys, "show", PARITY, "--trial", TRIAL, "--json")[1])
    assert body["trial_id"] == TRIAL
    assert [step["name"] for step in body["steps"]][2] == "match_purchase_order"
    assert body["violations"][0]["rule"] == "must_call:match_purchase_order"


def test_show_side_by_side_with_the_same_cell_of_another_arm(capsys):
    code, out, _ = run(capsys, "show", PARITY, "--trial", TRIAL, "--against", "react")
    assert code == 0
    rows = [line.split(" | ") for line in out.splitlines() if " | " in line]
    assert rows[0][1:] == [TRIAL, "react/INV-7002/tool_fault/0/0"]
    marks = [row[0] for row in rows[1:]]
    assert marks == ["− gone", "= same", "≠ status", "= same", "+ new", "= same", "≠ tool", "≠ args", "− gone"]
    assert len(json.loads(run(capsys, "show", PARITY, "--trial", TRIAL, "--against", "react", "--json")[1])) == 2


def test_show_lists_several_matches_and_exits_two(capsys):
    code, out, err = run(capsys, "show", PARITY, "--trial", "INV-7002/tool_fault/0/0")
    assert (code, out) == (2, "")
    assert "2 trials contain" in err
    assert f"  {TRIAL}\n  react/INV-7002/tool_fault/0/0" in err


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("show", PARITY, "--trial", "nothing"), "no trial that contains 'nothing'"),
        (("show", PARITY, "--trial", "react/INV-7009/decoy_tools/0/0"), "was planned, but left no record"),
        (("show", PARITY, "--trial", TRIAL, "--against", "plan_execute"), "of arm 'plan_execute' itself"),
        (("show", PARITY, "--trial", TRIAL, "--against", "nobody"), "no arm 'nobody'"),
        (("show", PARITY, "--trial", "plan_execute/INV-7009/decoy_tools/0/0", "--against", "react"), "left no record"),
        (("certify", RETRY, "--arm", "nobody"), "no arm 'nobody'"),
        (("certify", RETRY, "--arm", "react", "--rule", "best"), "rule is 'best'"),
        (("certify", "nowhere", "--arm", "react"), "there is no run at nowhere"),
        (("certify", RETRY, "--arm", "react", "--out", "no/such/folder/c.json"), "no folder"),
        (("certify", RETRY, "--arm", "react", "--policy", "none.yaml"), "no policy file"),
        (("certify", RETRY, "--arm", "react", "--domain", "nothing"), "no domain 'nothing'"),
        (("gate", RETRY, "--arm", "react"), "a gate needs a bar"),
        (("gate", RETRY, "--arm", "react", "--min-bound", "95"), "write it as a share"),
        (("gate", RETRY, "--arm", "react", "--plan", "none.yaml"), "no gate plan"),
        (("verify", "none.json", RETRY), "there is no certificate none.json"),
        (("parity", RETRY, "plan_execute", "nobody"), "nobody"),
        (("parity", RETRY, "plan_execute", "react", "--most", "-1"), "--most is -1"),
    ],
)
def test_a_mistake_gives_a_sentence_and_exit_two(capsys, words, match):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert match in err


def test_a_run_without_a_domain_asks_for_a_policy(capsys, tmp_path):
    where = run_of([Trial()]).save(tmp_path / "run")
    code, _, err = run(capsys, "certify", where, "--arm", ARM)
    assert code == 2
    assert "give --domain NAME or --policy FILE" in err
    code, out, _ = run(capsys, "show", where, "--trial", "t0")
    assert code == 0
    assert "no policy: name one" in out


def test_parity_says_what_was_compared_and_where_it_parts(capsys):
    code, out, _ = run(capsys, "parity", PARITY, "plan_execute", "react", "--most", "2")
    assert code == 0
    assert "336/354" in out
    assert "divergences, 2 of " in out
    body = json.loads(run(capsys, "parity", PARITY, "plan_execute", "react", "--json", "--by", "perturbation")[1])
    assert body["measures"]["same outcome"]["successes"] == 336
    assert sum(row["count"] for row in body["divergences"] if row["kind"] == "outcome") == 18
    assert {row["perturbation"] for row in body["by"]} >= {"baseline", "tool_fault"}


def test_a_run_certifies_and_gates_itself():
    run_ = plumb.read_run(RETRY)
    policy = plumb.load_domain(run_.domain).policy
    assert run_.certify(arm="react", policy=policy) == certify(run_, arm="react", policy=policy)
    assert run_.gate(arm="react", policy=policy, min_bound=0.95).decision == "escalate"
