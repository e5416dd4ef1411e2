"""The tools that only read: records, the checks, what an invoice comes to, and who must approve it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.domains.accounts_payable.calculation import amounts, band, cents, normalised, rate
from plumbline.running.tables import TableWorld

__all__ = [
    "calculate_payable_amount",
    "check_duplicate",
    "check_freight",
    "check_fx_variance",
    "check_po_validity",
    "check_vendor_status",
    "fetch_invoice",
    "fetch_invoice_lines",
    "lookup_approval_requirement",
    "match_purchase_order",
    "validate_tax",
]

_FX_TOLERANCE = Decimal("0.02")


def fetch_invoice(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Return the record of an invoice or a credit note."""
    found = world.one("SELECT * FROM invoices WHERE invoice_id = ?", invoice_id)
    if found is None:
        raise ToolError(f"no invoice {invoice_id!r} on file; invoice ids look like INV-8201", "not_found")
    return found


def fetch_invoice_lines(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Return what is billed, line by line."""
    invoice = fetch_invoice(world, invoice_id)
    lines = world.all(
        "SELECT sku, unit_price, quantity FROM invoice_lines WHERE invoice_id = ? ORDER BY sku", invoice_id
    )
    return {"invoice_id": invoice_id, "currency": invoice["currency"], "lines": lines}


def _order(world: TableWorld, invoice: dict[str, Any]) -> dict[str, Any] | None:
    """Return the order an invoice is billed on, None unless it is on file and the vendor's own."""
    return world.one(
        "SELECT * FROM purchase_orders WHERE po_id = ? AND vendor_id = ?", invoice["po_id"], invoice["vendor_id"]
    )


def _exempt(world: TableWorld, invoice: dict[str, Any]) -> bool:
    found = world.one("SELECT order_exempt FROM vendors WHERE vendor_id = ?", invoice["vendor_id"])
    return invoice["po_id"] is None and found is not None and bool(found["order_exempt"])


def check_po_validity(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Say whether the order is the vendor's own, open, in date, and raised before the invoice."""
    invoice = fetch_invoice(world, invoice_id)
    order = _order(world, invoice)
    if order is None:
        exempt = _exempt(world, invoice)
        return {"po_id": invoice["po_id"], "order_exempt": exempt, "problems": [] if exempt else ["NO_PO"]}
    problems = []
    if order["status"] != "open" or order["expires_on"] < invoice["invoice_date"]:
        problems.append("PO_CLOSED")
    if invoice["invoice_date"] < order["raised_on"]:
        problems.append("PO_DATE")
    dates = {name: order[name] for name in ("status", "raised_on", "expires_on")}
    return {"po_id": order["po_id"], **dates, "invoice_date": invoice["invoice_date"], "problems": problems}


def match_purchase_order(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Set every line beside the order and the goods received, all paid invoices of the order counted."""
    invoice = fetch_invoice(world, invoice_id)
    order = _order(world, invoice)
    if order is None:
        return {"matched": False, "po_id": invoice["po_id"], "lines": [], "problems": []}
    allowed = world.one("SELECT * FROM tolerances WHERE category = ?", order["category"])
    if allowed is None:
        raise ToolError(f"category {order['category']!r} has no tolerances on file", "not_found")
    comparable = invoice["currency"] == order["currency"]
    problems, lines = [], []
    for line in fetch_invoice_lines(world, invoice_id)["lines"]:
        ordered = world.one("SELECT * FROM po_lines WHERE po_id = ? AND sku = ?", order["po_id"], line["sku"])
        arrived = _total(world, "goods_receipts", "t.po_id = ? AND t.sku = ?", order["po_id"], line["sku"])
        before = _total(
            world,
            "invoice_lines",
            "t.sku = ? AND t.invoice_id <> ? AND t.invoice_id IN (SELECT i.invoice_id FROM invoices AS i "
            "JOIN payments AS p USING (invoice_id) WHERE i.po_id = ? AND i.kind = 'invoice')",
            line["sku"], invoice_id, order["po_id"],
        )  # fmt: skip
        over = (before + line["quantity"]) * 10_000 > arrived * (10_000 + allowed["quantity_basis_points"])
        dear = ordered is not None and (not comparable or _dear(line, ordered["unit_price"], allowed))
        problems += ["QTY_OVER_RECEIPT"] * over + ["PRICE_VARIANCE"] * dear
        lines.append({
            "sku": line["sku"], "billed": line["quantity"], "billed_before": before, "received": arrived,
            "unit_price": line["unit_price"], "ordered_price": None if ordered is None else ordered["unit_price"],
        })  # fmt: skip
    problems = sorted(set(problems), reverse=True)
    tolerance = {name: allowed[name] for name in ("price_basis_points", "price_absolute", "quantity_basis_points")}
    return {
        "matched": not problems, "po_id": order["po_id"], "category": order["category"], "tolerance": tolerance,
        "lines": lines, "problems": problems,
    }  # fmt: skip


def _total(world: TableWorld, table: str, where: str, *values: Any) -> int:
    found = world.one(f"SELECT coalesce(sum(t.quantity), 0) AS n FROM {table} AS t WHERE {where}", *values)
    return 0 if found is None else int(found["n"])


def _dear(line: dict[str, Any], ordered: Decimal, allowed: dict[str, Any]) -> bool:
    """Say whether a price is above the order's by more than the percentage and by more than the absolute amount."""
    over = line["unit_price"] - ordered
    by_share = over * 10_000 > ordered * allowed["price_basis_points"]
    return bool(by_share and over * line["quantity"] > allowed["price_absolute"])


def check_duplicate(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Look for a paid invoice of the vendor that may be the same one, with how sure that is.

    1.00: same number and amount; 0.85: same number; 0.75: same order and amount. At 0.75 the receipts tell more.
    """
    invoice = fetch_invoice(world, invoice_id)
    mine, found = _gross(world, invoice), []
    others = world.all(
        "SELECT DISTINCT i.* FROM invoices AS i JOIN payments AS p USING (invoice_id) WHERE i.vendor_id = ? "
        "AND i.invoice_id <> ? AND i.kind = 'invoice' ORDER BY i.invoice_id",
        invoice["vendor_id"], invoice_id,
    )  # fmt: skip
    for other in others:
        number = normalised(other["number"]) == normalised(invoice["number"])
        amount = _gross(world, other) == mine
        order = invoice["po_id"] is not None and other["po_id"] == invoice["po_id"]
        sure = "1.00" if number and amount else "0.85" if number else "0.75" if amount and order else None
        if sure is not None:
            found.append({
                "invoice_id": other["invoice_id"], "number": other["number"], "confidence": Decimal(sure),
                "receipt_id": other["receipt_id"], "receipt_on_file": _on_file(world, other),
            })  # fmt: skip
    best = max((one["confidence"] for one in found), default=Decimal("0.00"))
    own = {"receipt_id": invoice["receipt_id"], "receipt_on_file": _on_file(world, invoice)}
    return {"confidence": best, **own, "candidates": found}


def _on_file(world: TableWorld, invoice: dict[str, Any]) -> bool:
    """Say whether goods came for an invoice's order under the receipt it names."""
    named = "SELECT 1 FROM goods_receipts WHERE receipt_id = ? AND po_id = ?"
    return world.one(named, invoice["receipt_id"], invoice["po_id"]) is not None


def _gross(world: TableWorld, invoice: dict[str, Any]) -> tuple[str, Decimal]:
    """Currency, and net with tax and freight, of an invoice."""
    lines = fetch_invoice_lines(world, invoice["invoice_id"])["lines"]
    code = validate_tax(world, invoice["invoice_id"])["basis_points"]
    net = sum((line["unit_price"] * line["quantity"] for line in lines), Decimal("0.00"))
    return invoice["currency"], net + invoice["freight"] + cents((net + invoice["freight"]) * code / 10_000)


def validate_tax(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Compare the tax code billed with the one ordered."""
    invoice = fetch_invoice(world, invoice_id)
    code = world.one("SELECT * FROM tax_codes WHERE tax_code = ?", invoice["tax_code"])
    if code is None:
        raise ToolError(f"tax code {invoice['tax_code']!r} is not on file", "not_found")
    order = _order(world, invoice)
    ordered = None if order is None else order["tax_code"]
    problems = ["TAX_CODE_MISMATCH"] if ordered not in (None, invoice["tax_code"]) else []
    return {
        "billed": invoice["tax_code"], "ordered": ordered, "basis_points": code["basis_points"], "problems": problems
    }  # fmt: skip


def check_fx_variance(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Compare the rate of the invoice's date with that of the order's, if both are in one foreign currency."""
    invoice = fetch_invoice(world, invoice_id)
    order = _order(world, invoice)
    now = rate(world, invoice["currency"], invoice["invoice_date"])
    if order is None or order["currency"] != invoice["currency"]:
        return {"currency": invoice["currency"], "rate_invoice": now, "rate_order": None, "problems": []}
    then = rate(world, order["currency"], order["raised_on"])
    moved = abs(now - then) > then * _FX_TOLERANCE
    return {
        "currency": invoice["currency"], "rate_invoice": now, "rate_order": then,
        "problems": ["FX_VARIANCE"] if moved else [],
    }  # fmt: skip


def check_freight(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Compare the freight billed with what the order allows; without an order none is allowed."""
    invoice = fetch_invoice(world, invoice_id)
    order = _order(world, invoice)
    limit = Decimal("0.00") if order is None else order["freight_limit"]
    over = invoice["freight"] > limit
    return {"billed": invoice["freight"], "allowed": limit, "problems": ["UNAUTHORISED_FREIGHT"] if over else []}


def check_vendor_status(world: TableWorld, vendor_id: str) -> dict[str, Any]:
    """Say whether a vendor may be paid, and who else has its bank account."""
    found = world.one("SELECT * FROM vendors WHERE vendor_id = ?", vendor_id)
    if found is None:
        raise ToolError(f"no vendor {vendor_id!r} on file; vendor ids look like V-200", "not_found")
    shared = world.all(
        "SELECT vendor_id FROM vendors WHERE bank_account = ? AND vendor_id <> ? ORDER BY vendor_id",
        found["bank_account"], vendor_id,
    )  # fmt: skip
    paid = world.one("SELECT count(*) AS n FROM payments WHERE vendor_id = ? AND opening = 1", vendor_id)
    known = paid is not None and paid["n"] > 0
    problems = []
    if found["status"] == "sanctioned":
        problems.append("VENDOR_SANCTIONED")
    elif found["status"] not in ("active", "watch"):
        problems.append("VENDOR_HOLD")
    if shared and not known:
        problems.append("DUPLICATE_VENDOR")
    about = {name: found[name] for name in ("vendor_id", "name", "status", "terms")}
    shares = [row["vendor_id"] for row in shared]
    return about | {
        "same_bank_account": shares, "paid_before": known, "payable": not problems, "problems": problems
    }  # fmt: skip


def calculate_payable_amount(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Return net, tax, freight, discount and what is payable in GBP; of a credit note, a negative amount."""
    return amounts(world, fetch_invoice(world, invoice_id))


def lookup_approval_requirement(world: TableWorld, amount_gbp: Decimal | int) -> dict[str, Any]:
    """Return who at least must approve a payment of an amount, and whether a second signature is needed."""
    found = band(world, Decimal(amount_gbp))
    return {"approver_role": found["role"], "second_signature": bool(found["second_signature"])}
