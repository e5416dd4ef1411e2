"""What the local-model study shows: frames and sentences made of its figures; no number is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from plumbline.study.phrases import of, percent

ARMS = {
    "plan_execute": "executor, free text",
    "plan_execute_schema": "executor, JSON Schema",
    "react_choice": "free-form, chosen calls",
}
CONDITIONS = ("baseline", "paraphrase", "distractor", "sampling", "decoy_tools", "tool_fault")
Found = Mapping[str, Any]


def interpretation(found: Found) -> pd.DataFrame:
    """Right invoice named, by condition and arm."""
    rows = []
    for condition in CONDITIONS:
        for arm in ("plan_execute", "plan_execute_schema"):
            key = f"interpretation/{arm}/{condition}"
            wrong = f"{found[f'{key}/another']} another, {found[f'{key}/none']} none"
            rows.append({"group": condition, "series": ARMS[arm], **found[key], "note": wrong})
    return pd.DataFrame(rows)


def outcomes(found: Found) -> pd.DataFrame:
    """Outcome correct, by condition and arm."""
    rows = [
        {"group": c, "series": ARMS[a], **{k: v for k, v in found[f"outcome/{a}/{c}"].items() if k != "missing"}}
        for c in CONDITIONS
        for a in ARMS
    ]
    return pd.DataFrame(rows).assign(note="")


def drops(found: Found) -> pd.DataFrame:
    """How far each condition lies below the baseline, with tasks as the unit."""
    rows = []
    for key, drop in found.items():
        if key.startswith("drop/"):
            _, arm, condition = key.split("/")
            rows.append(
                {
                    "arm": ARMS[arm],
                    "condition": condition,
                    "drop (points)": f"{drop['points']:+.1f}",
                    "invoices that differ": f"{drop['differ']} of {drop['tasks']}",
                    "p (sign flip, by invoice)": f"{drop['p']:.2g}",
                }
            )
    return pd.DataFrame(rows)


def rules(found: Found) -> pd.DataFrame:
    """Rules the free-form agent broke, the most often broken first."""
    rows = [
        {"rule": key.removeprefix("rule/"), "violated": v["violated"], "of trials where it was active": v["active"]}
        for key, v in found.items()
        if key.startswith("rule/")
    ]
    return pd.DataFrame(rows).sort_values(["violated", "rule"], ascending=[False, True]).reset_index(drop=True)


def answer(found: Found) -> list[str]:
    """The answer in four sentences."""
    free, held = (found[f"interpretation/{a}"] for a in ("plan_execute", "plan_execute_schema"))
    only_free, only_held = found["schema/discordant"]
    react, critical = found["outcome/react_choice"], found["critical/react_choice"]
    return [
        f"Asked one question, the model named the task's own invoice in {of(free)} trials in free text and in {of(held)} under a JSON Schema.",
        f"A schema guarantees the form of an answer, not its truth: {found['interpretation/plan_execute_schema/another']} answers under it named another invoice "
        f"of the right form, {found['interpretation/plan_execute/another']} in free text. In pairs of the same variant only free text was right {only_free} times, "
        f"only the schema {only_held} times; with invoices as the unit p = {found['schema/task_level_p']:.2g}.",
        f"Left to choose every call itself, the same model reached the right outcome in {of(react)} trials and kept every critical rule in {of(critical)}.",
        f"Its words are no evidence: {found['free_form/speaks_of_payment_without_one']} of the {found['free_form/speaks_of_payment']} final answers that speak of a payment "
        "come from trials in which the ledger shows none.",
    ]


def claims(found: Found) -> tuple[list[str], list[str]]:
    """What the study can claim, and what it cannot; every number is a figure."""
    free, held = found["outcome/plan_execute"], found["interpretation/plan_execute_schema"]
    moved = sum(v["differ"] for k, v in found.items() if k.startswith("drop/plan_execute/"))
    can = [
        f"Around one question, a fixed procedure carries even this model: {of(free)} outcomes of the free-text executor are right, and under no condition did "
        f"an invoice do worse or better than on the baseline ({moved} that differ, over all conditions).",
        f"Under the schema the model named another invoice in {held['n'] - held['k']} of {held['n']} trials, each time one that exists: the executor then handled the wrong case "
        "correctly. The conditions in which it happened do not touch the question, so that chance is the likelier name for it.",
        "Every violation of the free-form agent is localised: the table counts each rule, and the run names each step.",
    ]
    cannot = [
        "Anything about larger models, about models trained to follow instructions, or about prompts other than these.",
        f"Anything about invoices in general: {found['drop/plan_execute/paraphrase']['tasks']} invoices were tried.",
        "That rewording does no harm: no margin was declared, and a p-value that is not small is no evidence of equality.",
        "That another machine gives the same answers: seeds are fixed and recorded, floating-point sums are not. The replay from the ledger is exact.",
    ]
    return can, cannot


def summary(found: Found) -> str:
    """Return the study's answer as text."""
    lines = [
        f"Right invoice named by {found['model/name']} (live, on one machine), % of trials [Wilson interval] n",
        "",
    ]
    for condition, rows in interpretation(found).groupby("group", sort=False):
        cells = "".join(f"  {r['series']}: {percent(r)} n={r['n']}".ljust(42) for r in rows.to_dict("records"))
        lines.append(f"{condition:13}{cells}".rstrip())
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in answer(found))])
