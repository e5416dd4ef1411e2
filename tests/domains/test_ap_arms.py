"""The model arms of accounts payable, with a scripted model in place of a provider's."""

from __future__ import annotations

import json

import pytest

import plumbline as plumb
from plumbline.analysis import interpreted
from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.running.clients import ModelCall, ModelReply, ScriptedClient, Usage

DOMAIN = plumb.load_domain("accounts_payable")
ID = "INV-8202"
NAMED = {"invoice_id": ID}
CHECKS = ("check_po_validity", "match_purchase_order", "check_duplicate", "validate_tax", "check_fx_variance",
          "check_freight")  # fmt: skip
AMOUNT = {"amount_gbp": 3785.00}
VENDOR = {"vendor_id": DOMAIN.task(ID).context["vendor_id"]}
PAYMENT = {**NAMED, **AMOUNT, **VENDOR}
WORK = [
    ("fetch_invoice", NAMED), ("fetch_invoice_lines", NAMED), ("check_vendor_status", VENDOR),
    *((name, NAMED) for name in CHECKS), ("calculate_payable_amount", NAMED), ("lookup_approval_requirement", AMOUNT),
    ("request_approval", {**NAMED, **AMOUNT, "approver_role": "ap_clerk"}), ("schedule_payment", PAYMENT),
    ("post_audit_log", {**NAMED, "action": "paid"}),
]  # fmt: skip


def turns(work):
    said = [ModelReply("", (ModelCall("c", name, json.dumps(given)),), "tool_use", Usage(9, 1)) for name, given in work]
    return [*said, "Paid."]


def choices(work):
    return [*(json.dumps({"tool": name, "arguments": given}) for name, given in work), json.dumps({"answer": "Paid."})]


def one(arm, script):
    agent = DOMAIN.arms[arm](client=ScriptedClient(script), model="m")
    return plumb.run_study(DOMAIN, arms={arm: agent}, tasks=[ID], variants=1, repetitions=1, clock=None)


@pytest.mark.parametrize("arm", ["react", "guarded", "react_choice", "guarded_choice"])
def test_a_model_that_works_by_the_policy_is_right_and_breaks_no_rule(arm):
    run = one(arm, (choices if arm.endswith("choice") else turns)(WORK))
    assert run.trials["status"].tolist() == ["completed"]
    assert DOMAIN.grade(parse_json(run.trials["outcome"][0]), run.context(ID))
    assert run.check(DOMAIN.policy).violations().empty
    assert set(run.steps.loc[run.steps["kind"] == "tool_call", "status"]) == {"ok"}


@pytest.mark.parametrize(("left_out", "told"), [
    ("check_freight", "check_freight has not passed"), ("request_approval", "no approval of this amount"),
    ("check_vendor_status", "the check of the invoice's vendor has not passed"), ("fetch_invoice", "has not been read"),
    ("calculate_payable_amount", "is not what was worked out"),
])  # fmt: skip
def test_the_guard_refuses_a_payment_that_skips_a_control_and_the_rules_see_the_free_one(left_out, told):
    work = [call for call in WORK if call[0] != left_out]
    free, held = one("react", turns(work)), one("guarded", turns(work))
    broken = set(free.check(DOMAIN.policy).violations()["rule"])
    assert any(left_out in rule for rule in broken) or left_out == "request_approval"
    refused = held.steps[held.steps["status"] == "blocked"]
    assert refused["name"].tolist() == ["schedule_payment"]
    assert told in refused["error"].iloc[0]
    assert parse_json(held.trials["outcome"][0])["payment_count"] == 0
    assert parse_json(free.trials["outcome"][0])["payment_count"] == 1


def test_a_second_payment_and_another_amount_are_refused():
    twice = [*WORK[:-1], ("schedule_payment", PAYMENT), WORK[-1]]
    assert one("guarded", turns(twice)).steps["status"].tolist().count("blocked") == 1
    wrong = [
        (name, PAYMENT | {"amount_gbp": 1.00}) if name == "schedule_payment" else (name, given) for name, given in WORK
    ]
    run = one("guarded", turns(wrong))
    assert (
        "the amount 1.0 is not what was worked out" in run.steps.loc[run.steps["status"] == "blocked", "error"].iloc[0]
    )


def test_a_model_that_names_another_document_is_recorded_with_it():
    run = one("plan_execute", ['{"invoice_id": "INV-8201"}'])
    assert not DOMAIN.grade(parse_json(run.trials["outcome"][0]), run.context(ID))
    read = interpreted(run)
    assert read[["named", "right"]].values.tolist() == [["INV-8201", False]]


def test_arms_need_a_model():
    with pytest.raises(ParameterError, match="needs a model to ask"):
        DOMAIN.arms["react"]()


def test_two_procedures_do_not_seal_alike():
    mine = DOMAIN.arms["plan_execute"]().describe()["procedure"]
    other = plumb.load_domain("procure_to_pay").arms["plan_execute"]().describe()["procedure"]
    assert mine["function"] != other["function"]
    assert mine["module"] != other["module"]
