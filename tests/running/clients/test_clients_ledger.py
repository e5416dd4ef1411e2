"""The ledger: keys, replay, exact money, stops, files that are none."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import NotFoundError, ParameterError, RunError, SchemaVersionError
from plumbline.running.clients import (
    Backoff,
    Ledger,
    LedgeredClient,
    ModelCall,
    ModelFailureError,
    ModelReply,
    ModelRequest,
    Prices,
    ReplayClient,
    ScriptedClient,
    Usage,
    parse_price,
)
from plumbline.running.clients.owners import is_alive, this_process
from plumbline.running.clients.records import decode_reply, encode_reply, request_key, request_text, stable_json
from plumbline.running.stops import BudgetStopError, HarnessError, NoResponseError

PRICES = Prices({"m": parse_price("in=0,out=1000", as_of="2026-11-30")})
SEVEN = ModelReply("yes", usage=Usage(0, 7))
"""Costs 0.007 USD; with max_tokens 10 at most 0.010."""


def ask(trial: str = "t/0", turn: int = 0, **changed) -> ModelRequest:
    given = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "settings": {"max_tokens": 10}}
    return ModelRequest(**(given | changed), trial_id=trial, turn=turn)


def client(ledger: Ledger, answer: Callable[[ModelRequest], ModelReply] = lambda request: SEVEN, **more):
    return LedgeredClient(ScriptedClient(answer), ledger, PRICES, sleep=lambda s: None, **more)


class Sampler:
    """A model that never says the same twice."""

    def __init__(self) -> None:
        self.asked = 0
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            self.asked += 1
            return ModelReply(f"sample {self.asked}", usage=Usage(0, 7))


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        yield ledger


TOOLS = [{"name": name, "description": name, "parameters": {"type": "object"}} for name in ("a", "b", "c")]


def test_weakness_02_tools_reordered_on_rerun_still_replay(ledger, tmp_path):
    """Reloading variants rebuilt the decoys in another order, and 22 recordings were lost."""
    first = client(ledger).complete(ask(tools=TOOLS))
    with Ledger(tmp_path / "l.sqlite", offline=True) as again:
        for order in (TOOLS[::-1], [TOOLS[1], TOOLS[2], TOOLS[0]]):
            assert replace(client(again).complete(ask(tools=order)), source="live") == first


def test_a_tool_that_changed_is_another_request(ledger):
    client(ledger).complete(ask(tools=TOOLS))
    assert ledger.lookup(ask(tools=[*TOOLS[:2], TOOLS[2] | {"description": "other"}])) is None


def test_replaying_a_trial_replays_it_and_a_repetition_samples_afresh(tmp_path):
    model = Sampler()
    with Ledger(tmp_path / "l.sqlite") as ledger:
        asked = LedgeredClient(model, ledger, PRICES)
        first = {(trial, turn): asked.complete(ask(trial, turn)).text for trial in ("t/0", "t/1") for turn in range(3)}
        assert len(set(first.values())) == 6, "a cache that ignores the repetition hides the spread"
    with Ledger(tmp_path / "l.sqlite") as ledger:
        again = LedgeredClient(model, ledger, PRICES)
        for (trial, turn), text in reversed(first.items()):
            reply = again.complete(ask(trial, turn))
            assert (reply.text, reply.source) == (text, "replayed")
        assert model.asked == 6
        assert again.complete(ask("t/2")).text == "sample 7"


def test_a_request_without_trial_is_refused(ledger):
    with pytest.raises(ParameterError, match="trial_id"):
        client(ledger).complete(ask(""))
    with pytest.raises(ParameterError, match="turn"):
        client(ledger).complete(ask(turn=-1))


def test_offline_gives_what_is_recorded_and_asks_nobody(tmp_path):
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        client(ledger).complete(ask())
    model = Sampler()
    with Ledger(path, offline=True) as offline:
        asked = LedgeredClient(model, offline, PRICES)
        assert asked.complete(ask()).text == "yes"
        with pytest.raises(NoResponseError, match=r"t/1, turn 0.*no answer of m"):
            asked.complete(ask("t/1"))
        assert ReplayClient(offline).complete(ask()).source == "replayed"
    assert model.asked == 0


def test_offline_reads_a_file_on_a_disk_that_cannot_be_written(tmp_path):
    folder = tmp_path / "data"
    with Ledger(folder / "l.sqlite") as ledger:
        client(ledger).complete(ask())
    assert [file.name for file in folder.iterdir()] == ["l.sqlite"], "a closed ledger is one file"
    (folder / "l.sqlite").chmod(0o444)
    folder.chmod(0o555)
    try:
        with Ledger(folder / "l.sqlite", offline=True) as offline:
            assert offline.lookup(ask()) is not None
    finally:
        folder.chmod(0o755)


def test_files_that_are_no_ledger_are_refused(tmp_path):
    with pytest.raises(NotFoundError, match="no ledger at"):
        Ledger(tmp_path / "none.sqlite", offline=True)
    (tmp_path / "text").write_text("this is no database at all, only words " * 20)
    with pytest.raises(RunError, match="not a ledger"):
        Ledger(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    with pytest.raises(RunError, match="no ledger"):
        Ledger(tmp_path / "other.sqlite")
    Ledger(tmp_path / "old.sqlite").close()
    old = sqlite3.connect(tmp_path / "old.sqlite")
    old.execute("UPDATE about SET value = 'plumbline.ledger/0'")
    old.commit()
    old.close()
    with pytest.raises(SchemaVersionError, match="ledger/0"):
        Ledger(tmp_path / "old.sqlite")


@pytest.mark.parametrize("cap", [-1, float("nan"), float("inf")])
def test_weakness_16_a_cap_that_is_no_amount_is_refused(tmp_path, cap):
    """NaN compares false with everything, so it must never become a limit that nothing passes."""
    with pytest.raises(ParameterError, match="cap_usd"):
        Ledger(tmp_path / "l.sqlite", cap_usd=cap)


def test_an_answer_is_on_disk_before_it_is_used(tmp_path):
    """Another connection sees the answer at the moment the caller gets it."""
    with Ledger(tmp_path / "l.sqlite") as ledger, Ledger(tmp_path / "l.sqlite") as other:
        reply = client(ledger).complete(ask())
        assert replace(other.lookup(ask()), source="live") == reply


def test_an_answer_that_cannot_be_written_is_not_given(ledger, monkeypatch):
    """A full disk ends the trial; the answer is not used, and asking again does not wait for ever."""
    asked = client(ledger)

    def answer(request: ModelRequest) -> ModelReply:
        ledger._store._connection().execute("PRAGMA query_only = ON")
        return SEVEN

    with pytest.raises(HarnessError, match="cannot be written"):
        client(ledger, answer).complete(ask())
    ledger._store._connection().execute("PRAGMA query_only = OFF")
    assert ledger.lookup(ask()) is None
    assert asked.complete(ask()).text == "yes"
    assert (ledger.spend().lost, ledger.spend().assumed_usd) == (1, 0.01)


def test_weakness_25_eight_threads_do_not_overshoot_the_cap(tmp_path):
    """The cap holds at every moment, counted as the provider counts, and is used up to less than one more call."""
    taken: list[int] = []
    lock = threading.Lock()
    most = []

    def answer(request: ModelRequest) -> ModelReply:
        with lock:
            taken.append(7)
            most.append(sum(taken) / 1000)
        assert ledger.spend().committed_usd <= 0.3
        return SEVEN

    with Ledger(tmp_path / "l.sqlite", cap_usd=0.3) as ledger:
        asked = client(ledger, answer)

        def work(worker: int) -> tuple[int, str]:
            for n in range(40):
                try:
                    asked.complete(ask(f"{worker}/{n}"))
                except BudgetStopError as stop:
                    return n, str(stop)
            return 40, ""

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(work, range(8)))
        spend = ledger.spend()
    assert all("raise the budget and resume" in stopped for _, stopped in done)
    assert sum(n for n, _ in done) == len(taken) == spend.answered == 42, "42 calls cost 0.294; a 43rd may cost 0.304"
    assert max(most) <= 0.3
    assert (spend.settled_usd, spend.assumed_usd, spend.reserved_usd) == (0.294, 0.0, 0.0)


def test_weakness_25_a_stopped_run_resumes_with_a_larger_budget_and_pays_nothing_twice(tmp_path):
    model = Sampler()
    texts: dict[str, str] = {}
    for cap in (0.02, 0.05, 1.0):
        with Ledger(tmp_path / "l.sqlite", cap_usd=cap) as ledger:
            asked = LedgeredClient(model, ledger, PRICES)
            for n in range(10):
                try:
                    text = asked.complete(ask(f"t/{n}")).text
                except BudgetStopError:
                    break
                assert texts.setdefault(f"t/{n}", text) == text
            assert ledger.spend().total_usd <= cap
    assert len(texts) == 10
    assert model.asked == 10
    with Ledger(tmp_path / "l.sqlite", cap_usd=0.01) as ledger:  # what is recorded is given even above a lower cap
        assert LedgeredClient(model, ledger, PRICES).complete(ask("t/9")).text == texts["t/9"]


def test_a_call_waits_for_money_that_is_only_reserved(tmp_path):
    """Two calls fit by cost but not by estimate: the second waits for the first instead of ending the run."""
    inside, go = threading.Event(), threading.Event()

    def answer(request: ModelRequest) -> ModelReply:
        inside.set()
        go.wait(5)
        return SEVEN

    with Ledger(tmp_path / "l.sqlite", cap_usd=0.018) as ledger, ThreadPoolExecutor(2) as pool:
        asked = client(ledger, answer)
        first = pool.submit(asked.complete, ask("t/0"))
        assert inside.wait(5)
        claim = ledger.reserve(ask("t/1"), estimate_usd=Decimal("0.01"), price_version="1")
        assert (claim.call, claim.reply) == (None, None)
        assert "reserved" in claim.waits_for
        second = pool.submit(asked.complete, ask("t/1"))
        go.set()
        assert first.result(5).text == second.result(5).text == "yes"
        assert ledger.spend().settled_usd == 0.014


def test_threads_that_ask_the_same_pay_once(ledger):
    model = Sampler()
    asked = LedgeredClient(model, ledger, PRICES)
    with ThreadPoolExecutor(8) as pool:
        texts = {reply.text for reply in pool.map(asked.complete, [ask()] * 24)}
    assert (texts, model.asked) == ({"sample 1"}, 1)


def test_weakness_21_the_turns_before_a_failure_are_kept_and_not_paid_again(tmp_path):
    """An exception used to discard what came before it."""
    failing = True
    asked_for = []

    def answer(request: ModelRequest) -> ModelReply:
        asked_for.append(request.turn)
        if request.turn == 2 and failing:
            raise ModelFailureError("rejected", "HTTP 400: credit balance is too low", http_status=400)
        return SEVEN

    def trial(ledger: Ledger) -> None:
        for turn in range(4):
            client(ledger, answer).complete(ask(turn=turn))

    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(NoResponseError, match="credit balance"):
            trial(ledger)
        assert [r.turn for r in ledger.replies()] == [0, 1]
        failing = False
        trial(ledger)
        assert asked_for == [0, 1, 2, 2, 3]
        assert ledger.spend().settled_usd == 0.028
        assert ledger.calls().query("turn == 2")["status"].tolist() == ["failed", "answered"]


def test_weakness_03_no_credit_is_no_answer_of_the_agent(ledger):
    """82 refused calls were scored as violations."""
    refused = client(ledger, lambda r: (_ for _ in ()).throw(ModelFailureError("rejected", "no credit")))
    with pytest.raises(NoResponseError) as caught:
        refused.complete(ask())
    assert caught.value.status == "no_response"
    assert ledger.spend().total_usd == 0


def test_attempts_follow_the_backoff_and_end(ledger):
    waits = []
    failing = client(ledger, lambda r: (_ for _ in ()).throw(ModelFailureError("server_error", "down")))
    failing._sleep = waits.append
    failing.backoff = Backoff(attempts=3, first_s=1.0)
    with pytest.raises(ModelFailureError, match="down"):
        failing.complete(ask())
    assert [1 <= w <= 1.25 for w in waits[:1]] + [2 <= w <= 2.5 for w in waits[1:]] == [True, True]
    assert ledger.calls()["attempt"].tolist() == [1, 2, 3]


def test_an_interrupted_call_is_counted_at_its_estimate_until_written_off(ledger):
    def answer(request: ModelRequest) -> ModelReply:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client(ledger, answer).complete(ask())
    assert ledger.spend().assumed_usd == 0.01
    with pytest.raises(ParameterError, match="reason"):
        ledger.write_off(" ")
    assert ledger.write_off("the bill of 30 November shows nothing") == 0.01
    assert ledger.spend().total_usd == 0
    assert "the bill of 30 November" in ledger.statements()[-1]


def test_a_cost_that_is_not_known_is_not_nothing(ledger):
    """A provider that does not say its tokens: the estimate counts, and the trial's cost is unknown."""
    client(ledger, lambda request: ModelReply("yes")).complete(ask())
    assert (ledger.spend().settled_usd, ledger.spend().assumed_usd) == (0.0, 0.01)
    usage = ledger.trial_usage("t/0")
    assert (usage.calls, usage.tokens_in, usage.tokens_out, usage.cost_usd) == (1, None, None, None)


def test_tokens_and_cost_of_a_trial(ledger):
    asked = client(ledger, lambda request: ModelReply("yes", usage=Usage(3, 7, 20, 5)))
    for turn in range(2):
        asked.complete(ask(turn=turn))
    usage = ledger.trial_usage("t/0")
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (2, 56, 14)
    assert usage.cost_usd == pytest.approx(0.014)
    assert ledger.trial_usage("t/none").calls == 0


def test_a_reservation_is_settled_once(ledger):
    claim = ledger.reserve(ask(), estimate_usd=Decimal("0.01"), price_version="1")
    ledger.settle(claim.call, SEVEN, cost_usd=Decimal("0.007"))
    with pytest.raises(HarnessError, match="not open"):
        ledger.settle(claim.call, SEVEN, cost_usd=Decimal("0.007"))
    assert ledger.spend().settled_usd == 0.007
    with pytest.raises(ParameterError, match="estimate_usd"):
        ledger.reserve(ask("t/1"), estimate_usd=Decimal("NaN"), price_version="1")


def test_an_owner_that_cannot_be_seen_is_given_up_by_age_alone(tmp_path):
    now = datetime(2026, 11, 30, tzinfo=UTC)
    times = [now]
    with Ledger(tmp_path / "l.sqlite", clock=lambda: times[0], abandon_after_s=600) as ledger:
        ledger.reserve(ask(), estimate_usd=Decimal("0.01"), price_version="1")
        with ledger._store.writing(forced=False) as db:
            db.execute("UPDATE calls SET owner = 'elsewhere|boot|space|17|4#0'")
        times[0] = now + timedelta(seconds=599)
        assert ledger.reconcile() == 0
        times[0] = now + timedelta(seconds=601)
        assert ledger.reconcile() == 1
        assert ledger.spend().assumed_usd == 0.01


def test_who_lives():
    me = this_process()
    assert is_alive(me) is True
    host, boot, space, pid, started = me.split("|")
    assert is_alive("|".join([host, boot, space, pid, f"{started}0"])) is False, "the id was used again"
    assert is_alive("|".join([host, "other boot", space, pid, started])) is False
    assert is_alive("|".join(["other", boot, space, pid, started])) is None
    assert is_alive("nonsense") is None


def test_a_running_call_of_this_process_is_not_taken_for_a_lost_one(ledger, tmp_path):
    ledger.reserve(ask(), estimate_usd=Decimal("0.01"), price_version="1")
    with Ledger(tmp_path / "l.sqlite") as other:
        assert other.reconcile() == 0
        assert "under way" in other.reserve(ask(), estimate_usd=Decimal("0.01"), price_version="1").waits_for


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates too


@given(text=ANY_TEXT, arguments=ANY_TEXT, raw=st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_a_reply_reads_back_equal(text, arguments, raw):
    reply = ModelReply(text, (ModelCall("c", "pay", arguments),), "end_turn", Usage(1, None, 3), "m", raw)
    assert replace(decode_reply(encode_reply(reply)), source="live") == reply


@given(value=VALUES)
def test_the_fast_text_is_the_canonical_text(value):
    assert stable_json(value) == canonical_json(value)


@given(tools=st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6), data=st.data())
def test_only_the_order_of_tools_does_not_matter(tools, data):
    described = [{"name": name, "parameters": {}} for name in tools]
    base = ask(tools=described)
    assert request_key(replace(base, tools=data.draw(st.permutations(described)))) == request_key(base)
    others = [
        replace(base, turn=1), replace(base, trial_id="t/1"), replace(base, model="n"), replace(base, system="x"),
        replace(base, settings={"max_tokens": 11}), replace(base, schema={}), replace(base, messages=[]),
        replace(base, tools=[*described, {"name": "z", "parameters": {}}]),
    ]  # fmt: skip
    assert len({request_key(other) for other in [base, *others]}) == len(others) + 1


def test_decimals_and_floats_have_keys_and_surrogates_have_none():
    assert '"limit":4500.00' in request_text(ask(settings={"limit": Decimal("4500.00")}))
    with pytest.raises(ParameterError, match="no JSON"):
        request_text(ask(system="\ud800"))
    with pytest.raises(ParameterError, match="no JSON"):
        request_text(ask(settings={"temperature": float("nan")}))
    with pytest.raises(ParameterError, match="share a name"):
        request_text(ask(tools=[TOOLS[0], TOOLS[0]]))


OPS = st.lists(st.tuples(st.sampled_from(["reserve", "settle", "unknown", "fail", "refused"]), st.integers(0, 5)))


@settings(max_examples=40, deadline=None)
@given(ops=OPS)
def test_totals_are_the_sums_of_the_rows_and_never_pass_the_cap(tmp_path_factory, ops):
    with Ledger(tmp_path_factory.mktemp("l") / "l.sqlite", cap_usd=0.04) as ledger:
        open_calls: dict[int, int] = {}
        for op, n in ops:
            if op == "reserve":
                try:
                    claim = ledger.reserve(ask(f"t/{n}"), estimate_usd=Decimal("0.01"), price_version="1")
                except BudgetStopError:
                    continue
                if claim.call is not None:
                    open_calls[n] = claim.call
            elif n in open_calls:
                call = open_calls.pop(n)
                if op in ("settle", "unknown"):
                    ledger.settle(call, SEVEN, cost_usd=Decimal("0.007") if op == "settle" else None)
                else:
                    ledger.fail(call, ModelFailureError("timeout", "late", may_be_billed=op == "fail"))
            assert ledger.spend().committed_usd <= 0.04
        with ledger._store.reading() as db:
            totals = db.execute("SELECT settled, assumed, reserved FROM totals").fetchone()
            sums = db.execute(
                "SELECT ifnull(sum(cost), 0), sum(assumed), ifnull(sum(estimate) FILTER (WHERE status = 'open'), 0)"
                " FROM calls"
            ).fetchone()
        assert totals == (sums[0], sums[1] or 0, sums[2])


def test_answers_come_in_order_page_by_page(ledger, monkeypatch):
    monkeypatch.setattr("plumbline.running.clients.accounts._PAGE", 3)
    asked = client(ledger)
    for n in (4, 1, 3, 0, 2):
        for turn in (1, 0):
            asked.complete(ask(f"t/{n}", turn))
    assert [(r.trial_id, r.turn) for r in ledger.replies()] == [(f"t/{n}", turn) for n in range(5) for turn in (0, 1)]
    assert all(r.reply.text == "yes" for r in ledger.replies())


def test_a_closed_ledger_says_so(tmp_path):
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger.close()
    with pytest.raises(HarnessError, match="closed"):
        ledger.spend()
