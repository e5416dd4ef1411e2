"""Frozen variants: stored, read back, trusted by their hashes; layouts that move no value."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import DigestError, ParameterError
from plumbline.rules import Layout, Variant, VariantSet, VariantTable
from plumbline.rules.layouts import find_blocks

SCHEMA = {"type": "object", "properties": {"b": {"minimum": 0.01}, "a": {"maximum": 1e-07}}}
FULL = Variant(
    "Cancel A-17.",
    ("weather",),
    tool_order=("pay", "weather"),
    tool_descriptions={"pay": "Pay it."},
    tool_parameters={"pay": SCHEMA},
    layout=Layout(order="reversed", indent=2),
    sampling={"temperature": Decimal("0.3"), "seed": 4},
    fault={"tool": "pay", "error": "http_503", "delay": 1e-07},
    perturbation="mix",
    version="2",
    index=3,
    seed=7,
    stream=("study", "T", "mix", "3"),
    parents=({"perturbation": "a", "version": "1", "input_hash": "sha256:0"},),
    notes=("said",),
)
STORED = canonical_json(parse_json(canonical_json(FULL.to_dict())))


def test_a_variant_survives_storage_as_canonical_json_and_as_plain_json():
    for text in (canonical_json(FULL.to_dict()), json.dumps(FULL.to_dict())):
        for read in (parse_json, json.loads):
            back = Variant.from_dict(read(text))
            assert canonical_json(parse_json(canonical_json(back.to_dict()))) == STORED
            assert back.content_hash == FULL.content_hash
            assert list(back.tool_parameters["pay"]["properties"]) == ["b", "a"], "the order of arguments is kept"


@pytest.mark.parametrize("field", [name for name in FULL.to_dict() if name != "content_hash"])
def test_any_change_after_freezing_is_noticed(field):
    other = {
        "prompt": "Cancel A-18.", "decoys": ["tax"], "tool_order": [], "tool_descriptions": {}, "tool_parameters": {},
        "layout": None, "sampling": {}, "fault": None, "perturbation": "mox", "version": "3", "index": 4, "seed": 8,
        "stream": ["x"], "parents": [], "notes": [],
    }  # fmt: skip
    with pytest.raises(DigestError, match="changed after it was frozen"):
        Variant.from_dict(FULL.to_dict() | {field: other[field]})


def test_the_input_hash_is_of_what_the_agent_meets_and_of_nothing_else():
    elsewhere = FULL.changed({"index": 0, "seed": 1, "stream": ("x",), "notes": (), "perturbation": "other"})
    assert elsewhere.input_hash == FULL.input_hash
    assert elsewhere.content_hash != FULL.content_hash
    turned = {"pay": {"type": "object", "properties": {"a": {"maximum": 1e-07}, "b": {"minimum": 0.01}}}}
    assert FULL.changed({"tool_parameters": turned}).input_hash != FULL.input_hash, "the order of arguments counts"
    for change in ({"prompt": "x"}, {"sampling": {"temperature": 0.4}}, {"fault": None}, {"tool_order": ()}):
        assert FULL.changed(change).input_hash != FULL.input_hash


def test_a_variant_does_not_change_with_what_it_was_made_of():
    settings, fault = {"temperature": 0.3}, {"tool": "pay", "error": "http_503"}
    made = Variant("x", sampling=settings, fault=fault)
    before = made.content_hash
    settings["temperature"], fault["tool"] = 0.9, "log"
    assert made.content_hash == before


@pytest.mark.parametrize(
    "given_",
    [
        {"prompt": 3},
        {"prompt": "x", "decoys": "weather"},
        {"prompt": "x", "decoys": ("a", "a")},
        {"prompt": "x", "tool_order": ("a", "a")},
        {"prompt": "x", "index": -1},
        {"prompt": "x", "index": True},
        {"prompt": "x", "fault": {"delay": float("nan")}},
        {"prompt": "lone \ud800 surrogate"},
        {"prompt": "x", "sampling": {"temperature": 2.5}},
        {"prompt": "x", "sampling": {"temperature": float("nan")}},
        {"prompt": "x", "sampling": {"temperature": True}},
        {"prompt": "x", "sampling": {"temperature": "0.3"}},
        {"prompt": "x", "sampling": {"top_k": 1.5}},
        {"prompt": "x", "sampling": {"heat": 1}},
    ],
)
def test_impossible_variants_are_refused(given_):
    with pytest.raises(ParameterError):
        Variant(given_.pop("prompt"), **given_)


def test_a_stored_variant_with_other_fields_is_refused():
    with pytest.raises(ParameterError, match=r"missing \['seed'\]"):
        Variant.from_dict({k: v for k, v in FULL.to_dict().items() if k != "seed"})


def test_the_order_of_tools_leaves_none_out():
    assert FULL.offered(["log", "pay"]) == ("pay", "weather", "log")
    assert Variant("x").offered(["log", "pay"]) == ("log", "pay")
    with pytest.raises(ParameterError, match="not offered"):
        Variant("x", tool_order=("gone",)).offered(["log"])


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=8),
        st.decimals(allow_nan=False, allow_infinity=False, places=2),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip
LAYOUTS = st.builds(
    Layout, order=st.sampled_from(["as_given", "sorted", "reversed"]), indent=st.sampled_from([None, 1, 2, 8]),
    spaced=st.booleans(),
)  # fmt: skip


@given(VALUES, LAYOUTS)
def test_a_layout_moves_no_value(value, layout):
    assert canonical_json(parse_json(layout.write(value))) == canonical_json(value)
    assert Layout.from_dict(layout.to_dict()) == layout


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=3), LAYOUTS)
def test_blocks_are_found_in_prose_and_prose_is_not(value, layout):
    text = f"See [note 3] {{as ever}}: {layout.write(value)} [thanks] }}"
    blocks = find_blocks(text)
    assert [canonical_json(block.value) for block in blocks] == [canonical_json(value)]
    assert text[blocks[0].start : blocks[0].end] == layout.write(value)


def test_layouts_that_are_not_possible_are_refused():
    for given_ in ({"order": "random"}, {"indent": 0}, {"indent": True}, {"indent": 9}, {"spaced": 1}):
        with pytest.raises(ParameterError):
            Layout(**given_)
    with pytest.raises(ParameterError):
        Layout.from_dict({"order": "sorted"})


def test_a_table_is_stored_whole_and_its_digest_sees_every_cell():
    cells = tuple(
        VariantSet(task_id=task, perturbation="mix", version="2", planned=2, accepted=(FULL.changed({"index": 0}),))
        for task in ("T", "U")
    )
    table = VariantTable(cells)
    back = VariantTable.from_dict(parse_json(canonical_json(table.to_dict())))
    assert back.digest == table.digest
    assert [one.task_id for one in back.shortfalls] == ["T", "U"]
    assert VariantTable(cells[:1]).digest != table.digest
    with pytest.raises(ParameterError, match="two sets"):
        VariantTable((*cells, cells[0]))
    with pytest.raises(ParameterError, match="format"):
        VariantTable.from_dict({"schema": "other", "sets": []})
