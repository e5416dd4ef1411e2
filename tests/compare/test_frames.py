"""Whole steps frames: typed access, comparison row by row, one record against all calls of a tool."""

from __future__ import annotations

from datetime import date as Date
from decimal import Decimal as D

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ArgumentsError, ParameterError
from plumbline.compare import (
    ArgumentRules,
    compare_arguments,
    compare_call,
    date,
    enumeration,
    equal_columns,
    exact,
    expand,
    get,
    identifier,
    ignore,
    judge_calls,
    money,
    number,
    published_rules,
    set_of,
    state,
    text,
)


def steps(*rows, **more) -> pd.DataFrame:
    """A steps frame of (name, arguments); a text stands as it is, a mapping in canonical form."""
    texts = [canonical_json(arguments) if isinstance(arguments, dict) else arguments for _, arguments in rows]
    frame = {"trial_id": "t", "step": range(len(rows)), "name": [name for name, _ in rows], "arguments": texts}
    return pd.DataFrame({**frame, **more})


MIXED = steps(
    ("pay", {"amount": D("4500.00"), "on": "2026-07-03", "at": "2026-07-03T12:00+02:00", "n": 2**53 + 1, "ok": True}),
    ("pay", {"amount": None, "lines": [{"sku": "A"}, {"sku": "B"}, {}]}),
    ("pay", {}),
    ("pay", None),
    ("pay", None),
    unread=[None, None, None, "{'amount'", None],
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "dtype", "first", "stored"),
    [
        ("amount", None, D("4500.00"), "object"),
        ("amount", "decimal", D("4500.00"), "object"),
        ("amount", "Float64", 4500.0, "Float64"),
        ("amount", "json", "4500.00", "string"),
        ("n", "Int64", 2**53 + 1, "Int64"),
        ("n", "decimal", D(2**53 + 1), "object"),
        ("ok", "boolean", True, "boolean"),
        ("on", "string", "2026-07-03", "string"),
        ("on", "date", Date(2026, 7, 3), "object"),
        ("at", "instant", pd.Timestamp("2026-07-03T10:00:00Z"), "datetime64[us, UTC]"),
    ],
)
def test_get(path, dtype, first, stored):
    found = get(MIXED, path, dtype=dtype)
    assert found.iloc[0] == first
    assert str(found.dtype) == stored
    assert found.index.equals(MIXED.index)
    assert found.iloc[2:].isna().all()


def test_get_tells_null_from_absent_and_reads_items():
    assert get(MIXED, "amount").iloc[1] is None
    assert get(MIXED, "amount").iloc[2] is pd.NA
    assert get(MIXED, "lines[].sku").iloc[1][:2] == ["A", "B"]
    assert get(MIXED, "lines[1].sku").iloc[1] == "B"
    assert state(MIXED, "amount").tolist() == ["value", "null", "missing", "unreadable", "not_recorded"]
    assert state(MIXED.drop(columns="unread"), "amount").tolist()[3:] == ["not_recorded", "not_recorded"]


@pytest.mark.parametrize(
    ("path", "dtype", "said"),
    [
        ("on", "Float64", 'row 0, trial_id t, step 0: on is "2026-07-03", which is no Float64'),
        ("ok", "Int64", "found boolean"),
        ("amount", "Int64", "found real"),
        ("amount", "boolean", "found real"),
        ("n", "string", "found integer"),
        ("amount", "date", "not a date"),
        ("on", "instant", "not a time in ISO 8601 with an offset"),
        ("amount", "float", "dtype is 'float'"),
        ("a..b", None, "cannot be read"),
    ],
)
def test_get_refuses_what_does_not_fit(path, dtype, said):
    with pytest.raises(ParameterError, match=said):
        get(MIXED, path, dtype=dtype)


def test_integers_beyond_64_bits_are_refused_and_kept_exact():
    frame = steps(("t", {"n": 2**70}))
    with pytest.raises(ParameterError, match="does not fit 64 bits"):
        get(frame, "n", dtype="Int64")
    assert get(frame, "n").iloc[0] == 2**70


def test_expand_opens_objects_and_keeps_the_rest():
    frame = steps(("a", {"x": 1, "y": {"z": None, "e": {}}}), ("b", {"x": "three", "l": [1, {"k": None}]}), ("c", {}))
    wide = expand(frame)
    assert wide.columns.tolist() == ["l", "x", "y.e", "y.z"]
    assert [wide.loc[0, "x"], wide.loc[0, "y.z"], wide.loc[0, "y.e"]] == [1, None, {}]
    assert wide.loc[1, "l"] == [1, {"k": None}]
    assert all(value is pd.NA for value in wide.loc[2])
    assert expand(frame.iloc[:0]).shape == (0, 0)


@pytest.mark.parametrize("broken", ['{"a":1', "[1]", '{"a":NaN}', '{"a":1,"a":2}', "3"])
def test_arguments_that_are_no_object_are_named(broken):
    frame = steps(("t", {}), ("t", broken))
    for ask in (
        lambda: get(frame, "a"),
        lambda: expand(frame),
        lambda: compare_arguments(frame, steps(*[("t", {})] * 2)),
    ):
        with pytest.raises(ArgumentsError, match="steps row 1, column 'arguments'"):
            ask()


def test_frames_without_the_columns_are_refused():
    with pytest.raises(ParameterError, match="lacks the columns arguments"):
        get(pd.DataFrame({"name": ["a"]}), "x")
    with pytest.raises(ParameterError, match="give a steps frame"):
        expand([1])
    with pytest.raises(ParameterError, match="holds int64; it must hold text or null"):
        get(pd.DataFrame({"arguments": [1, 2]}), "x")


@pytest.mark.parametrize("dtype", ["str", "object", "string[pyarrow]", "category"])
def test_any_text_column_is_read(dtype):
    frame = pd.DataFrame({"arguments": pd.Series(['{"a":1}', None, '{"a":1}'], dtype=dtype)})
    assert get(frame, "a", dtype="Int64").tolist() == [1, pd.NA, 1]


RULES = ArgumentRules({"pay": {"amount": money(severity="critical"), "fee": number(absolute=1)}})


def test_compare_arguments_row_by_row():
    new = steps(
        ("pay", {"amount": D("48200.00")}), ("pay", {"amount": 5, "fee": 2, "memo": None}), ("log", {"a": 1}),
        ("pay", None), ("pay", None), ("pay", {"amount": 5, "fee": D("1.5")}),
        unread=[None, None, None, "{'amount'", None, None],
    )  # fmt: skip
    old = steps(
        ("pay", {"amount": D("4820.00")}), ("pay", {"amount": 5, "fee": 9}), ("log", {"a": D("1.0")}),
        ("pay", {"amount": 5}), ("pay", {"amount": 5}), ("pay", {"amount": D("5.00"), "fee": 1}),
    )  # fmt: skip
    found = compare_arguments(new, old, RULES)
    assert found.verdicts.tolist() == ["different", "different", "different", "unreadable", "not_recorded", "equal"]
    assert found.counts == {"equal": 1, "different": 3, "unreadable": 1, "not_recorded": 1}
    rows = found.differences[["row", "tool", "field", "verdict", "severity", "times"]].values.tolist()
    assert rows == [
        [0, "pay", "amount", "different", "critical", "x10"],
        [1, "pay", "fee", "different", "high", "x0.222222"],
        [1, "pay", "memo", "extra", "high", ""],
        [2, "log", "a", "different", "high", "x1"],
        [3, "pay", "", "unreadable", "high", ""],
        [4, "pay", "", "not_recorded", "high", ""],
    ]
    assert found.differences.loc[0, ["value_candidate", "value_reference"]].tolist() == ["48200.00", "4820.00"]
    assert found.differences["value_candidate"].isna().tolist() == [False] * 4 + [True] * 2
    assert "{'amount'" in found.differences.loc[4, "reason"]
    assert "1 equal, 3 different, 1 unreadable, 1 not_recorded" in str(found)
    assert "<pre" in found._repr_html_()


def test_compare_arguments_equals_comparing_each_call():
    r = np.random.default_rng(3)
    values = [{}, {"amount": 1}, {"amount": D("1.0")}, {"amount": 2, "fee": 1}, {"amount": None}, {"fee": 3}]
    one, other = r.integers(0, len(values), (2, 200))
    names = np.array(["pay", "log"])[r.integers(0, 2, 200)]
    new = steps(*((name, values[i]) for name, i in zip(names, one, strict=True)))
    old = steps(*((name, values[i]) for name, i in zip(names, other, strict=True)))
    found = compare_arguments(new, old, RULES)
    each = [
        compare_call(values[i], values[j], tool=name, rules=RULES)
        for name, i, j in zip(names.tolist(), one, other, strict=True)
    ]
    assert found.verdicts.tolist() == [call.verdict for call in each]
    assert found.differences["field"].tolist() == [f.field for call in each for f in call.fields if not f.agrees]
    turned = compare_arguments(old, new, RULES)
    assert turned.verdicts.tolist() == found.verdicts.tolist()
    assert (compare_arguments(new, new, RULES).verdicts == "equal").all()


def test_unreadable_on_either_side_is_unreadable():
    here, gone = steps(("pay", {"a": 1})), steps(("pay", None), unread=["{'a'"])
    for new, old in ((here, gone), (gone, here), (gone, gone)):
        assert compare_arguments(new, old).verdicts.tolist() == ["unreadable"]
    assert compare_arguments(here, gone.drop(columns="unread")).verdicts.tolist() == ["not_recorded"]


def test_a_declared_default_holds_for_a_whole_column():
    rules = ArgumentRules({"list": {"page": exact(default=1)}})
    frame = steps(("list", {"s": "Q", "page": 1}), ("list", {"s": "Q", "page": 2}), ("list", {"s": "Q"}))
    assert judge_calls(frame, "list", {"s": "Q"}, rules=rules).tolist() == ["equal", "different", "equal"]
    assert judge_calls(frame, "list", {"s": "Q", "page": 1}, rules=rules).tolist() == ["equal", "different", "equal"]


def test_rows_must_pair():
    with pytest.raises(ParameterError, match="1 rows and the reference 2"):
        compare_arguments(steps(("a", {})), steps(("a", {}), ("a", {})))
    with pytest.raises(ParameterError, match="row 1 pairs a call of 'a' with a call of 'b'"):
        compare_arguments(steps(("a", {}), ("a", {})), steps(("a", {}), ("b", {})))
    empty = compare_arguments(steps(), steps())
    assert (len(empty.verdicts), len(empty.differences), empty.counts["equal"]) == (0, 0, 0)


def test_judge_calls_reads_one_tool_only():
    frame = steps(("log", "no json"), ("pay", {"amount": 5}), ("pay", {"amount": 6}), ("pay", None), ("pay", None),
                  unread=[None, None, None, "x", None])  # fmt: skip
    found = judge_calls(frame, "pay", {"amount": D("5.00")}, rules=RULES)
    assert found.index.tolist() == [1, 2, 3, 4]
    assert found.tolist() == ["equal", "different", "unreadable", "not_recorded"]
    assert judge_calls(frame, "pay", '{"amount":5}', extra="ignored").iloc[0] == "equal"
    assert judge_calls(frame, "nothing", {}).empty
    with pytest.raises(ParameterError, match="give the name of one tool"):
        judge_calls(frame, None, {})


COLUMNS = pd.DataFrame(
    {
        "amount": [10.0, 10.5, np.nan],
        "n": [1, 2, 1],
        "currency": pd.Categorical(["EUR", "USD", "EUR"]),
        "name": pd.Series(["a", "a", None], dtype="str"),
        "ok": [True, True, False],
        "maybe": pd.array([1, None, 1], dtype="Int64"),
    }
)


@pytest.mark.parametrize(
    ("expected", "hits"),
    [
        ({"amount": D("10.0")}, [True, False, False]),
        ({"n": 1}, [True, False, True]),
        ({"currency": "EUR"}, [True, False, True]),
        ({"currency": "GBP"}, [False, False, False]),
        ({"name": "a"}, [True, True, False]),
        ({"ok": True}, [True, True, False]),
        ({"maybe": 1}, [True, False, True]),
        ({"amount": D("10.0"), "n": 1, "currency": "EUR", "name": "a", "ok": True, "maybe": 1}, [True, False, False]),
    ],
)
def test_equal_columns(expected, hits):
    assert equal_columns(COLUMNS[list(expected)], expected).tolist() == hits


def test_equal_columns_applies_tolerances_and_json_types():
    loose = ArgumentRules({"pay": {"amount": number(absolute=D("0.5")), "n": number()}})
    assert equal_columns(COLUMNS[["amount"]], {"amount": 10}, rules=loose, tool="pay").tolist() == [True, True, False]
    assert equal_columns(COLUMNS[["n"]], {"n": D("1.0")}, rules=loose, tool="pay").tolist() == [True, False, True]
    assert equal_columns(COLUMNS[["n"]], {"n": D("1.5")}, rules=loose, tool="pay").tolist() == [False] * 3


@pytest.mark.parametrize(
    ("columns", "expected", "rules", "said"),
    [
        (["n"], {"amount": 1}, None, "name the same fields"),
        ([], {}, None, "no column was given"),
        (["n"], {"n": D("1.0")}, None, "two JSON types"),
        (["n"], {"n": "1"}, None, "two JSON types"),
        (["n"], {"n": True}, None, "two JSON types"),
        (["ok"], {"ok": 1}, None, "two JSON types"),
        (["amount"], {"amount": D("10.0")}, RULES, "has the rule 'money'"),
    ],
)
def test_equal_columns_refuses_what_it_cannot_say(columns, expected, rules, said):
    with pytest.raises(ParameterError, match=said):
        equal_columns(COLUMNS[columns], expected, rules=rules, tool="pay")


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":[{}', "{}]}", "{},{}"],
        ['{"a":1', '"b":2}', "{}, {}"],
        ['{"a":1},{"b":2}', "{}"],
        ["{}", '{"a":"x","b":}'],
        ["[{}]", "{}"],
        ['{"a":[{}', "{}]},{},{}"],
    ],
)
def test_texts_that_are_json_only_together_are_refused(texts):
    with pytest.raises(ArgumentsError, match="arguments cannot be read"):
        expand(pd.DataFrame({"arguments": texts}))


values = st.sampled_from(
    [1, D("1.0"), D("1.5"), "1", "a", "A", True, None, [1], [D("1.0")], {"k": 1}, {}, "2026-07-03"]
)
records = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
field_rules = st.sampled_from(
    [
        exact(), exact(default=1), exact(presence="optional"), exact(presence="required"), identifier(), ignore(),
        identifier(normalise=("casefold",)), number(), number(absolute=1), text(severity="low"), money(), date(),
        set_of(), enumeration([1, "a"]),
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(
    st.lists(records, min_size=1, max_size=6),
    records,
    st.dictionaries(st.sampled_from(["a", "b", "b.k", "c[]"]), field_rules, max_size=3),
    st.sampled_from([exact(), number(), text(), published_rules().default]),
    st.sampled_from(["different", "ignored"]),
    st.sampled_from([(), ("low",), ("high", "low")]),
)
def test_judging_a_column_says_what_comparing_each_call_says(rows, expected, fields, default, extra, uncounted):
    rules = ArgumentRules({"t": fields}, default=default, uncounted=uncounted)
    found = judge_calls(steps(*(("t", row) for row in rows)), "t", expected, rules=rules, extra=extra)
    assert found.tolist() == [compare_call(row, expected, tool="t", rules=rules, extra=extra).verdict for row in rows]


@pytest.mark.parametrize("expected", ["[1]", "{", {"a": float("nan")}, {"a": {1}}, "3"])
def test_an_expected_record_must_be_an_object(expected):
    with pytest.raises(ParameterError, match="the expected arguments"):
        judge_calls(steps(("t", {})), "t", expected)
