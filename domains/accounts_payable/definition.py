"""The domain as plumbline loads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plumbline.domain import Domain
from plumbline.domains.accounts_payable.arms import ARMS
from plumbline.domains.accounts_payable.perturbations import perturbations, task_view
from plumbline.domains.accounts_payable.policy import ARGUMENT_FIELDS, POLICY
from plumbline.domains.accounts_payable.rebuild import rebuild_runs
from plumbline.domains.accounts_payable.relations import RELATIONS, case, world
from plumbline.domains.accounts_payable.tasks import TASKS, truth
from plumbline.domains.accounts_payable.tools import DECOYS, TOOLS
from plumbline.domains.accounts_payable.truth import grade, outcome
from plumbline.domains.accounts_payable.world import new_world
from plumbline.traces import Recording

__all__ = ["DOMAIN"]


def _rebuild(facts: Path) -> Iterator[Recording]:
    return rebuild_runs(facts, system=DOMAIN)


DOMAIN = Domain(
    "accounts_payable",
    "Accounts payable: thirteen kinds of exception, and what is almost one",
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
    catalog=perturbations,
    view=task_view,
    case=case,
    world=world,
    relations=lambda: RELATIONS,
    rebuild=_rebuild,
)
"""Thirty-one documents, sixteen tools; all data is made up."""
