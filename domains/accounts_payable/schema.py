"""The tables of accounts payable, and the words that stand in them. Base currency GBP; every amount has a currency."""

from __future__ import annotations

from plumbline.running.tables import TableSchema

__all__ = ["BASE_CURRENCY", "CATEGORIES", "REASON_CODES", "ROLES", "SCHEMA", "TODAY"]

BASE_CURRENCY = "GBP"
TODAY = "2026-08-14"
"""The day on which every case is worked on; early-payment discounts are counted from it."""

REASON_CODES = (
    "VENDOR_SANCTIONED",
    "DUPLICATE_EXACT",
    "DUPLICATE_FUZZY",
    "DUPLICATE_VENDOR",
    "VENDOR_HOLD",
    "PO_CLOSED",
    "PO_DATE",
    "NO_PO",
    "QTY_OVER_RECEIPT",
    "PRICE_VARIANCE",
    "TAX_CODE_MISMATCH",
    "FX_VARIANCE",
    "UNAUTHORISED_FREIGHT",
    "CREDIT_UNMATCHED",
    "CHECK_FAILED",
)
"""Why a document is held; of several reasons the first in this order is the primary one. The last two are for credit
notes that name no invoice they could reduce, and for checks that could not be made."""

ROLES = ("ap_clerk", "controller", "finance_director", "cfo")
"""Approver roles, lowest authority first."""

CATEGORIES = ("commodity", "manufactured", "services", "freight", "utilities")

_DDL = """
CREATE TABLE vendors (
    vendor_id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, bank_account TEXT NOT NULL,
    terms TEXT NOT NULL, order_exempt INTEGER NOT NULL);
CREATE TABLE purchase_orders (
    po_id TEXT PRIMARY KEY, vendor_id TEXT NOT NULL, category TEXT NOT NULL, currency TEXT NOT NULL,
    tax_code TEXT NOT NULL, freight_limit INTEGER NOT NULL, raised_on TEXT NOT NULL, expires_on TEXT NOT NULL,
    status TEXT NOT NULL);
CREATE TABLE po_lines (
    po_id TEXT NOT NULL, sku TEXT NOT NULL, unit_price INTEGER NOT NULL, quantity INTEGER NOT NULL,
    PRIMARY KEY (po_id, sku));
CREATE TABLE goods_receipts (
    receipt_id TEXT NOT NULL, po_id TEXT NOT NULL, sku TEXT NOT NULL, quantity INTEGER NOT NULL,
    PRIMARY KEY (receipt_id, sku));
CREATE TABLE invoices (
    invoice_id TEXT PRIMARY KEY, kind TEXT NOT NULL, number TEXT NOT NULL, vendor_id TEXT NOT NULL, po_id TEXT,
    receipt_id TEXT, credit_for TEXT, currency TEXT NOT NULL, tax_code TEXT NOT NULL, freight INTEGER NOT NULL,
    invoice_date TEXT NOT NULL);
CREATE TABLE invoice_lines (
    invoice_id TEXT NOT NULL, sku TEXT NOT NULL, unit_price INTEGER NOT NULL, quantity INTEGER NOT NULL,
    PRIMARY KEY (invoice_id, sku));
CREATE TABLE payments (
    payment_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, vendor_id TEXT NOT NULL, amount_gbp INTEGER NOT NULL,
    paid_on TEXT NOT NULL, opening INTEGER NOT NULL);
CREATE TABLE exceptions (
    exception_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, reason_code TEXT NOT NULL, detail TEXT);
CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, approver_role TEXT NOT NULL, amount_gbp INTEGER NOT NULL,
    second_signature INTEGER NOT NULL, granted INTEGER NOT NULL);
CREATE TABLE credit_applications (
    application_id TEXT PRIMARY KEY, credit_note_id TEXT NOT NULL, against_invoice TEXT NOT NULL,
    amount_gbp INTEGER NOT NULL);
CREATE TABLE audit_log (entry_id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, action TEXT NOT NULL, detail TEXT);
CREATE TABLE tax_codes (tax_code TEXT PRIMARY KEY, basis_points INTEGER NOT NULL);
CREATE TABLE fx_rates (
    currency TEXT NOT NULL, valid_from TEXT NOT NULL, per_million INTEGER NOT NULL, PRIMARY KEY (currency, valid_from));
CREATE TABLE tolerances (
    category TEXT PRIMARY KEY, price_basis_points INTEGER NOT NULL, price_absolute INTEGER NOT NULL,
    quantity_basis_points INTEGER NOT NULL);
CREATE TABLE approval_bands (
    from_gbp INTEGER PRIMARY KEY, role TEXT NOT NULL, second_signature INTEGER NOT NULL);
CREATE TABLE payment_terms (terms TEXT PRIMARY KEY, basis_points INTEGER NOT NULL, days INTEGER NOT NULL);
"""
"""Eleven tables, then five of reference. A rate is GBP for a million units of the currency, in force until the next."""

SCHEMA = TableSchema(
    _DDL,
    {
        "vendors": ("vendor_id", "name", "status", "bank_account", "terms", "order_exempt"),
        "purchase_orders": (
            "po_id", "vendor_id", "category", "currency", "tax_code", "freight_limit", "raised_on", "expires_on",
            "status",
        ),
        "po_lines": ("po_id", "sku", "unit_price", "quantity"),
        "goods_receipts": ("receipt_id", "po_id", "sku", "quantity"),
        "invoices": (
            "invoice_id", "kind", "number", "vendor_id", "po_id", "receipt_id", "credit_for", "currency", "tax_code",
            "freight", "invoice_date",
        ),
        "invoice_lines": ("invoice_id", "sku", "unit_price", "quantity"),
        "payments": ("payment_id", "invoice_id", "vendor_id", "amount_gbp", "paid_on", "opening"),
        "tax_codes": ("tax_code", "basis_points"),
        "fx_rates": ("currency", "valid_from", "per_million"),
        "tolerances": ("category", "price_basis_points", "price_absolute", "quantity_basis_points"),
        "approval_bands": ("from_gbp", "role", "second_signature"),
        "payment_terms": ("terms", "basis_points", "days"),
    },
    frozenset({"unit_price", "freight", "freight_limit", "amount_gbp", "price_absolute", "from_gbp"}),
    ("payments", "exceptions", "approvals", "credit_applications", "audit_log"),
)  # fmt: skip
"""The tables, and which columns hold money."""
