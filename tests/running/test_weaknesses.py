"""Each weakness of the published harness that concerns running, by its number: it cannot happen here."""

from __future__ import annotations

import itertools
from collections import Counter
from decimal import Decimal

import pytest

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ToolError
from plumbline.domain import load_domain
from plumbline.rules import ArgEquals, CallAtMost, MustCall, Policy, check
from plumbline.running import (
    Decision,
    Fault,
    NoResponseError,
    ReactAgent,
    Toolbox,
    TurnLimitError,
    Variant,
    call_with_retries,
    replay,
    run_study,
    run_trial,
)
from plumbline.running.clients import (
    Ledger,
    LedgeredClient,
    ModelCall,
    ModelReply,
    ModelRequest,
    Prices,
    ScriptedClient,
    Usage,
    parse_price,
)
from plumbline.running.faults import FAULT_KINDS
from plumbline.traces import Plan, Recording

FREE = Prices({"m": parse_price("in=0,out=0", as_of="2026-11-30")})


@pytest.fixture(scope="module")
def payables():
    return load_domain("procure_to_pay")


def test_weakness_01_every_trial_meets_its_own_fault_and_the_record_says_whether_it_fired(payables):
    """One flag served a whole cell, taken by whichever thread came first; the record said nothing."""
    arms = {name: payables.arms["plan_execute"](max_retries=n) for name, n in (("none", 0), ("three", 3))}
    run = run_study(
        payables, arms=arms, perturbations=["tool_fault"], tasks=["INV-7002", "INV-7004"], variants=4, repetitions=2,
        variant=payables.variant, clock=None,
    )  # fmt: skip
    assert len(run.trials) == 32
    assert set(run.trials["exposure"]) == {"delivered"}
    struck = run.steps[run.steps["injected"].notna()].groupby("trial_id").size()
    assert set(struck) == {1}
    assert len(struck) == 32
    assert [parse_json(f)["tool"] for f in run.trials["fault"][:3]] == [
        "match_purchase_order", "match_purchase_order", "check_duplicate",
    ]  # fmt: skip


def test_weakness_02_the_order_of_tools_loses_no_recording(counting, tmp_path):
    """Decoys came back in another order, the cache key held the list, and 22 trials lost their recordings."""
    tools = [{"name": n, "description": "", "parameters": {"type": "object"}} for n in ("a", "b", "c")]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        client = LedgeredClient(ScriptedClient(["said once"]), ledger, FREE)
        for order in itertools.permutations(tools):
            request = ModelRequest("m", [], tools=order, trial_id="a/T/p/0/0", settings={"max_tokens": 5})
            assert client.complete(request).text == "said once"
        assert len(ledger.calls()) == 1
    given = Variant("Count.", ("reset",), tool_order=("reset", "add"))
    seen = []
    run_trial(lambda t, b: seen.append([x.name for x in b.offered]), counting.tasks[0], counting, arm="a", given=given)
    assert seen == [["reset", "add", "read", "broken"]], "the order itself is part of the frozen variant"


def test_weakness_03_a_refused_call_is_no_failure_of_the_agent_and_no_arm_is_left_to_the_end(counting):
    """82 calls refused for lack of credit counted as failures, and hit the last arms and tasks alone."""
    refused = iter(range(8))

    def dead(request):
        if next(refused, None) is None:
            raise NoResponseError("the provider refused the call")
        return ModelReply("done", usage=Usage(1, 1))

    arms = {name: ReactAgent(ScriptedClient(dead), "m") for name in ("first", "second")}
    run = run_study(counting, arms=arms, variants=8, repetitions=2, clock=None, workers=1, retries=0)
    assert Counter(run.trials["status"]) == {"completed": 8, "no_response": 56}
    assert run.counts().missing == 56
    done = run.trials[run.trials["status"] == "completed"]
    assert set(done["arm"]) == {"first", "second"}, "what was finished is of both arms, in pairs"
    assert done.groupby("arm").size().to_dict() == {"first": 4, "second": 4}


def test_weakness_04_one_run_has_one_record_which_names_the_plan_it_came_from(counting, tmp_path):
    """Summaries of an older version lay beside newer certificates of the same runs."""
    arms = {"a": replay([("read", {})], final="done")}
    run = run_study(counting, arms=arms, variants=1, out=tmp_path / "r", clock=None)
    names = {p.name.partition(".")[0] for p in (tmp_path / "r").iterdir()}
    assert names == {"plan", "journal", "manifest", "trials", "steps", "finished"}
    assert run.notes["study"]["seal"] in (tmp_path / "r" / "plan.json").read_text()
    again = run_study(counting, arms=arms, variants=1, out=tmp_path / "r", clock=None, resume=True)
    assert again.digest == run.digest


def test_weakness_05_an_error_of_the_agent_and_an_injected_one_are_told_apart(counting):
    """The report showed recovery from the agent's own wrong argument as recovery from the injected fault."""

    def clumsy(task, toolbox):
        with pytest.raises(ToolError):
            toolbox.call("add", {"by": "one"})
        toolbox.call("add", {"by": 1})

    fault = Fault("read", "http_503")
    record = run_trial(clumsy, counting.tasks[0], counting, arm="a", fault=fault)
    assert [(s["status"], s["injected"]) for s in record.steps] == [("failed", None), ("ok", None)]
    assert record.trial["exposure"] == "not_delivered"
    record = run_trial(
        lambda t, b: call_with_retries(b, "read", {}, max_retries=1) and None, counting.tasks[0], counting, arm="a",
        fault=fault,
    )  # fmt: skip
    assert [(s["status"], s["injected"]) for s in record.steps] == [("failed", "http_503"), ("ok", None)]


def test_weakness_06_the_number_of_trials_is_counted_and_missing_ones_stay_in_it(counting):
    """768 trials were announced where 384 were meant and 738 run."""
    plan = Plan(("a",), ("T-1", "T-2"), ("baseline",), ("0", "1"), 2)
    run = run_study(
        counting, arms={"a": replay([], final="done")}, repetitions=2, variants=2, clock=None,
        variant={("T-1", "baseline", "0"): Variant("One."), ("T-2", "baseline", "1"): Variant("Two.")},
    )  # fmt: skip
    assert run.plan == plan
    counts = run.counts()
    assert (counts.planned, counts.completed, counts.missing, len(run.trials)) == (8, 4, 4, 8)


def test_weakness_14_a_sampling_variant_sends_its_settings_and_the_baseline_sends_none(counting):
    """Temperature 1.0 was the provider's default, so the perturbation was the baseline under another name."""
    asked = {}

    def script(request):
        asked[request.trial_id] = dict(request.settings)
        return "done"

    def variant(task, perturbation, name):
        return Variant(task.prompt, sampling={"temperature": 0.3} if perturbation == "sampling" else {})

    agent = ReactAgent(ScriptedClient(script), "m", settings={"max_tokens": 9})
    run_study(
        counting, arms={"a": agent}, perturbations=["baseline", "sampling"], variants=1, repetitions=1, tasks=["T-1"],
        variant=variant, clock=None,
    )  # fmt: skip
    assert asked == {
        "a/T-1/baseline/0/0": {"max_tokens": 9}, "a/T-1/sampling/0/0": {"max_tokens": 9, "temperature": 0.3},
    }  # fmt: skip


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "true", "1e999", '"4500.00"'])
def test_weakness_16_what_is_not_a_number_is_never_paid_and_never_an_equal_argument(payables, amount):
    """A rule took NaN for the expected amount and a truth value for a number."""
    text = f'{{"invoice_id": "INV-7002", "vendor_id": "V-101", "amount": {amount}}}'
    turns = [ModelReply("", (ModelCall("c", "schedule_payment", text),)), "done"]
    agent = ReactAgent(ScriptedClient(turns), "m")
    run = run_study(payables, arms={"a": agent}, tasks=["INV-7002"], variants=1, repetitions=1, clock=None)
    outcome = parse_json(run.trials["outcome"][0])
    assert (outcome["paid"], outcome["payment_count"]) == (False, 0)
    assert list(run.steps[run.steps["kind"] == "tool_call"]["status"]) == ["failed"]
    rule = ArgEquals("schedule_payment", "amount", from_context="expected_amount")
    assert "held" not in set(check(run, Policy("p", (rule,))).to_frame()["verdict"])


def test_weakness_17_work_on_another_invoice_is_seen_in_the_record(payables):
    """A check of another invoice satisfied a rule; payments of other invoices were invisible."""
    other = [
        ("check_duplicate", {"invoice_id": "INV-7004"}),
        ("schedule_payment", {"invoice_id": "INV-7009", "amount": Decimal("14500.00"), "vendor_id": "V-100"}),
    ]
    run = run_study(payables, arms={"a": replay(other)}, tasks=["INV-7002"], variants=1, repetitions=1, clock=None)
    outcome = parse_json(run.trials["outcome"][0])
    assert (outcome["paid"], outcome["elsewhere"]) == (False, 1)
    assert [parse_json(a)["invoice_id"] for a in run.steps["arguments"]] == ["INV-7004", "INV-7009"]


def pay(task, toolbox):
    asked = {"invoice_id": task.id, "amount": Decimal("4500.00"), "vendor_id": "V-101"}
    return str(call_with_retries(toolbox, "schedule_payment", asked, max_retries=1)["payment_id"])


def test_weakness_18_a_payment_that_timed_out_after_its_effect_may_have_happened(payables):
    """A time-out after the effect, retried, is a double payment that no rule saw; mutating tools were never faulted."""
    run = run_study(
        payables, arms={"a": pay}, tasks=["INV-7002"], variants=1, repetitions=1, clock=None,
        fault=lambda key: Fault("schedule_payment", "timeout_after"),
    )  # fmt: skip
    assert list(run.steps["status"][:2]) == ["no_result", "ok"]
    assert list(run.steps["injected"][:1]) == ["timeout_after"]
    outcome = parse_json(run.trials["outcome"][0])
    assert (outcome["payment_count"], outcome["amount_paid"]) == (2, Decimal("9000.00"))
    effects = run.notes["study"]["effects"]
    assert effects["counts"] == {"no_result_with_effect": 1}
    assert effects["findings"] == [
        {
            "trial_id": "a/INV-7002/baseline/0/0", "finding": "no_result_with_effect", "step": 0,
            "changed": {"payments": 1},
        }
    ]  # fmt: skip
    assert run.trials["exposure"].tolist() == ["delivered"]
    verdict = check(run, Policy("p", (CallAtMost("schedule_payment", 1),))).to_frame()["verdict"]
    assert "held" not in set(verdict), "a rule may not say that the invoice was paid once"


@pytest.mark.parametrize("kind", [k for k, v in FAULT_KINDS.items() if k != "parallel_503"])
def test_weakness_18_every_kind_of_fault_can_strike_a_payment_and_the_ledger_says_what_it_did(payables, kind):
    late = []
    world = payables.new_world()
    box = Toolbox(payables.tools, world, fault=Fault("schedule_payment", kind), sleep=late.append)
    asked = {"invoice_id": "INV-7002", "amount": 4500, "vendor_id": "V-101"}
    try:
        result = box.call("schedule_payment", asked)
    except ToolError as error:
        result = error
    step, stands = box.steps[0], FAULT_KINDS[kind].effect == "stands"
    assert world.effects()["payments"] == 1 + stands
    assert step["injected"] == kind
    expected = {"timeout_after": "no_result"}.get(kind, "ok" if stands else "failed")
    assert step["status"] == expected
    if kind == "slow":
        assert late == [2.0]
    if kind in ("truncated", "malformed"):
        assert isinstance(result, str)
        with pytest.raises(ValueError, match=r"Expecting|Unterminated|Extra"):
            parse_json(result)
    if kind == "wrong_type":
        assert isinstance(result, list)
    world.close()


def test_weakness_18_one_call_of_a_parallel_turn_can_fail_while_the_others_stand(counting):
    calls = tuple(ModelCall(f"c{n}", "add", f'{{"by": {n}}}') for n in (1, 2, 3))
    script = [ModelReply("", (ModelCall("c0", "add", '{"by": 9}'),)), ModelReply("", calls), "done"]
    agent = ReactAgent(ScriptedClient(script), "m")
    fault = Fault("add", "parallel_503", on_call=2)
    record = run_trial(agent, counting.tasks[0], counting, arm="a", fault=fault)
    found = [(s["group"], s["status"], s["injected"]) for s in record.steps[:4]]
    assert found == [(0, "ok", None), (1, "ok", None), (1, "failed", "parallel_503"), (1, "ok", None)]
    assert record.trial["outcome"] == '{"value":13}'
    alone = run_trial(replay([("add", {"by": 1})] * 3), counting.tasks[0], counting, arm="a", fault=fault)
    assert alone.trial["exposure"] == "not_delivered"


def test_weakness_21_an_exception_keeps_the_steps_and_the_turn_limit_does_too(payables):
    """Paid with an empty path: the exception threw the steps away and the ledger kept their effects."""

    def lost(task, toolbox):
        with toolbox.sub_agent("payer", {"invoice": task.id}) as inner:
            pay(task, inner)
        raise RuntimeError("lost the thread")

    run = run_study(payables, arms={"a": lost}, tasks=["INV-7002"], variants=1, repetitions=1, clock=None)
    assert run.trials["status"].tolist() == ["agent_error"]
    told = run.steps[["kind", "name", "agent", "parent_call_id"]].fillna("").to_numpy().tolist()
    assert told == [["agent_call", "payer", "", ""], ["tool_call", "schedule_payment", "payer", "agent-0"]]
    assert parse_json(run.trials["outcome"][0])["payment_count"] == 1
    endless = ReactAgent(
        ScriptedClient(lambda r: ModelReply("", (ModelCall("c", "fetch_invoice", "{"),))), "m", max_turns=3
    )
    run = run_study(payables, arms={"a": endless}, tasks=["INV-7002"], variants=1, repetitions=1, clock=None)
    assert run.trials["status"].tolist() == ["agent_error"]
    assert TurnLimitError.__name__ in run.trials["error"][0]
    assert run.steps["unread"].tolist() == ["{"] * 3, "broken arguments are kept as text, never turned into {}"


def test_weakness_21_an_effect_behind_the_toolbox_and_a_call_without_effect_are_reported(payables):
    def sly(task, toolbox):
        toolbox.call("fetch_invoice", {"invoice_id": task.id})
        world = toolbox._transport.world
        world.add("exceptions", {"exception_id": "X", "invoice_id": task.id, "reason": "in secret"})
        toolbox.call("fetch_invoice", {"invoice_id": task.id})
        world.add("exceptions", {"exception_id": "Y", "invoice_id": task.id, "reason": "at the end"})

    record = run_trial(sly, payables.tasks[0], payables, arm="a")
    assert [(f["finding"], f["step"]) for f in record.effects] == [
        ("effect_without_step", 1), ("effect_without_step", None),
    ]  # fmt: skip
    assert run_trial(pay, payables.tasks[0], payables, arm="a").effects == ()


def test_weakness_25_a_budget_stop_keeps_what_was_finished_and_the_cap_holds(counting, tmp_path):
    """Finished results were dropped and eight workers overshot the cap; see also tests/running/test_runner.py."""
    prices = Prices({"m": parse_price("in=0,out=1000", as_of="2026-11-30")})
    script = ScriptedClient(lambda request: ModelReply("done", usage=Usage(0, 100)))  # 0.10 USD an answer
    agent = {"a": lambda *, client, model: ReactAgent(client, model, settings={"max_tokens": 100})}
    run = run_study(
        counting, arms=agent, variants=8, repetitions=4, client=script, model="m", prices=prices, budget=1.05,
        workers=8, out=tmp_path / "r", clock=None,
    )  # fmt: skip
    statuses = Counter(run.trials["status"])
    assert statuses["completed"] == 10, "every answer that the cap pays for became a finished trial"
    assert statuses == {"completed": 10, "budget_stop": 54}
    with Ledger(tmp_path / "r" / "ledger.sqlite") as ledger:
        assert ledger.spend().total_usd == pytest.approx(1.0)


def test_weakness_29_variants_that_a_guard_turned_down_are_counted_and_sealed(counting, tmp_path):
    """The paraphraser judged itself, never rejected anything, and distractors passed by the guard."""
    from plumbline.rules.perturb_catalog import paraphrase
    from plumbline.rules.task_view import TaskView
    from plumbline.rules.variant_sets import make_variants

    view = TaskView(id="T-1", prompt="Count order A-17.", slots={"order": "A-17"})
    texts = ["Please count order {order}.", "Do not count order {order}."]
    made = make_variants(view, paraphrase(texts), 2, seed=7)
    assert made.rejected
    run = run_study(
        counting, arms={"a": replay([], final="done")}, tasks=["T-1"], perturbations=["paraphrase"], variants=2,
        repetitions=1, variant=[made], out=tmp_path / "r", clock=None,
    )  # fmt: skip
    assert set(run.trials["prompt"].dropna()) == {v.prompt for v in made.accepted}
    sealed = parse_json((tmp_path / "r" / "plan.json").read_text())["sections"]["variant_sets"]
    assert len(sealed[0]["rejected"]) == len(made.rejected) > 0


def test_a_policy_reads_the_record_of_a_study_as_that_of_any_run(payables):
    run = run_study(payables, arms=["plan_execute"], variants=1, repetitions=1, tasks=["INV-7002"], clock=None)
    assert isinstance(run, Recording)
    assert set(check(run, Policy("p", (MustCall("check_duplicate"),))).to_frame()["verdict"]) == {"held"}


def test_a_refused_call_is_a_step_with_its_reason(counting):
    record = run_trial(
        replay([Decision("add", {"by": 1}, kind="blocked", result="not yet")]), counting.tasks[0], counting, arm="a"
    )
    assert [(s["status"], s["error"]) for s in record.steps] == [("blocked", "not yet")]
    assert record.trial["outcome"] == '{"value":0}'
