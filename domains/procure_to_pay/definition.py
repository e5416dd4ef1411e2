"""The domain as plumbline loads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plumbline.domain import Domain
from plumbline.domains.procure_to_pay.arms import ARMS
from plumbline.domains.procure_to_pay.perturbations import perturbations, task_view
from plumbline.domains.procure_to_pay.policy import ARGUMENT_FIELDS, POLICY
from plumbline.domains.procure_to_pay.rebuild import rebuild_runs
from plumbline.domains.procure_to_pay.relations import RELATIONS, case, world
from plumbline.domains.procure_to_pay.tasks import PERTURBATIONS, TASKS, fault, variant
from plumbline.domains.procure_to_pay.tools import DECOYS, TOOLS
from plumbline.domains.procure_to_pay.truth import grade, outcome, truth
from plumbline.domains.procure_to_pay.world import new_world
from plumbline.traces import Recording

__all__ = ["DOMAIN"]


def _rebuild(facts: Path) -> Iterator[Recording]:
    return rebuild_runs(facts, system=DOMAIN)


DOMAIN = Domain(
    "procure_to_pay",
    "Procure-to-pay: accounts-payable exception handling",
    tasks=TASKS,
    new_world=new_world,
    tools=TOOLS,
    decoys=DECOYS,
    outcome=outcome,
    truth=truth,
    grade=grade,
    policy=POLICY,
    argument_fields=ARGUMENT_FIELDS,
    arms=ARMS,
    perturbations=PERTURBATIONS,
    variant=variant,
    catalog=perturbations,
    view=task_view,
    fault=fault,
    case=case,
    world=world,
    relations=lambda: RELATIONS,
    rebuild=_rebuild,
)
"""Eight invoices, eight tools, fourteen rules."""
