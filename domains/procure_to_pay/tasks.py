"""The eight tasks, what each perturbation gives the agent, and the fault each tool_fault trial meets."""

from __future__ import annotations

from plumbline.base.errors import ParameterError
from plumbline.domains.procure_to_pay.tools import DECOYS
from plumbline.domains.procure_to_pay.truth import derive
from plumbline.domains.procure_to_pay.world import new_world
from plumbline.running import Fault, Task, TrialKey, Variant

__all__ = ["PERTURBATIONS", "TASKS", "fault", "variant"]

PERTURBATIONS = ("baseline", "paraphrase", "distractor", "tool_fault", "decoy_tools", "sampling")
_UNWORDED = ("paraphrase", "distractor")
_FAULTED = ("match_purchase_order", "check_duplicate", "check_vendor_status")
_ERRORS = ("http_503", "http_429", "connection_reset")


def _tasks() -> tuple[Task, ...]:
    world = new_world()
    try:
        found = [derive(world, f"INV-{number}") for number in range(7002, 7010)]
    finally:
        world.close()
    return tuple(
        Task(
            context["invoice"]["invoice_id"],
            f"Invoice {context['invoice']['invoice_id']} from {context['vendor']['name']} has arrived: "
            "please process it under our payables policy and report what you did.",
            context=context,
        )
        for context in found
    )


TASKS = _tasks()
"""INV-7002 to INV-7009, each a family of its own; the context is derived from the system of record."""


def variant(task: Task, perturbation: str, name: str) -> Variant:
    """Return what the agent is given under a perturbation.

    Parameters
    ----------
    task : Task
        The case.
    perturbation : str
        One of ``PERTURBATIONS``. The published wording of ``paraphrase`` and ``distractor`` is not on record, so their
        prompt is None; the others leave the prompt unchanged.
    name : str
        Number of the variant, from ``"0"``; ``decoy_tools`` offers one, two, three, one, … decoys.

    Raises
    ------
    ParameterError
        The perturbation or the variant is unknown.

    Examples
    --------
    >>> variant(TASKS[0], "decoy_tools", "1").decoys
    ('lookup_tax_code', 'estimate_freight')
    """
    if perturbation not in PERTURBATIONS:
        raise ParameterError(f"no perturbation {perturbation!r}; there are {', '.join(PERTURBATIONS)}")
    number = _number(name)
    if perturbation in _UNWORDED:
        return Variant(None)
    offered = tuple(tool.name for tool in DECOYS[: 1 + number % len(DECOYS)])
    return Variant(task.prompt, offered if perturbation == "decoy_tools" else ())


def fault(key: TrialKey) -> Fault | None:
    """Return the fault of a trial: in ``tool_fault`` every trial meets its own, elsewhere there is none.

    Variant i fails the first call of check i mod 3 (match, duplicate, vendor) with error i mod 3 (503, 429, reset).

    Examples
    --------
    >>> fault(TrialKey("react", "INV-7002", "tool_fault", "2", 1))
    Fault(tool='check_vendor_status', error='connection_reset', times=1, on_call=1, spent_by=None)
    """
    if key.perturbation != "tool_fault":
        return None
    number = _number(key.variant)
    return Fault(_FAULTED[number % len(_FAULTED)], _ERRORS[number % len(_ERRORS)])


def _number(name: str) -> int:
    if not (name.isascii() and name.isdigit()):
        raise ParameterError(f"variants are numbered from '0'; found {name!r}")
    return int(name)
