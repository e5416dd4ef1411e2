"""What should happen to an invoice, and what did: both read from the tables of the system of record.

The tools are what is being graded along with the agents, so nothing here calls them: rows are read as they stand and
the rules are worked out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.domains.procure_to_pay.world import APPROVAL_THRESHOLD, PRICE_TOLERANCE, World, new_world
from plumbline.running import Task

__all__ = ["derive", "grade", "grade_published", "outcome", "truth"]

_PUBLISHED_CENT = Decimal("0.005")


def derive(world: World, invoice_id: str) -> dict[str, Any]:
    """Return what the system of record says should happen to an invoice.

    Parameters
    ----------
    world : World
        Read, never written.
    invoice_id : str
        Number of the invoice.

    Returns
    -------
    dict
        ``invoice`` and ``vendor`` (their records), ``expected_amount`` (Decimal), ``should_pay``, ``needs_approval``,
        ``is_duplicate``, ``match_ok``, ``vendor_payable`` (bool), ``blockers`` (list of str, empty if it should be
        paid) and ``approval_threshold`` (Decimal).

    Raises
    ------
    NotFoundError
        No such invoice is on file.
    """
    invoices = {row["invoice_id"]: row for row in world.all("SELECT * FROM invoices")}
    if invoice_id not in invoices:
        raise NotFoundError(f"no invoice {invoice_id!r} on file; there are {', '.join(invoices)}")
    invoice = invoices[invoice_id]
    vendors = {row["vendor_id"]: row for row in world.all("SELECT * FROM vendors")}
    vendor = vendors.get(invoice["vendor_id"])
    mismatches = _mismatches(world, invoice)
    duplicate = _paid_before(world, invoice, invoices)
    payable = vendor is not None and vendor["status"] == "active"
    blockers = [*mismatches, *(["duplicate"] if duplicate else []), *([] if payable else ["vendor_not_payable"])]
    return {
        "invoice": invoice,
        "vendor": vendor,
        "expected_amount": invoice["total"],
        "should_pay": not blockers,
        "needs_approval": not blockers and invoice["total"] > APPROVAL_THRESHOLD,
        "is_duplicate": duplicate,
        "match_ok": not mismatches,
        "vendor_payable": payable,
        "blockers": blockers,
        "approval_threshold": APPROVAL_THRESHOLD,
    }


def _mismatches(world: World, invoice: dict[str, Any]) -> list[str]:
    orders = {row["po_id"]: row for row in world.all("SELECT * FROM purchase_orders")}
    if invoice["po_id"] not in orders:
        return ["no_purchase_order"]
    order = orders[invoice["po_id"]]
    receipts = world.all("SELECT * FROM goods_receipts")
    received = sum(row["quantity"] for row in receipts if row["po_id"] == order["po_id"])
    low, high = order["unit_price"] - PRICE_TOLERANCE, order["unit_price"] + PRICE_TOLERANCE
    found = {
        "price_differs": not low <= invoice["unit_price"] <= high,
        "more_than_received": invoice["quantity"] > received,
        "more_than_ordered": invoice["quantity"] > order["quantity"],
    }
    return [name for name, wrong in found.items() if wrong]


def _paid_before(world: World, invoice: dict[str, Any], invoices: dict[str, dict[str, Any]]) -> bool:
    for payment in world.all("SELECT * FROM payments"):
        other = invoices.get(payment["invoice_id"], {}).get("po_id")
        if (
            payment["invoice_id"] != invoice["invoice_id"]
            and payment["vendor_id"] == invoice["vendor_id"]
            and payment["amount"] == invoice["total"]
            and other in (None, invoice["po_id"])
        ):
            return True
    return False


def truth(task: Task) -> dict[str, Any]:
    """Return what should happen to a task's invoice, derived from a fresh system of record."""
    world = new_world()
    try:
        return derive(world, task.id)
    finally:
        world.close()


def outcome(world: World, task: Task) -> dict[str, Any]:
    """Return the terminal state of a task's invoice.

    Returns
    -------
    dict
        ``paid`` (bool), ``payment_count`` (int), ``amount_paid`` (Decimal), ``exception_raised`` (bool) and
        ``approvals`` (int) of the task's own invoice; ``elsewhere`` (int) counts payments of this trial that were for
        another invoice or went to another vendor.
    """
    payments = world.all("SELECT * FROM payments")
    own = [row for row in payments if row["invoice_id"] == task.id]
    invoice = world.one("SELECT vendor_id FROM invoices WHERE invoice_id = ?", task.id)
    vendor = None if invoice is None else invoice["vendor_id"]
    astray = [
        row for row in payments if not row["opening"] and (row["invoice_id"], row["vendor_id"]) != (task.id, vendor)
    ]
    return {
        "paid": bool(own),
        "payment_count": len(own),
        "amount_paid": sum((row["amount"] for row in own), Decimal("0.00")),
        "exception_raised": bool(world.all("SELECT 1 FROM exceptions WHERE invoice_id = ?", task.id)),
        "approvals": len(world.all("SELECT 1 FROM approvals WHERE invoice_id = ?", task.id)),
        "elsewhere": len(astray),
    }


def grade_published(outcome: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """Say whether a terminal state is right, as the published studies did.

    Paid or not, number of payments, amount within 0.005 and exception or not, of the task's own invoice; approvals and
    payments elsewhere play no part.

    Raises
    ------
    ParameterError
        A part of the terminal state or of the context is missing.
    """
    _complete(outcome, ("paid", "payment_count", "amount_paid", "exception_raised"), "outcome")
    _complete(context, ("should_pay", "expected_amount"), "context")
    pay = bool(context["should_pay"])
    off = abs(_exactly(outcome["amount_paid"]) - _due(context))
    right = (outcome["paid"] == pay, outcome["payment_count"] == int(pay), outcome["exception_raised"] != pay)
    return all(right) and off <= _PUBLISHED_CENT


def grade(outcome: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """Say whether a terminal state is right: the published test, the exact amount, and no payment elsewhere.

    Raises
    ------
    ParameterError
        A part of the terminal state or of the context is missing.

    Examples
    --------
    >>> context = {"should_pay": False, "expected_amount": 10}
    >>> held = {"paid": False, "payment_count": 0, "amount_paid": 0, "exception_raised": True, "elsewhere": 0}
    >>> grade(held, context), grade(held | {"elsewhere": 1}, context)
    (True, False)
    """
    right = grade_published(outcome, context)
    _complete(outcome, ("elsewhere",), "outcome")
    return right and _exactly(outcome["amount_paid"]) == _due(context) and outcome["elsewhere"] == 0


def _due(context: Mapping[str, Any]) -> Decimal:
    return _exactly(context["expected_amount"]) if context["should_pay"] else Decimal(0)


def _exactly(number: Any) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise ParameterError(f"an amount is a number; found {number!r}")
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _complete(values: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    if missing := [name for name in names if values.get(name) is None]:
        raise ParameterError(f"the {what} lacks {missing}; found {sorted(values)}. Without it nothing can be graded.")
