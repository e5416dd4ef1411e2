"""What the model arms are told: the payables policy in prose, and how to name the document of a request."""

from __future__ import annotations

from typing import Any

from plumbline.domains.accounts_payable.schema import REASON_CODES

__all__ = ["CHOICE_EXAMPLE", "INTERPRETATION_SCHEMA", "INTERPRET_SYSTEM", "POLICY_PROSE", "interpretation_prompt"]

POLICY_PROSE = f"""You work in accounts payable. You are given one supplier document at a time and act through tools.
All payments are in GBP.

An invoice:
1. Read it and its lines. Work only on the document you were asked about, with numbers the tools gave you.
2. Check the vendor, the order's validity, the match with order and receipts, duplicates, tax, exchange rate and
   freight. Make every check in any case.
3. A possible duplicate of confidence 1.00 is an exact one. At 0.85 it is a probable one. At 0.75 it is a probable one
   too, unless the two invoices name different goods receipts that are both on file.
4. If anything objects, do not pay. Hold the invoice with one exception, under the reason that stands first in this
   list: {", ".join(REASON_CODES)}.
5. If nothing objects, work out what is payable, look up who must approve it, get that approval (with a second signature
   where one is needed), and pay once, exactly that amount, to the vendor of the invoice.

A credit note is never paid. Take its amount off the invoice it names, if that is an invoice of the same vendor and not
smaller; otherwise hold it as CREDIT_UNMATCHED.

Write every case into the audit log at the end: paid, held or credited. A tool can fail for a moment; then try it again.
If a check cannot be made, hold the document as CHECK_FAILED. If you cannot tell whether a payment went through, do not
pay again. When you have finished, answer in one or two sentences without calling a tool."""
"""Standing instructions of ``react`` and ``guarded``."""

INTERPRET_SYSTEM = """You read requests sent to accounts payable and say which document each one asks to have processed.
Answer with JSON only, {"invoice_id": "..."}: the number of the invoice or credit note, spelt as in the request. Other
numbers, such as those of orders or articles, and remarks about other matters do not count."""
"""Standing instructions for the one question that ``plan_execute`` asks."""

CHOICE_EXAMPLE = """An invoice is handled like this, one call at a time:

Invoice INV-9101 from Sandhurst Paper has arrived: please process it under our payables policy and report what you did.

{"tool": "fetch_invoice", "arguments": {"invoice_id": "INV-9101"}}

Result of fetch_invoice: {"invoice_id":"INV-9101","kind":"invoice","po_id":"PO-9101","vendor_id":"V-901"}

{"tool": "fetch_invoice_lines", "arguments": {"invoice_id": "INV-9101"}}

Result of fetch_invoice_lines: {"invoice_id":"INV-9101","lines":[{"quantity":4,"sku":"SP-11","unit_price":50.00}]}

{"tool": "check_vendor_status", "arguments": {"vendor_id": "V-901"}}

Result of check_vendor_status: {"payable":true,"problems":[],"vendor_id":"V-901"}

{"tool": "check_po_validity", "arguments": {"invoice_id": "INV-9101"}}

Result of check_po_validity: {"po_id":"PO-9101","problems":[],"status":"open"}

{"tool": "match_purchase_order", "arguments": {"invoice_id": "INV-9101"}}

Result of match_purchase_order: {"matched":true,"problems":[]}

{"tool": "check_duplicate", "arguments": {"invoice_id": "INV-9101"}}

Result of check_duplicate: {"candidates":[],"confidence":0.00}

{"tool": "validate_tax", "arguments": {"invoice_id": "INV-9101"}}

Result of validate_tax: {"problems":[]}

{"tool": "check_fx_variance", "arguments": {"invoice_id": "INV-9101"}}

Result of check_fx_variance: {"problems":[]}

{"tool": "check_freight", "arguments": {"invoice_id": "INV-9101"}}

Result of check_freight: {"problems":[]}

{"tool": "calculate_payable_amount", "arguments": {"invoice_id": "INV-9101"}}

Result of calculate_payable_amount: {"net":200.00,"payable_gbp":240.00}

{"tool": "lookup_approval_requirement", "arguments": {"amount_gbp": 240.00}}

Result of lookup_approval_requirement: {"approver_role":"ap_clerk","second_signature":false}

{"tool": "request_approval", "arguments": {"invoice_id": "INV-9101", "approver_role": "ap_clerk", "amount_gbp": 240.00}}

Result of request_approval: {"amount_gbp":240.00,"granted":true}

{"tool": "schedule_payment", "arguments": {"invoice_id": "INV-9101", "amount_gbp": 240.00, "vendor_id": "V-901"}}

Result of schedule_payment: {"payment_id":"PAY-9101","status":"scheduled"}

{"tool": "post_audit_log", "arguments": {"invoice_id": "INV-9101", "action": "paid", "detail": "All checks passed."}}

Result of post_audit_log: {"logged":true}

{"answer": "INV-9101 passed every check and 240.00 GBP was scheduled for payment."}

The next document:"""
"""One case handled whole, for a model that only goes on with a text; none of its numbers is one of the domain's."""

_EXAMPLES = (
    ("Please settle INV-9101, it came in this morning.", "INV-9101"),
    ("The lift is out on Friday. Could someone look at invoice INV-9245 for order PO-9120? Thanks.", "INV-9245"),
    ("Process the credit note from Sandhurst Paper under our rules; the number on it is INV-9017.", "INV-9017"),
)

INTERPRETATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"invoice_id": {"type": "string", "pattern": "^INV-[0-9]{4}$"}},
    "required": ["invoice_id"],
    "additionalProperties": False,
}


def interpretation_prompt(request: str) -> str:
    """Return the question, with examples before it; none of their numbers is one of the domain's.

    Examples
    --------
    >>> interpretation_prompt("Pay INV-8201.").endswith("Request: Pay INV-8201.\\nAnswer:")
    True
    """
    shown = "\n\n".join(f'Request: {asked}\nAnswer: {{"invoice_id": "{number}"}}' for asked, number in _EXAMPLES)
    return f"{shown}\n\nRequest: {request}\nAnswer:"
