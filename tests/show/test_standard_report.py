"""The standard report: complete by itself, the same twice, its numbers those of the run, and an index over reports."""

from __future__ import annotations

import os
import re

import pandas as pd
import pytest

import plumbline as plumb
from plumbline import show
from plumbline.base.errors import NotFoundError, ParameterError, RunError
from plumbline.cli import main
from plumbline.show import check_offline, standard
from plumbline.show.standard import (
    arm_counts,
    find_browser,
    index_page,
    print_pdf,
    rule_counts,
    standard_report,
    witnesses,
    worst_violation,
)
from plumbline.show.standard.book import Book
from plumbline.traces import write_text
from tests.browser import missing, page


@pytest.fixture(scope="module")
def domain():
    return plumb.load_domain("procure_to_pay")


@pytest.fixture(scope="module")
def run(domain):
    arms = {f"retry{n}": domain.arms["plan_execute"](max_retries=n) for n in (0, 3)}
    return plumb.run_study(
        domain, arms=arms, tasks=["INV-7002", "INV-7004"], perturbations=["baseline", "tool_fault"], variants=3,
        repetitions=1, run_id="small", clock=None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def report(run, domain, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "small.html"
    return standard_report(run, domain.policy, out=out, argument_rules=domain.argument_fields)


def test_the_answer_stands_first_and_counts_what_the_run_holds(report, run, domain):
    text = report.page.read_text(encoding="utf-8")
    held = run.check(domain.policy).conforms(severity="critical")
    broken = int((~held.astype(bool)).sum())
    assert broken
    assert f"A critical rule was violated by retry0 in {broken} of 12 trials." in report.answer
    assert text.index("A critical rule was violated") < text.index("What was run")
    assert run.digest in text
    assert domain.policy.digest in text


def test_the_page_is_complete_by_itself_and_the_same_twice(report, run, domain, tmp_path):
    again = standard_report(run, domain.policy, out=tmp_path / "b.html", argument_rules=domain.argument_fields)
    text = report.page.read_text(encoding="utf-8")
    assert again.page.read_bytes() == report.page.read_bytes()
    assert check_offline(text) == []
    assert len(text) < 500_000
    assert len(re.findall(r"<svg", text)) > 3
    assert text.count("Data of this figure") == len(re.findall(r"<figcaption", text))


def test_frames_carry_their_denominators(run, domain):
    counts = arm_counts(run)
    assert counts["planned"].tolist() == [12, 12]
    verdicts = run.check(domain.policy)
    table = rule_counts(verdicts)
    frame = verdicts.to_frame()
    decided = frame["verdict"].isin(["held", "violated"])
    assert int(table["violated"].sum()) == int((frame["verdict"] == "violated").sum())
    assert int(table["of decided"].sum()) == int(decided.sum())
    found = witnesses(verdicts)
    assert int(found["trials"].sum()) >= len(found) > 0
    found_in, rule = worst_violation(verdicts)
    listed = verdicts.violations()
    assert rule in set(listed[listed["trial_id"] == found_in]["rule"])


def test_a_run_that_keeps_every_rule_says_so_and_one_that_cannot_be_judged_does_not(domain, tmp_path):
    clean = plumb.run_study(domain, arms=["plan_execute"], tasks=["INV-7002"], variants=1, repetitions=2, clock=None)
    told = standard_report(clean, domain.policy, out=tmp_path / "clean.html").answer
    assert "In all 2 trials that can be judged: no critical rule violated." in told
    trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"], "status": ["no_response"]})
    lost = plumb.Run(trials, run_id="lost")
    policy = plumb.Policy("p", [plumb.MustCall("check")])
    assert "Nothing can be told" in standard_report(lost, policy, out=tmp_path / "lost.html").answer


def test_names_that_hold_markup_are_shown_as_they_are(tmp_path):
    trials = pd.DataFrame({"arm": ["<b>*a*", "b|c"], "task_id": ["t$x$", "t$x$"]})
    steps = pd.DataFrame({
        "trial_id": ["<b>*a*/t$x$/baseline/0/0"], "kind": ["tool_call"], "name": ["pay"], "arguments": ['{"x":"<i>"}'],
    })  # fmt: skip
    run = plumb.Run(trials, steps, run_id="odd <i>")
    policy = plumb.Policy("p & q", [plumb.MustCall("check"), plumb.MustNotCall("pay")])
    text = standard_report(run, policy, out=tmp_path / "odd.html").page.read_text(encoding="utf-8")
    assert check_offline(text) == []
    assert "<b>*a*" not in text
    assert "&lt;b&gt;" in text


@pytest.mark.parametrize(
    ("more", "message"), [({"measure": "most"}, "critical, all, outcome"), ({"measure": "outcome"}, "need a grader")]
)
def test_impossible_requests_are_refused_and_nothing_is_written(run, domain, tmp_path, more, message):
    with pytest.raises(ParameterError, match=message):
        standard_report(run, domain.policy, out=tmp_path / "r.html", **more)
    assert not list(tmp_path.iterdir())


def test_a_book_runs_what_it_shows():
    book = Book({"n": 2})
    assert book.code("m = n + 1\nm", name="a") == 3
    assert book["m"] == 3
    assert book.code("k = 5", name="b") is None
    assert book.sources() == ["m = n + 1\nm", "k = 5"]
    with pytest.raises(ParameterError, match="already"):
        book.code("1", name="a")


def test_an_index_lists_the_reports_of_a_folder_and_nothing_else(report, tmp_path):
    with pytest.raises(NotFoundError, match="no report"):
        index_page(tmp_path)
    with pytest.raises(NotFoundError, match="no folder"):
        index_page(tmp_path / "none")
    (tmp_path / "sub dir").mkdir()
    (tmp_path / "sub dir" / "small.html").write_bytes(report.page.read_bytes())
    (tmp_path / "other.html").write_text("<title>Not ours</title>")
    text = index_page(tmp_path).read_text(encoding="utf-8")
    assert 'href="sub%20dir/small.html"' in text
    assert "Conformance of run small" in text
    assert "Not ours" not in text
    assert check_offline(text) == []
    assert index_page(tmp_path).read_text(encoding="utf-8") == text, "the index does not list itself"


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_the_report_opens_without_a_fault_and_prints(report, tmp_path):
    with page() as (opened, wrong):
        opened.goto(report.page.as_uri())
        assert opened.locator("svg").count() > 3
        assert wrong == []
    made = print_pdf(report.page, tmp_path / "small.pdf")
    assert made.read_bytes().startswith(b"%PDF")


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
@pytest.mark.parametrize("colour", ["light", "dark"])
def test_axe_finds_nothing_serious(report, colour):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with page(colour=colour) as (opened, _):
        opened.goto(report.page.as_uri())
        found = axe.Axe().run(opened).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []


def test_printing_needs_a_page_and_a_browser(tmp_path):
    with pytest.raises(NotFoundError, match="no page"):
        print_pdf(tmp_path / "none.html", tmp_path / "x.pdf")
    with pytest.raises(NotFoundError, match="Install Chromium"):
        find_browser(["no-such-browser"])
    (tmp_path / "p.html").write_text("<p>x")
    with pytest.raises(RunError, match=r"did not print|made no PDF"):
        print_pdf(tmp_path / "p.html", tmp_path / "x.pdf", browser="/bin/false")
    assert not (tmp_path / "x.pdf").exists()


def test_the_command_writes_the_report_and_refuses_what_is_unclear(run, tmp_path, capsys):
    folder = run.save(tmp_path / "small")
    assert main(["report", str(folder), "--out", str(tmp_path / "r" / "small.html"), "--measure", "outcome"]) == 0
    assert "reached the right outcome" in capsys.readouterr().out
    assert main(["report", "--index", str(tmp_path / "r")]) == 0
    assert (tmp_path / "r" / "index.html").is_file()
    for wrong in (["report"], ["report", str(folder), "--index", str(tmp_path)]):
        assert main(wrong) == 2
        assert "one of the two" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--policy", "--domain", "--out"])
def test_an_empty_choice_is_refused_not_taken_for_none(run, tmp_path, capsys, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    folder = run.save(tmp_path / "small")
    assert main(["report", str(folder), option, ""]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("plumbline: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small"]


def test_a_folder_in_the_place_of_the_page_is_a_sentence_and_nothing_half_written(run, tmp_path, capsys):
    folder = run.save(tmp_path / "small")
    place = tmp_path / "taken"
    place.mkdir()
    assert main(["report", str(folder), "--out", str(place)]) == 2
    assert "taken: a folder stands where the file should be written" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small", "taken"]


def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_tables_beneath_figures_are_named_for_a_reader_and_fit_a_page():
    frame = pd.DataFrame(
        {"group": ["a", "b"], "series": ["x", "x"], "note": ["2 missing", None], "state": "estimate",
         "faults_met": [pd.NA, pd.NA], "low": [1.0, 2.0]}
    )  # fmt: skip
    assert list(standard.worded(frame).columns) == ["condition", "arm", "low", "note"]
    assert list(standard.worded(frame.assign(state=["estimate", "cannot_tell"]))["state"]) == [
        "estimate",
        "cannot_tell",
    ]
    growth = show.bound_growth_data(70, confidence=0.9, failures=(0, 1))
    table = standard.bound_table(growth)
    assert list(table.columns) == ["runs", "0 failures, %", "1 failure, %"]
    assert list(table["runs"]) == [10, 20, 30, 40, 50, 60, 70]
    wanted = growth.set_index(["failures", "runs"])["bound"]
    assert table.set_index("runs")["1 failure, %"].to_dict() == {n: wanted[1, n] for n in table["runs"]}
