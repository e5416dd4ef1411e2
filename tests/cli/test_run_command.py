"""``plumbline run``: from the command line to a run folder, and back after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plumbline.cli import main
from plumbline.traces import Recording, read_run

AGENT = """
def held(task, toolbox):
    toolbox.call("flag_exception", {"invoice_id": task.id, "reason": "for people"})
    return "held"
"""


def test_a_deterministic_arm_runs_without_a_question(tmp_path, capsys):
    out = tmp_path / "r"
    line = ["run", "procure_to_pay", "--arm", "plan_execute", "--tasks", "INV-7002", "INV-7004", "--variants", "2"]
    line += ["--perturb", "baseline", "tool_fault", "--out", str(out)]
    assert main(line) == 0
    said = capsys.readouterr()
    assert "16 planned, 16 recorded, 16 completed" in said.out
    assert "sealed sha256:" in said.err
    assert "16 of 16 trials" in said.err
    run = read_run(out, Recording)
    assert run.trials["started_at"].notna().all()
    assert main(line) == 2
    assert "resume it" in capsys.readouterr().err
    assert main([*line, "--resume"]) == 0
    assert main([*line, "--resume", "--seed", "8"]) == 2
    assert "seed: 7 then, 8 now" in capsys.readouterr().err


def test_an_agent_of_one_s_own_runs_on_a_domain(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_agent_for_run.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    line = ["run", "own_agent_for_run:held", "--domain", "procure_to_pay", "--variants", "1", "--out", "r"]
    assert main([*line, "--repetitions", "1", "--tasks", "INV-7002"]) == 2
    said = capsys.readouterr().err
    assert "add --yes" in said, "an agent that does not say what it spends is not run unasked"
    assert "price not known (not counted: held)" in said
    assert main([*line, "--repetitions", "1", "--tasks", "INV-7002", "--yes"]) == 0
    manifest = json.loads(Path("r/manifest.json").read_text())
    assert manifest["plan"]["arms"] == ["held"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["procure_to_pay"], "choose arms"),
        (["procure_to_pay", "--arm", "nobody", "--yes"], "no arm"),
        (["procure_to_pay", "--arm", "react", "--yes"], "client"),
        (["procure_to_pay", "--arm", "plan_execute", "--domain", "x"], "is a domain"),
        (["nothing_there_at_all:agent"], "no module"),
        (["json:dumps", "--yes"], "needs --domain"),
        (["json:nothing"], "has no 'nothing'"),
        (["procure_to_pay", "--arm", "plan_execute", "--base-url", "http://127.0.0.1:1"], "without --model"),
        (["procure_to_pay", "--arm", "plan_execute", "--price", "in=1,out=1"], "without --model"),
        (["procure_to_pay", "--arm", "react", "--model", "m", "--offline", "--price", "in=0,out=0"], "ledger"),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path, capsys, line, words):
    assert main(["run", *line, "--out", str(tmp_path / "r")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "r" / "plan.json").exists()
