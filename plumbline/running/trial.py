"""One trial: a fresh world, one agent, everything it did, and what the system of record says afterwards."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.base.schema import PROVENANCES
from plumbline.running.faults import Fault
from plumbline.running.stops import HarnessError
from plumbline.running.system import Agent, System, Task, TrialKey, Variant
from plumbline.running.tool import Tool, exact
from plumbline.running.toolbox import Clock, Toolbox, read_clock
from plumbline.running.transport import Transport

__all__ = ["TrialRecord", "run_trial"]


@dataclass(frozen=True)
class TrialRecord:
    """What one trial left behind.

    Parameters
    ----------
    trial : mapping
        Its row of the trials frame.
    steps : tuple of mapping
        Its rows of the steps frame.
    effects : tuple of mapping or None
        Where steps and system of record do not tell one story, see ``EffectLedger``; None if the world offers no
        ``effects()``, so that nobody looked.
    attempts : tuple of str
        What ended earlier attempts at this trial, if infrastructure failed and it was tried again.
    """

    trial: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]
    effects: tuple[Mapping[str, Any], ...] | None = None
    attempts: tuple[str, ...] = ()


def run_trial(
    agent: Agent,
    task: Task,
    domain: System,
    *,
    arm: str,
    perturbation: str = "baseline",
    variant: str = "0",
    repetition: int = 0,
    given: Variant | None = None,
    fault: Fault | None = None,
    provenance: str = "live",
    model: str | None = None,
    clock: Clock | None = None,
    wire: Callable[[Any], Transport] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> TrialRecord:
    """Run one agent on one task, in a world of its own.

    The agent is given the task without its ground truth. If it raises, the steps it took are kept and the system of
    record is read all the same, so an effect never goes missing with the exception.

    Parameters
    ----------
    agent : Agent
        Called once with the task and the toolbox.
    task : Task
        The case.
    domain : System
        Supplies tools, the fresh world and the reading of the outcome.
    arm, perturbation, variant : str
        Parts of the trial's id.
    repetition : int
        Which execution of the variant, from 0.
    given : Variant, optional
        What the agent is given; by default ``domain.variant(task, perturbation, variant)``.
    fault : Fault, optional
        The fault planned for this trial and no other.
    provenance : str
        ``live``, ``replayed``, ``re_executed``, ``reconstructed`` or ``imported``.
    model : str, optional
        Model that decides; None for a deterministic arm.
    clock : callable, optional
        Gives the time with its zone. Without one no times are recorded and equal trials give equal rows.
    wire : callable, optional
        Makes the transport of the trial from its world; by default calls go straight to the tools.
    sleep : callable
        Waits a number of seconds where a fault makes an answer late.

    Returns
    -------
    TrialRecord
        ``status`` is ``completed``; ``agent_error`` if the agent raised; ``harness_error``, ``no_response`` or
        ``budget_stop`` if the harness did. ``exposure`` says whether the planned fault was met.

    Raises
    ------
    ParameterError
        The provenance is unknown, a decoy is not one of the domain, or the fault names no tool of it.
    """
    if provenance not in PROVENANCES:
        raise ParameterError(f"provenance must be one of {', '.join(PROVENANCES)}; found {provenance!r}")
    key = TrialKey(arm, task.id, perturbation, variant, repetition)
    given = domain.variant(task, perturbation, variant) if given is None else given
    world = domain.new_world()
    try:
        toolbox = Toolbox(
            domain.tools, world, fault=fault, clock=clock, decoys=_offered(given, domain), sleep=sleep,
            transport=None if wire is None else wire(world), given=given,
        )  # fmt: skip
        started = None if clock is None else read_clock(clock)
        status, error = _drive(agent, task.for_agent(given.prompt), toolbox, key)
        ended = None if clock is None else read_clock(clock)
        toolbox.effects.before(None)
        outcome, error, status = _read(domain, world, task, status, error)
    finally:
        close = getattr(world, "close", None)
        if callable(close):
            close()
    trial = {
        "arm": arm, "task_id": task.id, "family_id": task.family, "perturbation": perturbation, "variant": variant,
        "repetition": repetition, "trial_id": key.trial_id, "status": status, "error": error,
        "exposure": _exposure(fault, toolbox.steps), "fault": None if fault is None else fault.to_json(),
        "outcome": outcome, "prompt": given.prompt, "final_output": toolbox.final_text, "model": model,
        "provenance": provenance, "started_at": None if started is None else started.isoformat(),
        "latency_ms": None if started is None or ended is None else (ended - started).total_seconds() * 1000,
    }  # fmt: skip
    effects = tuple(toolbox.effects.findings) if toolbox.effects.watched else None
    steps = tuple({"trial_id": key.trial_id} | step for step in toolbox.steps)
    return TrialRecord(trial | toolbox.spent, steps, effects)


def _drive(agent: Agent, task: Task, toolbox: Toolbox, key: TrialKey) -> tuple[str, str | None]:
    """Let the agent act; return the trial's status and error."""
    try:
        for_trial = getattr(agent, "for_trial", None)
        act: Agent = agent if for_trial is None else for_trial(key)
        said = act(task, toolbox)
        if inspect.isawaitable(said):
            said = _await(_coroutine(said))
        if said is not None and said != toolbox.final_text:
            toolbox.finish(said)
    except HarnessError as problem:
        return problem.status, _words(problem)
    except Exception as problem:
        if toolbox.problem is None:
            return "agent_error", _words(problem)
    if toolbox.problem is not None:  # the agent went on although a tool's code had broken
        return toolbox.problem.status, _words(toolbox.problem)
    return "completed", None


async def _coroutine(awaitable: Any) -> Any:
    return await awaitable


def _await(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Wait for an agent that is a coroutine, also where an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as aside:  # a world with thread affinity must allow its use from another thread
        return aside.submit(asyncio.run, coroutine).result()


def _read(domain: System, world: Any, task: Task, status: str, error: str | None) -> tuple[str | None, str | None, str]:
    """Read the outcome; a system of record that cannot be read is a problem of the harness."""
    try:
        return canonical_json(exact(domain.outcome(world, task))), error, status
    except Exception as problem:
        known = f"{error}; then " if error else ""
        return None, f"{known}the outcome could not be read ({_words(problem)})", HarnessError.status


def _words(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}".encode(errors="backslashreplace").decode()


def _exposure(fault: Fault | None, steps: list[dict[str, Any]]) -> str:
    if fault is None:
        return "none_planned"
    return "delivered" if any(step["injected"] is not None for step in steps) else "not_delivered"


def _offered(given: Variant, domain: System) -> list[Tool]:
    known = {tool.name: tool for tool in domain.decoys}
    if lost := [name for name in given.decoys if name not in known]:
        raise ParameterError(f"domain {domain.name!r} has no decoy {lost}; it has {', '.join(known) or 'none'}")
    return [known[name] for name in given.decoys]
