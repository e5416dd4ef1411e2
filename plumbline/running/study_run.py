"""A study: many trials in parallel, sealed before the first, written down as they finish, resumed without loss."""

from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from plumbline.base.errors import ParameterError, RunError
from plumbline.running.assembling import assemble
from plumbline.running.clients.protocol import ModelClient
from plumbline.running.drawing import draw_variants
from plumbline.running.faults import Fault
from plumbline.running.finishing import FINISHED_FILE, finished, mark_finished
from plumbline.running.journal import Journal
from plumbline.running.money import guard_client, spending
from plumbline.running.ordering import run_order
from plumbline.running.pool import RERUN, Pool
from plumbline.running.progress import Progress
from plumbline.running.sealed import PLAN_FILE, SealedPlan, cells_of, seal_plan, sealed_section
from plumbline.running.system import Agent, System, Task, TrialKey, Variant
from plumbline.running.toolbox import Clock
from plumbline.running.trial import TrialRecord, run_trial
from plumbline.traces import Plan, Recording

__all__ = ["JOURNAL_FILE", "build_arms", "now_utc", "run_study"]

JOURNAL_FILE = "journal.jsonl"
Cells = Mapping[tuple[str, str, str], Any]


def now_utc() -> datetime:
    """Return the present time with its zone."""
    return datetime.now(UTC)


def run_study(
    domain: System,
    *,
    arms: Sequence[str] | Mapping[str, Any],
    tasks: Sequence[str] | None = None,
    perturbations: Sequence[str] = ("baseline",),
    variants: int = 4,
    repetitions: int = 2,
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
    variant: Callable[[Task, str, str], Any] | Cells | Sequence[Any] | None = None,
    fault: Callable[[TrialKey], Fault | None] | None = None,
    retries: int = 1,
    clock: Clock | None = now_utc,
    sleep: Callable[[float], None] = time.sleep,
    progress: Callable[[Progress], None] | None = None,
    approve: Callable[[SealedPlan], bool] | None = None,
    sections: Mapping[str, Any] | None = None,
) -> Recording:
    """Run agents on tasks, perturbed and repeated, many trials at a time, and lose none of them.

    The plan is drawn and sealed before the first call: variants, faults, tools, agents with their prompts, model and
    seed. Each trial is on disk before it counts as finished, so a process killed at any moment loses at most the trials
    in flight; resumed, the study runs only what is missing and refuses another plan.

    Parameters
    ----------
    domain : System
        Tasks, tools, system of record.
    arms : sequence of str or mapping
        Names of the domain's arms, or name to an agent or to what makes one: a function that takes ``client`` and
        ``model``.
    tasks : sequence of str, optional
        Ids of tasks; all by default.
    perturbations : sequence of str
        The first is the base.
    variants, repetitions : int
        Variants of each perturbation and task, and how often each is issued; at least 1.
    client : ModelClient, optional
        Answers the arms' questions. Unless it has a ledger already it is given one, ``ledger.sqlite`` beside the run.
    model : str, optional
        Model that the arms ask.
    prices : Prices, optional
        What the model costs; by default the dated table.
    budget : float, optional
        Cap on the money spent in US dollars, over all processes that ever ran this study.
    workers : int
        Trials at a time, at least 1.
    out : path, optional
        Folder of the run. Without one nothing is kept but the result.
    resume : bool
        Go on with the study in ``out``. Trials that infrastructure ended are run again.
    offline : bool
        Answer from the ledger alone; a question it does not hold ends its trial as ``no_response``.
    seed : int
        Seed of the order of trials.
    run_id : str, optional
        Name of the run; by default that of the folder, else of the domain.
    variant : callable, mapping or sequence of VariantSet, optional
        ``variant(task, perturbation, variant)``; or ``(task id, perturbation, variant)`` to the frozen variant; or what
        ``make_variants`` made of each task and perturbation, sealed with all it rejected. By default they are drawn
        from the domain's catalog and guarded (``a+b`` composes two); ``domain.variant`` serves where there is no
        catalog. Where there is no variant, the trials count as ``not_run`` and the record says so.
    fault : callable, optional
        ``fault(key)`` for variants that bring none of their own; by default ``domain.fault``.
    retries : int
        How often a trial that infrastructure ended is tried again at once.
    clock : callable, optional
        Gives the time with its zone; None records no times, so that equal trials give equal rows.
    sleep : callable
        Waits a number of seconds where a fault makes an answer late.
    progress : callable, optional
        Told after every trial; see ``ProgressLine``.
    approve : callable, optional
        Shown the sealed plan with its estimate before the first call; if it says no, nothing is run.
    sections : mapping, optional
        Further sections of the plan in JSON values, sealed with it. ``contracts``, by task, are kept in the run beside
        each task's ground truth.

    Returns
    -------
    Recording
        Rows in canonical order, whatever the threads did. ``notes["study"]`` holds the seal, repeated attempts, and
        where steps and system of record differ.

    Raises
    ------
    ParameterError
        An argument is impossible, or an arm needs a client and none is given.
    RunError
        ``out`` holds a study and ``resume`` is not asked for; or another plan, or another process is at it.

    Examples
    --------
    >>> from plumbline.domain import load_domain
    >>> run = run_study(load_domain("procure_to_pay"), arms=["plan_execute"], tasks=["INV-7002"], variants=1)
    >>> run.counts().completed, run.trials["status"].unique().tolist()
    (2, ['completed'])
    """
    _whole({"workers": workers, "variants": variants, "repetitions": repetitions})
    if resume and out is None:
        raise ParameterError("resume needs the folder of the study: give out=")
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ParameterError(f"retries must be a whole number of at least 0; found {retries!r}")
    if out is None:
        with tempfile.TemporaryDirectory(prefix="plumbline-") as aside:
            return run_study(
                domain, arms=arms, tasks=tasks, perturbations=perturbations, variants=variants, repetitions=repetitions,
                client=client, model=model, prices=prices, budget=budget, workers=workers, out=aside, offline=offline,
                seed=seed, run_id=run_id or domain.name, variant=variant, fault=fault, retries=retries, clock=clock,
                sleep=sleep, progress=progress, approve=approve, sections=sections,
            )  # fmt: skip
    folder = Path(out)
    guarded = guard_client(client, folder / "ledger.sqlite", model=model, prices=prices, budget=budget, offline=offline)
    agents = build_arms(domain, arms, client=guarded.client, model=model)
    chosen = tuple(t.id for t in domain.tasks) if tasks is None else tuple(tasks)
    names = tuple(map(str, range(variants)))
    plan = Plan(tuple(agents), chosen, tuple(perturbations), names, repetitions)
    if variant is None:
        variant = _drawn(domain, plan, seed)
    sealed = seal_plan(
        domain, plan, agents, given=_lookup(variant), fault=domain.fault if fault is None else fault, seed=seed,
        model=model, server=_served(client, folder), prices=guarded.prices,
        sets=variant if isinstance(variant, Sequence) else (), extra=sections or {},
    )  # fmt: skip
    identity = run_id or folder.resolve().name
    done = _begin(folder, sealed, resume=resume)
    if done is not None and done.run_id == identity:
        return done
    if approve is not None and not approve(sealed):
        raise ParameterError("the plan was not approved; nothing was run")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / PLAN_FILE).is_file():
        sealed.write(folder)
    journal = Journal(folder / JOURNAL_FILE, seal=sealed.seal)
    try:
        run = _runner(domain, sealed, agents, clock=clock, sleep=sleep, offline=offline)
        due, kept = _due(sealed, journal, seed=seed)
        pool = Pool(
            run, journal, workers=workers, retries=0 if offline else retries, tell=progress,
            spent=spending(guarded.client), kept=kept,
        )  # fmt: skip
        pool.work(due)
        recording = assemble(domain, sealed, journal, run_id=identity, stopped=pool.out_of_money)
        (folder / FINISHED_FILE).unlink(missing_ok=True)
        recording.save(folder)
        if recording.notes["study"]["complete"]:
            mark_finished(folder, sealed.seal)
        return recording
    finally:
        journal.close()
        guarded.close()


def build_arms(
    domain: Any, arms: Sequence[str] | Mapping[str, Any], *, client: ModelClient | None, model: str | None
) -> dict[str, Agent]:
    """Make the agent of every arm; what takes a ``client`` is given it.

    Raises
    ------
    ParameterError
        There is no such arm, or it cannot be made without a client or a model.
    """
    makers = dict(getattr(domain, "arms", {}))
    if not isinstance(arms, Mapping):
        if isinstance(arms, str):
            raise ParameterError(f"arms is a list of names; found the text {arms!r}")
        if lost := [name for name in arms if name not in makers]:
            raise ParameterError(f"domain {domain.name!r} has no arm {lost}; it has {', '.join(makers) or 'none'}")
        arms = {name: makers[name] for name in arms}
    if not arms:
        raise ParameterError("a study needs at least one arm")
    return {name: _made(name, thing, client, model) for name, thing in arms.items()}


def _made(name: str, thing: Any, client: ModelClient | None, model: str | None) -> Agent:
    if _is_agent(thing):
        return thing
    if not callable(thing):
        raise ParameterError(f"arm {name!r} must be an agent or make one; found {type(thing).__name__}")
    known = inspect.signature(thing).parameters
    given = {k: v for k, v in (("client", client), ("model", model)) if k in known and client is not None}
    try:
        agent = thing(**given)
    except TypeError as error:
        raise ParameterError(f"arm {name!r} cannot be made ({error}); does it need a client? Give client=") from error
    if not _is_agent(agent):
        raise ParameterError(f"arm {name!r}: what should make an agent made {type(agent).__name__}")
    return agent


def _is_agent(thing: Any) -> TypeGuard[Agent]:
    """Tell an agent, which takes a task and a toolbox, from what makes one."""
    if inspect.isclass(thing):
        return False
    if hasattr(thing, "for_trial"):
        return True
    try:
        signature = inspect.signature(thing)
        signature.bind(None, None)
    except (TypeError, ValueError):
        return False
    return "client" not in signature.parameters


def _served(client: ModelClient | None, folder: Path) -> Any:
    """Return what a client says of the model it serves; replayed without a client, what the sealed plan says."""
    own = getattr(client, "describe", None)
    if callable(own):
        return own()
    return None if client is not None else sealed_section(folder, "server")


def _drawn(domain: System, plan: Plan, seed: int) -> Callable[[Task, str, str], Any] | Sequence[Any]:
    known = {task.id for task in domain.tasks}
    if set(plan.tasks) - known:
        return domain.variant  # sealing names the task that is not there
    sets = draw_variants(
        domain, tasks=plan.tasks, perturbations=plan.perturbations, variants=len(plan.variants), seed=seed
    )
    return domain.variant if sets is None else sets


def _lookup(source: Callable[[Task, str, str], Any] | Cells | Sequence[Any]) -> Callable[[Task, str, str], Any]:
    if callable(source):
        return source
    cells = dict(source) if isinstance(source, Mapping) else cells_of(source)
    return lambda task, perturbation, name: cells.get((task.id, perturbation, name))


def _begin(folder: Path, sealed: SealedPlan, *, resume: bool) -> Recording | None:
    """Return the finished run if the folder holds it; refuse a folder that holds something else."""
    held = [name for name in (PLAN_FILE, "manifest.json", JOURNAL_FILE) if (folder / name).exists()]
    if not resume:
        if held:
            raise RunError(f"{folder} holds {', '.join(held)} already; resume it, or name another folder")
        return None
    sealed.must_be(folder)
    return finished(folder, sealed.seal)


def _due(sealed: SealedPlan, journal: Journal, *, seed: int) -> tuple[list[TrialKey], int]:
    done = {name for name, status in journal.statuses().items() if status not in RERUN}
    keys = [TrialKey.parse(name) for name in sealed.plan.trial_ids() if name not in done]
    keys = [k for k in keys if sealed.given[k.task_id, k.perturbation, k.variant] is not None]
    return run_order(keys, seed=seed), len(done)


def _runner(
    domain: System,
    sealed: SealedPlan,
    agents: Mapping[str, Agent],
    *,
    clock: Clock | None,
    sleep: Callable[[float], None],
    offline: bool,
) -> Callable[[TrialKey], TrialRecord]:
    tasks = {task.id: task for task in domain.tasks}
    in_trial: Callable[[TrialKey], System] = getattr(domain, "in_trial", lambda key: domain)

    def run(key: TrialKey) -> TrialRecord:
        given: Variant = sealed.given[key.task_id, key.perturbation, key.variant]
        agent = agents[key.arm]
        return run_trial(
            agent, tasks[key.task_id], in_trial(key), arm=key.arm, perturbation=key.perturbation, variant=key.variant,
            repetition=key.repetition, given=given, fault=sealed.faults.get(key.trial_id),
            model=getattr(agent, "model", None), clock=clock, sleep=sleep,
            provenance="replayed" if offline and getattr(agent, "model", None) else "live",
        )  # fmt: skip

    return run


def _whole(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{name} must be a whole number of at least 1; found {value!r}")
