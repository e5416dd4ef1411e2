"""The ledger: keys, replay, exact money, stops, files that are none."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from plumbline.base.errors import NotFoundError, ParameterError, RunError, SchemaVersionError
from plumbline.running.clients import (
    Backoff,
    Ledger,
    LedgeredClient,
    ModelFailureError,
    ModelReply,
    ModelRequest,
    ReplayClient,
)
from plumbline.running.stops import HarnessError, NoResponseError
from tests.running.clients.ledger_help import PRICES, SEVEN, Sampler, ask, client

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
