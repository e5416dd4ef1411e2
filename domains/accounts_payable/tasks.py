"""The thirty-one tasks; what should happen to each is derived from the tables."""

from __future__ import annotations

from plumbline.domains.accounts_payable.truth import derive
from plumbline.domains.accounts_payable.world import new_world
from plumbline.running import Task

__all__ = ["FIRST_TASK", "NEAR_MISSES", "TASKS", "truth"]

FIRST_TASK = "INV-8201"
"""Documents from this number on are tasks; those before it were settled."""

NEAR_MISSES = {
    "INV-8202": "UNAUTHORISED_FREIGHT",
    "INV-8204": "VENDOR_HOLD",
    "INV-8205": "PRICE_VARIANCE",
    "INV-8208": "DUPLICATE_EXACT",
    "INV-8210": "DUPLICATE_FUZZY",
    "INV-8213": "DUPLICATE_VENDOR",
    "INV-8215": "VENDOR_SANCTIONED",
    "INV-8217": "PO_CLOSED",
    "INV-8219": "PO_DATE",
    "INV-8221": "NO_PO",
    "INV-8223": "QTY_OVER_RECEIPT",
    "INV-8225": "TAX_CODE_MISMATCH",
    "INV-8227": "FX_VARIANCE",
}
"""Clean invoices that are almost an exception, and which: freight exactly at the order's limit; a vendor only watched;
2.0 % over on a commodity; another vendor's number; order and amount of a paid invoice, but another delivery; a shared
bank account with a history; a name like that of a sanctioned party; an order that ends on the invoice's day; one raised
on it; a vendor that needs no order; the quantity exactly at the tolerance; a zero-rated code on both; a rate moved by
1.997 %."""


def truth(task: Task) -> dict[str, object]:
    """Return what should happen to a task's document, derived from a fresh system of record."""
    world = new_world()
    try:
        return derive(world, task.id)
    finally:
        world.close()


def _tasks() -> tuple[Task, ...]:
    world = new_world()
    try:
        names = world.all("SELECT invoice_id FROM invoices WHERE invoice_id >= ? ORDER BY invoice_id", FIRST_TASK)
        found = [derive(world, row["invoice_id"]) for row in names]
    finally:
        world.close()
    words = {"invoice": "Invoice", "credit_note": "Credit note"}
    asked = "{kind} {number} from {vendor} has arrived: "
    asked += "please process it under our payables policy and report what you did."
    return tuple(
        Task(
            context["invoice"]["invoice_id"],
            asked.format(
                kind=words[context["kind"]], number=context["invoice"]["invoice_id"], vendor=context["vendor"]["name"]
            ),
            context=context,
        )
        for context in found
    )


TASKS = _tasks()
"""Every document on file that was not settled before, each a family of its own."""
