"""Perturbations of this domain: our templates, remarks and descriptions, and the catalog made of them."""

from __future__ import annotations

from collections.abc import Mapping

from plumbline.domains.procure_to_pay.tools import DECOYS, TOOLS
from plumbline.rules import (
    Facts,
    Perturbation,
    TaskView,
    Writer,
    baseline,
    decoy_tools,
    distractor,
    field_order,
    paraphrase,
    sampling,
    schema_order,
    tool_descriptions,
    tool_fault,
    tool_order,
    view_tools,
    written_paraphrase,
)
from plumbline.running import Task

__all__ = ["DESCRIPTIONS", "REMARKS", "TEMPLATES", "perturbations", "task_view"]

TEMPLATES = (
    "Please process invoice {invoice} from {vendor} under our payables policy, and report what you did.",
    "We have received invoice {invoice} from {vendor}. Process it under our payables policy and report what you did.",
    "{vendor} has sent us invoice {invoice}: please handle it as our payables policy says, and tell me what you did.",
    "Could you take care of invoice {invoice} from {vendor}, in line with our payables policy? Tell me what you did.",
    "Invoice {invoice} is here, from {vendor}. Deal with it as our payables policy lays down, and say what you did.",
    "An invoice came in: {invoice}, from {vendor}. Process it by our payables policy and report what you did.",
    "Kindly process {vendor}'s invoice {invoice} according to our payables policy, and report on what you did.",
    "There is an invoice to be processed, {invoice} from {vendor}. Our payables policy applies; report what you did.",
    "Under our payables policy, please process the invoice {invoice} that came from {vendor}, and report what you did.",
    "Would you process invoice {invoice}, which arrived from {vendor}, as set out in our payables policy, and report "
    "what you did?",
)
"""Wordings of the one request; the first version of the catalog."""

REMARKS = (
    "A blue umbrella was found in the kitchen.",
    "The canteen has pumpkin soup on its menu.",
    "The plants by the window seem thirsty.",
    "The coffee machine makes an odd noise.",
    "A choir is rehearsing across the street.",
    "The room upstairs smells of fresh paint.",
    "The football team drew its game.",
    "The new curtains are a pale green.",
    "It rained through the night.",
    "Somebody is humming in the corridor.",
)
"""Office talk that touches no invoice and tells nobody what to do."""

DESCRIPTIONS: Mapping[str, tuple[str, ...]] = {
    "fetch_invoice": (
        "Return an invoice with its vendor, purchase order, article, unit price, quantity, total and date received.",
    ),
    "match_purchase_order": (
        "Check an invoice against its purchase order and the goods received, and list what does not agree.",
        "Set an invoice beside its purchase order and the goods received; what does not agree is listed.",
    ),
    "check_duplicate": ("Search for a payment that already settled the same delivery under another invoice number.",),
    "check_vendor_status": ("Say whether a vendor may be paid at present, and what its terms are.",),
    "schedule_payment": ("Pay a vendor an amount for an invoice. It cannot be undone.",),
    "post_audit_log": ("Record in the audit log what was done with an invoice.",),
}
"""Other descriptions of tools; the guard compares each with the tool's own."""

_CHECKS = ("match_purchase_order", "check_duplicate", "check_vendor_status")
_PASSING = ("http_503", "http_429", "connection_reset")
_TEMPERATURES = (0.0, 0.3, 0.5, 0.7)


def task_view(task: Task) -> TaskView:
    """Return what perturbations see of a task: its wording, its facts and the tools; nothing of the ground truth.

    Parameters
    ----------
    task : Task
        One of ``TASKS``.

    Returns
    -------
    TaskView

    Examples
    --------
    >>> from plumbline.domains.procure_to_pay.tasks import TASKS
    >>> task_view(TASKS[0]).facts.all
    ('INV-7002', 'Ashfield Logistics')
    """
    vendor = task.context["vendor"]["name"]
    return TaskView(
        id=task.id,
        prompt=task.prompt,
        facts=Facts(identifiers=(task.id,), names=(vendor,)),
        slots={"invoice": task.id, "vendor": vendor},
        tools=view_tools(TOOLS),
        decoys=view_tools(DECOYS),
        family=task.family,
    )


def perturbations(*, writer: Writer | None = None, default_temperature: float = 1.0) -> dict[str, Perturbation]:
    """Return the catalog of this domain.

    Parameters
    ----------
    writer : Writer, optional
        A model that words requests; with one, ``written_paraphrase`` is part of the catalog.
    default_temperature : float
        Temperature at which the provider samples if none is sent, in [0, 2].

    Returns
    -------
    dict of str to Perturbation
        The baseline first.

    Examples
    --------
    >>> list(perturbations())[:4]
    ['baseline', 'paraphrase', 'distractor', 'decoy_tools']
    """
    settings = [{"temperature": value} for value in _TEMPERATURES if value != default_temperature]
    made = [
        baseline(),
        paraphrase(TEMPLATES),
        distractor(REMARKS),
        decoy_tools(),
        tool_order(),
        tool_descriptions(DESCRIPTIONS),
        schema_order(),
        field_order(),
        sampling(settings, default={"temperature": default_temperature}),
        tool_fault(_CHECKS, _PASSING),
    ]
    if writer is not None:
        made.append(written_paraphrase(writer))
    return {each.name: each for each in made}
