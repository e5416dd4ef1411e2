"""The data side of the figures of a run: every trial counted once, nothing told as zero that cannot be told."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline import show
from plumbline.analysis import graded
from plumbline.base.errors import ParameterError
from plumbline.rules import MustCall, MustNotCall, Ordering, Policy, check
from plumbline.show.render import chart_svg
from plumbline.stats import clopper_pearson, miettinen_nurminen, wilson
from plumbline.traces import Plan, Recording
from tests.strategies import contexts, to_recording, trials

POLICY = Policy("p", [MustCall("check"), MustNotCall("pay", severity="high"), Ordering("approve", "pay")])
FUZZ = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def retry(root):
    return plumb.read_run(root / "data" / "procure_to_pay" / "retry")


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


def ok_of(run: Recording) -> pd.Series:
    return check(run, POLICY).conforms("low")


# -- conformance -------------------------------------------------------------------------------------------------------


def test_conformance_is_the_wilson_estimate_of_each_condition_with_faults_and_missing(retry, domain):
    verdicts = retry.check(domain.policy)
    data = show.conformance_data(retry, verdicts.conforms())
    assert list(dict.fromkeys(data["group"])) == list(retry.perturbations)
    row = data[(data["group"] == "decoy_tools") & (data["series"] == "react")].iloc[0]
    found = wilson(34, 34)
    assert (row["k"], row["n"], row["planned"], row["missing"]) == (34, 34, 64, 30)
    assert row["low"] == pytest.approx(100 * found.low)
    assert row["note"] == "30 of 64 planned trials missing"
    fault = data[(data["group"] == "tool_fault") & (data["series"] == "react")].iloc[0]
    assert (fault["faults_met"], fault["faults_planned"]) == (0, 64)
    assert data.loc[data["group"] == "baseline", "faults_met"].isna().all()
    chart = show.conformance(data, axis_title="no critical violation, %")
    said = texts(chart_svg(chart))
    assert {"n=34 of 64", "n=56 of 64, 0 of 64 faults met", "tool_fault", "react"} <= said
    assert "react 100.0 %, n=34 of 64" in chart.description


def test_a_condition_without_any_record_cannot_be_told_and_is_not_zero():
    plan = Plan(("a",), ("t",), ("baseline", "noise"), ("0",), 2)
    run = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), run_id="r", plan=plan)
    ok = pd.Series([True], index=run.trials["trial_id"])
    data = show.conformance_data(run, ok)
    noise = data[data["group"] == "noise"].iloc[0]
    assert noise["state"] == "cannot tell"
    assert pd.isna(noise["percent"])
    assert (noise["n"], noise["planned"]) == (0, 2)
    assert "cannot tell (0 of 0)" in texts(chart_svg(show.conformance(data, axis_title="%")))
    ends = show.missing_ends_data(run, ok)
    assert ends[["low", "high", "open"]].values.tolist() == [[50.0, 100.0, 1], [0.0, 100.0, 2]]
    assert "0.0 to 100.0 %" in texts(chart_svg(show.missing_ends(ends, axis_title="%")))


@FUZZ
@given(drawn())
def test_conformance_and_its_ends_count_every_trial_once(run):
    ok = ok_of(run)
    data, ends = show.conformance_data(run, ok), show.missing_ends_data(run, ok)
    assert int(data["n"].sum()) == int(ok.notna().sum())
    assert int(data["k"].sum()) == int(ok.sum())
    assert int(data["planned"].sum()) == len(run.trials)
    assert (ends["open"] == ends["planned"] - ends["n"]).all()
    told = ends[ends["state"] == "estimate"]
    assert (told["low"] <= told["percent"] + 1e-9).all()
    assert (told["percent"] <= told["high"] + 1e-9).all()
    width = (ends["high"] - ends["low"]) / 100 * ends["planned"]
    assert width.to_list() == pytest.approx(ends["open"].astype(float).to_list())


def test_a_drop_is_the_perturbed_share_minus_the_baseline_of_the_same_arm(parity, domain):
    ok = graded(parity, domain.grade)
    data = show.drop_data(parity, ok)
    row = data[(data["group"] == "tool_fault") & (data["series"] == "plan_execute")].iloc[0]
    counts = show.conformance_data(parity, ok).set_index(["group", "series"])
    k, n = (int(counts.loc[("tool_fault", "plan_execute"), name]) for name in ("k", "n"))
    found = miettinen_nurminen((k, int(row["baseline_k"])), (n, int(row["baseline_n"])))
    assert (row["k"], row["n"]) == (k, n)
    assert row["points"] == pytest.approx(100 * (k / n - row["baseline_k"] / row["baseline_n"]))
    assert [row["low"], row["high"]] == pytest.approx([100 * found.low, 100 * found.high])
    own = parity.trials.assign(ok=ok.to_numpy())
    rates = own[own["arm"] == "plan_execute"].groupby(["task_id", "perturbation"])["ok"].mean().unstack()
    assert row["tasks"] == len(rates)
    assert row["tasks_differ"] == int((rates["tool_fault"] != rates["baseline"]).sum()) > 0
    assert "baseline" not in set(data["group"])
    assert "tasks differ" in show.drop(data, axis_title="points").description


def test_a_drop_needs_a_baseline_and_something_else():
    one = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), run_id="r")
    with pytest.raises(ParameterError, match="nothing but its baseline"):
        show.drop_data(one, pd.Series([True], index=one.trials["trial_id"]))
    other = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"], "perturbation": ["x"]}), run_id="r")
    ok = pd.Series([True], index=other.trials["trial_id"])
    with pytest.raises(ParameterError, match="name its baseline, one of x"):
        show.drop_data(other, ok)
    two = pd.DataFrame({"arm": "a", "task_id": "t", "perturbation": ["baseline", "x"]})
    run = Recording(two, run_id="r")
    lost = pd.Series([pd.NA, True], index=run.trials["trial_id"], dtype="boolean")
    data = show.drop_data(run, lost)
    assert data[["state", "note"]].values.tolist() == [["cannot tell", "no decided trial at baseline"]]
    said = texts(chart_svg(show.drop(data, axis_title="points")))
    assert "cannot tell: no decided trial at baseline" in said


# -- certificates ------------------------------------------------------------------------------------------------------


def test_the_ladder_shows_what_is_certified_and_what_is_not(retry, domain):
    rules = plumb.ladder(retry, arm="react", policy=domain.policy)
    data = show.certificate_ladder_data(rules)
    assert data["percent"].round(2).tolist()[:3] == [94.34, 41.07, 89.85]
    assert data["state"].tolist() == ["estimate"] * 3 + ["cannot tell"] * 2
    assert data["covered"].notna().tolist()[3:] == [True, True]
    chart = show.certificate_ladder(data)
    said = texts(chart_svg(chart))
    assert {"at least 94.3 %", "grade B, at baseline", "at least 41.1 %"} <= said
    assert any(text.startswith("no claim can be made; 42.1 %") for text in said)
    with pytest.raises(ParameterError, match="frame of ladder"):
        show.certificate_ladder_data(data)


def test_the_bound_grows_as_clopper_and_pearson_say():
    data = show.bound_growth_data(124)
    for lost, runs in ((0, 59), (1, 93), (2, 124)):
        part = data[data["failures"] == lost].set_index("runs")["bound"]
        assert part[runs] >= 95 > part[runs - 1]
        assert part[runs] == pytest.approx(100 * clopper_pearson(runs - lost, runs, sidedness="lower").low)
    chart = show.bound_growth(data, thresholds=(0.9, 0.95))
    assert {"59", "93", "124", "29", "0 failures", "1 failure", "95 %"} <= texts(chart_svg(chart))
    assert "0 failures: 90 % from 29 runs, 95 % from 59 runs" in chart.description


@FUZZ
@given(st.integers(2, 80), st.sets(st.integers(0, 12), min_size=1, max_size=4))
def test_more_runs_never_lower_the_bound_and_more_failures_never_raise_it(most, failures):
    failures = sorted(lost for lost in failures if lost < most)
    if not failures:
        return
    data = show.bound_growth_data(most, failures=failures)
    table = data.pivot_table(index="runs", columns="failures", values="bound")
    assert (table.diff().dropna(how="all").fillna(0) >= -1e-9).all().all()
    assert (table.diff(axis=1).fillna(0) <= 1e-9).all().all()
    assert data["bound"].between(0, 100).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"most": 1}, "from 2 to"),
        ({"most": True}, "from 2 to"),
        ({"most": 50, "failures": []}, "one to six"),
        ({"most": 50, "failures": [1, 1]}, "each once"),
        ({"most": 50, "failures": [50]}, "from 0 to 49"),
        ({"most": 50, "sidedness": "upper"}, "lower bound"),
    ],
)
def test_a_growth_that_cannot_be_is_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        show.bound_growth_data(**given)


def test_a_threshold_is_a_share():
    with pytest.raises(ParameterError, match="share between 0 and 1"):
        show.bound_growth(show.bound_growth_data(30), thresholds=(95,))


# -- all ---------------------------------------------------------------------------------------------------------------

DRAWN = {
    "conformance": lambda data: show.conformance(data, axis_title="%"),
    "drop": lambda data: show.drop(data, axis_title="points"),
    "missing_ends": lambda data: show.missing_ends(data, axis_title="%"),
    "divergence_onset": show.divergence_onset,
    "argument_agreement": lambda data: show.argument_agreement(data, axis_title="%"),
    "verdict_matrix": show.verdict_matrix,
    "discordance": show.discordance,
    "certificate_ladder": show.certificate_ladder,
    "bound_growth": show.bound_growth,
}


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_drawing_takes_the_frame_of_its_data_function_and_nothing_else(name):
    maker = "ladder" if name == "certificate_ladder" else name
    for wrong in (pd.DataFrame({"x": [1]}), pd.DataFrame(), None):
        with pytest.raises(ParameterError, match=f"{maker}|{name}_data"):
            DRAWN[name](wrong)


def test_every_figure_of_a_run_has_its_data_function():
    names = set(show.plots.__all__) - {"DIVERGENCES", "EXPOSURE_STATES", "VERDICT_MARKS"}
    drawings = {name for name in names if not name.endswith("_data")}
    assert {f"{name}_data" for name in drawings} == names - drawings
    assert set(DRAWN) <= drawings
