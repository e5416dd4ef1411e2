"""The case of a task is its world: the rows that relations change are the rows that trials meet."""

from __future__ import annotations

import pytest

import plumbline as plumb
from plumbline.rules.metamorphic import make_contract
from plumbline.running import contracts_of, judge_pairs, plan_pairs, run_pairs

NAMES = ("accounts_payable", "procure_to_pay", "questions")


def rows(world, case):
    return {
        name: world.all(f"SELECT {', '.join(found[0])} FROM {name}") for name, found in case.tables.items() if found
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_world_of_a_case_holds_what_a_fresh_world_holds(name):
    domain = plumb.load_domain(name)
    case = domain.case(domain.tasks[0])
    fresh, made = domain.new_world(), domain.world(case)
    assert rows(fresh, case) == rows(made, case) == {n: [dict(r) for r in found] for n, found in case.tables.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_follow_up_is_valid_and_made_again_from_its_contract(name):
    domain = plumb.load_domain(name)
    found = plan_pairs(domain)
    assert found.mostly_invalid == found.unused == ()
    cases = {task.id: domain.case(task) for task in domain.tasks}
    relations = {relation.relation_id: relation for relation in domain.relations()}
    for contract in found.contracts:
        assert contract.valid, contract.reasons
        follow = contract.follow_up(cases[contract.task_id])
        assert follow.digest == relations[contract.relation_id].transformation(cases[contract.task_id]).case.digest
        assert make_contract(relations[contract.relation_id], cases[contract.task_id]) == contract


def test_a_read_run_holds_the_contracts_that_were_planned(tmp_path):
    domain = plumb.load_domain("questions")
    run = run_pairs(domain, arms=["reader"], repetitions=1, out=tmp_path / "q", clock=None)
    again = plumb.read_run(tmp_path / "q")
    assert sorted(c.pair_id for c in contracts_of(again)) == sorted(c.pair_id for c in plan_pairs(domain).contracts)
    assert judge_pairs(again).equals(judge_pairs(run))
