"""What should happen to a document, and what did: worked out from the tables alone, in fractions.

The tools are what is being graded along with the agents, so nothing here calls them or what they compute with.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.domains.accounts_payable.schema import BASE_CURRENCY, REASON_CODES, TODAY
from plumbline.running import Task
from plumbline.running.tables import TableWorld

__all__ = ["derive", "grade", "outcome"]

Row = Mapping[str, Any]
_BELOW = ("active", "watch")


class _Ledger:
    """The rows of every table, by table and key."""

    def __init__(self, world: TableWorld) -> None:
        def rows(table: str) -> list[dict[str, Any]]:
            return world.all(f"SELECT * FROM {table}")

        self.vendors = {row["vendor_id"]: row for row in rows("vendors")}
        self.orders = {row["po_id"]: row for row in rows("purchase_orders")}
        self.order_lines = {(row["po_id"], row["sku"]): row for row in rows("po_lines")}
        self.receipts = rows("goods_receipts")
        self.invoices = {row["invoice_id"]: row for row in rows("invoices")}
        self.lines = rows("invoice_lines")
        self.settled = [row for row in rows("payments") if row["opening"]]
        self.tax = {row["tax_code"]: Fraction(row["basis_points"], 10_000) for row in rows("tax_codes")}
        self.rates = rows("fx_rates")
        self.tolerances = {row["category"]: row for row in rows("tolerances")}
        self.bands = sorted(rows("approval_bands"), key=lambda row: row["from_gbp"])
        self.terms = {row["terms"]: row for row in rows("payment_terms")}

    def lines_of(self, invoice_id: str) -> list[dict[str, Any]]:
        return [row for row in self.lines if row["invoice_id"] == invoice_id]

    def order_of(self, invoice: Row) -> dict[str, Any] | None:
        order = self.orders.get(invoice["po_id"])
        return order if order is not None and order["vendor_id"] == invoice["vendor_id"] else None

    def rate(self, currency: str, day: str) -> Fraction:
        if currency == BASE_CURRENCY:
            return Fraction(1)
        known = [row for row in self.rates if row["currency"] == currency and row["valid_from"] <= day]
        if known:
            last = max(known, key=lambda row: row["valid_from"])
            if (date.fromisoformat(day) - date.fromisoformat(last["valid_from"])).days <= 31:
                return Fraction(last["per_million"], 1_000_000)
        raise ParameterError(f"no rate of {currency} is in force on {day}: what is payable cannot be told")


def _rounded(amount: Fraction) -> Fraction:
    """Half up to the cent, away from zero."""
    whole = abs(amount) * 100
    up = (2 * whole.numerator + whole.denominator) // (2 * whole.denominator)
    return Fraction(up if amount >= 0 else -up, 100)


def _money(amount: Fraction) -> Decimal:
    return Decimal(int(amount * 100)).scaleb(-2)


def _gross(ledger: _Ledger, invoice: Row) -> tuple[Fraction, Fraction]:
    """Net, and net with freight and the tax on both, in the invoice's currency."""
    net = sum(
        (Fraction(row["unit_price"]) * row["quantity"] for row in ledger.lines_of(invoice["invoice_id"])), Fraction(0)
    )
    taxed = net + Fraction(invoice["freight"])
    return net, taxed + _rounded(taxed * ledger.tax[invoice["tax_code"]])


def _payable(ledger: _Ledger, invoice: Row) -> Fraction:
    net, gross = _gross(ledger, invoice)
    rate = ledger.rate(invoice["currency"], invoice["invoice_date"])
    if invoice["kind"] == "credit_note":
        return -_rounded(gross * rate)
    terms = ledger.terms.get(ledger.vendors[invoice["vendor_id"]]["terms"])
    days = (date.fromisoformat(TODAY) - date.fromisoformat(invoice["invoice_date"])).days
    early = terms is not None and days <= terms["days"]
    off = _rounded(net * Fraction(terms["basis_points"], 10_000)) if terms is not None and early else Fraction(0)
    return _rounded((gross - off) * rate)


def _core(number: str) -> str:
    kept = "".join(letter for letter in number.upper() if "0" <= letter <= "9" or "A" <= letter <= "Z")
    return kept[:-1] if len(kept) > 1 and kept[-1].isalpha() and kept[-2].isdigit() else kept


def _duplicates(ledger: _Ledger, invoice: Row) -> set[str]:
    mine = (invoice["currency"], _gross(ledger, invoice)[1])
    found = set()
    for other_id in {row["invoice_id"] for row in ledger.settled} - {invoice["invoice_id"]}:
        other = ledger.invoices.get(other_id)
        if other is None or other["vendor_id"] != invoice["vendor_id"] or other["kind"] != "invoice":
            continue
        number = _core(other["number"]) == _core(invoice["number"])
        amount = (other["currency"], _gross(ledger, other)[1]) == mine
        if number:
            found.add("DUPLICATE_EXACT" if amount else "DUPLICATE_FUZZY")
        elif amount and invoice["po_id"] is not None and other["po_id"] == invoice["po_id"]:
            arrived = {row["receipt_id"] for row in ledger.receipts if row["po_id"] == invoice["po_id"]}
            named = {invoice["receipt_id"], other["receipt_id"]}
            if len(named) < 2 or not named <= arrived:
                found.add("DUPLICATE_FUZZY")
    return found


def _vendor_codes(ledger: _Ledger, vendor_id: str) -> set[str]:
    vendor = ledger.vendors[vendor_id]
    found = set()
    if vendor["status"] == "sanctioned":
        found.add("VENDOR_SANCTIONED")
    elif vendor["status"] not in _BELOW:
        found.add("VENDOR_HOLD")
    twins = [v for v in ledger.vendors.values() if v["bank_account"] == vendor["bank_account"] and v is not vendor]
    if twins and not any(row["vendor_id"] == vendor_id for row in ledger.settled):
        found.add("DUPLICATE_VENDOR")
    return found


def _order_codes(ledger: _Ledger, invoice: Row) -> set[str]:
    order = ledger.order_of(invoice)
    if order is None:
        excused = invoice["po_id"] is None and bool(ledger.vendors[invoice["vendor_id"]]["order_exempt"])
        freight = {"UNAUTHORISED_FREIGHT"} if invoice["freight"] > 0 else set()
        return freight | (set() if excused else {"NO_PO"})
    day, found = invoice["invoice_date"], set()
    if order["status"] != "open" or day > order["expires_on"]:
        found.add("PO_CLOSED")
    if order["raised_on"] > day:
        found.add("PO_DATE")
    if invoice["tax_code"] != order["tax_code"]:
        found.add("TAX_CODE_MISMATCH")
    if invoice["freight"] > order["freight_limit"]:
        found.add("UNAUTHORISED_FREIGHT")
    if invoice["currency"] == order["currency"]:
        then, now = ledger.rate(order["currency"], order["raised_on"]), ledger.rate(invoice["currency"], day)
        if abs(now / then - 1) > Fraction(2, 100):
            found.add("FX_VARIANCE")
    return found | _line_codes(ledger, invoice, order)


def _line_codes(ledger: _Ledger, invoice: Row, order: Row) -> set[str]:
    allowed = ledger.tolerances[order["category"]]
    paid = {row["invoice_id"] for row in ledger.settled} - {invoice["invoice_id"]}
    billed_on = {
        one for one in paid if one in ledger.invoices
        and ledger.invoices[one]["po_id"] == order["po_id"] and ledger.invoices[one]["kind"] == "invoice"
    }  # fmt: skip
    found = set()
    for line in ledger.lines_of(invoice["invoice_id"]):
        sku = line["sku"]
        arrived = sum(r["quantity"] for r in ledger.receipts if (r["po_id"], r["sku"]) == (order["po_id"], sku))
        before = sum(r["quantity"] for r in ledger.lines if r["invoice_id"] in billed_on and r["sku"] == sku)
        if before + line["quantity"] > arrived * (1 + Fraction(allowed["quantity_basis_points"], 10_000)):
            found.add("QTY_OVER_RECEIPT")
        ordered = ledger.order_lines.get((order["po_id"], sku))
        if ordered is None:
            continue
        if invoice["currency"] != order["currency"]:
            found.add("PRICE_VARIANCE")
            continue
        price, agreed = Fraction(line["unit_price"]), Fraction(ordered["unit_price"])
        in_share = price <= agreed * (1 + Fraction(allowed["price_basis_points"], 10_000))
        if not in_share and (price - agreed) * line["quantity"] > Fraction(allowed["price_absolute"]):
            found.add("PRICE_VARIANCE")
    return found


def _credit_codes(ledger: _Ledger, note: Row, amount: Fraction) -> set[str]:
    found = _vendor_codes(ledger, note["vendor_id"]) & {"VENDOR_SANCTIONED"}
    target = ledger.invoices.get(note["credit_for"])
    if (
        target is None
        or target["vendor_id"] != note["vendor_id"]
        or target["kind"] != "invoice"
        or -amount > _payable(ledger, target)
    ):
        found.add("CREDIT_UNMATCHED")
    return found


def derive(world: TableWorld, invoice_id: str) -> dict[str, Any]:
    """Return what the system of record says should happen to an invoice or a credit note.

    Parameters
    ----------
    world : TableWorld
        Read, never written.
    invoice_id : str
        Number of the document.

    Returns
    -------
    dict
        ``invoice_id``, ``vendor_id``; ``invoice`` and ``vendor`` (their records), ``kind``; ``disposition`` (``pay``,
        ``hold`` or ``credit``); ``reason_codes`` (list of str, primary first) and ``primary_reason_code``;
        ``payable_gbp`` (Decimal, negative for a credit note), ``credit_gbp`` (Decimal, what a credit note takes off)
        and ``credit_for``; ``approver_role`` (the lowest that may approve), ``approver_roles`` and
        ``second_signature``; and, for rules, ``is_invoice``, ``should_pay``, ``should_hold``, ``should_credit``,
        ``foreign`` (bool).

    Raises
    ------
    NotFoundError
        No such document is on file.
    ParameterError
        What is payable cannot be told, since no rate is in force.
    """
    ledger = _Ledger(world)
    if invoice_id not in ledger.invoices:
        raise NotFoundError(f"no invoice {invoice_id!r} on file; there are {', '.join(ledger.invoices)}")
    invoice = ledger.invoices[invoice_id]
    amount = _payable(ledger, invoice)
    credit = invoice["kind"] == "credit_note"
    if credit:
        codes = _credit_codes(ledger, invoice, amount)
    else:
        codes = (
            _vendor_codes(ledger, invoice["vendor_id"]) | _duplicates(ledger, invoice) | _order_codes(ledger, invoice)
        )
    listed = [code for code in REASON_CODES if code in codes]
    disposition = "hold" if listed else "credit" if credit else "pay"
    pay = disposition == "pay"
    band = [row for row in ledger.bands if row["from_gbp"] <= _money(amount)][-1] if amount >= 0 else None
    roles = [row["role"] for row in ledger.bands]
    return {
        "invoice_id": invoice_id,
        "vendor_id": invoice["vendor_id"],
        "invoice": invoice,
        "vendor": ledger.vendors[invoice["vendor_id"]],
        "kind": invoice["kind"],
        "disposition": disposition,
        "reason_codes": listed,
        "primary_reason_code": listed[0] if listed else None,
        "payable_gbp": _money(amount),
        "credit_gbp": _money(-amount) if credit else Decimal("0.00"),
        "credit_for": invoice["credit_for"],
        "approver_role": band["role"] if band and pay else None,
        "approver_roles": roles[roles.index(band["role"]) :] if band and pay else [],
        "second_signature": bool(band["second_signature"]) if band and pay else False,
        "is_invoice": not credit,
        "should_pay": pay,
        "should_hold": disposition == "hold",
        "should_credit": disposition == "credit",
        "foreign": invoice["currency"] != BASE_CURRENCY,
    }


def outcome(world: TableWorld, task: Task) -> dict[str, Any]:
    """Return what a trial left behind.

    Returns
    -------
    dict
        Of the task's own document: ``payment_count`` (int), ``amount_paid_gbp`` (Decimal), ``reason_codes`` (list of
        str, as flagged), ``credited_gbp`` (Decimal) and ``credited_against`` (list of str), ``approved_gbp`` (list of
        Decimal, granted ones). ``elsewhere`` (int) counts payments of this trial for another document or to another
        vendor, and credits and exceptions of other documents.
    """
    invoice = world.one("SELECT vendor_id FROM invoices WHERE invoice_id = ?", task.id)
    vendor = None if invoice is None else invoice["vendor_id"]
    paid = world.all("SELECT * FROM payments WHERE opening = 0 ORDER BY payment_id")
    own = [row for row in paid if row["invoice_id"] == task.id and row["vendor_id"] == vendor]
    credits_ = world.all("SELECT * FROM credit_applications ORDER BY application_id")
    mine = [row for row in credits_ if row["credit_note_id"] == task.id]
    flagged = world.all("SELECT * FROM exceptions ORDER BY exception_id")
    held = [row for row in flagged if row["invoice_id"] == task.id]
    granted = world.all("SELECT * FROM approvals WHERE invoice_id = ? AND granted = 1 ORDER BY approval_id", task.id)
    return {
        "payment_count": len(own),
        "amount_paid_gbp": sum((row["amount_gbp"] for row in own), Decimal("0.00")),
        "reason_codes": [row["reason_code"] for row in held],
        "credited_gbp": sum((row["amount_gbp"] for row in mine), Decimal("0.00")),
        "credited_against": [row["against_invoice"] for row in mine],
        "approved_gbp": [row["amount_gbp"] for row in granted],
        "elsewhere": len(paid) - len(own) + len(credits_) - len(mine) + len(flagged) - len(held),
    }


_PARTS = ("payment_count", "amount_paid_gbp", "reason_codes", "credited_gbp", "credited_against", "elsewhere")


def grade(outcome: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """Say whether what a trial left behind is right: paid once and exactly, held for the primary reason, or credited.

    Raises
    ------
    ParameterError
        A part of the outcome or of the context is missing.
    """
    lacking = [name for name in _PARTS if outcome.get(name) is None]
    lacking += [name for name in ("disposition", "payable_gbp", "credit_gbp") if context.get(name) is None]
    if lacking:
        raise ParameterError(f"nothing can be graded without {lacking}; found {sorted(outcome)} and {sorted(context)}")
    pay, hold, credit = (context["disposition"] == word for word in ("pay", "hold", "credit"))
    codes = outcome["reason_codes"]
    return (
        outcome["elsewhere"] == 0
        and outcome["payment_count"] == int(pay)
        and Decimal(outcome["amount_paid_gbp"]) == (Decimal(context["payable_gbp"]) if pay else 0)
        and (set(codes) == {context["primary_reason_code"]} if hold else not codes)
        and list(outcome["credited_against"]) == ([context["credit_for"]] if credit else [])
        and Decimal(outcome["credited_gbp"]) == (Decimal(context["credit_gbp"]) if credit else 0)
    )
