"""Seeded synthetic steps for the benchmarks: ten tools, four tasks with a usual path each, noise, failures, gaps.

The sizes and rates are those the goals were set for: 8.2 steps a trial on average with the closing message, 3 % of the
calls fail, one in a thousand has no result, one trial in a thousand is empty and one in a hundred did not complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

TOOLS = (
    "identify", "look_up", "open_order", "refund", "write_mail", "amend_record", "erase_account", "weather", "reserve",
    "revoke",
)  # fmt: skip
CURRENCIES = ("EUR", "USD", "GBP")
PATHS = ((0, 1, 2, 3, 4, 1), (1, 1, 7, 8, 4, 5, 9), (0, 2, 2, 5, 3, 1, 5, 4), (0, 1, 2, 7, 8, 5, 3, 4))
TASKS = tuple(f"task{i}" for i in range(len(PATHS)))
CONTEXTS = {task: {"currency": "EUR", "limit": 100.0} for task in TASKS}
_NOISE = 0.10


@dataclass(frozen=True)
class Synthetic:
    """Columns of a synthetic run; `tool` is -1 on the closing message of a trial."""

    trials: int
    task: np.ndarray
    ended: np.ndarray
    trial: np.ndarray
    tool: np.ndarray
    status: np.ndarray
    amount: np.ndarray
    currency: np.ndarray
    offsets: np.ndarray

    @property
    def n_steps(self) -> int:
        return self.trial.size

    def steps(self) -> pa.Table:
        """The steps as an Arrow table with a struct of typed arguments."""
        message = self.tool < 0
        name = pa.DictionaryArray.from_arrays(pa.array(np.maximum(self.tool, 0), pa.int32(), mask=message), list(TOOLS))
        kind = pa.DictionaryArray.from_arrays(pa.array(message, pa.int32()), ["tool_call", "message"])
        words = ["ok", "failed", "no_result", "blocked"]
        status = pa.DictionaryArray.from_arrays(pa.array(self.status, pa.int32()), words)
        codes = pa.array(self.currency, pa.int32(), mask=message)
        currency = pa.DictionaryArray.from_arrays(codes, list(CURRENCIES))
        amount = pa.array(self.amount, mask=message)
        arguments = pa.StructArray.from_arrays([amount, currency], ["amount", "currency"])
        columns = {"trial_id": self.trial, "kind": kind, "name": name, "status": status, "arguments": arguments}
        return pa.table(columns)

    def trial_table(self) -> pa.Table:
        """The trials as an Arrow table; ids count up."""
        task = pa.DictionaryArray.from_arrays(pa.array(self.task, pa.int32()), list(TASKS))
        status = pa.DictionaryArray.from_arrays(pa.array(self.ended, pa.int32()), ["completed", "no_response"])
        return pa.table({"trial_id": np.arange(self.trials), "task_id": task, "status": status})

    def rows(self) -> list[list[dict[str, Any]]]:
        """The steps of each trial as plain dictionaries, as a person would read them from JSON lines."""
        out: list[list[dict[str, Any]]] = [[] for _ in range(self.trials)]
        words = ["ok", "failed", "no_result", "blocked"]
        columns = (self.trial, self.tool, self.status, self.amount, self.currency)
        for trial, tool, status, amount, currency in zip(*(c.tolist() for c in columns), strict=True):
            if tool < 0:
                out[trial].append({"kind": "message", "name": None, "status": "ok", "arguments": None, "unread": None})
            else:
                arguments = {"amount": amount, "currency": CURRENCIES[currency]}
                step = {"kind": "tool_call", "name": TOOLS[tool], "status": words[status], "arguments": arguments}
                out[trial].append({**step, "unread": None})
        return out


def synthetic(trials: int, seed: int = 0) -> Synthetic:
    """Return a synthetic run, the same for the same seed."""
    r = np.random.default_rng(seed)
    task = r.integers(0, len(PATHS), trials)
    length = np.array([len(path) for path in PATHS])
    flat, begin = np.concatenate(PATHS), np.concatenate([[0], np.cumsum(length)[:-1]])
    count = length[task]
    start = np.cumsum(count) - count
    owner = np.repeat(np.arange(trials), count)
    tool = flat[begin[task[owner]] + np.arange(owner.size) - start[owner]]
    luck = r.random(tool.size)
    tool = np.where(luck < _NOISE / 3, r.integers(0, len(TOOLS), tool.size), tool)
    times = np.ones(tool.size, np.int64)
    times[(luck >= _NOISE / 3) & (luck < 2 * _NOISE / 3)] = 0
    repeated = (luck >= 2 * _NOISE / 3) & (luck < _NOISE)
    times[repeated] = 2 + r.integers(0, 3, int(repeated.sum()))
    tool, owner = np.repeat(tool, times), np.repeat(owner, times)
    per_trial = np.bincount(owner, minlength=trials)
    closing = np.cumsum(per_trial)
    tool, owner = np.insert(tool, closing, -1), np.insert(owner, closing, np.arange(trials))
    kept = ~(r.random(trials) < 0.001)[owner]
    tool, owner = tool[kept], owner[kept]
    n = tool.size
    luck = r.random(n)
    status = np.where(tool < 0, 0, np.where(luck < 0.03, 1, np.where(luck < 0.031, 2, 0)))
    amount = np.round(np.where(r.random(n) < 0.97, r.gamma(2.0, 15.0, n), 100 + 400 * r.random(n)), 2)
    currency = np.where(r.random(n) < 0.985, 0, r.integers(1, len(CURRENCIES), n))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=trials))]).astype(np.int64)
    ended = (r.random(trials) < 0.01).astype(np.int8)
    return Synthetic(
        trials, task.astype(np.int32), ended, owner.astype(np.int64), tool.astype(np.int8), status.astype(np.int8),
        amount, currency.astype(np.int8), offsets,
    )  # fmt: skip
