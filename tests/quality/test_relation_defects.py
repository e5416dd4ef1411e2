"""Each ready relation finds the defect planted for it, no other relation does, and the clean twin passes them all."""

from __future__ import annotations

import importlib

import pytest

import plumbline as plumb
from plumbline.rules.metamorphic import KINDS, Seed
from plumbline.running import judge_pairs, run_pairs

DOMAINS = {"procure_to_pay": "plan_execute", "accounts_payable": "plan_execute", "questions": "reader"}

SEEDS = {"accounts_payable": [f"INV-{n}" for n in (8201, 8202, 8205, 8207, 8210, 8213, 8225, 8227, 8229)]}
"""Enough of each kind of document; the others tell no more of the relations."""


@pytest.fixture(scope="module", params=DOMAINS)
def judged(request):
    domain = plumb.load_domain(request.param)
    mutants = importlib.import_module(f"plumbline.domains.{request.param}.relation_mutants").RELATION_MUTANTS
    clean = domain.arms[DOMAINS[request.param]]()
    arms = {"clean": clean} | {name: mutant.of(clean) for name, mutant in mutants.items()}
    seeds = [Seed(name, name) for name in SEEDS.get(request.param, ())] or None
    run = run_pairs(domain, arms=arms, seeds=seeds, repetitions=1, clock=None, workers=2)
    return domain, mutants, judge_pairs(run)


def test_every_relation_has_its_planted_defect_and_every_kind_is_there(judged):
    domain, mutants, _ = judged
    assert set(mutants) == {relation.relation_id for relation in domain.relations()}
    assert {relation.kind for relation in domain.relations()} == set(KINDS) - {"own"}


def test_each_defect_is_found_by_its_relation_alone(judged):
    _, mutants, pairs = judged
    hit = pairs[(pairs["result"] == "violated") & (pairs["comparison"] == "relation")]
    found = {arm: sorted(set(hit.loc[hit["arm"] == arm, "relation_id"])) for arm in mutants}
    assert found == {name: [name] for name in mutants}
    assert hit["confirmed"].all()
    assert hit["follow_witness"].notna().all()


def test_the_clean_twin_passes_every_pair(judged):
    _, _, pairs = judged
    clean = pairs[pairs["arm"] == "clean"]
    assert set(clean["result"]) == {"satisfied"}
    assert not (pairs.loc[pairs["comparison"] == "noise", "result"] == "violated").any()


def test_ready_relations_may_be_used_by_a_gate(judged):
    domain, _, _ = judged
    assert [relation.trouble() for relation in domain.relations()] == [""] * len(domain.relations())
