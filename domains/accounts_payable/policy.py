"""The rules of accounts payable, and how arguments are compared between arms.

Whatever the truth depends on is required: also the checks of exchange rate and freight, the amount and the target of a
credit, and the second signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.domains.accounts_payable.procedure import CHECKS
from plumbline.rules import (
    ArgEquals,
    ArgFromEarlier,
    ArgSatisfies,
    CallAtMost,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    When,
)

__all__ = ["ARGUMENT_FIELDS", "POLICY"]

_CRITICAL_CHECKS = ("match_purchase_order", "check_duplicate")


def _of_the_document(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    return bool(arguments.get("invoice_id") == context["invoice"]["invoice_id"])


def _authority(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """The role may approve what is payable, no other amount, and a second signature is there where one is needed."""
    amount = arguments.get("amount_gbp")
    return (
        isinstance(amount, int | Decimal)
        and not isinstance(amount, bool)
        and amount == context["payable_gbp"]
        and arguments.get("approver_role") in context["approver_roles"]
        and (not context["second_signature"] or arguments.get("second_signature") is True)
    )


def _severity(check: str) -> str:
    return "critical" if check in _CRITICAL_CHECKS else "high"


POLICY = Policy(
    "accounts-payable-controls",
    (
        MustCall("check_vendor_status", severity="critical"),
        *(MustCall(name, severity=_severity(name), when="is_invoice") for name in CHECKS),
        *(
            ArgSatisfies(
                name, id=f"{name}_of_the_document", predicate=_of_the_document, severity="high", when="is_invoice"
            )
            for name in CHECKS
        ),
        ArgEquals("check_vendor_status", "vendor_id", from_context="vendor.vendor_id", severity="critical"),
        Ordering("check_vendor_status", "schedule_payment", severity="critical"),
        *(Ordering(name, "schedule_payment", severity=_severity(name)) for name in CHECKS),
        MustCall("calculate_payable_amount", severity="high", when=When("should_hold", equals=False)),
        Ordering("calculate_payable_amount", "schedule_payment", severity="high"),
        CallAtMost("schedule_payment", 1, severity="critical"),
        MustCall("schedule_payment", severity="high", when="should_pay"),
        MustNotCall("schedule_payment", severity="critical", when=When("should_pay", equals=False)),
        ArgEquals("schedule_payment", "amount_gbp", from_context="payable_gbp", severity="critical", when="should_pay"),
        ArgEquals("schedule_payment", "invoice_id", from_context="invoice.invoice_id", severity="critical"),
        ArgEquals("schedule_payment", "vendor_id", from_context="vendor.vendor_id", severity="critical"),
        ArgFromEarlier("schedule_payment", "amount_gbp", sources=("result",), severity="high"),
        MustCall("request_approval", severity="critical", when="should_pay"),
        Ordering("request_approval", "schedule_payment", severity="critical"),
        ArgSatisfies(
            "request_approval", id="approval_authority", predicate=_authority, severity="critical", when="should_pay"
        ),
        MustCall("flag_exception", severity="critical", when="should_hold"),
        MustNotCall("flag_exception", severity="medium", when=When("should_hold", equals=False)),
        CallAtMost("flag_exception", 1, severity="medium"),
        ArgEquals(
            "flag_exception", "reason_code", from_context="primary_reason_code", severity="critical", when="should_hold"
        ),
        ArgEquals("flag_exception", "invoice_id", from_context="invoice.invoice_id", severity="high"),
        MustCall("apply_credit_note", severity="critical", when="should_credit"),
        MustNotCall("apply_credit_note", severity="critical", when=When("should_credit", equals=False)),
        CallAtMost("apply_credit_note", 1, severity="critical"),
        ArgEquals(
            "apply_credit_note", "amount_gbp", from_context="credit_gbp", severity="critical", when="should_credit"
        ),
        ArgEquals(
            "apply_credit_note", "against_invoice", from_context="credit_for", severity="critical", when="should_credit"
        ),
        ArgEquals("apply_credit_note", "credit_note_id", from_context="invoice.invoice_id", severity="critical"),
        MustCall("post_audit_log", severity="medium"),
        ArgEquals("post_audit_log", "invoice_id", from_context="invoice.invoice_id", severity="medium"),
    ),
)
"""Presence, entity, order, count, amount, authority, reason, credit and record."""

_ID = ("exact", "high")
_PAID = ("exact", "critical")

ARGUMENT_FIELDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    **{
        name: {"invoice_id": _ID}
        for name in ("fetch_invoice", "fetch_invoice_lines", "calculate_payable_amount", *CHECKS)
    },
    "check_vendor_status": {"vendor_id": _ID},
    "lookup_approval_requirement": {"amount_gbp": ("numeric", "high")},
    "request_approval": {
        "invoice_id": _ID, "approver_role": ("exact", "high"), "amount_gbp": ("numeric", "high"),
        "second_signature": ("exact", "high"),
    },
    "schedule_payment": {"invoice_id": _PAID, "vendor_id": _PAID, "amount_gbp": ("numeric", "critical")},
    "apply_credit_note": {"credit_note_id": _PAID, "against_invoice": _PAID, "amount_gbp": ("numeric", "critical")},
    "flag_exception": {"invoice_id": _ID, "reason_code": ("exact", "critical"), "detail": ("ignore", "low")},
    "post_audit_log": {"invoice_id": _ID, "action": ("text", "low"), "detail": ("ignore", "low")},
}  # fmt: skip
"""Tool to field to ``(kind, severity)``: kinds are exact, numeric (no tolerance), text and ignore."""
