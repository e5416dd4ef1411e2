"""A replacement against an incumbent: the published definition, true pairs, ground truth, and who is unpaired."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plumbline as plumb
from plumbline.analysis import equivalence, published_band
from plumbline.base.errors import ParameterError
from plumbline.traces import Plan, Recording
from tests.analysis.small_runs import HELD, PAID, plain_equivalence, rows, small

MIXED = [
    ("old/t/baseline/0/0", "fetch check pay:1"),
    ("old/t/baseline/0/1", "fetch check pay:1"),
    ("old/t/noise/0/0", "fetch check hold", HELD),
    ("new/t/baseline/0/0", "fetch check pay:2"),
    ("new/t/baseline/0/1", "look fetch check pay:2"),
    ("new/t/noise/0/0", "fetch check pay:1", PAID),
    ("new/t/noise/0/1", "fetch hold", HELD),
]
DUE = {"t": {"context": {"due": True}}}
HELD_TEXT, PAID_TEXT = '{"note":1,"paid":false}', '{"note":1,"paid":true}'
ARMS = {"incumbent": "old", "replacement": "new"}


def paid_if_due(outcome, context):
    return outcome["paid"] == context["due"]


def counts(found) -> tuple[int | None, int]:
    return found.successes, found.n


def published_counts(found) -> dict:
    names = {"outcome": "outcome", "path": "path", "arguments": "arguments", "self": "self_consistency"}
    return {name: counts(getattr(found, attribute)) for name, attribute in names.items()}


def test_every_kind_of_divergence_is_placed_as_published():
    found = equivalence(small(MIXED), **ARMS)
    assert published_counts(found) == {"outcome": (3, 4), "path": (1, 4), "arguments": (0, 1), "self": (3, 3)}
    table = found.divergences.astype(object).where(found.divergences.notna(), None)
    columns = ["kind", "step_index", "name", "field", "expected", "got", "severity", "count", "trial_ids"]
    assert table[columns].to_numpy().tolist() == [
        ["outcome", -1, None, None, HELD_TEXT, PAID_TEXT, "critical", 1, ("new/t/noise/0/0",)],
        ["skipped", 1, "check", None, "check", None, "high", 1, ("new/t/noise/0/1",)],
        ["substitute", 2, "hold", None, "hold", "pay", "high", 1, ("new/t/noise/0/0",)],
        ["arg", 2, "pay", "x", '"1"', '"2"', "high", 1, ("new/t/baseline/0/0",)],
        ["extra", -1, "look", None, None, "look", "medium", 1, ("new/t/baseline/0/1",)],
    ]  # fmt: skip
    against = found.rows.set_index("trial_id")["against"]
    assert against["new/t/noise/0/1"] == "old/t/noise/0/0", "the canonical run, whatever its repetition"


def test_ground_truth_tells_who_is_at_fault():
    found = equivalence(small(MIXED, tasks=DUE), grade=paid_if_due, **ARMS)
    table = found.against_truth.set_index(["incumbent", "replacement"])
    assert table.loc[("wrong", "right")].tolist() == [0, 1, 0]
    assert table.loc[("wrong", "wrong")].tolist() == [1, 0, 0], "equal, and equally wrong"
    assert table.loc[("right", "right")].tolist() == [2, 0, 0]
    assert table.to_numpy().sum() == 4
    assert counts(found.no_worse) == (4, 4)
    assert any("1 where the incumbent is wrong and the replacement right" in note for note in found.notes())
    assert found.incumbent_passes.arm == "old"
    without = equivalence(small(MIXED), **ARMS)
    assert without.against_truth.set_index(["incumbent", "replacement"]).loc[("cannot tell",) * 2].tolist() == [3, 1, 0]
    assert without.incumbent_passes is None
    assert without.measures()["replacement right by ground truth"].value is None
    assert counts(without.no_worse) == (3, 3), "an equal outcome is no worse; a different one cannot be told"


def test_pairs_by_repetition_and_the_one_without_counterpart():
    found = equivalence(small(MIXED), definition="plumbline", **ARMS)
    assert found.pairs["against"].str[3:].tolist() == found.pairs["trial_id"].str[3:].tolist()
    assert found.unpaired[["trial_id", "incumbent"]].to_numpy().tolist() == [["new/t/noise/0/1", "not planned"]]
    assert found.retirement is None
    assert found.divergences.set_index("kind").loc["arg", "count"] == 2, "also where the paths differ"


def test_argument_agreement_has_a_denominator_of_its_own():
    found = equivalence(small(MIXED), **ARMS)
    assert counts(found.arguments) == (0, 1)
    assert counts(found.matched_arguments) == (2, 4)
    assert counts(found.matched_steps) == (8, 10)


def test_a_tie_goes_to_the_run_that_finished_first():
    tie = [("old/t/baseline/0/0", "pay"), ("old/t/baseline/0/1", "hold"), ("new/t/baseline/0/0", "hold")]
    assert counts(equivalence(small(tie), **ARMS).path) == (0, 1)
    found = equivalence(small(tie), order=["old/t/baseline/0/1"], **ARMS)
    assert counts(found.path) == (1, 1)
    assert found.ties.iloc[0].tolist() == ["t", "baseline", "0", 2, 2, "old/t/baseline/0/1"]
    assert counts(found.self_consistency) == (1, 2)
    assert found.incumbent_agreement.same_variant.value is None, "one task: no claim about tasks"
    assert found.incumbent_agreement.repeats["agreement"].tolist() == [0], "two runs that differ do not agree"


def test_an_outcome_that_was_not_recorded():
    run = small([("old/t/baseline/0/0", "pay", None), ("new/t/baseline/0/0", "pay")])
    assert counts(equivalence(run, **ARMS).outcome) == (0, 1), "as published: different"
    found = equivalence(run, definition="plumbline", **ARMS)
    assert found.outcome.value is None
    assert found.against_truth["cannot_tell"].sum() == 1
    assert "outcome" not in set(found.divergences["kind"])


def test_the_replacement_may_stand_in_another_run():
    one = small([("a/t/baseline/0/0", "pay:1"), ("a/t/baseline/0/1", "pay:1"), ("a/t/noise/0/0", "")], run_id="one")
    two = small([("a/t/baseline/0/0", "pay:2"), ("a/t/noise/0/0", "", HELD), ("a/u/noise/0/0", "pay:3")], run_id="two")
    found = equivalence(one, incumbent="a", replacement="a", other=two)
    assert (found.incumbent, found.replacement) == ("one/a", "two/a")
    assert published_counts(found) == {"outcome": (1, 2), "path": (2, 2), "arguments": (1, 2), "self": (3, 3)}
    assert found.unpaired["trial_id"].tolist() == ["a/u/noise/0/0"]
    assert found.groups["task_id"] == ("t", "u")


def test_missing_trials_and_lost_counterparts_are_named():
    plan = Plan(("old", "new"), ("t",), ("baseline", "noise"), ("0",), 2)
    run = small([*MIXED[:2], ("old/t/noise/0/0", "", None, "no_response"), *MIXED[3:6]], plan=plan)
    found = equivalence(run, **ARMS)
    assert found.unpaired[["trial_id", "incumbent"]].to_numpy().tolist() == [
        ["new/t/noise/0/0", "no_response, not_run"]
    ]
    assert found.missing[["trial_id", "status"]].to_numpy().tolist() == [["new/t/noise/0/1", "not_run"]]
    assert found.unused == ()
    cells = found.by("perturbation").set_index(["perturbation", "measure"])
    assert cells.loc[("noise", "same outcome"), "reads"] == "cannot tell (0/0)"
    assert found.retirement.minimum.bound is None
    assert found.retirement.minimum.unanswered == ("noise",)
    assert any("passes over noise" in line for line in found.retirement.caution)
    fewer = equivalence(small(MIXED[:4]), **ARMS)
    assert fewer.unused == ("old/t/noise/0/0",)
    assert any("met no replacement trial" in note for note in fewer.notes())


def test_without_a_single_pair_nothing_can_be_told():
    run = small([("old/t/baseline/0/0", "pay"), ("new/u/baseline/0/0", "pay")], tasks={**DUE, "u": DUE["t"]})
    for definition in ("published", "plumbline"):
        found = equivalence(run, definition=definition, grade=paid_if_due, **ARMS)
        assert len(found.unpaired) == 1
        assert found.outcome.value is found.path.value is found.arguments.value is found.matched_steps.value is None
        assert found.against_truth[["same", "different", "cannot_tell"]].to_numpy().sum() == 0
        assert len(found.divergences) == 0
    found = equivalence(run, **ARMS)
    assert (found.retirement.bound, found.retirement.band) == (None, "cannot tell")
    assert "cannot tell" in str(found.retirement)


@pytest.mark.parametrize(
    ("bound", "diverged", "band", "needed"),
    [
        (0.95, True, "0.95 or more: safe to retire", None),
        (0.95, False, "0.95 or more: safe to retire", None),
        (0.9499, False, "no divergence, below 0.95: the sample is too small", 73),
        (0.3, False, "no divergence, below 0.95: the sample is too small", 73),
        (0.9499, True, "0.85 to 0.95: near-equivalent, review divergences", None),
        (0.85, True, "0.85 to 0.95: near-equivalent, review divergences", None),
        (0.8499, True, "0.60 to 0.85: not safe to retire", None),
        (0.6, True, "0.60 to 0.85: not safe to retire", None),
        (0.5999, True, "below 0.60: materially different", None),
    ],
)
def test_the_published_bands(bound, diverged, band, needed):
    assert published_band(bound, diverged=diverged) == (band, needed)


def test_runs_needed_reach_the_bound_and_one_fewer_does_not():
    _, needed = published_band(0.5, diverged=False)
    assert plumb.wilson(needed, needed).low >= 0.95 > plumb.wilson(needed - 1, needed - 1).low
    with pytest.raises(ParameterError, match="between 0 and 1"):
        published_band(95.0, diverged=True)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        published_band(float("nan"), diverged=True)


def test_a_clean_small_sample_is_said_to_be_too_small():
    found = equivalence(small([("old/t/baseline/0/0", "pay"), ("new/t/baseline/0/0", "pay")]), **ARMS)
    assert found.retirement.runs_needed == 73
    assert "73 clean runs" in str(found.retirement)
    assert found.retirement.to_frame().loc[0, "band"] == found.retirement.band
    assert "<pre>" in found.retirement._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"incumbent": "z"}, "no arm 'z'; it has new, old"),
        ({"replacement": "z"}, "no arm 'z'"),
        ({"definition": "other"}, "allowed are published, plumbline"),
        ({"order": ["old/t/baseline/0/7"]}, "does not hold"),
        ({"outcome_keys": ["amount"]}, "no outcome holds the key 'amount'"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        equivalence(small(MIXED), **{**ARMS, **options})


def test_text_and_html_say_the_same_and_a_run_has_the_verbs():
    found = equivalence(small(MIXED), **ARMS)
    text, page = str(found), found._repr_html_()
    assert text.startswith("r/new against incumbent r/old, published definition: 4 pairs, 0 unpaired")
    for name, estimate in found.measures().items():
        assert f'<th scope="row">{name}</th>' in page
        assert str(estimate) in text
    for note in found.notes():
        assert f"note: {note}" in text
    verbs = plumb.Run.of(small(MIXED))
    assert verbs.equivalence(**ARMS).measures() == found.measures()
    assert verbs.consistency(arm="new").structural.n == 4
    assert found.to_frame().set_index("measure").loc["same path", ["k", "n"]].tolist() == [1, 4]


@settings(max_examples=8, deadline=None)
@given(rows())
def test_the_published_counts_follow_from_a_plain_reading_of_the_definition(drawn):
    if {row[0].split("/")[0] for row in drawn} != {"new", "old"}:
        return
    found, plain = equivalence(small(drawn), **ARMS), plain_equivalence(drawn, "old", "new")
    assert found.unpaired["trial_id"].tolist() == plain.pop("unpaired")
    assert published_counts(found) == plain
    counted = found.by("perturbation").groupby("measure")[["k", "n"]].sum()
    assert tuple(counted.loc["same outcome"]) == plain["outcome"], "perturbations add up to the whole"


@settings(max_examples=8, deadline=None)
@given(rows(("a",)), st.sampled_from(["published", "plumbline"]))
def test_an_arm_is_equivalent_to_itself(drawn, definition):
    """By repetition always; by canonical run where there is one run of each variant."""
    kept = [row for row in drawn if row[2] is not None and (definition == "plumbline" or row[0].endswith("/0"))]
    if not kept:
        return
    found = equivalence(small(kept), incumbent="a", replacement="a", definition=definition)
    assert len(found.unpaired) == len(found.unused) == len(found.divergences) == 0
    for measure in (found.outcome, found.path, found.matched_steps, found.matched_arguments):
        assert measure.value in (1, None)
    assert found.path.n == len(found.pairs)
    assert found.arguments.n == found.path.n, "every path is equal, so every pair counts"


@settings(max_examples=4, deadline=None)
@given(rows(), st.integers(0, 2**31 - 1))
def test_dropping_the_incumbents_runs_of_a_cell_leaves_its_replacements_unpaired(drawn, seed):
    """And changes nothing else, with the rows in any order."""
    if {row[0].split("/")[0] for row in drawn} != {"new", "old"}:
        return
    run = small(drawn)
    whole = equivalence(run, **ARMS)
    lost = run.trials["trial_id"].str.startswith("old/t/baseline/")
    kept = run.trials[~lost]
    if not (kept["arm"] == "old").any():
        return
    steps = run.steps[run.steps["trial_id"].isin(kept["trial_id"])].sample(frac=1, random_state=seed)
    fewer = equivalence(Recording(kept.sample(frac=1, random_state=seed), steps, run_id="r"), **ARMS)
    mine = whole.pairs["trial_id"].str.startswith("new/t/baseline/")
    assert set(fewer.unpaired["trial_id"]) == {*whole.unpaired["trial_id"], *whole.pairs.loc[mine, "trial_id"]}
    rest = whole.pairs[~mine].reset_index(drop=True)
    pd.testing.assert_frame_equal(fewer.pairs, rest)
