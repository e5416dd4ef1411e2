"""Accounts payable: the reference breaks no rule, and every planted fault that does harm is caught and localised."""

from __future__ import annotations

import pytest

import plumbline as plumb
from plumbline.analysis import catches, planted_faults, redundant_rules, survivors
from plumbline.base.canonical import parse_json
from plumbline.domains.accounts_payable import rebuild
from plumbline.domains.accounts_payable.arms import plan_execute
from plumbline.domains.accounts_payable.mutants import MUTANTS
from plumbline.rules import SEVERITIES

DOMAIN = plumb.load_domain("accounts_payable")
PERTURBATIONS = ("baseline", "paraphrase", "decoy_tools", "tool_fault", "lost_answer")
NO_HARM = {
    "ignore:check_po_validity": "the order is missing too, and the sanction comes first: only the remark differs",
    "ignore:match_purchase_order": "the duplicate comes first: only the remark differs",
    "refuse:match_purchase_order": "on an invoice that is held anyway only the remark differs",
    "duplicate:fetch_invoice": "reading a record twice harms nothing, and no rule forbids it",
}
"""Faults that are missed somewhere, and why."""


@pytest.fixture(scope="module")
def run():
    arms = {"reference": plan_execute(), **{mutant.id: mutant.of(plan_execute()) for mutant in MUTANTS}}
    tasks = ["INV-8207", "INV-8210", "INV-8211", "INV-8214", "INV-8225", "INV-8226", "INV-8227", "INV-8229"]
    return plumb.run_study(
        DOMAIN, arms=arms, tasks=tasks, perturbations=PERTURBATIONS, variants=1, repetitions=1, clock=None
    )


@pytest.fixture(scope="module")
def verdicts(run):
    return run.check(DOMAIN.policy)


@pytest.fixture(scope="module")
def planted(run, verdicts):
    return planted_faults(run, verdicts, MUTANTS, reference="reference")


def test_the_reference_breaks_no_rule_and_is_right_under_every_perturbation():
    run = plumb.run_study(
        DOMAIN, arms={"reference": plan_execute()}, perturbations=tuple(DOMAIN.catalog()), variants=2, repetitions=1,
        clock=None,
    )  # fmt: skip
    done = run.trials[run.trials["status"] == "completed"]
    assert len(done) == 31 * 10 * 2
    assert run.check(DOMAIN.policy).violations().empty
    assert all(
        DOMAIN.grade(parse_json(row["outcome"]), DOMAIN.task(row["task_id"]).context) for row in done.to_dict("records")
    )


def test_an_executor_that_does_not_try_again_is_not_as_good_and_the_policy_says_where():
    run = plumb.run_study(
        DOMAIN, arms={"once": DOMAIN.arms["plan_execute_once"]()}, perturbations=("baseline", "tool_fault"), variants=1,
        repetitions=1, clock=None,
    )  # fmt: skip
    found = run.check(DOMAIN.policy).violations()
    assert set(found["perturbation"]) == {"tool_fault"}
    assert "must_call:schedule_payment" in set(found["rule"])


def test_every_harmful_fault_is_caught_and_every_other_miss_has_its_reason(planted):
    shown = planted[planted["changed"]]
    missed = shown[shown["harmful"] & ~shown["caught"]]
    assert missed["in_doubt"].all(), "a verdict says that it cannot tell, none says held"
    assert set(missed["perturbation"]) <= {"lost_answer"}
    told = survivors(planted)
    assert set(told.loc[told["in_doubt"] < told["missed"], "fault"]) <= set(NO_HARM)
    assert told["harmful"].sum() == 0
    assert len(MUTANTS) >= 70
    assert set(planted["fault"]) == {mutant.id for mutant in MUTANTS}


def test_what_is_caught_is_localised_at_the_tool_that_went_wrong(planted):
    shown = planted[planted["changed"] & planted["caught"]]
    lost = set(shown.loc[~shown["localised"], "fault"])
    misread = {mutant.id for mutant in MUTANTS if mutant.id.startswith(("ignore:", "refuse:", "accept:"))}
    assert lost <= misread, "a result that is misread shows only in what is done then"


def test_counts_add_up_and_a_rate_has_only_what_showed(planted):
    by_kind, by_severity = catches(planted), catches(planted, "severity")
    assert by_kind["trials"].sum() == by_severity["trials"].sum() == len(planted)
    assert (by_kind["caught"] <= by_kind["changed"]).all()
    assert (by_kind["localised"] <= by_kind["caught"]).all()
    assert (by_kind["tasks_caught"] <= by_kind["tasks"]).all()
    money = catches(planted[planted["fault"] == "amount:currency"], "fault").iloc[0]
    assert money["changed"] == 10, "only the two payable invoices in foreign currency show it, under five perturbations"
    assert catches(planted[planted["fault"] == "amount:rounded"], "fault")["changed"].item() == 10, "2900 is 2900.00"


@pytest.mark.parametrize(("condition", "where"), [("reworded:", {"paraphrase"}), ("decoys:", {"decoy_tools"})])
def test_a_fault_under_one_perturbation_shows_there_alone(planted, condition, where):
    mine = planted[planted["fault"].str.startswith(condition) & planted["changed"]]
    assert set(mine["perturbation"]) == where
    assert mine["caught"].all()


def test_without_a_rule_something_is_missed_or_it_is_called_redundant(run, planted, verdicts):
    table = redundant_rules(planted, verdicts).set_index("rule")
    assert list(table.index) == list(DOMAIN.policy.ids)
    needed = [rule for rule in table.index if table.loc[rule, "faults_alone"]]
    assert {"arg_equals:post_audit_log.invoice_id", "must_call:post_audit_log"} <= set(needed)
    for rule in needed[:3]:
        rest = plumb.Policy("rest", [one for one in DOMAIN.policy if one.id != rule])
        less = planted_faults(run, run.check(rest), MUTANTS, reference="reference")
        missed = less["changed"] & ~less["caught"] & planted["caught"]
        assert less.loc[missed, "fault"].nunique() == table.loc[rule, "faults_alone"]


def test_what_the_reference_breaks_itself_reveals_no_fault(run):
    wrong = plumb.Policy("wrong", [plumb.MustNotCall("fetch_invoice"), plumb.MustCall("post_audit_log")])
    found = planted_faults(run, run.check(wrong), MUTANTS, reference="reference")
    assert set(found.loc[found["caught"], "fault"]) == {"log:never"}
    assert set(found["rules"]) == {(), ("must_call:post_audit_log",)}


def test_planted_faults_need_their_arms(run, verdicts):
    with pytest.raises(plumb.InputError, match="no arm 'other'"):
        planted_faults(run, verdicts, MUTANTS, reference="other")
    with pytest.raises(plumb.InputError, match="faults is empty"):
        planted_faults(run, verdicts, [], reference="reference")


def test_every_mutant_says_what_it_is():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    tools = {tool.name for tool in DOMAIN.tools}
    for mutant in MUTANTS:
        assert mutant.tool in tools
        assert mutant.severity in SEVERITIES
        assert mutant.description.endswith(".")
        assert mutant.of(plan_execute()).describe()["mutant"] == mutant.id


def test_paying_again_after_a_lost_answer_is_caught_and_the_reference_does_not():
    again = [mutant for mutant in MUTANTS if mutant.kind == "pay after a time-out"]
    arms = {"reference": plan_execute(), **{mutant.id: mutant.of(plan_execute()) for mutant in again}}
    run = plumb.run_study(
        DOMAIN, arms=arms, tasks=["INV-8201", "INV-8202", "INV-8229"], perturbations=("lost_answer",), variants=4,
        repetitions=1, clock=None,
    )  # fmt: skip
    found = planted_faults(run, run.check(DOMAIN.policy), again, reference="reference")
    shown = found[found["changed"]]
    assert shown.groupby("fault").size().to_dict() == {"pay:again": 2, "credit:again": 1}
    assert shown["harmful"].all()
    assert {rule for rules in shown["rules"] for rule in rules} == {"pays_once_even_in_doubt", "credits_once_in_doubt"}
    mine = run.trials[run.trials["arm"] == "reference"]
    assert set(mine["exposure"]) == {"delivered"}
    assert all(
        DOMAIN.grade(parse_json(row["outcome"]), DOMAIN.task(row["task_id"]).context) for row in mine.to_dict("records")
    )


def test_an_executor_acts_alike_where_only_what_a_model_is_shown_differs():
    others = tuple(name for name in DOMAIN.catalog() if name not in rebuild.PLANTED)
    assert others == ("tool_order", "schema_order", "field_order", "sampling")
    few = [mutant for mutant in MUTANTS if mutant.id in ("drop:validate_tax", "reworded:validate_tax", "pay:vendor")]
    run = plumb.run_study(
        DOMAIN, arms={mutant.id: mutant.of(plan_execute()) for mutant in few}, tasks=["INV-8201", "INV-8224"],
        perturbations=("baseline", *others), variants=1, repetitions=1, clock=None,
    )  # fmt: skip
    steps = run.steps.assign(task_id=run.steps["trial_id"].str.split("/").str[1])
    done = steps.groupby("trial_id").apply(lambda rows: tuple(zip(rows["name"], rows["arguments"], strict=True)))
    for mutant in few:
        for task in ("INV-8201", "INV-8224"):
            plain = done[f"{mutant.id}/{task}/baseline/0/0"]
            told = [done[f"{mutant.id}/{task}/{name}/0/0"] for name in others if name != "field_order"]
            assert told == [plain] * len(told)
