"""The command line: exit codes, JSON, sentences instead of tracebacks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.cli import main
from plumbline.study import list_studies

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def studies(tmp_path):
    """A copy of the studies whose pins may be changed."""
    shutil.copytree(ROOT / "studies", tmp_path / "studies")
    return tmp_path / "studies"


def run(capsys, *words: str) -> tuple[int, str, str]:
    try:
        code = main(list(words))
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_version_and_help(capsys):
    assert re.match(r"plumbline \d", run(capsys, "--version")[1])
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for line in ("0  fine", "1  pins or a certificate do not hold", "2  usage", "3  escalate"):
        assert line in out


@pytest.mark.parametrize("words", [(), ("nonsense",), ("study",), ("study", "run"), ("demo", "--nonsense")])
def test_usage_is_exit_two(capsys, words):
    assert run(capsys, *words)[0] == 2


def test_list_and_check(capsys):
    code, out, _ = run(capsys, "study", "list", "--json")
    names = {entry["name"]: entry["pins"] for entry in json.loads(out)}
    assert code == 0
    assert names["retry"] > 50
    code, out, _ = run(capsys, "study", "check", "retry", "--json")
    (report,) = json.loads(out)
    assert code == 0
    assert report["ok"]
    assert report["held"] == names["retry"]


def test_a_moved_pin_is_exit_one_and_says_the_way_back(capsys, studies):
    file = studies / "retry" / "pins.json"
    pins = json.loads(file.read_text())
    pin = next(p for p in pins if p["id"] == "headline/tool_fault/no_retry")
    pin["value"]["k"] += 1
    file.write_text(json.dumps(pins))
    code, out, _ = run(capsys, "study", "check", "retry", "--studies", str(studies))
    assert code == 1
    assert "expected {'k': 53" in out
    assert "plumbline study check retry --pin headline/tool_fault/no_retry" in out


def test_a_pin_leads_back_to_its_trials(capsys):
    code, out, _ = run(capsys, "study", "check", "retry", "--pin", "headline/tool_fault/no_retry")
    assert code == 0
    trials = re.findall(r"plan_execute/INV-\d+/tool_fault/\d/\d", out)
    assert len(trials) == 12, "the twelve failures of the published 52 of 64"
    assert {t.split("/")[1] for t in trials} == {"INV-7002", "INV-7006", "INV-7009"}


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("study", "check", "retri"), "no study 'retri'.*retry"),
        (("study", "check", "--pin", "x"), "needs the study's name"),
        (("study", "check", "retry", "--pin", "no/such"), "no figure"),
        (("study", "run", "retry", "-p", "confidence", "nan"), "confidence = nan is not possible"),
        (("study", "run", "retry", "-p", "confidence", "1"), "below 1"),
        (("study", "run", "retry", "-p", "confidnce", "0.9"), "Did you mean 'confidence'"),
        (("study", "run", "retry", "-p", "data", "/no/such/folder"), "no such folder"),
        (("study", "run", "retry", "-p", "columns", "no_retry,reakt"), "a list of no_retry"),
        (("study", "run", "retry", "-p", "repetitions", "2", "-p", "repetitions", "3"), "given twice"),
        (("data", "check", "--domain", "nothing"), "no domain|nothing"),
        (("data", "check", "--data", "/no/such/folder"), "does not exist"),
    ],
)
def test_a_mistake_gives_a_sentence_and_exit_two_before_a_kernel_starts(capsys, monkeypatch, tmp_path, words, match):
    import papermill

    def no_kernel(*_, **__):
        raise AssertionError("a kernel was started")

    monkeypatch.setattr(papermill, "execute_notebook", no_kernel)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLUMBLINE_STUDIES", str(ROOT / "studies"))
    code, _, err = run(capsys, *words)
    assert code == 2
    assert re.search(match, err), err


def test_outside_a_checkout_it_says_what_is_missing(capsys, monkeypatch, tmp_path):
    import plumbline.base.paths as paths

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    code, _, err = run(capsys, "study", "list")
    assert code == 2
    assert "not a checkout" in err
    assert "PLUMBLINE_STUDIES" in err


def test_build_writes_what_is_committed(capsys, tmp_path):
    code, out, _ = run(capsys, "data", "build", "--out", str(tmp_path), "--json")
    assert code == 0
    rows = {entry["run"]: entry for entry in json.loads(out)}
    for name, entry in rows.items():
        committed = {p.name: p.read_bytes() for p in (ROOT / "data" / "procure_to_pay" / name).iterdir()}
        built = {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}
        assert built.keys() == committed.keys(), f"{name}: digest {entry['digest']}"
        assert built["manifest.json"] == committed["manifest.json"]


def test_check_names_the_trial_that_differs(capsys, monkeypatch, tmp_path):
    import plumbline as plumb

    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    path = data / "procure_to_pay" / "retry"
    run_ = plumb.read_run(path)
    steps = run_.steps.copy()
    row = steps.index[(steps["trial_id"] == "react/INV-7006/baseline/0/1") & (steps["name"] == "schedule_payment")][0]
    steps.loc[row, "arguments"] = steps.loc[row, "arguments"].replace("7750.00", "77500.00")
    plumb.Run(
        run_.trials, steps, run_id="retry", tasks=run_.tasks, plan=run_.plan, domain=run_.domain, notes=run_.notes
    ).save(path)
    code, out, _ = run(capsys, "data", "check", "--data", str(data))
    assert code == 1
    assert "trial react/INV-7006/baseline/0/1, arguments" in out
    assert "77500.00" in out


def test_the_demo_writes_every_report_into_the_folder_it_stands_in(tmp_path):
    """From a relative folder, in processes of their own: nothing lands beside the studies."""
    before = sorted(p.name for p in (ROOT / "studies").rglob("*") if "__pycache__" not in p.parts)
    environment = dict(os.environ, PLUMBLINE_STUDIES=str(ROOT / "studies"), PLUMBLINE_DATA=str(ROOT / "data"))
    command = [sys.executable, "-m", "plumbline", "demo", "--no-open", "--out", "made", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["study"]: row for row in json.loads(done.stdout)}
    assert set(rows) == set(list_studies())
    for name, row in rows.items():
        assert row["pins"]["held"] == row["pins"]["of"] > 50
        assert (tmp_path / "made" / f"{name}.html").stat().st_size > 50_000
    assert sorted(p.name for p in (ROOT / "studies").rglob("*") if "__pycache__" not in p.parts) == before
