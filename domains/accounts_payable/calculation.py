"""What the tools compute with: dates, rates, and money rounded half up to the cent where the policy says so."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.domains.accounts_payable.schema import BASE_CURRENCY, TODAY
from plumbline.running.tables import TableWorld

__all__ = ["amounts", "band", "cents", "normalised", "rate"]

_OLDEST = timedelta(days=31)


def cents(amount: Decimal) -> Decimal:
    """Round half up to the cent.

    Examples
    --------
    >>> cents(Decimal("5317.375")), cents(Decimal("-97.345"))
    (Decimal('5317.38'), Decimal('-97.35'))
    """
    with localcontext() as context:
        context.prec = 60
        return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def rate(world: TableWorld, currency: str, day: str) -> Decimal:
    """Return GBP for one unit of a currency on a day: the rate in force, published at most 31 days before.

    Raises
    ------
    ToolError
        No rate is in force on that day.
    """
    if currency == BASE_CURRENCY:
        return Decimal(1)
    row = world.one(
        "SELECT * FROM fx_rates WHERE currency = ? AND valid_from <= ? ORDER BY valid_from DESC LIMIT 1", currency, day
    )
    if row is None or date.fromisoformat(day) - date.fromisoformat(row["valid_from"]) > _OLDEST:
        raise ToolError(f"no rate of {currency} is in force on {day}", "no_rate")
    return Decimal(row["per_million"]).scaleb(-6)


def normalised(number: str) -> str:
    """Return an invoice number without separators, in capitals, without a leading or a trailing letter of a copy.

    Examples
    --------
    >>> normalised("rc/2026-0117a"), normalised("RC 2026.0117")
    ('RC20260117', 'RC20260117')
    """
    bare = re.sub(r"[^0-9A-Z]", "", number.upper())
    return re.sub(r"(?<=[0-9])[A-Z]$", "", bare)


def amounts(world: TableWorld, invoice: dict[str, Any]) -> dict[str, Any]:
    """Return what an invoice comes to: net, tax and discount in its currency, and the whole in GBP.

    Tax is charged on net and freight, the discount is taken from net if its days have not run out; each is rounded to
    the cent, and so is the sum after conversion at the rate of the invoice's date. A credit note is negative.
    """
    lines = world.all("SELECT * FROM invoice_lines WHERE invoice_id = ?", invoice["invoice_id"])
    net = sum((line["unit_price"] * line["quantity"] for line in lines), Decimal("0.00"))
    code = world.one("SELECT basis_points FROM tax_codes WHERE tax_code = ?", invoice["tax_code"])
    if code is None:
        raise ToolError(f"tax code {invoice['tax_code']!r} is not on file", "not_found")
    tax = cents((net + invoice["freight"]) * code["basis_points"] / 10_000)
    discount = Decimal("0.00")
    if invoice["kind"] == "invoice":
        discount = _discount(world, invoice, net)
    total = net + tax + invoice["freight"] - discount
    if invoice["kind"] == "credit_note":
        total = -total
    return {
        "currency": invoice["currency"], "net": net, "tax": tax, "freight": invoice["freight"], "discount": discount,
        "total": total,
        "payable_gbp": cents(total * rate(world, invoice["currency"], invoice["invoice_date"])),
    }  # fmt: skip


def _discount(world: TableWorld, invoice: dict[str, Any], net: Decimal) -> Decimal:
    terms = world.one(
        "SELECT t.* FROM payment_terms AS t JOIN vendors AS v USING (terms) WHERE v.vendor_id = ?", invoice["vendor_id"]
    )
    if terms is None:
        return Decimal("0.00")
    last = date.fromisoformat(invoice["invoice_date"]) + timedelta(days=terms["days"])
    return cents(net * terms["basis_points"] / 10_000) if last.isoformat() >= TODAY else Decimal("0.00")


def band(world: TableWorld, amount: Decimal) -> dict[str, Any]:
    """Return the approval band of an amount in GBP, its lower bound included.

    Raises
    ------
    ToolError
        The amount is negative, or no band covers it.
    """
    rows = world.all("SELECT * FROM approval_bands ORDER BY from_gbp DESC")
    found = next((row for row in rows if row["from_gbp"] <= amount), None)
    if found is None:
        raise ToolError(f"no approval band covers {amount} GBP", "invalid_arguments")
    return found
