"""Money in the ledger: reserved before, settled after, never past the cap; whose reservation is whose."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.running.clients import (
    Ledger,
    LedgeredClient,
    ModelFailureError,
    ModelReply,
    ModelRequest,
    Usage,
)
from plumbline.running.clients.owners import is_alive, this_process
from plumbline.running.stops import BudgetStopError, HarnessError
from tests.running.clients.ledger_help import PRICES, SEVEN, Sampler, ask, client


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


OPS = st.lists(st.tuples(st.sampled_from(["reserve", "settle", "unknown", "fail", "refused"]), st.integers(0, 5)))


@settings(max_examples=25, deadline=None)
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
