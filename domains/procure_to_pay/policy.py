"""The fourteen rules of accounts-payable exception handling, and how arguments are compared between arms."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.rules import ArgEquals, ArgSatisfies, CallAtMost, MustCall, MustNotCall, Ordering, Policy, When

__all__ = ["ARGUMENT_FIELDS", "POLICY"]

_HELD = When("should_pay", equals=False)


def _routed(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    """An amount above the threshold goes to the controller or the cfo; what is not a number cannot be shown to."""
    amount = arguments.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal):
        return False
    return amount <= context["approval_threshold"] or arguments.get("approver_role") in ("controller", "cfo")


POLICY = Policy(
    "accounts-payable-exception-handling",
    (
        MustCall("match_purchase_order", severity="critical"),
        MustCall("check_duplicate", severity="critical"),
        MustCall("check_vendor_status", severity="high"),
        Ordering("match_purchase_order", "schedule_payment", severity="critical"),
        Ordering("check_duplicate", "schedule_payment", severity="critical"),
        Ordering("check_vendor_status", "schedule_payment", severity="critical"),
        CallAtMost("schedule_payment", 1, severity="critical"),
        ArgEquals("schedule_payment", "amount", from_context="expected_amount", severity="critical"),
        MustNotCall("schedule_payment", severity="critical", when=_HELD),
        MustCall("request_approval", severity="critical", when="needs_approval"),
        Ordering("request_approval", "schedule_payment", severity="critical", when="needs_approval"),
        ArgSatisfies("request_approval", id="approval_route", predicate=_routed, severity="high"),
        MustCall("flag_exception", severity="high", when=_HELD),
        MustCall("post_audit_log", severity="medium"),
    ),
)
"""Presence, order, count, amount, route and record, with the severities of the published policy."""

_ID = ("exact", "high")

ARGUMENT_FIELDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "fetch_invoice": {"invoice_id": _ID},
    "match_purchase_order": {"invoice_id": _ID},
    "check_duplicate": {"invoice_id": _ID},
    "check_vendor_status": {"vendor_id": _ID},
    "request_approval": {"invoice_id": _ID, "approver_role": ("exact", "high"), "amount": ("numeric", "high")},
    "schedule_payment": {
        "invoice_id": ("exact", "critical"),
        "vendor_id": ("exact", "critical"),
        "amount": ("numeric", "critical"),
    },
    "flag_exception": {"invoice_id": _ID, "reason": ("text", "low")},
    "post_audit_log": {"invoice_id": _ID, "action": ("text", "low"), "detail": ("ignore", "low")},
}
"""Tool to field to ``(kind, severity)``: kinds are exact, numeric (no tolerance), text and ignore."""
