"""What a reader runs: notebooks, studies with plain papermill and with the command, the README's own lines."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import papermill
import pytest

from plumbline.show.report import export_report
from plumbline.study import list_studies, load_study, run_study

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STUDIES = list_studies(studies=ROOT / "studies")
QUIET = {"kernel_name": "python3", "progress_bar": False, "store_widget_state": False}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda f: f.stem)
def test_a_notebook_runs(file, tmp_path):
    papermill.execute_notebook(
        str(file), str(tmp_path / "out.ipynb"), {"data": str(ROOT / "data")}, cwd=str(tmp_path),
        extra_arguments=["--log-level=40"], **QUIET,
    )  # fmt: skip


@pytest.fixture(scope="module", params=STUDIES)
def done(request, tmp_path_factory):
    """A study that was killed in the middle and then run again into the same folder."""
    out = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "plumbline", "study", "run", request.param, "--out", str(out)]
    child = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    for line in child.stderr:
        if b"running the notebook" in line:
            break
    time.sleep(1.5)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    child.stderr.close()
    left = sorted(p.name for p in out.iterdir())
    return left, run_study(load_study(request.param, studies=ROOT / "studies"), out=out)


def test_a_killed_study_leaves_nothing_and_the_next_run_is_right(done):
    left, run = done
    assert left == [], f"a killed run left {left}"
    assert run.pins is not None
    assert run.pins.ok
    results = json.loads(run.results.read_text(encoding="utf-8"))
    study = load_study(run.study, studies=ROOT / "studies")
    assert study.check(results["figures"]).ok
    made_here = {"bands": {"baseline", "candidate"}}  # a study that reads no recorded run says what it constructed
    assert set(results["digests"]) == (set(study.spec["runs"]) or made_here[study.name])


def test_the_same_executed_notebook_gives_the_same_report(done, tmp_path):
    _, run = done
    told = {"study": run.study, "pins": "all"}
    pages = [export_report(run.notebook, tmp_path / f"{i}.html", provenance=told).read_bytes() for i in range(2)]
    assert pages[0] == pages[1]
    text = run.report.read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert str(ROOT) not in text, "a place of this machine stands in the report"
    assert str(ROOT) not in run.notebook.read_text(encoding="utf-8")


def test_a_study_runs_with_plain_papermill_and_other_parameters(tmp_path):
    out, results = tmp_path / "out.ipynb", tmp_path / "figures.json"
    parameters = {"repetitions": 1, "columns": ["no_retry", "three_retries"], "results": str(results)}
    papermill.execute_notebook(
        str(ROOT / "studies" / "retry" / "retry.ipynb"), str(out), parameters, cwd=str(ROOT),
        extra_arguments=["--log-level=40"], **QUIET,
    )  # fmt: skip
    figures = json.loads(results.read_text(encoding="utf-8"))["figures"]
    assert figures["corrected/no_retry/exposure"]["delivered"] == 32
    book = nbformat.read(out, as_version=4)
    texts = [o.get("text", "") for c in book.cells for o in c.get("outputs", [])]
    assert any("pins are not checked" in t for t in texts)


def test_an_impossible_parameter_stops_plain_papermill_at_once(tmp_path):
    with pytest.raises(papermill.PapermillExecutionError, match="confidence = nan is not possible"):
        papermill.execute_notebook(
            str(ROOT / "studies" / "retry" / "retry.ipynb"), str(tmp_path / "out.ipynb"),
            {"confidence": float("nan")}, cwd=str(ROOT), extra_arguments=["--log-level=40"], **QUIET,
        )  # fmt: skip


def readme_blocks() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.S)


def test_the_readmes_python_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    blocks = readme_blocks()
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["policy"].rules) == 4  # type: ignore[attr-defined]
    assert len(names["of_each_invoice"].rules) == 5  # type: ignore[attr-defined]


def test_the_readme_names_every_command_and_its_two_lines():
    from plumbline.cli.main import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"`plumbline {command}" in text, f"README.md does not mention plumbline {command}"
    lines = [line for line in text.splitlines() if line.startswith("python3 -m venv .venv && ")]
    assert len(lines) == 2
    assert lines[0].endswith("plumbline demo")
    assert ".venv/bin/pytest" in lines[1]


def test_a_killed_build_leaves_whole_runs_only(tmp_path):
    import plumbline as plumb

    command = [sys.executable, "-m", "plumbline", "data", "build", "--out", str(tmp_path)]
    child = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for line in child.stderr:
        if b"parity" in line:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stderr.close()
    committed = ROOT / "data" / "procure_to_pay"
    for path in tmp_path.iterdir():
        if (path / "manifest.json").exists():
            assert plumb.read_run(path).digest == plumb.read_run(committed / path.name).digest
    assert (tmp_path / "determinism" / "manifest.json").exists()
