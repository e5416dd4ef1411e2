"""Two traces side by side, as a static table: what is the same, what differs, what failed, which fault was injected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.show.markup import Html, escape

__all__ = ["trace_pair"]

Pair = tuple[int | None, int | None]
LONGEST = 240
NEEDED = ("name", "arguments", "status")
STATUS_TEXT = {
    "ok": "",
    "failed": "failed",
    "blocked": "blocked, did not happen",
    "no_result": "no result; may have happened",
}
MARKS = {
    "same": ("=", "same"),
    "args": ("≠", "args"),
    "status": ("≠", "status"),
    "tool": ("≠", "tool"),
    "unknown": ("?", "args not recorded"),
    "gone": ("−", "gone"),
    "new": ("+", "new"),
}


@dataclass(frozen=True)
class _Step:
    position: int
    name: str
    arguments: dict[str, str] | None
    status: str
    error: str
    injected: str


def trace_pair(
    left_steps: pd.DataFrame,
    right_steps: pd.DataFrame,
    *,
    titles: tuple[str, str],
    pairs: Sequence[Pair] | None = None,
    caption: str | None = None,
) -> Html:
    """Show two traces side by side, aligned, with every difference marked in words.

    Arguments are compared as recorded: ``4500`` and ``4500.0`` differ. Whether a difference matters is for a rule.

    Parameters
    ----------
    left_steps, right_steps : pandas.DataFrame
        One row a step: ``name``, ``arguments`` (JSON object as text, missing when not recorded), ``status`` (``ok``,
        ``failed``, ``blocked``, ``no_result``); optional ``kind`` (shown when a step has no name), ``error`` and
        ``injected`` (name of an injected fault).
    titles : tuple of two str
        What stands left and right.
    pairs : sequence of (int or None, int or None), optional
        Which step (row position from 0) of the left stands beside which of the right; None is a gap. Every step of
        both sides must stand in one pair. By default steps are paired by position.
    caption : str, optional
        What the table holds; by default the two titles.

    Returns
    -------
    Html

    Raises
    ------
    ParameterError
        A column or a title lacks, arguments are not a JSON object, an unknown status, two empty traces, or pairs that
        leave a step out or name one twice.

    Examples
    --------
    >>> left = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4500.00}'], "status": ["failed"]})
    >>> right = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4500.00}'], "status": ["ok"]})
    >>> print(trace_pair(left, right, titles=("no retry", "retry")).text.splitlines()[2])
    ≠ status | 0 pay(amount=4500.00) [failed] | 0 pay(amount=4500.00)
    """
    if len(titles) != 2 or not all(isinstance(title, str) and title.strip() for title in titles):
        raise ParameterError(f"titles are two texts, left and right; found {titles!r}")
    left, right = _steps(left_steps, "left"), _steps(right_steps, "right")
    if not left and not right:
        raise ParameterError("both traces are empty: there is no step to show")
    chosen = _by_position(len(left), len(right)) if pairs is None else list(pairs)
    _check_pairs(chosen, len(left), len(right))
    rows = [(None if a is None else left[a], None if b is None else right[b]) for a, b in chosen]
    words = f"Two traces side by side: {titles[0]}, {titles[1]}" if caption is None else caption
    if not words.strip():
        raise ParameterError("the caption is empty; say what is compared, or leave it to the titles")
    return Html(_markup(rows, titles, words), _text(rows, titles, words))


def _steps(frame: pd.DataFrame, side: str) -> list[_Step]:
    lacking = [name for name in NEEDED if name not in frame.columns]
    if lacking:
        raise ParameterError(f"{side} trace: columns lacking {lacking}; a step needs {list(NEEDED)}")
    return [
        _step(record, f"{side} trace, step {place}", place) for place, record in enumerate(frame.to_dict("records"))
    ]


def _step(record: dict[Any, Any], where: str, position: int) -> _Step:
    if record["status"] not in STATUS_TEXT:
        raise ParameterError(f"{where}: status {record['status']!r} is unknown; allowed are {sorted(STATUS_TEXT)}")
    name, error, injected = (_words(record.get(column)) for column in ("name", "error", "injected"))
    name = name or _words(record.get("kind"))
    if not name:
        raise ParameterError(f"{where}: the step has neither a name nor a kind")
    return _Step(position, name, _arguments(record["arguments"], where), str(record["status"]), error, injected)


def _words(value: object) -> str:
    return "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)  # type: ignore[call-overload]


def _arguments(value: object, where: str) -> dict[str, str] | None:
    """Return each argument as canonical JSON text, so a number keeps the spelling it was recorded with."""
    if not _words(value):
        return None
    try:
        found = parse_json(str(value))
    except ValueError as error:
        raise ParameterError(f"{where}: arguments are not JSON ({error}): {str(value)[:60]!r}") from None
    if not isinstance(found, dict):
        raise ParameterError(f"{where}: arguments are a JSON object, not {str(value)[:60]!r}")
    return {name: canonical_json(inner) for name, inner in found.items()}


def _by_position(left: int, right: int) -> list[Pair]:
    return [(n if n < left else None, n if n < right else None) for n in range(max(left, right))]


def _check_pairs(pairs: Sequence[Pair], left: int, right: int) -> None:
    for place, side, count in ((0, "left", left), (1, "right", right)):
        named = sorted(pair[place] for pair in pairs if pair[place] is not None)  # type: ignore[type-var]
        if named != list(range(count)):
            raise ParameterError(
                f"pairs name {side} steps {named}; each of the {count} steps, counted from 0, must stand in one pair"
            )
    if any(pair == (None, None) for pair in pairs):
        raise ParameterError("a pair (None, None) shows nothing; leave it out")


def _kind(left: _Step | None, right: _Step | None) -> str:
    if left is None or right is None:
        return "new" if left is None else "gone"
    if left.name != right.name:
        return "tool"
    if left.arguments is None or right.arguments is None:
        return "unknown"
    if left.arguments != right.arguments:
        return "args"
    return "same" if left.status == right.status else "status"


def _differing(left: _Step | None, right: _Step | None) -> set[str]:
    if left is None or right is None or left.name != right.name or left.arguments is None or right.arguments is None:
        return set()
    names = {*left.arguments, *right.arguments}
    return {name for name in names if left.arguments.get(name) != right.arguments.get(name)}


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"


def _flags(step: _Step) -> list[tuple[str, str]]:
    """Return what is marked on a step, as (class, words): the fault it met, how it ended, the error it gave."""
    flags = []
    if step.injected:
        flags.append(("fault", f"injected fault: {_short(step.injected)}"))
    if step.status != "ok" or step.error:
        words = STATUS_TEXT[step.status] or "error"
        flags.append((step.status, f"{words}: {_short(step.error)}" if step.error else words))
    return flags


def _markup(rows: Sequence[tuple[_Step | None, _Step | None]], titles: tuple[str, str], words: str) -> str:
    body = []
    for left, right in rows:
        kind = _kind(left, right)
        sign, said = MARKS[kind]
        differing = _differing(left, right)
        mark = f'<th scope="row" class="pl-mark"><span class="pl-sign">{sign}</span> {said}</th>'
        body.append(f'<tr class="pl-row-{kind}">{mark}{_cell(left, differing)}{_cell(right, differing)}</tr>')
    caption = escape(words)
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ("Change", *titles))
    return (
        f'<div class="pl-table"><div class="pl-scroll" role="group" aria-label="{caption}" tabindex="0">'
        f'<table class="pl-pair"><caption><span>{caption}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div></div>"
    )


def _cell(step: _Step | None, differing: set[str]) -> str:
    if step is None:
        return '<td class="pl-gap">no step here</td>'
    lines = [f'<span class="pl-step"><span class="pl-pos">{step.position}</span> <b>{escape(step.name)}</b></span>']
    if step.arguments is None:
        lines.append('<span class="pl-args">arguments not recorded</span>')
    elif step.arguments:
        lines.append(f'<span class="pl-args">{_argument_markup(step.arguments, differing)}</span>')
    lines += [f'<span class="pl-flag pl-flag-{name}">{escape(words)}</span>' for name, words in _flags(step)]
    return f"<td>{''.join(lines)}</td>"


def _argument_markup(arguments: dict[str, str], differing: set[str]) -> str:
    shown = []
    for name, value in arguments.items():
        pair = f"<i>{escape(name)}</i> <bdi>{escape(_short(value))}</bdi>"
        shown.append(f'<span class="pl-arg">{f"<mark>{pair}</mark>" if name in differing else pair}</span>')
    return " ".join(shown)


def _text(rows: Sequence[tuple[_Step | None, _Step | None]], titles: tuple[str, str], words: str) -> str:
    lines = [words, f"change | {titles[0]} | {titles[1]}"]
    for left, right in rows:
        lines.append(" | ".join([" ".join(MARKS[_kind(left, right)]), _step_text(left), _step_text(right)]))
    return "\n".join(lines)


def _step_text(step: _Step | None) -> str:
    if step is None:
        return "(no step here)"
    inner = (
        "arguments not recorded"
        if step.arguments is None
        else ", ".join(f"{name}={_short(value)}" for name, value in step.arguments.items())
    )
    flags = [" ".join(words.split()) for _, words in _flags(step)]
    return f"{step.position} {step.name}({inner})" + (f" [{'; '.join(flags)}]" if flags else "")
