"""Hypothesis strategies for trajectories, shared by the tests of several rooms.

A trial is drawn as a plain dictionary: ``{"task_id", "status", "steps"}``, each step ``{"kind", "name", "status",
"arguments", "unread"}``. ``to_recording`` turns drawn trials into a recorded run. Names and values come from small
pools, so that repeats, near misses and collisions are common rather than rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from plumbline.base.schema import STEP_STATUSES, TRIAL_STATUSES
from plumbline.traces import Recording

TOOLS = ("fetch", "check", "approve", "pay")
TASKS = ("T1", "T2", "T3")

CLOSE_VALUES: tuple[Any, ...] = (
    1, 1.0, Decimal("1.00"), Decimal("1.01"), Decimal("1.005"), 0.1, Decimal("0.1"), 0, -1, 2**53 + 1, 2**53, "1",
    "1.0", "a", "A", " a", "", True, False, None, [1], [Decimal("1.0")], {"x": 1}, 10, Decimal("100.00"),
)  # fmt: skip
"""Values that are easily taken for one another."""


def values() -> st.SearchStrategy[Any]:
    """Argument values that are easily taken for one another."""
    return st.sampled_from(CLOSE_VALUES)


def arguments(names: Sequence[str] = ("amount", "vendor")) -> st.SearchStrategy[Any]:
    """Arguments of a call: an object, nothing recorded, or (rarely) JSON that is not an object."""
    some = st.dictionaries(st.sampled_from(list(names)), values(), max_size=len(names))
    return st.one_of(some, some, some, some, st.none(), st.just([1]))


def steps(
    tools: Sequence[str] = TOOLS, *, statuses: Sequence[str] = STEP_STATUSES, max_size: int = 8
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """The steps of one trial; most are successful calls, some are decisions that carry a tool's name."""
    call = st.fixed_dictionaries(
        {
            "kind": st.just("tool_call"),
            "name": st.sampled_from(list(tools)),
            "status": st.one_of(st.just("ok"), st.sampled_from(list(statuses))),
            "arguments": arguments(),
            "unread": st.sampled_from([None, None, None, "{broken"]),
        }
    )
    other = st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["decision", "message", "final"]),
            "name": st.sampled_from([*tools, None]),
            "status": st.just("ok"),
            "arguments": st.none(),
            "unread": st.none(),
        }
    )
    return st.lists(st.one_of(call, call, call, other), max_size=max_size)


def trials(
    *, tasks: Sequence[str] = TASKS, max_size: int = 12, **of_steps: Any
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Trials of a run: most completed, some empty, every status."""
    one = st.fixed_dictionaries(
        {
            "task_id": st.sampled_from(list(tasks)),
            "status": st.one_of(st.just("completed"), st.sampled_from(TRIAL_STATUSES)),
            "steps": steps(**of_steps),
        }
    )
    return st.lists(one, min_size=1, max_size=max_size)


def contexts(
    *, tasks: Sequence[str] = TASKS, keys: Sequence[str] = ("amount", "vendor", "flag", "mode")
) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """What the system of record says of each task; keys are absent as often as they are null."""
    value = {"flag": st.sampled_from([True, False, None, 0, 3]), "mode": st.sampled_from(["pay", "hold", None])}
    one = st.fixed_dictionaries({}, optional={key: value.get(key, values()) for key in keys})
    return st.fixed_dictionaries(dict.fromkeys(tasks, one))


def to_recording(drawn: Sequence[Mapping[str, Any]], known: Mapping[str, Mapping[str, Any]]) -> Recording:
    """Record drawn trials; trial i has the variant ``i``, four digits wide, so that the order is kept within a task."""
    rows, events = [], []
    for i, trial in enumerate(drawn):
        variant = f"{i:04d}"
        rows.append({"arm": f"arm{i % 2}", "task_id": trial["task_id"], "variant": variant, "status": trial["status"]})
        trial_id = f"arm{i % 2}/{trial['task_id']}/baseline/{variant}/0"
        events += [{"trial_id": trial_id, **step} for step in trial["steps"]]
    columns = ["trial_id", "kind", "name", "status", "arguments", "unread"]
    tasks = {task: {"context": dict(context)} for task, context in known.items()}
    return Recording(pd.DataFrame(rows), pd.DataFrame(events, columns=columns), run_id="drawn", tasks=tasks)
