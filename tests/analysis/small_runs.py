"""Small runs written as text, drawn runs, and a second, plain implementation of the published definitions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from plumbline.traces import Plan, Recording

PAID, HELD = '{"paid":true,"note":1}', '{"paid":false,"note":1}'


def words(path: str) -> list[dict[str, Any]]:
    """``"fetch pay:7 ?think pay!"``: a call, a call with an argument, a decision, a call whose arguments are lost."""
    found = []
    for word in path.split():
        name, _, argument = word.strip("?!").partition(":")
        arguments = (
            None if word.endswith("!") or word.startswith("?") else json.dumps({"x": argument} if argument else {})
        )
        kind = "decision" if word.startswith("?") else "tool_call"
        found.append({"kind": kind, "name": name, "arguments": arguments})
    return found


def small(
    rows: Iterable[Sequence[Any]],
    *,
    plan: Plan | None = None,
    run_id: str = "r",
    tasks: Mapping[str, Any] | None = None,
) -> Recording:
    """Record rows of (trial id, path, outcome, status); the last, or the last two, may be left out."""
    trials, steps = [], []
    for trial, path, *rest in rows:
        arm, task, perturbation, variant, repetition = trial.split("/")
        outcome, status = [*rest, PAID, "completed"][:2] if not rest else [*rest, "completed"][:2]
        trials.append(
            {"arm": arm, "task_id": task, "perturbation": perturbation, "variant": variant,
             "repetition": int(repetition), "outcome": outcome, "status": status}
        )  # fmt: skip
        steps += [{"trial_id": trial, **word} for word in words(path)]
    frame = pd.DataFrame(steps, columns=["trial_id", "kind", "name", "arguments"])
    return Recording(pd.DataFrame(trials), frame, run_id=run_id, plan=plan, tasks=tasks or {})


STEP = st.sampled_from(["a", "a:1", "a:2", "a:B", "a:b", "b", "c:1"])
PATH = st.lists(STEP, max_size=4).map(" ".join)
STATUS = st.sampled_from(["completed"] * 5 + ["agent_error", "no_response"])
OUTCOME = st.sampled_from([PAID, PAID, HELD, None])


@st.composite
def rows(draw: st.DrawFn, arms: Sequence[str] = ("new", "old"), *, repetitions: int = 3) -> list[tuple[Any, ...]]:
    """Rows of a run in which every trial may be absent; paths repeat often."""
    found = []
    pool = draw(st.lists(PATH, min_size=1, max_size=3))
    for arm in arms:
        for task in ("t", "u"):
            for perturbation in ("baseline", "noise"):
                for repetition in range(repetitions):
                    if draw(st.integers(0, 7)):
                        trial = f"{arm}/{task}/{perturbation}/0/{repetition}"
                        found.append((trial, draw(st.sampled_from(pool)), draw(OUTCOME), draw(STATUS)))
    return found


# -- the published definitions once more, as plainly as they are worded ------------------------------------------------


def folded(argument: str | None) -> str | None:
    return None if argument is None else " ".join(argument.split()).lower()


def completed(rows: Iterable[Sequence[Any]], arm: str) -> list[dict[str, Any]]:
    """The completed trials of an arm in canonical order; a path is a list of (tool, argument)."""
    found = []
    for trial, path, outcome, status in sorted(rows):
        own, task, perturbation, variant, repetition = trial.split("/")
        if own == arm and status == "completed":
            calls = [word.partition(":") for word in path.split()]
            found.append(
                {"trial": trial, "task": task, "cell": (task, perturbation, variant), "repetition": repetition,
                 "baseline": perturbation == "baseline", "outcome": outcome and json.loads(outcome),
                 "path": [name for name, _, _ in calls], "arguments": [text or None for _, _, text in calls]}
            )  # fmt: skip
    return found


def same_arguments(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    return list(map(folded, one)) == list(map(folded, other))


def most_common(values: Sequence[Any]) -> Any:
    """The most common value; of several, the one that was seen first."""
    keys = [json.dumps(value) for value in values]
    return json.loads(Counter(keys).most_common(1)[0][0])


def plain_equivalence(rows: Iterable[Sequence[Any]], incumbent: str, replacement: str) -> dict[str, Any]:
    """Outcome, path, argument and self-consistency counts as published, and who is unpaired."""
    old, new = completed(rows, incumbent), completed(rows, replacement)
    canonical = {}
    for trial in old:
        if trial["cell"] not in canonical:
            runs = [t for t in old if t["cell"] == trial["cell"]]
            path = most_common([t["path"] for t in runs])
            canonical[trial["cell"]] = next(t for t in runs if t["path"] == path)
    pairs = [(t, canonical[t["cell"]]) for t in new if t["cell"] in canonical]
    alike = [(t, c) for t, c in pairs if t["path"] == c["path"]]
    return {
        "outcome": (sum(c["outcome"] is not None and t["outcome"] == c["outcome"] for t, c in pairs), len(pairs)),
        "path": (len(alike), len(pairs)),
        "arguments": (sum(same_arguments(t["arguments"], c["arguments"]) for t, c in alike), len(alike)),
        "self": (sum(t["path"] == canonical[t["cell"]]["path"] for t in old), len(old)),
        "unpaired": [t["trial"] for t in new if t["cell"] not in canonical],
    }


def plain_consistency(rows: Iterable[Sequence[Any]], arm: str) -> dict[str, tuple[int, int]]:
    """Structural, argument, outcome and self-consistency counts as published."""
    trials, found = completed(rows, arm), Counter()
    for task in {t["task"] for t in trials}:
        mine = [t for t in trials if t["task"] == task]
        makers = [t for t in mine if t["baseline"]] or mine
        path = most_common([t["path"] for t in makers])
        takers = [t["arguments"] for t in makers if t["path"] == path]
        arguments = [most_common([a[i] for a in takers]) for i in range(len(path))]
        ledgers = [t["outcome"] for t in makers if t["outcome"] is not None]
        ledger = most_common(ledgers) if ledgers else None
        for t in mine:
            same = t["path"] == path
            found["path"] += same
            found["arguments"] += same and same_arguments(t["arguments"], arguments)
            found["outcome"] += ledger is not None and t["outcome"] == ledger
            found["self"] += same and t["baseline"]
    n, baseline = len(trials), sum(t["baseline"] for t in trials)
    return {
        "path": (found["path"], n), "arguments": (found["arguments"], found["path"]), "outcome": (found["outcome"], n),
        "self": (found["self"], baseline),
    }  # fmt: skip
