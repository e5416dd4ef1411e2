"""Perturbations of this domain: our templates and remarks, and the catalog made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.domains.accounts_payable.procedure import CHECKS
from plumbline.domains.accounts_payable.tools import DECOYS, TOOLS
from plumbline.rules import (
    Draw,
    Facts,
    Perturbation,
    TaskView,
    Variant,
    baseline,
    decoy_tools,
    distractor,
    field_order,
    paraphrase,
    sampling,
    schema_order,
    tool_fault,
    tool_order,
    view_tools,
)
from plumbline.running import Task

__all__ = ["perturbations", "task_view"]

_TEMPLATES = (
    "Please process {kind} {invoice} from {vendor} under our payables policy, and report what you did.",
    "We have received {kind} {invoice} from {vendor}. Process it under our payables policy and report what you did.",
    "{vendor} has sent us {kind} {invoice}: please handle it as our payables policy says, and tell me what you did.",
    "Could you take care of {kind} {invoice} from {vendor}, in line with our payables policy? Tell me what you did.",
    "Under our payables policy, please process the {kind} {invoice} that came from {vendor}, and report what you did.",
)
_REMARKS = (
    "A grey scarf lies in the meeting room.",
    "The canteen has lentil soup on its menu.",
    "The window in the corridor rattles.",
    "A brass band is rehearsing across the street.",
    "The lift smells of fresh paint.",
    "An umbrella stands by the door.",
    "The plants near the stairs need water.",
    "It was foggy all morning.",
    "The coffee machine hums loudly.",
    "A choir is practising upstairs.",
)
_PASSING = ("http_503", "http_429", "connection_reset")
_LOST = ("timeout_after", "truncated", "malformed", "wrong_type")
_TEMPERATURES = (0.0, 0.3, 0.5, 0.7)


def task_view(task: Task) -> TaskView:
    """Return what perturbations see of a task: its wording, its facts and the tools; nothing of the ground truth."""
    vendor = task.context["vendor"]["name"]
    kind = str(task.context["kind"]).replace("_", " ")
    return TaskView(
        id=task.id,
        prompt=task.prompt,
        facts=Facts(identifiers=(task.id,), names=(vendor,)),
        slots={"invoice": task.id, "vendor": vendor, "kind": kind},
        tools=view_tools(TOOLS),
        decoys=view_tools(DECOYS),
        family=task.family,
    )


def _lost_answer() -> Perturbation:
    """Let the answer of the call that moves the money be lost or spoilt; the money has moved."""

    def plan(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        tool = "apply_credit_note" if task.slots["kind"] == "credit note" else "schedule_payment"
        return {"fault": {"tool": tool, "error": _LOST[draw.choice], "times": 1, "on_call": 1}}

    return Perturbation(
        name="lost_answer", function=plan, may_change=("fault",), size=len(_LOST), risk_owner="accounts payable",
        material={"errors": list(_LOST)}, description="money moves, and the answer that says so is lost or spoilt",
    )  # fmt: skip


def perturbations(*, default_temperature: float = 1.0) -> dict[str, Perturbation]:
    """Return the catalog of this domain, the baseline first.

    Parameters
    ----------
    default_temperature : float
        Temperature at which the provider samples if none is sent, in [0, 2].
    """
    settings = [{"temperature": value} for value in _TEMPERATURES if value != default_temperature]
    made = [
        baseline(),
        paraphrase(_TEMPLATES),
        distractor(_REMARKS),
        decoy_tools(),
        tool_order(),
        schema_order(),
        field_order(),
        sampling(settings, default={"temperature": default_temperature}),
        tool_fault(("check_vendor_status", *CHECKS, "calculate_payable_amount"), _PASSING),
        _lost_answer(),
    ]
    return {each.name: each for each in made}
