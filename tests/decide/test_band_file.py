"""Band files: what they say, that comments survive, and that everything wrong has its line and a mend."""

from __future__ import annotations

import datetime

import pytest
from jsonschema import Draft202012Validator

from plumbline.base.errors import BandError, NotFoundError
from plumbline.decide.bands import bands_schema, compare_setting, load_bands, parse_bands, sample_bands
from plumbline.decide.bands.reading import parse_yaml, plain, write_yaml

TEXT = sample_bands().text


def test_a_file_says_its_edges():
    bands = parse_bands(TEXT)
    assert bands.rules["text"].pass_.at_least == 0.92
    assert bands.rules["latency"].warn.at_most == 3.0
    assert bands.rules["tokens"].severity == "warning"
    assert bands.rules["structure"].severity == "block"
    assert bands.fields == (
        "text", "structure", "arguments", "order", "checks", "tool_set", "latency", "tokens",
    )  # fmt: skip


def test_the_round_trip_keeps_every_byte():
    tree, _ = parse_yaml(TEXT, "bands.yaml")
    assert write_yaml(tree) == TEXT


def test_the_digest_is_of_the_content():
    plainer = "\n".join(line.split("  #")[0] for line in TEXT.splitlines() if not line.startswith("#"))
    assert parse_bands(plainer).digest == parse_bands(TEXT).digest
    spelled = TEXT.replace("at_least: 0.92", "at_least: 0.920").replace("at_most: 3x", "at_most: 3.0x")
    assert parse_bands(spelled).digest == parse_bands(TEXT).digest
    assert parse_bands(TEXT.replace("0.92", "0.93")).digest != parse_bands(TEXT).digest


def test_the_published_schema_is_one_and_takes_the_sample():
    schema = bands_schema()
    Draft202012Validator.check_schema(schema)
    values = parse_bands(TEXT).to_dict()
    assert not list(Draft202012Validator(schema).iter_errors(values))
    values["rules"]["latency"]["pass"]["at_most"] = 1.5
    assert list(Draft202012Validator(schema).iter_errors(values))


WRONG = [
    ("severity: warning", "severty: warning", 59, "the key 'severty' is not known; write 'severity'"),
    ("at_most: 1.5x", "at_most: 1.5s", 61, "found '1.5s'; write a ratio to the baseline with the unit x, such as 1.5x"),
    ("at_most: 1.5x", "at_most: 1.5", 61, "the unit is missing: a ratio to the baseline is written 1.5x"),
    ("at_least: 0.92", "at_least: 92", 22, "found 92; a score and a share lie from 0 to 1, such as 0.92"),
    ("approver: platform-team\n", "", 1, "the approver is missing; a band file names who approved it"),
    ("approver: platform-team", "approver: agent-team", 6, "nobody approves a band of their own"),
    ("created: 2026-08-01", "created: 2026-09-02", 7, "2026-09-02 lies in the future (today is 2026-09-01)"),
    ("created: 2026-08-01", "created: 2026-13-01", 7, "write a day as 2026-08-01"),
    ("version: 1", "version: 1\nversion: 2", 5, "duplicate key \"version\"; a key stands once"),
    ("warn: {at_least: 0.85}", "warn: {at_least: 0.95}", 17, "the warned band is the wider one"),
    ("pass: same_unless_idempotent", "pass: whatever", 45, "choose 'same', 'same_unless_idempotent' or 'any'"),
    ("    why: Other programs read these keys.\n", "", 25, "the reason is missing; add a line why:"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG, ids=lambda value: str(value)[:24])
def test_what_is_wrong_has_its_line_and_a_mend(old, new, line, said):
    assert old in TEXT
    with pytest.raises(BandError) as caught:
        parse_bands(TEXT.replace(old, new, 1), source="bands.yaml", today=datetime.date(2026, 9, 1))
    assert f"bands.yaml, line {line}" in str(caught.value)
    assert said in str(caught.value)


def test_an_override_of_an_unknown_slice_is_refused():
    text = TEXT + "overrides:\n  - slice: long\n    rules:\n      order: {why: no matter here, pass: any}\n"
    with pytest.raises(BandError, match=r"line 72, overrides: an override names the slice 'long'"):
        parse_bands(text)
    bands = parse_bands(text + "slices:\n  long: {fixtures: ['L-*']}\n")
    assert bands.slices_of("L-1") == ("long",)
    assert bands.rule_for("order", "L-1", ("long",))[1] == "slice:long"
    assert bands.rule_for("order", "S-1", ()) == (bands.rules["order"], "")


def test_no_file_says_how_to_make_one(tmp_path):
    with pytest.raises(NotFoundError, match="plumbline bands init"):
        load_bands(tmp_path / "no.yaml")


@pytest.mark.parametrize(
    ("old", "new", "key", "way"),
    [
        ("pass: {at_least: 0.92}", "pass: {at_least: 0.9}", ("text", "", "pass.at_least"), "looser"),
        ("at_most: 1.5x", "at_most: 1.3x", ("latency", "", "pass.at_most"), "tighter"),
        ("pass: same_unless_idempotent", "pass: same", ("order", "", "pass"), "tighter"),
        ("optional: [note]", "optional: []", ("structure", "", "pass.optional"), "tighter"),
        ("required: [decision, amount, summary]", "required: [decision]", ("structure", "", "pass.required"), "looser"),
        ("exact: [decision, amount]", "exact: [decision, summary]", ("structure", "", "pass.exact"), "mixed"),
        ("at: summary", "at: note", ("text", "", "at"), "unordered"),
        ("repeatable: true, reads: [pay", "reads: [pay", ("tools", "", "check_duplicate.repeatable"), "tighter"),
        ("noise: {at_most: 0.05", "noise: {at_most: 0.1", ("noise", "", "at_most"), "looser"),
    ],
)  # fmt: skip
def test_each_setting_knows_which_way_is_tighter(old, new, key, way):
    assert old in TEXT
    before, after = parse_bands(TEXT).settings, parse_bands(TEXT.replace(old, new, 1)).settings
    assert compare_setting(before[key], after[key]) == way
    moved = {name for name in before if compare_setting(before[name], after[name]) != "same"}
    assert moved == {key}
    assert plain(parse_yaml(TEXT, "x")[0])["version"] == 1
