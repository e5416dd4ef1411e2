"""The plan of a study, whole and sealed before the first call: what is run, with what, under which faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError, ParameterError, RunError
from plumbline.running.describing import describe, digest
from plumbline.running.estimating import Estimate, estimate
from plumbline.running.faults import Fault, FaultPlan
from plumbline.running.system import Agent, System, Task, TrialKey, Variant
from plumbline.running.tool import exact
from plumbline.traces import Plan, write_text

__all__ = ["PLAN_FILE", "SealedPlan", "cells_of", "seal_plan", "sealed_section"]

PLAN_FILE = "plan.json"
SCHEMA = "plumbline.study/1"
Given = Callable[[Task, str, str], Any]


@dataclass(frozen=True, eq=False)
class SealedPlan:
    """A plan that can no longer change.

    Parameters
    ----------
    plan : Plan
        Arms, tasks, perturbations, variants and repetitions.
    given : mapping
        ``(task, perturbation, variant)`` to the frozen variant; None where the perturbation gave fewer than planned.
    faults : FaultPlan
        The fault of each trial that has one.
    sections : mapping
        Everything that is sealed, as JSON values by section.
    estimate : Estimate
        What it may cost; shown, not sealed.
    """

    plan: Plan
    given: Mapping[tuple[str, str, str], Any]
    faults: FaultPlan
    sections: Mapping[str, Any]
    estimate: Estimate = field(kw_only=True)

    @cached_property
    def seal(self) -> str:
        """SHA-256 of every section, as ``sha256:…``."""
        return digest(self.sections)

    def missing(self) -> list[str]:
        """Return the cells ``task/perturbation/variant`` for which there is no variant."""
        return ["/".join(cell) for cell, given in self.given.items() if given is None]

    def write(self, folder: Path) -> None:
        """Write the plan, before anything is run."""
        parts = ",\n".join(f"    {json.dumps(n)}: {canonical_json(v)}" for n, v in sorted(self.sections.items()))
        cost = canonical_json(self.estimate.to_dict())
        head = f'  "schema": "{SCHEMA}",\n  "seal": "{self.seal}",\n  "estimate": {cost}'
        write_text(folder / PLAN_FILE, f'{{\n{head},\n  "sections": {{\n{parts}\n  }}\n}}\n')

    def must_be(self, folder: Path) -> None:
        """Refuse to go on with a study whose plan is not this one.

        Raises
        ------
        RunError
            The plan on disk is another one; the message names each section that differs.
        NotFoundError
            There is no plan on disk.
        """
        file = folder / PLAN_FILE
        if not file.is_file():
            raise NotFoundError(f"there is no {file} to resume; leave resume out to begin the study")
        try:
            found = parse_json(file.read_text(encoding="utf-8"))
            sealed, seal = found["sections"], found["seal"]
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{file} cannot be read as a sealed plan ({error}); restore it") from None
        if digest(sealed) != seal:
            raise RunError(f"{file} was edited after it was sealed; restore it, or run the study anew elsewhere")
        if seal == self.seal:
            return
        names = sorted({*sealed, *self.sections})
        odd = [n for n in names if canonical_json(sealed.get(n)) != canonical_json(self.sections.get(n))]
        told = "; ".join(_difference(name, sealed.get(name), self.sections.get(name)) for name in odd)
        raise RunError(
            f"{folder} holds another study than the one asked for ({told}). Resume it with the plan it was sealed "
            "with, or give this one a folder of its own."
        )


def _difference(name: str, old: Any, new: Any) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted({*old, *new})
        odd = [k for k in keys if canonical_json(old.get(k)) != canonical_json(new.get(k))]
        more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
        return f"{name}: {', '.join(odd[:3])}{more}"
    return f"{name}: {canonical_json(old)[:60]} then, {canonical_json(new)[:60]} now"


def seal_plan(
    domain: System, plan: Plan, arms: Mapping[str, Agent], *, given: Given, fault: Callable[[TrialKey], Fault | None],
    seed: int, model: str | None, server: Any = None, prices: Any = None, sets: Iterable[Any] = (),
    extra: Mapping[str, Any] = MappingProxyType({}),
) -> SealedPlan:  # fmt: skip
    """Draw every variant and every fault of a plan, and seal them with what will act on them."""
    tasks = {task.id: task for task in domain.tasks}
    if lost := [name for name in plan.tasks if name not in tasks]:
        raise NotFoundError(f"domain {domain.name!r} has no task {lost}; it has {', '.join(tasks)}")
    cells = {(t, p, v): given(tasks[t], p, v) for t in plan.tasks for p in plan.perturbations for v in plan.variants}
    _worded(arms, cells)
    faults = _faults(plan, cells, fault)
    _known_tools(domain, faults)
    sections = {
        "domain": domain.name,
        "tasks": {name: digest(exact([tasks[name].prompt, dict(tasks[name].context)])) for name in plan.tasks},
        "tools": {tool.name: digest(_tool(tool)) for tool in (*domain.tools, *domain.decoys)},
        "plan": plan.to_dict(),
        "variants": {"/".join(cell): None if v is None else _variant(v) for cell, v in cells.items()},
        "faults": {name: found.to_dict() for name, found in faults.faults.items()},
        "arms": {name: describe(agent) for name, agent in arms.items()},
        "model": model,
        "server": server,
        "seed": seed,
        "variant_sets": [exact(each.to_dict()) for each in sets],
    }
    if taken := sorted(set(extra) & set(sections)):
        raise ParameterError(f"the plan has sections {taken} of its own; name yours otherwise")
    sections |= exact(dict(extra))
    cost = estimate(arms, plan, cells, tools=domain.tools, prices=prices)
    return SealedPlan(plan, cells, faults, sections, estimate=cost)


def _worded(arms: Mapping[str, Agent], cells: Mapping[tuple[str, str, str], Any]) -> None:
    """Refuse to send a model a prompt that is not on record."""
    asking = [name for name, agent in arms.items() if getattr(agent, "model", None)]
    bare = ["/".join(cell) for cell, given in cells.items() if given is not None and not given.prompt]
    if asking and bare:
        raise ParameterError(
            f"{len(bare)} variants have no prompt, the first is {bare[0]}; arms {', '.join(asking)} ask a model and "
            "need one. Make the variants with make_variants and give them as variant=, or leave the perturbation out."
        )


def _faults(plan: Plan, cells: Mapping[tuple[str, str, str], Any], fault: Callable[[TrialKey], Any]) -> FaultPlan:
    def of(key: TrialKey) -> Fault | None:
        given = cells[key.task_id, key.perturbation, key.variant]
        if given is None:
            return None
        own = getattr(given, "fault", None)
        return fault(key) if own is None else _fault(own)

    return FaultPlan.build(plan, of)


def _known_tools(domain: System, faults: FaultPlan) -> None:
    known = {tool.name for tool in domain.tools}
    if lost := sorted({fault.tool for fault in faults.faults.values()} - known):
        raise ParameterError(f"faults are planned for {lost}; domain {domain.name!r} has {', '.join(sorted(known))}")


def _tool(tool: Any) -> Any:
    return exact(tool.to_dict() | {"mutating": tool.mutating, "idempotent": tool.idempotent})


def _variant(given: Variant) -> Any:
    """Return a variant as JSON values; the order of tools and of a schema's keys counts in its hashes."""
    return exact(given.to_dict() | {"input_hash": given.input_hash})


def _fault(found: Fault | Mapping[str, Any]) -> Fault:
    return found if isinstance(found, Fault) else Fault(**found)


def sealed_section(folder: Path, name: str) -> Any:
    """Return one section of the plan in a folder, None if there is no plan that can be read."""
    try:
        return parse_json((folder / PLAN_FILE).read_text(encoding="utf-8"))["sections"].get(name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def cells_of(sets: Iterable[Any]) -> dict[tuple[str, str, str], Any]:
    """Return the accepted variants of variant sets by task, perturbation and number."""
    return {(s.task_id, s.perturbation, str(i)): v for s in sets for i, v in enumerate(s.accepted)}
