"""What the parity study shows: frames and sentences made of its figures; no number is typed here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from plumbline.study.phrases import of

CONDITIONS = ("baseline", "paraphrase", "distractor", "tool_fault", "decoy_tools", "sampling")
ARMS = {"plan_execute": "executor, no retry", "react": "free-form agent"}
EXPOSED = {"plan_execute": "executor", "react": "free-form agent"}
"""Both studies' executors under one name: without retries in parity, with them in retry."""
MEASURES = {
    "outcome": "same outcome",
    "path": "same path",
    "arguments": "same arguments, where the path is the same",
    "self_consistency": "incumbent runs like their own reference",
}
CONTRASTS = {
    "no_retry_vs_three_retries": "executor without against with retries",
    "no_retry_vs_free_form_agent": "executor without retries against free-form agent",
    "three_retries_vs_free_form_agent": "executor with retries against free-form agent",
}
RULES = {
    "published": "published, release 0.3.0",
    "published_fail_all": "published, release 0.2.0",
    "completed_minimum": "true minimum, completed runs only",
    "planned_minimum": "true minimum, missing runs as failures",
    "planned_minimum_tasks": "the same, about invoices like these",
}
Found = Mapping[str, Any]


def conformance(found: Found) -> pd.DataFrame:
    """Critical conformance by condition and arm."""
    rows = []
    for condition in CONDITIONS:
        for arm, label in ARMS.items():
            rows.append(
                {"group": condition, "series": label, **found[f"conformance/{arm}/{condition}/critical"], "note": ""}
            )
    return pd.DataFrame(rows)


def published(found: Found) -> pd.DataFrame:
    """The published equivalence counts of both studies."""
    rows = []
    for key, label in MEASURES.items():
        row = {"measure": label}
        for study in ("parity", "retry"):
            row[f"{study} study"] = of(found[f"equivalence/{study}/{key}"])
        rows.append(row)
    bounds = {f"{s} study": f"{found[f'equivalence/{s}/retirement']['bound']:.4f}" for s in ("parity", "retry")}
    bands = {f"{s} study": found[f"equivalence/{s}/retirement"]["band"] for s in ("parity", "retry")}
    return pd.DataFrame(
        [*rows, {"measure": "published retirement bound", **bounds}, {"measure": "published verdict", **bands}]
    )


def hidden(found: Found) -> pd.DataFrame:
    """Beside each published measure, what its definition hides."""
    rows = []
    for study in ("parity", "retry"):
        get = {
            k: found[f"equivalence/{study}/{k}"]
            for k in ("outcome", "no_worse", "arguments", "matched_arguments", "self_consistency")
        }
        own = found[f"equivalence/{study}/replacement_agreement"]
        rows += [
            {
                "study": study,
                "published": f"same outcome: {of(get['outcome'])}",
                "beside it": f"same, or right where the incumbent is wrong: {of(get['no_worse'])}",
                "why it matters": f"{found[f'equivalence/{study}/different_incumbent_wrong']} of the different outcomes are the incumbent's own error",
            },
            {
                "study": study,
                "published": f"same arguments: {of(get['arguments'])}",
                "beside it": f"at every matched step, of all pairs: {of(get['matched_arguments'])}",
                "why it matters": "the published denominator is the other measure's numerator",
            },
            {
                "study": study,
                "published": f"incumbent like its reference: {of(get['self_consistency'])}",
                "beside it": f"two baseline runs of the replacement agree: {own['value']:.2f} [{own['low']:.2f}, {own['high']:.2f}]",
                "why it matters": "a reference counts itself; two runs against each other do not",
            },
        ]
    return pd.DataFrame(rows)


def localised(rows: pd.DataFrame) -> pd.DataFrame:
    """Return divergences as a person reads them: which step, what was expected, what came, in how many pairs."""
    return pd.DataFrame(
        {
            "difference": rows["kind"],
            "at step": rows["step_index"].astype(str).where(rows["step_index"] >= 0, "ledger"),
            "expected": [_said(value) for value in rows["expected"]],
            "came": [_said(value) for value in rows["got"]],
            "severity": rows["severity"],
            "pairs": rows["count"],
        }
    )


def _said(value: Any) -> str:
    """Return one side of a divergence in few words; a ledger by what it did."""
    if pd.isna(value):
        return "nothing"
    text = str(value)
    if not text.startswith("{"):
        return text.strip('"')
    ledger = json.loads(text)
    return (
        f"paid {ledger['amount_paid']:.2f}"
        if ledger["paid"]
        else "exception raised"
        if ledger["exception_raised"]
        else "neither paid nor held"
    )


def own_consistency(found: Found) -> pd.DataFrame:
    """Every arm against itself, as published."""
    rows = []
    for key in found:
        if key.startswith("consistency/") and key.endswith("/structural"):
            _, study, arm, _ = key.split("/")
            parts = {
                m: of(found[f"consistency/{study}/{arm}/{m}"]) for m in ("structural", "arguments", "self_consistency")
            }
            names = {
                "structural": "on its reference path",
                "arguments": "same arguments there",
                "self_consistency": "of baseline runs",
            }
            rows.append({"study": study, "arm": arm, **{names[m]: text for m, text in parts.items()}})
    return pd.DataFrame(rows)


def paired(found: Found) -> pd.DataFrame:
    """The published contrasts on the true pairs, and with invoices as the unit."""
    rows = []
    for name, label in CONTRASTS.items():
        get = {
            k: found[f"paired/{name}/{k}"]
            for k in (
                "published_p",
                "pairs",
                "incomplete",
                "discordant",
                "mcnemar_p",
                "mcnemar_midp",
                "task_p",
                "task_smallest_p",
            )
        }
        rows.append(
            {
                "contrast, under tool_fault": label,
                "published p": f"{get['published_p']:.4f}",
                "pairs": f"{get['pairs']}" + (f" ({get['incomplete']} incomplete)" if get["incomplete"] else ""),
                "differ": "{}:{}".format(*get["discordant"]),
                "McNemar p": f"{get['mcnemar_p']:.4g}",
                "mid-p": f"{get['mcnemar_midp']:.4g}",
                "invoices as unit, p": f"{get['task_p']:.2g}",
                "smallest possible": f"{get['task_smallest_p']:.2g}",
            }
        )
    return pd.DataFrame(rows)


def margins(found: Found) -> pd.DataFrame:
    """Equivalence within a margin: two one-sided tests."""
    rows = []
    for key in found:
        if key.startswith("margin/") and key.endswith("/equivalent"):
            points = key.split("/")[1]
            get = {
                k: found[f"margin/{points}/{k}"]
                for k in ("noninferior_p", "nonsuperior_p", "equivalence_p", "equivalent")
            }
            rows.append(
                {
                    "margin (points)": points,
                    "p, executor not worse": f"{get['noninferior_p']:.4f}",
                    "p, executor not better": f"{get['nonsuperior_p']:.4f}",
                    "p, equivalent": f"{get['equivalence_p']:.4f}",
                    "at 5%": "equivalent" if get["equivalent"] else "not shown equivalent",
                }
            )
    return pd.DataFrame(rows)


def difference(found: Found) -> pd.DataFrame:
    """The difference in correct outcomes, executor with retries minus free-form agent."""
    rows = []
    names = {"newcombe": "Newcombe", "miettinen_nurminen": "Miettinen-Nurminen"}
    for key, label in names.items():
        n = found["exposure/retry/react"]["completed"]
        rows.append(
            {
                "group": "with retries minus free-form",
                "series": label,
                **found[f"difference/{key}"],
                "n": n,
                "k": pd.NA,
                "note": "",
            }
        )
    return pd.DataFrame(rows)


def missing(found: Found) -> pd.DataFrame:
    """Both ends of critical conformance with its missing runs: all failed, all conformed."""
    rows = []
    for condition in CONDITIONS:
        ends = found[f"missing/{condition}"]
        lost = ends["planned"] - ends["finished"]
        note = f"{lost} of {ends['planned']} missing" if lost else ""
        rows.append(
            {
                "group": condition, "series": "all missing runs fail … all conform", "value": ends["worst"], "low": ends["worst"], "high": ends["best"],
                "n": ends["planned"], "k": pd.NA, "note": note,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def missing_bounds(found: Found) -> pd.DataFrame:
    """Lower bounds of each condition under the three treatments of missing runs."""
    rows = []
    for condition in (*CONDITIONS, "all"):
        ends = found[f"missing/{condition}"]
        rows.append(
            {
                "condition": condition,
                "planned": ends["planned"],
                "finished": ends["finished"],
                "lower bound, missing fail": f"{ends['low_of_worst']:.4f}",
                "left out": f"{ends['low_of_complete']:.4f}",
                "missing conform": f"{ends['low_of_best']:.4f}",
            }
        )
    return pd.DataFrame(rows)


def certificates(found: Found) -> pd.DataFrame:
    """The rules of certification side by side, as lower bounds."""
    rows = []
    for study in ("parity", "retry"):
        for rule, label in RULES.items():
            entry = found[f"certificate/{study}/{rule}"]
            told = entry["bound"] is not None
            where = entry["attained_by"] or ""
            shown = (
                f"{entry['bound']:.4f}" + (f" ({entry['grade']})" if entry["grade"] else "")
                if told
                else "not available"
            )
            covered = "" if told else f"{entry['covered_bound']:.4f} without tool_fault"
            rows.append({"study": study, "rule": label, "certified": shown, "attained by": where, "covered": covered})
    return pd.DataFrame(rows)


def ladder(found: Found) -> pd.DataFrame:
    """The same as a figure: the bound each rule gives; where a claim is not available, the bound without tool_fault."""
    rows = []
    for rule, label in RULES.items():
        for study in ("parity", "retry"):
            entry = found[f"certificate/{study}/{rule}"]
            told = entry["bound"] is not None
            value = entry["bound"] if told else entry["covered_bound"]
            note = "" if told else "not available: tool_fault is not covered; the bound is over the other conditions"
            rows.append(
                {
                    "group": label,
                    "series": f"{study} study",
                    "value": value,
                    "low": value,
                    "high": 1.0,
                    "n": pd.NA,
                    "k": pd.NA,
                    "note": note,
                }
            )
    return pd.DataFrame(rows)


def clusters(found: Found) -> pd.DataFrame:
    """The published rate under tool_fault with three intervals: as if independent, at the effective n, for invoices."""
    rows = []
    n = len(found["clusters/by_task"])
    k, total = sum(found["clusters/by_task"]), found["exposure/parity/plan_execute"]["completed"]
    names = {
        "naive_wilson": "trials as independent (published)",
        "wilson_effective_n": "effective n, estimated correlation",
        "korn_graubard": "invoices like these (Korn-Graubard)",
    }
    for key, label in names.items():
        note = f"{n} invoices" if key == "korn_graubard" else ""
        rows.append(
            {
                "group": label,
                "series": "executor, no retry",
                "value": k / total,
                **found[f"clusters/{key}"],
                "n": total,
                "k": k,
                "note": note,
            }
        )
    return pd.DataFrame(rows)


def answer(found: Found) -> list[str]:
    """The answer in five sentences."""
    first, second = (
        found[f"paired/{n}/mcnemar_p"] for n in ("no_retry_vs_free_form_agent", "no_retry_vs_three_retries")
    )
    task = found["paired/no_retry_vs_free_form_agent/task_p"]
    met = found["exposure/parity/react"]
    true, printed = found["certificate/retry/completed_minimum"], found["certificate/retry/published"]
    fail = found["certificate/retry/published_fail_all"]
    return [
        "Every published equivalence and consistency figure comes out of the committed traces exactly.",
        f"The famous p = {found['paired/no_retry_vs_free_form_agent/published_p']:.4f} becomes {first:.3f} on the true pairs and {task:.2g} with invoices as the unit; "
        f"the retry contrast becomes {second:.4f} and {found['paired/no_retry_vs_three_retries/task_p']:.2g}, the smallest eight invoices of which three differ can give.",
        f"p = {found['paired/three_retries_vs_free_form_agent/published_p']:.2f} was read as equality. Within 5 points equivalence is not shown (p = {found['margin/5/equivalence_p']:.3f}); "
        f"within 10 points it is (p = {found['margin/10/equivalence_p']:.3f})."
        if {"margin/5/equivalence_p", "margin/10/equivalence_p"} <= set(found)
        else "Equivalence depends on the margin; see section 4.",
        f"One run was graded {printed['grade']} ({printed['bound']:.4f}) and {fail['grade']} ({fail['bound']:.4f}): the two ends of its missing runs. "
        f"The true minimum of the published bounds is {true['bound']:.4f}.",
        f"No certificate covers tool_fault at all: the free-form agent met {met['delivered']} of {met['planned']} planned faults.",
    ]


def claims(found: Found) -> tuple[list[str], list[str]]:
    """What the study can claim, and what it cannot."""
    wrong = found["equivalence/parity/different_incumbent_wrong"]
    other = found["equivalence/parity/different_replacement_wrong"]
    clear = found["missing/not_at_random_p"]
    can = [
        f"On these invoices the free-form agent's outcome differs from the executor's in {wrong + other} pairs of the parity study; in {wrong} of them the executor is the one that is wrong.",
        f"Paths differ in most pairs ({of(found['equivalence/parity/path'])} equal), mostly by one more vendor look-up, which breaks no rule.",
        f"Within the suite, executors without and with retries differ (McNemar p = {found['paired/no_retry_vs_three_retries/mcnemar_p']:.4f}).",
    ]
    cannot = [
        f"That the two architectures differ on invoices in general: {len(found['clusters/by_task'])} invoices were tried, and the intra-invoice correlation is {found['clusters/icc']}.",
        "That they are equivalent without saying within what margin.",
        "Anything about the free-form agent under faults: it met none here.",
        f"That missing runs do not matter: they are far from evenly spread (p = {clear:.1g}), and the gate uses their worst end.",
        "Anything about original model outputs: the agent's traces are reconstructed from published findings.",
    ]
    return can, cannot


def summary(found: Found) -> str:
    """Return the study's answer as text."""
    lines = ["Published equivalence counts, recomputed", ""]
    for row in published(found).to_dict("records"):
        lines.append(f"{row['measure']:44} {row['parity study']:42} {row['retry study']}")
    lines += ["", "Contrasts under tool_fault: published p, McNemar p on true pairs, p with invoices as the unit", ""]
    for row in paired(found).to_dict("records"):
        lines.append(
            f"{row['contrast, under tool_fault']:50} {row['published p']:8} {row['McNemar p']:10} {row['invoices as unit, p']}"
        )
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in answer(found))])
