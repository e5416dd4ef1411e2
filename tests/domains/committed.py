"""The committed runs beside the published tables, with the published definition applied once a process."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pandas as pd

import plumbline as plumb
from plumbline.domains.procure_to_pay.published import STUDIES
from plumbline.domains.procure_to_pay.truth import grade_published

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "data" / "published"
SHARED = ROOT.parent / "shared" / "published" / "facts.json"
LEDGER = ("paid", "payment_count", "amount_paid", "exception_raised", "approvals")
ARMS = [(s, a) for s in STUDIES for a in json.loads((PUBLISHED / "studies.json").read_text())["studies"][s]["arms"]]


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"{name}.csv", keep_default_na=False)


@cache
def run(name: str) -> plumb.Run:
    return plumb.read_run(ROOT / "data" / "procure_to_pay" / name)


def rules():
    return plumb.load_domain("procure_to_pay").argument_fields


@cache
def consistent(study: str, arm: str):
    return run(study).consistency(arm=arm, argument_rules=rules(), outcome_keys=LEDGER, grade=grade_published)


def first_finished() -> list[str]:
    """The incumbent run of each tool_fault cell of retry that finished first, from the publication's own table."""
    exposure = run("retry").trials.set_index("trial_id")["exposure"]
    order = []
    for row in published("retry_incumbent").itertuples():
        runs = [f"plan_execute/{row.cell}/{repetition}" for repetition in range(2)]
        faulted = [trial for trial in runs if exposure[trial] == "delivered"]
        assert len(faulted) == 1
        order += faulted if row.reference_repetition == "faulted" else [t for t in runs if t not in faulted]
    return order


@cache
def equivalent(study: str, definition: str = "published"):
    order = first_finished() if study == "retry" else None
    return run(study).equivalence(
        incumbent="plan_execute", replacement="react", argument_rules=rules(), outcome_keys=LEDGER,
        grade=grade_published, order=order, definition=definition,
    )  # fmt: skip


def counts(found) -> tuple[int, int]:
    return found.successes, found.n
