"""What stands at each step of a path besides its name: argument text, result, parallel group, status, step number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.canonical import parse_json
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.paths import Paths
from plumbline.compare.refine import Pair, Side
from plumbline.compare.texts import Texts, distinct
from plumbline.compare.tools import CallFacts, ToolTraits, may_swap
from plumbline.compare.values import CallComparison, compare_call

__all__ = ["DIFFERENT", "EQUAL", "UNTOLD", "StepFacts", "TextJudge", "argument_texts", "canonical_groups", "step_facts"]

EQUAL, DIFFERENT, UNTOLD = range(3)


@dataclass(frozen=True, eq=False)
class StepFacts:
    """The columns of a steps frame that an alignment reads, in the order of its rows.

    Parameters
    ----------
    arguments, results : Texts
        Codes per row; the arguments of candidate and reference share one list of texts.
    group : ndarray of int64
        Parallel group, -1 if none is recorded.
    step : ndarray of int64
        Step number within the trial.
    status : ndarray of object
        Status, None if it is not recorded.
    """

    arguments: Texts
    results: Texts
    group: np.ndarray
    step: np.ndarray
    status: np.ndarray


def argument_texts(candidate: pd.DataFrame, reference: pd.DataFrame) -> tuple[Texts, Texts]:
    """Return the argument texts of two steps frames, as codes of one list."""
    new, old = distinct(_column(candidate, "arguments"), _column(reference, "arguments"), name="arguments")
    return new, old


def step_facts(
    candidate: pd.DataFrame, reference: pd.DataFrame, arguments: tuple[Texts, Texts]
) -> tuple[StepFacts, StepFacts]:
    """Return the facts of two steps frames; an absent column is one in which nothing is recorded."""
    frames = (candidate, reference)
    results = distinct(*(_column(frame, "result") for frame in frames), name="result")
    found = []
    for frame, argument, result in zip(frames, arguments, results, strict=True):
        numbers = _column(frame, "group").to_numpy(dtype="float64", na_value=np.nan)
        groups = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
        status = _column(frame, "status").astype(object).where(lambda each: each.notna(), None).to_numpy()
        found.append(StepFacts(argument, result, groups, frame["step"].to_numpy().astype(np.int64), status))
    return found[0], found[1]


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    return frame[name] if name in frame else pd.Series([None] * len(frame), index=frame.index, dtype=object)


def canonical_groups(paths: Paths, facts: StepFacts) -> Paths | None:
    """Return the paths with the calls of each parallel group in an order that does not depend on the record.

    Calls of one group have no order among themselves, so they are put in that of their names and arguments. None if
    no group holds two steps next to each other.
    """
    group = facts.group[paths.rows]
    trial = np.repeat(np.arange(len(paths)), paths.lengths)
    joined = (group[1:] == group[:-1]) & (group[1:] >= 0) & (trial[1:] == trial[:-1])
    if not joined.any():
        return None
    run = np.concatenate([[0], np.cumsum(~joined)])
    names = _ranks([str(symbol) for symbol in paths.symbols])
    texts = np.append(_ranks(facts.arguments.values), -1)
    order = np.lexsort((texts[facts.arguments.codes[paths.rows]], names[paths.codes], run))
    return replace(paths, codes=paths.codes[order], rows=paths.rows[order])


def _ranks(words: Sequence[str]) -> np.ndarray:
    """The place of each word among all of them in alphabetical order."""
    order = np.argsort(np.array([*words, ""], object)[:-1], kind="stable")
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def side_of(paths: Paths, facts: StepFacts, position: int) -> Side:
    """Return one path with the argument text and the group of each step."""
    here = slice(paths.offsets[position], paths.offsets[position + 1])
    rows = paths.rows[here]
    return Side(paths.codes[here].tolist(), facts.arguments.codes[rows].tolist(), facts.group[rows].tolist())


class TextJudge:
    """Comparisons of argument texts under rules, each distinct pair judged once."""

    def __init__(self, texts: Texts, symbols: tuple[tuple[str, str | None], ...], rules: ArgumentRules) -> None:
        self.texts, self.symbols, self.rules = texts, symbols, rules
        self._known: dict[tuple[int, int, int], CallComparison] = {}

    def compare(self, symbol: int, candidate: int, reference: int) -> CallComparison:
        """Return the comparison of two texts as arguments of one step."""
        key = (symbol, candidate, reference)
        if key not in self._known:
            one, other = self.texts.object(candidate), self.texts.object(reference)
            self._known[key] = compare_call(one, other, tool=self.symbols[symbol][1], rules=self.rules)
        return self._known[key]

    def same(self, symbol: int, candidate: int, reference: int) -> bool:
        """Whether two recorded texts agree; arguments that are not recorded agree with nothing."""
        if candidate < 0 or reference < 0:
            return False
        return candidate == reference or self.compare(symbol, candidate, reference).verdict == "equal"

    def verdicts(self, symbols: np.ndarray, candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Judge many pairs of texts: ``EQUAL``, ``DIFFERENT``, or ``UNTOLD`` where that cannot be said."""
        found = np.where((candidate < 0) | (reference < 0), UNTOLD, EQUAL).astype(np.int8)
        asked = np.flatnonzero((found == EQUAL) & (candidate != reference))
        size = max(len(self.texts.values), 1)
        keys = (symbols[asked].astype(np.int64) * size + candidate[asked]) * size + reference[asked]
        each, back = np.unique(keys, return_inverse=True)
        words = [self.compare(key // size // size, key // size % size, key % size).verdict for key in each.tolist()]
        codes = [EQUAL if word == "equal" else DIFFERENT if word == "different" else UNTOLD for word in words]
        found[asked] = np.array(codes, np.int8)[back]
        return found


class OrderJudge:
    """Whether the order of two steps matters, for one pair of paths."""

    def __init__(
        self,
        candidate: tuple[Paths, StepFacts, int],
        reference: tuple[Paths, StepFacts, int],
        traits: Mapping[str, ToolTraits],
    ) -> None:
        self.candidate, self.reference, self.traits = candidate, reference, traits

    def swap(self, one: Pair, other: Pair) -> str | None:
        """Return why two pairs of steps may stand in either order, or None."""
        for side, first, second in ((self.reference, one[0], other[0]), (self.candidate, one[1], other[1])):
            groups = _group(side, first), _group(side, second)
            if groups[0] == groups[1] and groups[0] >= 0:
                return "they are parallel calls of one group"
        reasons = []
        for side, first, second in ((self.reference, one[0], other[0]), (self.candidate, one[1], other[1])):
            earlier, later = min(first, second), max(first, second)
            reasons.append(may_swap(_facts(side, earlier), _facts(side, later), self.traits))
        return reasons[0] if None not in reasons else None


def _group(side: tuple[Paths, StepFacts, int], position: int) -> int:
    paths, facts, path = side
    return int(facts.group[paths.rows[paths.offsets[path] + position]])


def _facts(side: tuple[Paths, StepFacts, int], position: int) -> CallFacts:
    paths, facts, path = side
    at = int(paths.offsets[path]) + position
    row = paths.rows[at]
    kind, name = paths.symbols[paths.codes[at]]
    given, result = int(facts.arguments.codes[row]), int(facts.results.codes[row])
    value: Any = _result(facts.results.values[result]) if result >= 0 else None
    return CallFacts(
        name if kind == "tool_call" else None,
        facts.arguments.object(given) if given >= 0 else None,
        value,
        result >= 0,
    )


def _result(text: str) -> Any:
    """A result as JSON, or as the text it is."""
    try:
        return parse_json(text)
    except ValueError:
        return text
