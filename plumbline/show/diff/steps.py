"""What a diff knows of one step and of one aligned pair of steps; renderers read nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.compare.fields import parse_path
from plumbline.show.diff.words import KIND_WORDS, STATUS_WORDS, short, two_values

__all__ = ["DiffRow", "FieldDifference", "ShownStep", "Witness", "read_steps", "text_of"]

NEEDED: Final = ("name", "arguments", "status")


@dataclass(frozen=True)
class Witness:
    """One violation: the rule, how severe it is, what was expected and what was found."""

    rule: str
    severity: str
    expected: str
    observed: str

    def __str__(self) -> str:
        return f"{self.rule} ({self.severity})"

    def lines(self) -> list[tuple[str, str]]:
        """Return what a reader is told, as (class, words)."""
        told = f"expected {short(self.expected)}; found {short(self.observed)}"
        return [(f"violation-{self.severity}", f"✗ violates {self}"), ("why", told)]


@dataclass(frozen=True)
class ShownStep:
    """One step of one trace.

    Parameters
    ----------
    position : int
        Row in its steps frame, from 0.
    step : int
        Number as recorded.
    kind, name : str
        Kind of event, and the tool, decision or agent; the kind where there is no name.
    arguments : dict or None
        Each argument as canonical JSON text, so that a number keeps the spelling it was recorded with; None if they
        were not recorded.
    unread : str
        Arguments as found where they could not be read; empty otherwise.
    result : str or None
        Canonical JSON text.
    status, error_type, error, injected, agent, evidence : str
        As recorded; empty where nothing is.
    group : int or None
        Parallel calls of one turn share it.
    parallel : tuple of int
        Place in its parallel group from 1, and the size of the group; ``(0, 0)`` for a step alone.
    witnesses : tuple of Witness
        Rules that this step violates.
    """

    position: int
    step: int
    kind: str
    name: str
    arguments: dict[str, str] | None
    unread: str
    result: str | None
    status: str
    error_type: str
    error: str
    injected: str
    agent: str
    evidence: str
    group: int | None = None
    parallel: tuple[int, int] = (0, 0)
    witnesses: tuple[Witness, ...] = ()

    @property
    def label(self) -> tuple[str, str]:
        """The kind in words, empty for a tool call, and the name; one of them where the step has no name."""
        words = KIND_WORDS[self.kind]
        return ("", words or self.name) if self.kind == self.name else (words, self.name)

    def flags(self) -> list[tuple[str, str]]:
        """Return what is marked on the step, as (class, words): its fault, how it ended, its error, its violations."""
        found = []
        if self.injected:
            found.append(("fault", f"injected fault: {short(self.injected)}"))
        if self.status != "ok" or self.error:
            words = STATUS_WORDS[self.status] or "error"
            found.append((self.status, f"{words}: {short(self.error)}" if self.error else words))
        if self.unread:
            found.append(("unread", f"could not be read: {short(self.unread)}"))
        for witness in self.witnesses:
            found += witness.lines()
        return found


@dataclass(frozen=True)
class FieldDifference:
    """One argument that differs inside a pair of steps; values as canonical JSON text, ``<missing>`` for none."""

    field: str
    verdict: str
    severity: str
    counted: bool
    left: str
    right: str
    times: str
    reason: str

    @property
    def top(self) -> str:
        """The argument that the field is in."""
        return str(parse_path(self.field)[0]) if self.field else ""

    def words(self) -> str:
        """Say the difference in one line."""
        times = f" ({self.times})" if self.times else ""
        uncounted = "" if self.counted else ", not counted by the rules"
        shown = f"{self.field or 'arguments'}: {two_values(self.left, self.right)}{times}"
        return f"{shown}; {self.reason}{uncounted}" if self.reason else f"{shown}{uncounted}"


@dataclass(frozen=True)
class DiffRow:
    """One aligned pair of steps, or one step beside a gap.

    Parameters
    ----------
    edit : str
        ``match``, ``substitute``, ``skipped``, ``extra``, ``moved`` or ``repeated``.
    left, right : ShownStep or None
    arguments : str
        Verdict on the arguments of a pair (``equal``, ``different``, ``unreadable``, ``not_recorded``), or empty.
    differences : tuple of FieldDifference
    note : str
        What the alignment says of the row.
    """

    edit: str
    left: ShownStep | None
    right: ShownStep | None
    arguments: str = ""
    differences: tuple[FieldDifference, ...] = ()
    note: str = ""

    @property
    def mark(self) -> str:
        """The key of the row's mark in ``MARKS``."""
        plain = {"skipped": "gone", "extra": "new", "substitute": "tool", "repeated": "repeated"}
        if self.edit in plain:
            return plain[self.edit]
        by_arguments = {"different": "args", "not_recorded": "unknown", "unreadable": "unreadable"}
        found = by_arguments.get(self.arguments, "same")
        if self.edit == "moved":
            return "moved_args" if found == "args" else "moved"
        found = "allowed" if found == "same" and self.differences else found
        if found not in ("same", "allowed") or self.left is None or self.right is None:
            return found
        if self.left.status != self.right.status:
            return "status"
        told = self.left.kind in ("message", "thought", "final") and self.left.result != self.right.result
        return "words" if told else found

    @property
    def differs(self) -> bool:
        """Whether the two sides differ, or cannot be shown to agree."""
        return self.mark not in ("same", "allowed")

    @property
    def violates(self) -> bool:
        """Whether a step of the row violates a rule."""
        return any(side is not None and side.witnesses for side in (self.left, self.right))

    @property
    def marked(self) -> frozenset[str]:
        """Names of the arguments that differ."""
        return frozenset(found.top for found in self.differences)

    def notes(self) -> list[str]:
        """Return what is said below the row."""
        found = [self.note] if self.note else []
        left, right = self.left, self.right
        if left is not None and right is not None and left.kind == "tool_call" and self.edit in ("match", "moved"):
            both = left.result is not None and right.result is not None
            if both and left.status == right.status and left.result != right.result:
                found.append("the two results differ")
        return found


def read_steps(frame: pd.DataFrame, side: str) -> list[ShownStep]:
    """Return the steps of one trace, without violations.

    Raises
    ------
    ParameterError
        A column lacks, arguments are not a JSON object, a status is unknown, or a step has neither name nor kind.
    """
    lacking = [name for name in NEEDED if name not in frame.columns]
    if lacking:
        raise ParameterError(f"{side} trace: columns lacking {lacking}; a step needs {list(NEEDED)}")
    records = frame.to_dict("records")
    places = _parallel([_number(record.get("group")) for record in records])
    return [_step(record, f"{side} trace, step {place}", place, places[place]) for place, record in enumerate(records)]


def _step(record: dict[Any, Any], where: str, position: int, parallel: tuple[int, int]) -> ShownStep:
    if record["status"] not in STATUS_WORDS:
        raise ParameterError(f"{where}: status {record['status']!r} is unknown; allowed are {sorted(STATUS_WORDS)}")
    texts = [text_of(record.get(name)) for name in ("unread", "error_type", "error", "injected", "agent", "evidence")]
    unread, error_type, error, injected, agent, evidence = texts
    kind = text_of(record.get("kind"))
    if kind and kind not in KIND_WORDS:
        raise ParameterError(f"{where}: kind {kind!r} is unknown; allowed are {sorted(KIND_WORDS)}")
    name = text_of(record.get("name")) or kind
    if not name:
        raise ParameterError(f"{where}: the step has neither a name nor a kind")
    arguments = _arguments(record["arguments"], where)
    number = _number(record.get("step"))
    return ShownStep(
        position=position,
        step=position if number is None else number,
        kind=kind or "tool_call",
        name=name,
        arguments=arguments,
        result=text_of(record.get("result")) or None,
        status=str(record["status"]),
        group=_number(record.get("group")),
        parallel=parallel,
        unread=unread,
        error_type=error_type,
        error=error,
        injected=injected,
        agent=agent,
        evidence=evidence,
    )


def text_of(value: object) -> str:
    """Return a cell as text, empty where it is missing."""
    return "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)  # type: ignore[call-overload]


def _number(value: Any) -> int | None:
    return None if value is None or pd.isna(value) else int(value)


def _arguments(value: object, where: str) -> dict[str, str] | None:
    if not text_of(value):
        return None
    try:
        found = parse_json(str(value))
    except ValueError as error:
        raise ParameterError(f"{where}: arguments are not JSON ({error}): {str(value)[:60]!r}") from None
    if not isinstance(found, dict):
        raise ParameterError(f"{where}: arguments are a JSON object, not {str(value)[:60]!r}")
    return {name: canonical_json(inner) for name, inner in found.items()}


def _parallel(groups: list[int | None]) -> list[tuple[int, int]]:
    """Place of each step in its parallel group, and the size of the group; a group of one is no group."""
    sizes: dict[int, int] = {}
    for group in groups:
        if group is not None:
            sizes[group] = sizes.get(group, 0) + 1
    seen: dict[int, int] = {}
    places = []
    for group in groups:
        if group is None or sizes[group] < 2:
            places.append((0, 0))
            continue
        seen[group] = seen.get(group, 0) + 1
        places.append((seen[group], sizes[group]))
    return places
