"""Whether a schema can be satisfied, and whether two schemas accept the same calls."""

from __future__ import annotations

import pytest

from plumbline.domain import load_domain
from plumbline.rules.schemas import same_calls, schema_problems

CLEAN = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 5, "description": "A title."},
        "kind": {"enum": ["a", "b"]},
        "lines": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0, "maximum": 0}},
        "free": {"enum": []},
    },
    "required": ["title", "kind", "lines"],
    "additionalProperties": False,
}


def test_a_schema_that_can_be_satisfied_has_no_problem():
    """An optional argument that nothing satisfies can be left out."""
    assert schema_problems(CLEAN) == []
    assert schema_problems(True) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"required": ["gone"]}, "'gone' is required and not allowed"),
        ({"required": ["free"]}, "arguments.free: no value is allowed"),
        ({"properties": {**CLEAN["properties"], "title": False}}, "arguments.title: nothing is allowed"),
        ({"properties": {**CLEAN["properties"], "title": {"minLength": 6, "maxLength": 5}}}, "minLength 6 exceeds"),
        ({"properties": {**CLEAN["properties"], "kind": {"type": "integer", "enum": ["a"]}}}, "of type integer"),
        ({"properties": {**CLEAN["properties"], "kind": {"type": "string", "const": 1}}}, "of type string"),
        ({"properties": {**CLEAN["properties"], "lines": {"minItems": 1, "items": {"enum": []}}}}, "lines[]: no value"),
        ({"properties": {**CLEAN["properties"], "kind": {"anyOf": [False, {"enum": []}]}}}, "no branch of anyOf"),
    ],
)
def test_each_contradiction_is_named(change, said):
    assert any(said in problem for problem in schema_problems(CLEAN | change)), schema_problems(CLEAN | change)


def test_presentation_is_no_difference_and_everything_else_is():
    turned = {key: CLEAN[key] for key in reversed(CLEAN)}
    turned["properties"] = {name: CLEAN["properties"][name] for name in reversed(CLEAN["properties"])}
    turned["properties"]["title"] = {"maxLength": 5, "type": "string", "minLength": 1, "title": "Other"}
    turned["required"] = ["kind", "lines", "title"]
    assert same_calls(CLEAN, turned)
    lost = {**CLEAN, "properties": {n: s for n, s in CLEAN["properties"].items() if n != "title"}}
    assert not same_calls(CLEAN, lost), "an argument called title is not presentation"
    assert not same_calls(CLEAN, {**CLEAN, "required": ["kind"]})
    assert not same_calls(CLEAN, {**CLEAN, "additionalProperties": True})


def test_the_tools_of_the_domain_can_be_called():
    domain = load_domain("procure_to_pay")
    assert all(schema_problems(tool.parameters) == [] for tool in (*domain.tools, *domain.decoys))
