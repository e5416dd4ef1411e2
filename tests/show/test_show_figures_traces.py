"""The figures of traces, verdicts and pairs: every trial, call and pair stands in exactly one count."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline import show
from plumbline.analysis import consistency, equivalence, graded, paired_outcomes
from plumbline.base.errors import ArgumentsError, ParameterError
from plumbline.compare import ArgumentRules, align, ignore
from plumbline.rules import MustCall, MustNotCall, Ordering, Policy, check
from plumbline.show.plots import DIVERGENCES, VERDICT_MARKS
from plumbline.show.render import chart_svg
from plumbline.traces import Recording
from tests.strategies import contexts, to_recording, trials

POLICY = Policy("p", [MustCall("check"), MustNotCall("pay", severity="high"), Ordering("approve", "pay")])
FUZZ = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def parity(root):
    return plumb.read_run(root / "data" / "procure_to_pay" / "parity")


@pytest.fixture(scope="module")
def domain():
    return plumb.load_domain("procure_to_pay")


def drawn(**more):
    return st.builds(to_recording, trials(**more), contexts())


def texts(svg: str) -> set[str]:
    return set(re.findall(r"<(?:text|tspan)[^>]*>([^<]+)</", svg))


# -- where trials diverge ----------------------------------------------------------------------------------------------


def first_divergence_by_hand(result) -> dict[str, int]:
    """Count trials by the kind of their first divergence, straight from the rows."""
    order = list(DIVERGENCES)
    counts = dict.fromkeys(DIVERGENCES.values(), 0)
    for _, part in result.rows.groupby("trial_id"):

        def place(row):
            at = (
                float("inf") if row["kind"] == "outcome" else row["step_index"] + (0.5 if row["kind"] == "extra" else 0)
            )
            return at, order.index(row["kind"])

        first = min(part.to_dict("records"), key=place)
        counts[DIVERGENCES[first["kind"]]] += 1
    return counts


def test_divergences_are_counted_where_a_trial_differs_first(parity):
    result = equivalence(parity, incumbent="react", replacement="plan_execute", definition="plumbline")
    data = show.divergence_onset_data(result)
    assert int(data["trials"].sum()) == len(result.pairs) == int(data["planned"].iloc[0])
    assert data.groupby("state")["trials"].sum().loc[list(DIVERGENCES.values())].to_dict() == (
        first_divergence_by_hand(result)
    )
    placed = data.dropna(subset=["position"])
    assert placed["position"].is_monotonic_increasing
    skipped = data[(data["group"] == "step 4: check_vendor_status") & (data["state"] == "step left out")]
    assert int(skipped["trials"].iloc[0]) == 269
    chart = show.divergence_onset(data)
    assert {"step 4: check_vendor_status", "269", "step left out"} <= texts(chart_svg(chart))
    assert "step 4: check_vendor_status: step left out 269" in chart.description
    few = show.divergence_onset(data, most=1)
    assert "4 other places" in few.description


@FUZZ
@given(drawn(max_size=8))
def test_every_compared_trial_begins_to_differ_in_one_place_or_nowhere(run):
    try:
        result = consistency(run, arm=run.arms[0], definition="plumbline")
    except ArgumentsError:  # arguments that are no object; the comparison says so itself
        reject()
    compared = int(result.trials["reference"].notna().sum())
    if not compared:
        with pytest.raises(ParameterError, match="no trial was compared"):
            show.divergence_onset_data(result)
        return
    data = show.divergence_onset_data(result)
    assert int(data["trials"].sum()) == compared
    assert (data["trials"] >= 0).all()
    differ = data[data["state"].isin(DIVERGENCES.values())]
    assert int(differ["trials"].sum()) == result.rows["trial_id"].nunique()


def test_where_nothing_differs_there_is_nothing_to_draw():
    rows = pd.DataFrame({"arm": "a", "task_id": "t", "repetition": [0, 1]})
    steps = pd.DataFrame(
        {"trial_id": [f"a/t/baseline/0/{i}" for i in range(2)], "kind": "tool_call", "name": "pay", "arguments": "{}"}
    )
    data = show.divergence_onset_data(consistency(Recording(rows, steps, run_id="r"), arm="a"))
    assert int(data.loc[data["state"] == "no difference", "trials"].iloc[0]) == 2
    with pytest.raises(ParameterError, match="none of the 2 trials differs"):
        show.divergence_onset(data)
    with pytest.raises(ParameterError, match="at least one place"):
        show.divergence_onset(data, most=0)


def test_a_trial_of_which_nothing_but_arguments_cannot_be_compared_is_not_called_the_same():
    rows = pd.DataFrame({"arm": ["old", "new"], "task_id": "t"})
    steps = pd.DataFrame(
        {
            "trial_id": ["old/t/baseline/0/0", "new/t/baseline/0/0"], "kind": "tool_call", "name": "pay",
            "arguments": ['{"x":1}', None],
        }
    )  # fmt: skip
    result = equivalence(Recording(rows, steps, run_id="r"), incumbent="old", replacement="new", definition="plumbline")
    counts = show.divergence_onset_data(result).groupby("state")["trials"].sum()
    assert counts[["no difference", "cannot tell"]].tolist() == [0, 1]


# -- arguments ---------------------------------------------------------------------------------------------------------


def sides(left: list[str | None], right: list[str | None], tool: str = "pay") -> tuple[pd.DataFrame, pd.DataFrame]:
    def made(trial: str, values: list[str | None]) -> pd.DataFrame:
        return pd.DataFrame(
            {"trial_id": trial, "step": range(len(values)), "kind": "tool_call", "name": tool, "arguments": values}
        )

    return made("new", left), made("old", right)


def test_agreement_counts_each_field_of_each_matched_call():
    new, old = sides(
        ['{"a":1,"items":[1,2],"o":{"x":1}}', '{"a":1,"b":2}', None],
        ['{"a":2,"items":[1,3],"o":{"x":1,"y":2}}', '{"a":1}', '{"a":1}'],
    )
    data = show.argument_agreement_data(align(new, old)).set_index("field")
    counts = data[["k", "n", "cannot_compare"]].astype(int).apply(tuple, axis=1).to_dict()
    assert counts == {"a": (1, 2, 1), "b": (0, 1, 0), "items": (0, 1, 0), "o.x": (1, 1, 0), "o.y": (0, 1, 0)}
    assert data.loc["a", "differ_in"] == 1
    assert data["low"].isna().all(), "calls of one trial are not independent: no interval"
    chart = show.argument_agreement(data.reset_index(), axis_title="calls with the same argument, %")
    assert "n=2 calls, differs in 1 pairs, 1 cannot be compared" in texts(chart_svg(chart))


def test_an_object_that_only_one_side_has_agrees_in_nothing_inside_it():
    new, old = sides(['{"o":{"x":1}}'], ['{"o":7}'])
    data = show.argument_agreement_data(align(new, old)).set_index("field")
    assert data.loc["o.x", ["k", "n"]].tolist() == [0, 1]
    assert data.loc["o", ["k", "n"]].tolist() == [0, 1]


def test_ignored_fields_do_not_count_as_agreeing_and_nothing_matched_is_refused():
    new, old = sides(['{"a":1,"at":"x"}'], ['{"a":1,"at":"y"}'])
    rules = ArgumentRules({"pay": {"at": ignore()}})
    assert show.argument_agreement_data(align(new, old, rules=rules))["field"].tolist() == ["a"]
    with pytest.raises(ParameterError, match="no matched call has an argument"):
        show.argument_agreement_data(align(*sides(["{}"], ["{}"])))
    other = old.assign(name="hold")
    with pytest.raises(ParameterError, match="no call of the two sides is matched"):
        show.argument_agreement_data(align(new, other))


FIELDS = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", '"1"']), max_size=2)


@FUZZ
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=6))
def test_agreement_equals_a_count_by_hand(calls):
    def text(fields: dict[str, str]) -> str:
        return "{" + ",".join(f'"{name}":{value}' for name, value in sorted(fields.items())) + "}"

    new, old = sides([text(one) for one, _ in calls], [text(other) for _, other in calls])
    expected: dict[str, list[int]] = {}
    for one, other in calls:
        for name in {*one, *other}:
            counts = expected.setdefault(name, [0, 0])
            counts[0] += one.get(name) == other.get(name)
            counts[1] += 1
    if not expected:
        return
    data = show.argument_agreement_data(align(new, old))
    assert {row.field: [int(row.k), int(row.n)] for row in data.itertuples()} == expected


# -- verdicts ----------------------------------------------------------------------------------------------------------


@FUZZ
@given(drawn())
def test_the_matrix_merges_equal_trials_and_loses_none(run):
    verdicts = check(run, POLICY)
    data = show.verdict_matrix_data(verdicts, arms=run.arms)
    columns = data.drop_duplicates("column")
    assert int(columns["trials"].sum()) == len(run.trials)
    frame = verdicts.to_frame()
    by_hand = frame.groupby(["arm", "rule", "verdict"]).size()
    merged = data.groupby(["arm", "rule", "verdict"])["trials"].sum()
    pd.testing.assert_series_equal(merged.sort_index(), by_hand.sort_index(), check_names=False, check_dtype=False)
    for row in data.to_dict("records"):
        same = frame[(frame["trial_id"] == row["example"]) & (frame["rule"] == row["rule"])]
        assert same["verdict"].tolist() == [row["verdict"]]
    patterns = data.groupby(["arm", "column"])["verdict"].agg(tuple).reset_index()
    assert not patterns.duplicated(["arm", "verdict"]).any(), "two columns of an arm hold the same verdicts"


def test_the_matrix_marks_each_verdict_in_text_and_says_what_it_leaves_out(parity, domain):
    data = show.verdict_matrix_data(parity.check(domain.policy), arms=["react", "plan_execute"])
    assert list(dict.fromkeys(data["arm"])) == ["react", "plan_execute"]
    chart = show.verdict_matrix(data)
    said = texts(chart_svg(chart))
    assert {"✗", "✓", "–", "critical", "high", "must_call:check_duplicate", "220"} <= said
    assert "null" not in said
    assert "violated must_call:match_purchase_order (critical) in 16" in chart.description
    assert len(set(VERDICT_MARKS.values())) == len(VERDICT_MARKS), "two verdicts share a mark"
    few = show.verdict_matrix(data, most=2)
    assert re.search(r"[\d,]+ trials in 16 further groups are not drawn", few.description)
    with pytest.raises(ParameterError, match="at least one column"):
        show.verdict_matrix(data, most=0)
    with pytest.raises(ParameterError, match="order of arms"):
        show.verdict_matrix_data(parity.check(domain.policy), arms=["react"])


# -- pairs -------------------------------------------------------------------------------------------------------------


def test_pairs_are_those_of_the_test_task_by_task(parity, domain):
    ok = graded(parity, domain.grade)
    found = paired_outcomes(
        parity, "plan_execute", parity, "react", ok_first=ok, ok_second=ok, perturbation="tool_fault"
    )
    data = show.discordance_data(found)
    sums = data.groupby("state")["trials"].sum().to_dict()
    table = found.table
    assert sums == {
        "only_first": table.only_first, "only_second": table.only_second, "both": table.both,
        "neither": table.neither, "incomplete": table.incomplete,
    }  # fmt: skip
    assert (data.groupby("group")["trials"].sum() == data.groupby("group")["planned"].first()).all()
    chart = show.discordance(data)
    assert {"only react", "both right", "INV-7002"} <= texts(chart_svg(chart))
    assert f"only plan_execute right {table.only_first}" in chart.description
    with pytest.raises(ParameterError, match="two different names"):
        show.discordance(data, names=("a", "a"))


@FUZZ
@given(drawn(max_size=12), st.data())
def test_every_planned_pair_stands_in_one_state(run, draw):
    if len(run.arms) < 2:
        return
    values = st.sampled_from([True, False, pd.NA])
    ok = pd.Series(draw.draw(st.lists(values, min_size=len(run.trials), max_size=len(run.trials))), dtype="boolean")
    ok.index = run.trials["trial_id"]
    found = paired_outcomes(run, run.arms[0], run, run.arms[1], ok_first=ok, ok_second=ok)
    data = show.discordance_data(found)
    assert int(data["trials"].sum()) == len(found.pairs)
    assert len(data) == 5 * found.pairs["task_id"].nunique()
