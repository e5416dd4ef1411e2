"""The arms: a deterministic executor with or without retries, and recorded decisions of the model arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.domains.procure_to_pay.world import APPROVAL_THRESHOLD
from plumbline.running import Agent, ReplayArm, Task, Toolbox, call_with_retries

__all__ = ["ARMS", "guarded", "plan_execute", "react", "recorded_interpretation"]


def recorded_interpretation(task: Task) -> str:
    """Return the invoice the request was understood to name.

    On record every interpretation named the task's own invoice, and nothing else of it steers the executor.
    """
    return task.id


def plan_execute(*, max_retries: int = 3, interpret: Callable[[Task], str] = recorded_interpretation) -> Agent:
    """Make the executor: understand the request once, then follow a fixed procedure.

    Invoice, match, duplicate and vendor are looked up in this order. A check that fails is a reason to hold, like a
    check that objects; the other checks are still made. Then the invoice is paid (above the threshold with an approval
    of the controller first) or held, and the audit log is written.

    Parameters
    ----------
    max_retries : int
        How often a call is repeated after a transient error, 0 or more.
    interpret : callable
        ``interpret(task)`` returns the number of the invoice.

    Returns
    -------
    Agent

    Raises
    ------
    ParameterError
        ``max_retries`` is not a whole number of at least 0.
    """
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
        raise ParameterError(f"max_retries must be a whole number of at least 0; found {max_retries!r}")

    def agent(task: Task, toolbox: Toolbox) -> str:
        invoice_id = interpret(task)
        understood = {"invoice_id": invoice_id, "operation": "process"}
        toolbox.decide("interpret_request", {"invoice_id": invoice_id}, understood)
        return _Execution(toolbox, invoice_id, max_retries).run()

    return agent


@dataclass
class _Execution:
    """One run of the procedure; ``holds`` collects the reasons not to pay, ``troubles`` what could not be done."""

    toolbox: Toolbox
    invoice_id: str
    max_retries: int
    holds: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def run(self) -> str:
        invoice = self.check("fetch_invoice", {"invoice_id": self.invoice_id})
        self.look(invoice)
        amount = None if invoice is None else invoice["total"]
        if not self.holds and invoice is not None:
            self.pay(amount, invoice["vendor_id"])
        if self.holds:
            action, told = "held", f"was held: {'; '.join(self.holds)}"
            self.act("flag_exception", {"invoice_id": self.invoice_id, "reason": "; ".join(self.holds)})
        else:
            action, told = "paid", f"passed every check; {amount} was scheduled for payment"
        self.act("post_audit_log", {"invoice_id": self.invoice_id, "action": action, "detail": f"Invoice {told}."})
        missed = f" Not done: {'; '.join(self.troubles)}." if self.troubles else ""
        return f"Invoice {self.invoice_id} {told}.{missed}"

    def look(self, invoice: dict[str, Any] | None) -> None:
        """Make the three checks; each objection is a reason to hold."""
        named = {"invoice_id": self.invoice_id}
        match = self.check("match_purchase_order", named)
        if match is not None:
            self.holds += match["problems"]
        duplicate = self.check("check_duplicate", named)
        if duplicate is not None and duplicate["is_duplicate"]:
            paid = ", ".join(row["payment_id"] for row in duplicate["payments"])
            self.holds.append(f"the same delivery was already paid ({paid})")
        if invoice is None:
            return  # the vendor's number stands on the invoice alone
        vendor = self.check("check_vendor_status", {"vendor_id": invoice["vendor_id"]})
        if vendor is not None and not vendor["payable"]:
            self.holds.append(f"vendor {vendor['vendor_id']} has status {vendor['status']}")

    def pay(self, amount: Any, vendor_id: str) -> None:
        """Get the approval if one is due, then pay; what fails on the way is a reason to hold."""
        if amount > APPROVAL_THRESHOLD:
            asked = {"invoice_id": self.invoice_id, "approver_role": "controller", "amount": amount}
            if self.check("request_approval", asked) is None:
                return
        self.check("schedule_payment", {"invoice_id": self.invoice_id, "amount": amount, "vendor_id": vendor_id})

    def check(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool; if it fails, hold the invoice for that reason and return None."""
        try:
            return call_with_retries(self.toolbox, name, arguments, max_retries=self.max_retries)
        except ToolError as error:
            self.holds.append(f"{name} failed: {error}")
            return None

    def act(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool; if it fails, say so in the report."""
        try:
            call_with_retries(self.toolbox, name, arguments, max_retries=self.max_retries)
        except ToolError as error:
            self.troubles.append(f"{name} ({error})")


def react(*, recorded: Mapping[str, Agent]) -> ReplayArm:
    """Make the free-form arm from its recorded decisions, by trial id; see ``plumbline.running.replay``."""
    return ReplayArm(recorded)


def guarded(*, recorded: Mapping[str, Agent]) -> ReplayArm:
    """Make the guarded arm from its recorded decisions, by trial id; refusals are decisions of kind ``blocked``."""
    return ReplayArm(recorded)


ARMS: Mapping[str, Callable[..., Any]] = {"plan_execute": plan_execute, "react": react, "guarded": guarded}
"""What makes the agent of each arm."""
