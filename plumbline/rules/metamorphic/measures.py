"""What a relation looks at in a trial: arguments of calls, the outcome, the path, the last words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import RelationError
from plumbline.rules.metamorphic.language import language_of

__all__ = ["Behaviour", "Call", "Measured", "checked_measure", "measure"]


@dataclass(frozen=True)
class Call:
    """One tool call of a trial: its step, tool, arguments (None: not on record) and status."""

    step: int
    name: str
    arguments: Mapping[str, Any] | None
    status: str = "ok"


@dataclass(frozen=True)
class Behaviour:
    """What one trial did, as an oracle sees it.

    Parameters
    ----------
    trial_id : str
        Which trial.
    status : str
        Of the trial; only ``completed`` and ``agent_error`` are behaviour.
    calls : tuple of Call
        In order.
    outcome : mapping or None
        Terminal state of the system of record.
    text : str or None
        Last words.
    text_step : int or None
        The step that said them.
    """

    trial_id: str
    status: str = "completed"
    calls: tuple[Call, ...] = ()
    outcome: Mapping[str, Any] | None = None
    text: str | None = None
    text_step: int | None = None

    @property
    def behaved(self) -> bool:
        """Whether the trial says anything about the agent."""
        return self.status in ("completed", "agent_error")

    @property
    def path(self) -> tuple[str, ...]:
        """Tools called with success, in order."""
        return tuple(call.name for call in self.calls if call.status == "ok")

    @classmethod
    def read(cls, trial: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Behaviour:
        """Read a trial from its row and its steps."""
        calls, said = [], None
        for step in steps:
            if step["kind"] == "tool_call":
                given = None if _empty(step["arguments"]) else parse_json(step["arguments"])
                calls.append(Call(int(step["step"]), step["name"], given, step["status"] or "ok"))
            elif step["kind"] == "final":
                said = int(step["step"])
        outcome = None if _empty(trial["outcome"]) else parse_json(trial["outcome"])
        text = None if _empty(trial["final_output"]) else str(trial["final_output"])
        return cls(str(trial["trial_id"]), str(trial["status"]), tuple(calls), outcome, text, said)


def _empty(value: Any) -> bool:
    return not isinstance(value, str)


@dataclass(frozen=True)
class Measured:
    """A value read from a trial, the step it comes from, and why it could not be read (empty if it could)."""

    value: Any = None
    step: int | None = None
    trouble: str = ""


_TAKES: Mapping[str, tuple[str, ...]] = {
    "calls": ("sum", "count", "first", "last", "max", "list", "set", "size"),
    "path": ("list", "set"),
    "outcome": (),
    "text": ("citations", "language", "numbers", "identifiers", "whole"),
}
_CITED = re.compile(r"\[([A-Z]+-?[0-9]+)\]")
_NUMBER = re.compile(r"(?<![\w.,-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w-])")
_IDENTIFIER = re.compile(r"\b[A-Z]{1,6}-[0-9]+\b")


def checked_measure(spec: Any) -> dict[str, Any]:
    """Return the description of a measure, or refuse it.

    Parameters
    ----------
    spec : mapping
        ``{"of": "calls", "tool": "schedule_payment", "argument": "amount", "take": "sum"}`` (``sum``, ``count``,
        ``first``, ``last``, ``max``, ``list``, ``set``, ``size``: how many different ones);
        ``{"of": "outcome", "field": "paid"}``; ``{"of": "path", "take": "list"}``;
        ``{"of": "text", "take": "citations"}`` (``citations``, ``language``, ``numbers``, ``identifiers``, ``whole``).

    Raises
    ------
    RelationError
        It is none of these.
    """
    if not isinstance(spec, Mapping) or spec.get("of") not in _TAKES:
        raise RelationError(f"a measure is of {', '.join(_TAKES)}; found {spec!r}")
    of, take = spec["of"], spec.get("take")
    needed = {"calls": ("tool",), "outcome": ("field",)}.get(of, ())
    if lost := [name for name in needed if not spec.get(name)]:
        raise RelationError(f"a measure of {of} needs {', '.join(lost)}; found {dict(spec)!r}")
    if _TAKES[of] and take not in _TAKES[of]:
        raise RelationError(f"a measure of {of} takes one of {', '.join(_TAKES[of])}; found {take!r}")
    if of == "calls" and take != "count" and not spec.get("argument"):
        raise RelationError(f"a measure of calls that takes {take!r} needs an argument; found {dict(spec)!r}")
    if odd := sorted(set(spec) - {"of", "take", "tool", "argument", "field", "languages"}):
        raise RelationError(f"a measure of {of} does not know {odd}; found {dict(spec)!r}")
    return dict(spec)


def measure(spec: Mapping[str, Any], behaviour: Behaviour) -> Measured:
    """Read one measure from a trial.

    Parameters
    ----------
    spec : mapping
        See ``checked_measure``.
    behaviour : Behaviour
        The trial.

    Returns
    -------
    Measured
        ``trouble`` says why nothing could be read: a call without a result, arguments that are not on record.

    Examples
    --------
    >>> paid = Behaviour("a", calls=(Call(3, "pay", {"amount": Decimal("4.50")}), Call(5, "pay", {"amount": 2})))
    >>> measure({"of": "calls", "tool": "pay", "argument": "amount", "take": "sum"}, paid)
    Measured(value=Decimal('6.50'), step=5, trouble='')
    """
    return _READERS[spec["of"]](spec, behaviour)


def _calls(spec: Mapping[str, Any], seen: Behaviour) -> Measured:
    mine = [call for call in seen.calls if call.name == spec["tool"] and call.status in ("ok", "no_result")]
    if doubtful := [call for call in mine if call.status == "no_result"]:
        return Measured(step=doubtful[0].step, trouble=f"a call of {spec['tool']} without a result may have happened")
    last = mine[-1].step if mine else None
    if spec["take"] == "count":
        return Measured(len(mine), last)
    if any(call.arguments is None for call in mine):
        return Measured(step=last, trouble=f"the arguments of a call of {spec['tool']} are not on record")
    values = [(call.arguments or {}).get(spec["argument"]) for call in mine]
    return _taken(spec, values, mine, last)


def _taken(spec: Mapping[str, Any], values: list[Any], calls: list[Call], last: int | None) -> Measured:
    take = spec["take"]
    if take in ("list", "set", "size"):
        flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
        different = _set(flat)
        return Measured(flat if take == "list" else different if take == "set" else len(different), last)
    if take in ("first", "last"):
        at = 0 if take == "first" else -1
        return Measured(values[at], calls[at].step) if values else Measured(None, None)
    numbers = [number(value) for value in values]
    if any(found is None for found in numbers):
        return Measured(step=last, trouble=f"{spec['argument']} of {spec['tool']} is no number: {values!r}")
    exact = [found for found in numbers if found is not None]
    if take == "sum":
        return Measured(sum(exact, Decimal(0)), last)
    return Measured(max(exact), calls[exact.index(max(exact))].step) if exact else Measured(None, None)


def number(value: Any) -> Decimal | None:
    """Return a number exactly, None if the value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _set(values: Sequence[Any]) -> list[Any]:
    return sorted({repr(value): value for value in values}.values(), key=repr)


def _outcome(spec: Mapping[str, Any], seen: Behaviour) -> Measured:
    last = seen.calls[-1].step if seen.calls else None
    if seen.outcome is None or spec["field"] not in seen.outcome:
        return Measured(step=last, trouble=f"the outcome holds no {spec['field']!r}")
    return Measured(seen.outcome[spec["field"]], last)


def _path(spec: Mapping[str, Any], seen: Behaviour) -> Measured:
    last = seen.calls[-1].step if seen.calls else None
    return Measured(list(seen.path) if spec["take"] == "list" else sorted(set(seen.path)), last)


def _text(spec: Mapping[str, Any], seen: Behaviour) -> Measured:
    if seen.text is None:
        return Measured(step=seen.text_step, trouble="no last words are on record")
    take, text = spec["take"], seen.text
    if take == "whole":
        return Measured(text, seen.text_step)
    if take == "language":
        found, trouble = language_of(text, spec.get("languages") or ())
        return Measured(found, seen.text_step, trouble)
    if take == "numbers":
        bare = _CITED.sub(" ", text)
        return Measured(
            sorted({str(Decimal(n.replace(",", "")).normalize()) for n in _NUMBER.findall(bare)}), seen.text_step
        )
    return Measured(sorted(set((_CITED if take == "citations" else _IDENTIFIER).findall(text))), seen.text_step)


_READERS: Mapping[str, Callable[[Mapping[str, Any], Behaviour], Measured]] = {
    "calls": _calls, "outcome": _outcome, "path": _path, "text": _text,
}  # fmt: skip
