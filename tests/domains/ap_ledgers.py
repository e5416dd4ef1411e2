"""Ledgers of accounts payable drawn at random, with values on, just inside and just outside every limit."""

from __future__ import annotations

import random
from typing import Any

from plumbline.domains.accounts_payable.data import REFERENCE
from plumbline.domains.accounts_payable.schema import SCHEMA
from plumbline.running.tables import TableWorld

__all__ = ["SUBJECT", "draw"]

SUBJECT = "INV-9000"
_DAYS = ("2026-07-16", "2026-07-20", "2026-07-30", "2026-08-03", "2026-08-05", "2026-08-12")


def draw(seed: int) -> TableWorld:
    """Return a system of record with one document to be handled; most properties are ordinary, a few are not."""
    chance = random.Random(seed)

    def odd(ordinary: Any, *others: Any, p: float = 0.12) -> Any:
        return chance.choice(others) if chance.random() < p else ordinary

    day = chance.choice(_DAYS)
    currency = odd("GBP", "EUR", "USD", p=0.4)
    raised = odd(chance.choice(("2026-06-16", "2026-07-01", "2026-07-15")), day, "2026-08-13")
    expires = odd("2026-12-31", day, "2026-07-15", p=0.1)
    category = chance.choice([row[0] for row in REFERENCE["tolerances"]])
    _, bp, absolute, quantity_bp = next(row for row in REFERENCE["tolerances"] if row[0] == category)
    price, quantity = chance.choice((50, 12_000, 123_457)), chance.choice((7, 40, 1000))
    limit = price + price * bp // 10_000
    by_amount = price + int(float(absolute) * 100) // quantity
    billed = odd(price, limit, limit + 1, by_amount, by_amount + 1, price - 1, p=0.4)
    received = quantity + chance.choice((0, 0, 0, 5))
    most = received * (10_000 + quantity_bp) // 10_000
    count = odd(quantity, most, most + 1, p=0.3)
    before = odd(0, received - quantity, received - quantity + 1, p=0.3)
    tax = chance.choice(("S20", "R05", "Z00", "RC0"))
    freight_limit = chance.choice((0, 8_500))
    freight = odd(0, freight_limit, freight_limit + 1, p=0.3)
    own_order = odd(True, False, p=0.06)
    po = odd("PO-1", None, "PO-404", p=0.1)
    exempt = odd(0, 1, p=0.2)
    kind = odd("invoice", "credit_note", p=0.12)
    number = "AB-2026-77"
    status = odd("active", "watch", "hold", "inactive", "sanctioned")
    other_account = odd("ACC-2", "ACC-1", p=0.2)
    known = chance.random() < 0.6
    vendors = [
        ("V-1", "Subject", status, "ACC-1", chance.choice(("NET30", "2/10 NET30", "1/15 NET45")), exempt),
        ("V-2", "Other", "active", other_account, "NET30", 0),
    ]
    invoices: list[tuple[Any, ...]] = []
    lines: list[tuple[Any, ...]] = []
    payments: list[tuple[Any, ...]] = []

    def settle(
        name: str, number: str, vendor: str, order: Any, receipt: Any, bill: Any, units: int, tax_code: str
    ) -> None:
        invoices.append(
            (name, "invoice", number, vendor, order, receipt, None, currency, tax_code, "0.00", "2026-07-16")
        )
        if units:
            lines.append((name, "SKU-1", bill, units))
        payments.append((f"PAY-{len(payments)}", name, vendor, "1.00", "2026-07-20", 1))

    if known:
        settle("INV-8000", "ZZ-1", "V-1", None, None, "3.10", 1, "Z00")
    if before > 0 and po == "PO-1":
        settle("INV-8001", "ZZ-2", "V-1", po, "GR-1", "0.01", before, "Z00")
    twin = odd(None, "exact", "number", "amount", "amount elsewhere", "other vendor", p=0.35)
    receipt, twin_receipt = odd("GR-1", None, "GR-404"), odd("GR-2", "GR-1", None, "GR-404", p=0.5)
    if twin:
        vendor = "V-2" if twin == "other vendor" else "V-1"
        same_number, same_amount = twin in ("exact", "number", "other vendor"), twin != "number"
        its_number = odd("ab 2026/77", "AB-2026-77C") if same_number else "QQ-9"
        its_price = billed if same_amount else billed + 100
        its_freight = freight if same_amount else 0
        name = "INV-8002"
        its_order = None if twin == "amount elsewhere" else po
        invoices.append(
            (name, "invoice", its_number, vendor, its_order, twin_receipt, None, currency, tax, _text(its_freight), day)
        )
        lines.append((name, "SKU-1" if its_order is None else "SKU-9", _text(its_price), count))
        payments.append((f"PAY-{len(payments)}", name, vendor, "1.00", "2026-07-20", 1))
    target = odd("INV-8003", None, "INV-404", "INV-8004", p=0.3) if kind == "credit_note" else None
    if kind == "credit_note":
        for name, vendor in (("INV-8003", "V-1"), ("INV-8004", "V-2")):
            invoices.append((name, "invoice", f"TT-{name}", vendor, None, None, None, currency, tax, "0.00", day))
            lines.append((name, "SKU-1", _text(price), odd(count, max(1, count - 1), p=0.3)))
    billed_currency = odd(currency, "EUR", p=0.04)
    invoices.append((
        SUBJECT, kind, number, "V-1", po if kind == "invoice" else None, receipt, target, billed_currency,
        odd(tax, "S20", "E00", p=0.15), _text(freight if kind == "invoice" else 0), day,
    ))  # fmt: skip
    lines.append((SUBJECT, "SKU-1", _text(billed), count))
    if kind == "invoice" and chance.random() < 0.3:
        lines.append((SUBJECT, "SKU-2", "1.00", 3))
    second = [("PO-1", "SKU-2", "1.00", 9)] if chance.random() < 0.8 else []
    falling = ("EUR", "2026-08-10", 830_000)
    tables = {
        **REFERENCE,
        "fx_rates": [*REFERENCE["fx_rates"], falling],
        "vendors": vendors,
        "purchase_orders": [
            ("PO-1", "V-1" if own_order else "V-2", category, currency, tax, _text(freight_limit), raised, expires,
             odd("open", "closed", p=0.05)),
        ],
        "po_lines": [("PO-1", "SKU-1", _text(price), quantity), *second],
        "goods_receipts": [("GR-1", "PO-1", "SKU-1", received), ("GR-2", "PO-1", "SKU-2", odd(3, 2))],
        "invoices": invoices, "invoice_lines": lines, "payments": payments,
    }  # fmt: skip
    return TableWorld(SCHEMA, SCHEMA.image(tables))


def _text(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
