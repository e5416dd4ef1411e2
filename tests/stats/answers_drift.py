"""plumbline's answers to the reference entries about drift rules."""

from __future__ import annotations

from typing import Any

from plumbline.stats import NOMINAL_Z3, jaccard_false_alarm, zscore_false_alarm, zscore_threshold

Entry = dict[str, Any]


def zscore(entry: Entry) -> Entry:
    given = entry["inputs"]
    k = given["baseline_sessions"]
    return {
        "two_sided": zscore_false_alarm(k, threshold=given["threshold"]),
        "nominal": NOMINAL_Z3,
        "threshold_for_nominal": zscore_threshold(k),
    }


def jaccard(entry: Entry) -> Entry:
    given = entry["inputs"]
    found = jaccard_false_alarm([given["use_probability"]], times=given["optional_tools"], always=given["always_used"])
    return {"p": found}


ANSWERS = {"zscore-false-alarm-": zscore, "jaccard-false-alarm-": jaccard}
