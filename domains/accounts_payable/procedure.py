"""The reference procedure: every check, then pay, hold or credit. With working tools it is right on every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ToolError
from plumbline.domains.accounts_payable.schema import REASON_CODES
from plumbline.running import Toolbox, call_with_retries

__all__ = ["CHECKS", "Handling", "handle"]

CHECKS = (
    "check_po_validity",
    "match_purchase_order",
    "check_duplicate",
    "validate_tax",
    "check_fx_variance",
    "check_freight",
)
"""Checks of an invoice by its number, in order; the vendor is checked before them."""
_MONEY = ("schedule_payment", "apply_credit_note")
_FULL, _SURE = 1, 0.8


def handle(toolbox: Toolbox, invoice_id: str, max_retries: int) -> str:
    """Handle one document and report in a sentence.

    Parameters
    ----------
    toolbox : Toolbox
        Of the trial.
    invoice_id : str
        Number of the invoice or credit note.
    max_retries : int
        How often a call is repeated after a transient error.
    """
    return Handling(toolbox, invoice_id, max_retries).run()


@dataclass
class Handling:
    """One run of the procedure.

    ``codes`` collects the reasons to hold, ``troubles`` what could not be done; ``unclear`` says that money may have
    moved without an answer.
    """

    toolbox: Toolbox
    invoice_id: str
    max_retries: int
    codes: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    unclear: bool = False

    def run(self) -> str:
        """Read, check, act, and write down."""
        invoice = self.check("fetch_invoice", {"invoice_id": self.invoice_id})
        if invoice is None:
            return self.finish("held", self.hold())
        self.check("fetch_invoice_lines", {"invoice_id": self.invoice_id})
        vendor = self.check("check_vendor_status", {"vendor_id": invoice["vendor_id"]})
        problems = [] if vendor is None else vendor["problems"]
        if invoice["kind"] == "credit_note":
            return self.credit(invoice, problems)
        self.codes += problems
        for name in CHECKS:
            found = self.check(name, {"invoice_id": self.invoice_id})
            if found is not None:
                self.codes += self.judge(found) if name == "check_duplicate" else found["problems"]
        if self.codes:
            return self.finish("held", self.hold())
        return self.pay(invoice)

    def judge(self, found: Mapping[str, Any]) -> list[str]:
        """Say what a possible duplicate is; at 0.75 two deliveries that both arrived are not one."""
        codes = []
        for one in found["candidates"]:
            if one["confidence"] == _FULL:
                codes.append("DUPLICATE_EXACT")
            elif float(one["confidence"]) > _SURE or not self.apart(found, one):
                codes.append("DUPLICATE_FUZZY")
        return codes

    def apart(self, mine: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Say whether two invoices name different goods receipts that are both on file."""
        return mine["receipt_on_file"] and other["receipt_on_file"] and mine["receipt_id"] != other["receipt_id"]

    def pay(self, invoice: Mapping[str, Any]) -> str:
        """Get the approval, then pay; what fails on the way is a reason to hold."""
        named = {"invoice_id": self.invoice_id}
        sums = self.check("calculate_payable_amount", named)
        amount = None if sums is None else sums["payable_gbp"]
        needed = None if sums is None else self.check("lookup_approval_requirement", {"amount_gbp": amount})
        if needed is not None:
            asked = {**named, "approver_role": needed["approver_role"], "amount_gbp": amount}
            if needed["second_signature"]:
                asked["second_signature"] = True
            approval = self.check("request_approval", asked)
            if approval is not None and not approval["granted"]:
                self.codes.append("CHECK_FAILED")
            if not self.codes:
                self.check("schedule_payment", {**named, "amount_gbp": amount, "vendor_id": invoice["vendor_id"]})
        if self.codes:
            return self.finish("held", self.hold())
        if self.unclear:
            return self.finish("paid", f"{amount} GBP may have been scheduled, no answer came: look before paying")
        return self.finish("paid", f"{amount} GBP was scheduled for payment")

    def credit(self, note: Mapping[str, Any], problems: list[str]) -> str:
        """Take a credit note off the invoice it names, if that is an invoice of the same vendor and no smaller."""
        self.codes += [code for code in problems if code == "VENDOR_SANCTIONED"]
        sums = self.check("calculate_payable_amount", {"invoice_id": self.invoice_id})
        target, worth = note["credit_for"], None
        if target is None:
            self.codes.append("CREDIT_UNMATCHED")
        elif sums is not None:
            self.against(note, target, -sums["payable_gbp"])
            worth = -sums["payable_gbp"]
        if not self.codes and worth is not None:
            asked = {"credit_note_id": self.invoice_id, "against_invoice": target, "amount_gbp": worth}
            self.check("apply_credit_note", asked)
        if self.codes:
            return self.finish("held", self.hold())
        if self.unclear:
            return self.finish("credited", f"{worth} GBP may have been taken off {target}, no answer came: look first")
        return self.finish("credited", f"{worth} GBP was taken off {target}")

    def against(self, note: Mapping[str, Any], target: str, worth: Any) -> None:
        """Look at the invoice that a credit note would reduce."""
        invoice = self.check("fetch_invoice", {"invoice_id": target}, missing="CREDIT_UNMATCHED")
        if invoice is None:
            return
        if invoice["vendor_id"] != note["vendor_id"] or invoice["kind"] != "invoice":
            self.codes.append("CREDIT_UNMATCHED")
            return
        sums = self.check("calculate_payable_amount", {"invoice_id": target})
        if sums is not None and worth > sums["payable_gbp"]:
            self.codes.append("CREDIT_UNMATCHED")

    def hold(self) -> str:
        """Hand the document to a person, for the first reason of the list."""
        primary = min(self.codes, key=REASON_CODES.index)
        others = [code for code in dict.fromkeys(self.codes) if code != primary]
        asked = {"invoice_id": self.invoice_id, "reason_code": primary}
        if others:
            asked["detail"] = f"also {', '.join(others)}"
        self.act("flag_exception", asked)
        return f"held for {primary}"

    def finish(self, action: str, told: str) -> str:
        """Write into the audit log and report."""
        self.act("post_audit_log", {"invoice_id": self.invoice_id, "action": action, "detail": told})
        missed = f" Not done: {'; '.join(self.troubles)}." if self.troubles else ""
        return f"{self.invoice_id}: {told}.{missed}"

    def check(self, name: str, arguments: Mapping[str, Any], *, missing: str = "CHECK_FAILED") -> Any:
        """Call a tool; if it fails, that is a reason to hold. What moves money is not tried again after a time-out."""
        once = ("timeout",) if name in _MONEY else ()
        try:
            return call_with_retries(self.toolbox, name, arguments, max_retries=self.max_retries, never_after=once)
        except ToolError as error:
            if error.error_type in once:
                self.unclear = True
                return None
            self.codes.append(missing if error.error_type == "not_found" else "CHECK_FAILED")
            return None

    def act(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool; if it fails, say so in the report."""
        try:
            call_with_retries(self.toolbox, name, arguments, max_retries=self.max_retries)
        except ToolError as error:
            self.troubles.append(f"{name} ({error})")
