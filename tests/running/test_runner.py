"""Studies: trials in pairs, durable, resumed, stopped by money, and the same for any number of threads."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

import pytest

from plumbline.base.errors import ParameterError, RunError
from plumbline.running import (
    Fault,
    HarnessError,
    Journal,
    NoResponseError,
    Progress,
    ProgressLine,
    ReactAgent,
    TrialKey,
    run_order,
    run_plan,
)
from plumbline.running.clients import (
    Ledger,
    LedgeredClient,
    ModelCall,
    ModelReply,
    Prices,
    ScriptedClient,
    Usage,
    parse_price,
)
from plumbline.traces import Plan, Recording, read_run
from tests.running.runner_help import careful, pair, quick

PRICES = Prices({"m": parse_price("in=1000,out=1000", as_of="2026-11-30")})


@pytest.fixture
def system(counting):
    counting.variant = pair
    counting.fault = lambda k: Fault("read", "http_503") if k.perturbation == "tool_fault" else None
    return counting


# rows, order, threads


def test_rows_do_not_depend_on_the_number_of_threads_and_equal_those_of_run_plan(system, tmp_path):
    many = {"perturbations": ["baseline", "p"], "run_id": "r"}
    runs = [quick(system, tmp_path / str(n), workers=n, **many) for n in (1, 7)]
    plan = Plan(("a",), ("T-1", "T-2"), ("baseline", "p"), ("0", "1"), 2)
    serial = run_plan(system, {"a": careful}, plan, run_id="r")
    assert runs[0].digest == runs[1].digest == serial.digest
    assert read_run(tmp_path / "7", Recording).digest == serial.digest


def test_base_and_perturbed_trials_of_a_pair_run_next_to_each_other_and_nobody_is_always_first():
    plan = Plan(("a", "b"), tuple(f"T{i}" for i in range(6)), ("baseline", "p", "q"), ("0", "1"), 2)
    order = run_order([TrialKey.parse(t) for t in plan.trial_ids()], seed=3)
    blocks = [order[i : i + 6] for i in range(0, len(order), 6)]
    assert all(len({(k.task_id, k.variant, k.repetition) for k in block}) == 1 for block in blocks)
    assert all(
        {(k.arm, k.perturbation) for k in b} == {(a, p) for a in "ab" for p in plan.perturbations} for b in blocks
    )
    first = Counter(block[0].perturbation for block in blocks)
    assert len(blocks) == 24
    assert max(first.values()) < 20
    assert [b[0].task_id for b in blocks] != sorted(b[0].task_id for b in blocks)


def test_adding_an_arm_moves_no_trial_past_another():
    def order(arms):
        plan = Plan(arms, ("T1", "T2", "T3"), ("baseline", "p"), ("0", "1"), 3)
        return [k for k in run_order([TrialKey.parse(t) for t in plan.trial_ids()], seed=1) if k.arm == "a"]

    assert order(("a",)) == order(("b", "a", "c"))


def test_each_trial_meets_its_own_fault_and_exposure_says_so(system):
    run = quick(system, perturbations=["baseline", "tool_fault"], arms={"a": careful, "b": careful}, retries=0)
    faulted = run.trials[run.trials["perturbation"] == "tool_fault"]
    assert len(faulted) == 16
    assert set(faulted["exposure"]) == {"delivered"}
    assert set(run.trials[run.trials["perturbation"] == "baseline"]["exposure"]) == {"none_planned"}


def test_a_fault_that_never_fires_says_so(system):
    run = quick(system, fault=lambda key: Fault("read", "http_503", on_call=9))
    assert set(run.trials["exposure"]) == {"not_delivered"}
    assert run.trials["fault"].notna().all()


# infrastructure


@dataclass
class Flaky:
    """Fails the first time it meets each trial."""

    problem: type[Exception] = NoResponseError
    seen: set = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def describe(self):
        return "flaky"

    def for_trial(self, key):
        def act(task, toolbox):
            with self.lock:
                again = key.trial_id in self.seen
                self.seen.add(key.trial_id)
            toolbox.call("read", {})
            if not again:
                raise self.problem("the line went dead")
            return "done"

        return act


@pytest.mark.parametrize("problem", [NoResponseError, HarnessError])
def test_infrastructure_is_tried_again_and_the_attempts_are_kept(system, problem):
    run = quick(system, arms={"a": Flaky(problem)})
    assert set(run.trials["status"]) == {"completed"}
    assert len(run.notes["study"]["attempts"]) == 8
    assert "the line went dead" in run.notes["study"]["attempts"]["a/T-1/baseline/0/0"][0]
    assert len(run.steps) == 16, "only the steps of the attempt that counts"


def test_infrastructure_that_fails_for_good_is_no_behaviour_and_is_run_again_on_resume(system, tmp_path):
    agent = Flaky()
    run = quick(system, tmp_path / "r", arms={"a": agent}, retries=0)
    assert set(run.trials["status"]) == {"no_response"}
    assert not run.notes["study"]["complete"]
    again = quick(system, tmp_path / "r", arms={"a": agent}, retries=0, resume=True)
    assert set(again.trials["status"]) == {"completed"}
    assert again.notes["study"]["complete"]


def test_an_agent_s_own_exception_is_behaviour_and_is_not_tried_again(system):
    agent = Flaky(RuntimeError)
    run = quick(system, arms={"a": agent})
    assert set(run.trials["status"]) == {"agent_error"}
    assert run.notes["study"]["attempts"] == {}
    assert run.notes["study"]["complete"]


def test_a_mistake_in_the_runner_s_own_code_stops_the_study_and_keeps_what_was_finished(system, tmp_path):
    made = []

    def breaking():
        made.append(1)
        if len(made) > 5:
            raise OSError("no more worlds")
        return counter()

    counter, system.new_world = system.new_world, breaking
    with pytest.raises(OSError, match="no more worlds"):
        quick(system, tmp_path / "r", workers=1)
    system.new_world = counter
    assert len((tmp_path / "r" / "journal.jsonl").read_text().splitlines()) == 6
    run = quick(system, tmp_path / "r", workers=1, resume=True)
    assert run.counts().completed == 8
    assert len(system.worlds) == 8, "finished trials were not run again"


# money


def paying(request):
    if request.turn == 0:
        return ModelReply("", (ModelCall("c", "add", '{"by": 1}'),), "tool_use", Usage(100, 10))
    return ModelReply("done", stop="end_turn", usage=Usage(100, 10))


def react(client, model):
    return ReactAgent(client, model, settings={"max_tokens": 10})


def test_the_cap_stops_the_study_cleanly_and_more_money_finishes_it(system, tmp_path):
    calls = []

    def counted(request):
        calls.append((request.trial_id, request.turn))
        return paying(request)

    given = {"arms": {"a": react}, "client": ScriptedClient(counted), "model": "m", "prices": PRICES, "workers": 4}
    full = quick(system, tmp_path / "full", **given, run_id="r")
    paid = full.trials["cost_usd"].sum()
    assert paid == pytest.approx(8 * 2 * 0.11)
    calls.clear()
    cap = 2.8  # a call is reserved at its upper bound, about two dollars here
    run = quick(system, tmp_path / "r", **given, budget=cap, run_id="r")
    statuses = Counter(run.trials["status"])
    assert statuses["budget_stop"] > 0
    assert set(statuses) <= {"completed", "budget_stop"}
    with Ledger(tmp_path / "r" / "ledger.sqlite") as ledger:
        assert ledger.spend().total_usd <= cap
    assert read_run(tmp_path / "r", Recording).digest == run.digest, "what was finished is on disk"
    again = quick(system, tmp_path / "r", **given, budget=1000.0, run_id="r", resume=True)
    assert again.digest == full.digest
    assert max(Counter(calls).values()) == 1, "no answer was paid twice"


def test_an_unknown_price_is_an_error_before_the_first_call(system, tmp_path):
    with pytest.raises(ParameterError, match="price of model 'other'"):
        quick(system, tmp_path / "r", arms={"a": react}, client=ScriptedClient(paying), model="other")
    assert system.worlds == []


def test_a_budget_is_given_in_one_place_only(system, tmp_path):
    with Ledger(tmp_path / "l.sqlite", cap_usd=5) as ledger:
        client = LedgeredClient(ScriptedClient(paying), ledger, PRICES)
        with pytest.raises(ParameterError, match="one place"):
            quick(system, arms={"a": react}, client=client, model="m", budget=1.0)
        assert quick(system, arms={"a": react}, client=client, model="m").counts().completed == 8


def test_offline_answers_from_the_ledger_alone(system, tmp_path):
    given = {"arms": {"a": react}, "model": "m", "prices": PRICES, "run_id": "r"}
    live = quick(system, tmp_path / "r", client=ScriptedClient(paying), **given)
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "ledger.sqlite").write_bytes((tmp_path / "r" / "ledger.sqlite").read_bytes())
    replayed = quick(system, tmp_path / "again", offline=True, **given)
    assert set(replayed.trials["provenance"]) == {"replayed"}
    assert replayed.steps.drop(columns=["run_id"]).equals(live.steps.drop(columns=["run_id"]))
    more = quick(system, tmp_path / "more", offline=False, client=ScriptedClient(paying), **given)
    assert more.digest == live.digest


def test_a_recording_that_is_missing_ends_as_no_response_not_as_behaviour(system, tmp_path):
    given = {"arms": {"a": react}, "model": "m", "prices": PRICES}
    quick(system, tmp_path / "r", client=ScriptedClient(paying), **given, tasks=["T-1"])
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "ledger.sqlite").write_bytes((tmp_path / "r" / "ledger.sqlite").read_bytes())
    run = quick(system, tmp_path / "again", offline=True, **given)
    assert run.trials.groupby("task_id")["status"].unique().map(list).to_dict() == {
        "T-1": ["completed"], "T-2": ["no_response"],
    }  # fmt: skip


# the journal


def test_a_torn_line_is_cut_off_and_its_trial_run_again(system, tmp_path):
    whole = quick(system, tmp_path / "r", run_id="r")
    file = tmp_path / "r" / "journal.jsonl"
    for cut in (1, 40):
        (tmp_path / "r" / "manifest.json").unlink()
        (tmp_path / "r" / "finished.json").unlink(missing_ok=True)
        file.write_bytes(file.read_bytes()[:-cut])
        before = len(system.worlds)
        assert quick(system, tmp_path / "r", run_id="r", resume=True).digest == whole.digest
        assert len(system.worlds) == before + 1


def test_a_journal_that_was_damaged_inside_is_refused(system, tmp_path):
    quick(system, tmp_path / "r")
    file = tmp_path / "r" / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:50] + b"\n"
    file.write_bytes(b"".join(lines))
    (tmp_path / "r" / "manifest.json").unlink()
    with pytest.raises(RunError, match="line 4 is not a line of a journal"):
        quick(system, tmp_path / "r", resume=True)


def test_only_one_process_writes(tmp_path):
    first = Journal(tmp_path / "j", seal="s")
    with pytest.raises(RunError, match="another process"):
        Journal(tmp_path / "j", seal="s")
    first.close()
    Journal(tmp_path / "j", seal="s").close()
    with pytest.raises(RunError, match="belongs to the plan s"):
        Journal(tmp_path / "j", seal="t")


def test_a_finished_run_is_returned_as_it_is_and_a_touched_one_is_not_trusted(system, tmp_path):
    run = quick(system, tmp_path / "r")
    before = len(system.worlds)
    again = quick(system, tmp_path / "r", resume=True)
    assert (again.digest, len(system.worlds)) == (run.digest, before)
    assert again.trials.equals(run.trials)
    assert again.steps.equals(run.steps)
    file = tmp_path / "r" / "manifest.json"
    file.write_text(file.read_text().replace('"complete":true', '"complete":false'))
    assert quick(system, tmp_path / "r", resume=True).digest == run.digest
    assert '"complete":true' in file.read_text()


# progress


def test_progress_tells_rate_spend_and_what_is_left(system, capsys):
    told: list[Progress] = []
    quick(system, progress=told.append)
    assert [p.done for p in told] == list(range(1, 9))
    assert {p.due for p in told} == {8}
    text = str(Progress(50, 200, 10, 2, 25.0, 1.5))
    assert text == "50 of 200 trials, 2.0/s, 1:15 left, 1.5000 USD spent, 10 kept from before, 2 without an answer"
    assert Progress(0, 5, 0, 0, 0.0, None).seconds_left is None
    line = ProgressLine(clock=iter([0.0, 1.0, 20.0, 21.0]).__next__)
    for done in (1, 2, 3, 4):
        line(Progress(done, 4, 0, 0, 1.0, None))
    line.close()
    shown = capsys.readouterr().err.splitlines()
    assert [row.split(" of")[0] for row in shown] == ["1", "3", "4"]
