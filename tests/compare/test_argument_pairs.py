"""Adversarial pairs of values with the verdict each must get, and what must hold for every pair."""

from __future__ import annotations

from decimal import Decimal as D

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.compare import (
    MISSING,
    ArgumentRules,
    compare_call,
    compare_values,
    date,
    enumeration,
    exact,
    identifier,
    ignore,
    instant,
    list_of,
    money,
    multiset_of,
    number,
    published_field,
    published_rules,
    set_of,
    text,
)

NAN = float("nan")
VIENNA = instant(zone="Europe/Vienna")
LINE = {"sku": identifier(), "price": number(absolute=D("0.01"))}

# name, rule, candidate, reference, verdict of the whole, ratio (None: undefined or not asked)
PAIRS = [
    # exact: the same recorded value, JSON types included
    ("int against real", exact(), 1, D("1.0"), "different", 1.0),
    ("int against text", exact(), 1, "1", "different", None),
    ("true against one", exact(), True, 1, "different", None),
    ("false against zero", exact(), False, 0, "different", None),
    ("false against null", exact(), False, None, "different", None),
    ("empty text against null", exact(), "", None, "different", None),
    ("null against null", exact(), None, None, "equal", None),
    ("real spelled longer", exact(), D("1.00"), D("1.0"), "equal", 1.0),
    ("float and its decimal", exact(), 0.1, D("0.1"), "equal", 1.0),
    ("zero and minus zero", exact(), 0.0, -0.0, "equal", None),
    ("rounding noise", exact(), 0.30000000000000004, 0.3, "different", None),
    ("above 2**53", exact(), 2**53, 2**53 + 1, "different", 1.0),
    ("not a number twice", exact(), NAN, NAN, "equal", None),
    ("not a number against zero", exact(), NAN, 0.0, "different", None),
    ("list in another order", exact(), [1, 2], [2, 1], "different", None),
    ("list twice the item", exact(), [1], [1, 1], "different", None),
    ("object key order", exact(), {"a": 1, "b": 2}, {"b": 2, "a": 1}, "equal", None),
    ("object null against absent", exact(), {"a": None}, {}, "different", None),
    ("empty list against empty object", exact(), [], {}, "different", None),
    ("empty list against null", exact(), [], None, "different", None),
    ("accents in two forms", exact(), "caf\u00e9", "cafe\u0301", "different", None),
    ("accents, form declared", exact(normalise=("nfc",)), "caf\u00e9", "cafe\u0301", "equal", None),
    # identifiers
    ("case of an identifier", identifier(), "v-100", "V-100", "different", None),
    ("case, folding declared", identifier(normalise=("casefold",)), "v-100", "V-100", "equal", None),
    ("leading zeros", identifier(), "007", "7", "different", None),
    ("trailing blank", identifier(), "V-100 ", "V-100", "different", None),
    ("trailing blank, trim declared", identifier(normalise=("trim",)), "V-100 ", "V-100", "equal", None),
    ("number as identifier", identifier(), 7002, "7002", "different", None),
    ("number as identifier, declared", identifier(normalise=("number_text",)), 7002, "7002", "equal", None),
    ("true as identifier, declared", identifier(normalise=("number_text",)), True, "True", "different", None),
    ("letter O and zero", identifier(), "P0-1", "PO-1", "different", None),
    ("look-alike script", identifier(), "\u0410-1", "A-1", "different", None),
    # numbers
    ("number by value", number(), 1, D("1.0"), "equal", 1.0),
    ("number against its text", number(), 1, "1", "different", None),
    ("number against its text, declared", number(normalise=("numeric_text",)), 1, "1.0", "equal", 1.0),
    ("text that is no number, declared", number(normalise=("numeric_text",)), 1, "one", "unreadable", None),
    ("number against true", number(), 1, True, "different", None),
    ("ten times", number(), D("48200.00"), D("4820.00"), "different", 10.0),
    ("sign", number(), -5, 5, "different", -1.0),
    ("against zero", number(), 5, 0, "different", None),
    ("a cent apart, a cent allowed", number(absolute=D("0.01")), D("0.30"), D("0.31"), "equal", None),
    ("a cent and a bit apart", number(absolute=D("0.01")), D("0.30"), D("0.3101"), "different", None),
    ("float noise at the edge of the tolerance", number(absolute=0.1), 0.3, 0.2, "equal", 1.5),
    ("relative, small integers", number(relative=D("0.05")), 103, 100, "equal", 1.03),
    ("relative, integers above 2**53", number(relative=D("1e-9")), 10**17 + 1, 10**17, "different", None),
    ("absolute, integers above 2**53", number(absolute=1), 10**17 + 1, 10**17, "equal", None),
    ("thirty digits", number(), 10**30 + 1, 10**30, "different", 1.0),
    ("not a number under a tolerance", number(absolute=10**9), NAN, 1, "different", None),
    ("infinity under a tolerance", number(relative=1), float("inf"), 1, "different", None),
    ("infinity twice", number(), float("inf"), float("inf"), "equal", None),
    ("numbers in a list", number(), [12, 15], [D("12.0"), D("15.0")], "equal", None),
    ("number against list", number(), 1, [1], "different", None),
    ("number against null", number(absolute=100), 1, None, "different", None),
    # money
    ("money spelled shorter", money(), D("4500.0"), D("4500.00"), "equal", 1.0),
    ("money ten times", money(), D("48200.00"), D("4820.00"), "different", 10.0),
    ("money and currency text", money(currency="EUR"), "EUR 4500.00", 4500, "equal", 1.0),
    ("money, currency behind", money(), "4500.00 EUR", "EUR 4500.00", "equal", 1.0),
    ("money, other currency", money(), "USD 4500", "EUR 4500", "different", None),
    ("money, currency on one side", money(), "EUR 4500", 4500, "unreadable", None),
    ("money, currency on one side and another amount", money(), "EUR 4500", 450, "different", 10.0),
    ("money as object", money(currency="EUR"), {"amount": D("12.5"), "currency": "EUR"}, "12.50", "equal", 1.0),
    ("money with separators", money(), "4,500.00", D("4500.00"), "unreadable", None),
    ("money with separators, declared", money(normalise=("thousands_comma",)), "4,500.00", 4500, "equal", 1.0),
    ("money with a comma for the point", money(normalise=("thousands_comma",)), "4500,00", 4500, "unreadable", None),
    ("money a cent apart", money(), D("0.10"), D("0.11"), "different", None),
    ("money that floats would equate", money(), D("0.1000000000000000055"), D("0.1"), "different", 1.0),
    ("true is no money", money(), True, 1, "different", None),
    # dates and instants
    ("date in basic form", date(), "20260703", "2026-07-03", "equal", None),
    ("day and month exchanged", date(), "2026-03-07", "2026-07-03", "different", None),
    ("date in local form", date(), "03.07.2026", "2026-07-03", "unreadable", None),
    ("date that does not exist", date(), "2026-02-30", "2026-03-02", "unreadable", None),
    ("unread dates, the same text", date(), "tomorrow", "tomorrow", "equal", None),
    ("date against number", date(), 20260703, "2026-07-03", "different", None),
    ("a day late, two allowed", date(days=2), "2026-07-04", "2026-07-03", "equal", None),
    ("date of an instant without zone", date(), "2026-07-03T23:30:00Z", "2026-07-03", "unreadable", None),
    ("date of an instant, zone given", date(zone="Europe/Vienna"), "2026-07-03T23:30:00Z", "2026-07-04", "equal", None),
    ("offset", instant(), "2026-07-03T12:00:00+02:00", "2026-07-03T10:00:00Z", "equal", None),
    ("the same wall clock elsewhere", instant(), "2026-07-03T12:00:00+02:00", "2026-07-03T12:00Z", "different", None),
    ("offset on one side", instant(), "2026-07-03T12:00:00", "2026-07-03T12:00:00Z", "unreadable", None),
    ("offset on one side, zone given", VIENNA, "2026-07-03T12:00:00", "2026-07-03T10:00:00Z", "equal", None),
    ("no offset on either side", instant(), "2026-07-03T12:00", "2026-07-03T12:00:00", "equal", None),
    ("hour that happens twice", VIENNA, "2026-10-25T02:30:00", "2026-10-25T00:30:00Z", "unreadable", None),
    ("hour that never happens", VIENNA, "2026-03-29T02:30:00", "2026-03-29T01:30:00Z", "unreadable", None),
    ("a date is no instant", instant(), "2026-07-03", "2026-07-03T00:00:00Z", "unreadable", None),
    ("half a second, one allowed", instant(seconds=1), "2026-07-03T12:00:00.5Z", "2026-07-03T12:00:00Z", "equal", None),
    # enumerations and texts
    ("case of an enumeration", enumeration(["high", "low"]), "High", "high", "different", None),
    ("undeclared twice", enumeration(["high", "low"]), "urgent", "urgent", "equal", None),
    ("enumeration of numbers", enumeration([1, 2]), D("1.0"), 1, "different", 1.0),
    ("white space in text", text(), "paid  in\nfull", "paid in full", "equal", None),
    ("white space in text, counted", text(normalise=()), "paid  in full", "paid in full", "different", None),
    ("case in text", text(), "Paid in full", "paid in full", "different", None),
    ("text against number", text(), "12", 12, "different", None),
    # collections
    ("set, order and repetition", set_of(), ["a", "b", "a"], ["b", "a"], "equal", None),
    ("set, one short", set_of(), ["a"], ["a", "b"], "different", None),
    ("set keeps types", set_of(), [1, 2], [1, D("2.0")], "different", None),
    ("set of numbers", set_of(number()), [2, 1, D("1.0")], [D("1.0"), D("2.0")], "equal", None),
    ("multiset, order", multiset_of(), ["a", "b", "a"], ["b", "a", "a"], "equal", None),
    ("multiset, repetition", multiset_of(), ["a", "b", "a"], ["b", "a", "b"], "different", None),
    ("list, order", list_of(), ["a", "b"], ["b", "a"], "different", None),
    ("list, one more", list_of(), ["a", "b"], ["a"], "different", None),
    ("empty sets", set_of(), [], [], "equal", None),
    ("empty set against null", set_of(), [], None, "different", None),
    ("set against text", set_of(), ["a"], "a", "different", None),
    # 100 agrees with 100 and 99, 101 only with 100: giving 100 the first that fits would leave 101 without a partner
    ("multiset under tolerance", multiset_of(number(absolute=1)), [100, 101], [100, 99], "equal", None),
    ("objects in a multiset", multiset_of(LINE), [{"sku": "B", "price": 2}, {"sku": "A", "price": 1}],
     [{"sku": "A", "price": D("1.01")}, {"sku": "B", "price": D("2.00")}], "equal", None),
    ("objects in a multiset, one field", multiset_of(LINE), [{"sku": "B", "price": 2}, {"sku": "A", "price": 1}],
     [{"sku": "A", "price": 1}, {"sku": "B", "price": 20}], "different", None),
    ("objects in a list, order", list_of(LINE), [{"sku": "B", "price": 2}, {"sku": "A", "price": 1}],
     [{"sku": "A", "price": 1}, {"sku": "B", "price": 2}], "different", None),
    # absence
    ("absent and null", exact(), MISSING, None, "missing", None),
    ("null and absent", exact(), None, MISSING, "extra", None),
    ("absent, default declared", exact(default=1), MISSING, 1, "equal", 1.0),
    ("absent, another than the default", exact(default=1), MISSING, 2, "different", 0.5),
    ("absent, default null", exact(default=None), MISSING, None, "equal", None),
    ("absent, optional", exact(presence="optional"), MISSING, 1, "ignored", None),
    ("absent, required", exact(presence="required"), 1, MISSING, "extra", None),
    ("absent on both sides, required", exact(presence="required"), MISSING, MISSING, "equal", None),
    ("ignored", ignore(), 1, "x", "ignored", None),
    ("ignored and absent", ignore(), MISSING, "x", "ignored", None),
    # as the founding studies compared, by name only
    ("published, case", published_field(), "v-100", " V-100 ", "equal", None),
    ("published, large integers", published_field(), 2**53, 2**53 + 1, "equal", None),
    ("published, number and text", published_field(), 1, "1", "different", None),
    ("published numeric, text", published_field("numeric"), "4500", D("4500.00"), "equal", 1.0),
    ("published numeric, ten times", published_field("numeric"), D("48200.0"), 4820, "different", 10.0),
    ("published numeric, no number", published_field("numeric"), "N/A", "n/a", "equal", None),
    ("published set", published_field("set"), ["B", "a", "a"], ["A", "b"], "equal", None),
]  # fmt: skip


def overall(found) -> str:
    """The verdict of a single field, or of several inside it together."""
    if len(found) == 1 and found[0].field in ("", "x"):
        return found[0].verdict
    words = {each.verdict for each in found}
    if words == {"unreadable"}:
        return "unreadable"
    return "different" if words & {"different", "missing", "extra"} else "equal"


def test_the_table_is_large_enough():
    assert len({row[0] for row in PAIRS}) == len(PAIRS) >= 60


@pytest.mark.parametrize(
    ("rule", "candidate", "reference", "verdict", "ratio"), [r[1:] for r in PAIRS], ids=[r[0] for r in PAIRS]
)
def test_known_verdict(rule, candidate, reference, verdict, ratio):
    found = compare_values(candidate, reference, rule, field="x")
    assert overall(found) == verdict
    assert all(each.reason for each in found)
    if ratio is not None:
        assert found[0].ratio == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("rule", "candidate", "reference", "verdict"), [r[1:5] for r in PAIRS], ids=[r[0] for r in PAIRS]
)
def test_the_other_way_round_says_the_same(rule, candidate, reference, verdict):
    turned = {"missing": "extra", "extra": "missing"}.get(verdict, verdict)
    assert overall(compare_values(reference, candidate, rule)) == turned


def test_every_value_agrees_with_itself():
    for name, rule, candidate, reference, *_ in PAIRS:
        for value in (candidate, reference):
            found = compare_values(value, value, rule)
            assert not any(each.counted for each in found), name
            assert found or value is MISSING, name


def test_ratio_and_distance_are_said():
    (found,) = compare_values(D("48200.00"), D("4820.00"), money(severity="critical"), field="amount")
    assert (found.distance, found.ratio, found.severity, found.counted) == (43380.0, 10.0, "critical", True)
    assert str(found) == "amount: different, reference 4820.00, candidate 48200.00 (x10); 43380.00 apart"


@pytest.mark.parametrize(
    ("rule", "candidate", "reference", "distance"),
    [
        (date(), "2026-07-10", "2026-07-03", 7.0),
        (instant(), "2026-07-03T10:01:00Z", "2026-07-03T10:00:00Z", 60.0),
        (text(), "kitten", "sitting", 3.0),
        (text(), "x" * 3000, "y", None),
        (number(), 5, 2, 3.0),
        (exact(), True, "x", None),
    ],
)
def test_distance_is_in_the_unit_of_the_rule(rule, candidate, reference, distance):
    (found,) = compare_values(candidate, reference, rule)
    assert found.distance == distance


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([D("1.0"), D("0.5"), D("1.00"), 2**60, 2**60 + 1])
    | st.sampled_from(["", "a", "A", "1", "2026-07-03"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
RULES = [
    exact(),
    identifier(),
    number(absolute=D("0.5")),
    money(),
    date(),
    text(),
    set_of(),
    multiset_of(number(absolute=1)),
    list_of(),
]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(RULES), json_values, json_values)
def test_agreement_is_symmetric(rule, one, other):
    def agrees(found):
        return not any(each.counted for each in found)

    assert agrees(compare_values(one, other, rule)) == agrees(compare_values(other, one, rule))


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abcd"), json_values, max_size=4), st.sampled_from(RULES))
def test_a_call_equals_itself_under_any_rules(arguments, rule):
    rules = ArgumentRules({"t": {"a": rule, "b[]": exact()}})
    for declared in (None, rules, published_rules()):
        assert compare_call(arguments, arguments, tool="t", rules=declared).verdict == "equal"


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(st.sampled_from("abcd"), json_values, max_size=4),
    st.dictionaries(st.sampled_from("abcd"), json_values, max_size=4),
)
def test_renaming_the_tool_changes_nothing(one, other):
    fields = {"a": number(absolute=1), "b": set_of()}
    found = [
        compare_call(one, other, tool=tool, rules=ArgumentRules({tool: fields})).fields for tool in ("pay", "zahlen")
    ]
    assert found[0] == found[1]
