"""The examples in the docstrings of bands run, from the checkout."""

from __future__ import annotations

import doctest
import importlib

import pytest

from plumbline.decide import bands


def test_examples_run(root, monkeypatch):
    monkeypatch.chdir(root)
    files = [
        p for p in sorted((root / "plumbline/decide/bands").glob("*.py")) if ">>>" in p.read_text(encoding="utf-8")
    ]
    assert len(files) >= 9
    for file in files:
        result = doctest.testmod(importlib.import_module(f"plumbline.decide.bands.{file.stem}"))
        assert result.attempted > 0, file.stem
        assert result.failed == 0, file.stem


@pytest.mark.parametrize("name", bands.__all__)
def test_every_public_name_says_what_it_is(name):
    value = getattr(bands, name)
    assert not callable(value) or value.__doc__, name
