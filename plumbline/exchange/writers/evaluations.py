"""Verdicts as OpenTelemetry events, for the tracing backend that holds the traces they judge."""

from __future__ import annotations

from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError

__all__ = ["evaluation_events"]

_NEEDED = ("trial_id", "rule", "severity", "verdict", "witness", "expected", "observed", "reason")
_SCORES = {"held": 1.0, "violated": 0.0}


def evaluation_events(verdicts: pd.DataFrame, *, time_unix_nano: int | None = None) -> dict[str, Any]:
    """Return verdicts as one OTLP/JSON logs request of ``gen_ai.evaluation.result`` events.

    Parameters
    ----------
    verdicts : DataFrame
        As ``run.check(policy).to_frame()`` gives it, one row a trial and rule.
    time_unix_nano : int, optional
        Time of the events in nanoseconds since 1970; left out by default, so that equal verdicts give equal text.

    Returns
    -------
    dict
        To be sent to ``/v1/logs``. Only ``held`` and ``violated`` have a score, 1 and 0: what was vacuous, not
        applicable or unobservable is a label without a score, never a pass.

    Raises
    ------
    ParameterError
        The frame lacks a column of verdicts.

    References
    ----------
    OpenTelemetry semantic conventions for generative AI, event ``gen_ai.evaluation.result`` (in development).
    """
    if lost := [name for name in _NEEDED if name not in verdicts]:
        raise ParameterError(f"a frame of verdicts has the columns {', '.join(_NEEDED)}; missing {lost}")
    rows = verdicts[list(_NEEDED)].to_dict("records")
    records = [_record({str(k): v for k, v in row.items()}, time_unix_nano) for row in rows]
    scope = {"name": "plumbline", "attributes": []}
    return {"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": [{"scope": scope, "logRecords": records}]}]}


def _record(row: dict[str, Any], time: int | None) -> dict[str, Any]:
    values: dict[str, Any] = {"gen_ai.evaluation.name": row["rule"], "gen_ai.evaluation.score.label": row["verdict"]}
    if row["verdict"] in _SCORES:
        values["gen_ai.evaluation.score.value"] = _SCORES[row["verdict"]]
    if told := _told(row):
        values["gen_ai.evaluation.explanation"] = told
    values["plumbline.trial_id"] = row["trial_id"]
    values["plumbline.severity"] = row["severity"]
    if not pd.isna(row["witness"]):
        values["plumbline.step"] = int(row["witness"])
    record: dict[str, Any] = {"eventName": "gen_ai.evaluation.result"}
    if time is not None:
        record["timeUnixNano"] = str(time)
    record["severityNumber"] = 13 if row["verdict"] == "violated" else 9
    record["attributes"] = [{"key": key, "value": _value(value)} for key, value in values.items()]
    return record


def _told(row: dict[str, Any]) -> str:
    if row["verdict"] == "violated":
        return f"expected {row['expected']}; observed {row['observed']}"
    return "" if pd.isna(row["reason"]) else str(row["reason"])


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}
