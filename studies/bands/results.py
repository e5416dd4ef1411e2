"""The arithmetic of the bands study: every figure from constructed runs and pairs. Nothing is shown here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import plumbline as plumb
from plumbline.decide.bands import (
    BandReport,
    Calibration,
    LexicalScorer,
    apply_bands,
    calibrate,
    example_pairs,
    example_runs,
    sample_bands,
)
from plumbline.stats.drift import false_alarm_table
from plumbline.stats.drift_cusum import BernoulliCusum, cusum_run_length
from plumbline.study import Figures


def report(values: Mapping[str, Any]) -> BandReport:
    """Apply the sample bands to the constructed runs."""
    baseline, candidate = example_runs(seed=values["seed"], fixtures=values["fixtures"])
    return apply_bands(sample_bands(), baseline=baseline, candidate=candidate, scorer=LexicalScorer())


def calibration(values: Mapping[str, Any]) -> Calibration:
    """Calibrate the text band on constructed pairs."""
    return calibrate(
        example_pairs(seed=values["seed"]), scorer=LexicalScorer(), confidence=values["confidence"],
        generator=np.random.default_rng(values["seed"]),
    )  # fmt: skip


def figures(values: Mapping[str, Any], runs: Mapping[str, plumb.Run]) -> Figures:
    """Return every figure of the study, see ``Study.figures``."""
    found = Figures()
    _example(found, report(values))
    _calibration(found, calibration(values))
    for row in false_alarm_table().to_dict("records"):
        values_of = {
            name: _plain(row[name]) for name in ("false_alarm", "per_100_sessions", "believed", "mended_threshold")
        }
        found.add(f"drift/{row['rule']}/{row['setting']}", {**values_of, "method": row["method"]})
    cusum = BernoulliCusum(usual=0.02, feared=0.10, limit=3.0)
    for name, rate in (("usual", 0.02), ("feared", 0.10)):
        found.add(f"cusum/{name}", cusum_run_length(cusum, rate))
    return found


def _plain(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _example(found: Figures, made: BandReport) -> None:
    found.add("digest/baseline", made.baseline.digest)
    found.add("digest/candidate", made.candidate.digest)
    found.add("counts/baseline", vars(made.baseline.counts()))
    found.add("counts/candidate", vars(made.candidate.counts()))
    found.add("decision", made.decision)
    found.add("fixtures", made.fixtures)
    rows, moved = made.to_frame(), made.moved()
    found.add("rows", len(rows))
    found.add("moved/rows", len(moved))
    found.add("moved/fixtures", moved[~moved["fixture"].str.startswith("(")]["fixture"].nunique())
    for decided in made.decisions:
        part = moved[moved["field"] == decided.field]
        counts = {str(k): int(v) for k, v in sorted(decided.counts.items())}
        told = {"decision": decided.decision, "severity": decided.severity, "moved": decided.moved, "counts": counts}
        found.add(f"field/{decided.field}", told, trials=[one for one in part["candidate"] if one])
        for verdict, some in part.groupby("verdict", sort=False):
            found.add(f"moved/{decided.field}/{verdict}", len(some), trials=[one for one in some["candidate"] if one])
    latency = rows[rows["field"] == "latency"].iloc[0]
    found.add("latency", {"ratio": float(latency["value"]), "evidence": latency["evidence"]})
    failed = moved[(moved["field"] == "order") & (moved["verdict"] == "fail")].iloc[0]
    found.add("order/failed", {"fixture": failed["fixture"], "note": failed["note"]})


def _calibration(found: Figures, made: Calibration) -> None:
    low, high = made.interval
    found.add("calibration/threshold", {"value": made.threshold, "low": low, "high": high})
    found.add("calibration/scorer", f"{made.scorer} {made.scorer_version}")
    found.add("calibration/pairs", len(made.pairs))
    found.add("calibration/overlap", list(made.overlap))
    found.add("calibration/auc", made.auc)
    for name in ("false_alarm", "miss"):
        error = made.error(name)
        share = {"k": error.successes, "n": error.n, "value": error.value, "low": error.low, "high": error.high}
        found.add(f"calibration/held_out/{name}", share)
    for name, threshold in (("fitted", made.threshold), ("0.92", 0.92)):
        at = made.at(threshold)
        found.add(f"calibration/at/{name}", {
            "false_alarms": at.false_alarms, "equivalent": at.equivalent, "misses": at.misses,
            "different": at.different, "a_week": at.a_week,
        })  # fmt: skip
    frame = made.to_frame()
    for edit, rows in frame.groupby("edit", sort=False):
        found.add(f"calibration/edit/{edit}", {
            "equivalent": bool(rows["equivalent"].iloc[0]), "pairs": len(rows),
            "lowest": float(rows["score"].min()), "median": float(rows["score"].median()),
            "highest": float(rows["score"].max()),
        })  # fmt: skip
