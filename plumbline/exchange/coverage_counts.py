"""How much of each tool's calls was recorded, down to each attribute of its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.canonical import parse_json
from plumbline.traces import Recording

__all__ = ["ARGUMENTS", "attribute_frame", "call_states", "label_frame", "tool_frame"]

ARGUMENTS = ("structured", "unreadable", "not_recorded")
"""What the arguments of a call can be; an empty object counts as structured: the call is known to have none."""
_STATUSES = ("ok", "failed", "no_result", "blocked")
_TYPES = ((bool, "boolean"), (int, "integer"), (str, "text"), (list, "list"), (dict, "object"), (type(None), "null"))
_TOOL_COLUMNS = [
    "tool", "calls", *ARGUMENTS, "empty", "results", "results_unreadable", "results_not_recorded", *_STATUSES,
    "call_ids",
]  # fmt: skip
_ATTRIBUTE_COLUMNS = ["tool", "attribute", "structured", "null", "absent", "unreadable", "not_recorded", "types"]


def call_states(recording: Recording) -> pd.DataFrame:
    """Return one row a tool call: place, tool, and whether arguments and result could be read.

    Returns
    -------
    DataFrame
        ``trial_id, step, name, status, text, arguments, result``; `text` is the canonical text of the arguments.
    """
    steps = recording.steps
    calls = steps[steps["kind"] == "tool_call"].reset_index(drop=True)
    unread = calls["unread"].fillna("").astype(str)
    arguments = np.where(
        calls["arguments"].notna(), "structured",
        np.where(unread.str.startswith("arguments: "), "unreadable", "not_recorded"),
    )  # fmt: skip
    result = np.where(
        calls["result"].notna(), "structured",
        np.where(unread.str.contains(r"(?:^|\n)result: "), "unreadable", "not_recorded"),
    )  # fmt: skip
    columns = ["trial_id", "step", "name", "status", "call_id", "group", "started_at", "ended_at"]
    return calls[columns].assign(text=calls["arguments"], arguments=arguments, result=result)


def tool_frame(calls: pd.DataFrame) -> pd.DataFrame:
    """Return one row a tool, the most called first."""
    rows = []
    for tool, own in calls.groupby("name", sort=True):
        states, results = own["arguments"].value_counts(), own["result"].value_counts()
        row: dict[str, Any] = {"tool": tool, "calls": len(own)}
        row |= {state: int(states.get(state, 0)) for state in ARGUMENTS}
        row |= {
            "empty": int((own["text"] == "{}").sum()), "results": int(results.get("structured", 0)),
            "results_unreadable": int(results.get("unreadable", 0)),
            "results_not_recorded": int(results.get("not_recorded", 0)), "call_ids": int(own["call_id"].notna().sum()),
        }  # fmt: skip
        row |= {status: int((own["status"] == status).sum()) for status in _STATUSES}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=_TOOL_COLUMNS)
    return frame.sort_values(["calls", "tool"], ascending=[False, True], ignore_index=True, kind="stable")


def attribute_frame(calls: pd.DataFrame) -> pd.DataFrame:
    """Return one row a tool and attribute: in how many calls it stands, is null, is absent, or cannot be known."""
    rows = []
    for tool, own in calls.groupby("name", sort=True):
        present: Counter[str] = Counter()
        null: Counter[str] = Counter()
        types: dict[str, Counter[str]] = {}
        for text, count in own["text"].value_counts().items():
            found = parse_json(str(text))
            if not isinstance(found, Mapping):
                continue
            for attribute, value in found.items():
                (null if value is None else present)[attribute] += int(count)
                types.setdefault(attribute, Counter())[_type(value)] += int(count)
        states = own["arguments"].value_counts()
        structured = int(states.get("structured", 0))
        for attribute, seen in types.items():
            rows.append({
                "tool": tool, "attribute": attribute, "structured": present[attribute], "null": null[attribute],
                "absent": structured - present[attribute] - null[attribute],
                "unreadable": int(states.get("unreadable", 0)), "not_recorded": int(states.get("not_recorded", 0)),
                "types": ", ".join(f"{name} {n}" for name, n in seen.most_common()),
            })  # fmt: skip
    return pd.DataFrame(rows, columns=_ATTRIBUTE_COLUMNS)


def label_frame(recording: Recording) -> pd.DataFrame:
    """Return one row a label: how many values it has, and where they come from."""
    origins = _imported(recording).get("labels", {})
    rows = []
    for column in ("arm", "task_id", "family_id", "perturbation", "variant", "repetition"):
        values = recording.trials[column]
        told = origins.get(column.removesuffix("_id"))
        origin = ", ".join(f"{name} {count}" for name, count in told.items()) if told else "recorded"
        rows.append({"label": column.removesuffix("_id"), "values": int(values.nunique()), "origin": origin})
    return pd.DataFrame(rows, columns=["label", "values", "origin"])


def _imported(recording: Recording) -> Mapping[str, Any]:
    found = recording.notes.get("import")
    return found if isinstance(found, Mapping) else {}


def _type(value: Any) -> str:
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "number")
