"""An arm against itself: the published definition, what changes it, and what it hides."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.analysis import consistency
from plumbline.base.errors import ParameterError
from plumbline.compare import ArgumentRules, identifier, published_rules
from plumbline.traces import Plan, Recording
from tests.analysis.small_runs import HELD, PAID, plain_consistency, rows, small


def counts(found) -> tuple[int | None, int]:
    return found.successes, found.n


def published_counts(found) -> dict:
    names = {"path": "structural", "arguments": "arguments", "outcome": "outcome", "self": "self_consistency"}
    return {name: counts(getattr(found, attribute)) for name, attribute in names.items()}


MIXED = [
    ("a/t/baseline/0/0", "fetch check pay:1"),
    ("a/t/baseline/0/1", "fetch check pay:1"),
    ("a/t/baseline/0/2", "fetch pay:1", HELD),
    ("a/t/noise/0/0", "look fetch check pay:2", HELD),
    ("a/t/noise/0/1", "fetch check pay:2"),
    ("a/t/noise/0/2", "fetch hold", None),
]


def test_every_kind_of_divergence_is_placed_as_published():
    found = consistency(small(MIXED), arm="a")
    assert published_counts(found) == {"path": (3, 6), "arguments": (2, 3), "outcome": (3, 6), "self": (2, 3)}
    table = found.divergences.astype(object).where(found.divergences.notna(), None)
    columns = ["kind", "step_index", "name", "field", "expected", "got", "severity", "count", "trial_ids"]
    assert table[columns].to_numpy().tolist() == [
        ["skipped", 1, "check", None, "check", None, "high", 2, ("a/t/baseline/0/2", "a/t/noise/0/2")],
        ["substitute", 2, "pay", None, "pay", "hold", "high", 1, ("a/t/noise/0/2",)],
        ["arg", 2, "pay", "x", '"1"', '"2"', "high", 1, ("a/t/noise/0/1",)],
        ["extra", -1, "look", None, None, "look", "medium", 1, ("a/t/noise/0/0",)],
    ]
    assert set(found.rows["against"]) == {"t"}
    assert found.references.iloc[0].tolist() == ["t", "baseline", 3, "fetch > check > pay"]


def test_plumbline_judges_arguments_on_every_path_and_outcomes_too():
    found = consistency(small(MIXED), arm="a", definition="plumbline")
    kinds = found.divergences.set_index(["kind", "step_index"])["count"]
    assert kinds["arg", 2] == 2, "also inside the longer path"
    assert kinds["outcome", -1] == 2, "the unrecorded outcome is no divergence"
    assert counts(found.outcome) == (3, 5)
    assert counts(found.matched_arguments) == (4, 6)
    assert counts(found.matched_steps) == (13, 15)


def test_argument_agreement_has_a_denominator_of_its_own():
    found = consistency(small(MIXED), arm="a")
    assert counts(found.arguments) == (2, 3)
    assert counts(found.matched_arguments) == (4, 6)
    assert (found.matched_steps.low, found.matched_steps.high) == (None, None)


TIE = [("a/t/baseline/0/0", "pay:1"), ("a/t/baseline/0/1", "hold"), ("a/t/noise/0/0", "hold")]


def test_a_tie_goes_to_the_trial_that_finished_first_and_is_said():
    default = consistency(small(TIE), arm="a")
    assert counts(default.structural) == (1, 3)
    other = consistency(small(TIE), arm="a", order=["a/t/baseline/0/1"])
    assert counts(other.structural) == (2, 3)
    for found in (default, other):
        assert found.ties[["task_id", "what", "candidates"]].to_numpy().tolist() == [["t", "path", 2]]
        assert any("ties" in note for note in found.notes())


def test_ties_of_arguments_and_outcomes_are_settled_by_order_too():
    run = small(
        [("a/t/baseline/0/0", "pay:1", PAID), ("a/t/baseline/0/1", "pay:2", HELD), ("a/t/noise/0/0", "pay:2", HELD)]
    )
    default = consistency(run, arm="a")
    assert (counts(default.arguments), counts(default.outcome)) == ((1, 3), (1, 3))
    other = consistency(run, arm="a", order=["a/t/baseline/0/1", "a/t/baseline/0/0"])
    assert (counts(other.arguments), counts(other.outcome)) == ((2, 3), (2, 3))
    assert default.ties["what"].tolist() == ["arguments", "outcome"]


def test_the_mode_counts_itself_only_in_the_published_definition():
    run = small([("a/t/baseline/0/0", "pay"), ("a/t/baseline/0/1", "hold")])
    assert counts(consistency(run, arm="a").self_consistency) == (1, 2)
    assert counts(consistency(run, arm="a", definition="plumbline").self_consistency) == (0, 2)
    assert consistency(run, arm="a").agreement.tasks["agreement"].tolist() == [0]


def test_one_trial_is_consistent_as_published_and_cannot_be_told_otherwise():
    run = small([("a/t/baseline/0/0", "pay")])
    assert counts(consistency(run, arm="a").self_consistency) == (1, 1)
    found = consistency(run, arm="a", definition="plumbline")
    assert found.self_consistency.value is None
    assert found.structural.value is None
    assert pd.isna(found.agreement.tasks.loc[0, "agreement"])
    assert found.agreement.baseline.value is None
    assert any("no reference" in note for note in found.notes())
    assert found.to_frame().set_index("measure").loc["same path", "n"] == 0


def test_without_a_baseline_the_reference_is_made_of_all_trials():
    run = small([("a/t/noise/0/0", "pay"), ("a/t/noise/0/1", "pay"), ("a/t/noise/0/2", "hold")])
    found = consistency(run, arm="a")
    assert counts(found.structural) == (2, 3)
    assert found.references.loc[0, "made_of"] == "all"
    assert found.self_consistency.value is None
    assert any("made of all trials: t" in note for note in found.notes())
    mixed = small([("a/t/baseline/0/0", "hold"), ("a/t/noise/0/0", "pay"), ("a/t/noise/0/1", "pay")])
    assert counts(consistency(mixed, arm="a").structural) == (1, 3)
    assert counts(consistency(mixed, arm="a", reference="modal").structural) == (2, 3)


def test_the_agents_own_error_is_behaviour_and_a_refused_call_is_not():
    run = small([*MIXED, ("a/t/noise/0/3", "fetch", None, "agent_error"), ("a/t/noise/0/4", "", None, "no_response")])
    assert consistency(run, arm="a").structural.n == 6
    assert consistency(run, arm="a").missing["status"].tolist() == ["agent_error", "no_response"]
    assert consistency(run, arm="a", definition="plumbline").structural.n == 7
    assert consistency(run, arm="a", definition="plumbline").missing["status"].tolist() == ["no_response"]


def test_arguments_that_were_not_recorded_cannot_be_told():
    run = small([("a/t/baseline/0/0", "?think pay!"), ("a/t/baseline/0/1", "?think pay!")])
    found = consistency(run, arm="a")
    assert counts(found.structural) == (2, 2)
    assert found.arguments.value is None, "two calls without recorded arguments do not agree"
    assert counts(found.matched_steps) == (2, 2), "the decisions take no arguments"
    assert any("cannot be compared" in note for note in found.notes())
    assert len(found.divergences) == 0


def test_a_decision_without_a_name_is_still_a_step():
    trials = pd.DataFrame({"arm": "a", "task_id": "t", "repetition": [0, 1, 2]})
    steps = pd.DataFrame({"trial_id": [f"a/t/baseline/0/{i}" for i in range(3)], "kind": "decision",
                          "name": ["pay", "pay", None], "arguments": "{}"})  # fmt: skip
    found = consistency(Recording(trials, steps, run_id="r"), arm="a")
    assert found.divergences[["kind", "expected", "got"]].to_numpy().tolist() == [["substitute", "pay", "(unnamed)"]]


def test_rules_decide_which_arguments_agree():
    run = small([("a/t/baseline/0/0", "pay:V-1"), ("a/t/baseline/0/1", "pay:V-1"), ("a/t/noise/0/0", "pay:v-1")])
    assert counts(consistency(run, arm="a").arguments) == (3, 3), "the published comparison folds case"
    assert counts(consistency(run, arm="a", definition="plumbline").arguments) == (2, 3)
    for rules in ({"pay": {"x": ("text", "low")}}, published_rules({"pay": {"x": ("ignore", "high")}})):
        assert counts(consistency(run, arm="a", definition="plumbline", argument_rules=rules).arguments) == (3, 3)
    for rules in ({"pay": {"x": identifier()}}, ArgumentRules({"pay": {"x": identifier()}})):
        assert counts(consistency(run, arm="a", argument_rules=rules).arguments) == (2, 3)


def test_outcomes_are_compared_on_the_named_keys():
    outcomes = ['{"paid":true,"n":0}', '{"n":0.0,"paid":true}', '{"n":1,"paid":true}', '{"n":false,"paid":true}']
    trials = ["a/t/baseline/0/0", "a/t/baseline/0/1", "a/t/noise/0/0", "a/t/noise/0/1"]
    run = small([(trial, "pay", outcome) for trial, outcome in zip(trials, outcomes, strict=True)])
    assert counts(consistency(run, arm="a").outcome) == (2, 4), "numbers by value; a boolean is no number"
    assert counts(consistency(run, arm="a", outcome_keys=["paid"]).outcome) == (4, 4)
    with pytest.raises(ParameterError, match="no outcome holds the key 'amount'; the keys are n, paid"):
        consistency(run, arm="a", outcome_keys=["paid", "amount"])
    for wrong in ("paid", []):
        with pytest.raises(ParameterError, match="give a sequence of names"):
            consistency(run, arm="a", outcome_keys=wrong)
    listed = small([("a/t/baseline/0/0", "pay", "[1]")])
    with pytest.raises(ParameterError, match="no object"):
        consistency(listed, arm="a", outcome_keys=["paid"])


def test_ground_truth_stands_beside_what_is_usual():
    trials = [("a/t/baseline/0/0", "hold", HELD), ("a/t/baseline/0/1", "hold", HELD), ("a/t/noise/0/0", "pay", PAID)]
    run = small(trials, tasks={"t": {"context": {"due": True}}})
    found = consistency(run, arm="a", grade=lambda outcome, context: outcome["paid"] == context["due"], ks=(1, 3))
    assert counts(found.outcome) == (2, 3)
    assert counts(found.right) == (1, 3)
    row = found.passes.tasks.set_index(["over", "k"]).loc[("all", 1)]
    assert (row["successes"], row["trials"], row["exact"]) == (1, 3, "1/3")
    assert found.passes.tasks.set_index(["over", "k"]).loc[("baseline", 3), "reads"] == "cannot tell (2 trials)"
    without = consistency(run, arm="a")
    assert without.passes is None
    assert without.right.value is None
    with pytest.raises(ParameterError, match="ks is empty"):
        consistency(run, arm="a", grade=lambda outcome, context: True, ks=())


def test_a_planned_task_without_a_trial_is_not_left_out():
    plan = Plan(("a",), ("t", "u"), ("baseline", "noise"), ("0",), 3)
    found = consistency(small(MIXED, plan=plan), arm="a")
    assert found.references.set_index("task_id").loc["u", "made_of"] == "none"
    table = found.by("task_id").set_index(["task_id", "measure"])
    assert table.loc[("u", "same path"), "reads"] == "cannot tell (0/0)"
    assert found.agreement.baseline.value is None
    assert "u" in found.agreement.baseline.caution[0]
    assert len(found.missing) == 6
    with pytest.raises(ParameterError, match="cannot group by 'colour'; allowed are perturbation, task_id"):
        found.by("colour")


def test_an_arm_without_a_counted_trial_cannot_be_told():
    run = small([("a/t/baseline/0/0", "pay", None, "no_response"), ("b/t/baseline/0/0", "pay")])
    for definition in ("published", "plumbline"):
        found = consistency(run, arm="a", definition=definition)
        assert all(estimate.value is None for estimate in found.measures().values())
        assert len(found.divergences) == 0
        assert "cannot tell" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arm": "z"}, "no arm 'z'; it has a"),
        ({"definition": "other"}, "allowed are published, plumbline"),
        ({"reference": "first"}, "allowed are modal_baseline, modal"),
        ({"order": "a/t/baseline/0/0"}, "order is the text"),
        ({"order": ["a/t/baseline/0/0"] * 2}, "twice; a trial finishes once"),
        ({"order": ["a/t/baseline/0/9"]}, "which run 'r' does not hold"),
        ({"argument_rules": {"pay": "exact"}}, "give ArgumentRules, or tool to field to rule"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        consistency(small(MIXED), **{"arm": "a", **options})


def test_text_and_html_say_the_same():
    found = consistency(small([(t.replace("a/", "a&b/", 1), *rest) for t, *rest in MIXED]), arm="a&b")
    text, page = str(found), found._repr_html_()
    assert text.startswith("consistency of 'a&b' in 'r', published definition: 6 trials counted, 0 missing")
    assert "a&amp;b" in page
    assert "a&b" not in page.replace("a&amp;b", "")
    for name, estimate in found.measures().items():
        assert f"{name}  " in text
        assert f'<th scope="row">{name}</th>' in page
        assert str(estimate) in text
    assert repr(found) == text
    assert found.to_frame()["measure"].tolist() == list(found.measures())


@settings(max_examples=8, deadline=None)
@given(rows(("a",)))
def test_the_published_counts_follow_from_a_plain_reading_of_the_definition(drawn):
    if drawn:
        assert published_counts(consistency(small(drawn), arm="a")) == plain_consistency(drawn, "a")


@settings(max_examples=4, deadline=None)
@given(rows(("a",)), st.randoms(use_true_random=False), st.sampled_from(["published", "plumbline"]))
def test_the_order_of_rows_changes_nothing_and_order_of_completion_only_ties(drawn, chance, definition):
    if not drawn:
        return
    run = small(drawn)
    found = consistency(run, arm="a", definition=definition)
    shuffled = Recording(run.trials.sample(frac=1, random_state=chance.randrange(2**31)), run.steps, run_id="r")
    pd.testing.assert_frame_equal(consistency(shuffled, arm="a", definition=definition).trials, found.trials)
    order = list(run.trials["trial_id"])
    random.Random(chance.randrange(2**31)).shuffle(order)
    other = consistency(run, arm="a", definition=definition, order=order)
    if definition == "published" and found.ties.empty:
        pd.testing.assert_frame_equal(other.divergences, found.divergences)
        assert other.measures() == found.measures()
    parted = [set(each.ties.loc[each.ties["what"] != "arguments", "task_id"]) for each in (found, other)]
    assert parted[0] == parted[1], "which paths and outcomes lead does not depend on order, only which one wins"
