"""Whole columns are judged as exactly as single values: every number against every limit, every path of the engine."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from plumbline.base.canonical import canonical_json
from plumbline.rules import VERDICTS, ArgEquals, ArgSatisfies, Context, Policy, check, prepare
from plumbline.rules.values import compare, equal

NAN, INF = float("nan"), float("inf")
FLOATS = [
    0.1, 0.1 + 0.2, 0.3, 1.0, -1.0, 1.005, np.nextafter(1.005, 0), np.nextafter(1.005, 2), -0.0, 0.0, 5e-324, -5e-324,
    1.7976931348623157e308, -1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0, NAN, INF, -INF,
]  # fmt: skip
WHOLE = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63]
LIMITS = [
    *FLOATS, *WHOLE, True, "1", Decimal("0.5"), Decimal("-0.5"), Decimal("1.0050000000000001"), Decimal("1e23"), 2**63,
    Decimal("9007199254740992.5"), 10**22, 10**22 + 1, -(2**63) - 1, 10**400, -(10**400), Decimal("1e-400"),
    Decimal("1.015"),
]  # fmt: skip
CENT = Decimal("0.01")
RULES = [
    ArgEquals("pay", "x", from_context="x"),
    ArgEquals("pay", "x", from_context="x", tolerance=CENT, id="near"),
    *(ArgSatisfies("pay", id=op, arg="x", op=op, value=Context("x")) for op in ("<=", "<", ">=", ">", "==", "!=")),
]


@pytest.mark.parametrize(("found", "kind"), [(FLOATS, pa.float64()), (WHOLE, pa.int64())], ids=["float64", "int64"])
def test_every_number_against_every_limit(found, kind):
    pairs = [(value, task) for task in range(len(LIMITS)) for value in found]
    n = len(pairs)
    trials = pa.table({"trial_id": range(n), "task_id": [f"t{task}" for _, task in pairs]})
    steps = pa.table({"trial_id": range(n), "kind": ["tool_call"] * n, "name": ["pay"] * n, "status": ["ok"] * n})
    table = prepare(
        steps, trials, arguments={"x": pa.array([float(v) if kind == pa.float64() else v for v, _ in pairs], kind)}
    )
    known = {f"t{task}": {"x": limit} for task, limit in enumerate(LIMITS)}
    verdicts = check(table, Policy("p", RULES), contexts=known)
    for position, rule in enumerate(RULES):
        for trial, (value, task) in enumerate(pairs):
            if isinstance(rule, ArgEquals):
                right = equal(value, LIMITS[task], tolerance=rule.tolerance)
            else:
                right = compare(value, rule.op, LIMITS[task])
            place = f"{rule.id}: {value!r} and {LIMITS[task]!r}"
            assert VERDICTS[verdicts.verdict[position, trial]] == ("held" if right else "violated"), place


@pytest.mark.parametrize(("found", "kind"), [(FLOATS, pa.float64()), (WHOLE, pa.int64())], ids=["float64", "int64"])
def test_every_number_against_one_limit_for_all(found, kind):
    n = len(found)
    trials = pa.table({"trial_id": range(n), "task_id": ["t"] * n})
    steps = pa.table({"trial_id": range(n), "kind": ["tool_call"] * n, "name": ["pay"] * n, "status": ["ok"] * n})
    table = prepare(steps, trials, arguments={"x": pa.array(found, kind)})
    for limit in LIMITS:
        verdict = check(table, Policy("p", RULES), contexts={"t": {"x": limit}}).verdict
        for position, rule in enumerate(RULES):
            for trial, value in enumerate(found):
                if isinstance(rule, ArgEquals):
                    right = equal(value, limit, tolerance=rule.tolerance)
                else:
                    right = compare(value, rule.op, limit)
                assert verdict[position, trial] == (0 if right else 1), f"{rule.id}: {value!r} and {limit!r}"


def of_texts(arguments, tasks):
    """One trial a call, with JSON arguments; None is unread."""
    n = len(arguments)
    texts = [None if a is None else canonical_json(a) for a in arguments]
    steps = {"trial_id": range(n), "kind": "tool_call", "name": "pay", "status": "ok", "arguments": texts}
    return prepare(pd.DataFrame(steps), pd.DataFrame({"trial_id": range(n), "task_id": tasks}))


def test_many_values_against_many_expected_ones():
    """More combinations than calls: only the pairs that occur are compared, and the answers are the same."""
    r = np.random.default_rng(3)
    arguments = [{"x": int(r.integers(30)), "y": i} for i in range(300)]
    arguments[5], arguments[6] = None, {"y": 6}
    tasks = [f"t{i}" for i in r.integers(0, 40, 300)]
    known = {f"t{i}": {"x": i % 30} if i < 35 else {} for i in range(40)}
    verdicts = check(of_texts(arguments, tasks), Policy("p", RULES[:3]), contexts=known)
    for position, holds in enumerate((equal, lambda a, b: equal(a, b, tolerance=CENT), lambda a, b: a <= b)):
        for trial, (call, task) in enumerate(zip(arguments, tasks, strict=True)):
            if "x" not in known[task]:
                expected = "not_applicable"
            elif call is None:
                expected = "unobservable"
            else:
                expected = "held" if "x" in call and holds(call["x"], known[task]["x"]) else "violated"
            assert VERDICTS[verdicts.verdict[position, trial]] == expected


def test_expected_values_that_are_equal_only_in_python_stay_apart():
    known = {"t0": {"x": 1}, "t1": {"x": True}, "t2": {"x": 1.0}, "t3": {"x": Decimal("1.00")}, "t4": {"x": "1"}}
    arguments = [{"x": value} for value in (1, True) for _ in known]
    verdicts = check(of_texts(arguments, list(known) * 2), Policy("p", RULES[:1]), contexts=known).verdict[0]
    assert verdicts.tolist() == [0, 1, 0, 0, 1, 1, 0, 1, 1, 1]


def test_a_predicate_sees_the_context_of_each_task():
    rule = ArgSatisfies("pay", id="x", predicate=lambda args, context: args["x"] <= context["x"])
    known = {"t0": {"x": 1}, "t1": {"x": 3}}
    table = of_texts([{"x": 2}, {"x": 2}, {"x": 1}, {"x": 4}], ["t0", "t1", "t0", "t1"])
    assert check(table, Policy("p", [rule]), contexts=known).verdict.tolist() == [[1, 0, 0, 1]]
