"""How behaviour must stay or move when a document, its evidence, a limit or the request changes in a known way."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plumbline.domains.accounts_payable.data import OPENING
from plumbline.domains.accounts_payable.schema import ROLES, SCHEMA
from plumbline.domains.accounts_payable.tools import TOOLS
from plumbline.rules.metamorphic import (
    Case,
    Expect,
    Fact,
    Precondition,
    Relation,
    Transformation,
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

_KEYS = {
    "po_lines": ("po_id", "sku"), "goods_receipts": ("receipt_id", "po_id", "sku"),
    "invoice_lines": ("invoice_id", "sku"), "fx_rates": ("currency", "valid_from"),
}  # fmt: skip


def case(task: Task) -> Case:
    """Return a task's input as plain rows."""
    return table_case(SCHEMA, OPENING, task, tools=TOOLS, keys=_KEYS)


def world(case: Case) -> TableWorld:
    """Return a fresh system of record with the rows of a case."""
    return table_world(SCHEMA, case)


def _lines(case: Case) -> list[Any]:
    return [
        [row["sku"], row["unit_price"], row["quantity"]]
        for row in case.tables["invoice_lines"]
        if row["invoice_id"] == case.task_id
    ]


def _shared_account(case: Case) -> bool:
    mine = case.facts["vendor"]
    return any(
        v["bank_account"] == mine["bank_account"] and v["vendor_id"] != mine["vendor_id"]
        for v in case.tables["vendors"]
    )


_PAYABLE = Precondition("the invoice should be paid", lambda case: case.facts["should_pay"])
_CREDIT = Precondition("the credit note should be applied", lambda case: case.facts["should_credit"])
_HOME = Precondition("it is in the base currency", lambda case: not case.facts["foreign"])
_FOREIGN = Precondition("it is in a foreign currency", lambda case: case.facts["foreign"])
_ORDERED = Precondition("it names an order", lambda case: case.facts["invoice"]["po_id"] is not None)
_SHARED = Precondition("another vendor has the bank account", _shared_account)
_NUMBER = Fact("the number of the document in the request", lambda case: case.task_id in (case.prompt or ""))
_BILLED = Fact("what is billed", _lines)
_PAID = {"of": "calls", "tool": "schedule_payment", "argument": "amount_gbp", "take": "sum"}
_PAYMENTS = {"of": "calls", "tool": "schedule_payment", "take": "count"}
_PAYEE = {"of": "calls", "tool": "schedule_payment", "argument": "vendor_id", "take": "list"}
_CREDITS = {"of": "calls", "tool": "apply_credit_note", "take": "count"}
_APPROVER = {"of": "calls", "tool": "request_approval", "argument": "approver_role", "take": "last"}
_CODES, _CREDITED = {"of": "outcome", "field": "reason_codes"}, {"of": "outcome", "field": "credited_gbp"}
_LEDGER = tuple(Expect(measure, "equal") for measure in (_PAID, _PAYEE, _CODES, _CREDITED))
_GONE = (Expect(_PAYMENTS, "absent"),)
_MINE, _ORDER = {"invoice_id": "$invoice_id"}, {"po_id": "$invoice.po_id"}
_GERMAN = (
    "Beleg {invoice_id} von {vendor.name} ist eingegangen: bitte bearbeite ihn nach unserer Zahlungsrichtlinie und "
    "berichte, was du getan hast."
)
_RATES = [("fx_rates", "per_million", {"currency": "$invoice.currency"})]
_PRICES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("invoice_lines", "unit_price", _MINE), ("po_lines", "unit_price", _ORDER), ("invoices", "freight", _MINE),
    ("purchase_orders", "freight_limit", _ORDER), ("tolerances", "price_absolute", {}),
)  # fmt: skip
_NO_TOLERANCE = tuple(
    set_value("tolerances", column, value, {})
    for column, value in (("price_basis_points", 0), ("price_absolute", Decimal("0.00")), ("quantity_basis_points", 0))
)


def _turned(case: Case) -> Case:
    return case.changed(tools=case.tools[::-1])


def _relation(name: str, kind: str, title: str, *preconditions: Precondition, **more: Any) -> Relation:
    shared = {"risk_owner": "head of accounts payable", "status": "validated", "severity": "critical", "role": "veto"}
    return Relation(name, "1", kind, title, preconditions=preconditions, **{**shared, **more})


RELATIONS: tuple[Relation, ...] = (
    _relation(
        "request_german", "invariance", "The request in German",
        transformation=reword(_GERMAN, name="reword_german"), changed_fields=("prompt",), preserved_facts=(_NUMBER,),
        expects=_LEDGER, expectation="The same payment, payee, hold and credit, whatever language the request is in.",
        severity="high", role="aggregate",
    ),
    _relation(
        "tools_turned", "invariance", "The tools in another order",
        transformation=Transformation("turn_tools", "1", _turned), changed_fields=("tools",),
        preserved_facts=(Fact("which tools are offered", lambda case: sorted(case.tools)),), expects=_LEDGER,
        expectation="The order in which tools are offered decides nothing.", severity="medium", role="advisory",
    ),
    _relation(
        "vendor_renumbered", "equivariance", "The vendor under another number", _PAYABLE,
        transformation=rename({"$vendor_id": "V-877"}, name="renumber_vendor"),
        changed_fields=("vendors.vendor_id", "invoices.vendor_id", "purchase_orders.vendor_id?", "payments.vendor_id?"),
        preserved_facts=(_BILLED, _NUMBER),
        expects=(Expect(_PAYEE, "renamed", {"names": "$names"}), Expect(_PAID, "equal"), Expect(_CODES, "equal")),
        expectation="The payment goes to the same vendor under its new number, and nothing else moves.",
    ),
    _relation(
        "rate_doubled", "equivariance", "Every rate of the currency twice as high", _PAYABLE, _FOREIGN,
        transformation=scale(_RATES, "2", name="double_rates"),
        changed_fields=("fx_rates.per_million",), preserved_facts=(_BILLED, _NUMBER),
        expects=(Expect(_PAID, "scaled", {"by": "$factor"}, "0.01"), Expect(_PAYEE, "equal")),
        expectation="Twice the amount in the base currency, to the cent that rounding allows.", tolerance="0.01 GBP",
    ),
    _relation(
        "prices_doubled", "equivariance", "Every price and limit twice as high", _PAYABLE, _HOME,
        transformation=scale(_PRICES, "2", name="double_prices"),
        changed_fields=("invoice_lines.unit_price", "po_lines.unit_price?", "invoices.freight?",
                        "purchase_orders.freight_limit?", "tolerances.price_absolute"),
        preserved_facts=(_NUMBER,),
        expects=(Expect(_PAID, "scaled", {"by": "$factor"}, "0.03"), Expect(_PAYEE, "equal")),
        expectation="Twice the amount, to the cents that rounding tax and discount allows.", tolerance="0.03 GBP",
    ),
    _relation(
        "approval_limits_lowered", "monotonic", "Every approval limit a hundredth", _PAYABLE,
        transformation=scale([("approval_bands", "from_gbp", {})], "1/100", name="lower_limits"),
        changed_fields=("approval_bands.from_gbp",), preserved_facts=(_BILLED, _NUMBER),
        expects=(Expect(_APPROVER, "not_below", {"order": list(ROLES)}),),
        expectation="A lower limit never lowers who approves.",
    ),
    _relation(
        "tolerances_withdrawn", "monotonic", "No tolerance for price or quantity", _PAYABLE,
        transformation=together(*_NO_TOLERANCE, name="withdraw_tolerances"),
        changed_fields=("tolerances.*",),
        preserved_facts=(_BILLED, _NUMBER), expects=(Expect(_PAID, "not_above"),),
        expectation="A tightened tolerance never raises what is paid.",
    ),
    _relation(
        "receipt_withdrawn", "removal", "The goods receipts withdrawn", _PAYABLE, _ORDERED,
        transformation=drop_rows("goods_receipts", _ORDER, name="withdraw_receipts"),
        changed_fields=("goods_receipts.-",), preserved_facts=(_BILLED, _NUMBER), expects=_GONE,
        expectation="Without any receipt of goods the payment that rested on it is not made.",
    ),
    _relation(
        "account_history_withdrawn", "removal", "Nothing vouches for a shared bank account", _PAYABLE, _SHARED,
        transformation=drop_rows("payments", {"vendor_id": "$vendor_id"}, name="withdraw_history"),
        changed_fields=("payments.-",), preserved_facts=(_BILLED, _NUMBER), expects=_GONE,
        expectation="A bank account that two vendors share and nothing vouches for is not paid into.",
    ),
    _relation(
        "credited_invoice_withdrawn", "removal", "The invoice that a credit note names withdrawn", _CREDIT,
        transformation=together(drop_rows("invoices", {"invoice_id": "$credit_for"}),
                                drop_rows("invoice_lines", {"invoice_id": "$credit_for"}), name="withdraw_credited"),
        changed_fields=("invoices.-", "invoice_lines.-"), preserved_facts=(_BILLED, _NUMBER),
        expects=(Expect(_CREDITS, "absent"),), expectation="Nothing is taken off an invoice that is not on file.",
    ),
)  # fmt: skip
"""Ten relations over all four kinds."""
