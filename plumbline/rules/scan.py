"""One pass of checking over a prepared table: what several rules ask for is computed once and shared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plumbline.rules.arguments import Selection
from plumbline.rules.contexts import TaskContexts
from plumbline.rules.steptable import NO_RESULT, StepTable
from plumbline.rules.trial_rules import Judged, Steps, TrialRule

__all__ = ["Calls", "Row", "Scan"]


class Calls(NamedTuple):
    """Calls of one tool: their rows, and the trial of each, both ascending."""

    rows: np.ndarray
    trials: np.ndarray


class Row(NamedTuple):
    """One rule's verdict, witness and reason on every trial, to be written into."""

    verdict: np.ndarray
    witness: np.ndarray
    reason: np.ndarray


class Scan:
    """Answers about tools, cached for the length of one check."""

    def __init__(self, table: StepTable, contexts: TaskContexts) -> None:
        self.table = table
        self.contexts = contexts
        self._calls: dict[tuple[str, bool], Calls] = {}
        self._first: dict[tuple[str, bool], np.ndarray] = {}
        self._arguments: dict[str, Selection] = {}
        self._views: dict[int, Steps] = {}
        self._twins: dict[frozenset[str] | None, np.ndarray] = {}
        self._said: dict[int, dict[int, Judged]] = {}

    def done(self, tool: str) -> Calls:
        """Calls that succeeded."""
        return self._of(tool, False)

    def perhaps(self, tool: str) -> Calls:
        """Calls without a result: they may have happened."""
        return self._of(tool, True)

    def _of(self, tool: str, perhaps: bool) -> Calls:
        key = tool, perhaps
        if key not in self._calls:
            self._calls[key] = Calls(*(self.table.group(tool, NO_RESULT) if perhaps else self.table.group(tool)))
        return self._calls[key]

    def first(self, tool: str) -> np.ndarray:
        """Step of the first successful call in each trial, -1 where there is none. Not to be written into."""
        key = tool, False
        if key not in self._first:
            self._first[key] = self.earliest(*self.done(tool), np.empty(self.table.n_trials, np.int32))
        return self._first[key]

    def first_perhaps(self, tool: str) -> np.ndarray:
        """Step of the first call that succeeded or may have happened, -1 where there is none."""
        open_ended = self.perhaps(tool)
        if not open_ended.rows.size:
            return self.first(tool)
        key = tool, True
        if key not in self._first:
            sure = self.first(tool)
            rows, trials = open_ended.rows[::-1], open_ended.trials[::-1]  # backwards, so that the earliest stays
            steps = (rows - self.table.starts[trials]).astype(np.int32, copy=False)
            merged = sure.copy()
            merged[trials] = np.minimum(_never_last(sure[trials]), _never_last(steps)).view(np.int32)
            self._first[key] = merged
        return self._first[key]

    def earliest(self, rows: np.ndarray, trials: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write into `out` the step of the first of the given rows in each trial, -1 where there is none; return it.

        Rows must ascend. They are written backwards, so that the first one of a trial is written last and stays.
        """
        out.fill(-1)
        if rows.size:
            steps = rows - self.table.starts.take(trials)
            out[trials[::-1]] = steps[::-1]
        return out

    def arguments(self, tool: str) -> Selection:
        """Arguments of the successful calls, then of those without a result."""
        if tool not in self._arguments:
            self._arguments[tool] = self.table.arguments.select(self.asked(tool).rows)
        return self._arguments[tool]

    def steps_of(self, trial: int) -> Steps:
        """Every step of a trial, for rules that read one trial at a time."""
        if trial not in self._views:
            self._views[trial] = self.table.views(trial)
        return self._views[trial]

    def twins(self, rule: TrialRule) -> np.ndarray:
        """For each trial the one to ask the rule about: the first that is the same as far as the rule reads."""
        reads = rule.reads
        if reads not in self._twins:
            self._twins[reads] = self.table.twins(reads)
        return self._twins[reads]

    def said(self, rule: TrialRule, twin: int) -> Judged:
        """What a rule says of a trial; see ``twins`` for which one to ask of."""
        known = self._said.setdefault(id(rule), {})
        if twin not in known:
            context = dict(self.contexts.values[self.table.task[twin]])
            known[twin] = rule.of_trial(self.steps_of(twin), context)
        return known[twin]

    def asked(self, tool: str) -> Calls:
        """The calls whose arguments are asked for: the successful ones, then those without a result."""
        done, perhaps = self.done(tool), self.perhaps(tool)
        return Calls(*map(np.concatenate, zip(done, perhaps, strict=True))) if perhaps.rows.size else done


def _never_last(first: np.ndarray) -> np.ndarray:
    """View -1 (never) as the largest number, so that comparing and taking minima puts it after every step."""
    return first.view(np.uint32)


def before(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether `one` happens, and before `other` does; steps a trial, -1 for never."""
    return _never_last(one) < _never_last(other)
