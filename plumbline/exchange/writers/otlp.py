"""A run as OTLP JSON: GenAI names for what the conventions know, ``plumbline.*`` for the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.schema import STEPS, TRIALS
from plumbline.exchange.readers.span import nanoseconds
from plumbline.exchange.readers.span_own import ROW_STEP, ROW_TRIAL, SCHEMA_NAME
from plumbline.traces import Recording

__all__ = ["otlp_lines", "otlp_request"]

_KEYS = ("run_id", "arm", "task_id", "family_id", "perturbation", "variant", "repetition", "trial_id")
_STATUS = {"failed": 2, "blocked": 2, "ok": 1, "no_result": 0}


def otlp_request(recording: Recording) -> dict[str, Any]:
    """Return a run as one OTLP JSON object (ExportTraceServiceRequest), one trace a trial.

    Parameters
    ----------
    recording : Recording

    Returns
    -------
    dict
        JSON values. Reading it again gives the same trials, steps and tasks. What it cannot hold: the plan and the
        run's notes other than the tasks; they stand in no span. Times finer than they were recorded are not invented:
        a step without a time has none.

    Examples
    --------
    >>> import pandas as pd
    >>> run = Recording(pd.DataFrame({"arm": ["a"], "task_id": ["t"]}), run_id="r")
    >>> len(otlp_request(run)["resourceSpans"][0]["scopeSpans"][0]["spans"])
    1
    """
    spans = [span for trace in _traces(recording) for span in trace]
    return {"resourceSpans": [_envelope(recording, spans)]}


def otlp_lines(recording: Recording) -> Iterator[str]:
    """Give a run as JSON lines, one OTLP JSON object a trial, so that a large run can be read piece by piece.

    Examples
    --------
    >>> import pandas as pd
    >>> run = Recording(pd.DataFrame({"arm": ["a", "a"], "task_id": ["t", "u"]}), run_id="r")
    >>> len(list(otlp_lines(run)))
    2
    """
    for spans in _traces(recording):
        yield canonical_json({"resourceSpans": [_envelope(recording, spans)]})


def _envelope(recording: Recording, spans: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"service.name": "plumbline", "plumbline.run_id": recording.run_id}
    return {
        "resource": {"attributes": _attributes(resource)},
        "scopeSpans": [{"scope": {"name": "plumbline"}, "spans": spans}],
    }


def _traces(recording: Recording) -> Iterator[list[dict[str, Any]]]:
    by_trial = dict(list(recording.steps.groupby("trial_id", sort=False)))
    for row in recording.trials.to_dict("records"):
        steps = by_trial.get(row["trial_id"])
        rows = [] if steps is None else steps.to_dict("records")
        yield _trace(recording, row, rows)


def _trace(recording: Recording, trial: Mapping[Any, Any], steps: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    trace = hashlib.sha256(canonical_json([recording.run_id, trial["trial_id"]]).encode()).hexdigest()[:32]
    root = f"{1:016x}"
    start = nanoseconds(_value(trial["started_at"]))
    context = recording.tasks.get(trial["task_id"])
    attributes = {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": trial["arm"],
        "gen_ai.response.model": _value(trial["model"]), "plumbline.schema": SCHEMA_NAME,
        "plumbline.arm": trial["arm"], "plumbline.task": trial["task_id"], "plumbline.family": trial["family_id"],
        "plumbline.perturbation": trial["perturbation"], "plumbline.variant": trial["variant"],
        "plumbline.repetition": int(trial["repetition"]), "input.value": _value(trial["prompt"]),
        "output.value": _value(trial["final_output"]),
        ROW_TRIAL: _row(trial, TRIALS),
        "plumbline.context": None if context is None else canonical_json(context),
    }  # fmt: skip
    latency = _value(trial["latency_ms"])
    end = start if start is None or latency is None else start + int(latency * 1e6)
    failed = trial["status"] == "agent_error"
    spans = [_span(trace, root, None, f"invoke_agent {trial['arm']}", start, end, attributes, 2 if failed else 0,
                   _value(trial["error"]) if failed else None)]  # fmt: skip
    owners: dict[str, str] = {}
    for step in steps:
        span_id = f"{int(step['step']) + 2:016x}"
        parent = owners.get(_value(step["parent_call_id"]) or "", root)
        if (call := _value(step["call_id"])) is not None:
            owners.setdefault(call, span_id)
        spans.append(_step(trace, span_id, parent, step))
    return spans


def _step(trace: str, span_id: str, parent: str, step: Mapping[Any, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {"plumbline.kind": step["kind"], ROW_STEP: _row(step, STEPS)}
    name = _value(step["name"])
    if step["kind"] == "tool_call":
        title = f"execute_tool {name}"
        attributes |= {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": _value(step["call_id"]), "gen_ai.agent.name": _value(step["agent"]),
            "gen_ai.tool.call.arguments": _opened(step["arguments"]),
            "gen_ai.tool.call.result": _opened(step["result"]),
        }  # fmt: skip
    elif step["kind"] == "agent_call":
        title = f"invoke_agent {name}"
        attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    else:
        title = f"plumbline {step['kind']}"
        attributes["plumbline.name"] = name
    failed = step["status"] in ("failed", "blocked")
    attributes["error.type"] = (_value(step["error_type"]) or "_OTHER") if failed else None
    times = (nanoseconds(_value(step["started_at"])), nanoseconds(_value(step["ended_at"])))
    return _span(trace, span_id, parent, title, *times, attributes, _STATUS[step["status"]], _value(step["error"]))


def _span(
    trace: str, span_id: str, parent: str | None, name: str, start: int | None, end: int | None,
    attributes: Mapping[str, Any], code: int, message: str | None,
) -> dict[str, Any]:  # fmt: skip
    span: dict[str, Any] = {"traceId": trace, "spanId": span_id, "name": name, "kind": 1}
    if parent is not None:
        span["parentSpanId"] = parent
    span["startTimeUnixNano"] = str(start or 0)
    span["endTimeUnixNano"] = str(end or 0)
    span["attributes"] = _attributes(attributes)
    span["status"] = {"code": code} | ({"message": message} if message is not None and code == 2 else {})
    return span


def _row(row: Mapping[Any, Any], columns: Any) -> str:
    """Return a row as canonical JSON, without what is missing and without the run's name, which the resource holds."""
    kept = {c.name: _value(row[c.name]) for c in columns if c.name not in _KEYS}
    return canonical_json({name: value for name, value in kept.items() if value is not None})


def _value(value: Any) -> Any:
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return None
    return value.item() if hasattr(value, "item") else value


def _opened(text: Any) -> Any:
    found = _value(text)
    return None if found is None else parse_json(found)


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _typed(value)} for key, value in values.items() if value is not None]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if -(2**63) <= value < 2**63 else {"stringValue": str(value)}
    if isinstance(value, float | Decimal):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _typed(one)} for key, one in value.items()]}}
    return {}
