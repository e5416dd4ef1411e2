"""What a standard report shows beside its figures, odd runs, the index with its answers, and printing a page."""

from __future__ import annotations

import bs4
import pandas as pd
import pytest

import plumbline as plumb
from plumbline import show
from plumbline.base.errors import ParameterError
from plumbline.cli import main
from plumbline.rules import check
from plumbline.show import check_offline, standard
from plumbline.show.standard.sections import ARMS_A_FIGURE, MOST_COMPARED
from plumbline.show.standard.words import NOTES, plain
from tests.browser import missing

POLICY = plumb.Policy("p", [plumb.MustCall("check"), plumb.MustNotCall("drop", severity="low")])


def run_of(arms: int = 2, *, perturbations: tuple[str, ...] = ("baseline",), bad: int = 1) -> plumb.Run:
    """A run whose first ``bad`` arms never check and drop everything."""
    names = [f"arm{place}" for place in range(arms)]
    rows = [(arm, task, name) for arm in names for task in ("t", "u") for name in perturbations]
    trials = pd.DataFrame(rows, columns=["arm", "task_id", "perturbation"])
    steps = [
        {
            "trial_id": f"{arm}/{task}/{name}/0/0",
            "kind": "tool_call",
            "name": tool,
            "arguments": '{"id":"' + task + '"}',
        }
        for arm, task, name in rows
        for tool in (("open", "drop") if int(arm[3:]) < bad else ("open", "check"))
    ]
    return plumb.Run(trials, pd.DataFrame(steps), run_id="made")


@pytest.fixture(scope="module")
def run():
    return run_of()


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "r.html"
    return standard.standard_report(run, POLICY, out=out, measure="all").page


@pytest.fixture(scope="module")
def verdicts(run):
    return check(run, POLICY)


# -- tables ------------------------------------------------------------------------------------------------------------


def test_a_rule_is_one_row_with_its_denominators_and_untested_rules_say_so(verdicts):
    table = standard.rule_table(verdicts, arms=["arm1", "arm0"])
    assert list(table.columns) == ["rule", "severity", "arm1", "arm0"]
    assert table.iloc[0].tolist() == ["must_call:check", "critical", "0\u00a0of\u00a02", "2\u00a0of\u00a02"]
    lost = plumb.Run(pd.DataFrame({"arm": ["a"], "task_id": ["t"], "status": ["no_response"]}), run_id="lost")
    assert standard.rule_table(check(lost, POLICY))["a"].tolist() == ["never tested; ?\u00a01"] * 2
    with pytest.raises(ParameterError, match="order of arms"):
        standard.rule_table(verdicts, arms=["arm1"])


def test_witnesses_merge_what_expects_the_same_and_lead_to_a_step(run, verdicts):
    found = standard.witnesses(verdicts)
    assert found[["rule", "arm", "trials", "tasks", "step"]].values.tolist() == [
        ["must_call:check", "arm0", 2, 2, "not made"],
        ["must_not_call:drop", "arm0", 2, 2, "1"],
    ]
    table = standard.witness_table(found)
    assert table["seen first in"].tolist() == ["arm0/t/baseline/0/0, call not made", "arm0/t/baseline/0/0, step 1"]
    steps = standard.steps_of(run, verdicts, "arm0/t/baseline/0/0")
    assert steps["how it ended"].tolist()[1] == "ok; ✗ must_not_call:drop"
    assert steps["what"].tolist() == ["open", "drop", "not made"]
    assert standard.worst_violation(verdicts) == ("arm0/t/baseline/0/0", "must_call:check")


def test_the_matrix_table_holds_every_verdict_of_the_figure(verdicts):
    data = show.verdict_matrix_data(verdicts)
    table = standard.matrix_table(data)
    assert table.iloc[0].tolist() == ["trials in each group", "", "1: 2", "1: 2"]
    assert table.set_index("rule")["arm0"].to_dict() | {"trials in each group": ""} == {
        "trials in each group": "", "must_call:check": "violated 1", "must_not_call:drop": "violated 1",
    }  # fmt: skip
    many = show.verdict_matrix_data(check(run_of(1, perturbations=("a",), bad=0), POLICY))
    more = many.assign(column=2, trials=7, verdict=["vacuous", "held"])
    cells = standard.matrix_table(pd.concat([many, more]))["arm0"]
    assert cells.tolist() == ["1: 2, 2: 7", "held 1; vacuous 2", "held 1, 2"]


def test_wide_counts_keep_every_count(run):
    data = show.divergence_onset_data(run.equivalence(incumbent="arm0", replacement="arm1", definition="plumbline"))
    table = standard.wide_counts(data)
    assert int(table.drop(columns="group").to_numpy().sum()) == int(data["trials"].sum()) == 2


def test_counterparts_are_the_same_cell_first_then_the_arms_own_baseline():
    run = run_of(perturbations=("baseline", "noise"))
    assert standard.counterparts(run, "arm0/t/noise/0/0") == ["arm1/t/noise/0/0", "arm0/t/baseline/0/0"]
    alone = run_of(1)
    assert standard.counterparts(alone, "arm0/t/baseline/0/0") == []


# -- pages -------------------------------------------------------------------------------------------------------------


def page_of(run, tmp_path, **more) -> bs4.BeautifulSoup:
    made = standard.standard_report(run, POLICY, out=tmp_path / "r.html", measure="all", **more)
    text = made.page.read_text(encoding="utf-8")
    assert check_offline(text) == []
    assert len(text.encode()) < 500_000
    return bs4.BeautifulSoup(text, "html.parser")


@pytest.mark.slow
def test_more_arms_than_colours_are_drawn_in_several_figures_and_notes_can_be_reached(tmp_path):
    soup = page_of(run_of(ARMS_A_FIGURE + 1, perturbations=("x", "y")), tmp_path)
    titles = [caption.get_text() for caption in soup.select("figcaption")]
    assert sum(title.startswith("No rule violated, by condition") for title in titles) == 2
    assert sum(title.startswith("Pairs of arm0") for title in titles) == MOST_COMPARED
    assert "Not compared here" in soup.get_text()
    assert not [title for title in titles if "baseline" in title], "the run names no baseline"
    links = {link["href"] for link in soup.select('a[href^="#note-"]')}
    assert links
    assert all(link.get_text().isdigit() for link in soup.select('a[href^="#note-"]'))
    assert links <= {f"#{item['id']}" for item in soup.select("li[id]")}
    assert len(soup.select("li[id^=note-]")) == len(NOTES)
    assert "Failed by condition: x 2, y 2." in soup.select_one(".pl-answer").get_text()
    assert soup.select_one(".pl-eyebrow").get_text() == "Standard conformance report"
    assert "executed notebook" not in soup.select_one("footer").get_text()


def test_one_trial_without_steps_or_plan_makes_a_page(tmp_path):
    run = plumb.Run(pd.DataFrame({"arm": ["a"], "task_id": ["t"], "perturbation": ["x"]}), run_id="one")
    soup = page_of(run, tmp_path)
    assert "No plan was recorded" in soup.get_text()
    assert "Trial a/t/x/0/0, which violates must_call:check" in soup.get_text()
    empty = plumb.Run(pd.DataFrame({"arm": [], "task_id": []}), run_id="none")
    with pytest.raises(ParameterError, match="no trial"):
        standard.standard_report(empty, POLICY, out=tmp_path / "none.html")


def test_the_folded_code_made_what_stands_beside_it(run, report):
    soup = bs4.BeautifulSoup(report.read_text(encoding="utf-8"), "html.parser")
    cells = [cell.get_text() for cell in soup.select(".pl-code .highlight")]
    names = {"run": run, "policy": POLICY, "grade": None, "argument_rules": None}
    names |= {"measure": "all", "baseline": "baseline", "confidence": 0.95}
    for source in cells[1:]:  # the first reads the run, which is here already
        exec(source, names)
    assert names["found"].equals(standard.witnesses(check(run, POLICY)))
    assert "plumb.read_run('made')" in cells[0]


def test_arguments_that_are_no_object_do_not_stop_a_report(run, tmp_path):
    steps = run.steps.assign(arguments=run.steps["arguments"].where(run.steps["step"] != 0, "[1]"))
    odd = plumb.Run(run.trials.drop(columns="run_id"), steps.drop(columns="run_id"), run_id="odd")
    assert "cannot tell, since" in page_of(odd, tmp_path).get_text()


def test_markdown_shows_any_name_as_it_is():
    from nbconvert.filters import markdown2html

    name = "<b>*a*</b> `x` [y](z) $m$ # | ~ \\"
    assert bs4.BeautifulSoup(markdown2html(plain(name)), "html.parser").get_text().strip() == name


def test_the_index_gives_each_report_its_answer_and_is_the_same_twice(report):
    place = standard.index_page(report.parent)
    text = place.read_text(encoding="utf-8")
    row = bs4.BeautifulSoup(text, "html.parser").select_one("tbody tr")
    assert [cell.get_text() for cell in row.find_all(["th", "td"])] == [
        "Conformance of run made", "Standard conformance report", "A rule was violated by arm0 in 2 of 2 trials.",
    ]  # fmt: skip
    assert row.a["href"] == "r.html"
    assert standard.index_page(report.parent).read_text(encoding="utf-8") == text


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_the_command_prints_a_page_and_writes_beside_no_study(run, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = tmp_path / "policy.yaml"
    policy.write_text("name: p\nrules:\n- {rule: must_call, tool: check}\n")
    folder = run.save(tmp_path / "folder")
    assert main(["report", str(folder), "--policy", str(policy), "--measure", "all"]) == 0
    page = tmp_path / "reports" / "conformance-made.html"
    assert page.is_file()
    assert main(["report", str(page)]) == 2
    assert "add --pdf to print it" in capsys.readouterr().err
    assert main(["report", str(page), "--pdf"]) == 0
    assert page.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
