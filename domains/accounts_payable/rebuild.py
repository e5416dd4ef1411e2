"""Make the committed runs of this domain: executors and planted faults, run again from their seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plumbline.domains.accounts_payable.arms import ARMS
from plumbline.domains.accounts_payable.mutants import MUTANTS
from plumbline.running import run_study
from plumbline.traces import Recording

__all__ = ["EXECUTORS", "PLANTED", "REFERENCE", "SEED", "rebuild_runs"]

SEED = 7
REFERENCE = "plan_execute"
EXECUTORS: Mapping[str, Any] = {"variants": 4, "repetitions": 2}
"""Size of the run of both executors, under every perturbation of the catalog."""
PLANTED = ("baseline", "paraphrase", "distractor", "decoy_tools", "tool_fault", "lost_answer")
"""Perturbations under which every planted fault is run, once. The others change how a model samples or in which order
it is shown things; an executor that asks no model acts under them as on the baseline."""


def rebuild_runs(
    folder: Path | None = None, *, system: Any, tasks: tuple[str, ...] | None = None
) -> Iterator[Recording]:
    """Yield the runs ``executors`` and ``planted``.

    Parameters
    ----------
    folder : Path, optional
        Not read: these runs rest on no published facts, only on the domain and the seed.
    system : Domain
        The domain.
    tasks : tuple of str, optional
        Only these tasks.

    Returns
    -------
    iterator of Recording
        Without clock, so that a rebuild has the same digest.
    """
    executors = {name: ARMS[name]() for name in (REFERENCE, "plan_execute_once")}
    yield run_study(
        system, arms=executors, tasks=tasks, perturbations=tuple(system.catalog()), **EXECUTORS, seed=SEED, clock=None,
        run_id="executors",
    )  # fmt: skip
    planted = {REFERENCE: ARMS[REFERENCE](), **{mutant.id: mutant.of(ARMS[REFERENCE]()) for mutant in MUTANTS}}
    yield run_study(
        system, arms=planted, tasks=tasks, perturbations=PLANTED, variants=1, repetitions=1, seed=SEED, clock=None,
        run_id="planted",
    )  # fmt: skip
