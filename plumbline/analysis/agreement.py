"""One arm against itself, without a reference: how often two of its runs agree, and how often k of them all succeed.

A share of runs that equal the most common run counts that run itself, so a single run is "100% consistent" and two
runs that differ are "50%". The pairwise U-statistic has no reference and asks what a reader asks: do two runs of the
same request behave alike?
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pandas as pd

from plumbline.analysis.counting import planned_order
from plumbline.analysis.reading import Reading, cannot_tell
from plumbline.analysis.walks import Walks, baseline_of
from plumbline.base.errors import ParameterError
from plumbline.stats import (
    Estimate,
    identical_counts,
    pairwise_agreement,
    pass_hat_suite,
    pass_k,
    task_difference,
)
from plumbline.traces import Recording

__all__ = ["PassTable", "SelfAgreement", "alone", "pass_table", "self_agreement"]

_BASELINE = "pairwise agreement of baseline runs, t over tasks"
_REPEATS = "pairwise agreement of runs of one variant, t over tasks"


@dataclass(frozen=True, eq=False, repr=False)
class SelfAgreement(Reading):
    """How often two runs of one arm take the same path.

    Parameters
    ----------
    arm, path : str
        The arm, and what kind of path was compared.
    tasks : DataFrame
        One row a task, over its baseline runs: ``task_id, runs, distinct, agreement, variance`` (jackknife over runs),
        ``se`` (missing where every deletion gives one value: it is not 0), ``low`` (bound from the most common path),
        ``reads``.
    repeats : DataFrame
        One row a task, over its variants: ``task_id, cells, told`` (cells with at least two runs), ``agreement`` (mean
        over these cells), ``reads``.
    baseline, same_variant : Estimate
        Means over tasks of the two, with the error over tasks; cannot tell if a task has no two runs to compare.
    """

    arm: str
    path: str
    tasks: pd.DataFrame
    repeats: pd.DataFrame
    baseline: Estimate
    same_variant: Estimate

    def title(self) -> str:
        """Say in one line what was compared."""
        return f"self-agreement of {self.arm!r}, {self.path} paths"

    def measures(self) -> Mapping[str, Estimate]:
        """Return the two means over tasks."""
        return {"two baseline runs of a task": self.baseline, "two runs of one variant": self.same_variant}

    def notes(self) -> tuple[str, ...]:
        """Return what could not be told."""
        return tuple(dict.fromkeys(line for found in self.measures().values() for line in found.caution))


def alone(
    recording: Recording,
    found: Walks,
    *,
    arm: str,
    right: pd.Series | None,
    ks: Sequence[int],
    confidence: float,
) -> tuple[SelfAgreement, PassTable | None]:
    """Return what can be said of an arm without any reference; no pass^k where ``right`` is None."""
    tasks, baseline = planned_order(recording)["task_id"], baseline_of(recording)
    agreement = self_agreement(found, arm=arm, tasks=tasks, baseline=baseline, confidence=confidence)
    if right is None:
        return agreement, None
    passes = pass_table(found.trials, right, arm=arm, tasks=tasks, baseline=baseline, ks=ks, confidence=confidence)
    return agreement, passes


def self_agreement(
    found: Walks, *, arm: str, tasks: Sequence[str], baseline: str, confidence: float = 0.95
) -> SelfAgreement:
    """Estimate how often two runs of an arm take the same path.

    Parameters
    ----------
    found : Walks
        Its trials.
    arm : str
        Its name.
    tasks : sequence of str
        The planned tasks; one without runs is "cannot tell", not left out.
    baseline : str
        The perturbation that changes nothing.
    confidence : float
        In (0, 1).

    Returns
    -------
    SelfAgreement

    References
    ----------
    Hoeffding (1948), Annals of Mathematical Statistics 19, 293.
    """
    plain: dict[str, list[Hashable]] = {task: [] for task in tasks}
    cells: dict[tuple[str, str, str], list[Hashable]] = {}
    keys = found.trials[["task_id", "perturbation", "variant"]].itertuples(index=False, name=None)
    for key, path in zip(keys, found.took, strict=True):
        cells.setdefault(key, []).append(path)
        if key[1] == baseline:
            plain[key[0]].append(path)
    agreement_of = cache(lambda counts: pairwise_agreement(counts).value)  # few different counts stand in many cells
    values: dict[str, list[float | None]] = {task: [] for task in tasks}
    for (task, _, _), paths in cells.items():
        values[task].append(agreement_of(identical_counts(paths)))
    per_task = pd.DataFrame([_of_task(task, paths, confidence) for task, paths in plain.items()])
    repeats = pd.DataFrame([_of_cells(task, told) for task, told in values.items()])
    return SelfAgreement(
        arm=arm,
        path=found.path,
        tasks=per_task.astype(dict.fromkeys(("agreement", "variance", "se", "low"), "Float64")),
        repeats=repeats.astype({"agreement": "Float64"}),
        baseline=_over_tasks(per_task, _BASELINE, confidence),
        same_variant=_over_tasks(repeats, _REPEATS, confidence),
    )


def _of_task(task: str, paths: Sequence[Hashable], confidence: float) -> dict[str, object]:
    if not paths:
        nothing = dict.fromkeys(("agreement", "variance", "se", "low"))
        return {"task_id": task, "runs": 0, "distinct": 0, **nothing, "reads": "cannot tell (no run)"}
    found = pairwise_agreement(identical_counts(paths), confidence=confidence)
    told = {"agreement": found.value, "variance": found.jackknife_variance if found.se is not None else None}
    return {
        "task_id": task, "runs": found.n, "distinct": found.distinct, **told, "se": found.se, "low": found.low,
        "reads": str(found),
    }  # fmt: skip


def _of_cells(task: str, values: Sequence[float | None]) -> dict[str, object]:
    told = [value for value in values if value is not None]
    mean = sum(told) / len(told) if told else None
    reads = f"{mean:.4f} over {len(told)} variants" if mean is not None else "cannot tell (no variant ran twice)"
    return {"task_id": task, "cells": len(values), "told": len(told), "agreement": mean, "reads": reads}


def _over_tasks(per_task: pd.DataFrame, method: str, confidence: float) -> Estimate:
    values = per_task["agreement"]
    short = list(per_task.loc[values.isna(), "task_id"])
    if short:
        reason = f"{len(short)} of {len(values)} tasks have no two runs to compare: {', '.join(short[:5])}"
        return cannot_tell(reason, method=method, n=len(values), confidence=confidence)
    found = task_difference([float(value) for value in values], confidence=confidence)
    if found.low is not None and found.high is not None:
        return replace(found, method=method, low=max(found.low, 0.0), high=min(found.high, 1.0))
    same = ("every task agrees as often: the spread over tasks cannot be estimated, so no interval",)
    return replace(found, method=method, caution=same if found.known else found.caution)


@dataclass(frozen=True, eq=False, repr=False)
class PassTable(Reading):
    """pass^k of one arm: the chance that k runs of one task all have the right outcome.

    Parameters
    ----------
    arm : str
        The arm.
    tasks : DataFrame
        One row a task, k and ``over`` (``baseline`` or ``all`` perturbations): ``successes, trials, pass_hat`` (missing
        with fewer than k trials), ``exact`` (the fraction as text), ``reads``.
    suite : mapping of (over, k) to Estimate
        Mean over tasks, with the error over tasks; cannot tell if a task has fewer than k trials.
    undecided : int
        Trials of the arm whose outcome could not be judged; they are in no count.
    """

    arm: str
    tasks: pd.DataFrame
    suite: Mapping[tuple[str, int], Estimate]
    undecided: int

    def title(self) -> str:
        """Say in one line what was asked."""
        return f"pass^k of {self.arm!r}: the chance that k runs of one task are all right"

    def measures(self) -> Mapping[str, Estimate]:
        """Return the means over tasks."""
        return {f"pass^{k}, {over}": found for (over, k), found in self.suite.items()}

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must not miss."""
        lines = tuple(dict.fromkeys(line for found in self.suite.values() for line in found.caution))
        lost = (f"{self.undecided} trials could not be judged and are in no count",) if self.undecided else ()
        return (*lines, *lost, "over all perturbations, the runs of a task are not repetitions of one request")


def pass_table(
    trials: pd.DataFrame,
    right: pd.Series,
    *,
    arm: str,
    tasks: Sequence[str],
    baseline: str,
    ks: Sequence[int] = (1, 2, 4, 8),
    confidence: float = 0.95,
) -> PassTable:
    """Estimate pass^k of an arm, task by task and over tasks.

    Parameters
    ----------
    trials : DataFrame
        The arm's trials: ``task_id, perturbation``.
    right : Series of boolean
        Whether the outcome of each row is right; missing where it cannot be told.
    arm : str
        Its name.
    tasks : sequence of str
        The planned tasks.
    baseline : str
        The perturbation that changes nothing.
    ks : sequence of int
        How many runs must all be right, each at least 1.
    confidence : float
        In (0, 1).

    Returns
    -------
    PassTable

    Raises
    ------
    ParameterError
        No k, or one below 1.

    References
    ----------
    Yao et al. (2024), arXiv 2406.12045.
    """
    if not ks:
        raise ParameterError("ks is empty; give at least one number of runs, for example (1, 2, 4).")
    frame = trials[["task_id", "perturbation"]].assign(right=right.array)
    rows, suite = [], {}
    for over, part in (("baseline", frame[frame["perturbation"] == baseline]), ("all", frame)):
        told = part[part["right"].notna()].groupby("task_id")["right"].agg(["sum", "size"])
        counts = told.reindex(list(tasks), fill_value=0).astype("int64")
        for k in ks:
            suite[over, k] = pass_hat_suite(
                counts["sum"].to_numpy(), counts["size"].to_numpy(), k, confidence=confidence
            )
            rows += [_pass_row(over, task, int(c), int(n), k) for task, c, n in counts.itertuples(name=None)]
    table = pd.DataFrame(rows).astype({"pass_hat": "Float64"})
    return PassTable(arm, table, suite, int(frame["right"].isna().sum()))


def _pass_row(over: str, task: str, successes: int, trials: int, k: int) -> dict[str, object]:
    hat: Fraction | None = pass_k(successes, trials, k).pass_hat
    told = f"{hat.numerator}/{hat.denominator}" if hat is not None else None
    return {
        "over": over, "task_id": task, "k": k, "successes": successes, "trials": trials,
        "pass_hat": None if hat is None else float(hat), "exact": told,
        "reads": told or f"cannot tell ({trials} trials)",
    }  # fmt: skip
