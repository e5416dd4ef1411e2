"""What is packed: the library, its domains and its templates, and nothing of the repository around them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Build both from a copy, so that the checkout stays as it is."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("plumbline", "domains"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "tests").mkdir()
    (copy / "tests" / "test_nothing.py").write_text("")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(copy / "dist"), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return copy / "dist"


def test_the_wheel_holds_the_library_its_domains_and_its_templates(packed):
    names = zipfile.ZipFile(next(packed.glob("*.whl"))).namelist()
    for wanted in (
        "plumbline/py.typed",
        "plumbline/CHANGES.md",
        "plumbline/show/_templates/plumbline/index.html.j2",
        "plumbline/show/_templates/plumbline/page.css",
        "plumbline/domains/procure_to_pay/policy.py",
    ):
        assert wanted in names
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"plumbline"}
    modules = {str(p.relative_to(ROOT)) for p in (ROOT / "plumbline").rglob("*.py")}
    assert modules <= set(names), f"missing from the wheel: {sorted(modules - set(names))[:5]}"


def test_the_wheel_declares_what_it_offers(packed):
    wheel = zipfile.ZipFile(next(packed.glob("*.whl")))
    entry = next(n for n in wheel.namelist() if n.endswith("entry_points.txt"))
    text = wheel.read(entry).decode()
    assert "plumbline = plumbline.cli:main" in text
    assert "plumbline-report = plumbline.show.report:ReportExporter" in text
    metadata = wheel.read(entry.replace("entry_points.txt", "METADATA")).decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert any(n.endswith("licenses/LICENSE") for n in wheel.namelist())


def test_the_source_archive_holds_no_stray_files(packed):
    with tarfile.open(next(packed.glob("*.tar.gz"))) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    allowed = {"plumbline", "domains", "pyproject.toml", "README.md", "LICENSE", "PKG-INFO", "setup.cfg", "tests"}
    assert tops - {t for t in tops if t.endswith(".egg-info")} <= allowed
