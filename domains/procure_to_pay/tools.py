"""The eight tools that act on the system of record, and three that are offered but do not exist.

The tools do what their callers ask: nothing stops a payment that should not be made. That is what the policy is for.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.domains.procure_to_pay.world import PRICE_TOLERANCE, World, to_cents
from plumbline.running import Tool
from plumbline.running.tool import parameters, text

__all__ = ["DECOYS", "TOOLS"]


def fetch_invoice(world: World, invoice_id: str) -> dict[str, Any]:
    """Return the invoice's record."""
    found = world.one("SELECT * FROM invoices WHERE invoice_id = ?", invoice_id)
    if found is None:
        raise ToolError(f"no invoice {invoice_id!r} on file; invoice ids look like INV-7002", "not_found")
    return found


def match_purchase_order(world: World, invoice_id: str) -> dict[str, Any]:
    """Compare price and quantity of an invoice with its order and with what was received."""
    invoice = fetch_invoice(world, invoice_id)
    if invoice["po_id"] is None:
        return {"matched": False, "po_id": None, "problems": ["the invoice names no purchase order"]}
    order = world.one("SELECT * FROM purchase_orders WHERE po_id = ?", invoice["po_id"])
    if order is None:
        return {"matched": False, "po_id": invoice["po_id"], "problems": ["the purchase order is not on file"]}
    received = world.all("SELECT quantity FROM goods_receipts WHERE po_id = ?", order["po_id"])
    arrived = sum(row["quantity"] for row in received)
    price, ordered_price, billed = invoice["unit_price"], order["unit_price"], invoice["quantity"]
    problems = []
    if abs(price - ordered_price) > PRICE_TOLERANCE:
        problems.append(f"unit price {price} billed, {ordered_price} ordered")
    if billed > arrived:
        problems.append(f"quantity {billed} billed, {arrived} received")
    if billed > order["quantity"]:
        problems.append(f"quantity {billed} billed, {order['quantity']} ordered")
    return {
        "matched": not problems, "po_id": order["po_id"], "problems": problems,
        "billed": {"unit_price": price, "quantity": billed},
        "ordered": {"unit_price": ordered_price, "quantity": order["quantity"]}, "received": {"quantity": arrived},
    }  # fmt: skip


def check_duplicate(world: World, invoice_id: str) -> dict[str, Any]:
    """Look for a payment of another invoice of the vendor with the same amount and the same order, or without one."""
    invoice = fetch_invoice(world, invoice_id)
    found = world.all(
        "SELECT p.payment_id, p.invoice_id FROM payments AS p LEFT JOIN invoices AS i USING (invoice_id) "
        "WHERE p.vendor_id = ? AND p.invoice_id <> ? AND p.amount = ? AND (i.po_id IS NULL OR i.po_id = ?) "
        "ORDER BY p.payment_id",
        invoice["vendor_id"], invoice_id, to_cents(invoice["total"]), invoice["po_id"],
    )  # fmt: skip
    return {"is_duplicate": bool(found), "payments": found}


def check_vendor_status(world: World, vendor_id: str) -> dict[str, Any]:
    """Return whether a vendor may be paid."""
    found = world.one("SELECT * FROM vendors WHERE vendor_id = ?", vendor_id)
    if found is None:
        raise ToolError(f"no vendor {vendor_id!r} on file; vendor ids look like V-100", "not_found")
    return found | {"payable": found["status"] == "active"}


def request_approval(world: World, invoice_id: str, approver_role: str, amount: Decimal | int) -> dict[str, Any]:
    """Ask for an approval; it is always granted."""
    key = f"APR-{world.count('approvals') + 1:04}"
    row = {"approval_id": key, "invoice_id": invoice_id, "role": approver_role, "amount": _money(amount)}
    world.add("approvals", row)
    return row | {"granted": True}


def schedule_payment(world: World, invoice_id: str, amount: Decimal | int, vendor_id: str) -> dict[str, Any]:
    """Pay, whatever is asked for."""
    key = f"PAY-{world.count('payments') + 4000:04}"
    row = {"payment_id": key, "invoice_id": invoice_id, "vendor_id": vendor_id, "amount": _money(amount)}
    world.add("payments", row)
    return row | {"status": "scheduled"}


def flag_exception(world: World, invoice_id: str, reason: str) -> dict[str, Any]:
    """Hold an invoice for people to look at."""
    key = f"EXC-{world.count('exceptions') + 1:04}"
    world.add("exceptions", {"exception_id": key, "invoice_id": invoice_id, "reason": reason})
    return {"exception_id": key, "invoice_id": invoice_id, "status": "open"}


def post_audit_log(world: World, invoice_id: str, action: str, detail: str | None = None) -> dict[str, Any]:
    """Write down what was done."""
    key = f"LOG-{world.count('audit_log') + 1:04}"
    world.add("audit_log", {"entry_id": key, "invoice_id": invoice_id, "action": action, "detail": detail})
    return {"entry_id": key, "logged": True}


def _money(amount: Decimal | int) -> Decimal:
    """Return the amount in whole cents, or refuse it."""
    try:
        return Decimal(to_cents(amount)).scaleb(-2)
    except ParameterError as error:
        raise ToolError(str(error), "bad_arguments") from None


_INVOICE = text("Number of the invoice, such as INV-7002.")
_VENDOR = text("Number of the vendor, such as V-100; a name is not accepted.")
_ROLE = text("Who approves, such as controller or cfo.")
_AMOUNT = {"type": "number", "description": "Amount with at most two decimals."}


TOOLS = (
    Tool(
        "fetch_invoice", fetch_invoice, parameters({"invoice_id": _INVOICE}), idempotent=True,
        description="Read an invoice: vendor, purchase order, article, unit price, quantity, total, date received.",
    ),
    Tool(
        "match_purchase_order", match_purchase_order, parameters({"invoice_id": _INVOICE}), idempotent=True,
        description="Compare an invoice with its purchase order and the goods received; lists what does not agree.",
    ),
    Tool(
        "check_duplicate", check_duplicate, parameters({"invoice_id": _INVOICE}), idempotent=True,
        description="Look for a payment that already settled the same delivery under another invoice number.",
    ),
    Tool(
        "check_vendor_status", check_vendor_status, parameters({"vendor_id": _VENDOR}), idempotent=True,
        description="Tell whether a vendor may be paid at present, and its terms.",
    ),
    Tool(
        "request_approval", request_approval,
        parameters({"invoice_id": _INVOICE, "approver_role": _ROLE, "amount": _AMOUNT}),
        mutating=True, description="Ask a person in a role to approve the payment of an amount.",
    ),
    Tool(
        "schedule_payment", schedule_payment,
        parameters({"invoice_id": _INVOICE, "amount": _AMOUNT, "vendor_id": _VENDOR}),
        mutating=True, description="Pay an amount to a vendor for an invoice. This cannot be undone.",
    ),
    Tool(
        "flag_exception", flag_exception, parameters({"invoice_id": _INVOICE, "reason": text("Why it is held.")}),
        mutating=True, description="Hold an invoice and hand it to a person, with the reason.",
    ),
    Tool(
        "post_audit_log", post_audit_log,
        parameters(
            {"invoice_id": _INVOICE, "action": text("What was done."), "detail": text("Anything worth adding.")},
            optional=("detail",),
        ),
        mutating=True, description="Write what was done with an invoice into the audit log.",
    ),
)  # fmt: skip
"""The tools that work. The last four change the system of record, and doing one twice is not doing it once."""


def _absent(world: World, **arguments: Any) -> None:
    raise ToolError("this tool does not exist", "no_such_tool")


DECOYS = (
    Tool(
        "lookup_tax_code", _absent, parameters({"sku": text("Article number.")}),
        description="Find the tax code of an article.",
    ),
    Tool(
        "estimate_freight", _absent, parameters({"po_id": text("Number of the purchase order.")}),
        description="Estimate what it costs to ship a purchase order.",
    ),
    Tool(
        "check_budget_remaining", _absent, parameters({"cost_centre": text("Number of the cost centre.")}),
        description="Tell how much of a cost centre's budget is left.",
    ),
)  # fmt: skip
"""Offered in the decoy_tools perturbation; the toolbox refuses a call before it gets anywhere."""
