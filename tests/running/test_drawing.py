"""Variants drawn from a domain's catalog when a study names perturbations."""

from __future__ import annotations

import json

import pytest

from plumbline.base.errors import ParameterError
from plumbline.domain import Domain, load_domain
from plumbline.rules import make_variants
from plumbline.running import replay, run_study
from plumbline.running.drawing import draw_variants


@pytest.fixture
def payables():
    return load_domain("procure_to_pay")


def study(domain, **more):
    given = {
        "arms": {"a": replay([], final="done")}, "tasks": ["INV-7002"], "variants": 3, "repetitions": 1, "clock": None,
    } | more  # fmt: skip
    return run_study(domain, **given)


def test_named_perturbations_are_drawn_from_the_catalog_and_guarded(payables):
    run = study(payables, perturbations=["baseline", "paraphrase", "distractor"])
    prompts = run.trials.groupby("perturbation")["prompt"].unique()
    assert len(prompts["baseline"]) == 1
    assert len(prompts["paraphrase"]) == len(prompts["distractor"]) == 3
    assert all("INV-7002" in text and "Ashfield Logistics" in text for texts in prompts for text in texts)
    assert not set(prompts["paraphrase"]) & set(prompts["baseline"])


def test_the_record_counts_what_was_planned_accepted_and_turned_down(payables, tmp_path):
    run = study(payables, perturbations=["paraphrase"], out=tmp_path / "r")
    counts = run.notes["study"]["variants"]["paraphrase"]
    assert (counts["planned"], counts["accepted"], counts["shortfall"]) == (3, 3, 0)
    assert counts["candidates"] == counts["accepted"] + counts["rejected"] + counts["abstained"]
    sealed = json.loads((tmp_path / "r" / "plan.json").read_text())["sections"]["variant_sets"]
    assert [v["prompt"] for v in sealed[0]["accepted"]] == list(run.trials["prompt"])


def test_a_task_or_a_perturbation_more_changes_no_variant_elsewhere(payables):
    few = draw_variants(payables, tasks=["INV-7005"], perturbations=["paraphrase"], variants=3, seed=7)
    many = draw_variants(
        payables, tasks=["INV-7002", "INV-7005"], perturbations=["baseline", "distractor", "paraphrase"], variants=3,
        seed=7,
    )  # fmt: skip
    assert few[0] in many
    other = draw_variants(payables, tasks=["INV-7005"], perturbations=["paraphrase"], variants=3, seed=8)
    assert [v.prompt for v in other[0].accepted] != [v.prompt for v in few[0].accepted]


def test_two_names_with_a_plus_between_are_a_composition(payables):
    run = study(payables, perturbations=["paraphrase+decoy_tools"], variants=1)
    (made,) = draw_variants(
        payables, tasks=["INV-7002"], perturbations=["paraphrase+decoy_tools"], variants=1, seed=7
    )  # fmt: skip
    variant = made.accepted[0]
    assert variant.decoys
    assert [p["perturbation"] for p in variant.parents] == ["paraphrase", "decoy_tools"]
    assert run.trials["prompt"][0] == variant.prompt
    assert run.perturbations == ("paraphrase+decoy_tools",)


@pytest.mark.parametrize("name", ["paraphrse", "paraphrase+nothing", "+"])
def test_an_unknown_perturbation_is_named_with_those_there_are(payables, name):
    with pytest.raises(ParameterError, match=r"catalog has baseline, paraphrase, distractor"):
        study(payables, perturbations=[name])


def test_a_perturbation_that_gives_fewer_leaves_its_trials_in_the_record(payables):
    view = payables.view(payables.task("INV-7002"))
    made = make_variants(view, payables.catalog()["paraphrase"], 2, seed=7, guard=_only_the_first())
    assert (made.shortfall, len(made.rejected)) == (1, 7)
    run = study(payables, perturbations=["paraphrase"], variants=2, variant=[made])
    assert list(run.trials["status"]) == ["completed", "not_run"]
    assert run.notes["study"]["variants"]["paraphrase"]["shortfall"] == 1
    assert run.counts().missing == 1


def _only_the_first():
    from plumbline.rules import Finding, GuardResult

    seen = []

    def guard(before, after, **_):
        seen.append(after)
        if len(seen) == 1:
            return GuardResult("accepted")
        return GuardResult("rejected", (Finding("invalidated", "only the first passes"),))

    return guard


def test_a_catalog_needs_a_view_of_the_tasks(payables):
    names = ("tasks", "new_world", "tools", "outcome", "truth", "grade", "policy", "catalog")
    with pytest.raises(ParameterError, match="no view="):
        Domain("d", "D", **{name: getattr(payables, name) for name in names})
