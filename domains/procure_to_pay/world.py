"""The system of record: vendors, orders, receipts, invoices and what is done to them, in SQLite.

Amounts are whole cents in the tables and ``Decimal`` outside them; no binary float holds money anywhere. Every trial
has its own copy in memory, made from one image of the opening tables.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from plumbline.running.tables import Tables, TableSchema, TableWorld, to_cents, to_money

__all__ = [
    "APPROVAL_THRESHOLD",
    "OPENING",
    "PRICE_TOLERANCE",
    "SCHEMA",
    "World",
    "image",
    "new_world",
    "to_cents",
    "to_money",
]

APPROVAL_THRESHOLD = Decimal("10000.00")
"""A payment strictly above it needs an approval."""
PRICE_TOLERANCE = Decimal("0.01")
"""A billed unit price may differ from the ordered one by this much, that much included."""

_TABLES = """
CREATE TABLE vendors (vendor_id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, terms TEXT NOT NULL);
CREATE TABLE purchase_orders (
    po_id TEXT PRIMARY KEY, vendor_id TEXT NOT NULL, sku TEXT NOT NULL, unit_price INTEGER NOT NULL,
    quantity INTEGER NOT NULL, status TEXT NOT NULL);
CREATE TABLE goods_receipts (receipt_id TEXT PRIMARY KEY, po_id TEXT NOT NULL, quantity INTEGER NOT NULL);
CREATE TABLE invoices (
    invoice_id TEXT PRIMARY KEY, vendor_id TEXT NOT NULL, po_id TEXT, sku TEXT NOT NULL, unit_price INTEGER NOT NULL,
    quantity INTEGER NOT NULL, total INTEGER NOT NULL, received_on TEXT NOT NULL);
CREATE TABLE payments (
    payment_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, vendor_id TEXT NOT NULL, amount INTEGER NOT NULL,
    paid_on TEXT, opening INTEGER NOT NULL DEFAULT 0);
CREATE TABLE exceptions (exception_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, role TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE audit_log (entry_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, action TEXT NOT NULL, detail TEXT);
"""
_WRITTEN = ("payments", "exceptions", "approvals", "audit_log")
_MONEY = {"unit_price", "total", "amount"}
_COLUMNS = {
    "vendors": ("vendor_id", "name", "status", "terms"),
    "purchase_orders": ("po_id", "vendor_id", "sku", "unit_price", "quantity", "status"),
    "goods_receipts": ("receipt_id", "po_id", "quantity"),
    "invoices": ("invoice_id", "vendor_id", "po_id", "sku", "unit_price", "quantity", "total", "received_on"),
    "payments": ("payment_id", "invoice_id", "vendor_id", "amount", "paid_on", "opening"),
}

SCHEMA = TableSchema(_TABLES, _COLUMNS, frozenset(_MONEY), _WRITTEN)
"""The eight tables."""

OPENING: Tables = {
    "vendors": (
        ("V-100", "Ridgeline Components", "active", "NET30"),
        ("V-101", "Ashfield Logistics", "active", "NET45"),
        ("V-102", "Corvin Industrial", "hold", "NET30"),
        ("V-103", "Delmar Packaging", "active", "NET15"),
        ("V-104", "Northgate Fasteners", "active", "NET30"),
    ),
    "purchase_orders": (
        ("PO-5001", "V-100", "RC-88", "120.50", 40, "open"),
        ("PO-5002", "V-101", "AL-FRT", "15.00", 300, "open"),
        ("PO-5003", "V-102", "CI-VAL", "890.00", 6, "open"),
        ("PO-5004", "V-103", "DP-BOX", "2.35", 5000, "open"),
        ("PO-5005", "V-104", "NF-M8", "0.42", 20000, "open"),
        ("PO-5006", "V-100", "RC-90", "310.00", 25, "open"),
        ("PO-5007", "V-100", "RC-92", "580.00", 25, "open"),
    ),
    "goods_receipts": (
        ("GR-9001", "PO-5001", 40),
        ("GR-9002", "PO-5002", 300),
        ("GR-9003", "PO-5003", 6),
        ("GR-9004", "PO-5004", 4500),
        ("GR-9005", "PO-5005", 20000),
        ("GR-9006", "PO-5006", 25),
        ("GR-9007", "PO-5007", 25),
    ),
    "invoices": (
        ("INV-7001", "V-100", "PO-5001", "RC-88", "120.50", 40, "4820.00", "2026-07-02"),
        ("INV-7002", "V-101", "PO-5002", "AL-FRT", "15.00", 300, "4500.00", "2026-07-03"),
        ("INV-7003", "V-102", "PO-5003", "CI-VAL", "890.00", 6, "5340.00", "2026-07-05"),
        ("INV-7004", "V-103", "PO-5004", "DP-BOX", "2.35", 5000, "11750.00", "2026-07-06"),
        ("INV-7005", "V-104", "PO-5005", "NF-M8", "0.48", 20000, "9600.00", "2026-07-08"),
        ("INV-7006", "V-100", "PO-5006", "RC-90", "310.00", 25, "7750.00", "2026-07-09"),
        ("INV-7007", "V-100", "PO-5001", "RC-88", "120.50", 40, "4820.00", "2026-07-14"),
        ("INV-7008", "V-101", None, "AL-FRT", "15.00", 120, "1800.00", "2026-07-15"),
        ("INV-7009", "V-100", "PO-5007", "RC-92", "580.00", 25, "14500.00", "2026-07-16"),
    ),
    "payments": (("PAY-3001", "INV-7001", "V-100", "4820.00", "2026-07-10", 1),),
}
"""The opening tables, money as text; every amount becomes whole cents on the way in."""


class World(TableWorld):
    """One trial's own copy of the system of record.

    Parameters
    ----------
    opening : bytes
        The image it starts from, see ``image``.
    """

    def __init__(self, opening: bytes) -> None:
        super().__init__(SCHEMA, opening)


def image(tables: Tables) -> bytes:
    """Return a system of record with these opening rows as bytes that ``World`` starts from.

    Parameters
    ----------
    tables : mapping
        Table name to rows, columns as in ``OPENING``; a table that is not named starts empty.

    Raises
    ------
    ParameterError
        A table is unknown, or a row has the wrong number of columns.
    """
    return SCHEMA.image(tables)


@lru_cache(maxsize=1)
def _opening() -> bytes:
    return image(OPENING)


def new_world() -> World:
    """Return a fresh copy of the system of record."""
    return World(_opening())
