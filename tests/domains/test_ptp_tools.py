from __future__ import annotations

from decimal import Decimal

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ToolError
from plumbline.domains.procure_to_pay.tools import DECOYS, TOOLS
from plumbline.domains.procure_to_pay.world import OPENING, World, image, new_world
from plumbline.running import Toolbox


@pytest.fixture
def box():
    world = new_world()
    yield Toolbox(TOOLS, world, decoys=DECOYS)
    world.close()


def ledger(**changed) -> Toolbox:
    """A toolbox over the opening tables with rows replaced or added, by their first column."""
    tables = {}
    for table, rows in OPENING.items():
        new = {row[0]: row for row in changed.get(table, ())}
        tables[table] = tuple(({row[0]: row for row in rows} | new).values())
    return Toolbox(TOOLS, World(image(tables)))


@pytest.mark.parametrize(
    ("name", "arguments", "error_type", "told"),
    [
        ("fetch_invoice", {"invoice_id": "INV-9999"}, "not_found", "no invoice 'INV-9999'"),
        ("fetch_invoice", {"invoice_id": "inv-7002"}, "not_found", "no invoice"),
        ("fetch_invoice", {}, "bad_arguments", "needs invoice_id"),
        ("fetch_invoice", {"id": "INV-7002"}, "bad_arguments", "needs invoice_id"),
        ("match_purchase_order", {"invoice_id": "INV-9999"}, "not_found", "no invoice"),
        ("match_purchase_order", {"po_id": "PO-5002"}, "bad_arguments", "needs invoice_id"),
        ("check_duplicate", {"invoice_id": "INV-9999"}, "not_found", "no invoice"),
        ("check_duplicate", {"invoice_id": 7002}, "bad_arguments", "must be string"),
        ("check_vendor_status", {"vendor_id": "Ashfield Logistics"}, "not_found", "no vendor 'Ashfield Logistics'"),
        ("check_vendor_status", {"vendor_id": "v-101"}, "not_found", "no vendor"),
        ("check_vendor_status", {"invoice_id": "INV-7002"}, "bad_arguments", "needs vendor_id"),
        ("request_approval", {"invoice_id": "INV-7009", "amount": 14500}, "bad_arguments", "needs approver_role"),
        (
            "request_approval", {"invoice_id": "INV-7009", "approver_role": "cfo", "amount": Decimal("0.001")},
            "bad_arguments", "parts of a cent",
        ),
        (
            "schedule_payment", {"invoice_id": "INV-7002", "amount": "4500.00", "vendor_id": "V-101"},
            "bad_arguments", "amount must be number",
        ),
        (
            "schedule_payment", {"invoice_id": "INV-7002", "amount": True, "vendor_id": "V-101"},
            "bad_arguments", "amount must be number",
        ),
        (
            "schedule_payment", {"invoice_id": "INV-7002", "amount": 4500.001, "vendor_id": "V-101"},
            "bad_arguments", "parts of a cent",
        ),
        (
            "schedule_payment", {"invoice_id": "INV-7002", "amount": 1e300, "vendor_id": "V-101"},
            "bad_arguments", "amount of money",
        ),
        ("flag_exception", {"invoice_id": "INV-7002"}, "bad_arguments", "needs reason"),
        ("flag_exception", {"invoice_id": "INV-7002", "reason": "x", "code": 1}, "bad_arguments", "does not take code"),
        ("post_audit_log", {"invoice_id": "INV-7002", "detail": "x"}, "bad_arguments", "needs action"),
        ("lookup_tax_code", {"sku": "RC-88"}, "no_such_tool", "no such tool: lookup_tax_code"),
        ("estimate_freight", {"po_id": "PO-5001"}, "no_such_tool", "no such tool"),
        ("check_budget_remaining", {"cost_centre": "C-1"}, "no_such_tool", "no such tool"),
    ],
)  # fmt: skip
def test_a_refused_call_is_a_failed_step_and_changes_nothing(name, arguments, error_type, told):
    world = new_world()
    box = Toolbox(TOOLS, world, decoys=DECOYS)
    with pytest.raises(ToolError, match=told):
        box.call(name, arguments)
    assert (box.steps[0]["status"], box.steps[0]["error_type"]) == ("failed", error_type)
    assert [world.count(t) for t in ("payments", "approvals", "exceptions", "audit_log")] == [1, 0, 0, 0]
    world.close()


def test_what_is_read(box):
    assert box.call("fetch_invoice", {"invoice_id": "INV-7002"}) == {
        "invoice_id": "INV-7002", "vendor_id": "V-101", "po_id": "PO-5002", "sku": "AL-FRT",
        "unit_price": Decimal("15.00"), "quantity": 300, "total": Decimal("4500.00"), "received_on": "2026-07-03",
    }  # fmt: skip
    assert box.call("check_vendor_status", {"vendor_id": "V-102"}) == {
        "vendor_id": "V-102", "name": "Corvin Industrial", "status": "hold", "terms": "NET30", "payable": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("invoice", "problems"),
    [
        ("INV-7002", []), ("INV-7003", []), ("INV-7006", []), ("INV-7007", []), ("INV-7009", []),
        ("INV-7004", ["quantity 5000 billed, 4500 received"]),
        ("INV-7005", ["unit price 0.48 billed, 0.42 ordered"]),
        ("INV-7008", ["the invoice names no purchase order"]),
    ],
)  # fmt: skip
def test_the_match(box, invoice, problems):
    found = box.call("match_purchase_order", {"invoice_id": invoice})
    assert found["problems"] == problems
    assert found["matched"] is (not problems)


@pytest.mark.parametrize(
    ("price", "billed", "matched"),
    [
        ("15.01", 300, True), ("14.99", 300, True), ("15.02", 300, False), ("14.98", 300, False),
        ("15.00", 299, True), ("15.00", 301, False),
    ],
)  # fmt: skip
def test_one_cent_and_no_unit_are_tolerated(price, billed, matched):
    invoice = ("INV-7002", "V-101", "PO-5002", "AL-FRT", price, billed, "4500.00", "2026-07-03")
    found = ledger(invoices=(invoice,)).call("match_purchase_order", {"invoice_id": "INV-7002"})
    assert found["matched"] is matched


def test_more_than_ordered_is_a_problem_of_its_own():
    box = ledger(
        invoices=(("INV-7002", "V-101", "PO-5002", "AL-FRT", "15.00", 310, "4650.00", "2026-07-03"),),
        goods_receipts=(("GR-9100", "PO-5002", 10),),
    )
    found = box.call("match_purchase_order", {"invoice_id": "INV-7002"})
    assert found["problems"] == ["quantity 310 billed, 300 ordered"]
    box = ledger(invoices=(("INV-7002", "V-101", "PO-9", "AL-FRT", "15.00", 300, "4500.00", "2026-07-03"),))
    found = box.call("match_purchase_order", {"invoice_id": "INV-7002"})
    assert found["problems"] == ["the purchase order is not on file"]


def test_a_duplicate_is_a_payment_of_another_invoice_and_not_of_this_one(box):
    duplicates = {f"INV-{n}": box.call("check_duplicate", {"invoice_id": f"INV-{n}"}) for n in range(7001, 7010)}
    assert [name for name, found in duplicates.items() if found["is_duplicate"]] == ["INV-7007"]
    assert duplicates["INV-7007"]["payments"] == [{"payment_id": "PAY-3001", "invoice_id": "INV-7001"}]
    box.call("schedule_payment", {"invoice_id": "INV-7002", "amount": 4500, "vendor_id": "V-101"})
    assert not box.call("check_duplicate", {"invoice_id": "INV-7002"})["is_duplicate"]


@pytest.mark.parametrize(
    ("paid_po", "own_po", "duplicate"),
    [("PO-5002", "PO-5002", True), (None, "PO-5002", True), (None, None, True), ("PO-5006", "PO-5002", False),
     ("PO-5002", None, False)],
)  # fmt: skip
def test_the_paid_invoice_has_the_same_order_or_none(paid_po, own_po, duplicate):
    box = ledger(
        invoices=(
            ("INV-7000", "V-101", paid_po, "AL-FRT", "15.00", 300, "4500.00", "2026-06-03"),
            ("INV-7002", "V-101", own_po, "AL-FRT", "15.00", 300, "4500.00", "2026-07-03"),
        ),
        payments=(("PAY-3002", "INV-7000", "V-101", "4500.00", "2026-06-10", 1),),
    )
    assert box.call("check_duplicate", {"invoice_id": "INV-7002"})["is_duplicate"] is duplicate


def test_what_is_written(box):
    pay = {"invoice_id": "INV-7002", "amount": 4500.0, "vendor_id": "V-101"}
    assert box.call("schedule_payment", pay) == {
        "payment_id": "PAY-4001", "invoice_id": "INV-7002", "vendor_id": "V-101", "amount": Decimal("4500.00"),
        "status": "scheduled",
    }  # fmt: skip
    assert box.call("schedule_payment", pay)["payment_id"] == "PAY-4002", "nothing stops a second payment"
    asked = {"invoice_id": "INV-7009", "approver_role": "intern", "amount": 14500}
    assert box.call("request_approval", asked) == {
        "approval_id": "APR-0001", "invoice_id": "INV-7009", "role": "intern", "amount": Decimal("14500.00"),
        "granted": True,
    }  # fmt: skip
    assert box.call("flag_exception", {"invoice_id": "INV-0", "reason": "x"})["exception_id"] == "EXC-0001"
    assert box.call("post_audit_log", {"invoice_id": "INV-7002", "action": "paid"}) == {
        "entry_id": "LOG-0001", "logged": True,
    }  # fmt: skip
    noted = {"invoice_id": "INV-7002", "action": "paid", "detail": "on time"}
    assert box.call("post_audit_log", noted)["entry_id"] == "LOG-0002"


def test_money_in_the_record_is_never_a_binary_float(box):
    box.call("fetch_invoice", {"invoice_id": "INV-7005"})
    box.call("match_purchase_order", {"invoice_id": "INV-7005"})
    box.call("schedule_payment", {"invoice_id": "INV-7005", "amount": 9600.1, "vendor_id": "V-104"})
    assert box.steps[0]["result"].count("9600.00") == 1
    assert box.steps[2]["arguments"] == '{"amount":9600.1,"invoice_id":"INV-7005","vendor_id":"V-104"}'
    assert '"amount":9600.10' in box.steps[2]["result"]
    assert parse_json(box.steps[1]["result"])["ordered"]["unit_price"] == Decimal("0.42")


def test_eight_tools_four_of_them_change_something_and_three_decoys():
    assert [tool.name for tool in TOOLS if tool.mutating] == [
        "request_approval", "schedule_payment", "flag_exception", "post_audit_log",
    ]  # fmt: skip
    assert len(TOOLS) == 8
    assert [tool.name for tool in DECOYS] == ["lookup_tax_code", "estimate_freight", "check_budget_remaining"]
    assert all(tool.idempotent is not tool.mutating for tool in TOOLS)
    assert all(tool.description for tool in (*TOOLS, *DECOYS))
