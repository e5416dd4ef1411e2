"""How fast rules are checked: goals P1 to P4 and P13, as ratios measured in one run.

The bar is a plain numpy pass over the columns that the six rules read. `python -m tests.bench --only rules` prints the
rows. The answers are compared with the plain-Python oracle before anything is timed. Times are those of the processor:
every candidate runs in this process, and what other programs do meanwhile is left out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from plumbline.domain import load_domain
from plumbline.domains.accounts_payable.arms import plan_execute
from plumbline.domains.accounts_payable.mutants import MUTANTS
from plumbline.rules import (
    VERDICTS,
    ArgEquals,
    ArgSatisfies,
    CallAtMost,
    Context,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    StepTable,
    check,
    prepare,
)
from plumbline.running import run_study
from tests.bench.generate import CONTEXTS, TOOLS, Synthetic, synthetic
from tests.bench.race import Times, peak_bytes, race, row
from tests.rules.oracle import answer

__all__ = ["MIXED", "SIX", "TWENTY_FOUR", "bench", "plain_loop", "wrong_answers"]

SIX = Policy(
    "six",
    [
        MustCall("identify"),
        MustNotCall("erase_account"),
        Ordering("identify", "refund"),
        CallAtMost("look_up", 3),
        ArgEquals("refund", "currency", from_context="currency"),
        ArgSatisfies("refund", id="small_refund", arg="amount", op="<=", value=Context("limit")),
    ],
)
TWENTY_FOUR = Policy(
    "twenty-four",
    [
        *SIX,
        *(MustCall(tool) for tool in TOOLS[1:5]),
        *(Ordering(TOOLS[i], TOOLS[i + 2]) for i in range(6)),
        *(CallAtMost(tool, 2) for tool in (*TOOLS[2:9], TOOLS[0])),
    ],
)
"""The mix that P4 was set for: mostly presence, order and number of calls, as in the policies of both domains."""
MIXED = Policy(
    "mixed",
    [
        *SIX,
        *(MustCall(tool) for tool in TOOLS[1:4]),
        *(MustNotCall(tool) for tool in ("revoke", "weather", "amend_record")),
        *(Ordering(TOOLS[i], TOOLS[i + 2]) for i in range(3)),
        *(CallAtMost(tool, 2) for tool in ("identify", "open_order", "reserve")),
        *(ArgEquals(tool, "currency", from_context="currency") for tool in ("reserve", "revoke", "amend_record")),
        *(
            ArgSatisfies(tool, id=f"small_{tool}", arg="amount", op="<=", value=Context("limit"))
            for tool in ("reserve", "open_order", "revoke")
        ),
    ],
)
"""Every kind four times, over all tools: checked for right answers."""
_PASS = "numpy pass"


def numpy_pass(columns: Synthetic) -> Callable[[], object]:
    """The physical bar: every column the six rules read, compared with a scalar and counted, once."""
    tool, amount, currency, offsets = columns.tool, columns.amount, columns.currency, columns.offsets
    return lambda: (
        np.count_nonzero(tool == 3), np.count_nonzero(amount > 100.0), np.count_nonzero(currency != 0),
        np.count_nonzero(offsets[1:] == offsets[:-1]),
    )  # fmt: skip


def plain_loop(trials: list[list[dict[str, Any]]]) -> list[tuple[int, int, int, int, int, int]]:
    """The six rules as a person would write them by hand over dictionaries, each leaving off at its first violation.

    Returns the witness of each rule, -1 where it is not violated, and for the required call -2 where it is. Simpler
    than the module: it knows no trial that did not complete and no call without a result.
    """
    out = []
    for steps in trials:
        called = any(s["name"] == "identify" and s["status"] == "ok" for s in steps)
        erased = early = over = currency = amount = -1
        for i, s in enumerate(steps):
            if s["name"] == "erase_account" and s["status"] == "ok":
                erased = i
                break
        for i, s in enumerate(steps):
            if s["name"] == "identify" and s["status"] == "ok":
                break
            if s["name"] == "refund" and s["status"] == "ok":
                early = i
                break
        count = 0
        for i, s in enumerate(steps):
            if s["name"] == "look_up" and s["status"] == "ok":
                count += 1
                if count > 3:
                    over = i
                    break
        for i, s in enumerate(steps):
            if s["name"] == "refund" and s["status"] == "ok" and s["arguments"]["currency"] != "EUR":
                currency = i
                break
        for i, s in enumerate(steps):
            if s["name"] == "refund" and s["status"] == "ok" and not s["arguments"]["amount"] <= 100.0:
                amount = i
                break
        out.append((-1 if called else -2, erased, early, over, currency, amount))
    return out


def wrong_answers(columns: Synthetic, policy: Policy) -> int:
    """Count the verdicts and witnesses in which the module differs from the plain-Python oracle."""
    verdicts = check(prepare(columns.steps(), columns.trial_table()), policy, contexts=CONTEXTS)
    wrong = 0
    for column, steps in enumerate(columns.rows()):
        status = "no_response" if columns.ended[column] else "completed"
        for position, rule in enumerate(policy):
            verdict, witness, _ = answer(rule, status, steps, CONTEXTS[f"task{columns.task[column]}"])
            same = VERDICTS[verdicts.verdict[position, column]] == verdict
            wrong += not (same and verdicts.witness[position, column] == (-1 if witness is None else witness))
    return wrong


def _loop_differs(columns: Synthetic, table: StepTable, found: list[tuple[int, ...]]) -> int:
    """Count trials on which the hand-written loop and the module differ, leaving out what the loop does not know."""
    verdicts = check(table, SIX, contexts=CONTEXTS)
    decided = (verdicts.verdict != VERDICTS.index("unobservable")).all(axis=0)
    witness = verdicts.witness.T.copy()
    witness[:, 0] = np.where(verdicts.verdict[0] == VERDICTS.index("violated"), -2, -1)
    return int((np.array(found)[decided] != witness[decided]).any(axis=1).sum())


def pm4py_check(columns: Synthetic) -> Callable[[], object] | None:
    """Six DECLARE constraints by pm4py, without arguments and without witnesses; None if pm4py is not installed."""
    if importlib.util.find_spec("pm4py") is None:
        return None
    import pandas as pd

    with contextlib.redirect_stdout(io.StringIO()):
        import pm4py
    kept = (columns.tool >= 0) & (columns.status == 0)
    when = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.arange(int(kept.sum())), unit="s")
    log = pd.DataFrame(
        {
            "case:concept:name": columns.trial[kept].astype(str),
            "concept:name": np.array(TOOLS)[columns.tool[kept]],
            "time:timestamp": when,
        }
    )
    one = {"support": 1, "confidence": 1}
    model = {
        "existence": {"identify": one}, "absence": {"erase_account": one}, "precedence": {("identify", "refund"): one},
        "exactly_one": {"refund": one}, "response": {("open_order", "write_mail"): one},
        "responded_existence": {("refund", "open_order"): one},
    }  # fmt: skip

    def run() -> object:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return pm4py.conformance_declare(log, model)

    return run


def bench(rounds: int = 5, tiny: bool = False) -> list[dict[str, Any]]:
    """Measure P1 to P4 and P13.

    Parameters
    ----------
    rounds : int
        Rounds of each race; the figure is the median of the per-round ratios.
    tiny : bool
        Small runs only, to see that everything works: the ratios then say nothing.

    Returns
    -------
    list of dict
        One row a goal: id, what, ratio, goal, better, ok, note.
    """
    for policy in (SIX, TWENTY_FOUR, MIXED):
        if wrong := wrong_answers(synthetic(300 if tiny else 2_000, 11), policy):
            raise AssertionError(f"policy {policy.name!r}: {wrong} answers differ from the oracle; nothing was timed")
    large, slice_, huge = (400, 200, 800) if tiny else (125_000, 12_500, 1_250_000)
    rows = _large(synthetic(large, 1), synthetic(slice_, 1), rounds)
    rows += _small(synthetic(250, 2), max(rounds, 3) * (1 if tiny else 10))
    rows += _huge(synthetic(huge, 3), rounds)
    rows += _bound(tiny, rounds)
    return sorted(rows, key=lambda r: (len(r["id"]), r["id"]))


def _large(columns: Synthetic, part: Synthetic, rounds: int) -> list[dict[str, Any]]:
    steps, trials = columns.steps(), columns.trial_table()
    table, dicts = prepare(steps, trials), part.rows()
    if wrong := _loop_differs(part, prepare(part.steps(), part.trial_table()), plain_loop(dicts)):
        raise AssertionError(f"the module and the plain loop differ on {wrong} trials; nothing was timed")
    candidates: dict[str, Callable[[], object]] = {
        _PASS: numpy_pass(columns),
        "check": lambda: check(table, SIX, contexts=CONTEXTS),
        "prepare and check": lambda: check(prepare(steps, trials), SIX, contexts=CONTEXTS),
        "24 rules": lambda: check(table, TWENTY_FOUR, contexts=CONTEXTS),
        "plain loop": lambda: plain_loop(dicts),
    }
    units = dict.fromkeys(candidates, float(columns.n_steps)) | {"plain loop": float(part.n_steps)}
    times = race(candidates, rounds=rounds, units=units, clock=time.process_time)
    peers = _against_pm4py(columns, part, rounds)
    n = columns.n_steps
    check_peak = peak_bytes(lambda: check(table, SIX, contexts=CONTEXTS)) / n
    return [
        row("P1", f"6 rules, {n:,} steps: check / numpy pass", times.ratio("check", _PASS), 15, "<="),
        row("P1", "plain loop over dictionaries / check", times.ratio("plain loop", "check"), 50, ">="),
        _peer_row("P1", "pm4py conformance_declare / check", peers, "check", 200),
        row("P2", "prepare from Arrow and check / numpy pass", times.ratio("prepare and check", _PASS), 35, "<="),
        _peer_row("P2", "pm4py conformance_declare / prepare and check", peers, "prepare and check", 80),
        row("P4", "24 rules / 6 rules", times.ratio("24 rules", "check"), 4, "<="),
        row("P13", f"peak bytes a step of check, {n:,} steps", check_peak, 16, "<="),
    ]


def _bound(tiny: bool, rounds: int) -> list[dict[str, Any]]:
    """Rules that follow one entity through a trial, on planted faults of accounts payable."""
    domain, faults = load_domain("accounts_payable"), MUTANTS[:: 40 if tiny else 4]
    run = run_study(
        domain, arms={fault.id: fault.of(plan_execute()) for fault in faults}, clock=None, variants=1, repetitions=1,
        tasks=[task.id for task in domain.tasks][: 2 if tiny else None],
    )  # fmt: skip
    contexts = {task: run.context(task) for task in run.tasks}
    few, many = (Policy(str(n), list(domain.policy)[:n]) for n in (6, 24))
    candidates: dict[str, Callable[[], object]] = {
        "6": lambda: check(prepare(run.steps, run.trials), few, contexts=contexts),
        "24": lambda: check(prepare(run.steps, run.trials), many, contexts=contexts),
    }
    times = race(candidates, rounds=rounds, units=dict.fromkeys(candidates, 1.0), clock=time.process_time)
    what = f"24 rules / 6 rules bound to an entity, {len(run.trials):,} trials of accounts payable"
    return [row("P4", what, times.ratio("24", "6"), 4, "<=")]


def _against_pm4py(columns: Synthetic, part: Synthetic, rounds: int) -> Times | None:
    run = pm4py_check(part)
    if run is None:
        return None
    steps, trials = columns.steps(), columns.trial_table()
    table = prepare(steps, trials)
    candidates: dict[str, Callable[[], object]] = {
        "check": lambda: check(table, SIX, contexts=CONTEXTS),
        "prepare and check": lambda: check(prepare(steps, trials), SIX, contexts=CONTEXTS),
        "pm4py": run,
    }
    units = dict.fromkeys(candidates, float(columns.n_steps)) | {"pm4py": float(part.n_steps)}
    return race(candidates, rounds=rounds, units=units, clock=time.process_time)


def _peer_row(id: str, what: str, times: Times | None, ours: str, goal: float) -> dict[str, Any]:
    if times is None:
        return row(id, what, None, goal, ">=", note="not run: pm4py not installed")
    return row(id, what, times.ratio("pm4py", ours), goal, ">=")


def _small(columns: Synthetic, rounds: int) -> list[dict[str, Any]]:
    steps, trials = columns.steps(), columns.trial_table()
    table = prepare(steps, trials)
    candidates: dict[str, Callable[[], object]] = {
        _PASS: numpy_pass(columns),
        "check": lambda: check(table, SIX, contexts=CONTEXTS),
        "prepare and check": lambda: check(prepare(steps, trials), SIX, contexts=CONTEXTS),
    }
    peer = pm4py_check(columns)
    if peer is not None:
        candidates["pm4py"] = peer
    times = race(candidates, rounds=rounds, clock=time.process_time)
    return [
        row("P3", f"6 rules, {columns.trials} trials: check / numpy pass", times.ratio("check", _PASS), 12, "<="),
        _peer_row(
            "P3", "pm4py / prepare and check, 250 trials", times if peer is not None else None, "prepare and check", 5
        ),
    ]


def _huge(columns: Synthetic, rounds: int) -> list[dict[str, Any]]:
    table = prepare(columns.steps(), columns.trial_table())
    run = lambda: check(table, SIX, contexts=CONTEXTS)  # noqa: E731
    times = race({_PASS: numpy_pass(columns), "check": run}, rounds=rounds, clock=time.process_time)
    n = columns.n_steps
    peak = peak_bytes(run) / n
    return [
        row("P3", f"6 rules, {n:,} steps: check / numpy pass", times.ratio("check", _PASS), 18, "<="),
        row("P13", f"peak bytes a step of check, {n:,} steps", peak, 16, "<="),
    ]
