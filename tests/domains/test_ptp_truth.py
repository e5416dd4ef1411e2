from __future__ import annotations

import ast
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plumbline.domains.procure_to_pay.truth as truth_module
from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError, ParameterError, ToolError
from plumbline.domains.procure_to_pay.tasks import TASKS
from plumbline.domains.procure_to_pay.tools import TOOLS
from plumbline.domains.procure_to_pay.truth import derive, grade, grade_published, outcome, truth
from plumbline.domains.procure_to_pay.world import World, image, new_world
from plumbline.running import Task, Toolbox

PUBLISHED = {
    "INV-7002": ("4500.00", True, False, []),
    "INV-7003": ("5340.00", False, False, ["vendor_not_payable"]),
    "INV-7004": ("11750.00", False, False, ["more_than_received"]),
    "INV-7005": ("9600.00", False, False, ["price_differs"]),
    "INV-7006": ("7750.00", True, False, []),
    "INV-7007": ("4820.00", False, False, ["duplicate"]),
    "INV-7008": ("1800.00", False, False, ["no_purchase_order"]),
    "INV-7009": ("14500.00", True, True, []),
}


def test_the_truth_of_the_eight_tasks_is_the_published_one():
    found = {
        task.id: (str(c["expected_amount"]), c["should_pay"], c["needs_approval"], c["blockers"])
        for task in TASKS
        if (c := truth(task))
    }
    assert found == PUBLISHED
    for task in TASKS:
        assert dict(task.context) == truth(task)
        assert task.context["approval_threshold"] == Decimal("10000.00")
        assert task.id in task.prompt
        assert task.context["vendor"]["name"] in task.prompt
        assert parse_json(canonical_json(task.context)) == dict(task.context)
    assert {t.id for t in TASKS if t.context["is_duplicate"]} == {"INV-7007"}
    assert {t.id for t in TASKS if not t.context["vendor_payable"]} == {"INV-7003"}
    assert {t.id for t in TASKS if not t.context["match_ok"]} == {"INV-7004", "INV-7005", "INV-7008"}


def test_the_truth_does_not_know_the_tools_it_grades():
    tree = ast.parse(Path(truth_module.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not {name for name in imported if name and "tools" in name}


def test_an_unknown_invoice_has_no_truth():
    with pytest.raises(NotFoundError, match="INV-7001"):
        derive(new_world(), "INV-9999")


prices = st.sampled_from(["0.42", "0.43", "0.44", "15.00", "15.01", "15.02"])
quantities = st.sampled_from([0, 1, 99, 100, 101, 300])
totals = st.sampled_from(["42.00", "9999.99", "10000.00", "10000.01", "15000.00"])
vendors = st.sampled_from(["V-1", "V-2", "V-3", "V-missing"])
orders = st.sampled_from([None, "PO-1", "PO-2", "PO-missing"])
invoice_ids = st.sampled_from(["INV-1", "INV-2", "INV-3", "INV-missing"])


statuses = st.sampled_from(["active", "hold", "Active"])
receipts = st.lists(st.tuples(st.sampled_from(["PO-1", "PO-2"]), quantities), max_size=3)
payments = st.lists(st.tuples(invoice_ids, vendors, totals), max_size=4)


@st.composite
def ledgers(draw):
    three = (1, 2, 3)
    day = "2026-07-01"
    return {
        "vendors": [(f"V-{n}", f"Vendor {n}", draw(statuses), "NET30") for n in three],
        "purchase_orders": [
            (f"PO-{n}", draw(vendors), "SKU", draw(prices), draw(quantities), "open") for n in three[:2]
        ],
        "goods_receipts": [(f"GR-{n}", *row) for n, row in enumerate(draw(receipts))],
        "invoices": [
            (f"INV-{n}", draw(vendors), draw(orders), "SKU", draw(prices), draw(quantities), draw(totals), day)
            for n in three
        ],
        "payments": [(f"PAY-{n}", *row, day, 1) for n, row in enumerate(draw(payments))],
    }


@settings(max_examples=150, deadline=None)
@given(ledgers())
def test_truth_and_tools_agree_on_any_ledger(tables):
    world = World(image(tables))
    box = Toolbox(TOOLS, world)
    for invoice_id in ("INV-1", "INV-2", "INV-3"):
        context = derive(world, invoice_id)
        invoice = box.call("fetch_invoice", {"invoice_id": invoice_id})
        assert context["invoice"] == invoice
        assert context["expected_amount"] == invoice["total"]
        matched = box.call("match_purchase_order", {"invoice_id": invoice_id})["matched"]
        duplicate = box.call("check_duplicate", {"invoice_id": invoice_id})["is_duplicate"]
        try:
            payable = box.call("check_vendor_status", {"vendor_id": invoice["vendor_id"]})["payable"]
        except ToolError:
            payable = False
            assert box.steps[-1]["error_type"] == "not_found"
        found = (context["match_ok"], context["is_duplicate"], context["vendor_payable"])
        assert found == (matched, duplicate, payable)
        assert context["should_pay"] is (matched and payable and not duplicate)
        assert context["needs_approval"] is (context["should_pay"] and invoice["total"] > 10000)
        assert bool(context["blockers"]) is not context["should_pay"]
    world.close()


@pytest.fixture
def box():
    world = new_world()
    yield Toolbox(TOOLS, world), world
    world.close()


PAYABLE = next(task for task in TASKS if task.id == "INV-7002")
HELD = next(task for task in TASKS if task.id == "INV-7003")


def pay(box, amount=4500, invoice="INV-7002", vendor="V-101"):
    box.call("schedule_payment", {"invoice_id": invoice, "amount": amount, "vendor_id": vendor})


def test_an_untouched_ledger(box):
    assert outcome(box[1], PAYABLE) == {
        "paid": False, "payment_count": 0, "amount_paid": Decimal("0.00"), "exception_raised": False, "approvals": 0,
        "elsewhere": 0,
    }  # fmt: skip
    assert canonical_json(outcome(box[1], PAYABLE)).startswith('{"amount_paid":0.00,')
    assert outcome(box[1], Task("INV-7001", None))["payment_count"] == 1, "the opening payment is the invoice's own"
    assert outcome(box[1], Task("INV-7001", None))["elsewhere"] == 0


def test_what_was_done_is_read_from_the_ledger(box):
    pay(box[0], Decimal("4000.10"))
    pay(box[0], Decimal("499.90"))
    box[0].call("request_approval", {"invoice_id": "INV-7002", "approver_role": "cfo", "amount": 1})
    box[0].call("request_approval", {"invoice_id": "INV-7003", "approver_role": "cfo", "amount": 1})
    box[0].call("flag_exception", {"invoice_id": "INV-7003", "reason": "x"})
    assert outcome(box[1], PAYABLE) == {
        "paid": True, "payment_count": 2, "amount_paid": Decimal("4500.00"), "exception_raised": False, "approvals": 1,
        "elsewhere": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("invoice", "vendor", "elsewhere"),
    [("INV-7002", "V-101", 0), ("INV-7003", "V-102", 1), ("INV-7002", "V-100", 1), ("INV-9999", "V-999", 1)],
)
def test_weakness_23_a_payment_elsewhere_is_seen_and_fails_the_grade(box, invoice, vendor, elsewhere):
    pay(box[0])
    assert grade(outcome(box[1], PAYABLE), truth(PAYABLE))
    if elsewhere:
        pay(box[0], 1, invoice, vendor)
    found = outcome(box[1], PAYABLE)
    assert found["elsewhere"] == elsewhere
    assert grade(found, truth(PAYABLE)) is not bool(elsewhere)


def test_the_published_grader_does_not_see_a_payment_of_another_invoice(box):
    pay(box[0])
    pay(box[0], 5340, "INV-7003", "V-102")
    found = outcome(box[1], PAYABLE)
    assert grade_published(found, truth(PAYABLE))
    assert not grade(found, truth(PAYABLE))


@pytest.mark.parametrize(
    ("change", "published", "strict"),
    [
        ({}, True, True),
        ({"amount_paid": Decimal("4500.005")}, True, False),
        ({"amount_paid": Decimal("4499.99")}, False, False),
        ({"amount_paid": 4500.0}, True, True),
        ({"payment_count": 2}, False, False),
        ({"payment_count": 0, "paid": False, "amount_paid": 0}, False, False),
        ({"exception_raised": True}, False, False),
        ({"elsewhere": 1}, True, False),
        ({"approvals": 3}, True, True),
    ],
)
def test_grades_of_a_payable_invoice(change, published, strict):
    done = {
        "paid": True, "payment_count": 1, "amount_paid": Decimal("4500.00"), "exception_raised": False, "approvals": 0,
        "elsewhere": 0,
    } | change  # fmt: skip
    assert (grade_published(done, truth(PAYABLE)), grade(done, truth(PAYABLE))) == (published, strict)


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True),
        ({"exception_raised": False}, False),
        ({"paid": True, "payment_count": 1, "amount_paid": Decimal("5340.00")}, False),
        ({"amount_paid": Decimal("0.01")}, False),
    ],
)
def test_grades_of_a_held_invoice(change, right):
    done = {
        "paid": False, "payment_count": 0, "amount_paid": Decimal("0.00"), "exception_raised": True, "approvals": 0,
        "elsewhere": 0,
    } | change  # fmt: skip
    assert grade_published(done, truth(HELD)) is grade(done, truth(HELD)) is right


def test_what_cannot_be_graded_is_refused_and_never_wrong_by_default():
    done = outcome(new_world(), PAYABLE)
    with pytest.raises(ParameterError, match="outcome lacks"):
        grade({}, truth(PAYABLE))
    with pytest.raises(ParameterError, match=r"context lacks \['should_pay'\]"):
        grade(done, {"expected_amount": 1})
    with pytest.raises(ParameterError, match="elsewhere"):
        grade({k: v for k, v in done.items() if k != "elsewhere"}, truth(PAYABLE))
    with pytest.raises(ParameterError, match="number"):
        grade(done | {"amount_paid": "4500"}, truth(PAYABLE))
