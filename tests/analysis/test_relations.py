"""Violation rates of pairs: families count once, what was lost stands beside, too little is said."""

from __future__ import annotations

import pandas as pd
import pytest

from plumbline.analysis import relation_rates
from plumbline.base.errors import ParameterError
from plumbline.rules.metamorphic import pairs_frame


def pair(family, result, *, repetition=0, comparison="relation", severity="critical", confirmed=None, **more):
    return {
        "pair_id": f"r@1:{family}", "relation_id": "r", "relation_version": "1", "kind": "removal",
        "severity": severity, "role": "veto", "arm": "a", "seed_id": family, "family_id": family, "task_id": family,
        "transformation": "t", "transformation_version": "1", "repetition": repetition, "base_trial": "b",
        "follow_trial": "f", "comparison": comparison, "result": result, "layer": "deterministic", "reason": "",
        "base_witness": None, "follow_witness": None, "expected": None, "observed": None,
        "confirmed": result == "violated" if confirmed is None else confirmed, "source": "design",
        "purpose": "common", "locale": "en", "length": 10, "domain": "d", "tool_path": "look", **more,
    }  # fmt: skip


def rates(rows, **more):
    return relation_rates(pairs_frame(rows), **more)


def test_a_family_counts_once_however_many_pairs_it_has():
    rows = [pair("f0", "violated", repetition=n) for n in range(30)]
    rows += [pair(f"f{k}", "satisfied") for k in range(1, 8)]
    found = rates(rows).iloc[0]
    assert (found["families"], found["violating"], found["judged"], found["violated"]) == (8, 1, 37, 30)
    assert found["value"] == 1 / 8
    assert (found["low"], found["high"]) == pytest.approx((0.0031597, 0.5265097), abs=1e-6)
    assert found["method"] == "Clopper-Pearson, ever"


def test_the_share_of_a_family_is_another_unit():
    rows = [pair(f"f{k}", "violated" if n < k else "satisfied", repetition=n) for k in range(5) for n in range(4)]
    ever, share = rates(rows).iloc[0], rates(rows, unit="share").iloc[0]
    assert ever["value"] == 4 / 5
    assert share["value"] == pytest.approx(10 / 20)
    assert share["method"].endswith("share")


def test_what_was_lost_stands_in_columns_of_its_own_and_adds_up_to_the_plan():
    rows = [
        pair(f"f{k}", word)
        for k, word in enumerate(("satisfied", "invalid", "abstained", "infrastructure", "violated"))
    ]
    found = rates(rows).iloc[0]
    told = found[["planned", "invalid", "abstained", "infrastructure", "judged"]].tolist()
    assert told == [5, 1, 1, 1, 2]
    assert pd.isna(found["value"])
    assert found["note"] == ("2 families are too few for a rate; 1 confirmed severe violations stand whatever the rate")


def test_noise_stands_beside_and_is_no_violation():
    rows = [pair(f"f{k}", "satisfied") for k in range(6)]
    rows += [pair(f"f{k}", "violated" if k < 2 else "satisfied", comparison="noise") for k in range(6)]
    found = rates(rows).iloc[0]
    assert (found["violated"], found["planned"], found["noise_families"], found["noise_violating"]) == (0, 6, 6, 2)
    assert found["note"] == "plain re-runs differ in 2 of 6 families"


def test_a_group_without_a_judged_pair_cannot_be_told():
    found = rates([pair("f0", "abstained"), pair("f1", "satisfied", locale="de")], by=["locale"]).set_index("locale")
    assert found.loc["en", "note"] == "cannot tell: no pair was judged"
    assert found.loc["de", "judged"] == 1


@pytest.mark.parametrize(("more", "told"), [
    ({"by": ["colour"]}, "grouped by 'colour'"),
    ({"unit": "often"}, "a unit of ever, share"), ({"by": []}, "at least one key"),
])  # fmt: skip
def test_impossible_questions_are_refused(more, told):
    with pytest.raises(ParameterError, match=told):
        rates([pair("f0", "satisfied")], **more)
    with pytest.raises(ParameterError, match="no pair to count"):
        relation_rates(pairs_frame([]))
