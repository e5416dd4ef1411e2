"""What the bands study shows: frames and sentences made of its figures; no number is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from plumbline.study.phrases import of

Found = Mapping[str, Any]


def fields(found: Found) -> pd.DataFrame:
    """A decision a field, and what a reviewer is shown of it."""
    rows = []
    for key, row in found.items():
        if key.startswith("field/"):
            counts = ", ".join(f"{n} {word}" for word, n in row["counts"].items())
            rows.append({
                "field": key.removeprefix("field/"), "decision": row["decision"], "severity": row["severity"],
                "verdicts": counts, "shown to a reviewer": row["moved"],
            })  # fmt: skip
    return pd.DataFrame(rows)


def edits(found: Found) -> pd.DataFrame:
    """Scores of constructed pairs, by the edit that made them."""
    rows = [
        {
            "edit": key.removeprefix("calibration/edit/"), "judged": "equivalent" if row["equivalent"] else "different",
            "pairs": row["pairs"], "lowest": row["lowest"], "median": row["median"], "highest": row["highest"],
        }
        for key, row in found.items() if key.startswith("calibration/edit/")
    ]  # fmt: skip
    return pd.DataFrame(rows).sort_values(["judged", "median"], ascending=[True, False]).reset_index(drop=True)


def errors(found: Found) -> pd.DataFrame:
    """Held-out errors of the fitted threshold, families as the unit."""
    names = {"false_alarm": "equivalent pairs that would alarm", "miss": "differences that would pass"}
    return pd.DataFrame([
        {"group": text, "series": "fitted threshold, held out", **found[f"calibration/held_out/{name}"], "note": ""}
        for name, text in names.items()
    ])  # fmt: skip


def drift(found: Found) -> pd.DataFrame:
    """False alarms of drift rules when nothing changed."""
    rows = []
    for key, row in found.items():
        if key.startswith("drift/"):
            _, rule, setting = key.split("/", 2)
            mended = row["mended_threshold"]
            rows.append({
                "rule": rule, "setting": setting, "false alarms per 100 sessions": f"{row['per_100_sessions']:.2f}",
                "believed": "–" if row["believed"] is None else f"{100 * row['believed']:.2f}",
                "threshold that restores it": "–" if mended is None else f"{mended:.2f}",
            })  # fmt: skip
    return pd.DataFrame(rows)


def answer(found: Found) -> list[str]:
    """The answer in four sentences."""
    at, miss = found["calibration/at/0.92"], found["calibration/held_out/miss"]
    below, _ = found["calibration/overlap"]
    alarm = found["calibration/held_out/false_alarm"]
    ten = found["drift/z above 3/10 baseline sessions"]
    return [
        f"Of {found['fixtures']} fixtures {found['moved/fixtures']} moved in some field; a reviewer is shown these and nothing else, and the decision is {found['decision']}: "
        f"{found['order/failed']['fixture']} writes before the read it rests on.",
        f"No lexical threshold separates the constructed pairs: {below} equivalent pairs score no higher than the most alike difference. The starting number 0.92 would alarm "
        f"{at['a_week']:.0f} times in 300 cases and let {at['misses']} of {at['different']} differences through.",
        f"The threshold that costs least lets {of(miss)} held-out differences through and alarms on {of(alarm)} equivalent texts: a lexical score is the wrong instrument for these.",
        f"After ten baseline sessions 'z above 3' alarms in {ten['per_100_sessions']:.2f} of 100 sessions in which nothing changed, not in {100 * ten['believed']:.2f}.",
    ]


def claims(found: Found) -> tuple[list[str], list[str]]:
    """What the study can claim, and what it cannot."""
    can = [
        "Every case that was made to move is shown with its verdict, and no other: the example is constructed, so that this can be counted.",
        f"A CUSUM of failures (2% usual, 10% feared, limit 3) runs {found['cusum/usual']:.0f} trials to a false alarm and {found['cusum/feared']:.0f} to find the change, exactly.",
    ]
    cannot = [
        "How often real agents move: runs and pairs are constructed, and called so.",
        "Which threshold is right for other texts: calibrate on pairs that your own reviewers judged, 200 at least.",
    ]
    return can, cannot


def summary(found: Found) -> str:
    """Return the study's answer as text."""
    lines = ["A decision a field, of constructed runs", ""]
    lines += [f"{r['field']:11}{r['decision']:8}{r['verdicts']}" for r in fields(found).to_dict("records")]
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in answer(found))])
