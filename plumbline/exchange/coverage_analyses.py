"""Which analyses a recording supports: each with how many of its pieces are there, why not, and one that is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from plumbline.traces import Recording

__all__ = ["analysis_frame"]

_COLUMNS = ["analysis", "verdict", "have", "of", "unit", "needs", "missing_example"]
Has = Callable[[Recording, pd.DataFrame], "tuple[np.ndarray, Sequence[str]]"]
"""Takes a recording and its call states; gives for each piece whether it is there, and what each is called."""


def analysis_frame(recording: Recording, calls: pd.DataFrame) -> pd.DataFrame:
    """Return one row an analysis: ``possible``, ``partly`` or ``impossible``, and the count that says so.

    Returns
    -------
    DataFrame
        ``analysis, verdict, have, of, unit, needs, missing_example``. Without a single piece to look at, an analysis is
        impossible.
    """
    rows = []
    for name, unit, needs, has in _ANALYSES:
        there, names = has(recording, calls)
        have, total = int(there.sum()), len(there)
        verdict = "impossible" if have == 0 else "possible" if have == total else "partly"
        lost = names[int(np.flatnonzero(~there)[0])] if have < total else None
        rows.append((name, verdict, have, total, unit, needs, lost))
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"missing_example": object})


def _places(calls: pd.DataFrame) -> list[str]:
    return [f"{trial} step {step} ({name})" for trial, step, name in
            zip(calls["trial_id"], calls["step"], calls["name"], strict=True)]  # fmt: skip


def _of_calls(column: str, good: Sequence[str]) -> Has:
    def has(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
        return calls[column].isin(list(good)).to_numpy(dtype=bool), _places(calls)

    return has


def _results(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    """Calls that succeeded: a call that failed has an error instead of a result."""
    done = calls[calls["status"] == "ok"]
    return (done["result"] == "structured").to_numpy(dtype=bool), _places(done)


def _of_trials(column: str) -> Has:
    def has(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
        return recording.trials[column].notna().to_numpy(dtype=bool), list(recording.trials["trial_id"])

    return has


def _timed(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    there = calls["started_at"].notna() & calls["ended_at"].notna()
    return there.to_numpy(dtype=bool), _places(calls)


def _turns(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    return calls["group"].notna().to_numpy(dtype=bool), _places(calls)


def _ordered(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    """Trials whose order of calls rests on causes, or that have no two calls to put in order."""
    imported = recording.notes.get("import")
    names = list(recording.trials["trial_id"])
    if not isinstance(imported, dict):
        return np.ones(len(names), dtype=bool), names
    by_trial = imported.get("order_of", {})
    return np.array([by_trial.get(name, "causal") == "causal" for name in names], dtype=bool), names


def _truth(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    tasks = list(recording.trials["task_id"].unique())
    return np.array([bool(recording.context(task)) for task in tasks], dtype=bool), tasks


def _repeated(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    sizes = recording.trials.groupby(["arm", "task_id", "perturbation", "variant"], sort=False).size()
    return (sizes.to_numpy() > 1), ["/".join(map(str, cell)) for cell in sizes.index]


def _varied(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    found = recording.trials.groupby(["arm", "task_id"], sort=False)["perturbation"].agg(set)
    there = np.array([len(kinds) > 1 and "baseline" in kinds for kinds in found], dtype=bool)
    return there, ["/".join(map(str, cell)) for cell in found.index]


def _compared(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    found = recording.trials.groupby(["task_id", "perturbation", "variant"], sort=False)["arm"].nunique()
    return (found.to_numpy() > 1), ["/".join(map(str, cell)) for cell in found.index]


def _tokens(recording: Recording, calls: pd.DataFrame) -> tuple[np.ndarray, Sequence[str]]:
    there = recording.trials["tokens_in"].notna() & recording.trials["tokens_out"].notna()
    return there.to_numpy(dtype=bool), list(recording.trials["trial_id"])


_ANALYSES: tuple[tuple[str, str, str, Has], ...] = (
    ("which tools are called, how often", "calls", "the name of each call", lambda r, c: (
        (c["name"] != "(unnamed)").to_numpy(dtype=bool), _places(c))),
    ("order of calls", "trials", "an order that rests on causes, not on clocks alone", _ordered),
    ("calls asked for together", "calls", "the turn of each call", _turns),
    ("rules on arguments, argument agreement", "calls", "arguments that could be read", _of_calls(
        "arguments", ["structured"])),
    ("rules on results", "calls that succeeded", "results that could be read", _results),
    ("which calls took effect", "calls", "a call's end: ok, failed or blocked", _of_calls(
        "status", ["ok", "failed", "blocked"])),
    ("times of calls", "calls", "start and end of each call", _timed),
    ("prompts", "trials", "the input given to the agent", _of_trials("prompt")),
    ("last words", "trials", "what the agent said at the end", _of_trials("final_output")),
    ("outcomes", "trials", "the terminal state in the system of record", _of_trials("outcome")),
    ("ground truth", "tasks", "what should have happened", _truth),
    ("repetition: same behaviour again", "cells", "two trials of one variant", _repeated),
    ("variants against the baseline", "arms and tasks", "a baseline and another perturbation", _varied),
    ("one arm against another", "variants", "two arms that met the same variant", _compared),
    ("tokens", "trials", "counts of input and output tokens", _tokens),
)  # fmt: skip
