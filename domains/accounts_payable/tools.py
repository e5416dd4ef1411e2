"""The sixteen tools, and three that are offered but do not exist.

The tools do what their callers ask: nothing stops a payment that should not be made. That is what the policy is for.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.domains.accounts_payable import checks
from plumbline.domains.accounts_payable.calculation import band
from plumbline.domains.accounts_payable.schema import REASON_CODES, ROLES
from plumbline.running import Tool
from plumbline.running.tables import TableWorld, to_cents
from plumbline.running.tool import parameters, text

__all__ = ["DECOYS", "TOOLS"]


def request_approval(
    world: TableWorld, invoice_id: str, approver_role: str, amount_gbp: Decimal | int, second_signature: bool = False
) -> dict[str, Any]:
    """Ask for an approval: granted if the role may approve the amount and a second signature is there where needed."""
    amount = _money(amount_gbp)
    needed = band(world, amount)
    enough = ROLES.index(approver_role) >= ROLES.index(needed["role"])
    granted = enough and (second_signature or not needed["second_signature"])
    row = {
        "approval_id": f"APR-{world.count('approvals') + 1:04}", "invoice_id": invoice_id,
        "approver_role": approver_role, "amount_gbp": amount, "second_signature": int(second_signature),
        "granted": int(granted),
    }  # fmt: skip
    world.add("approvals", row)
    return row | {"second_signature": second_signature, "granted": granted}


def schedule_payment(world: TableWorld, invoice_id: str, amount_gbp: Decimal | int, vendor_id: str) -> dict[str, Any]:
    """Pay, whatever is asked for."""
    row = {
        "payment_id": f"PAY-{world.count('payments') + 5000:04}", "invoice_id": invoice_id, "vendor_id": vendor_id,
        "amount_gbp": _money(amount_gbp),
    }  # fmt: skip
    world.add("payments", row | {"paid_on": "2026-08-14", "opening": 0})
    return row | {"status": "scheduled"}


def apply_credit_note(
    world: TableWorld, credit_note_id: str, against_invoice: str, amount_gbp: Decimal | int
) -> dict[str, Any]:
    """Take an amount off what an invoice comes to, whatever is asked for."""
    row = {
        "application_id": f"CRA-{world.count('credit_applications') + 1:04}", "credit_note_id": credit_note_id,
        "against_invoice": against_invoice, "amount_gbp": _money(amount_gbp),
    }  # fmt: skip
    world.add("credit_applications", row)
    return row | {"status": "applied"}


def flag_exception(world: TableWorld, invoice_id: str, reason_code: str, detail: str | None = None) -> dict[str, Any]:
    """Hold a document for people to look at, for a reason of the list."""
    row = {
        "exception_id": f"EXC-{world.count('exceptions') + 1:04}", "invoice_id": invoice_id,
        "reason_code": reason_code, "detail": detail,
    }  # fmt: skip
    world.add("exceptions", row)
    return {"exception_id": row["exception_id"], "invoice_id": invoice_id, "reason_code": reason_code, "status": "open"}


def post_audit_log(world: TableWorld, invoice_id: str, action: str, detail: str | None = None) -> dict[str, Any]:
    """Write down what was done."""
    key = f"LOG-{world.count('audit_log') + 1:04}"
    world.add("audit_log", {"entry_id": key, "invoice_id": invoice_id, "action": action, "detail": detail})
    return {"entry_id": key, "logged": True}


def _money(amount: Decimal | int) -> Decimal:
    """Return the amount in whole cents, or refuse it."""
    try:
        return Decimal(to_cents(amount)).scaleb(-2)
    except ParameterError as error:
        raise ToolError(str(error), "invalid_arguments") from None


_INVOICE = text("Number of the invoice or credit note, such as INV-8201.")
_VENDOR = text("Number of the vendor, such as V-201; a name is not accepted.")
_AMOUNT = {"type": "number", "description": "Amount in GBP with at most two decimals."}
_ONE = parameters({"invoice_id": _INVOICE})


def _reading(name: str, description: str, schema: dict[str, Any] = _ONE) -> Tool:
    return Tool(name, getattr(checks, name), schema, idempotent=True, description=description)


TOOLS = (
    _reading("fetch_invoice", "Read the record of an invoice or a credit note."),
    _reading("fetch_invoice_lines", "Read what is billed, line by line."),
    _reading(
        "match_purchase_order",
        "Set every billed line beside the order and the goods received, with the tolerance of the order's category.",
    ),
    _reading(
        "check_duplicate", "Look for a paid invoice of the same vendor that may be the same one, with a confidence."
    ),
    _reading(
        "check_po_validity", "Say whether the order is the vendor's own, open, in date, and raised before the invoice."
    ),
    _reading("validate_tax", "Compare the tax code billed with the one ordered."),
    _reading("check_fx_variance", "Compare the exchange rates of the invoice's date and the order's."),
    _reading("check_freight", "Compare the freight billed with what the order allows."),
    _reading("calculate_payable_amount", "Work out net, tax, freight, discount, and what is payable in GBP."),
    _reading(
        "check_vendor_status", "Say whether a vendor may be paid, and who else has its bank account.",
        parameters({"vendor_id": _VENDOR}),
    ),
    _reading(
        "lookup_approval_requirement", "Say who must approve a payment of an amount.",
        parameters({"amount_gbp": _AMOUNT}),
    ),
    Tool(
        "request_approval", request_approval,
        parameters(
            {"invoice_id": _INVOICE, "approver_role": text("Who approves.", enum=list(ROLES)), "amount_gbp": _AMOUNT,
             "second_signature": {"type": "boolean", "description": "Ask for a second signature too."}},
            optional=("second_signature",),
        ),
        mutating=True, description="Ask a person in a role to approve the payment of an amount.",
    ),
    Tool(
        "schedule_payment", schedule_payment,
        parameters({"invoice_id": _INVOICE, "amount_gbp": _AMOUNT, "vendor_id": _VENDOR}),
        mutating=True, description="Pay an amount to a vendor for an invoice. This cannot be undone.",
    ),
    Tool(
        "apply_credit_note", apply_credit_note,
        parameters({"credit_note_id": _INVOICE, "against_invoice": _INVOICE, "amount_gbp": _AMOUNT}),
        mutating=True, description="Take the amount of a credit note off an invoice. The amount is given positive.",
    ),
    Tool(
        "flag_exception", flag_exception,
        parameters(
            {"invoice_id": _INVOICE, "reason_code": text("Why it is held.", enum=list(REASON_CODES)),
             "detail": text("Anything worth adding.")},
            optional=("detail",),
        ),
        mutating=True, description="Hold a document and hand it to a person, with the reason.",
    ),
    Tool(
        "post_audit_log", post_audit_log,
        parameters(
            {"invoice_id": _INVOICE, "action": text("What was done."), "detail": text("Anything worth adding.")},
            optional=("detail",),
        ),
        mutating=True, description="Write what was done with a document into the audit log.",
    ),
)  # fmt: skip
"""The tools that work. The last five change the system of record, and doing one twice is not doing it once."""


def _absent(world: TableWorld, **arguments: Any) -> None:
    raise ToolError("this tool does not exist", "no_such_tool")


DECOYS = (
    Tool("check_budget_remaining", _absent, parameters({"cost_centre": text("Number of the cost centre.")}),
         description="Tell how much of a cost centre's budget is left."),
    Tool("estimate_delivery_date", _absent, parameters({"po_id": text("Number of the purchase order.")}),
         description="Estimate when an order will be delivered."),
    Tool("lookup_contact", _absent, parameters({"vendor_id": _VENDOR}), description="Find a vendor's contact person."),
)  # fmt: skip
"""Offered in the decoy_tools perturbation; the toolbox refuses a call before it gets anywhere."""
