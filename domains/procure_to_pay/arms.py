"""The arms: an executor with a fixed procedure, a free-form agent, and one that a deterministic layer guards.

Each runs live, through a model client, or from its recorded decisions; the executor also without any model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.domains.procure_to_pay.guarding import payment_guard
from plumbline.domains.procure_to_pay.prompts import (
    CHOICE_EXAMPLE,
    INTERPRET_SYSTEM,
    INTERPRETATION_SCHEMA,
    POLICY_PROSE,
    interpretation_prompt,
)
from plumbline.domains.procure_to_pay.world import APPROVAL_THRESHOLD
from plumbline.running import (
    Agent,
    PlannedAgent,
    Question,
    ReactAgent,
    ReplayArm,
    Task,
    Toolbox,
    call_with_retries,
    planned_agent,
)
from plumbline.running.clients import ModelClient

__all__ = ["ARMS", "guarded", "plan_execute", "react", "recorded_interpretation"]


def recorded_interpretation(task: Task) -> str:
    """Return the invoice the request was understood to name.

    On record every interpretation named the task's own invoice, and nothing else of it steers the executor.
    """
    return task.id


def plan_execute(
    *,
    max_retries: int = 3,
    interpret: Callable[[Task], str] = recorded_interpretation,
    client: ModelClient | None = None,
    model: str | None = None,
    structured: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> PlannedAgent:
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
    client : ModelClient, optional
        Reads the request instead of ``interpret``.
    model : str, optional
        Model to ask; needed with a client.
    structured : bool
        Ask for JSON under a schema.
    settings : mapping, optional
        Sampling settings; by default answers of at most 64 tokens.

    Returns
    -------
    PlannedAgent

    Raises
    ------
    ParameterError
        ``max_retries`` is not a whole number of at least 0, or a client comes without a model.
    """
    return planned_agent(
        _handle, _QUESTION, max_retries=max_retries, interpret=interpret, client=client, model=model,
        structured=structured, settings=settings,
    )  # fmt: skip


def _handle(toolbox: Toolbox, invoice_id: str, max_retries: int) -> str:
    return _Execution(toolbox, invoice_id, max_retries).run()


_QUESTION = Question(INTERPRET_SYSTEM, interpretation_prompt, INTERPRETATION_SCHEMA)


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


def react(
    *, recorded: Mapping[str, Agent] | None = None, client: ModelClient | None = None, model: str | None = None,
    structured: bool = False, max_turns: int = 12, settings: Mapping[str, Any] | None = None,
) -> ReplayArm | ReactAgent:  # fmt: skip
    """Make the free-form arm: a model that is told the policy and calls the tools, or its recorded decisions.

    Parameters
    ----------
    recorded : mapping, optional
        Agents of recorded decisions by trial id; see ``plumbline.running.replay``.
    client : ModelClient, optional
        Decides live.
    model : str, optional
        Model to ask; needed with a client.
    structured : bool
        One call at a time as JSON under a schema, for models that do not call tools by themselves.
    max_turns : int
        Questions at most in one trial.
    settings : mapping, optional
        Sampling settings; by default answers of at most 1,024 tokens.

    Raises
    ------
    ParameterError
        Neither or both of ``recorded`` and ``client`` are given, or a client comes without a model.
    """
    return _free(recorded, client, model, structured, max_turns, settings, guard=None)


def guarded(
    *, recorded: Mapping[str, Agent] | None = None, client: ModelClient | None = None, model: str | None = None,
    structured: bool = False, max_turns: int = 12, settings: Mapping[str, Any] | None = None,
) -> ReplayArm | ReactAgent:  # fmt: skip
    """Make the guarded arm: like ``react``, but payments are refused until the checks ran and passed.

    A refusal is a step of status ``blocked``. Parameters and errors are those of ``react``.
    """
    return _free(recorded, client, model, structured, max_turns, settings, guard=payment_guard)


def _free(
    recorded: Mapping[str, Agent] | None, client: ModelClient | None, model: str | None, structured: bool,
    max_turns: int, settings: Mapping[str, Any] | None, guard: Any,
) -> ReplayArm | ReactAgent:  # fmt: skip
    if (recorded is None) == (client is None):
        raise ParameterError(
            "this arm needs a model client or recorded decisions: give client= and model=, or recorded="
        )
    if recorded is not None:
        return ReplayArm(recorded)
    if client is None or not model:
        raise ParameterError("this arm needs the name of the model it asks: give model=")
    return ReactAgent(
        client, model, system=POLICY_PROSE, max_turns=max_turns, guard=guard, structured=structured,
        example=CHOICE_EXAMPLE if structured else "", settings=dict(settings or {"max_tokens": 1024}),
    )  # fmt: skip


_CHOICE = {"max_tokens": 128}
ARMS: Mapping[str, Callable[..., Any]] = {
    "plan_execute": plan_execute,
    "react": react,
    "guarded": guarded,
    "plan_execute_schema": functools.partial(plan_execute, structured=True),
    "react_choice": functools.partial(react, structured=True, settings=_CHOICE),
    "guarded_choice": functools.partial(guarded, structured=True, settings=_CHOICE),
}
"""What makes the agent of each arm. The last three hold every answer to a JSON Schema, for models that do not call
tools by themselves."""
