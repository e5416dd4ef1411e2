"""The skeleton of a new domain: it runs, its own tests pass, and nothing that is there is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.cli import main

ROOT = Path(__file__).resolve().parents[2]


def run(folder, *command):
    alone = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    told = [sys.executable, "-m", *command]
    done = subprocess.run(told, cwd=folder, capture_output=True, text=True, timeout=120, env=alone)
    return done.returncode, done.stdout + done.stderr


def test_the_skeleton_passes_its_own_tests_and_runs_as_it_says(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new-domain", "claims"]) == 0
    told = capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "claims").iterdir()) == [
        "__init__.py",
        "domain.py",
        "test_claims.py",
    ]
    assert "THE_DOMAIN" not in "".join(path.read_text() for path in (tmp_path / "claims").iterdir())
    code, said = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "claims")
    assert code == 0, said
    assert "6 passed" in said
    command = told.split("run it")[1].split()
    assert command[0] == "plumbline"
    code, said = run(tmp_path, *command)
    assert code == 0, said
    assert "0 missing" in said


def test_the_skeleton_is_written_as_the_house_writes(tmp_path, capsys):
    assert main(["new-domain", "claims", "--out", str(tmp_path)]) == 0
    config = ["--config", str(ROOT / "pyproject.toml")]
    code, said = run(tmp_path, "ruff", "format", "--check", *config, "claims")
    assert code == 0, said
    code, said = run(tmp_path, "ruff", "check", "--select", "F,E,UP,B", *config, "claims")
    assert code == 0, said


@pytest.mark.parametrize("name", ["9x", "my-domain", "class", "Claims", "", "a.b", "../up", "procure_to_pay"])
def test_a_name_that_cannot_be_a_package_is_refused(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new-domain", name]) == 2
    assert "name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_overwritten(tmp_path, capsys):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "mine.py").write_text("mine")
    assert main(["new-domain", "claims", "--out", str(tmp_path)]) == 2
    assert "there already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "claims").iterdir()] == ["mine.py"]
