"""One pair of traces that holds everything a diff can show, for tests of its renderings."""

from __future__ import annotations

import json
import random
from typing import Any

import pandas as pd

from plumbline.rules import CallAtMost, MustCall, MustNotCall, Policy
from plumbline.show.diff import TraceDiff, diff, diff_run
from plumbline.traces import Recording

__all__ = ["HOSTILE", "LONG", "POLICY", "call", "everything", "grade", "many_steps", "recording"]

HOSTILE = "</script><img src=x onerror=alert(1)> שלום \u202eabc 👩‍💻"
LONG = 100_000
POLICY = Policy(
    "viewing",
    [
        MustCall("request_approval", severity="high"),
        MustNotCall("delete_vendor", severity="critical"),
        CallAtMost("schedule_payment", 1, severity="critical"),
    ],
)


def call(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One tool call."""
    text = None if arguments is None else json.dumps(arguments)
    return {"kind": "tool_call", "name": name, "arguments": text, "status": "ok", **more}


def _said(kind: str, words: str) -> dict[str, Any]:
    return {"kind": kind, "name": None, "arguments": None, "result": json.dumps(words), "status": "ok"}


OLD = [
    call("user", {"text": "Pay INV-1"}) | {"kind": "message"},
    _said("thought", "First the invoice."),
    call("fetch_invoice", {"id": "INV-1"}, result='{"total":4820}'),
    call("check_vendor", {"vendor": "V-1"}, group=1),
    call("check_duplicate", {"id": "INV-1"}, group=1),
    call("read_policy", {"page": 3}, group=1),
    call("match_order", {"po": "PO-9", "lines": [{"sku": "A", "n": 3}, {"sku": "B", "n": 1}]}),
    call("request_approval", {"note": HOSTILE}),
    call("schedule_payment", {"amount": 4820.0, "memo": "x" * LONG}),
    call("post_log", {"text": "paid"}),
    _said("final", "Paid."),
]
FAULT = {"status": "failed", "error": "HTTP 503", "error_type": "transient", "injected": "http_503"}
NEW = [
    call("user", {"text": "Pay INV-1"}) | {"kind": "message"},
    _said("thought", "Let me look."),
    call("fetch_invoice", {"id": "INV-1"}, result='{"total":4821}'),
    call("check_duplicate", {"id": "INV-1"}, group=1, **FAULT),
    call("read_policy", {"page": 3}, group=1),
    call("check_vendor", {"vendor": "V-1"}, group=1),
    call("check_duplicate", {"id": "INV-1"}),
    call("post_log", {"text": "paid"}),
    call("match_order", {"po": "PO-9", "lines": [{"sku": "A", "n": 30}, {"sku": "B", "n": 1}]})
    | {"status": "no_result"},
    call("delete_vendor", {"vendor": "V-1"}),
    call("schedule_payment", {"amount": 48200.0, "memo": "x" * (LONG - 1) + "y"}),
    call("schedule_payment", {"amount": 48200.0, "memo": "x" * (LONG - 1) + "y"}),
    _said("final", "Paid 48,200."),
]


def recording() -> Recording:
    """Two arms, two repetitions of one task; the second repetition of the new arm stops early."""
    told = {("old", 0): OLD, ("new", 0): NEW, ("old", 1): OLD, ("new", 1): OLD[:6]}
    trials = [
        {"arm": arm, "task_id": "INV-1", "repetition": r, "outcome": json.dumps({"amount": amount, "paid": True})}
        for (arm, r), amount in zip(told, (4820.0, 48200.0, 4820.0, 4820.0), strict=True)
    ]
    steps = [{**step, "trial_id": f"{arm}/INV-1/baseline/0/{r}"} for (arm, r), part in told.items() for step in part]
    tasks = {"INV-1": {"context": {"amount": 4820.0, "vendor": {"id": "V-1"}}}}
    frame = pd.DataFrame(steps).astype({"group": "Int64"})
    return Recording(pd.DataFrame(trials), frame, run_id="viewing", tasks=tasks)


def grade(outcome: Any, context: Any) -> bool:
    """Whether the right amount was paid."""
    return bool(outcome["amount"] == context["amount"])


def everything() -> TraceDiff:
    """The diff of the first repetition, checked and graded."""
    return diff_run(recording(), task="INV-1", arms=("old", "new"), policy=POLICY, grade=grade)


def many_steps(count: int = 300, *, seed: int = 3) -> TraceDiff:
    """Two long traces that differ in about every sixth step."""
    draw = random.Random(seed)
    left = [
        call(f"tool_{draw.randrange(12)}", {"id": n, "note": "some words " * draw.randint(1, 8), "amount": n * 1.5})
        for n in range(count)
    ]
    right = [
        step | ({"arguments": '{"amount":2.5,"id":1}'} if n % 9 == 0 else {"status": "failed"} if n % 13 == 0 else {})
        for n, step in enumerate(left)
        if n % 20 != 7
    ]
    return diff(pd.DataFrame(left), pd.DataFrame(right), titles=("left", "right"))
