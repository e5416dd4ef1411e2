"""Rules of size and shape, and what must never be committed."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CEILING = 400
TOP = {
    "pyproject.toml", "plumbline", "notebooks", "domains", "data", "studies", "tests", "README.md", "DESIGN.md",
    "LICENSE", "constraints.txt",
}  # fmt: skip


def tracked() -> list[Path]:
    """Files of the checkout: what git tracks, or, outside a git checkout, everything that is not a build product."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [n for n in listed.stdout.decode().split("\0") if n]
        return [ROOT / n for n in names if (ROOT / n).is_file()]
    return [
        p for p in ROOT.rglob("*") if p.is_file() and not {".venv", "build", "dist"} & set(p.relative_to(ROOT).parts)
    ]


def code() -> list[Path]:
    return [p for p in tracked() if p.suffix in (".py", ".js", ".css", ".j2")]


def test_no_file_grows_past_the_ceiling():
    long = {
        str(p.relative_to(ROOT)): n for p in code() if (n := len(p.read_text(encoding="utf-8").splitlines())) > CEILING
    }
    assert not long, f"over {CEILING} lines: {long}"


def test_no_function_that_cannot_be_seen_whole():
    long = []
    for file in [p for p in code() if p.suffix == ".py" and "tests" not in p.relative_to(ROOT).parts]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = [n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
                if body and node.end_lineno - body[0].lineno + 1 > 60:
                    long.append(f"{file.relative_to(ROOT)}:{node.name}")
    assert not long, f"functions longer than 60 lines: {long}"


def test_the_top_level_is_fixed():
    found = {p.relative_to(ROOT).parts[0] for p in tracked()}
    assert {n for n in found if not n.startswith(".")} == TOP


@pytest.mark.parametrize("file", sorted((ROOT / "plumbline").glob("*/__init__.py")), ids=lambda f: f.parent.name)
def test_a_rooms_init_only_hands_names_on(file):
    allowed = (ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert all(isinstance(node, allowed) for node in tree.body), f"{file} does more than hand names on"
    module = importlib.import_module(f"plumbline.{file.parent.name}")
    names = getattr(module, "__all__", [])
    assert len(set(names)) == len(names)
    assert all(hasattr(module, n) for n in names)
    imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names} - {
        "annotations"
    }
    assert imported == set(names), "what is imported and what is handed on differ"


def test_every_public_name_is_there_and_has_a_docstring():
    import plumbline

    assert plumbline.__all__ == ["__version__", *sorted(set(plumbline.__all__) - {"__version__"})]
    for name in plumbline.__all__[1:]:
        value = getattr(plumbline, name)
        assert value.__doc__, name
        assert name in dir(plumbline)
    with pytest.raises(AttributeError, match="its names are"):
        _ = plumbline.nothing_of_the_kind


PARTS = re.compile(r"\n\s*(Parameters|Returns|Raises|Examples)\n\s*-{5,}")


def test_public_functions_say_what_they_take_and_give():
    """A docstring of a public verb names its parameters, what it returns, and has one line a researcher would say."""
    import inspect

    import plumbline

    for name in plumbline.__all__[1:]:
        value = getattr(plumbline, name)
        if not inspect.isfunction(value):
            continue
        doc = inspect.getdoc(value) or ""
        assert len(doc.splitlines()[0]) > 15, name
        found = set(PARTS.findall("\n" + doc))
        takes = list(inspect.signature(value).parameters.values())
        assert not takes or "Parameters" in found, f"{name} does not describe its parameters"
        assert {"Returns", "Raises"} & found, f"{name} says neither what it returns nor what it raises"
        for p in takes:
            assert p.kind is not p.VAR_KEYWORD, f"{name} takes **{p.name}"


def test_importing_plumbline_is_light():
    heavy = "numpy pandas pyarrow scipy statsmodels matplotlib altair anthropic papermill nbconvert yaml"
    program = f"import sys, plumbline; print([m for m in {heavy.split()!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_help_of_the_command_is_light():
    heavy = "numpy pandas pyarrow scipy statsmodels matplotlib altair anthropic papermill nbconvert yaml"
    program = (
        "import sys\nfrom plumbline.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as e:\n    assert e.code == 0\n"
        f"print([m for m in {heavy.split()!r} if m in sys.modules], file=sys.stderr)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stderr.strip() == "[]"


def test_the_accessors_come_with_pandas_before_or_after():
    for order in ("import plumbline, pandas as pd", "import pandas as pd, plumbline"):
        program = f"{order}\nf = pd.DataFrame({{'a': [1]}})\nprint(hasattr(pd.DataFrame, 'trace'), hasattr(f, 'trace'))"
        out = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
        assert out.stdout.split() == ["True", "False"], "a frame that is no steps frame has no accessor"


def test_every_package_folder_is_listed_for_the_wheel():
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    here = {".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "plumbline").rglob("__init__.py")}
    there = {
        ".".join(("plumbline", *p.parent.relative_to(ROOT).parts)) for p in (ROOT / "domains").rglob("__init__.py")
    }
    assert listed == here | there


def test_nothing_of_a_machine_or_a_registry_is_committed():
    pattern = re.compile(r"""(^|[\s"'`(=])/(work|farm|root|home)/|(extra-)?index-url|files\.python""hosted""", re.M)
    bad = []
    for file in tracked():
        if file.suffix in (".arrow", ".png", ".woff2") or file == Path(__file__):
            continue
        if pattern.search(file.read_text(encoding="utf-8")):
            bad.append(str(file.relative_to(ROOT)))
    assert not bad, f"paths of a machine or a registry's address in {bad}"
    assert not [p for p in tracked() if p.name in ("uv.lock", "poetry.lock", "package-lock.json")]


def test_notebooks_hold_no_outputs_and_have_meaningful_cell_ids():
    books = [p for p in tracked() if p.suffix == ".ipynb"]
    assert books, "there is no notebook"
    for file in books:
        book = json.loads(file.read_text(encoding="utf-8"))
        for cell in book["cells"]:
            assert not cell.get("outputs"), f"{file.name} holds outputs"
            assert cell.get("execution_count") is None
            assert not re.fullmatch(r"[0-9a-f]{8}(-.*)?|\d+", cell["id"]), (
                f"{file.name}: cell id {cell['id']!r} says nothing"
            )
        assert "widgets" not in book["metadata"]
        assert "papermill" not in book["metadata"]
