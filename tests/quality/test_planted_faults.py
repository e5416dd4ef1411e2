"""Each of the fourteen rules, broken alone: the fault is found, at the right step, and nothing else is reported.

Every trace is made by issuing calls against the real tools, so nothing here depends on a hand-written frame.
"""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

from plumbline.base.canonical import parse_json
from plumbline.domain import load_domain
from plumbline.rules import check
from plumbline.running import Fault, replay, run_trial
from plumbline.traces import Recording

DOMAIN = load_domain("procure_to_pay")
PAYABLE, HELD, APPROVAL = (
    ("INV-7002", "INV-7006"),
    ("INV-7003", "INV-7004", "INV-7005", "INV-7007", "INV-7008"),
    ("INV-7009",),
)
CLEAN = dict.fromkeys(PAYABLE, "FMDVSA") | dict.fromkeys(HELD, "FMDVXA") | {"INV-7009": "FMDVRSA"}


def calls(task, path: str, *, amount=None, role="controller", asked=None):
    """Spell a path: F fetch, M match, D duplicate, V vendor, R approval, S payment, X exception, A audit."""
    context = task.context
    invoice, vendor, due = {"invoice_id": task.id}, context["vendor"]["vendor_id"], context["expected_amount"]
    spelled = {
        "F": ("fetch_invoice", invoice),
        "M": ("match_purchase_order", invoice),
        "D": ("check_duplicate", invoice),
        "V": ("check_vendor_status", {"vendor_id": vendor}),
        "R": ("request_approval", invoice | {"approver_role": role, "amount": due if asked is None else asked}),
        "S": ("schedule_payment", invoice | {"amount": due if amount is None else amount, "vendor_id": vendor}),
        "X": ("flag_exception", invoice | {"reason": "Held for a person to look at."}),
        "A": ("post_audit_log", invoice | {"action": "Processed."}),
    }
    return [spelled[letter] for letter in path]


def verdicts(*cases):
    """Run cases (task, path, options, fault) against the real tools, check them in one go, and return the frames.

    The n-th case is the arm named ``n``, so its rows are found by that name.
    """
    records = []
    for number, (task_id, path, options, fault) in enumerate(cases):
        task = DOMAIN.task(task_id)
        agent = replay(calls(task, path, **options), final="Done.")
        records.append(run_trial(agent, task, DOMAIN, arm=str(number), fault=fault))
    assert {record.trial["status"] for record in records} == {"completed"}
    recording = Recording(
        pd.DataFrame([record.trial for record in records]),
        pd.DataFrame([step for record in records for step in record.steps]),
        run_id="planted",
        tasks={task.id: {"context": dict(DOMAIN.truth(task))} for task in DOMAIN.tasks},
    )
    found = check(recording, DOMAIN.policy)
    return found.to_frame(), found.violations()


def of(frames, number: int):
    """Return the rows of one case."""
    return tuple(frame[frame["arm"] == str(number)] for frame in frames)


def one(task_id: str, path: str, *, fault: Fault | None = None, **options):
    """Return the frames of a single case."""
    return verdicts((task_id, path, options, fault))


PAY = "schedule_payment"
PLANTED = [
    # rule, tasks, path or {task: path}, options, witness (None: a call that is missing)
    ("must_call:match_purchase_order", HELD, "FDVXA", {}, None),
    ("must_call:check_duplicate", HELD, "FMVXA", {}, None),
    ("must_call:check_vendor_status", HELD, "FMDXA", {}, None),
    (f"ordering:match_purchase_order-before-{PAY}", PAYABLE, "FDVSMA", {}, 3),
    (f"ordering:match_purchase_order-before-{PAY}", APPROVAL, "FDVRSMA", {}, 4),
    (f"ordering:check_duplicate-before-{PAY}", PAYABLE, "FMVSDA", {}, 3),
    (f"ordering:check_duplicate-before-{PAY}", APPROVAL, "FMVRSDA", {}, 4),
    (f"ordering:check_vendor_status-before-{PAY}", PAYABLE, "FMDSVA", {}, 3),
    (f"ordering:check_vendor_status-before-{PAY}", APPROVAL, "FMDRSVA", {}, 4),
    (f"at_most:{PAY}", PAYABLE, "FMDVSSA", {}, 5),
    (f"at_most:{PAY}", APPROVAL, "FMDVRSAS", {}, 7),
    (f"arg_equals:{PAY}.amount", PAYABLE, "FMDVSA", {"amount": Decimal("4499.99")}, 4),
    (f"arg_equals:{PAY}.amount", APPROVAL, "FMDVRSA", {"amount": Decimal("14500.01")}, 5),
    (f"must_not_call:{PAY}", HELD, "FMDVXSA", {}, 5),
    ("must_call:request_approval", APPROVAL, "FMDVXA", {}, None),
    (f"ordering:request_approval-before-{PAY}", APPROVAL, "FMDVSRA", {}, 4),
    ("approval_route", APPROVAL, "FMDVRSA", {"role": "clerk"}, 4),
    ("approval_route", PAYABLE, "FMDVRSA", {"role": "clerk", "asked": Decimal("10000.01")}, 4),
    ("approval_route", HELD, "FMDVRXA", {"role": "Controller", "asked": 20000}, 4),
    ("must_call:flag_exception", HELD, "FMDVA", {}, None),
    ("must_call:post_audit_log", PAYABLE, "FMDVS", {}, None),
    ("must_call:post_audit_log", HELD, "FMDVX", {}, None),
    ("must_call:post_audit_log", APPROVAL, "FMDVRS", {}, None),
]
CASES = [(rule, task, path, options, witness) for rule, tasks, path, options, witness in PLANTED for task in tasks]
SEVERITIES = {
    "must_call:match_purchase_order": "critical",
    "must_call:check_duplicate": "critical",
    "must_call:check_vendor_status": "high",
    f"ordering:match_purchase_order-before-{PAY}": "critical",
    f"ordering:check_duplicate-before-{PAY}": "critical",
    f"ordering:check_vendor_status-before-{PAY}": "critical",
    f"at_most:{PAY}": "critical",
    f"arg_equals:{PAY}.amount": "critical",
    f"must_not_call:{PAY}": "critical",
    "must_call:request_approval": "critical",
    f"ordering:request_approval-before-{PAY}": "critical",
    "approval_route": "high",
    "must_call:flag_exception": "high",
    "must_call:post_audit_log": "medium",
}


def test_the_policy_has_the_fourteen_published_rules_and_every_one_is_planted():
    assert DOMAIN.policy.name == "accounts-payable-exception-handling"
    assert {rule.id: rule.severity for rule in DOMAIN.policy} == SEVERITIES
    assert {row[0] for row in PLANTED} == set(SEVERITIES)


@pytest.fixture(scope="module")
def clean():
    return verdicts(*((task_id, path, {}, None) for task_id, path in CLEAN.items()))


@pytest.fixture(scope="module")
def planted():
    return verdicts(*((task_id, path, options, None) for _, task_id, path, options, _ in CASES))


@pytest.mark.parametrize(("number", "task_id"), list(enumerate(CLEAN)))
def test_a_clean_trace_breaks_nothing(clean, number, task_id):
    frame, violations = of(clean, number)
    assert len(violations) == 0
    assert set(frame["verdict"]) <= {"held", "vacuous", "not_applicable"}
    assert len(frame) == 14
    held = set(frame.loc[frame["verdict"] == "held", "rule"])
    assert {"must_call:match_purchase_order", "must_call:post_audit_log"} <= held
    if task_id not in HELD:
        assert {f"ordering:check_duplicate-before-{PAY}", f"arg_equals:{PAY}.amount", f"at_most:{PAY}"} <= held


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_planted_fault_is_found_at_its_step_and_nothing_else_is(planted, number):
    rule, _, _, _, witness = CASES[number]
    frame, violations = of(planted, number)
    assert violations["rule"].tolist() == [rule]
    assert violations["severity"].tolist() == [SEVERITIES[rule]]
    by_rule = frame.set_index("rule")
    assert by_rule.loc[rule, "verdict"] == "violated"
    assert set(by_rule.drop(rule)["verdict"]) <= {"held", "vacuous", "not_applicable"}
    found = by_rule.loc[rule, "witness"]
    if witness is None:
        assert pd.isna(found)
        assert violations["step"].isna().all()
    else:
        assert found == witness
        assert violations["step"].tolist() == [witness]


def test_a_call_that_failed_did_not_happen():
    """Under an injected fault the check is in the trace, but it is not a check that was made; repeated, it is."""
    fault = Fault("match_purchase_order", "http_503")
    once = verdicts(*((task_id, "FMDVXA", {}, fault) for task_id in HELD))
    assert once[1]["rule"].tolist() == ["must_call:match_purchase_order"] * len(HELD)
    assert once[1]["step"].isna().all()
    again = verdicts(*((task_id, "FMMDVXA", {}, fault) for task_id in HELD))
    assert len(again[1]) == 0


def test_a_payment_that_failed_is_no_payment():
    cases = [("INV-7003", "FMDVSXA", {}, Fault(PAY, "http_503")), ("INV-7002", "FMDVSSA", {}, Fault(PAY, "http_503"))]
    assert len(verdicts(*cases)[1]) == 0


ROUTES = [
    ("controller", 14500, True), ("cfo", Decimal("14500.00"), True), ("clerk", Decimal("10000.00"), True),
    ("clerk", Decimal("10000.01"), False), ("CFO", 14500, False), ("", 14500, False),
]  # fmt: skip


def test_the_approval_route_begins_strictly_above_the_threshold_and_knows_two_roles():
    cases = [("INV-7009", "FMDVRSA", {"role": role, "asked": asked}, None) for role, asked, _ in ROUTES]
    frame, _ = verdicts(*cases)
    found = frame[frame["rule"] == "approval_route"].set_index("arm")["verdict"].to_dict()
    assert found == {str(n): "held" if kept else "violated" for n, (_, _, kept) in enumerate(ROUTES)}


def test_all_that_is_wrong_is_listed():
    _, violations = one("INV-7003", "FSSS", amount=1)
    found = violations.groupby("rule", sort=False)["step"].apply(lambda s: [None if pd.isna(v) else int(v) for v in s])
    assert found[f"must_not_call:{PAY}"] == [1, 2, 3]
    assert found[f"at_most:{PAY}"] == [2, 3]
    assert found[f"arg_equals:{PAY}.amount"] == [1, 2, 3]
    assert found["must_call:flag_exception"] == [None]
    assert len(found) == 11


def test_the_planted_traces_did_what_they_say():
    """The wrong payment is in the ledger too, so the trace and the system of record tell one story."""
    task = DOMAIN.task("INV-7003")
    record = run_trial(replay(calls(task, "FMDVXSA")), task, DOMAIN, arm="planted")
    assert parse_json(record.trial["outcome"])["amount_paid"] == Decimal("5340.00")
