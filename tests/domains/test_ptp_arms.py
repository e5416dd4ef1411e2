from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.domain import load_domain
from plumbline.domains.procure_to_pay.arms import guarded, plan_execute, react
from plumbline.domains.procure_to_pay.tasks import PERTURBATIONS, TASKS, fault, variant
from plumbline.domains.procure_to_pay.truth import grade, grade_published
from plumbline.running import Fault, FaultPlan, TrialKey, Variant, replay, run_plan, run_trial
from plumbline.traces import Plan

DOMAIN = load_domain("procure_to_pay")
LETTERS = {
    "fetch_invoice": "F", "match_purchase_order": "M", "check_duplicate": "D", "check_vendor_status": "V",
    "request_approval": "R", "schedule_payment": "S", "flag_exception": "X", "post_audit_log": "A",
}  # fmt: skip
CLEAN = {task.id: "FMDVRSA" if task.context["needs_approval"] else "FMDVSA" for task in TASKS}
CLEAN |= {task.id: "FMDVXA" for task in TASKS if not task.context["should_pay"]}


def path(record) -> str:
    """Effect path; a failed call is a small letter."""
    calls = [s for s in record.steps if s["kind"] == "tool_call"]
    return "".join(LETTERS[s["name"]].lower() if s["status"] == "failed" else LETTERS[s["name"]] for s in calls)


def run(task, *, max_retries, fault=None):
    return run_trial(
        plan_execute(max_retries=max_retries), task, DOMAIN, arm="plan_execute", fault=fault, provenance="re_executed"
    )


@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_the_undisturbed_executor_takes_the_published_path_and_is_right(task, retries):
    record = run(task, max_retries=retries)
    assert path(record) == CLEAN[task.id]
    first, last = record.steps[0], record.steps[-1]
    assert (first["kind"], first["name"], parse_json(first["arguments"])) == (
        "decision", "interpret_request", {"invoice_id": task.id},
    )  # fmt: skip
    assert (last["kind"], record.trial["status"]) == ("final", "completed")
    found = parse_json(record.trial["outcome"])
    assert grade(found, task.context)
    assert grade_published(found, task.context)
    assert found["approvals"] == int(task.context["needs_approval"])
    vendor = next(s for s in record.steps if s["name"] == "check_vendor_status")
    assert parse_json(vendor["arguments"]) == {"vendor_id": task.context["vendor"]["vendor_id"]}


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_without_retries_a_faulted_check_becomes_a_hold(task, number):
    planned = fault(TrialKey("plan_execute", task.id, "tool_fault", str(number)))
    record = run(task, max_retries=0, fault=planned)
    expected = "FMDVXA".replace(LETTERS[planned.tool], LETTERS[planned.tool].lower())
    assert path(record) == expected
    assert record.trial["exposure"] == "delivered"
    failed = next(s for s in record.steps if s["status"] == "failed")
    reason = parse_json(next(s for s in record.steps if s["name"] == "flag_exception")["arguments"])["reason"]
    assert failed["injected"] == planned.error
    assert failed["error"] in reason
    assert grade(parse_json(record.trial["outcome"]), task.context) is not task.context["should_pay"]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_with_retries_the_failed_and_the_repeated_call_are_two_steps(task, number):
    planned = fault(TrialKey("plan_execute", task.id, "tool_fault", str(number)))
    record = run(task, max_retries=3, fault=planned)
    letter = LETTERS[planned.tool]
    assert path(record) == CLEAN[task.id].replace(letter, letter.lower() + letter)
    at = next(i for i, s in enumerate(record.steps) if s["status"] == "failed")
    assert record.steps[at]["arguments"] == record.steps[at + 1]["arguments"]
    assert record.steps[at]["name"] == record.steps[at + 1]["name"]
    assert record.steps[at + 1]["injected"] is None
    assert grade(parse_json(record.trial["outcome"]), task.context)


PAYABLE = next(task for task in TASKS if task.id == "INV-7009")


@pytest.mark.parametrize(
    ("tool", "times", "expected", "right"),
    [
        ("fetch_invoice", 4, "ffffMDXA", False),
        ("fetch_invoice", 3, "fffFMDVRSA", True),
        ("check_vendor_status", 4, "FMDvvvvXA", False),
        ("request_approval", 1, "FMDVrRSA", True),
        ("request_approval", 4, "FMDVrrrrXA", False),
        ("schedule_payment", 1, "FMDVRsSA", True),
        ("schedule_payment", 4, "FMDVRssssXA", False),
        ("post_audit_log", 4, "FMDVRSaaaa", True),
    ],
)
def test_no_call_is_repeated_more_than_three_times_and_nothing_is_paid_without_its_approval(
    tool, times, expected, right
):
    record = run(PAYABLE, max_retries=3, fault=Fault(tool, "http_503", times=times))
    assert path(record) == expected
    assert record.trial["status"] == "completed"
    assert grade(parse_json(record.trial["outcome"]), PAYABLE.context) is right
    if tool == "post_audit_log":
        assert "Not done: post_audit_log" in record.trial["final_output"]


def test_the_executor_does_what_the_interpretation_names_and_the_ledger_shows_it():
    wrong = plan_execute(max_retries=0, interpret=lambda task: "INV-7006")
    record = run_trial(wrong, TASKS[0], DOMAIN, arm="x")
    found = parse_json(record.trial["outcome"])
    assert (found["paid"], found["elsewhere"]) == (False, 1)
    nothing = plan_execute(max_retries=3, interpret=lambda task: "INV-0")
    assert path(run_trial(nothing, TASKS[0], DOMAIN, arm="x")) == "fmdXA"


@pytest.mark.parametrize("retries", [-1, True, 0.5, None])
def test_an_impossible_number_of_retries_is_refused_when_the_arm_is_made(retries):
    with pytest.raises(ParameterError, match="max_retries"):
        plan_execute(max_retries=retries)


def test_the_model_arms_issue_their_recorded_decisions_again():
    calls = [
        ("fetch_invoice", {"invoice_id": "INV-7002"}),
        ("check_vendor_status", {"vendor_id": "ashfield-logistics"}),
        ("schedule_payment", {"invoice_id": "INV-7002", "amount": Decimal("4500.00"), "vendor_id": "V-101"}),
    ]
    for make in (react, guarded):
        arm = make(recorded={"m/INV-7002/baseline/0/0": replay(calls, final="Paid.")})
        record = run_trial(arm, TASKS[0], DOMAIN, arm="m", provenance="reconstructed")
        assert path(record) == "FvS"
        assert parse_json(record.trial["outcome"])["amount_paid"] == Decimal("4500.00")
        assert record.trial["final_output"] == "Paid."


def test_variants_are_the_published_ones():
    task = TASKS[0]
    assert DOMAIN.perturbations == PERTURBATIONS
    for name in ("baseline", "tool_fault", "sampling"):
        assert variant(task, name, "3") == Variant(task.prompt)
    assert [len(variant(task, "decoy_tools", str(i)).decoys) for i in range(4)] == [1, 2, 3, 1]
    for name in ("paraphrase", "distractor"):
        assert variant(task, name, "0") == Variant(None), "the published wording is not on record"
    with pytest.raises(ParameterError, match="no perturbation"):
        variant(task, "typo", "0")
    with pytest.raises(ParameterError, match="numbered"):
        variant(task, "baseline", "first")
    faults = [fault(TrialKey("a", task.id, "tool_fault", str(i))) for i in range(4)]
    assert [(f.tool, f.error) for f in faults] == [
        ("match_purchase_order", "http_503"), ("check_duplicate", "http_429"),
        ("check_vendor_status", "connection_reset"), ("match_purchase_order", "http_503"),
    ]  # fmt: skip
    assert fault(TrialKey("a", task.id, "baseline", "0")) is None


ARMS = {"no_retry": plan_execute(max_retries=0), "three_retries": plan_execute(max_retries=3)}
PLAN = Plan(tuple(ARMS), tuple(t.id for t in TASKS), ("baseline", "tool_fault"), ("0", "1", "2", "3"), 2)


def graded(recording) -> dict[tuple[str, str], tuple[int, int]]:
    trials = recording.trials
    right = [
        grade(parse_json(o), recording.context(t)) for o, t in zip(trials["outcome"], trials["task_id"], strict=True)
    ]
    groups = trials.assign(right=right).groupby(["arm", "perturbation"])["right"]
    return {key: (int(group.sum()), len(group)) for key, group in groups}


@pytest.fixture(scope="module")
def recording():
    return run_plan(DOMAIN, ARMS, PLAN, run_id="corrected", provenance="re_executed")


def test_with_a_fault_for_every_trial_the_executor_without_retries_is_right_only_where_it_holds_anyway(recording):
    assert graded(recording) == {
        ("no_retry", "baseline"): (64, 64), ("no_retry", "tool_fault"): (40, 64),
        ("three_retries", "baseline"): (64, 64), ("three_retries", "tool_fault"): (64, 64),
    }  # fmt: skip
    exposure = recording.trials.groupby(["perturbation", "exposure"]).size().to_dict()
    assert exposure == {("baseline", "none_planned"): 128, ("tool_fault", "delivered"): 128}
    assert recording.digest == run_plan(DOMAIN, ARMS, PLAN, run_id="corrected", provenance="re_executed").digest


def test_with_a_fault_that_is_shared_by_a_cell_the_published_figures_come_out():
    def shared(key: TrialKey) -> Fault | None:
        planned = fault(key)
        first = TrialKey(key.arm, key.task_id, key.perturbation, key.variant, 0).trial_id
        if planned is None or key.repetition == 0:
            return planned
        return Fault(planned.tool, planned.error, spent_by=first)

    plan = Plan(("no_retry",), PLAN.tasks, PLAN.perturbations, PLAN.variants, 2)
    recording = run_plan(
        DOMAIN, {"no_retry": ARMS["no_retry"]}, plan, run_id="shared", faults=FaultPlan.build(plan, shared)
    )
    assert graded(recording)["no_retry", "tool_fault"] == (52, 64)
    assert recording.trials["exposure"].value_counts().to_dict() == {
        "none_planned": 64, "delivered": 32, "not_delivered": 32,
    }  # fmt: skip


def test_no_recorded_amount_is_a_binary_float(recording):
    def walk(value):
        assert not isinstance(value, float)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    texts = [*recording.steps["arguments"].dropna(), *recording.steps["result"].dropna(), *recording.trials["outcome"]]
    for text in set(texts):
        walk(parse_json(text))
    paid = recording.steps[(recording.steps["name"] == "schedule_payment") & (recording.steps["status"] == "ok")]
    assert {type(parse_json(text)["amount"]) for text in paid["arguments"]} == {Decimal}


def test_the_domain_s_files_import_nothing_of_another_domain():
    for file in Path(plan_execute.__code__.co_filename).parent.glob("*.py"):
        assert "accounts_payable" not in file.read_text(encoding="utf-8")
