"""The engine agrees with the plain definition of the rules, on random runs: verdict, witness, every violation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    When,
    check,
    prepare,
)
from tests.rules.oracle import answer
from tests.strategies import TASKS, contexts, to_recording, trials


def paid_little(args, context):
    return "vendor" not in args or (isinstance(args.get("amount"), str) and "flag" in context)


POLICY = Policy(
    "everything",
    [
        MustCall("check"),
        MustCall("approve", when="flag", severity="high"),
        MustCall("never_used", when=lambda context: context.get("mode") == "pay"),
        MustNotCall("pay", when=When("mode", equals="hold")),
        MustNotCall("fetch", when=When("amount", equals=1), severity="low"),
        Ordering("check", "pay"),
        Ordering("approve", "pay", when="flag"),
        Ordering("pay", "fetch", id="reverse"),
        Ordering("nowhere", "check"),
        CallAtMost("pay"),
        CallAtMost("fetch", 2),
        CallAtMost("approve", 0),
        ArgEquals("pay", "amount", from_context="amount"),
        ArgEquals("pay", "amount", from_context="amount", tolerance="0.005", id="near"),
        ArgEquals("check", "vendor", from_context="vendor", normalise="strip_casefold"),
        ArgEquals("fetch", "vendor", from_context="vendor", normalise="casefold", when="flag"),
        ArgEquals("approve", "nothing", from_context="amount"),
        ArgSatisfies("pay", id="at most one", arg="amount", op="<=", value=1),
        ArgSatisfies("pay", id="above", arg="amount", op=">", value=Context("amount")),
        ArgSatisfies("pay", id="below", arg="vendor", op="<", value="a"),
        ArgSatisfies("pay", id="one of", arg="amount", op="in", value=[1, "a", None]),
        ArgSatisfies("check", id="not one of", arg="vendor", op="not in", value=["1", True]),
        ArgSatisfies("check", id="other", arg="amount", op="!=", value=Context("amount"), when="flag"),
        ArgSatisfies("pay", id="predicate", predicate=paid_little, when=When("mode", equals="pay")),
    ],
)


def in_recorded_order(drawn):
    """The order in which a run keeps its trials: by arm, task, then variant."""
    return sorted(range(len(drawn)), key=lambda i: (i % 2, drawn[i]["task_id"], i))


def compare_with_oracle(verdicts, policy, drawn, known):
    listed = defaultdict(list)
    found = verdicts.violations()
    for trial_id, rule, step in zip(found["trial_id"], found["rule"], found["step"], strict=True):
        listed[trial_id, rule].append(step)
    ids = verdicts.table.keys["trial_id"].tolist()
    seen = set()
    for column, trial in enumerate(drawn):
        for position, rule in enumerate(policy):
            verdict, witness, every = answer(rule, trial["status"], trial["steps"], known[trial["task_id"]])
            got = VERDICTS[verdicts.verdict[position, column]]
            place = f"{rule.id} on trial {column}: {trial}, {known[trial['task_id']]}"
            assert got == verdict, place
            assert verdicts.witness[position, column] == (-1 if witness is None else witness), place
            steps = listed.pop((ids[column], rule.id), [])
            assert (
                [s for s in steps if s is not None and s == s] == every
                if every
                else len(steps) == (verdict == "violated")
            ), place
            seen.add((type(rule).__name__, verdict))
    assert not listed
    return seen


@settings(max_examples=30, deadline=None)
@given(trials(), contexts())
def test_json_arguments(drawn, known):
    recording = to_recording(drawn, known)
    ordered = [drawn[i] for i in in_recorded_order(drawn)]
    compare_with_oracle(check(recording, POLICY), POLICY, ordered, known)


NAN, INF = float("nan"), float("inf")
NUMBERS = st.sampled_from(
    [0.1, 0.1 + 0.2, 0.3, 1.0, 1.005, 1.0049999999999999, 1.0050000000000001, -0.0, 1e308, 5e-324, NAN, INF, None]
)
WHOLE = st.sampled_from([0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), None])
WORDS = st.sampled_from(["a", "A", " a", "1", "", None])
TYPED = Policy(
    "typed",
    [
        ArgEquals("pay", "amount", from_context="amount"),
        ArgEquals("pay", "amount", from_context="amount", tolerance="0.005", id="near"),
        ArgEquals("pay", "count", from_context="count", tolerance=1, id="count"),
        ArgEquals("pay", "vendor", from_context="vendor", normalise="casefold"),
        ArgEquals("pay", "plain", from_context="vendor"),
        ArgEquals("pay", "flag", from_context="flag"),
        ArgEquals("pay", "absent", from_context="flag"),
        *(
            ArgSatisfies("pay", id=f"{arg} {op}", arg=arg, op=op, value=Context(arg))
            for arg in ("amount", "count", "vendor")
            for op in ("<=", "<", ">=", ">", "==", "!=")
        ),
        ArgSatisfies("pay", id="in", arg="amount", op="in", value=[1, 0.3]),
        ArgSatisfies("pay", id="not in", arg="count", op="not in", value=[1, 2**53]),
        ArgSatisfies("pay", id="literal", arg="amount", op="<", value=1.005),
        ArgSatisfies("pay", id="predicate", predicate=lambda args, _: args.get("amount") == args.get("count")),
    ],
)
EXPECTED = {
    "amount": st.sampled_from([0.1, 0.3, 1.005, 1, 0, "a", True, NAN, INF, -INF, 10**400, 1e308]),
    "count": st.sampled_from([0, 1, 0.5, 2**53, 2**63, -(2**64), INF, NAN, "1", 10**30]),
    "vendor": st.sampled_from(["a", "A", 1, True]),
    "flag": st.sampled_from([True, False, 1]),
}


def without_infinity(value):
    """Fractions have no infinity; a number beyond every other stands in for it in the oracle."""
    if isinstance(value, float) and value in (INF, -INF):
        return 10**2000 if value > 0 else -(10**2000)
    return value


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_typed_columns(data):
    n = data.draw(st.integers(1, 5))
    known = data.draw(st.fixed_dictionaries(dict.fromkeys(TASKS, st.fixed_dictionaries({}, optional=EXPECTED))))
    task = [data.draw(st.sampled_from(TASKS)) for _ in range(n)]
    call = st.fixed_dictionaries(
        {"amount": NUMBERS, "count": WHOLE, "vendor": WORDS, "plain": WORDS, "flag": st.sampled_from([True, None])}
    )
    steps = [data.draw(st.lists(st.tuples(call, st.sampled_from(["ok", "ok", "no_result"])), max_size=5)) for _ in task]
    flat = [(i, args, status) for i, one in enumerate(steps) for args, status in one]
    cut = data.draw(st.integers(0, 2))  # a slice of a longer table has an offset in every buffer
    padded = [(0, {"amount": 7.0, "count": 7, "vendor": "z", "plain": "z", "flag": True}, "ok")] * cut + flat
    fields = [
        pa.array([a["amount"] for _, a, _ in padded], pa.float64()),
        pa.array([a["count"] for _, a, _ in padded], pa.int64()),
        pa.array([a["vendor"] for _, a, _ in padded], pa.string()).dictionary_encode(),
        pa.array([a["plain"] for _, a, _ in padded], pa.string()),
        pa.array([a["flag"] for _, a, _ in padded], pa.bool_()),
    ]
    unread = data.draw(st.lists(st.booleans(), min_size=len(padded), max_size=len(padded)))
    mask = pa.array(unread, pa.bool_())
    struct = pa.StructArray.from_arrays(fields, ["amount", "count", "vendor", "plain", "flag"], mask=mask)
    table = pa.table(
        {
            "trial_id": pa.array([i for i, _, _ in padded], pa.int64()),
            "kind": pa.array(["tool_call"] * len(padded), pa.string()),
            "name": pa.array(["pay"] * len(padded), pa.string()),
            "status": pa.array([s for _, _, s in padded], pa.string()),
            "arguments": struct,
        }
    )
    verdicts = check(
        prepare(table.slice(cut), pa.table({"trial_id": np.arange(n), "task_id": task})), TYPED, contexts=known
    )
    lost = iter(unread[cut:])
    drawn = []
    for name, one in zip(task, steps, strict=True):
        rows = []
        for args, status in one:
            present = {key: without_infinity(value) for key, value in args.items() if value is not None}
            rows.append(
                {"kind": "tool_call", "name": "pay", "status": status, "arguments": None if next(lost) else present}
            )
        drawn.append({"task_id": name, "status": "completed", "steps": rows})
    bounded = {t: {k: without_infinity(v) for k, v in c.items()} for t, c in known.items()}
    compare_with_oracle(verdicts, TYPED, drawn, bounded)


@pytest.mark.parametrize("kind", ["MustCall", "MustNotCall", "Ordering", "CallAtMost", "ArgEquals", "ArgSatisfies"])
def test_every_verdict_a_rule_can_have_is_met(kind):
    """A comparison with an oracle proves nothing about verdicts that never occur: a fixed run meets them all."""
    seen = _seen_on_a_large_run()
    always = {"MustCall", "MustNotCall", "CallAtMost"}
    expected = {"held", "violated", "unobservable"} | (set() if kind in always else {"vacuous"})
    expected |= {"not_applicable"} - ({"not_applicable"} if kind == "CallAtMost" else set())
    assert {verdict for name, verdict in seen if name == kind} == expected


_SEEN: set[tuple[str, str]] = set()


def _seen_on_a_large_run():
    if not _SEEN:
        r = np.random.default_rng(7)
        names, statuses = ["fetch", "check", "approve", "pay"], ["ok", "ok", "ok", "failed", "no_result", "blocked"]
        pool = [{"amount": 1, "vendor": "a"}, {"amount": "1"}, {"vendor": " A"}, {"amount": 1.005, "vendor": "1"}, None]
        drawn = []
        for _ in range(400):
            steps = [
                {
                    "kind": "tool_call", "name": names[r.integers(4)], "status": statuses[r.integers(6)],
                    "arguments": pool[r.integers(5)], "unread": None,
                }
                for _ in range(int(r.integers(0, 6)))
            ]  # fmt: skip
            status = ["completed", "completed", "agent_error", "no_response"][r.integers(4)]
            drawn.append({"task_id": TASKS[r.integers(3)], "status": status, "steps": steps})
        known = {
            "T1": {"amount": 1, "vendor": "a", "flag": True, "mode": "hold"},
            "T2": {"amount": "1", "flag": False, "mode": "pay"},
            "T3": {"vendor": "A"},
        }
        ordered = [drawn[i] for i in in_recorded_order(drawn)]
        _SEEN.update(compare_with_oracle(check(to_recording(drawn, known), POLICY), POLICY, ordered, known))
    return _SEEN
