"""The threshold of the text band from judged pairs, and the page of a band report."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from plumbline.base.errors import BandError, ParameterError
from plumbline.cli import main
from plumbline.decide.bands import (
    JudgedPair,
    LexicalScorer,
    apply_bands,
    calibrate,
    example_pairs,
    example_runs,
    read_pairs,
    sample_bands,
)
from plumbline.stats.thresholds import cost_threshold, held_out_errors, threshold_interval


class Told:
    """A scorer that says what the second text says."""

    name, version = "told", "1"

    def scores(self, pairs):
        return [float(after) for _, after in pairs]


def pair(name, score, equivalent, family=None, **more):
    return JudgedPair(
        pair=name, family_id=family or name, before="x", after=str(score), equivalent=equivalent, edit="", **more
    )


def chance():
    return np.random.default_rng(3)


def test_a_threshold_that_separates_stands_between_and_errs_nowhere():
    pairs = [pair(f"s{n}", 0.90 + n / 100, True) for n in range(6)] + [
        pair(f"d{n}", 0.5 + n / 100, False) for n in range(6)
    ]
    found = calibrate(pairs, scorer=Told(), generator=chance())
    assert found.separates
    assert 0.55 < found.threshold <= 0.90
    assert (found.error("miss").successes, found.error("false_alarm").successes) == (0, 0)
    assert found.auc == 1.0
    assert not any("no threshold" in said for said in found.cautions())
    assert "12 pairs were judged; at least 200 are recommended" in found.cautions()


def test_costs_decide_where_scores_overlap():
    scores, different = [0.9, 0.8, 0.7, 0.6], [False, True, False, True]
    dear_miss = cost_threshold(scores, different, cost_false_alarm=1, cost_miss=5)
    dear_alarm = cost_threshold(scores, different, cost_false_alarm=5, cost_miss=1)
    assert 0.8 < dear_miss <= 0.9
    assert 0.6 < dear_alarm <= 0.7


def test_the_starting_number_is_measured_and_overlap_is_said():
    found = calibrate(example_pairs(seed=7), scorer=LexicalScorer(), generator=chance())
    assert not found.separates
    assert (found.at(0.92).false_alarms, found.at(0.92).misses) == (96, 192)
    told = " ".join(found.cautions())
    for words in (
        "constructed",
        "no threshold separates",
        "0.92 would alarm weekly: 120.0",
        "0.92 would let 192 judged",
    ):
        assert words in told
    record = found.record(made=date(2026, 12, 1))
    assert (record.scorer, record.pairs, record.families, record.constructed) == ("lexical", 480, 48, True)


def test_no_family_is_judged_by_a_threshold_it_helped_to_fit():
    scores = [0.9, 0.1] * 4
    different = [False, True] * 4
    families = [f for f in "abcd" for _ in range(2)]
    assert (
        held_out_errors(
            scores, different, families, cost_false_alarm=1, cost_miss=1, folds=4, generator=chance()
        ).misses
        == 0
    )
    low, high = threshold_interval(
        scores, different, families, cost_false_alarm=1, cost_miss=1, confidence=0.95, draws=50, generator=chance()
    )
    assert 0.1 < low <= high <= 0.9
    with pytest.raises(ParameterError, match="1 families were judged"):
        calibrate([pair("a", 0.9, True, "f"), pair("b", 0.1, False, "f")], scorer=Told(), generator=chance())
    with pytest.raises(ParameterError, match="stands twice"):
        calibrate([pair("a", 0.9, True), pair("a", 0.1, False, "g")], scorer=Told(), generator=chance())


def test_judged_pairs_are_read_from_a_sheet_and_a_mistake_names_its_line(tmp_path, capsys):
    sheet = tmp_path / "pairs.csv"
    rows = [
        f"f{n // 2},paid {n},{'was paid' if n % 2 else 'not paid'} {n},{'true' if n % 2 else 'no'}" for n in range(8)
    ]
    sheet.write_text("\n".join(["family_id,before,after,equivalent", *rows]), encoding="utf-8")
    assert [one.equivalent for one in read_pairs(sheet)] == [False, True] * 4
    assert main(["bands", "calibrate", str(sheet)]) == 0
    assert "8 pairs were judged; at least 200" in capsys.readouterr().out
    sheet.write_text("family_id,before,after,equivalent\nf1,paid,was paid,perhaps\n", encoding="utf-8")
    with pytest.raises(BandError, match=r"equivalent is 'perhaps'; write true or false"):
        read_pairs(sheet)
    assert main(["bands", "calibrate", str(sheet)]) == 2
    assert main(["bands", "calibrate", str(tmp_path / "none.csv")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_page_shows_what_moved_and_asks_for_nothing(tmp_path):
    from plumbline.show.bands import bands_page, case_diffs

    baseline, candidate = example_runs(seed=7)
    report = apply_bands(sample_bands(), baseline=baseline, candidate=candidate)
    cases = [fixture for fixture, _ in case_diffs(report)]
    order = report.moved().query("field == 'order'")
    assert cases == order["fixture"].tolist()
    assert order.iloc[0]["verdict"] == "fail"
    page = bands_page(report, tmp_path / "deep" / "bands.html").read_text(encoding="utf-8")
    assert "Decision: hold" in page
    assert page.count("schedule_payment") > 3
    assert "://" not in page.replace("http://www.w3.org", "")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["bands.html"]
