"""Spans that plumbline wrote itself: each carries its row, so that a run comes back as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.schema import STEPS, TRIALS
from plumbline.exchange.drafts import NOT_RECORDED, Labels, StepDraft, TrialDraft
from plumbline.exchange.readers.span import Span

__all__ = ["ROW_STEP", "ROW_TRIAL", "SCHEMA_NAME", "own_trial"]

SCHEMA_NAME = "plumbline.otlp/1"
ROW_TRIAL = "plumbline.row.trial"
ROW_STEP = "plumbline.row.step"
_LABELS = ("arm", "task", "family", "perturbation", "variant")
_JSON_OF_TRIAL = tuple(column.name for column in TRIALS if column.json)
_JSON_OF_STEP = tuple(column.name for column in STEPS if column.json)


def own_trial(trace_id: str, spans: Sequence[Span], *, source: str) -> tuple[TrialDraft, bool] | None:
    """Return the trial of a trace that plumbline wrote, and whether it is whole; None for any other trace.

    A trace of which only part is there, or which another tool changed, is read like any other.
    """
    root = next((s for s in spans if s.attributes.get("plumbline.schema") == SCHEMA_NAME), None)
    if root is None:
        return None
    trial = _row(root.attributes.get(ROW_TRIAL))
    steps = [_row(span.attributes.get(ROW_STEP)) for span in spans if span is not root]
    repetition = root.attributes.get("plumbline.repetition")
    if trial is None or None in steps or not isinstance(repetition, int):
        return None
    rows = sorted((row for row in steps if row is not None), key=lambda row: row.get("step", -1))
    if [row.get("step") for row in rows] != list(range(len(rows))):
        return None
    try:
        return _trial(trace_id, root, trial, rows, source), True
    except (TypeError, ValueError):
        return None


def _trial(trace_id: str, root: Span, row: dict[str, Any], rows: list[dict[str, Any]], source: str) -> TrialDraft:
    opened = {name: parse_json(row[name]) for name in _JSON_OF_TRIAL if name in row}
    plain = {name: value for name, value in row.items() if name not in (*_JSON_OF_TRIAL, "trial_id")}
    for name in ("cost_usd", "latency_ms"):
        if name in plain:
            plain[name] = float(plain[name])
    context = root.attributes.get("plumbline.context")
    entry = parse_json(context) if isinstance(context, str) else {}
    return TrialDraft(
        source=f"{source}: trace {trace_id}",
        labels=Labels(
            **{name: root.attributes.get(f"plumbline.{name}") for name in _LABELS},
            repetition=root.attributes["plumbline.repetition"],
        ),
        steps=[_step(one) for one in rows], context=entry.get("context"),
        attributes={"trace_id": trace_id, **root.resource, **root.attributes}, **opened, **plain,
    )  # fmt: skip


def _step(row: dict[str, Any]) -> StepDraft:
    opened: dict[str, Any] = {n: parse_json(row[n]) if n in row else NOT_RECORDED for n in _JSON_OF_STEP}
    plain = {name: value for name, value in row.items() if name not in (*_JSON_OF_STEP, "step", "unread")}
    return StepDraft(**opened, **plain, unread=[row["unread"]] if "unread" in row else [])


def _row(text: Any) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None  # type: ignore[return-value]
