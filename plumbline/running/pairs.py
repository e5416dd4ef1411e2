"""Pairs of trials: a seed and its follow-up, run close in time under matched settings, sealed with their contracts."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError, RelationError
from plumbline.rules.metamorphic import Case, Contract, Relation, Seed, Validation, validate_relations
from plumbline.running.clients.protocol import ModelClient
from plumbline.running.progress import Progress
from plumbline.running.sealed import SealedPlan
from plumbline.running.study_run import now_utc, run_study
from plumbline.running.system import System, Task, TrialKey, Variant
from plumbline.running.tables import TableSchema, TableWorld
from plumbline.running.toolbox import Clock
from plumbline.traces import Recording

__all__ = ["AGAIN", "BASE", "case_of", "environment", "plan_pairs", "run_pairs", "table_case", "table_world"]

BASE, AGAIN = "baseline", "baseline_again"
"""The base trial, and the same once more: what differs between them is the arm's own noise."""


def case_of(domain: System, task: Task) -> Case:
    """Return a task's input as plain rows; a domain without ``case`` has a request and tools only."""
    own = getattr(domain, "case", None)
    if own is not None:
        found: Case = own(task)
        return found
    return Case(
        task.id, task.prompt, tools=tuple(tool.name for tool in domain.tools), facts=dict(task.context),
        family_id=task.family,
    )  # fmt: skip


def table_case(schema: TableSchema, tables: Mapping[str, Any], task: Task, *, tools: Sequence[Any], keys: Any) -> Case:
    """Return the case of a task whose system of record is made of tables.

    Parameters
    ----------
    schema : TableSchema
        Its tables; money becomes ``Decimal``.
    tables : mapping
        The opening rows.
    task : Task
        Its context becomes the facts of the case.
    tools : sequence of Tool
        What is offered.
    keys : mapping
        Table to the columns that name a row, where it is not the first column alone.
    """
    world = TableWorld(schema, schema.image(tables))
    try:
        rows = {name: world.all(f"SELECT {', '.join(columns)} FROM {name}") for name, columns in schema.columns.items()}
    finally:
        world.close()
    return Case(
        task.id, task.prompt, tables=rows, keys=keys, tools=tuple(tool.name for tool in tools),
        facts=dict(task.context), family_id=task.family,
    )  # fmt: skip


def table_world(schema: TableSchema, case: Case) -> TableWorld:
    """Return a fresh system of record with the rows of a case."""
    columns = schema.columns
    rows = {name: [tuple(row[c] for c in columns[name]) for row in found] for name, found in case.tables.items()}
    return TableWorld(schema, schema.image(rows))


def plan_pairs(
    domain: System, relations: Sequence[Relation] | None = None, *, seeds: Sequence[Seed] | None = None
) -> Validation:
    """Make the contract of every pair of a domain, validated before any model sees one.

    Parameters
    ----------
    domain : System
        Tasks and their cases.
    relations : sequence of Relation, optional
        By default those of the domain.
    seeds : sequence of Seed, optional
        The inputs to start from; by default every task, as designed and made up.

    Raises
    ------
    RelationError
        There is no relation, two seeds have one task, or a seed's task is unknown.
    """
    chosen = _relations(domain, relations)
    known = {task.id: task for task in domain.tasks}
    if seeds is None:
        return validate_relations(chosen, [case_of(domain, task) for task in domain.tasks])
    if lost := [seed.task_id for seed in seeds if seed.task_id not in known]:
        raise RelationError(f"domain {domain.name!r} has no task {lost} for its seeds; it has {', '.join(known)}")
    if not seeds:
        raise RelationError("there is no seed to start from; leave seeds out to start from every task")
    cases = [case_of(domain, known[s.task_id]).changed(family_id=s.family_id) for s in seeds]
    return validate_relations(chosen, cases, seeds={seed.task_id: seed for seed in seeds})


def _relations(domain: System, relations: Sequence[Relation] | None) -> list[Relation]:
    own = getattr(domain, "relations", None)
    chosen = list(relations) if relations is not None else list(own()) if own is not None else []
    if not chosen:
        raise RelationError(f"domain {domain.name!r} has no relation of its own; give relations=")
    return chosen


def run_pairs(
    domain: System,
    *,
    arms: Sequence[str] | Mapping[str, Any],
    relations: Sequence[Relation] | None = None,
    seeds: Sequence[Seed] | None = None,
    repetitions: int = 2,
    noise: bool = True,
    client: ModelClient | None = None,
    model: str | None = None,
    prices: Any = None,
    budget: float | None = None,
    workers: int = 8,
    out: str | Path | None = None,
    resume: bool = False,
    offline: bool = False,
    seed: int = 7,
    run_id: str | None = None,
    retries: int = 1,
    clock: Clock | None = now_utc,
    sleep: Callable[[float], None] = time.sleep,
    progress: Callable[[Progress], None] | None = None,
    approve: Callable[[SealedPlan], bool] | None = None,
) -> Recording:
    """Run every valid pair, whole and repeated, and record it as an ordinary run.

    Transformations are made and validated first, and what is invalid is not run. Base, base again and the follow-ups
    of a seed are one block of each repetition, run close in time in a drawn order; all trials of an arm have the same
    settings. Contracts, arms with their prompts, tools, model, seed and the versions of every dependency are sealed
    before the first call; the contracts also stand in the run, so that ``judge_pairs`` needs nothing else.

    Parameters
    ----------
    domain : System
        Tasks, tools, cases; ``world`` where rows change.
    arms : sequence of str or mapping
        As of ``run_study``.
    relations, seeds
        See ``plan_pairs``.
    repetitions : int
        How often each whole pair is run, at least 1.
    noise : bool
        Run each base once more a repetition, so that the arm's own variation can be told from a violation.
    client, model, prices, budget, workers, out, resume, offline, seed, run_id, retries, clock, sleep, progress, approve
        As of ``run_study``.

    Returns
    -------
    Recording
        Perturbation ``baseline`` is the base, ``baseline_again`` the base once more, and the id of a relation its
        follow-up; ``tasks[...]["contracts"]`` holds every contract, invalid ones included. A policy reads the ground
        truth of the seed: check base trials with it, not follow-ups whose rows changed.

    Raises
    ------
    RelationError
        See ``plan_pairs``; or no pair is valid, or rows change and the domain has no ``world``.

    Examples
    --------
    >>> from plumbline.domain import load_domain
    >>> domain = load_domain("procure_to_pay")
    >>> chosen = [r for r in domain.relations() if r.relation_id == "receipt_withdrawn"]
    >>> run = run_pairs(domain, arms=["plan_execute"], relations=chosen, seeds=[Seed("s", "INV-7002")], repetitions=1)
    >>> run.trials["perturbation"].tolist()
    ['baseline', 'baseline_again', 'receipt_withdrawn']
    """
    found = plan_pairs(domain, relations, seeds=seeds)
    paired = PairedSystem(domain, found.contracts)
    tasks = list(dict.fromkeys(contract.task_id for contract in found.contracts))
    names = list(dict.fromkeys(c.relation_id for c in found.contracts if c.valid))
    if not names:
        said = "; ".join(dict.fromkeys(r for c in found.contracts for r in c.reasons)) or "none applies to any seed"
        raise RelationError(f"no pair is valid, so nothing is run: {said}")
    contracts = {name: [c.to_dict() for c in found.contracts if c.task_id == name] for name in tasks}
    return run_study(
        paired, arms=arms, tasks=tasks, perturbations=[BASE, *([AGAIN] if noise else []), *names], variants=1,
        repetitions=repetitions, client=client, model=model, prices=prices, budget=budget, workers=workers, out=out,
        resume=resume, offline=offline, seed=seed, run_id=run_id or (None if out else f"{domain.name}_pairs"),
        variant=paired.given, fault=lambda key: None, retries=retries, clock=clock, sleep=sleep, progress=progress,
        approve=approve, sections={"contracts": contracts, "environment": environment()},
    )  # fmt: skip


class PairedSystem:
    """A domain whose trials meet the case of their pair: its rows, its tools, its request, its settings."""

    def __init__(self, domain: System, contracts: Sequence[Contract]) -> None:
        self._domain = domain
        tasks = {task.id: task for task in domain.tasks}
        bases = {c.task_id: case_of(domain, tasks[c.task_id]).changed(family_id=c.family_id) for c in contracts}
        self._bases = bases
        self._pairs = {(c.task_id, c.relation_id): (c, c.follow_up(bases[c.task_id])) for c in contracts if c.valid}
        families = {c.task_id: c.family_id for c in contracts}
        self.tasks = tuple(Task(t.id, t.prompt, families.get(t.id, t.family), context=t.context) for t in domain.tasks)
        for contract, _ in self._pairs.values():
            rows = [
                c["field"] for c in contract.changes if c["field"].partition(".")[0] in bases[contract.task_id].tables
            ]
            if rows and getattr(domain, "world", None) is None:
                raise RelationError(
                    f"pair {contract.pair_id} changes {rows[0]}, and domain {domain.name!r} has no world(case) to make "
                    "its rows real; give the domain one"
                )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._domain, name)

    def case(self, task_id: str, perturbation: str) -> Case | None:
        """Return the case of a cell, None where there is no valid pair."""
        if perturbation in (BASE, AGAIN):
            return self._bases.get(task_id)
        return self._pairs[task_id, perturbation][1] if (task_id, perturbation) in self._pairs else None

    def given(self, task: Task, perturbation: str, variant: str) -> Variant | None:
        """Return what the agent of a cell is given."""
        case = self.case(task.id, perturbation)
        if case is None:
            return None
        real = [tool.name for tool in self._domain.tools]
        known = {tool.name for tool in self._domain.decoys}
        if lost := [name for name in case.tools if name not in real and name not in known]:
            raise ParameterError(f"domain {self._domain.name!r} has no tool {lost}; pair {task.id}/{perturbation}")
        decoys = tuple(name for name in case.tools if name in known)
        plain = [name for name in real if name in case.tools] + list(decoys)
        made = self._pairs.get((task.id, perturbation))
        return Variant(
            case.prompt, decoys, tool_order=() if list(case.tools) == plain else case.tools,
            sampling=dict(case.settings), perturbation=perturbation,
            version="1" if made is None else made[0].transformation["version"],
        )  # fmt: skip

    def in_trial(self, key: TrialKey) -> Any:
        """Return the system that one trial acts on."""
        case = self.case(key.task_id, key.perturbation)
        return self if case is None or case is self._bases.get(key.task_id) else _Here(self, self._domain, case)


class _Here:
    """The domain, with the rows and tools of one case."""

    def __init__(self, paired: PairedSystem, domain: System, case: Case) -> None:
        self._paired = paired
        self.tools = tuple(tool for tool in domain.tools if tool.name in case.tools)
        world: Any = getattr(domain, "world", None)
        self.new_world = domain.new_world if world is None else (lambda: world(case))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._paired, name)


def environment() -> dict[str, str]:
    """Return the versions of Python, of plumbline and of everything it directly depends on, as installed.

    Examples
    --------
    >>> sorted(environment())[:2]
    ['altair', 'anthropic']
    """
    found = {"python": platform.python_version()}
    try:
        named = ["plumbline-studies", *(requires("plumbline-studies") or [])]
    except PackageNotFoundError:  # run from a folder that is not installed
        named = []
    for text in named:
        name = text.partition(";")[0].split("[")[0].split("<")[0].split(">")[0].split("=")[0].split("!")[0].strip()
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))
