"""The import hook calls once, after the module is whole, and leaves the import machinery as it was."""

from __future__ import annotations

import importlib
import sys

import pytest

from plumbline._hook import when_imported


def test_a_module_that_is_loaded_is_told_at_once():
    seen = []
    when_imported("sys", seen.append)
    assert seen == [sys]


def test_a_module_that_comes_later_is_told_once_and_whole(tmp_path, monkeypatch):
    (tmp_path / "comes_later.py").write_text("value = 1\nlast = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    seen = []
    when_imported("comes_later", lambda module: seen.append((module.value, module.last)))
    assert seen == []
    module = importlib.import_module("comes_later")
    importlib.reload(module)
    assert seen == [(1, 2)]
    assert sys.meta_path == before
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"


def test_a_module_that_fails_to_load_fails_as_it_would_have(tmp_path, monkeypatch):
    (tmp_path / "comes_broken.py").write_text("raise RuntimeError('broken')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    seen = []
    when_imported("comes_broken", seen.append)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            importlib.import_module("comes_broken")
    assert seen == []
    assert sys.meta_path == before
