"""Interleaved timing: every round runs every candidate once, so that noise hits all of them alike.

On a shared machine absolute times move by a factor of two between runs. What holds still is the ratio of two candidates
within one round; a bar is therefore set on the median of the per-round ratios, never on a time.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Times", "peak_bytes", "race", "row"]


@dataclass(frozen=True)
class Times:
    """Seconds each candidate took, per round, and how many units of work one call of it does."""

    seconds: Mapping[str, tuple[float, ...]]
    units: Mapping[str, float]

    def per_unit(self, name: str) -> float:
        """Median seconds per unit of work."""
        return statistics.median(self.seconds[name]) / self.units[name]

    def ratios(self, over: str, under: str) -> list[float]:
        """Time per unit of `over` divided by that of `under`, round by round."""
        a, b = self.units[over], self.units[under]
        return [(x / a) / (y / b) for x, y in zip(self.seconds[over], self.seconds[under], strict=True)]

    def ratio(self, over: str, under: str) -> float:
        """Median of the per-round ratios."""
        return statistics.median(self.ratios(over, under))


def race(
    candidates: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 5,
    warm: int = 1,
    units: Mapping[str, float] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """Time candidates against each other.

    Parameters
    ----------
    candidates : mapping of str to callable
        What to run, in this order within each round.
    rounds : int
        How often each is timed, at least 1.
    warm : int
        Untimed runs of each beforehand.
    units : mapping of str to float, optional
        Units of work one call of a candidate does; 1 where not given. Needed when a slow candidate runs on a slice.
    clock : callable
        ``time.perf_counter``, or ``time.process_time`` for candidates that stay in this process: it leaves out the time
        in which other programs had the processor, and counts every thread. On a busy machine the wall clock favours
        short candidates, which are rarely interrupted.

    Returns
    -------
    Times
    """
    if rounds < 1 or not candidates:
        raise ValueError(f"a race needs at least one round and one candidate; found {rounds} and {len(candidates)}")
    for _ in range(warm):
        for run in candidates.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            gc.collect()
            gc.disable()
            try:
                start = clock()
                result = run()
                seconds[name].append(clock() - start)
            finally:
                gc.enable()
            del result
    given = dict(units or {})
    return Times({k: tuple(v) for k, v in seconds.items()}, {k: float(given.get(k, 1.0)) for k in candidates})


def peak_bytes(run: Callable[[], object]) -> int:
    """Peak of the Python and numpy allocations made while `run` runs."""
    gc.collect()
    tracemalloc.start()
    try:
        result = run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del result
    return peak


def row(id: str, what: str, ratio: float | None, goal: float, better: str, *, note: str = "") -> dict[str, Any]:
    """Return one line of a benchmark report; a ratio of None means that it was not run, and `note` says why."""
    if better not in ("<=", ">="):
        raise ValueError(f"better is '<=' or '>='; found {better!r}")
    ok = None if ratio is None else bool(ratio <= goal if better == "<=" else ratio >= goal)
    return {"id": id, "what": what, "ratio": ratio, "goal": goal, "better": better, "ok": ok, "note": note}
