"""Temporal rules from their definitions: LTLf formulas, evaluated on every world in which the record could be true.

A formula is evaluated on a finite word, letter by letter, with no idea of how the engine does it. A world is a choice,
for each call without a result, of whether it happened, and, for each call whose arguments are not on record, of whose
it is and whether it meets the condition.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["ACTIVATING", "FORMULAS", "Call", "holds", "verdicts", "worlds"]


class Call(NamedTuple):
    """A call as drawn; `entity` None: it names none. `read` is false where its arguments are not on record."""

    name: str
    entity: str | None = None
    meets: bool = True
    status: str = "ok"
    read: bool = True


Word = Sequence[Call]


def holds(formula: Any, word: Word, at: int) -> bool:
    """Evaluate an LTLf formula with past at a position of a word; X and Y are the strong ones."""
    if callable(formula):
        return at < len(word) and formula(word[at])
    op, *args = formula
    later = range(at, len(word))
    if op == "not":
        return not holds(args[0], word, at)
    if op == "and":
        return all(holds(one, word, at) for one in args)
    if op == "or":
        return any(holds(one, word, at) for one in args)
    if op == "implies":
        return not holds(args[0], word, at) or holds(args[1], word, at)
    if op == "X":
        return at + 1 < len(word) and holds(args[0], word, at + 1)
    if op == "Y":
        return at > 0 and holds(args[0], word, at - 1)
    if op == "F":
        return any(holds(args[0], word, i) for i in later)
    if op == "G":
        return all(holds(args[0], word, i) for i in later)
    if op == "U":
        return any(holds(args[1], word, i) and all(holds(args[0], word, j) for j in range(at, i)) for i in later)
    if op == "W":
        return holds(("G", args[0]), word, at) or holds(("U", *args), word, at)
    if op == "S":
        return any(
            holds(args[1], word, i) and all(holds(args[0], word, j) for j in range(i + 1, at + 1))
            for i in range(at, -1, -1)
        )
    raise ValueError(op)


def _a(call: Call) -> bool:
    return call.name == "a"


def _b(call: Call) -> bool:
    return call.name == "b"


def _a_if(call: Call) -> bool:
    return call.name == "a" and call.meets


def _b_if(call: Call) -> bool:
    return call.name == "b" and call.meets


FORMULAS: dict[str, Any] = {
    "existence": ("F", _a),
    "absence": ("not", ("F", _a)),
    "absence2": ("not", ("F", ("and", _a, ("X", ("F", _a))))),
    "absence3": ("not", ("F", ("and", _a, ("X", ("F", ("and", _a, ("X", ("F", _a)))))))),
    "response": ("G", ("implies", _a_if, ("F", _b))),
    "precedence": ("W", ("not", _b_if), _a),
    "succession": ("and", ("G", ("implies", _a, ("F", _b))), ("W", ("not", _b), _a)),
    "alternate response": ("G", ("implies", _a_if, ("X", ("U", ("not", _a_if), _b)))),
    "alternate precedence": ("G", ("implies", _b_if, ("Y", ("S", ("not", _b_if), _a)))),
    "chain response": ("G", ("implies", _a_if, ("X", _b))),
    "chain precedence": ("G", ("implies", _b_if, ("Y", _a))),
    "not succession": ("G", ("implies", _a_if, ("not", ("F", _b)))),
    "responded existence": ("implies", ("F", _a_if), ("F", _b)),
    "co-existence": ("and", ("implies", ("F", _a), ("F", _b)), ("implies", ("F", _b), ("F", _a))),
    "not co-existence": ("not", ("and", ("F", _a), ("F", _b))),
}
for _one in ("alternate", "chain"):
    FORMULAS[f"{_one} succession"] = ("and", FORMULAS[f"{_one} response"], FORMULAS[f"{_one} precedence"])

ACTIVATING: dict[str, Any] = {
    name: _b_if if name.endswith("precedence") else ("or", _a, _b) if name == "not co-existence" else _a_if
    for name in FORMULAS
}
"""Which calls put a template to the test; without one it is vacuous."""


def worlds(calls: Sequence[Call], entities: Sequence[str]) -> Iterator[list[Call]]:
    """Every world in which the record could be true."""
    options = []
    for call in calls:
        if call.status not in ("ok", "no_result"):
            continue
        ways: list[Call | None] = [call]
        if not call.read:
            whose = (*entities, "another", None)
            ways = [call._replace(entity=e, meets=m) for e in whose for m in (True, False)]
        options.append([*ways, None] if call.status == "no_result" else ways)
    for choice in itertools.product(*options):
        yield [call for call in choice if call is not None]


def verdicts(template: str, calls: Sequence[Call], *, by: bool, entities: Sequence[str] = ("x", "y")) -> set[str]:
    """The verdicts of a template in all worlds."""
    return {in_world(template, world, by=by) for world in worlds(calls, entities)}


def in_world(template: str, world: Sequence[Call], *, by: bool) -> str:
    words = [world]
    if by:
        named = dict.fromkeys(call.entity for call in world if call.entity is not None)
        words = [[call for call in world if call.entity == one] for one in named]
        words += [[call] for call in world if call.entity is None]
    if not any(holds(ACTIVATING[template], word, i) for word in words for i in range(len(word))):
        return "vacuous"
    return "held" if all(holds(FORMULAS[template], word, 0) for word in words) else "violated"
