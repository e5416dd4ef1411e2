"""The explorer: filters, groups with their denominators, the line of code, and the widgets' state."""

from __future__ import annotations

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import plumbline as plumb
from plumbline.base.errors import ParameterError
from plumbline.show.explore import Filters, explore, selection_code
from tests.browser import missing
from tests.lab import missing_lab, opened_notebook, run_again, run_all, serve


@pytest.fixture(scope="module")
def run(root):
    return plumb.read_run(root / "data" / "procure_to_pay" / "parity")


@pytest.fixture(scope="module")
def domain():
    return plumb.load_domain("procure_to_pay")


@pytest.fixture
def explorer(run, domain):
    return explore(run, policy=domain.policy, grade=domain.grade)


def test_it_begins_with_the_violations_and_counts_them_among_decided_trials(explorer, run, domain):
    verdicts = run.check(domain.policy).to_frame()
    assert len(explorer.selection) == int((verdicts["verdict"] == "violated").sum())
    for row in explorer.groups.to_dict("records"):
        same = verdicts[
            (verdicts["arm"] == row["arm"]) & (verdicts["perturbation"] == row["perturbation"])
            & (verdicts["rule"] == row["rule"])
        ]  # fmt: skip
        assert row["violated"] == int((same["verdict"] == "violated").sum()) > 0
        assert row["decided"] == int(same["verdict"].isin(["held", "violated"]).sum())
        assert row["low"] <= row["rate"] <= row["high"]
        planned = run.planned().query("arm == @row['arm'] and perturbation == @row['perturbation']")
        assert row["missing"] == int((planned["status"] != "completed").sum())
    assert list(explorer.groups["violated"]) == sorted(explorer.groups["violated"], reverse=True)


@pytest.mark.parametrize(
    "filters",
    [
        Filters(), Filters(arm=("react",)), Filters(verdict=("violated", "vacuous"), severity=("high",)),
        Filters(task=("INV-7002",), exposure=("delivered",), perturbation=("tool_fault",)),
    ],
)  # fmt: skip
def test_the_line_of_code_makes_the_same_frame(explorer, run, domain, filters):
    explorer.filters = filters
    made = eval(explorer.code, {"run": run, "policy": domain.policy})
    pd.testing.assert_frame_equal(made, explorer.selection)
    assert explorer.code == selection_code(filters)


def test_names_that_need_quoting_survive_the_line_of_code():
    names = ('a"b', "c'd", "e\\f", "g\nh")
    space = {}
    exec(f"chosen = {selection_code(Filters(arm=names)).split('isin(')[1].split(')')[0]}", space)
    assert tuple(space["chosen"]) == names


def test_a_misspelt_filter_is_refused_and_changes_nothing(explorer):
    before = explorer.filters
    with pytest.raises(ParameterError, match="plan_execute, react"):
        explorer.filters = Filters(arm=("reakt",))
    with pytest.raises(ParameterError, match="several values"):
        Filters(arm="react")
    with pytest.raises(ParameterError, match="must be Filters"):
        explorer.filters = {"arm": ("react",)}
    assert explorer.filters == before


def test_a_group_leads_to_its_trials_and_a_trial_to_its_diff(explorer):
    trials = explorer.trials(0)
    assert len(trials) == explorer.groups["violated"].iloc[0]
    row = trials.iloc[0]
    assert explorer.partners(row["trial_id"]) == ["react"]
    made = explorer.diff(row, against="react")
    assert row["trial_id"] in str(made)
    for wrong in (-1, 999, True, "0"):
        with pytest.raises(ParameterError, match="does not exist"):
            explorer.trials(wrong)


def test_the_widgets_and_the_object_share_one_state(explorer):
    explorer.widget()
    panel = explorer._panel
    panel._filters["arm"].value = ("react",)
    assert explorer.filters.arm == ("react",)
    assert set(explorer.selection["arm"]) == {"react"}
    assert "react" in panel._table.value
    assert "plan_execute" not in panel._table.value
    explorer.filters = Filters(severity=("medium",), verdict=("violated",))
    assert panel._filters["arm"].value == ()
    assert panel._filters["severity"].value == ("medium",)
    assert len(panel._trial.options) == 1
    panel._against.value = ""
    assert "Steps of" in panel._trial_view.value
    assert not panel._diff.children
    explorer.filters = Filters(verdict=("violated",), exposure=("none_planned",), severity=("critical",))
    assert "No verdict is left" in panel._table.value
    assert panel._group.value is None


def test_where_there_are_no_widgets_it_is_a_table_and_text(explorer):
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "16 of 64" in bundle["text/html"]
    assert explorer.code in bundle["text/plain"]


def test_it_takes_a_policy_or_verdicts_of_this_run(run, domain):
    verdicts = run.check(domain.policy)
    assert len(explore(run, verdicts=verdicts).selection) == len(run.explore(domain.policy).selection)
    for given in ({}, {"policy": domain.policy, "verdicts": verdicts}):
        with pytest.raises(ParameterError, match="one of the two"):
            explore(run, **given)
    other = plumb.Run(run.trials.head(3).drop(columns="run_id"), run_id="other")
    with pytest.raises(ParameterError, match="not of run"):
        explore(other, verdicts=verdicts)


WHY_NOT = missing() or missing_lab()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "browser and JupyterLab are there")
def test_in_jupyterlab_a_filter_changes_the_table_and_python_reads_the_selection(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore")
    source = (
        "import plumbline as plumb\n"
        f"run = plumb.read_run({str(root / 'data' / 'procure_to_pay' / 'parity')!r})\n"
        "explorer = run.explore(plumb.load_domain(run.domain).policy)\nexplorer"
    )
    read = "print('chosen', explorer.filters.arm, len(explorer.selection))"
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(
        new_notebook(cells=[new_code_cell(source), new_code_cell(read)], metadata=metadata), folder / "e.ipynb"
    )
    with serve(folder) as server, opened_notebook(server, "lab", "e.ipynb") as (page, wrong):
        run_all(page)
        choice = page.locator(".plumbline-filter-arm select")
        choice.wait_for()
        choice.select_option("react")
        page.locator("text=verdict: violated").first.wait_for()
        told = run_again(page, 1, until="chosen ('react',)")
        assert "chosen ('react',) 21" in told
        assert not wrong
