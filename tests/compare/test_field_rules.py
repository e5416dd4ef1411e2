"""Rules by hand and from a schema, and what is refused."""

from __future__ import annotations

import pickle
from decimal import Decimal as D

import pytest

from plumbline.base.errors import ParameterError, PolicyError
from plumbline.compare import (
    MISSING,
    NORMALISERS,
    ArgumentRules,
    compare_call,
    date,
    enumeration,
    exact,
    identifier,
    ignore,
    instant,
    list_of,
    match_calls,
    money,
    multiset_of,
    number,
    published_field,
    published_rules,
    set_of,
    text,
)
from plumbline.compare.fields import join_key, parse_path
from plumbline.compare.normalise import apply_normalisers

ORDER = ArgumentRules(
    {
        "order": {
            "address.city": text(),
            "address.zip": identifier(severity="critical"),
            "items": multiset_of(),
            "items[].sku": identifier(severity="critical"),
            "items[].price": money(currency="EUR"),
            "note": ignore(),
            '["a.b"]': number(),
        }
    }
)


def test_nested_fields_have_rules_of_their_own():
    reference = {
        "address": {"city": "St.  Pölten", "zip": "3100"},
        "items": [{"sku": "A", "price": D("10.00")}, {"sku": "B", "price": "EUR 5"}],
        "a.b": 1,
    }
    candidate = {
        "address": {"city": "St. Pölten", "zip": "03100"},
        "items": [{"sku": "b", "price": 5}, {"sku": "A", "price": 100}],
        "note": "hello",
        "a.b": D("1.0"),
    }
    found = compare_call(candidate, reference, tool="order", rules=ORDER)
    said = {each.field: (each.verdict, each.severity, each.ratio) for each in found.differences}
    assert said == {
        "address.zip": ("different", "critical", None),
        "items[0].sku": ("different", "critical", None),
        "items[1].price": ("different", "high", 10.0),
    }
    assert {each.field: each.verdict for each in found.fields}["note"] == "ignored"
    assert compare_call(reference, reference, tool="order", rules=ORDER).equal


def test_an_undeclared_tool_is_compared_exactly():
    assert compare_call({"items": [1, 2]}, {"items": [2, 1]}, tool="other", rules=ORDER).equal is False


def test_a_rule_for_a_leaf_holds_below_a_container():
    rules = ArgumentRules({"t": {"matrix": number(absolute=D("0.5")), "matrix.skip": ignore()}})
    one, other = {"matrix": {"a": [1, 2], "skip": 1}}, {"matrix": {"a": [D("1.5"), 2], "skip": 9}}
    assert compare_call(one, other, tool="t", rules=rules).equal
    assert compare_call(one, other, tool="t").equal is False


def test_uncounted_severities_are_reported():
    rules = ArgumentRules({"t": {"reason": text(severity="low")}}, uncounted=("low",))
    found = compare_call({"reason": "a"}, {"reason": "b"}, tool="t", rules=rules)
    assert (found.verdict, found.differences) == ("equal", ())
    assert [(each.verdict, each.counted) for each in found.fields] == [("different", False)]


def test_what_cannot_be_judged_is_neither_equal_nor_different():
    assert compare_call(None, {"a": 1}).equal is None
    assert compare_call(None, {"a": 1}).verdict == "not_recorded"
    rules = ArgumentRules({"t": {"on": date(), "n": exact()}})
    unread = compare_call({"on": "soon", "n": 1}, {"on": "2026-07-03", "n": 1}, tool="t", rules=rules)
    assert (unread.verdict, unread.equal) == ("unreadable", None)
    worse = compare_call({"on": "soon", "n": 2}, {"on": "2026-07-03", "n": 1}, tool="t", rules=rules)
    assert worse.verdict == "different"


def test_extra_keys_may_be_allowed_but_not_in_place_of_a_required_one():
    rules = ArgumentRules({"t": {"must": exact(presence="required")}})
    assert compare_call({"a": 1, "b": 2}, {"a": 1}, tool="t", extra="ignored").equal
    assert compare_call({"a": 1}, {"a": 1, "b": 2}, tool="t", extra="ignored").equal is False
    assert compare_call({"must": 1}, {}, tool="t", rules=rules, extra="ignored").equal is False
    with pytest.raises(ParameterError, match="extra is 'maybe'"):
        compare_call({}, {}, extra="maybe")


def test_rules_join_and_travel():
    joined = ArgumentRules({"a": {"x": exact()}}) | ArgumentRules({"b": {"y": number(absolute=1)}})
    assert sorted(joined.tools) == ["a", "b"]
    again = pickle.loads(pickle.dumps(joined))
    assert (again.tools["b"]["y"], again.default) == (number(absolute=1), exact())
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    with pytest.raises(ParameterError, match="both rules declare a"):
        joined | ArgumentRules({"a": {}})
    with pytest.raises(ParameterError, match="differ in their default"):
        joined | published_rules()


SCHEMA = {
    "type": "object",
    "$defs": {"Line": {"type": "object", "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}}}},
    "properties": {
        "id": {"type": "string"},
        "amount": {"type": "number"},
        "currency": {"enum": ["EUR", "USD"]},
        "page": {"type": "integer", "default": 1},
        "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "ship": {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]},
        "any": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["id", "amount"],
}


def test_a_schema_becomes_rules():
    rules = ArgumentRules.from_json_schema("pay", SCHEMA)
    kinds = {path: (rule.kind, rule.presence) for path, rule in rules.tools["pay"].items()}
    assert kinds == {
        "id": ("exact", "required"),
        "amount": ("number", "required"),
        "currency": ("enumeration", "same"),
        "page": ("number", "same"),
        "due": ("date", "same"),
        "at": ("instant", "same"),
        "tags": ("set", "same"),
        "tags[]": ("exact", "same"),
        "lines": ("list", "same"),
        "lines[].sku": ("exact", "same"),
        "lines[].qty": ("number", "same"),
        "ship.zip": ("exact", "required"),
        "any": ("exact", "same"),
    }
    base = {"id": "a", "amount": 5, "tags": ["x", "y"], "lines": [{"sku": "s", "qty": 1}]}
    lines = [{"sku": "s", "qty": D("1.0")}]
    same = {"id": "a", "amount": D("5.0"), "tags": ["y", "x"], "lines": lines, "page": 1, "due": None}
    assert compare_call(same, base, tool="pay", rules=rules).equal
    assert compare_call({**same, "page": 2}, base, tool="pay", rules=rules).equal is False
    assert compare_call({**same, "at": None}, base, tool="pay", rules=rules).equal is False


def test_declared_fields_take_the_place_of_the_schema():
    rules = ArgumentRules.from_json_schema("pay", SCHEMA, fields={"id": identifier(severity="critical")})
    assert rules.tools["pay"]["id"].severity == "critical"


def test_a_schema_that_refers_to_itself_ends():
    node = {"type": "object", "properties": {"v": {"type": "integer"}}}
    for name in ("left", "right"):
        node["properties"][name] = {"$ref": "#/$defs/Node"}
    schema = {"type": "object", "$defs": {"Node": node}, "properties": {"root": {"$ref": "#/$defs/Node"}}}
    rules = ArgumentRules.from_json_schema("tree", schema)
    one = {"root": {"v": 1, "left": {"v": 2, "left": {"v": 3}}}}
    assert compare_call(one, one, tool="tree", rules=rules).equal


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "describes no object"),
        ([], "is a list"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}, "which is not in it"),
        ({"type": "object", "properties": {"a": {"$ref": "other.json"}}}, "which is not in it"),
        ({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}, "without end"),
        ({"type": "object", "properties": {"a": 3}}, "where a schema is expected"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema, said):
    with pytest.raises(PolicyError, match=said):
        ArgumentRules.from_json_schema("pay", schema)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: number(absolute=-1), "absolute is -1"),
        (lambda: number(relative=float("nan")), "relative is nan"),
        (lambda: number(absolute=True), "absolute is True"),
        (lambda: number(absolute="1"), "absolute is '1'"),
        (lambda: money(currency="eur"), "ISO 4217"),
        (lambda: money(absolute=float("inf")), "absolute is inf"),
        (lambda: date(zone="Mars/Base"), "time zone 'Mars/Base' is unknown"),
        (lambda: date(days=-1), "days is -1"),
        (lambda: instant(seconds=float("nan")), "seconds is nan"),
        (lambda: enumeration([]), "not empty"),
        (lambda: enumeration("abc"), "not empty"),
        (lambda: enumeration(["a", "a"]), "hold a value twice"),
        (lambda: exact(severity="grave"), "severity is 'grave'"),
        (lambda: exact(presence="maybe"), "presence is 'maybe'"),
        (lambda: exact(normalise=("lower",)), "normaliser 'lower' is unknown"),
        (lambda: exact(normalise="trim"), "give a tuple of names"),
        (lambda: exact(normalise=(str.lower,)), "is unknown"),
        (lambda: exact(default=object()), "cannot be an argument"),
        (lambda: set_of({"a": 1}), "a mapping of path to field rule"),
        (lambda: ArgumentRules({"t": {"a": "exact"}}), "the rule of t.a"),
        (lambda: ArgumentRules({"t": exact()}), "the rules of 't'"),
        (lambda: ArgumentRules([("t", {})]), "give a mapping of tool"),
        (lambda: ArgumentRules({"t": {"a..b": exact()}}), "cannot be read"),
        (lambda: ArgumentRules({"t": {"": exact()}}), "cannot be read"),
        (lambda: ArgumentRules({"t": {"a[0]": exact()}}), "write \\[\\]"),
        (lambda: ArgumentRules({"t": {"a": list_of(number()), "a[]": exact()}}), "two rules"),
        (lambda: ArgumentRules({}, default=set_of()), "a rule for leaves"),
        (lambda: ArgumentRules({}, uncounted=("none",)), "uncounted"),
        (lambda: ArgumentRules({}, uncounted="low"), "uncounted"),
        (lambda: published_field("fuzzy"), "published field kind 'fuzzy'"),
        (lambda: published_field("exact", absolute=1), "has no tolerance"),
        (lambda: published_rules({"t": {"a": exact()}}), "published rules hold"),
        (lambda: compare_call("[1]", "{}"), "arguments are an object"),
        (lambda: compare_call("{'a':1}", "{}"), "are not JSON"),
        (lambda: compare_call({1: 2}, {}), "key must be text"),
        (lambda: compare_call({"a": {1, 2}}, {"a": [1]}), "a set cannot be an argument"),
        (lambda: match_calls(["pay"], []), "give \\(tool, arguments\\)"),
        (lambda: match_calls([], [], arguments="some"), "arguments is 'some'"),
    ],
)
def test_bad_input_is_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("amount", ["amount"]),
        ("address.city", ["address", "city"]),
        ("a.[]", None),
        ("a[].b[].c", ["a", "[]", "b", "[]", "c"]),
        ('["a.b"].c', ["a.b", "c"]),
        ('a["x\\"y"][3]', ["a", 'x"y', 3]),
        ("a.", None),
        (".a", None),
        ("a]b", None),
    ],
)
def test_field_paths(path, parts):
    if parts is None:
        with pytest.raises(ParameterError, match="cannot be read"):
            parse_path(path)
    else:
        assert [part if isinstance(part, str | int) else repr(part) for part in parse_path(path)] == parts


@pytest.mark.parametrize("key", ["a", "a b", "a.b", "a[0]", 'say "x"', "ä"])
def test_a_joined_key_reads_back(key):
    assert parse_path(join_key("top", key)) == ("top", key)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("trim", " a b ", "a b"),
        ("collapse_space", " a \n b ", "a b"),
        ("lowercase", "ÄB", "äb"),
        ("casefold", "Straße", "strasse"),
        ("nfc", "e\u0301", "\u00e9"),
        ("nfkc", "\ufb01", "fi"),
        ("numeric_text", "1e3", D("1E+3")),
        ("numeric_text", " -07 ", -7),
        ("numeric_text", "1_000", "1_000"),
        ("numeric_text", "NaN", "NaN"),
        ("numeric_text", "\u0661", "\u0661"),
        ("thousands_comma", "EUR 1,234,567.89", "EUR 1234567.89"),
        ("thousands_comma", "12,34", "12,34"),
        ("number_text", 7002, "7002"),
        ("number_text", True, True),
        ("published", {"B": [" X ", 1]}, {"B": ["x", 1.0]}),
    ],
)
def test_normalisers(name, before, after):
    found = apply_normalisers(before, (name,))
    assert found == after
    assert type(found) is type(after)
    assert name in NORMALISERS


def test_no_normaliser_touches_what_it_is_not_for():
    for name in set(NORMALISERS) - {"number_text", "published"}:
        for value in (None, True, 5, D("1.5"), [" A "], {"a": " A "}):
            assert apply_normalisers(value, (name,)) == value


def test_published_fallback_goes_by_the_type_of_the_reference():
    rules = published_rules({"log": {"detail": ("ignore", "low"), "reason": ("text", "low")}})
    cases = {
        "set": (["B", "a", "A"], ["a", "b"], "equal"),
        "number": ("10", 10, "equal"),
        "boolean": (1, True, "different"),
        "text": ("V-100", "v-100", "equal"),
        "absent": (MISSING, None, "missing"),
    }
    for name, (candidate, reference, verdict) in cases.items():
        one = {} if candidate is MISSING else {name: candidate}
        found = compare_call(one, {name: reference}, tool="log", rules=rules)
        assert [each.verdict for each in found.fields] == [verdict], name
    lists = compare_call({"x": [1]}, {"x": [2]}, tool="log", rules=rules)
    assert lists.differences[0].severity == "medium"
    low = compare_call({"detail": "a", "reason": "b"}, {"detail": "c", "reason": "d"}, tool="log", rules=rules)
    assert low.verdict == "equal"
    assert [each.verdict for each in low.fields] == ["ignored", "different"]
