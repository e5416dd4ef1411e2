"""The examples in this room's docstrings run, from the checkout."""

from __future__ import annotations

import doctest
import importlib

import pytest

NAMES = (
    "certificate", "checks", "counting", "gate", "gate_plan", "ladder", "settings", "verification", "words",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, root, monkeypatch):
    monkeypatch.chdir(root)
    result = doctest.testmod(importlib.import_module(f"plumbline.decide.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_module_with_an_example_is_run(root):
    found = {p.stem for p in (root / "plumbline" / "decide").glob("*.py") if ">>>" in p.read_text(encoding="utf-8")}
    assert found == set(NAMES)
