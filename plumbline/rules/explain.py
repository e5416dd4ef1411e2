"""What a violated rule expected and what was seen instead, step by step, in words that quote the record."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from plumbline.base.schema import STEP_STATUSES
from plumbline.rules.arguments import MISSING, Coded, Numbers, as_json, spelled
from plumbline.rules.base import Context, Rule
from plumbline.rules.invariants import ArgEquals, ArgSatisfies, CallAtMost, MustCall, MustNotCall, Ordering
from plumbline.rules.scan import Calls, Scan
from plumbline.rules.steptable import OK, StepTable

__all__ = ["Told", "explain", "explain_missing"]

Told = tuple[str, str, str]
"""Name of the call, what was expected, what was observed."""

_SHOWN = 8


@singledispatch
def explain(rule: Rule, scan: Scan, calls: Calls) -> list[Told]:
    """Return name, expectation and observation for every offending call given."""
    raise NotImplementedError(type(rule).__name__)


@explain.register
def _(rule: MustNotCall, scan: Scan, calls: Calls) -> list[Told]:
    return [(rule.tool, f"no successful call of {rule.tool}", "called successfully")] * len(calls.rows)


@explain.register
def _(rule: CallAtMost, scan: Scan, calls: Calls) -> list[Told]:
    every = scan.done(rule.tool)
    begins = np.searchsorted(every.trials, calls.trials)
    ranks = np.searchsorted(every.rows, calls.rows) - begins + 1
    expected = f"at most {rule.limit} successful call{'s' if rule.limit != 1 else ''} of {rule.tool}"
    return [(rule.tool, expected, f"successful call number {rank}") for rank in ranks.tolist()]


@explain.register
def _(rule: Ordering, scan: Scan, calls: Calls) -> list[Told]:
    expected = f"a successful {rule.first} before {rule.then}"
    told: list[Told] = []
    for trial in calls.trials.tolist():
        at = int(scan.first(rule.first)[trial])
        seen = f"{rule.first} succeeded only at step {at}" if at >= 0 else _attempts(scan.table, trial, rule.first)
        told.append((rule.then, expected, seen))
    return told


@explain.register(ArgEquals)
@explain.register(ArgSatisfies)
def _(rule: ArgEquals | ArgSatisfies, scan: Scan, calls: Calls) -> list[Told]:
    done = scan.done(rule.tool)
    positions = np.searchsorted(done.rows, calls.rows)
    tasks = scan.table.task[calls.trials].tolist()
    selection = scan.arguments(rule.tool)
    if isinstance(rule, ArgSatisfies) and rule.predicate is not None:
        codes, make = selection.whole()
        return [(rule.tool, rule.description, spelled(make(int(codes[p])))) for p in positions.tolist()]
    column = selection.column(str(rule.arg))
    return [
        (rule.tool, _expected(rule, scan, task), _cell(column, p))
        for p, task in zip(positions.tolist(), tasks, strict=True)
    ]


def _expected(rule: ArgEquals | ArgSatisfies, scan: Scan, task: int) -> str:
    if isinstance(rule, ArgEquals):
        value: Any = scan.contexts.values[task].get(rule.from_context)
        within = f" within {rule.tolerance:f}" if rule.tolerance else ""
        return f"{rule.arg} == {spelled(value)}{within}" + (f" ({rule.normalise})" if rule.normalise else "")
    value = scan.contexts.values[task].get(rule.value.key) if isinstance(rule.value, Context) else rule.value
    return f"{rule.arg} {rule.op} {spelled(value)}"


def _cell(column: Coded | Numbers, position: int) -> str:
    if isinstance(column, Numbers):
        absent = column.absent is not None and column.absent[position] == MISSING
        return "missing" if absent else spelled(as_json(column.values[position].item()))
    code = int(column.codes[position])
    return "missing" if code == MISSING else spelled(column.values[code])


def explain_missing(rule: MustCall, table: StepTable, trial: int) -> Told:
    """Return name, expectation and observation for a required call that was not made."""
    observed = _attempts(table, trial, rule.tool)
    rows = slice(int(table.offsets[trial]), int(table.offsets[trial + 1]))
    happened = table.called[rows][table.status[rows] == OK]
    others = list(dict.fromkeys(table.tools[code] for code in happened.tolist() if code >= 0))
    if not others:
        observed += "; no other call succeeded"
    else:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        observed += f"; called instead: {', '.join(others[:_SHOWN])}{more}"
    return rule.tool, f"a successful call of {rule.tool}", observed


def _attempts(table: StepTable, trial: int, tool: str) -> str:
    """Say what became of the calls of a tool that had no successful one."""
    rows = slice(int(table.offsets[trial]), int(table.offsets[trial + 1]))
    tried = table.status[rows][table.called[rows] == table.codes.get(tool, -2)]
    if not tried.size:
        return f"{tool} was never called"
    counts = np.bincount(tried, minlength=len(STEP_STATUSES))
    parts = [f"{count} {word}" for count, word in zip(counts.tolist(), STEP_STATUSES, strict=True) if count]
    return f"{tool} was called {tried.size} time{'s' if tried.size != 1 else ''}, none succeeded ({', '.join(parts)})"
