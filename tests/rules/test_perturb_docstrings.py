"""Every example in the docstrings of perturbations and their guard runs, and every public name is described."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

import plumbline.rules as room

MODULES = (
    "asking", "draws", "findings", "guard", "guard_parts", "guard_text", "layouts", "lexicon", "moments", "perturb",
    "perturb_catalog", "perturb_tools", "quantities", "readings", "review", "schemas", "spellings", "task_view",
    "variant_sets", "variant_table", "variants",
)  # fmt: skip
NAMES = sorted(
    name for name in room.__all__ if getattr(getattr(room, name), "__module__", "").rpartition(".")[2] in MODULES
)


@pytest.mark.parametrize("name", [*MODULES, "domain"])
def test_examples_run(name):
    place = "plumbline.domains.procure_to_pay.perturbations" if name == "domain" else f"plumbline.rules.{name}"
    assert doctest.testmod(importlib.import_module(place)).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_public_names_are_described(name):
    value = getattr(room, name)
    text = inspect.getdoc(value)
    assert text
    assert len(text.splitlines()[0]) > 15
    if inspect.isfunction(value):
        assert "Returns" in text.splitlines()
        kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_the_names_of_this_part_are_there():
    assert len(NAMES) > 40
