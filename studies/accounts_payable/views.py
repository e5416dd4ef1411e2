"""What the accounts-payable study shows: frames and sentences made of its figures; no number is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from plumbline.study.phrases import of, percent

EXECUTORS = {"plan_execute": "three retries", "plan_execute_once": "no retry"}
READERS = {"plan_execute": "free text", "plan_execute_schema": "JSON Schema"}
Found = Mapping[str, Any]

_LOST = "the answer to the payment was lost, so that it may not have happened: every verdict on it is 'unobservable', none 'held'"
_HELD_ANYWAY = "the document is held for a graver reason, so that only the remark beside it differs"
_SURVIVES = {
    "ignore:check_po_validity": _HELD_ANYWAY,
    "ignore:match_purchase_order": _HELD_ANYWAY,
    "refuse:match_purchase_order": _HELD_ANYWAY,
    "duplicate:fetch_invoice": "reading a record twice harms nothing, and no rule forbids it",
}
_TRACE_SURVIVES = {
    "repeat": "a reading, a check or a request made twice harms nothing, and no rule forbids it",
    "swap": "neighbours whose order no rule fixes, because nothing depends on it",
    ("delay", "fetch_invoice_lines"): "the policy asks that the lines be read, not when",
    "calculate_payable_amount": "on a document that is held nothing rests on the amount",
    "fetch_invoice": "the second reading, of the invoice that a credit note names: the policy does not ask for it",
    "request_approval": "a role with more authority than needed may approve",
}
_KINDS = {
    "drop": "left out", "repeat": "made twice", "swap": "changed places with the next", "delay": "put last",
    "fail": "failed, unnoticed", "argument": "one argument changed",
}  # fmt: skip


def _entries(found: Found, prefix: str, depth: int = 1) -> list[tuple[str, Any]]:
    """Figures directly under a prefix, with the rest of their names."""
    start = f"{prefix}/"
    names = [(key.removeprefix(start), value) for key, value in found.items() if key.startswith(start)]
    return [(name, value) for name, value in names if name.count("/") == depth - 1]


def _interval(share: Mapping[str, Any]) -> str:
    if not share["n"]:
        return "cannot tell (0 of 0)"
    return f"{of(share)} [{100 * share['low']:.0f}, {100 * share['high']:.0f}]%"


def caught(found: Found, by: str, name: str = "planted") -> pd.DataFrame:
    """What was caught of what showed, by kind, severity or perturbation."""
    title = {"kind": "kind of fault", "severity": "severity", "perturbation": "perturbation"}[by]
    rows = []
    for value, row in _entries(found, f"{name}/{by}"):
        whole = found.get(f"{name}/{by}/{value}/documents")
        rows.append({
            title: _KINDS.get(value, value) if name == "traces" else value, "faults": row["faults"],
            "showed": row["changed"], "caught": row["caught"], "cannot tell": row["in_doubt"],
            "missed": row["changed"] - row["caught"] - row["in_doubt"], "right place": row["localised"],
            "documents, all caught": None if whole is None else _interval(whole),
        })  # fmt: skip
    table = pd.DataFrame(rows).dropna(axis="columns", how="all")
    return table.drop(columns="cannot tell") if name == "traces" else table


def by_fault(found: Found) -> pd.DataFrame:
    """Every fault with the rule that most often names its place, and where that breaks."""
    rows = [
        {"fault": name, "caught": row["caught"], "of": row["showed"], "breaks at": row["at"], "rule": row["rule"]}
        for name, row in _entries(found, "planted/fault")
    ]
    return pd.DataFrame(rows)


def severities(found: Found) -> pd.DataFrame:
    """The share of documents all of whose faults were caught, by severity."""
    rows = []
    for series, prefix in (("changed the outcome", "harmful"), ("showed at all", "planted")):
        for value, row in _entries(found, f"{prefix}/severity"):
            if row["changed"]:
                note = f"{row['in_doubt']} trials cannot be told" if row["in_doubt"] else ""
                whole = found[f"{prefix}/severity/{value}/documents"]
                rows.append({"group": value, "series": f"faults that {series}", **whole, "note": note})
    return pd.DataFrame(rows)


def survivors(found: Found) -> pd.DataFrame:
    """Faults that were missed somewhere, by the reason."""
    rows: dict[str, dict[str, Any]] = {}
    for name, row in _entries(found, "planted/survivor"):
        why = _LOST if row["in_doubt"] == row["missed"] else _SURVIVES[name]
        entry = rows.setdefault(why, {"why": why, "faults": [], "not caught": 0, "of": 0, "with harm": 0})
        entry["faults"].append(name)
        entry["not caught"] += row["missed"]
        entry["of"] += row["trials"]
        entry["with harm"] += row["harmful"]
    return pd.DataFrame([{**row, "faults": ", ".join(row["faults"])} for row in rows.values()])


def trace_survivors(found: Found) -> pd.DataFrame:
    """Changes of recorded traces that no rule saw, and why."""
    rows: dict[str, dict[str, Any]] = {}
    for name, row in _entries(found, "traces/survivor", 2):
        kind, tool = name.split("/")
        why = _TRACE_SURVIVES.get((kind, tool)) or _TRACE_SURVIVES.get(kind) or _TRACE_SURVIVES[tool]
        entry = rows.setdefault(why, {"why nothing is said": why, "a call was": [], "of": [], "traces": 0})
        for key, value in (("a call was", _KINDS[kind]), ("of", tool)):
            entry[key] += [value] if value not in entry[key] else []
        entry["traces"] += row["traces"]
    table = [{**row, "a call was": "; ".join(row["a call was"]), "of": ", ".join(row["of"])} for row in rows.values()]
    return pd.DataFrame(table)


def classes(found: Found) -> pd.DataFrame:
    """Every exception class: documents for which it is the first reason, one of several, or almost one."""
    rows = [
        {
            "class": name,
            "first reason": row["first"],
            "one of several": row["also"],
            "almost met by a clean one": row["almost"],
        }
        for name, row in _entries(found, "coverage/class")
    ]
    return pd.DataFrame(rows)


def redundant(found: Found) -> pd.DataFrame:
    """Rules without which neither catalog would lose a fault or its place."""
    keys = ("alone", "only_place", "alone_in_traces", "only_place_in_traces")
    rows = [
        {
            "rule": name,
            "severity": row["severity"],
            "faults it saw": row["caught"],
            "traces it saw": row["caught_in_traces"],
        }
        for name, row in _entries(found, "rule")
        if not any(row[key] for key in keys)
    ]
    return pd.DataFrame(rows)


def needed(found: Found) -> pd.DataFrame:
    """Rules that alone see a fault, or alone name its place."""
    rows = []
    for name, row in _entries(found, "rule"):
        planted, traces = (row["alone"], row["only_place"]), (row["alone_in_traces"], row["only_place_in_traces"])
        if any((*planted, *traces)):
            shown = {"planted: sees, places": planted, "traces: sees, places": traces}
            rows.append({"rule": name, "severity": row["severity"], **{k: f"{a}, {b}" for k, (a, b) in shown.items()}})
    return pd.DataFrame(rows)


def outcomes(found: Found) -> pd.DataFrame:
    """Outcome correct, by condition and executor."""
    rows = []
    for name, row in _entries(found, "outcome", 2):
        arm, condition = name.split("/")
        shown = {key: row[key] for key in ("k", "n", "value", "low", "high")}
        rows.append({"group": condition, "series": EXECUTORS[arm], **shown, "note": ""})
    return pd.DataFrame(rows)


def exposures(found: Found) -> pd.DataFrame:
    """Who met the fault that was planned for it."""
    rows = []
    for name, row in _entries(found, "exposure", 2):
        condition, arm = name.split("/")
        rows.append({
            "group": f"{condition}: {EXECUTORS[arm]}", "delivered": row["delivered_completed"],
            "not_delivered": row["completed"] - row["delivered_completed"], "no_record": row["planned"] - row["completed"],
        })  # fmt: skip
    return pd.DataFrame(rows)


def reading(found: Found) -> pd.DataFrame:
    """Right document named, by condition and arm."""
    rows = []
    for name, row in _entries(found, "reading", 2):
        arm, condition = name.split("/")
        if condition == "another":
            continue
        shown = {key: row[key] for key in ("k", "n", "value", "low", "high")}
        missing = f"{row['missing']} had no variant" if row["missing"] else ""
        rows.append({"group": condition, "series": READERS[arm], **shown, "note": missing})
    return pd.DataFrame(rows)


def broken(found: Found) -> pd.DataFrame:
    """Rules the free-form model broke, the most often broken first."""
    rows = [
        {"rule": name, "violated": row["violated"], "of trials where it was active": row["active"]}
        for name, row in _entries(found, "choosing/rule")
    ]
    table = pd.DataFrame(rows, columns=["rule", "violated", "of trials where it was active"])
    return table.sort_values(["violated", "rule"], ascending=[False, True]).reset_index(drop=True)


def answer(found: Found) -> list[str]:
    """The answer in five sentences."""
    every, reference = found["planted/all"], found["false_alarms/of_trials"]
    harm, caught_harm, doubt = (found[f"planted/harmful{end}"] for end in ("", "/caught", "/in_doubt"))
    free = found["choosing/outcome"]
    return [
        f"Of {harm} trials in which a planted fault changed the outcome the policy caught {caught_harm}; in {doubt} it said that it cannot tell, because the answer to the payment was "
        f"lost; it missed {found['planted/harmful/missed']}.",
        f"{every['caught']} of {every['changed']} trials in which a fault showed at all were caught, {every['localised']} at the tool that went wrong. Each miss has its reason below.",
        f"The reference executor was accused in {found['false_alarms/trials']} of {reference} trials; with documents as the unit that still allows a rate of up to "
        f"{100 * found['false_alarms/documents/upper']:.0f}% on documents like these.",
        f"Without retries the executor is right in {of(found['outcome/plan_execute_once/tool_fault'])} trials under a fault, with them in {of(found['outcome/plan_execute/tool_fault'])}.",
        f"{found['model/name']} named the right document in {of(found['reading/plan_execute'])} trials; choosing every call itself it reached the right outcome in {of(free)}.",
    ]


def claims(found: Found) -> tuple[list[str], list[str]]:
    """What the study can claim, and what it cannot; every number is a figure."""
    traces = found["traces/all"]
    can = [
        f"For this policy and this catalog of {found['planted/all']['faults']} faults: no fault that changed an outcome left every rule held. "
        f"{found['rules/needed']} of {found['rules/all']} rules alone see or place some fault; the others are shown to be redundant as far as both catalogs go.",
        f"Changing recorded traces shows what the policy leaves free: {traces['caught']} of {traces['changed']} changes are seen, and what is not seen is an order, a repetition or a "
        "choice that no rule fixes on purpose.",
        "The catalogs found gaps in our own policy, which were closed: rules that never applied, a payment made again after a lost answer, a log entry that says something else than was done.",
    ]
    cannot = [
        "How often real agents make these faults: the catalog is ours, and so is the procedure it changes.",
        "That a clean verdict means a right outcome for faults of other kinds.",
        f"Anything about documents unlike these {found['false_alarms/of_documents']}, all of them made up.",
        f"Anything about larger models, or about other prompts: {found['counts/local_free']['recorded']} trials of one small model choosing its calls, one a document, on one machine.",
    ]
    return can, cannot


def summary(found: Found) -> str:
    """Return the study's answer as text."""
    lines = [
        "Planted faults that changed the outcome: documents on which all were caught [Clopper-Pearson], trials caught",
        "",
    ]
    for value, row in _entries(found, "harmful/severity"):
        if row["changed"]:
            whole = _interval(found[f"harmful/severity/{value}/documents"])
            doubt = f", cannot tell {row['in_doubt']}" if row["in_doubt"] else ""
            lines.append(f"{value:10}{whole:26}{row['caught']} of {row['changed']} trials{doubt}")
    lines += ["", "Outcome correct of the executor, % of trials", ""]
    for condition in ("baseline", "tool_fault", "lost_answer"):
        cells = "".join(
            f"  {EXECUTORS[arm]}: {percent(found[f'outcome/{arm}/{condition}'])}".ljust(26) for arm in EXECUTORS
        )
        lines.append(f"{condition:13}{cells}".rstrip())
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in answer(found))])
