"""The live arms of procure-to-pay, with a scripted model in place of a provider's."""

from __future__ import annotations

import json

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError
from plumbline.domain import load_domain
from plumbline.running import Fault, HarnessError, ReplayArm, Toolbox, run_study, run_trial
from plumbline.running.clients import ModelCall, ModelReply, ScriptedClient, Usage

ID = "INV-7009"
NAMED = {"invoice_id": ID}
PAYMENT = NAMED | {"amount": 14500.00, "vendor_id": "V-100"}
APPROVAL = NAMED | {"approver_role": "controller", "amount": 14500.00}
CHECKS = (
    ("match_purchase_order", NAMED), ("check_duplicate", NAMED), ("check_vendor_status", {"vendor_id": "V-100"}),
)  # fmt: skip


@pytest.fixture(scope="module")
def payables():
    return load_domain("procure_to_pay")


def turn(*calls):
    asked = tuple(ModelCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls))
    return ModelReply("", asked, "tool_use", Usage(50, 5))


def right_way(*, approval=APPROVAL, payment=PAYMENT, checks=CHECKS):
    log = NAMED | {"action": "paid"}
    return [
        turn(("fetch_invoice", NAMED)), turn(*checks), *([turn(("request_approval", approval))] if approval else []),
        turn(("schedule_payment", payment)), turn(("post_audit_log", log)), "Paid.",
    ]  # fmt: skip


def one(payables, arm, script, **more):
    given = {"tasks": [ID], "variants": 1, "repetitions": 1, "clock": None} | more
    agent = payables.arms[arm](client=ScriptedClient(script), model="m")
    return run_study(payables, arms={arm: agent}, **given)


@pytest.mark.parametrize("arm", ["react", "guarded"])
def test_a_model_arm_pays_the_right_way_and_every_step_is_recorded(payables, arm):
    run = one(payables, arm, right_way())
    assert run.trials["status"].tolist() == ["completed"]
    calls = run.steps[run.steps["kind"] == "tool_call"]
    assert calls["status"].unique().tolist() == ["ok"]
    assert calls["group"].tolist() == [0, 1, 1, 1, 2, 3, 4]
    assert calls["call_id"].tolist() == ["c0", "c0", "c1", "c2", "c0", "c0", "c0"]
    outcome = parse_json(run.trials["outcome"][0])
    assert payables.grade(outcome, run.context(ID))
    assert (run.trials["tokens_in"][0], run.trials["model"][0]) == (250, "m")


HASTY = {
    "no checks": right_way(checks=(("fetch_invoice", NAMED),)),
    "one check too few": right_way(checks=CHECKS[:2]),
    "checks of another invoice": right_way(
        checks=(("match_purchase_order", {"invoice_id": "INV-7002"}), *CHECKS[1:])
    ),
    "no approval": right_way(approval=None),
    "approval of another amount": right_way(approval=APPROVAL | {"amount": 9000}),
    "approval by a clerk": right_way(approval=APPROVAL | {"approver_role": "clerk"}),
    "another amount": right_way(payment=PAYMENT | {"amount": 14500.01}),
    "another vendor": right_way(payment=PAYMENT | {"vendor_id": "V-101"}),
    "another invoice": right_way(payment=PAYMENT | {"invoice_id": "INV-7002"}),
}  # fmt: skip


@pytest.mark.parametrize("case", list(HASTY))
def test_the_guard_refuses_a_payment_as_a_step_and_the_free_arm_makes_it(payables, case):
    run = one(payables, "guarded", HASTY[case])
    payments = run.steps[run.steps["name"] == "schedule_payment"]
    assert payments["status"].tolist() == ["blocked"]
    assert payments["error"].str.len().min() > 10
    assert parse_json(run.trials["outcome"][0])["payment_count"] == 0
    free = one(payables, "react", HASTY[case])
    assert free.steps[free.steps["name"] == "schedule_payment"]["status"].tolist() == ["ok"]


def test_the_guard_refuses_a_second_payment_also_after_one_that_may_have_happened(payables):
    script = right_way()
    script[4:4] = [turn(("schedule_payment", PAYMENT))]
    assert one(payables, "guarded", script).steps.query("name == 'schedule_payment'")["status"].tolist() == [
        "ok", "blocked",
    ]  # fmt: skip
    run = one(payables, "guarded", script, fault=lambda key: Fault("schedule_payment", "timeout_after"))
    assert run.steps.query("name == 'schedule_payment'")["status"].tolist() == ["no_result", "blocked"]
    assert parse_json(run.trials["outcome"][0])["payment_count"] == 1


def test_a_blocked_call_is_told_to_the_model(payables):
    heard = []

    def script(request):
        heard.append(request.messages[-1])
        return turn(("schedule_payment", PAYMENT)) if request.turn == 0 else "I stop."

    run = one(payables, "guarded", script)
    assert heard[1]["content"][0]["is_error"] is True
    assert "has not been read" in heard[1]["content"][0]["content"]
    assert run.trials["final_output"].tolist() == ["I stop."]


def test_structured_choices_take_the_place_of_tool_calls(payables):
    said = [json.dumps({"tool": "fetch_invoice", "arguments": NAMED}), "nonsense", json.dumps({"answer": "Done."})]
    seen = []

    def script(request):
        seen.append(request)
        return said[request.turn]

    agent = payables.arms["react"](client=ScriptedClient(script), model="m", structured=True)
    run = run_study(payables, arms={"a": agent}, tasks=[ID], variants=1, repetitions=1, clock=None)
    assert run.trials["final_output"].tolist() == ["Done."]
    assert run.steps["kind"].tolist() == ["tool_call", "message", "final"]
    assert seen[0].tools == ()
    assert "fetch_invoice" in seen[0].system
    choices = seen[0].schema["anyOf"]
    assert [c["properties"]["tool"]["const"] for c in choices[:-1]] == [t.name for t in payables.tools]


@pytest.mark.parametrize(
    ("answer", "invoice"),
    [
        ('{"invoice_id": "INV-7009"}', ID), ('{"invoice_id": "INV-7002"}\n\nRequest: more', "INV-7002"),
        ('{\n "invoice_id": "INV-7009"\n}', ID), ("the invoice is INV-7009", None), ('{"invoice": 1}', None),
        ("", None), ('{"invoice_id": ""}', None), ('{"invoice_id": "INV-9999"}', "INV-9999"),
    ],
)  # fmt: skip
def test_the_executor_acts_on_what_the_model_understood_and_on_nothing_else(payables, answer, invoice):
    run = one(payables, "plan_execute", [answer])
    assert run.trials["status"].tolist() == ["completed"]
    decision = run.steps[run.steps["kind"] == "decision"]
    assert parse_json(decision["result"].iloc[0])["invoice_id"] == invoice
    calls = run.steps[run.steps["kind"] == "tool_call"]
    asked = {parse_json(a).get("invoice_id", invoice) for a in calls["arguments"]}
    assert asked == ({invoice} if invoice else set()), "an answer that cannot be read is never filled in from the task"
    assert run.steps[run.steps["kind"] == "message"]["result"].map(parse_json).tolist() == [answer]


def test_the_executor_asks_under_a_schema_if_it_is_told_to(payables):
    seen = []

    def script(request):
        seen.append((request.schema, request.messages[0]["content"][0]["text"]))
        return json.dumps(NAMED)

    for structured in (False, True):
        agent = payables.arms["plan_execute"](client=ScriptedClient(script), model="m", structured=structured)
        run_study(payables, arms={"a": agent}, tasks=[ID], variants=1, repetitions=1, clock=None)
    assert [schema is None for schema, _ in seen] == [True, False]
    assert seen[0][1].count("Answer:") == 4
    assert ID in seen[0][1].rsplit("Request:", 1)[1]
    assert not any(f"INV-{n}" in seen[0][1].rsplit("Request:", 1)[0] for n in range(7001, 7010)), "no case is shown"


def test_an_arm_that_cannot_ask_is_refused(payables):
    client = ScriptedClient(["x"])
    for arm in ("react", "guarded"):
        with pytest.raises(ParameterError, match="client"):
            payables.arms[arm]()
        with pytest.raises(ParameterError, match="client"):
            payables.arms[arm](recorded={}, client=client, model="m")
        assert isinstance(payables.arms[arm](recorded={}), ReplayArm)
    for arm in ("react", "plan_execute"):
        with pytest.raises(ParameterError, match="model"):
            payables.arms[arm](client=client)
    with pytest.raises(ParameterError, match="needs a model client"):
        run_study(payables, arms=["react"])
    with pytest.raises(ParameterError, match="no prompt"):
        one(payables, "react", ["x"], perturbations=["baseline", "paraphrase"], variant=payables.variant)


def test_a_model_that_breaks_is_no_behaviour_of_the_agent(payables):
    def broken(request):
        raise KeyError("a mistake in the client")

    run = one(payables, "react", broken, retries=0)
    assert run.trials["status"].tolist() == ["harness_error"]
    assert "KeyError" in run.trials["error"][0]
    agent = payables.arms["react"](client=ScriptedClient(["x"]), model="m")
    with pytest.raises(HarnessError, match="run it through"):
        agent(payables.tasks[0], None)
    record = run_trial(agent, payables.tasks[0], payables, arm="a")
    assert record.trial["final_output"] == "x"


def test_every_perturbation_of_the_catalog_reaches_the_model_and_is_sealed(payables, tmp_path):
    from plumbline.domains.procure_to_pay.perturbations import perturbations, task_view
    from plumbline.rules import make_variants

    catalog, task = perturbations(), payables.task(ID)
    sets = [make_variants(task_view(task), each, 2, seed=7) for each in catalog.values()]
    asked = {}

    def script(request):
        asked.setdefault(request.trial_id, []).append(request)
        return turn(("fetch_invoice", NAMED), *CHECKS) if request.turn == 0 else "I looked."

    run = one(
        payables, "react", script, perturbations=list(catalog), variants=2, variant=sets, out=tmp_path / "r",
    )  # fmt: skip
    assert set(run.trials["status"]) == {"completed"}
    accepted = {(s.perturbation, v.name): v for s in sets for v in s.accepted}
    assert len(accepted) == 2 * len(catalog) == len(run.trials)
    plain = asked[f"react/{ID}/baseline/0/0"][0]
    plain_result = asked[f"react/{ID}/baseline/0/0"][1].messages[-1]["content"][0]["content"]
    for (name, number), given in accepted.items():
        first, second = asked[f"react/{ID}/{name}/{number}/0"]
        assert first.messages[0]["content"][0]["text"] == given.prompt
        assert [t["name"] for t in first.tools] == list(given.offered([t.name for t in payables.tools]))
        assert {k: first.settings[k] for k in given.sampling} == dict(given.sampling)
        assert all(t["description"] == given.tool_descriptions.get(t["name"], t["description"]) for t in first.tools)
        if name != "tool_fault":
            told = second.messages[-1]["content"][0]["content"]
            assert (told == plain_result) == (given.layout is None), "no layout of the catalog is the baseline's"
        if given.layout is not None:
            fetched = Toolbox(payables.tools, payables.new_world()).call("fetch_invoice", NAMED)
            assert told == given.layout.write(fetched)
        if name == "baseline":
            assert (first.tools, first.settings) == (plain.tools, plain.settings)
    faulted = run.trials[run.trials["perturbation"] == "tool_fault"]
    assert set(faulted["exposure"]) == {"delivered"}
    sealed = parse_json((tmp_path / "r" / "plan.json").read_text())["sections"]
    assert len(sealed["variant_sets"]) == len(catalog)
    assert sealed["variants"][f"{ID}/paraphrase/1"]["prompt"] == accepted["paraphrase", "1"].prompt
    again = one(
        payables, "react", script, perturbations=list(catalog), variants=2, variant=sets, out=tmp_path / "r",
        resume=True,
    )  # fmt: skip
    assert again.digest == run.digest
