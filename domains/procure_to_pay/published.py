"""The published facts of the founding studies, turned into one decision sequence a trial.

Nothing here knows a result. A path is the arm's published reference path with that trial's published divergences
applied; arguments are the published ones where a divergence or a reference states them. Each step says on what it
rests: ``published``, ``reference`` (no divergence was published, so equal to the stated reference up to case and white
space), ``inferred`` (the only value that fits the published findings) or ``unknown`` (not recoverable; the documented
default is used: the vendor's name for a first look-up, a neutral sentence for free text).
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from plumbline.base.errors import NotFoundError, RunError
from plumbline.running import Decision
from plumbline.traces import Plan

__all__ = ["EXECUTORS", "LETTERS", "STUDIES", "Facts", "TrialFacts"]

LETTERS = {
    "F": "fetch_invoice",
    "M": "match_purchase_order",
    "D": "check_duplicate",
    "V": "check_vendor_status",
    "R": "request_approval",
    "S": "schedule_payment",
    "X": "flag_exception",
    "A": "post_audit_log",
}
_CODES = {name: letter for letter, name in LETTERS.items()}
_VENDOR_RULE = "must_call:check_vendor_status"
STUDIES = ("determinism", "parity", "retry")
EXECUTORS = ("plan_execute",)
"""Arms whose calls follow from their code; the others' calls follow from what a model decided."""


@dataclass(frozen=True)
class TrialFacts:
    """What is known of one recorded trial before it is executed again."""

    study: str
    trial_id: str
    status: str
    cause: str | None = None
    left: str | None = None
    stopped: str | None = None
    faulted: bool = False
    path: str = ""

    @cached_property
    def parts(self) -> tuple[str, str, str, str, int]:
        """Arm, task, perturbation, variant, repetition."""
        arm, task, perturbation, variant, repetition = self.trial_id.split("/")
        return arm, task, perturbation, variant, int(repetition)


@dataclass(frozen=True)
class Facts:
    """The tables of ``data/published``, read once.

    Parameters
    ----------
    folder : Path
        The folder ``data/published``.

    Raises
    ------
    NotFoundError
        The folder or one of its tables is not there.
    """

    folder: Path
    meta: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        file = self.folder / "studies.json"
        if not file.is_file():
            raise NotFoundError(f"no published facts at {self.folder}: {file.name} is missing; give the folder's path")
        object.__setattr__(self, "meta", json.loads(file.read_text(encoding="utf-8")))
        if self.meta.get("schema") != "plumbline.published/1":
            raise RunError(f"{file}: schema {self.meta.get('schema')!r}; this version reads 'plumbline.published/1'")

    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of one table; an empty text means nothing."""
        file = self.folder / f"{name}.csv"
        if not file.is_file():
            raise NotFoundError(f"{file} is missing from the published facts; restore it")
        with open(file, encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))

    def plan(self, study: str) -> Plan:
        """Return the published plan of a study."""
        meta = self.meta["studies"][study]
        variants = tuple(str(v) for v in range(meta["variants_per_cell"]))
        return Plan(
            tuple(meta["arms"]), tuple(meta["tasks"]), tuple(meta["perturbations"]), variants, meta["repetitions"]
        )

    @cached_property
    def faulted(self) -> dict[str, set[str]]:
        """Trials that met the injected fault, by study."""
        found: dict[str, set[str]] = defaultdict(set)
        for row in self.table("faults"):
            found[row["study"]].add(row["trial_id"])
        return found

    @cached_property
    def violated(self) -> dict[tuple[str, str], set[str]]:
        """Published violations: (study, trial) to rules."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in self.table("violations"):
            found[row["study"], row["trial_id"]].add(row["rule"])
        return found

    @cached_property
    def references(self) -> dict[tuple[str, str, str], str]:
        """Published reference path of (study, arm, task)."""
        return {(r["study"], r["arm"], r["task_id"]): r["path"] for r in self.table("references")}

    @cached_property
    def divergences(self) -> dict[tuple[str, str], list[dict[str, str]]]:
        """Published divergences of a trial from its own arm's reference."""
        found: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
        for row in self.table("divergences"):
            if row["comparison"] == "consistency":
                found[row["study"], row["trial_id"]].append(row)
        return found

    @cached_property
    def first_vendor(self) -> dict[str, tuple[str, str]]:
        """First vendor argument of the react trials of parity and retry: (value, basis)."""
        return {r["trial_id"]: (r["vendor_id"], r["basis"]) for r in self.table("first_vendor")}

    @cached_property
    def reference_vendor(self) -> dict[tuple[str, str, str], str]:
        """First vendor argument of an arm's reference, where a published divergence states it."""
        found: dict[tuple[str, str, str], str] = {}
        for (study, trial), rows in self.divergences.items():
            arm, task = trial.split("/")[:2]
            for row in rows:
                if row["kind"] == "arg" and "vendor_id=" in row["expected"]:
                    found[study, arm, task] = row["expected"].split("=", 1)[1]
        return found

    @cached_property
    def retry_incumbents(self) -> list[str]:
        """The executor trials of ``retry`` that finished first in their cell, where the publication shows which.

        Two repetitions of a cell with different paths are a tie, and the published comparison took the one that had
        finished first. These ids are the ``order`` that ``equivalence`` needs to give the published figures.
        """
        met = {tuple(t.split("/")[1:4]): t for t in self.faulted["retry"]}
        first = []
        for row in self.table("retry_incumbent"):
            trial = met[tuple(row["cell"].split("/"))]
            cell, repetition = trial.rsplit("/", 1)
            other = f"{cell}/{1 - int(repetition)}"
            first.append(trial if row["reference_repetition"] == "faulted" else other)
        return first

    def trials(self, study: str) -> Iterator[TrialFacts]:
        """Yield every recorded trial of a study, in plan order."""
        missing = {r["trial_id"]: r for r in self.table("missing") if r["study"] == study}
        for trial in self.plan(study).trial_ids():
            row = missing.get(trial)
            if row is not None and row["cause"] == "spend_cap":
                continue  # never recorded: known as not_run through the plan
            faulted = trial in self.faulted[study]
            if row is not None:
                left, stopped = row["left_in_ledger"] or None, row["stopped"] or None
                yield TrialFacts(study, trial, "no_response", row["cause"], left, stopped, faulted)
            else:
                yield TrialFacts(study, trial, "completed", faulted=faulted, path=self.path(study, trial))

    def path(self, study: str, trial: str) -> str:
        """Return the effect path of a model arm's trial as letters; empty for an executor."""
        arm, task = trial.split("/")[:2]
        if arm in EXECUTORS:
            return ""
        return apply_edits(self.references[study, arm, task], self.divergences[study, trial])

    def decisions(self, trial: TrialFacts, context: dict[str, Any]) -> list[Decision]:
        """Return the calls of a model arm's trial.

        Parameters
        ----------
        trial : TrialFacts
            A completed trial.
        context : dict
            Ground truth of its task: ``invoice``, ``vendor``, ``expected_amount``.
        """
        task = trial.parts[1]
        amount, vendor = context["expected_amount"], context["vendor"]["vendor_id"]
        looked_up = self._vendors(trial, context)
        fixed: dict[str, tuple[dict[str, Any], str]] = {
            "F": ({"invoice_id": task}, "inferred"),
            "M": ({"invoice_id": task}, "inferred"),
            "D": ({"invoice_id": task}, "inferred"),
            "R": ({"invoice_id": task, "approver_role": "controller", "amount": amount}, "inferred"),
            "S": ({"invoice_id": task, "amount": amount, "vendor_id": vendor}, "inferred"),
            "X": ({"invoice_id": task, "reason": "Invoice held for review."}, "unknown"),
            "A": ({"invoice_id": task, "action": "Invoice processed."}, "unknown"),
        }
        made = []
        for letter in trial.path:
            arguments, basis = looked_up.pop(0) if letter == "V" else fixed[letter]
            made.append(Decision(LETTERS[letter], arguments, evidence=basis))
        return made

    def _vendors(self, trial: TrialFacts, context: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
        """Return the arguments of each vendor look-up in the path.

        The last look-up succeeded exactly where no missing vendor check was published, and only a vendor number
        succeeds. A look-up that met the injected fault failed whatever it asked for.
        """
        calls = trial.path.count("V")
        failed = _VENDOR_RULE in self.violated[trial.study, trial.trial_id]
        number, name = context["vendor"]["vendor_id"], context["vendor"]["name"]
        first = self._first_vendor(trial, name)
        if calls == 1 and not failed:
            return [first if first[0].get("vendor_id") == number else ({"vendor_id": number}, "inferred")]
        later = ({"vendor_id": name}, "unknown") if failed else ({"vendor_id": number}, "inferred")
        return [first] + [later] * (calls - 1) if calls else []

    def _first_vendor(self, trial: TrialFacts, name: str) -> tuple[dict[str, Any], str]:
        arm, task = trial.parts[:2]
        if trial.study != "determinism":
            value, basis = self.first_vendor[trial.trial_id]
            if basis == "published-omitted":  # the invoice was named where the vendor belongs
                rows = self.divergences["parity", trial.trial_id]
                instead = next(r["got"] for r in rows if r["kind"] == "arg" and not r["expected"])
                return {"invoice_id": instead}, "published"
            return ({"vendor_id": name}, "unknown") if basis == "unknown" else ({"vendor_id": value}, basis)
        for row in self.divergences[trial.study, trial.trial_id]:
            if row["kind"] == "arg" and "vendor_id=" in row["expected"]:
                return {"vendor_id": row["got"]}, "published"
        reference = self.reference_vendor.get((trial.study, arm, task))
        same_path = trial.path == self.references[trial.study, arm, task]
        if reference is not None and same_path:
            return {"vendor_id": reference}, "reference"
        return {"vendor_id": name}, "unknown"


def apply_edits(reference: str, edits: list[dict[str, str]]) -> str:
    """Return the path that differs from a reference by these published edits.

    ``skipped`` at index i: item i of the reference is absent. ``extra`` at index i: the item stands after item i.
    Argument and outcome edits leave the path alone.
    """
    items = list(reference)
    after: dict[int, str] = defaultdict(str)
    for edit in edits:
        at = int(edit["step_index"])
        if edit["kind"] == "skipped":
            if LETTERS[reference[at]] != edit["expected"]:
                raise RunError(f"published edit skips {edit['expected']} at {at}, but the reference is {reference}")
            items[at] = ""
        elif edit["kind"] == "extra":
            after[at] += _CODES[edit["got"]]
        elif edit["kind"] == "substitute":
            items[at] = _CODES[edit["got"]]
    return after[-1] + "".join(item + after[i] for i, item in enumerate(items))
