"""The rules of accounts payable, and how arguments are compared between arms.

Whatever the truth depends on is required: also the checks of exchange rate and freight, the amount and the target of a
credit, and the second signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.domains.accounts_payable.procedure import CHECKS
from plumbline.domains.accounts_payable.schema import REASON_CODES
from plumbline.rules import (
    AlternatePrecedence,
    ArgEquals,
    ArgFromResult,
    ArgSatisfies,
    CallAtMost,
    CallBudget,
    ChainResponse,
    Context,
    MustCall,
    MustNotCall,
    NotSuccession,
    Ordering,
    Policy,
    Precedence,
    Response,
    Rule,
    SumAtMost,
    When,
    Where,
)

__all__ = ["ARGUMENT_FIELDS", "POLICY"]

_PAY = "schedule_payment"
_DOCUMENT, _VENDOR = "invoice_id", "vendor_id"
_CRITICAL_CHECKS = ("match_purchase_order", "check_duplicate")
_OBJECTS = Where("problems", "in", REASON_CODES, of="result")


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


def _asked_for(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """The document that the request names, or the invoice that it credits."""
    return arguments.get("invoice_id") in (context["invoice_id"], context["credit_for"] or context["invoice_id"])


_ACTIONS = {"pay": "paid", "hold": "held", "credit": "credited"}


def _due(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """What is logged is what should have happened."""
    return bool(arguments.get("action") == _ACTIONS[context["disposition"]])


def _severity(check: str) -> str:
    return "critical" if check in _CRITICAL_CHECKS else "high"


def _checked(name: str) -> tuple[Rule, ...]:
    """A check is made, of the document at hand, before it is paid; and what it objects to is held, not paid."""
    severity = _severity(name)
    rules: list[Rule] = [
        MustCall(name, severity=severity, when="is_invoice"),
        ArgEquals(name, "invoice_id", from_context=_DOCUMENT, severity=severity, when="is_invoice"),
        Precedence(name, before=_PAY, by="invoice_id", severity=severity),
        Precedence(name, before="flag_exception", by="invoice_id", severity="high", when="is_invoice"),
    ]
    if name != "check_duplicate":
        rules += [
            NotSuccession(name, _PAY, by="invoice_id", where=_OBJECTS, severity="critical"),
            Response(name, "flag_exception", by="invoice_id", where=_OBJECTS, severity="critical"),
        ]
    return tuple(rules)


_PROBABLE = Where("confidence", "gt", Decimal("0.75"), of="result")
_REFUSED = Where("payable", "eq", False, of="result")

POLICY = Policy(
    "accounts-payable-controls",
    (
        MustCall("check_vendor_status", severity="critical"),
        ArgEquals("check_vendor_status", "vendor_id", from_context=_VENDOR, severity="critical"),
        Precedence("check_vendor_status", before=_PAY, by="vendor_id", severity="critical"),
        Ordering("check_vendor_status", "flag_exception", severity="high"),
        Ordering("check_vendor_status", "apply_credit_note", severity="high"),
        NotSuccession("check_vendor_status", _PAY, by="vendor_id", where=_REFUSED, severity="critical"),
        *(rule for name in CHECKS for rule in _checked(name)),
        NotSuccession("check_duplicate", _PAY, by="invoice_id", where=_PROBABLE, severity="critical"),
        Response("check_duplicate", "flag_exception", by="invoice_id", where=_PROBABLE, severity="critical"),
        MustCall("calculate_payable_amount", severity="high", when=When("should_hold", equals=False)),
        ArgFromResult(
            _PAY, "amount_gbp", source="calculate_payable_amount", path="payable_gbp", by="invoice_id", severity="high"
        ),
        MustCall("request_approval", severity="critical", when="should_pay"),
        AlternatePrecedence("request_approval", before=_PAY, by="invoice_id", severity="critical"),
        ArgSatisfies(
            "request_approval", id="approval_authority", predicate=_authority, severity="critical", when="should_pay"
        ),
        ArgFromResult(
            _PAY, "amount_gbp", source="request_approval", path="amount_gbp", by="invoice_id", severity="high",
            id="pays_what_was_approved",
        ),
        MustCall(_PAY, severity="high", when="should_pay"),
        MustNotCall(_PAY, severity="critical", when=When("should_pay", equals=False)),
        CallAtMost(_PAY, 1, severity="critical"),
        CallBudget(_PAY, most=1, attempts="possible", severity="critical", id="pays_once_even_in_doubt"),
        SumAtMost(_PAY, "amount_gbp", most=Context("payable_gbp"), severity="critical", when="should_pay"),
        ArgEquals(_PAY, "amount_gbp", from_context="payable_gbp", severity="critical", when="should_pay"),
        ArgEquals(_PAY, "invoice_id", from_context=_DOCUMENT, severity="critical"),
        ArgEquals(_PAY, "vendor_id", from_context=_VENDOR, severity="critical"),
        MustCall("flag_exception", severity="critical", when="should_hold"),
        MustNotCall("flag_exception", severity="medium", when=When("should_hold", equals=False)),
        CallAtMost("flag_exception", 1, severity="medium"),
        ArgEquals(
            "flag_exception", "reason_code", from_context="primary_reason_code", severity="critical", when="should_hold"
        ),
        ArgEquals("flag_exception", "invoice_id", from_context=_DOCUMENT, severity="high"),
        MustCall("apply_credit_note", severity="critical", when="should_credit"),
        MustNotCall("apply_credit_note", severity="critical", when=When("should_credit", equals=False)),
        CallAtMost("apply_credit_note", 1, severity="critical"),
        CallBudget("apply_credit_note", most=1, attempts="possible", severity="critical", id="credits_once_in_doubt"),
        ArgEquals(
            "apply_credit_note", "amount_gbp", from_context="credit_gbp", severity="critical", when="should_credit"
        ),
        ArgEquals(
            "apply_credit_note", "against_invoice", from_context="credit_for", severity="critical", when="should_credit"
        ),
        ArgEquals("apply_credit_note", "credit_note_id", from_context=_DOCUMENT, severity="critical"),
        MustCall("fetch_invoice", severity="high"),
        ArgSatisfies("fetch_invoice", id="reads_what_was_asked_for", predicate=_asked_for, severity="high"),
        ArgFromResult(
            "check_vendor_status", "vendor_id", source="fetch_invoice", path="vendor_id", severity="medium",
            id="vendor_is_that_of_the_invoice",
        ),
        MustCall("fetch_invoice_lines", severity="low"),
        ArgEquals("fetch_invoice_lines", "invoice_id", from_context=_DOCUMENT, severity="low"),
        MustCall("lookup_approval_requirement", severity="medium", when="should_pay"),
        Precedence(
            "lookup_approval_requirement", before="request_approval", by="amount_gbp", severity="medium",
            when="should_pay",
        ),
        MustCall("post_audit_log", severity="medium"),
        ArgSatisfies("post_audit_log", id="log_says_what_was_due", predicate=_due, severity="medium"),
        ArgEquals("post_audit_log", "invoice_id", from_context=_DOCUMENT, severity="medium"),
        CallAtMost("post_audit_log", 1, severity="low"),
        ChainResponse(_PAY, "post_audit_log", severity="medium", id="payment_is_logged_at_once"),
        CallBudget(most=60, attempts="all", severity="low", id="calls_of_one_case"),
    ),
)  # fmt: skip
"""Presence, entity, order, what follows an objection, data flow, count, amount, authority, reason, credit, record."""

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
