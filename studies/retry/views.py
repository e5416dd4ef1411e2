"""What the retry study shows: frames and sentences made of its figures; no number is typed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.study.phrases import of, percent, points

LABELS = {
    "no_retry": "executor, no retry",
    "three_retries": "executor, 3 retries",
    "free_form_agent": "free-form agent",
}
CONDITIONS = ("baseline", "paraphrase", "distractor", "tool_fault", "decoy_tools", "sampling")
ARMS = {"plan_execute": "executor", "react": "free-form agent", "guarded": "guarded agent"}
Found = Mapping[str, Any]


def headline(found: Found, columns: Sequence[str] = tuple(LABELS)) -> pd.DataFrame:
    """The published table, long: ``group, series, value, low, high, n, k, note``."""
    rows = []
    for condition in CONDITIONS:
        for column in columns:
            missing = found[f"missing/{condition}/{column}"]
            note = (
                f"{missing} of {missing + found[f'headline/{condition}/{column}']['n']} trials missing"
                if missing
                else ""
            )
            rows.append(
                {"group": condition, "series": LABELS[column], **found[f"headline/{condition}/{column}"], "note": note}
            )
    return pd.DataFrame(rows)


def contrasts(found: Found, columns: Sequence[str] = tuple(LABELS)) -> pd.DataFrame:
    """The published contrasts: difference, published and exact p, and how far apart they are."""
    rows = []
    names = [key.split("/")[1] for key in found if key.startswith("contrast/") and key.endswith("/exact_p")]
    for name in names:
        first, second = name.split("_vs_")
        if not {first, second} <= set(columns):
            continue
        get = {k: found[f"contrast/{name}/{k}"] for k in ("published_p", "exact_p", "exact_fraction", "difference")}
        rows.append(
            {
                "contrast": f"{LABELS[first]} against {LABELS[second]}",
                "difference (points)": points(get["difference"]),
                "published p": f"{get['published_p']:.4f}",
                "exact p": f"{get['exact_p']:.6f}",
                "exactly": get["exact_fraction"],
                "Monte Carlo s.e.": f"{found[f'contrast/{name}/monte_carlo_se']:.6f}",
                "apart (s.e.)": f"{found[f'contrast/{name}/distance_in_se']:+.2f}",
            }
        )
    return pd.DataFrame(rows)


def differences(found: Found, columns: Sequence[str] = tuple(LABELS)) -> pd.DataFrame:
    """The same contrasts as differences with intervals, in the form the effect figure takes."""
    rows = []
    for key, apart in found.items():
        if key.startswith("contrast/") and key.endswith("/difference"):
            first, second = key.split("/")[1].split("_vs_")
            if {first, second} <= set(columns):
                n = sum(found[f"headline/tool_fault/{c}"]["n"] for c in (first, second))
                label = f"{LABELS[first]} minus {LABELS[second]}"
                rows.append({"group": label, "series": "difference", **apart, "n": n, "k": pd.NA, "note": ""})
    return pd.DataFrame(rows)


def treated(found: Found) -> pd.DataFrame:
    """As treated: correct outcomes apart for trials that met their fault and trials that did not."""
    rows = []
    for key, share in found.items():
        if key.startswith("as_treated/") and key.endswith("/outcome"):
            _, study, arm, state, _ = key.split("/")
            series = "fault delivered" if state == "delivered" else "not delivered"
            rows.append({"group": f"{study}: {ARMS[arm]}", "series": series, **share, "note": ""})
    return pd.DataFrame(rows)


def corrected(found: Found) -> pd.DataFrame:
    """The corrected run: correct outcomes of both executors when every trial met a fault."""
    arms = ("no_retry", "three_retries")
    rows = [{"group": "a fault in every trial", "series": LABELS[a], **found[f"corrected/{a}/outcome"]} for a in arms]
    return pd.DataFrame(rows).assign(note="")


def effect(found: Found) -> pd.DataFrame:
    """The effect of three retries in the corrected run, in points."""
    exposed = found["corrected/no_retry/exposure"]["delivered"]
    return pd.DataFrame(
        [{"group": "three retries against none", "series": "corrected run", **found["corrected/effect"]}]
    ).assign(n=exposed, k=pd.NA, note="")


def answer(found: Found) -> list[str]:
    """The answer in four sentences."""
    none, three = (found[f"corrected/{a}/outcome"] for a in ("no_retry", "three_retries"))
    parity = found["exposure/parity/react"]
    met = found["exposure/parity/plan_execute"]
    faulted = found["as_treated/parity/plan_execute/delivered/outcome"]
    gain = found["corrected/effect"]
    published, free = (found[f"headline/tool_fault/{c}"] for c in ("no_retry", "free_form_agent"))
    return [
        f"The published table is reproduced exactly: {percent(published)} for the executor without retries against {percent(free)} for the free-form agent. "
        "Its two executor columns differ by retry logic alone: the same code "
        f"with a fault in every trial is right in {of(none)} without retries and {of(three)} with three.",
        f"The free-form agent met {parity['delivered_completed']} faults in {parity['completed']} completed tool_fault trials: "
        "its published figure under fault says nothing about faults.",
        f"The executor met a fault in {met['delivered']} of its {met['planned']} trials, not in all of them. Where it did, without retries, it was right in "
        f"{of(faulted)}; the published {percent(published)} mixes these with trials that met none.",
        f"The effect of the retries, {points(gain)}, comes from {found['corrected/tasks_that_differ']} of {found['corrected/tasks']} invoices, those to be paid; "
        f"with invoices as the unit p = {found['corrected/task_level_p']:.2g}.",
    ]


def claims(found: Found) -> tuple[list[str], list[str]]:
    """What the study can claim, and what it cannot; every number is a figure."""
    none, three = (found[f"corrected/{a}/outcome"] for a in ("no_retry", "three_retries"))
    react = found["as_treated/determinism/react/delivered/outcome"]
    critical = found["as_treated/determinism/react/delivered/critical"]
    met = found["exposure/parity/react"]
    can = [
        f"On these eight invoices and these three kinds of transient fault, three retries take this executor from {of(none)} to {of(three)} correct outcomes.",
        "The loss without retries is always the same: a check that failed once is taken as a reason to hold, and an invoice that should be paid is not.",
        f"In the earlier determinism study, the only one in which the free-form agent met faults, all {react['n']} outcomes were right "
        f"and {of(critical)} trials kept every critical rule.",
    ]
    cannot = [
        f"Anything about the free-form agent under faults in this comparison: {met['delivered_completed']} of its {met['completed']} completed trials met one.",
        "That the executor with retries and the free-form agent are equivalent: a p-value of "
        f"{_p(found, 'three_retries_vs_free_form_agent')} is no evidence of equality, and no margin was declared.",
        f"Anything about invoices in general: {found['corrected/tasks']} invoices were tried, {found['corrected/tasks_that_differ']} of them decide the difference, and "
        "a deterministic executor repeated on the same input adds trials but no information.",
        "Anything about the original model outputs: the free-form agent's traces here are reconstructed from published findings.",
        f"That nothing is missing: {found['counts/retry']['missing']} of {found['counts/retry']['planned']} retry trials have no recorded response, "
        f"{found['missing/decoy_tools/free_form_agent']} of them under decoy_tools alone.",
    ]
    return can, cannot


def summary(found: Found) -> str:
    """Return the study's answer as text: the published table, then what it does not show."""
    table = headline(found)
    width = 29
    lines = ["Outcome correct, % of completed trials [Wilson interval] n", ""]
    lines.append(f"{'':13}" + "".join(f"{LABELS[c]:{width}}" for c in LABELS).rstrip())
    for condition, rows in table.groupby("group", sort=False):
        lines.append(f"{condition:13}" + "".join(f"{_cell(r):{width}}" for r in rows.to_dict("records")).rstrip())
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in answer(found))])


def _p(found: Found, name: str) -> str:
    p = found.get(f"contrast/{name}/exact_p")
    return "(not computed)" if p is None else f"{p:.2f}"


def _cell(row: Mapping[str, Any]) -> str:
    if row["value"] is None or pd.isna(row["value"]):
        return f"cannot tell ({row['k']} of {row['n']})"
    return f"{100 * row['value']:5.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}] n={row['n']}"


def acts(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the steps that do something: decisions and calls, without the last words."""
    return steps[steps["kind"].isin(["decision", "tool_call"])].reset_index(drop=True)


def aligned(left: pd.DataFrame, right: pd.DataFrame) -> list[tuple[int | None, int | None]]:
    """Pair the steps of two traces: the repeated call of the right one stands beside nothing."""
    pairs: list[tuple[int | None, int | None]] = []
    a = 0
    for b, (name, before) in enumerate(zip(right["name"], [None, *right["name"]], strict=False)):
        if b and name == before and pd.notna(name) and not (a < len(left) and left["name"].iloc[a] == name):
            pairs.append((None, b))
        else:
            pairs.append((a if a < len(left) else None, b))
            a += 1
    return pairs + [(i, None) for i in range(a, len(left))]


def effect_note(found: Found) -> str:
    """What the effect rests on, in one sentence."""
    gained, lost = found["corrected/discordant"]
    return (
        f"Pairs that differ: {gained} for retries, {lost} against (McNemar p = {found['corrected/paired_p']:.1g} for this suite). "
        f"They lie in {found['corrected/tasks_that_differ']} of {found['corrected/tasks']} invoices; with invoices as the unit p = {found['corrected/task_level_p']:.2g}, "
        f"and no difference in so few invoices can give less than {found['corrected/task_level_smallest_p']:.2g}. A deterministic executor repeated on the same input adds no information."
    )
