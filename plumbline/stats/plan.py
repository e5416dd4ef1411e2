"""How many runs? One answer, asked before any money is spent: for these tasks, and for tasks like these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plumbline.stats._checks import finite_vector, probability, whole
from plumbline.stats.blocks import FEWEST_TASKS
from plumbline.stats.clusters import DECLARED_RHO, design_effect
from plumbline.stats.estimate import Result
from plumbline.stats.planning import GatePower, pass_probability, runs_for_power, runs_needed
from plumbline.stats.simultaneous import per_cell_level

__all__ = ["PlanScenario", "RunsPlan", "plan_runs"]


@dataclass(frozen=True, kw_only=True)
class PlanScenario(Result):
    """What a correlation of the runs of one task does to a plan.

    ``effective_n`` is what the planned runs of one cell are worth (None without a number of tasks), ``enough`` whether
    that reaches the runs needed, ``tasks_needed`` the tasks that would, at the planned runs per task, and ``most`` what
    the planned tasks are worth with endless repetitions.
    """

    rho: float
    design_effect: float
    effective_n: float | None
    enough: bool | None
    tasks_needed: int
    runs_needed: int
    most: float | None


@dataclass(frozen=True, kw_only=True)
class RunsPlan(Result):
    """Runs that a gate needs, per cell and in all, for these tasks and for tasks like these.

    ``clean_runs`` is the fewest runs that pass without a failure, and ``clean_pass`` how likely an agent of the assumed
    rate is to manage that; ``needed`` has the runs and failures with which such an agent passes often enough.
    """

    threshold: float
    true_rate: float
    power: float
    confidence: float
    method: str
    sidedness: str
    cells: int
    cell_confidence: float
    clean_runs: int
    clean_pass: float
    needed: GatePower
    tasks: int | None
    runs_per_task: int
    planned_pass: float | None
    scenarios: tuple[PlanScenario, ...]
    caution: tuple[str, ...] = ()

    @property
    def total_runs(self) -> int:
        """Runs over all cells for the claim about these tasks."""
        return self.cells * self.needed.n

    def __str__(self) -> str:
        lines = [
            f"lower bound >= {self.threshold:g} ({self.method}, {100 * self.cell_confidence:.6g}% {self.sidedness} per "
            f"cell), agent at {self.true_rate:g}, power {self.power:g}",
            f"  these tasks: {self.needed.n} runs per cell, up to {self.needed.failures_allowed} failures "
            f"(power {self.needed.power:.3f}); {self.total_runs} over {self.cells} cell(s)",
            f"  a clean gate: {self.clean_runs} runs, passed with probability {self.clean_pass:.3f}",
        ]
        for row in self.scenarios:
            have = f", planned worth {row.effective_n:.1f}" if row.effective_n is not None else ""
            lines.append(
                f"  tasks like these, rho {row.rho:g}: {row.tasks_needed} tasks x {self.runs_per_task} = "
                f"{row.runs_needed} runs per cell{have}"
            )
        return "\n".join([*lines, *(f"  ! {sentence}" for sentence in self.caution)])


def plan_runs(
    threshold: float,
    *,
    true_rate: float,
    power: float = 0.8,
    tasks: int | None = None,
    runs_per_task: int = 8,
    cells: int = 1,
    simultaneous: bool = False,
    rhos: Sequence[float] = (0.0, 0.1, 0.3, DECLARED_RHO, 1.0),
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> RunsPlan:
    """Answer "how many runs?" for a gate on a lower bound.

    Parameters
    ----------
    threshold : float
        What the lower bound must reach, in (0, 1).
    true_rate : float
        The rate the agent is believed to have, above the threshold.
    power : float
        Chance that such an agent passes one cell, in (0, 1).
    tasks : int, optional
        Tasks at hand.
    runs_per_task : int
        Runs of one task in one cell: variants times repetitions.
    cells : int
        Conditions, each with its own runs.
    simultaneous : bool
        Whether a statement about every cell at once is wanted (Bonferroni); the minimum over cells needs none.
    rhos : sequence of float
        Correlations of the runs of one task to look at.
    method, confidence, sidedness
        The bound, as in :func:`plumbline.stats.proportion`.

    Returns
    -------
    RunsPlan
        Runs needed for these tasks, a clean gate's chance, and the tasks needed for tasks like these.

    Raises
    ------
    ParameterError
        A true rate that is not above the threshold, or a value outside its range.

    Examples
    --------
    >>> plan = plan_runs(0.95, true_rate=0.99, tasks=8)
    >>> plan.clean_runs, plan.needed.n, [row.tasks_needed for row in plan.scenarios]
    (59, 124, [16, 27, 49, 59, 124])

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.
    """
    wall, rate = probability(threshold, "threshold"), probability(true_rate, "true_rate", closed=True)
    k, each = whole(cells, "cells", 1), whole(runs_per_task, "runs_per_task", 1)
    have = None if tasks is None else whole(tasks, "tasks", 1)
    level = 1 - per_cell_level(k, alpha=1 - confidence) if simultaneous else confidence
    clean = runs_needed(wall, method=method, confidence=level, sidedness=sidedness)
    needed = runs_for_power(rate, wall, power=power, method=method, confidence=level, sidedness=sidedness)
    scenarios = tuple(_scenario(rho, needed.n, have, each) for rho in finite_vector(rhos, "rhos").tolist())
    planned = None
    if have is not None:
        planned = pass_probability(rate, have * each, wall, method=method, confidence=level, sidedness=sidedness)
    return RunsPlan(
        threshold=wall,
        true_rate=rate,
        power=power,
        confidence=confidence,
        method=method,
        sidedness=sidedness,
        cells=k,
        cell_confidence=level,
        clean_runs=clean,
        clean_pass=rate**clean,
        needed=needed,
        tasks=have,
        runs_per_task=each,
        planned_pass=planned,
        scenarios=scenarios,
        caution=_cautions(needed.n, have, each, scenarios),
    )


def _scenario(rho: float, needed: int, tasks: int | None, each: int) -> PlanScenario:
    effect = design_effect(each, rho)
    worth = None if tasks is None else tasks * each / effect
    wanted = max(FEWEST_TASKS, math.ceil(needed * effect / each - 1e-9))
    return PlanScenario(
        rho=rho,
        design_effect=effect,
        effective_n=worth,
        enough=None if worth is None or tasks is None else worth >= needed and tasks >= FEWEST_TASKS,
        tasks_needed=wanted,
        runs_needed=wanted * each,
        most=None if tasks is None else (math.inf if rho == 0 else tasks / rho),
    )


def _cautions(needed: int, tasks: int | None, each: int, scenarios: tuple[PlanScenario, ...]) -> tuple[str, ...]:
    found = ["a few more runs can have less power: the power of a gate is a saw-tooth"]
    if each > 1:
        found.append("more tasks beat more repetitions: repetitions of one task share its fate")
    if tasks is None:
        return tuple(found)
    if tasks < FEWEST_TASKS:
        found.append(f"{tasks} tasks are fewer than {FEWEST_TASKS}: no claim about tasks like these, however many runs")
    hopeless = [row.rho for row in scenarios if row.most is not None and row.most < needed]
    if hopeless:
        found.append(f"with {tasks} tasks no number of repetitions is enough if rho is {min(hopeless):g} or more")
    return tuple(found)
