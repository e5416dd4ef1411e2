"""Planned faults of a provider: delivered to one trial and turn, counted, and seen by the ledger as the real thing."""

from __future__ import annotations

import pytest

from plumbline.base.errors import ParameterError
from plumbline.running.clients import (
    CLIENT_FAULTS,
    ClientFault,
    FaultyClient,
    Ledger,
    LedgeredClient,
    ModelCall,
    ModelFailureError,
    ModelReply,
    ModelRequest,
    Prices,
    ScriptedClient,
    Usage,
    parse_price,
)
from plumbline.running.clients.failures import retry_after, scrub
from plumbline.running.stops import NoResponseError

PRICES = Prices({"m": parse_price("in=0,out=1000", as_of="2026-11-30")})
CALLING = ModelReply("so", (ModelCall("c1", "pay", '{"amount": 4500.00}'),), "tool_use", Usage(0, 7), "m", {"id": "x"})


def ask(trial: str = "t/0", turn: int = 0) -> ModelRequest:
    return ModelRequest("m", [], settings={"max_tokens": 10}, trial_id=trial, turn=turn)


def faulty(kind: str, *, times: int = 1, wait_s: float = 0.0, waits: list[float] | None = None) -> FaultyClient:
    plan = {("t/0", 0): ClientFault(kind, times, wait_s)}
    return FaultyClient(
        ScriptedClient(lambda request: CALLING), plan, sleep=(waits if waits is not None else []).append
    )


@pytest.mark.parametrize(
    ("kind", "failure", "billed"),
    [
        ("rate_limit", "rate_limited", False),
        ("server_error", "server_error", False),
        ("closed_socket", "connection", True),
        ("timeout", "timeout", True),
        ("half_json", "bad_response", True),
    ],
)
def test_a_fault_that_loses_the_answer(kind, failure, billed):
    client = faulty(kind, wait_s=7.0)
    with pytest.raises(ModelFailureError) as caught:
        client.complete(ask())
    assert (caught.value.kind, caught.value.may_be_billed) == (failure, billed)
    if kind == "rate_limit":
        assert caught.value.retry_after_s == 7.0
    if kind == "half_json":
        assert caught.value.evidence.startswith('{"text":"so"')
    assert client.complete(ask()) == CALLING, "a fault of one attempt strikes once"
    assert client.delivered == {("t/0", 0): 1}


def test_a_fault_that_changes_the_answer():
    broken = faulty("broken_arguments").complete(ask())
    assert broken.calls[0].arguments == '{"amount"'
    assert broken.text == "so"
    empty = faulty("empty_content").complete(ask())
    assert (empty.text, empty.calls, empty.raw) == ("", (), {"id": "x"})
    assert faulty("unknown_stop").complete(ask()).stop not in ("end_turn", "tool_use")
    waits: list[float] = []
    assert faulty("slow", wait_s=9.0, waits=waits).complete(ask()) == CALLING
    assert waits == [9.0]


@pytest.mark.parametrize("kind", sorted(CLIENT_FAULTS))
def test_weakness_01_a_fault_belongs_to_one_trial_and_turn(kind):
    """One shared flag used to serve all arms, taken by whoever came first."""
    client = faulty(kind)
    for other in (ask("t/1"), ask("t/0", 1)):
        assert client.complete(other) == CALLING
    assert client.delivered == {}


def test_a_fault_with_nothing_to_strike_is_not_counted_as_delivered():
    client = FaultyClient(ScriptedClient(["words only"]), {("t/0", 0): ClientFault("broken_arguments")})
    assert client.complete(ask()).text == "words only"
    assert client.delivered == {}


def test_the_ledger_repeats_counts_and_keeps_the_evidence(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        waits: list[float] = []
        client = LedgeredClient(faulty("half_json", times=2), ledger, PRICES, sleep=waits.append)
        assert client.complete(ask()).text == "so"
        assert len(waits) == 2
        calls = ledger.calls()
        assert calls["failure"].tolist()[:2] == ["bad_response", "bad_response"]
        assert '{"text":"so"' in calls["error"][0]
        assert (ledger.spend().settled_usd, ledger.spend().assumed_usd) == (0.007, 0.02)


def test_a_hint_longer_than_one_would_wait_ends_the_trial(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        waits: list[float] = []
        client = LedgeredClient(faulty("rate_limit", wait_s=3600.0), ledger, PRICES, sleep=waits.append)
        with pytest.raises(ModelFailureError, match="rate_limited"):
            client.complete(ask())
        assert waits == []


@pytest.mark.parametrize(
    "bad", [("odd", 1, 0.0), ("slow", 0, 0.0), ("slow", True, 0.0), ("slow", 1, -1.0), ("slow", 1, float("nan"))]
)
def test_a_fault_that_cannot_be_is_refused(bad):
    with pytest.raises(ParameterError, match="client fault"):
        ClientFault(*bad)


def test_a_script_says_when_it_ends_and_refuses_what_it_cannot_say(tmp_path):
    with pytest.raises(NoResponseError, match="ends after 1"):
        ScriptedClient(["one"]).complete(ask(turn=1))
    for script in ("text", 5):
        with pytest.raises(ParameterError, match="script"):
            ScriptedClient(script)
    with pytest.raises(ParameterError, match="ModelReply or text"):
        ScriptedClient(lambda request: None).complete(ask())
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(NoResponseError):
            LedgeredClient(ScriptedClient([]), ledger, PRICES).complete(ask())
        assert ledger.spend().total_usd == 0, "nothing was sent, so nothing is assumed"


def test_hints_in_every_spelling():
    from datetime import UTC, datetime

    now = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, now=now) == 30.0
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, now=now) == 0.0
    for bad in ("-3", "nan", "inf", "", "later"):
        assert retry_after({"retry-after": bad}, now=now) is None


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-AbCdEf0123456789",
        "Authorization: Bearer abcdefghijklmnop",
        "'x-api-key': 'abcdefghijklmnop'",
        '{"api_key": "abcdefghijklmnop"}',
    ],
)
def test_whatever_has_the_shape_of_a_key_is_scrubbed(text):
    assert "AbCdEf" not in scrub(text)
    assert "abcdef" not in scrub(text)
    assert "[redacted]" in scrub(text)


def test_ordinary_words_are_not_scrubbed():
    text = "the task-force asked; invoice INV-7002 of 4500.00 is on hold, bearer of news"
    assert scrub(text) == text
