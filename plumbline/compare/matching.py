"""Calls against expected calls without regard to order: a pairing in which each call is used at most once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.pairing import best_pairing
from plumbline.compare.values import compare_call
from plumbline.compare.verdicts import as_html, check_word

__all__ = ["Call", "CallMatching", "match_calls"]

Call = tuple[str, Mapping[str, Any] | str | None]
ArgumentMode = Literal["equal", "contained", "ignored"]


@dataclass(frozen=True)
class CallMatching:
    """How many expected calls were made, and how many calls were expected.

    Parameters
    ----------
    pairs : tuple of (reference position, candidate position)
        The matched calls, each position at most once, in the order of the reference.
    references, candidates : int
        Number of expected calls and of calls made.
    """

    pairs: tuple[tuple[int, int], ...]
    references: int
    candidates: int

    @property
    def matched(self) -> int:
        """Number of pairs that agree."""
        return len(self.pairs)

    @property
    def precision(self) -> float | None:
        """Share of the calls made that were expected; None if none was made."""
        return self.matched / self.candidates if self.candidates else None

    @property
    def recall(self) -> float | None:
        """Share of the expected calls that were made; None if none was expected."""
        return self.matched / self.references if self.references else None

    @property
    def f1(self) -> float:
        """Matched calls over the mean number of calls; 1 if none was expected and none made."""
        total = self.references + self.candidates
        return 2 * self.matched / total if total else 1.0

    @property
    def all_met(self) -> bool:
        """Whether every expected call was made."""
        return self.matched == self.references

    @property
    def equal(self) -> bool:
        """Whether the two are equal as multisets: every expected call was made and no other."""
        return self.matched == self.references == self.candidates

    def __str__(self) -> str:
        return f"{self.matched} calls matched of {self.references} expected and {self.candidates} made"

    def _repr_html_(self) -> str:
        return as_html(self)


def match_calls(
    candidate: Sequence[Call],
    reference: Sequence[Call],
    *,
    rules: ArgumentRules | None = None,
    arguments: ArgumentMode = "equal",
) -> CallMatching:
    """Pair calls with expected calls, whatever their order, so that as many as possible agree.

    Parameters
    ----------
    candidate, reference : sequence of (tool, arguments)
        Calls made and calls expected; arguments are a mapping, JSON text, or None if not recorded.
    rules : ArgumentRules, optional
        Exact comparison of every field by default.
    arguments : {'equal', 'contained', 'ignored'}
        ``contained``: the call may have further top-level keys than the expected one.

    Returns
    -------
    CallMatching
        Calls whose arguments could not be judged are never matched.

    Examples
    --------
    >>> made = [("find", {"q": "x", "n": 5}), ("find", {"q": "x", "n": 9})]
    >>> match_calls(made, [("find", {}), ("find", {"n": 5})], arguments="contained").pairs
    ((0, 1), (1, 0))
    """
    check_word(arguments, ("equal", "contained", "ignored"), "arguments")
    made, expected = _calls(candidate, "candidate"), _calls(reference, "reference")
    cost = np.full((len(expected), len(made)), 2.0)
    extra = "ignored" if arguments == "contained" else "different"
    for i, (tool, wanted) in enumerate(expected):
        for j, (name, given) in enumerate(made):
            if tool != name:
                continue
            agrees = arguments == "ignored" or compare_call(given, wanted, tool=tool, rules=rules, extra=extra).equal
            cost[i, j] = 0.0 if agrees else 2.0
    pairs = tuple((i, j) for i, j in best_pairing(cost) if cost[i, j] == 0)
    return CallMatching(pairs, len(expected), len(made))


def _calls(calls: Sequence[Call], side: str) -> list[Call]:
    found: list[Call] = []
    for position, call in enumerate(calls):
        if isinstance(call, str) or not isinstance(call, Sequence) or len(call) != 2 or not isinstance(call[0], str):
            raise ParameterError(f"{side} call {position} is {call!r}; give (tool, arguments).")
        found.append((call[0], call[1]))
    return found
