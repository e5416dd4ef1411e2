"""Which trial an execution is: labels from the caller, a table, or the trace itself, in that order."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.base.schema import trial_id
from plumbline.exchange.drafts import TrialDraft

__all__ = ["Label", "LabelRules", "Labelled", "Numbering", "label_rules", "labelled"]

Label = str | Mapping[str, str] | Callable[[TrialDraft], str] | None
"""Text, ``{"attribute": NAME}`` of the trace, or a function of the draft; None for what the trace says."""

_NAMES = ("arm", "task", "family", "perturbation", "variant", "repetition")
_KEYS = ("trace_id", "source")
_DEFAULT_ARM = "agent"


@dataclass(frozen=True)
class LabelRules:
    """Where each label comes from, checked; `table` holds labels by trace id or source."""

    rules: Mapping[str, Label]
    table: Mapping[str, Mapping[str, str]]
    table_name: str | None = None


@dataclass(frozen=True)
class Labelled:
    """One trial's identity, and where each label came from: ``given``, ``table``, ``trace`` or ``default``."""

    arm: str
    task: str
    family: str
    perturbation: str
    variant: str
    repetition: int
    origin: Mapping[str, str]


def label_rules(
    *,
    arm: Label = None,
    task: Label = None,
    family: Label = None,
    perturbation: Label = None,
    labels: str | Path | Mapping[str, Mapping[str, str]] | None = None,
) -> LabelRules:
    """Check where labels come from.

    Raises
    ------
    ParameterError
        A label that is neither text, ``{"attribute": NAME}`` nor a function; a table with unknown columns or without a
        key.

    Examples
    --------
    >>> rules = label_rules(arm="react", task={"attribute": "case.id"}, labels={"t1": {"perturbation": "reworded"}})
    >>> draft = TrialDraft(source="f: t1", attributes={"trace_id": "t1", "case.id": "INV-7002"})
    >>> [(x.arm, x.task, x.perturbation) for x in labelled([draft], rules)]
    [('react', 'INV-7002', 'reworded')]
    """
    rules: dict[str, Label] = {"arm": arm, "task": task, "family": family, "perturbation": perturbation}
    for name, rule in rules.items():
        if isinstance(rule, Mapping) and (list(rule) != ["attribute"] or not isinstance(rule["attribute"], str)):
            raise ParameterError(f'{name}={rule!r}: write {{"attribute": NAME}} for an attribute of the trace')
        if not (rule is None or isinstance(rule, str | Mapping) or callable(rule)):
            raise ParameterError(f"{name} must be text, an attribute mapping or a function; found {rule!r}")
    if labels is None:
        return LabelRules(rules, {})
    if isinstance(labels, Mapping):
        return LabelRules(rules, {str(k): _row(v, f"labels[{k!r}]") for k, v in labels.items()}, "labels")
    return LabelRules(rules, _table(Path(labels)), Path(labels).name)


@dataclass
class Numbering:
    """Which repetitions are taken, by whom, and which number each cell goes on with; names are kept as digests."""

    taken: dict[bytes, str] = field(default_factory=dict)
    following: dict[bytes, int] = field(default_factory=dict)


def labelled(drafts: Sequence[TrialDraft], rules: LabelRules, *, numbering: Numbering | None = None) -> list[Labelled]:
    """Return the identity of each draft; repetitions count up in order of appearance where they are not given.

    Raises
    ------
    ParameterError
        A label cannot be had, or two drafts claim to be the same repetition; the message names their sources.
    """
    used = {key for draft in drafts for key in _keys(draft)}
    if numbering is None and rules.table and (lost := [key for key in rules.table if key not in used]):
        raise ParameterError(
            f"{rules.table_name}: {len(lost)} of {len(rules.table)} rows match no trial, the first {lost[0]!r}; "
            f"keys are trace ids or sources such as {_keys(drafts[0])[0] if drafts else '(no trial was read)'!r}"
        )
    found = [_identity(draft, rules) for draft in drafts]
    _no_confusion(found)
    return _numbered(drafts, found, numbering or Numbering())


def _identity(draft: TrialDraft, rules: LabelRules) -> dict[str, Any]:
    row = next((rules.table[key] for key in _keys(draft) if key in rules.table), {})
    said: dict[str, Any] = {"origin": {}}
    for name in _NAMES:
        value, origin = _label(name, draft, rules.rules.get(name), row)
        said[name] = value
        said["origin"][name] = origin
    said["family"] = said["task"] if said["family"] is None else said["family"]
    return said


def _label(name: str, draft: TrialDraft, rule: Label, row: Mapping[str, str]) -> tuple[Any, str]:
    if rule is not None:
        return _plain(name, _applied(name, draft, rule), draft), "given"
    if row.get(name):
        return (_whole(row[name], draft) if name == "repetition" else _plain(name, row[name], draft)), "table"
    own = getattr(draft.labels, name)
    if own is not None:
        return (own if name == "repetition" else _plain(name, own, draft)), "trace"
    defaults = {"arm": _DEFAULT_ARM, "task": _keys(draft)[0], "perturbation": "baseline", "variant": "0"}
    value = defaults.get(name)
    return (value if value is None else _plain(name, value, draft)), "default"


def _applied(name: str, draft: TrialDraft, rule: Any) -> Any:
    if isinstance(rule, str):
        return rule
    if callable(rule):
        return rule(draft)
    attribute = rule["attribute"]
    if attribute not in draft.attributes:
        listed = ", ".join(sorted(map(str, draft.attributes))[:20]) or "none"
        raise ParameterError(f"{draft.source} has no attribute {attribute!r} for {name}; it has: {listed}")
    return draft.attributes[attribute]


def _plain(name: str, value: Any, draft: TrialDraft) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        raise ParameterError(f"{draft.source}: {name} must be text that is not empty; found {value!r}")
    if value.__class__ is str and value.isascii() and "/" not in value:
        return value
    value = value.encode("utf-8", "backslashreplace").decode()
    return value.replace("/", "%2F")  # '/' separates the parts of a trial's id


def _whole(text: str, draft: TrialDraft) -> int:
    if not text.isdecimal():
        raise ParameterError(f"{draft.source}: repetition must be a whole number from 0; found {text!r}")
    return int(text)


def _keys(draft: TrialDraft) -> list[str]:
    trace = draft.attributes.get("trace_id")
    return [*([trace] if isinstance(trace, str) and trace else []), draft.source]


def _no_confusion(found: Sequence[Mapping[str, Any]]) -> None:
    for name in ("arm", "task", "family", "perturbation", "variant"):
        values = {row[name] for row in found}
        if any("%2F" in value and value.replace("%2F", "/") in values for value in values):
            raise ParameterError(
                f"{name}: two labels differ only by '/' and '%2F', which a trial's id cannot keep apart"
            )


def _numbered(drafts: Sequence[TrialDraft], found: Sequence[dict[str, Any]], numbering: Numbering) -> list[Labelled]:
    taken, following = numbering.taken, numbering.following
    cells = [(row["arm"], row["task"], row["perturbation"], row["variant"]) for row in found]
    for draft, row, cell in zip(drafts, found, cells, strict=True):
        if row["repetition"] is None:
            continue
        name = trial_id(*cell, row["repetition"])
        key = _digest(name)
        if key in taken:
            raise ParameterError(
                f"{draft.source} and {taken[key]} are both {name}; give each execution its own repetition, arm, task "
                "or perturbation"
            )
        taken[key] = draft.source
    made = []
    for draft, row, cell in zip(drafts, found, cells, strict=True):
        number = row["repetition"]
        if number is None:
            of_cell = _digest("/".join(cell))
            number = following.get(of_cell, 0)
            while (key := _digest(trial_id(*cell, number))) in taken:
                number += 1
            taken[key] = draft.source
            following[of_cell] = number + 1
        made.append(Labelled(**(row | {"repetition": number})))
    return made


def _digest(name: str) -> bytes:
    """Return what stands for a name where many are held: no two names have been found that share it."""
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def _table(path: Path) -> dict[str, Mapping[str, str]]:
    if not path.is_file():
        raise NotFoundError(f"there is no label file {str(path)!r}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path.name} is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    names = list(reader.fieldnames or [])
    keys = [name for name in names if name in _KEYS]
    unknown = [name for name in names if name not in (*_KEYS, *_NAMES)]
    if len(keys) != 1 or unknown or len(set(names)) != len(names):
        raise ParameterError(
            f"{path.name} has the columns {names}; it needs one key (trace_id or source) and of {', '.join(_NAMES)} "
            "those that it labels"
        )
    table: dict[str, Mapping[str, str]] = {}
    try:
        for row in reader:
            key = row.pop(keys[0])
            if not key or None in row or None in row.values():
                raise ParameterError(f"{path.name} line {reader.line_num}: {len(names)} fields and a key are needed")
            if key in table:
                raise ParameterError(f"{path.name} line {reader.line_num}: {key!r} stands twice")
            table[key] = row
    except csv.Error as error:
        raise ParameterError(f"{path.name} line {reader.line_num}: not CSV ({error})") from None
    return table


def _row(given: Mapping[str, str], what: str) -> Mapping[str, str]:
    if not isinstance(given, Mapping) or (unknown := [name for name in given if name not in _NAMES]):
        found = given if not isinstance(given, Mapping) else unknown
        raise ParameterError(f"{what}: found {found!r}; allowed are {', '.join(_NAMES)}")
    return {name: str(value) for name, value in given.items()}
