"""From drafts to a checked recording: canonical arguments, numbered repetitions, and a note of what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ArgumentsError, ParameterError, SchemaError
from plumbline.base.schema import trial_id
from plumbline.exchange.arguments import read_arguments, read_result
from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, TrialDraft, Unreadable
from plumbline.exchange.labels import Labelled, LabelRules, Numbering, label_rules, labelled
from plumbline.traces import Recording

__all__ = ["assemble"]

_TEXTS = ("call_id", "parent_call_id", "agent", "error_type", "error", "started_at", "ended_at", "evidence", "injected")
_STEP = (
    "trial_id",
    "kind",
    "name",
    "arguments",
    "result",
    "status",
    "group",
    *_TEXTS,
    "tokens_in",
    "tokens_out",
    "unread",
)
_texts_of = attrgetter(*_TEXTS)
_TRIAL_TEXTS = ("error", "prompt", "final_output", "model", "started_at")
_TRIAL_VALUES = ("status", "exposure", "provenance", "tokens_in", "tokens_out", "cost_usd", "latency_ms")


def assemble(
    drafts: Sequence[TrialDraft],
    *,
    run_id: str,
    labels: LabelRules | None = None,
    about: Mapping[str, Any] | None = None,
    numbering: Numbering | None = None,
) -> Recording:
    """Make a recording of drafts.

    Parameters
    ----------
    drafts : sequence of TrialDraft
        At least one.
    run_id : str
        Name of the run.
    labels : LabelRules, optional
        Where labels come from, see ``label_rules``; by default from the trace.
    about : mapping, optional
        More for ``notes["import"]``: files, format, reader.
    numbering : Numbering, optional
        Repetitions counted so far, where a run is made piece by piece.

    Returns
    -------
    Recording
        ``notes["import"]`` holds counts, what each trial rests on, and what the readers said.

    Raises
    ------
    ParameterError
        There is no draft, or a label is impossible.
    SchemaError
        Two trials of one task disagree about its ground truth.

    Examples
    --------
    >>> call = StepDraft(kind="tool_call", name="pay", arguments={"amount": 12}, call_id="c1")
    >>> run = assemble([TrialDraft(source="mine", steps=[call])], run_id="mine")
    >>> run.steps["arguments"].tolist()
    ['{"amount":12}']
    """
    if not drafts:
        raise ParameterError("no trial was read: the input holds no execution of an agent")
    named = labelled(drafts, labels or label_rules(), numbering=numbering)
    try:
        return _assembled(drafts, named, run_id, about, careful=False)
    except ArgumentsError:  # a reader handed on what no file can hold; find it, keep it as text
        return _assembled(drafts, named, run_id, about, careful=True)


def _assembled(
    drafts: Sequence[TrialDraft], named: Sequence[Labelled], run_id: str, about: Mapping[str, Any] | None, *,
    careful: bool,
) -> Recording:  # fmt: skip
    names = [trial_id(who.arm, who.task, who.perturbation, who.variant, who.repetition) for who in named]
    trials: list[dict[str, Any]] = []
    steps: list[tuple[Any, ...]] = []
    unread: dict[str, list[str]] = {}
    for draft, who, name in zip(drafts, named, names, strict=True):
        trials.append(_trial(draft, who))
        steps.extend(_step(step, name, careful) for step in draft.steps)
        if draft.unread:
            unread[name] = [_text(line) or "" for line in draft.unread]
    frame = pd.DataFrame(steps, columns=list(_STEP), dtype=object)
    notes = {
        **(about or {}),
        "counts": _counts(drafts, steps),
        "labels": _origins(named),
        "order": dict(Counter(draft.order_evidence for draft in drafts)),
        "order_of": {name: draft.order_evidence for name, draft in zip(names, drafts, strict=True)
                     if draft.order_evidence != "causal"},
        "said": _said(drafts),
        "sources": {name: _text(draft.source) for name, draft in zip(names, drafts, strict=True)},
        "unread": unread,
    }  # fmt: skip
    return Recording(
        pd.DataFrame(trials, dtype=object), frame, run_id=run_id, tasks=_tasks(drafts, named), notes={"import": notes}
    )


def _trial(draft: TrialDraft, who: Labelled) -> dict[str, Any]:
    row: dict[str, Any] = {
        "arm": who.arm, "task_id": who.task, "family_id": who.family, "perturbation": who.perturbation,
        "variant": who.variant, "repetition": who.repetition,
    }  # fmt: skip
    row |= {name: _text(getattr(draft, name)) for name in _TRIAL_TEXTS}
    row |= {name: getattr(draft, name) for name in _TRIAL_VALUES}
    row |= {name: _json(getattr(draft, name)) for name in ("outcome", "fault")}
    return row


def _step(step: StepDraft, name: str, careful: bool) -> tuple[Any, ...]:
    unread = list(step.unread)
    result = _value(step.result, "result", unread, careful)
    arguments = _value(step.arguments, "arguments", unread, careful)  # last, so that it stands first in `unread`
    return (
        name, step.kind, _text(step.name), arguments, result, step.status, step.group,
        *[text if text is None or text.isascii() else _text(text) for text in _texts_of(step)],
        step.tokens_in, step.tokens_out, _text("\n".join(unread)) if unread else None,
    )  # fmt: skip


def _value(value: Any, what: str, unread: list[str], careful: bool) -> Any:
    """Return a value that becomes canonical JSON; what cannot be read goes to `unread`, with its reason before it."""
    if value is NOT_RECORDED:
        return None
    if type(value) is dict and not careful:
        return value
    if not isinstance(value, Unreadable):
        try:
            return canonical_json(value)
        except (ValueError, TypeError, RecursionError):
            value = read_arguments(value) if what == "arguments" else read_result(value)
    if isinstance(value, Unreadable):
        unread.insert(0, f"{what}: {value.reason}: {value.text}")
        return None
    return canonical_json(value)


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else canonical_json(value)


def _text(value: str | None) -> str | None:
    """Return text that a file can hold; a lone surrogate is spelled out."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _counts(drafts: Sequence[TrialDraft], steps: Sequence[tuple[Any, ...]]) -> dict[str, int]:
    place = {name: at for at, name in enumerate(_STEP)}
    calls = sum(step[place["kind"]] == "tool_call" for step in steps)
    return {
        "trials": len(drafts),
        "steps": len(steps),
        "tool_calls": calls,
        "steps_with_unread": sum(step[place["unread"]] is not None for step in steps),
        "trials_with_unread": sum(bool(draft.unread) for draft in drafts),
    }


def _origins(named: Iterable[Labelled]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for who in named:
        for name, origin in who.origin.items():
            found.setdefault(name, Counter())[origin] += 1
    return {name: dict(counts) for name, counts in found.items()}


def _said(drafts: Sequence[TrialDraft]) -> list[str]:
    """Return what the readers said, a line that several trials share once with their number."""
    where: dict[str, list[str]] = {}
    for draft in drafts:
        for line in dict.fromkeys(draft.said):
            where.setdefault(line, []).append(draft.source)
    return [
        _text(f"{line} ({sources[0] if len(sources) == 1 else f'{len(sources)} trials, the first {sources[0]}'})") or ""
        for line, sources in where.items()
    ]


def _tasks(drafts: Sequence[TrialDraft], named: Sequence[Labelled]) -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    owner: dict[str, str] = {}
    for draft, who in zip(drafts, named, strict=True):
        if draft.context is None:
            continue
        entry = {"context": dict(draft.context)}
        if who.task in tasks and canonical_json(tasks[who.task]) != canonical_json(entry):
            raise SchemaError(
                f"task {who.task!r}: {draft.source} and {owner[who.task]} disagree about what should have happened; "
                "give them different tasks"
            )
        tasks.setdefault(who.task, entry)
        owner.setdefault(who.task, draft.source)
    return tasks
