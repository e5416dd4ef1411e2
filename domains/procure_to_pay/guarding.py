"""The deterministic layer of the guarded arm: no payment before the checks ran and passed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.domains.procure_to_pay.world import APPROVAL_THRESHOLD
from plumbline.running import Toolbox, exact

__all__ = ["payment_guard"]


def payment_guard(name: str, arguments: Any, toolbox: Toolbox) -> str | None:
    """Give the reason to refuse a call, None to let it through; only payments are ever refused.

    A payment passes if the trial's own steps show, for this invoice and its vendor: the three checks with results that
    do not object, the amount equal to the invoice's total, an approval of that amount above the threshold, and no
    payment that was made or may have been made. A result that cannot be read shows nothing.
    """
    if name != "schedule_payment":
        return None
    if not isinstance(arguments, Mapping):
        return "the arguments cannot be read"
    given = exact(arguments)
    invoice_id = given.get("invoice_id")
    done = _results(toolbox)
    invoice = _last(done, "fetch_invoice", "invoice_id", invoice_id)
    if invoice is None:
        return f"invoice {invoice_id!r} has not been read"
    total, vendor_id = invoice.get("total"), invoice.get("vendor_id")
    match = _last(done, "match_purchase_order", "invoice_id", invoice_id)
    if match is None or match.get("matched") is not True:
        return "the match with purchase order and receipt has not passed"
    duplicate = _last(done, "check_duplicate", "invoice_id", invoice_id)
    if duplicate is None or duplicate.get("is_duplicate") is not False:
        return "the check for an earlier payment has not passed"
    vendor = _last(done, "check_vendor_status", "vendor_id", vendor_id)
    if vendor is None or vendor.get("payable") is not True or given.get("vendor_id") != vendor_id:
        return "the check of the invoice's vendor has not passed, or the payment goes to another vendor"
    if not _is_amount(total) or given.get("amount") != total:
        return f"the amount {given.get('amount')} is not the invoice's total"
    if total > APPROVAL_THRESHOLD and not _approved(done, invoice_id, total):
        return f"a payment above {APPROVAL_THRESHOLD} needs an approval of the same amount"
    if any(
        s["name"] == name and s["kind"] == "tool_call" and s["status"] in ("ok", "no_result") for s in toolbox.steps
    ):
        return "a payment was made or may have been made already"
    return None


def _results(toolbox: Toolbox) -> list[tuple[str, dict[str, Any], Any]]:
    """Return name, arguments and result of every call that worked."""
    return [
        (step["name"], parse_json(step["arguments"]), parse_json(step["result"]))
        for step in toolbox.steps
        if step["kind"] == "tool_call" and step["status"] == "ok"
    ]


def _last(done: list[tuple[str, dict[str, Any], Any]], name: str, key: str, value: Any) -> dict[str, Any] | None:
    """Return the last result of a tool for this invoice or vendor, None if there is none that can be read."""
    found = [result for tool, arguments, result in done if tool == name and arguments.get(key) == value]
    return found[-1] if found and isinstance(found[-1], dict) else None


def _approved(done: list[tuple[str, dict[str, Any], Any]], invoice_id: Any, total: Any) -> bool:
    return any(
        tool == "request_approval"
        and arguments.get("invoice_id") == invoice_id
        and arguments.get("amount") == total
        and arguments.get("approver_role") in ("controller", "cfo")
        and isinstance(result, dict)
        and result.get("granted") is True
        for tool, arguments, result in done
    )


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
