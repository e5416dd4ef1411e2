"""Every example in the docstrings of this room runs, and every public name of the room is described."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import plumbline.stats as room

MODULES = sorted(file.stem for file in Path(room.__file__).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"plumbline.stats.{name}"))
    assert result.failed == 0


@pytest.mark.parametrize("name", room.__all__)
def test_public_names_are_described(name):
    value = getattr(room, name)
    text = inspect.getdoc(value)
    assert text
    assert len(text.splitlines()[0]) > 15
    if inspect.isfunction(value):
        assert {"Parameters", "Returns"} <= set(text.splitlines())
        examples = [line for line in text.splitlines() if line.startswith((">>>", "..."))]
        assert 1 <= len(examples) <= 6
        kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_no_name_hides_a_module():
    """``import plumbline.stats.x as m`` would bind the function, were a module called like one."""
    assert not set(MODULES) & set(room.__all__)
