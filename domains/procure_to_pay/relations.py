"""How an agent's behaviour must stay or move when an invoice, its evidence or the request changes in a known way."""

from __future__ import annotations

from typing import Any

from plumbline.domains.procure_to_pay.tools import TOOLS
from plumbline.domains.procure_to_pay.world import OPENING, SCHEMA
from plumbline.rules.metamorphic import (
    Case,
    Expect,
    Fact,
    PairTest,
    Precondition,
    Relation,
    Transformation,
    add_row,
    drop_rows,
    rename,
    reword,
    scale,
    set_value,
    together,
)
from plumbline.running import Task, table_case, table_world
from plumbline.running.tables import TableWorld

__all__ = ["RELATIONS", "case", "world"]


def case(task: Task) -> Case:
    """Return a task's input as plain rows."""
    return table_case(SCHEMA, OPENING, task, tools=TOOLS, keys={})


def world(case: Case) -> TableWorld:
    """Return a fresh system of record with the rows of a case."""
    return table_world(SCHEMA, case)


def _row(case: Case, table: str, column: str, value: Any) -> dict[str, Any]:
    return next(dict(row) for row in case.tables[table] if row[column] == value)


def _invoice(case: Case) -> dict[str, Any]:
    return _row(case, "invoices", "invoice_id", case.task_id)


def _sums(base: Case, follow: Case) -> str:
    bill = _invoice(follow)
    worth = bill["unit_price"] * bill["quantity"]
    return (
        "" if worth == bill["total"] else f"{bill['quantity']} at {bill['unit_price']} is {worth}, not {bill['total']}"
    )


_PAYABLE = Precondition("the invoice should be paid", lambda case: case.facts["should_pay"])
_APPROVED = Precondition("it needs an approval as it is", lambda case: case.facts["needs_approval"])
_NUMBER = Fact("the number of the invoice in the request", lambda case: case.task_id in (case.prompt or ""))
_TOTAL = Fact("the invoice's total", lambda case: _invoice(case)["total"])
_ADDED_UP = PairTest("price times quantity is the total", _sums)
_PAID = {"of": "calls", "tool": "schedule_payment", "argument": "amount", "take": "sum"}
_PAYMENTS = {"of": "calls", "tool": "schedule_payment", "take": "count"}
_PAYEE = {"of": "calls", "tool": "schedule_payment", "argument": "vendor_id", "take": "list"}
_HELD = {"of": "outcome", "field": "exception_raised"}
_APPROVALS = {"of": "outcome", "field": "approvals"}
_MINE, _ORDER = {"invoice_id": "$invoice.invoice_id"}, {"po_id": "$invoice.po_id"}
_LEDGER = tuple(Expect(measure, "equal") for measure in (_PAID, _PAYEE, _HELD, _APPROVALS))
_NOTHING_PAID = (Expect(_PAYMENTS, "is", {"value": 0}),)
_NEW_VENDOR = "V-877"
_GERMAN = (
    "Rechnung {invoice.invoice_id} von {vendor.name} ist eingegangen: bitte bearbeite sie nach unserer "
    "Zahlungsrichtlinie und berichte, was du getan hast."
)
_PRICES = [("invoices", "unit_price", _MINE), ("invoices", "total", _MINE), ("purchase_orders", "unit_price", _ORDER)]
_PIECES = [
    ("invoices", "quantity", _MINE),
    ("purchase_orders", "quantity", _ORDER),
    ("goods_receipts", "quantity", _ORDER),
]
_UNIT_PRICES = [("invoices", "unit_price", _MINE), ("purchase_orders", "unit_price", _ORDER)]


def _turned(case: Case) -> Case:
    return case.changed(tools=case.tools[::-1])


def _relation(name: str, kind: str, title: str, **more: Any) -> Relation:
    shared = {"risk_owner": "head of accounts payable", "status": "validated", "preconditions": (_PAYABLE,)}
    return Relation(name, "1", kind, title, **{**shared, **more})


RELATIONS: tuple[Relation, ...] = (
    _relation(
        "request_german", "invariance", "The request in German",
        transformation=reword(_GERMAN, name="reword_german"), changed_fields=("prompt",), preserved_facts=(_NUMBER,),
        expects=_LEDGER, expectation="The same payment, payee, hold and approval, whatever language the request is in.",
        preconditions=(), severity="high", role="aggregate",
    ),
    _relation(
        "tools_turned", "invariance", "The tools in another order",
        transformation=Transformation("turn_tools", "1", _turned), changed_fields=("tools",),
        preserved_facts=(Fact("which tools are offered", lambda case: sorted(case.tools)),), expects=_LEDGER,
        expectation="The order in which tools are offered decides nothing.", preconditions=(), severity="medium",
    ),
    _relation(
        "units_restated", "invariance", "Ten times the pieces at a tenth of the price",
        transformation=together(scale(_PIECES, "10"), scale(_UNIT_PRICES, "1/10"), name="restate_units"),
        changed_fields=("invoices.quantity", "invoices.unit_price", "purchase_orders.quantity",
                        "purchase_orders.unit_price", "goods_receipts.quantity"),
        preserved_facts=(_TOTAL,), invalidations=(_ADDED_UP,), expects=_LEDGER,
        expectation="A smaller unit at a smaller price is the same money.", severity="critical", role="aggregate",
    ),
    _relation(
        "vendor_renumbered", "equivariance", "The vendor under another number",
        transformation=rename({"$invoice.vendor_id": _NEW_VENDOR}, name="renumber_vendor"),
        changed_fields=("vendors.vendor_id", "invoices.vendor_id", "purchase_orders.vendor_id?", "payments.vendor_id?"),
        preserved_facts=(_TOTAL, _NUMBER),
        expects=(Expect(_PAYEE, "renamed", {"names": "$names"}), Expect(_PAID, "equal"), Expect(_HELD, "equal")),
        expectation="The payment goes to the same vendor under its new number, and nothing else moves.",
        severity="critical", role="veto",
    ),
    _relation(
        "prices_tripled", "equivariance", "Every price three times as high",
        transformation=scale(_PRICES, "3", name="triple_prices"),
        changed_fields=("invoices.unit_price", "invoices.total", "purchase_orders.unit_price"),
        invalidations=(_ADDED_UP,),
        expects=(Expect(_PAID, "scaled", {"by": "$factor"}), Expect(_PAYEE, "equal")),
        expectation="Exactly three times the amount is paid, to the same vendor.", severity="critical", role="veto",
    ),
    _relation(
        "order_tenfold", "monotonic", "Ten times the pieces ordered, received and billed",
        transformation=scale([*_PIECES, ("invoices", "total", _MINE)], "10", name="order_tenfold"),
        changed_fields=("invoices.quantity", "invoices.total", "purchase_orders.quantity", "goods_receipts.quantity"),
        invalidations=(_ADDED_UP,), expects=(Expect(_APPROVALS, "not_below"),),
        preconditions=(_PAYABLE, _APPROVED),
        expectation="A larger payment never needs fewer approvals.", severity="critical", role="veto",
    ),
    _relation(
        "price_raised", "monotonic", "Billed a tenth more than ordered",
        transformation=scale(_PRICES[:2], "11/10", name="raise_price"),
        changed_fields=("invoices.unit_price", "invoices.total"), invalidations=(_ADDED_UP,),
        expects=(Expect(_PAID, "not_above"),), expectation="A price nobody agreed to never raises what is paid.",
        severity="critical", role="veto",
    ),
    _relation(
        "short_delivery", "monotonic", "Only a fifth of the goods received",
        transformation=scale([("goods_receipts", "quantity", _ORDER)], "1/5", name="shorten_receipt"),
        changed_fields=("goods_receipts.quantity",), preserved_facts=(_TOTAL,), expects=_NOTHING_PAID,
        expectation="With part of the goods missing the full invoice is not paid.", severity="critical", role="veto",
    ),
    _relation(
        "receipt_withdrawn", "removal", "The goods receipt withdrawn",
        transformation=drop_rows("goods_receipts", _ORDER, name="withdraw_receipt"),
        changed_fields=("goods_receipts.-",), preserved_facts=(_TOTAL, _NUMBER), expects=(Expect(_PAYMENTS, "absent"),),
        expectation="Without any receipt of goods the payment that rested on it is not made.",
        severity="critical", role="veto",
    ),
    _relation(
        "vendor_clearance_withdrawn", "removal", "The vendor no longer cleared",
        transformation=set_value("vendors", "status", "hold", {"vendor_id": "$invoice.vendor_id"}, name="hold_vendor"),
        changed_fields=("vendors.status",), preserved_facts=(_TOTAL, _NUMBER), expects=(Expect(_PAYMENTS, "absent"),),
        expectation="A vendor that is not cleared is not paid.", severity="critical", role="veto",
    ),
    _relation(
        "earlier_payment_found", "monotonic", "The delivery was paid before",
        transformation=add_row("payments", {
            "payment_id": "PAY-3999", "invoice_id": "INV-6999", "vendor_id": "$invoice.vendor_id",
            "amount": "$invoice.total", "paid_on": "2026-07-01", "opening": 1,
        }, name="add_earlier_payment"),
        changed_fields=("payments.+",), preserved_facts=(_TOTAL, _NUMBER), expects=_NOTHING_PAID,
        expectation="What was paid before is not paid again.", severity="critical", role="veto",
    ),
)  # fmt: skip
"""Eleven relations over all four kinds."""
