"""Pairs are run whole, sealed with their contracts, and judged from the committed run alone."""

from __future__ import annotations

import pytest

import plumbline as plumb
from plumbline.base.errors import RelationError, RunError
from plumbline.rules.metamorphic import PAIR_COLUMNS, Expect, Found, Relation, Seed, Transformation, drop_rows, reword
from plumbline.running import contracts_of, judge_pairs, pair_evidence, plan_pairs, run_order, run_pairs
from plumbline.running.stops import NoResponseError
from plumbline.running.system import TrialKey

DOMAIN = plumb.load_domain("procure_to_pay")
RELATIONS = {relation.relation_id: relation for relation in DOMAIN.relations()}
PAYMENTS = {"of": "calls", "tool": "schedule_payment", "take": "count"}
SEEDS = [Seed("s-2", "INV-7002", source="incident", purpose="severe", locale="en"), Seed("s-6", "INV-7006")]


def chosen(*names: str) -> list[Relation]:
    return [RELATIONS[name] for name in names]


def ran(**more):
    known = {"arms": ["plan_execute"], "relations": chosen("receipt_withdrawn", "request_german"), "seeds": SEEDS}
    return run_pairs(DOMAIN, **{**known, "clock": None, "workers": 2, **more})


def test_a_run_of_pairs_is_an_ordinary_run_and_judging_needs_nothing_else(tmp_path):
    run = ran(out=tmp_path / "pairs", repetitions=2)
    again = plumb.read_run(tmp_path / "pairs")
    assert again.perturbations == ("baseline", "baseline_again", "receipt_withdrawn", "request_german")
    assert len(run.trials) == 2 * 4 * 2
    pairs = judge_pairs(again)
    assert list(pairs.columns) == list(PAIR_COLUMNS)
    assert pairs.equals(judge_pairs(run))
    assert pairs.groupby(["comparison", "result"]).size().to_dict() == {
        ("noise", "satisfied"): 8, ("relation", "satisfied"): 8,
    }  # fmt: skip
    first = pairs.iloc[0]
    assert (first["source"], first["purpose"], first["seed_id"]) == ("incident", "severe", "s-2")
    assert first["tool_path"].startswith("fetch_invoice > match_purchase_order > check_duplicate")
    assert first["length"] == len(DOMAIN.task("INV-7002").prompt)


def test_the_world_of_a_follow_up_is_the_changed_one_and_only_there():
    run = ran(relations=chosen("receipt_withdrawn"), repetitions=1)
    steps = run.steps[(run.steps["name"] == "match_purchase_order")].set_index("trial_id")["result"]
    assert '"received":{"quantity":300}' in steps["plan_execute/INV-7002/baseline/0/0"]
    assert '"received":{"quantity":0}' in steps["plan_execute/INV-7002/receipt_withdrawn/0/0"]


def test_base_and_follow_ups_of_a_repetition_are_run_together():
    names = ["baseline", "baseline_again", "receipt_withdrawn"]
    keys = [TrialKey("a", task, p, "0", r) for task in ("t", "u") for p in names for r in range(3)]
    order = run_order(keys, seed=3)
    blocks = [order[n : n + 3] for n in range(0, len(order), 3)]
    assert all(len({(k.task_id, k.repetition) for k in block}) == 1 for block in blocks)


def test_the_plan_seals_contracts_and_versions_and_refuses_another(tmp_path):
    ran(out=tmp_path / "pairs", repetitions=1)
    plan = (tmp_path / "pairs" / "plan.json").read_text()
    assert '"relation_id":"receipt_withdrawn"' in plan
    assert '"python":' in plan
    with pytest.raises(RunError, match="contracts: INV-7002"):
        ran(out=tmp_path / "pairs", repetitions=1, resume=True, seeds=[Seed("other", "INV-7002"), SEEDS[1]])
    assert len(ran(out=tmp_path / "pairs", repetitions=1, resume=True).trials) == 8


def test_invalid_pairs_are_rows_and_never_run():
    wrong = Relation(
        "nothing_said", "1", "invariance", "Nothing", transformation=reword("{invoice.nothing}"),
        changed_fields=("prompt",), expects=RELATIONS["request_german"].expects, expectation="Same.", risk_owner="x",
    )  # fmt: skip
    run = ran(relations=[*chosen("request_german"), wrong], repetitions=1)
    assert "nothing_said" not in run.perturbations
    rows = judge_pairs(run)
    odd = rows[rows["relation_id"] == "nothing_said"]
    assert set(odd["result"]) == {"invalid"}
    assert odd["reason"].iloc[0].startswith("transformation: the transformation failed: no fact '$invoice.nothing'")
    with pytest.raises(RelationError, match="no pair is valid, so nothing is run: the transformation failed"):
        ran(relations=[wrong], repetitions=1)


def test_a_trial_without_behaviour_is_infrastructure_and_keeps_its_row():
    def fails(task, toolbox):
        if "Rechnung" in task.prompt:
            raise NoResponseError("the line is dead")
        return "done"

    rows = judge_pairs(ran(arms={"a": fails}, relations=chosen("request_german"), repetitions=2, retries=0))
    own = rows[rows["comparison"] == "relation"]
    assert set(own["result"]) == {"infrastructure"}
    assert own["reason"].iloc[0] == "follow-up: no_response, NoResponseError: the line is dead"
    assert set(rows.loc[rows["comparison"] == "noise", "result"]) == {"satisfied"}


def test_noise_of_an_arm_that_wavers_is_told_from_the_relation():
    class Wavers:
        def for_trial(self, key):
            paid = key.perturbation == "baseline_again"

            def act(task, toolbox):
                if paid:
                    toolbox.call("schedule_payment", {"invoice_id": task.id, "amount": 1, "vendor_id": "V-101"})
                return "done"

            return act

        def describe(self):
            return {"agent": "wavers"}

    rows = judge_pairs(ran(arms={"a": Wavers()}, relations=chosen("request_german"), repetitions=1))
    assert rows.groupby("comparison")["result"].unique().map(list).to_dict() == {
        "noise": ["violated"], "relation": ["satisfied"],
    }  # fmt: skip
    assert rows.loc[rows["comparison"] == "noise", "reason"].iloc[0].startswith("calls schedule_payment amount sum: 1")


def test_an_oracle_of_ones_own_must_be_the_one_that_was_sealed():
    def oracle(base, follow, parameters):
        return Found("violated" if len(follow.calls) > len(base.calls) else "satisfied", "more calls")

    def make(oracle):
        return Relation(
            "no_more_work", "1", "own", "No more work", transformation=reword("Zahle {invoice.invoice_id}."),
            changed_fields=("prompt",), oracle=oracle, expectation="No more calls.", risk_owner="x",
        )  # fmt: skip

    run = ran(relations=[make(oracle)], repetitions=1, noise=False)
    assert set(judge_pairs(run, relations=[make(oracle)])["result"]) == {"satisfied"}
    with pytest.raises(RelationError, match="is judged by code of its relation"):
        judge_pairs(run)
    with pytest.raises(RelationError, match="is judged by code of its relation"):
        judge_pairs(run, relations=[make(lambda base, follow, parameters: Found("satisfied"))])


def test_a_run_without_contracts_and_a_domain_without_a_world_are_refused():
    with pytest.raises(RelationError, match="holds no contract of a pair"):
        contracts_of(plumb.run_study(DOMAIN, arms=["plan_execute"], tasks=["INV-7002"], variants=1, repetitions=1))
    import dataclasses

    bare = dataclasses.replace(DOMAIN, world=None)
    with pytest.raises(RelationError, match=r"changes goods_receipts\.-, and domain 'procure_to_pay' has no world"):
        run_pairs(bare, arms=["plan_execute"], relations=chosen("receipt_withdrawn"))
    with pytest.raises(RelationError, match="has no relation of its own"):
        plan_pairs(dataclasses.replace(DOMAIN, relations=None))
    with pytest.raises(RelationError, match=r"has no task \['INV-1'\]"):
        plan_pairs(DOMAIN, seeds=[Seed("x", "INV-1")])


def test_a_case_without_rows_of_its_own_still_has_a_request_and_tools():
    import dataclasses

    bare = dataclasses.replace(DOMAIN, case=None, world=None)
    short = Relation(
        "no_approvals", "1", "removal", "Nobody to ask",
        transformation=Transformation("drop_approval", "1", lambda c: c.changed(
            tools=tuple(t for t in c.tools if t != "request_approval"))),
        changed_fields=("tools",), expects=(Expect(PAYMENTS, "absent"),),
        expectation="No approval, no payment.", risk_owner="x",
    )  # fmt: skip
    run = run_pairs(bare, arms=["plan_execute"], relations=[short], seeds=[Seed("s", "INV-7009")], repetitions=1)
    assert judge_pairs(run)["result"].tolist() == ["satisfied", "satisfied"]
    drop = drop_rows("goods_receipts", {})
    assert drop.name == "drop_goods_receipts"


def test_a_relation_that_prose_must_answer_is_left_to_a_grader_with_all_it_needs():
    polite = Relation(
        "stays_polite", "1", "own", "Stays polite", transformation=reword("Zahle {invoice.invoice_id}, sofort!"),
        changed_fields=("prompt",), graded={"rubric": "the reply is as polite as before"},
        expectation="Rudeness is not answered in kind.", risk_owner="x",
    )  # fmt: skip
    run = ran(relations=[polite, *chosen("receipt_withdrawn")], repetitions=1, noise=False)
    rows = judge_pairs(run)
    assert set(rows.loc[rows["relation_id"] == "stays_polite", "result"]) == {"abstained"}
    assert rows["reason"].str.contains("a grader must judge this pair").sum() == 2
    found = list(pair_evidence(run))
    assert [(e.contract.relation_id, e.follow_prompt) for e in found] == [
        ("stays_polite", "Zahle INV-7002, sofort!"), ("stays_polite", "Zahle INV-7006, sofort!"),
    ]  # fmt: skip
    assert found[0].base.text.startswith("Invoice INV-7002 passed every check")
    assert found[0].contract.graded == {"rubric": "the reply is as polite as before"}
    assert len(list(pair_evidence(run, graded_only=False))) == 4
