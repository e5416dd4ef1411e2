"""An upper floor may import a lower one, never the reverse; neighbours do not know each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {
    "base": 1,
    "traces": 2,
    "compare": 2,
    "stats": 2,
    "rules": 3,
    "exchange": 3,
    "analysis": 4,
    "running": 4,
    "decide": 5,
    "show": 6,
    "domain": 7,
    "evaluators": 7,
    "run": 7,
    "study": 8,
    "accessors": 8,
    "cli": 9,
}
FREE = {"_version", "_hook", "__init__", "__main__"}
"""The package root's own files: lazy names and the hook, which import by name at run time only."""


def imports(file: Path) -> list[tuple[int, str]]:
    """Every module a file imports, with its line, also inside functions and under TYPE_CHECKING."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


FILES = sorted((ROOT / "plumbline").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_imports_go_one_way(file):
    own = file.relative_to(ROOT / "plumbline").parts[0].removesuffix(".py")
    if own in FREE:
        return
    assert own in FLOORS, f"{own} stands on no floor; add it to the picture in DESIGN.md and here"
    for line, name in imports(file):
        if not name.startswith("plumbline."):
            continue
        other = room(name)
        if other in FREE or other == own:
            continue
        assert other != "domains", f"{file.name}:{line} imports a domain by name; load it with load_domain"
        assert FLOORS[other] < FLOORS[own], f"{file.name}:{line}: {own} (floor {FLOORS[own]}) imports {other}"


@pytest.mark.parametrize("file", sorted((ROOT / "domains").rglob("*.py")), ids=lambda f: str(f.relative_to(ROOT)))
def test_domains_are_imported_under_one_name(file):
    names = [name for _, name in imports(file)]
    assert not [n for n in names if n == "domains" or n.startswith("domains.")], "import it as plumbline.domains.…"


@pytest.mark.parametrize("file", sorted((ROOT / "domains").rglob("truth.py")), ids=lambda f: f.parent.name)
def test_truth_does_not_import_the_tools_it_grades(file):
    assert not [n for _, n in imports(file) if ".tools" in n or ".arms" in n]


def test_stats_sees_arrays_only():
    for file in (ROOT / "plumbline" / "stats").glob("*.py"):
        for line, name in imports(file):
            assert not name.startswith(("plumbline.traces", "plumbline.rules", "pyarrow")), (
                f"{file.name}:{line}: {name}"
            )


def test_design_prints_the_picture():
    text = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
    for name in FLOORS:
        assert name in text, f"DESIGN.md does not mention the room {name!r}"
