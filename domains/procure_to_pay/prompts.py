"""What the model arms are told: the payables policy in prose, and how to name the invoice of a request."""

from __future__ import annotations

from typing import Any

from plumbline.domains.procure_to_pay.world import APPROVAL_THRESHOLD

__all__ = [
    "CHOICE_EXAMPLE",
    "EXAMPLES",
    "INTERPRETATION_SCHEMA",
    "INTERPRET_SYSTEM",
    "POLICY_PROSE",
    "interpretation_prompt",
]

POLICY_PROSE = f"""You work in accounts payable. You are given one supplier invoice at a time and act through tools.

How an invoice is handled:
1. Read the invoice. Work only on the invoice you were asked about, and only with numbers the tools gave you.
2. Before any payment, make all three checks: compare it with its purchase order and the goods received, look for an
   earlier payment of the same delivery, and find out whether the vendor may be paid. Make all three in any case.
3. If a check objects, or cannot be made, do not pay. Hold the invoice for a person and say why.
4. If all checks pass and the total is above {APPROVAL_THRESHOLD} dollars, ask the controller or the cfo to approve
   exactly the invoice's total, and pay only after that.
5. Pay once, exactly the invoice's total, to the vendor on the invoice.
6. Write every case into the audit log at the end, paid or held.

A tool can fail for a moment; then try it again. If you cannot tell whether a payment went through, do not pay again:
hold the invoice and say so. When you have finished, answer in one or two sentences without calling a tool."""
"""Standing instructions of ``react`` and ``guarded``."""

INTERPRET_SYSTEM = """You read requests sent to accounts payable and say which invoice each one asks to have processed.
Answer with JSON only, {"invoice_id": "..."}: the invoice's own number, spelt as in the request. Other numbers, such as
those of orders or articles, and remarks about other matters do not count."""
"""Standing instructions for the one question that ``plan_execute`` asks."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("Please settle INV-8101, it came in this morning.", "INV-8101"),
    ("The kitchen is closed on Friday. Could someone look at invoice INV-8245 for order PO-6120? Thanks.", "INV-8245"),
    ("Process the bill from Sandhurst Paper under our rules; the number on it is INV-8017.", "INV-8017"),
)
"""Requests and answers shown first; none of their numbers is one of the domain's."""

CHOICE_EXAMPLE = """An invoice is handled like this, one call at a time:

Please process invoice INV-8101 from Sandhurst Paper under our payables policy, and report what you did.

{"tool": "fetch_invoice", "arguments": {"invoice_id": "INV-8101"}}

Result of fetch_invoice: {"invoice_id":"INV-8101","po_id":"PO-6101","total":240.00,"vendor_id":"V-801"}

{"tool": "match_purchase_order", "arguments": {"invoice_id": "INV-8101"}}

Result of match_purchase_order: {"matched":true,"problems":[]}

{"tool": "check_duplicate", "arguments": {"invoice_id": "INV-8101"}}

Result of check_duplicate: {"is_duplicate":false,"payments":[]}

{"tool": "check_vendor_status", "arguments": {"vendor_id": "V-801"}}

Result of check_vendor_status: {"payable":true,"status":"active","vendor_id":"V-801"}

{"tool": "schedule_payment", "arguments": {"invoice_id": "INV-8101", "amount": 240.00, "vendor_id": "V-801"}}

Result of schedule_payment: {"payment_id":"PAY-8101","status":"scheduled"}

{"tool": "post_audit_log", "arguments": {"invoice_id": "INV-8101", "action": "paid", "detail": "All checks passed."}}

Result of post_audit_log: {"logged":true}

{"answer": "INV-8101 passed every check and 240.00 was scheduled for payment."}

The next invoice:"""
"""One case handled whole, for a model that only goes on with a text; none of its numbers is one of the domain's."""

INTERPRETATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"invoice_id": {"type": "string", "pattern": "^INV-[0-9]{4}$"}},
    "required": ["invoice_id"],
    "additionalProperties": False,
}


def interpretation_prompt(request: str) -> str:
    """Return the question, with the examples before it.

    Examples
    --------
    >>> interpretation_prompt("Pay INV-7002.").endswith("Request: Pay INV-7002.\\nAnswer:")
    True
    """
    shown = "\n\n".join(f'Request: {asked}\nAnswer: {{"invoice_id": "{number}"}}' for asked, number in EXAMPLES)
    return f"{shown}\n\nRequest: {request}\nAnswer:"
