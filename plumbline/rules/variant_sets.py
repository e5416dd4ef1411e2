"""The variants of one cell, task x perturbation: what was planned, what the guard let pass, and all that it did not."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules.asking import Judge
from plumbline.rules.findings import ABSTAINED, ACCEPTED, REJECTED, Finding, GuardResult
from plumbline.rules.guard import guard as standard_guard
from plumbline.rules.perturb import Perturbation
from plumbline.rules.task_view import TaskView
from plumbline.rules.variants import Variant

__all__ = ["Guarded", "VariantSet", "guard_counts", "make_variants"]

Guard = Callable[..., GuardResult]


@dataclass(frozen=True)
class Guarded:
    """A candidate with what the guard concluded.

    Parameters
    ----------
    variant : Variant
        As it was made; its index is its candidate number.
    result : GuardResult
        Of the first stage that did not pass, for a composition.
    """

    variant: Variant
    result: GuardResult

    def to_dict(self) -> dict[str, Any]:
        """Return both as JSON values."""
        return {"variant": self.variant.to_dict(), "result": self.result.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarded:
        """Read what ``to_dict`` gives."""
        return cls(Variant.from_dict(values["variant"]), GuardResult.from_dict(values["result"]))


@dataclass(frozen=True, kw_only=True)
class VariantSet:
    """The variants of one task under one perturbation, and the record of how they came to be.

    Parameters
    ----------
    task_id, perturbation, version : str
        The cell.
    planned : int
        How many variants were asked for.
    accepted : tuple of Variant
        What may be run, numbered from 0.
    rejected, abstained : tuple of Guarded
        What may not, with the reasons.
    candidates : int
        How many were made.
    repeats : tuple of int
        Numbers of accepted variants that repeat an earlier one, because there are no more different ones.
    not_applicable : str
        Why the perturbation does not apply to the task; empty if it does.
    same_model : bool
        Whether the judge is the model that wrote the variants, so that its agreement says little.
    writer, judge : str or None
        The models that were asked.
    seed : int
        Seed of the study.
    """

    task_id: str
    perturbation: str
    version: str
    planned: int
    accepted: tuple[Variant, ...] = ()
    rejected: tuple[Guarded, ...] = ()
    abstained: tuple[Guarded, ...] = ()
    candidates: int = 0
    repeats: tuple[int, ...] = ()
    not_applicable: str = ""
    same_model: bool = False
    writer: str | None = None
    judge: str | None = None
    seed: int = 0

    @property
    def shortfall(self) -> int:
        """How many variants fewer than planned there are."""
        return self.planned - len(self.accepted)

    @property
    def distinct(self) -> int:
        """How many different inputs the accepted variants are."""
        return len({variant.input_hash for variant in self.accepted})

    def to_dict(self) -> dict[str, Any]:
        """Return the set as JSON values, to be stored with the run."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        values |= {"accepted": [variant.to_dict() for variant in self.accepted], "repeats": list(self.repeats)}
        return values | {name: [one.to_dict() for one in values[name]] for name in ("rejected", "abstained")}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> VariantSet:
        """Read a set from what ``to_dict`` gives; every variant is checked against its content hash."""
        read: dict[str, Any] = dict(values)
        read |= {"accepted": tuple(map(Variant.from_dict, values["accepted"])), "repeats": tuple(values["repeats"])}
        read |= {name: tuple(map(Guarded.from_dict, values[name])) for name in ("rejected", "abstained")}
        return cls(**read)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each candidate that was accepted, rejected or abstained on.

        Returns
        -------
        DataFrame
            ``task_id``, ``perturbation``, ``variant`` (null unless accepted), ``verdict``, ``codes``, ``prompt``,
            ``input_hash``.
        """
        rows: list[tuple[str | None, str, str, Variant]] = [(v.name, ACCEPTED, "", v) for v in self.accepted]
        rows += [
            (None, g.result.verdict, ", ".join(g.result.codes), g.variant) for g in (*self.rejected, *self.abstained)
        ]
        return pd.DataFrame(
            [(self.task_id, self.perturbation, n, w, c, v.prompt, v.input_hash) for n, w, c, v in rows],
            columns=["task_id", "perturbation", "variant", "verdict", "codes", "prompt", "input_hash"], dtype=object,
        )  # fmt: skip

    def __str__(self) -> str:
        head = f"{self.task_id} x {self.perturbation}: {len(self.accepted)} of {self.planned} variants"
        if self.not_applicable:
            return f"{head}; does not apply: {self.not_applicable}"
        parts = [f"{self.distinct} different", f"{len(self.rejected)} rejected", f"{len(self.abstained)} abstained"]
        if self.shortfall:
            parts.append(f"{self.shortfall} fewer than planned")
        if self.same_model:
            parts.append("writer and judge are the same model")
        return f"{head}; {', '.join(parts)}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def make_variants(
    task: TaskView,
    perturbation: Perturbation,
    n: int,
    *,
    seed: int,
    study: str = "study",
    judge: Judge | None = None,
    guard: Guard | None = None,
    attempts: int | None = None,
) -> VariantSet:
    """Make the variants of one cell before the study begins: drawn, guarded, frozen, with all that fell by the wayside.

    Parameters
    ----------
    task : TaskView
        The task.
    perturbation : Perturbation
        What is done to it.
    n : int
        How many variants are planned, at least 1.
    seed : int
        Seed of the study; with the names of study, task and perturbation it fixes every draw.
    study : str
        Name of the study.
    judge : Judge, optional
        Asked about wordings that pass the deterministic checks.
    guard : callable, optional
        Takes the place of :func:`plumbline.rules.guard`, with the same parameters.
    attempts : int, optional
        How many candidates are made at most, 4 n by default.

    Returns
    -------
    VariantSet
        Where all different outputs have been given, accepted ones are repeated and ``repeats`` says which. Otherwise
        ``shortfall`` says how many are lacking.

    Raises
    ------
    ParameterError
        Counts that are not whole numbers of at least 1.

    Examples
    --------
    >>> from plumbline.rules.perturb_catalog import paraphrase
    >>> task = TaskView(id="T", prompt="Cancel A-17.", slots={"order": "A-17"})
    >>> print(make_variants(task, paraphrase(["Do cancel {order}.", "Do not cancel {order}."]), 2, seed=7))
    T x paraphrase: 2 of 2 variants; 1 different, 1 rejected, 0 abstained
    """
    most = 4 * n if attempts is None else attempts
    for name, value in (("n", n), ("attempts", most)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{name} must be a whole number of at least 1; found {value!r}")
    cell: dict[str, Any] = {
        "task_id": task.id, "perturbation": perturbation.name, "version": perturbation.version, "planned": n,
        "seed": seed, "writer": perturbation.writer, "judge": judge.name if judge is not None else None,
        "same_model": judge is not None and any(s.writer == judge.name for s in (perturbation, *perturbation.stages)),
    }  # fmt: skip
    if reason := perturbation.not_applicable(task):
        return VariantSet(**cell, not_applicable=reason)
    size = perturbation.size_for(task)
    kept: dict[str, list[Any]] = {ACCEPTED: [], REJECTED: [], ABSTAINED: []}
    seen: set[str] = set()
    made = 0
    while made < min(most, size or most) and len(kept[ACCEPTED]) < n:
        steps = perturbation.steps(task, seed=seed, study=study, candidate=made)
        made += 1
        result = _guarded(task, perturbation, steps, seen, judge, guard or standard_guard)
        seen.add(steps[-1].input_hash)
        if result.accepted:
            kept[ACCEPTED].append(steps[-1].changed({"index": len(kept[ACCEPTED])}))
        else:
            kept[result.verdict].append(Guarded(steps[-1], result))
    accepted: list[Variant] = kept[ACCEPTED]
    repeats: tuple[int, ...] = ()
    if size is not None and made >= size and accepted:
        accepted, repeats = _repeated(accepted, n, size)
    return VariantSet(
        **cell, accepted=tuple(accepted), rejected=tuple(kept[REJECTED]), abstained=tuple(kept[ABSTAINED]),
        candidates=made, repeats=repeats,
    )  # fmt: skip


def _guarded(
    task: TaskView, whole: Perturbation, steps: tuple[Variant, ...], seen: set[str], judge: Judge | None, guard: Guard
) -> GuardResult:
    """Guard each step against the one before; a candidate that was there before is not asked about twice."""
    if steps[-1].input_hash in seen:
        return GuardResult(REJECTED, (Finding("repeated", "an earlier candidate of this cell is the same input"),))
    before, passed = Variant(task.prompt), GuardResult(ACCEPTED)
    for stage, after in zip(whole.stages or (whole,), steps, strict=True):
        result = guard(before, after, task=task.with_prompt(before.prompt), perturbation=stage, judge=judge)
        if not result.accepted:
            return result
        passed, before = (result if result.judge else passed), after
    return passed


def _repeated(accepted: list[Variant], n: int, size: int) -> tuple[list[Variant], tuple[int, ...]]:
    """Fill up with repeats, in the order of the first round."""
    filled = list(accepted)
    for index in range(len(accepted), n):
        source = accepted[index % len(accepted)]
        note = f"repeats variant {source.index}: the catalog of {size} is exhausted, {len(accepted)} of it accepted"
        filled.append(source.changed({"index": index, "notes": (*source.notes, note)}))
    return filled, tuple(range(len(accepted), n))


def guard_counts(sets: Iterable[VariantSet]) -> pd.DataFrame:
    """Count, for each perturbation, what was planned, made, accepted, rejected and abstained on.

    Parameters
    ----------
    sets : iterable of VariantSet
        Of any tasks.

    Returns
    -------
    DataFrame
        One row per perturbation in their order: ``perturbation``, ``cells``, ``planned``, ``candidates``, ``accepted``,
        ``distinct`` (within cells), ``rejected``, ``abstained``, ``shortfall``, ``not_applicable`` (cells),
        ``same_model``, ``codes`` (each reason with its count, the most frequent first).
    """
    rows: dict[str, dict[str, Any]] = {}
    codes: dict[str, Counter[str]] = {}
    for one in sets:
        row = rows.setdefault(one.perturbation, dict.fromkeys(_COUNTS, 0) | {"same_model": False})
        counts = (
            1, one.planned, one.candidates, len(one.accepted), one.distinct, len(one.rejected), len(one.abstained),
            one.shortfall, int(bool(one.not_applicable)),
        )  # fmt: skip
        for name, count in zip(_COUNTS, counts, strict=True):
            row[name] += count
        row["same_model"] |= one.same_model
        found = codes.setdefault(one.perturbation, Counter())
        found.update(code for each in (*one.rejected, *one.abstained) for code in each.result.codes)
    told = {name: ", ".join(f"{code} {k}" for code, k in found.most_common()) for name, found in codes.items()}
    made = [{"perturbation": name, **row, "codes": told[name]} for name, row in rows.items()]
    return pd.DataFrame(made, columns=["perturbation", *_COUNTS, "same_model", "codes"])


_COUNTS = (
    "cells", "planned", "candidates", "accepted", "distinct", "rejected", "abstained", "shortfall", "not_applicable",
)  # fmt: skip
