"""Both transports against a real server on loopback that misbehaves: each fault gets its class, with the evidence."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from plumbline.base.errors import ParameterError
from plumbline.running.clients import (
    AnthropicClient,
    Backoff,
    Ledger,
    LedgeredClient,
    ModelCall,
    ModelFailureError,
    ModelReply,
    OpenAICompatibleClient,
    Prices,
    RetryingClient,
    Usage,
    assistant_message,
    parse_price,
    tool_message,
)
from plumbline.running.stops import HarnessError, NoResponseError
from tests.running.clients.http_help import DIALECTS, TOOL, ask, plain
from tests.running.clients.loopback import Act, chat_body, messages_body


def with_call(dialect: str, arguments: object) -> str:
    if dialect == "messages":
        block = {"type": "tool_use", "id": "c1", "name": "pay", "input": arguments}
        return json.dumps(messages_body([{"type": "text", "text": "so"}, block], "tool_use"))
    call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": arguments}}
    return json.dumps(chat_body({"role": "assistant", "content": "so", "tool_calls": [call]}, "tool_calls"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_comes_whole(provider, connect, dialect):
    provider.will(Act(plain(dialect)))
    reply = connect(dialect).complete(ask())
    assert (reply.text, reply.calls, reply.model, reply.source) == ("hello", (), "m-1", "live")
    assert reply.usage == Usage(12, 3, None, None)
    assert reply.stop == ("end_turn" if dialect == "messages" else "stop")
    assert reply.raw == json.loads(plain(dialect))


FAILURES = [
    (Act('{"error":{"message":"slow down"}}', 429, {"retry-after": "7"}), "rate_limited", 429, 7.0, False, "slow down"),
    (Act("oh no", 500), "server_error", 500, None, False, "oh no"),
    (Act('{"type":"error"}', 529), "server_error", 529, None, False, "error"),
    (Act('{"error":{"message":"no credit"}}', 400), "rejected", 400, None, False, "no credit"),
    (Act("", close=True), "connection", None, None, True, ""),
    (Act('{"half": ', promised=400), "connection", None, None, True, ""),
    (Act('{"content": [{"type": "te'), "bad_response", None, None, True, '{"content": [{"type": "te'),
    (Act("[]"), "bad_response", None, None, True, "[]"),
    (Act('{"type":"error","error":{"message":"odd"}}'), "bad_response", None, None, True, "odd"),
    (Act("<html>busy</html>", headers={"content-type": "text/html"}), "bad_response", None, None, True, "<html>"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("act", "kind", "status", "hint", "billed", "evidence"), FAILURES)
def test_a_failure_is_classified_with_its_evidence(
    provider, connect, dialect, act, kind, status, hint, billed, evidence
):
    provider.will(act)
    with pytest.raises(ModelFailureError) as caught:
        connect(dialect).complete(ask())
    failure = caught.value
    assert (failure.kind, failure.http_status, failure.retry_after_s) == (kind, status, hint)
    assert failure.may_be_billed is billed
    assert failure.status == "no_response"
    assert evidence in failure.evidence
    assert "t/0" in str(failure)
    assert len(provider.asked) == 1, "a transport makes one attempt; the SDK must not repeat it unseen"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_slow_answer_is_a_timeout(provider, connect, dialect):
    provider.will(Act(plain(dialect), wait_s=1.0))
    with pytest.raises(ModelFailureError) as caught:
        connect(dialect, timeout_s=0.15).complete(ask())
    assert (caught.value.kind, caught.value.may_be_billed) == ("timeout", True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nobody_there_is_a_connection_failure_that_costs_nothing(provider, connect, dialect):
    client = connect(dialect)
    provider.stop()
    with pytest.raises(ModelFailureError) as caught:
        client.complete(ask())
    assert (caught.value.kind, caught.value.may_be_billed) == ("connection", False)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("broken", ['{"n": 45', "", "null", "[1]", "NaN"])
def test_broken_arguments_stay_the_text_they_were(provider, connect, dialect, broken):
    provider.will(Act(with_call(dialect, broken)))
    reply = connect(dialect).complete(ask(tools=[TOOL]))
    assert reply.calls == (ModelCall("c1", "pay", broken),)
    assert reply.text == "so"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("missing", [None])
def test_missing_arguments_do_not_become_an_empty_object(provider, connect, dialect, missing):
    provider.will(Act(with_call(dialect, missing)))
    assert connect(dialect).complete(ask(tools=[TOOL])).calls[0].arguments == ""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_broken_arguments_go_back_to_the_model_as_text(provider, connect, dialect):
    """The next turn must not tell the model that it sent an empty object."""
    said = ModelReply("", calls=(ModelCall("c1", "pay", '{"n": 45'),))
    turns = [{"role": "user", "content": "hi"}, assistant_message(said), tool_message([("c1", "not JSON", True)])]
    provider.will(Act(plain(dialect)))
    connect(dialect).complete(ask(messages=turns, tools=[TOOL], turn=1))
    sent = json.dumps(provider.asked[0]["messages"])
    assert json.dumps('{"n": 45')[1:-1] in sent
    assert '"input": {}' not in sent
    assert '"arguments": "{}"' not in sent


def test_arguments_of_messages_keep_every_digit(provider, connect):
    body = with_call("messages", {"n": "AMOUNT"}).replace('"AMOUNT"', "4500.10")
    provider.will(Act(body))
    assert connect("messages").complete(ask(tools=[TOOL])).calls[0].arguments == '{"n":4500.10}'


def test_arguments_that_are_not_numbers_are_kept_for_the_toolbox_to_refuse(provider, connect):
    provider.will(Act(with_call("messages", {"n": "AMOUNT"}).replace('"AMOUNT"', "NaN")))
    assert connect("messages").complete(ask(tools=[TOOL])).calls[0].arguments == '{"n": NaN}'


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parallel_calls_stay_in_order_and_results_go_back(provider, connect, dialect):
    if dialect == "messages":
        blocks = [{"type": "tool_use", "id": f"c{n}", "name": "pay", "input": {"n": n}} for n in (1, 2, 3)]
        body = messages_body(blocks, "tool_use")
    else:
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "pay", "arguments": f'{{"n":{n}}}'}}
            for n in (1, 2, 3)
        ]
        body = chat_body({"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls")
    provider.will(Act(json.dumps(body)), Act(plain(dialect)))
    client = connect(dialect)
    first = client.complete(ask(tools=[TOOL]))
    assert [call.arguments for call in first.calls] == ['{"n":1}', '{"n":2}', '{"n":3}']
    results = tool_message([("c1", "ok", False), ("c2", "no", True), ("c3", "ok", False)])
    turns = [{"role": "user", "content": "hi"}, assistant_message(first), results]
    client.complete(ask(tools=[TOOL], messages=turns, turn=1))
    sent = provider.asked[1]["messages"]
    if dialect == "messages":
        assert [turn["role"] for turn in sent] == ["user", "assistant", "user"]
        assert [b["tool_use_id"] for b in sent[2]["content"]] == ["c1", "c2", "c3"]
        assert [b.get("is_error", False) for b in sent[2]["content"]] == [False, True, False]
        assert [b["input"] for b in sent[1]["content"]] == [{"n": 1}, {"n": 2}, {"n": 3}]
    else:
        assert [turn["role"] for turn in sent] == ["system", "user", "assistant", "tool", "tool", "tool"]
        assert [turn["tool_call_id"] for turn in sent[3:]] == ["c1", "c2", "c3"]


SILENT = {
    "messages": [messages_body([]), messages_body([{"type": "text", "text": ""}])],
    "chat": [chat_body({"role": "assistant", "content": None}), chat_body({"role": "assistant", "content": ""})],
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("which", [0, 1])
def test_an_empty_answer_is_an_answer_with_its_evidence(provider, connect, dialect, which):
    body = SILENT[dialect][which]
    provider.will(Act(json.dumps(body)))
    reply = connect(dialect).complete(ask())
    assert (reply.text, reply.calls, reply.raw) == ("", (), body)
    assert reply.usage.tokens_out == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_unknown_stop_reason_is_kept_as_it_came(provider, connect, dialect):
    body = messages_body(stop="moon_phase") if dialect == "messages" else chat_body(stop="moon_phase")
    provider.will(Act(json.dumps(body)))
    assert connect(dialect).complete(ask()).stop == "moon_phase"


def test_a_refusal_is_an_answer(provider, connect):
    provider.will(Act(json.dumps(messages_body([], "refusal"))))
    assert connect("messages").complete(ask()).stop == "refusal"
    provider.will(Act(json.dumps(chat_body({"role": "assistant", "content": None, "refusal": "I will not."}))))
    reply = connect("chat").complete(ask())
    assert (reply.stop, reply.text) == ("refusal", "I will not.")


def test_no_choice_at_all_is_a_failure(provider, connect):
    provider.will(Act(json.dumps(chat_body(choices=[]))))
    with pytest.raises(ModelFailureError, match="bad_response"):
        connect("chat").complete(ask())


def test_thinking_goes_back_unchanged(provider, connect):
    thought = {"type": "thinking", "thinking": "hm", "signature": "abc"}
    provider.will(Act(json.dumps(messages_body([thought, {"type": "text", "text": "yes"}]))))
    client = connect("messages")
    reply = client.complete(ask())
    turns = [{"role": "user", "content": "hi"}, assistant_message(reply), {"role": "user", "content": "sure?"}]
    client.complete(ask(messages=turns, turn=1))
    assert provider.asked[1]["messages"][1]["content"][0] == thought


def test_settings_tools_schema_and_cache_marks_are_sent(provider, connect):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    settings = {"max_tokens": 9, "temperature": 0.5, "stop": "END", "top_k": 3}
    request = ask(settings=settings, tools=[TOOL], schema=schema)
    provider.will(Act(plain("messages")))
    connect("messages").complete(request)
    sent = provider.asked[0]
    assert (sent["max_tokens"], sent["temperature"], sent["stop_sequences"], sent["top_k"]) == (9, 0.5, ["END"], 3)
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert sent["tools"][0]["input_schema"] == TOOL["parameters"]
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert sent["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    provider.will(Act(plain("chat")))
    connect("chat").complete(request)
    sent = provider.asked[1]
    assert (sent["max_tokens"], sent["temperature"], sent["stop"], sent["top_k"]) == (9, 0.5, "END", 3)
    assert sent["response_format"]["json_schema"]["schema"] == schema
    assert sent["tools"][0]["function"]["parameters"] == TOOL["parameters"]


def test_cached_tokens_are_told_apart(provider, connect):
    usage = {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20}
    provider.will(Act(json.dumps(messages_body(usage=usage))))
    assert connect("messages").complete(ask()).usage == Usage(5, 3, 70, 20)
    usage = {"prompt_tokens": 75, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 70}}
    provider.will(Act(json.dumps(chat_body(usage=usage))))
    assert connect("chat").complete(ask()).usage == Usage(5, 3, 70, None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_servers_hint_is_honoured(provider, connect, dialect):
    waits = []
    provider.will(Act("{}", 429, {"retry-after": "7"}), Act("{}", 500), Act(plain(dialect)))
    client = RetryingClient(connect(dialect), backoff=Backoff(first_s=2.0), sleep=waits.append)
    assert client.complete(ask()).text == "hello"
    assert 7.0 <= waits[0] <= 8.75
    assert 4.0 <= waits[1] <= 5.0
    assert len(provider.asked) == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_refused_request_is_not_repeated(provider, connect, dialect):
    waits = []
    provider.will(Act('{"error":{"message":"credit balance is too low"}}', 400))
    with pytest.raises(ModelFailureError, match="credit balance"):
        RetryingClient(connect(dialect), sleep=waits.append).complete(ask())
    assert (waits, len(provider.asked)) == ([], 1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_works_inside_a_running_event_loop(provider, connect, dialect, tmp_path):
    provider.will(Act(plain(dialect), wait_s=0.1))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        prices = Prices({"m-1": parse_price("in=1,out=1", as_of="2026-11-30")})
        client = LedgeredClient(connect(dialect), ledger, prices)

        async def several() -> list[ModelReply]:
            client.complete(ask(trial_id="t/first"))  # as in a notebook cell: the loop is running already
            return await asyncio.gather(*(asyncio.to_thread(client.complete, ask(trial_id=f"t/{n}")) for n in range(6)))

        replies = asyncio.run(several())
        assert [reply.text for reply in replies] == ["hello"] * 6
        assert ledger.spend().answered == 7


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_client_that_breaks_is_not_behaviour_of_the_agent(provider, connect, dialect, monkeypatch):
    client = connect(dialect)
    provider.will(Act(plain(dialect)))
    resource = client._client().messages if dialect == "messages" else client._client().chat.completions
    monkeypatch.setattr(type(resource), "create", lambda *a, **k: 1 / 0)
    with pytest.raises(HarnessError, match=r"the client broke \(ZeroDivisionError") as caught:
        client.complete(ask())
    assert caught.value.status == "harness_error"


def test_offline_needs_no_key(tmp_path, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    Ledger(tmp_path / "l.sqlite").close()
    with Ledger(tmp_path / "l.sqlite", offline=True) as offline, pytest.raises(NoResponseError, match="no answer"):
        LedgeredClient(AnthropicClient(), offline).complete(ask())


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for client in (AnthropicClient(), OpenAICompatibleClient()):
        with pytest.raises(ParameterError, match="API_KEY"):
            client.complete(ask())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"settings": {}}, "max_tokens"),
        ({"messages": []}, "no message"),
        ({"messages": [{"role": "boss", "content": "hi"}]}, "role"),
        ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "content block"),
    ],
)
def test_a_request_that_cannot_be_put_into_words_is_refused(provider, connect, changed, words):
    with pytest.raises(ParameterError, match=words):
        connect("messages").complete(ask(**changed))
    assert provider.asked == []


def test_a_failed_attempt_and_the_good_one_have_a_row_each(provider, connect, tmp_path):
    provider.will(Act("oh no", 500), Act('{"content": [{"ty'), Act(plain("messages")))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        prices = Prices({"m-1": parse_price("in=1,out=1", as_of="2026-11-30")})
        client = LedgeredClient(connect("messages"), ledger, prices, sleep=lambda s: None)
        began = time.monotonic()
        client.complete(ask())
        assert time.monotonic() - began < 5
        calls = ledger.calls()
        assert calls["status"].tolist() == ["failed", "failed", "answered"]
        assert calls["attempt"].tolist() == [1, 2, 3]
        assert calls["failure"].tolist()[:2] == ["server_error", "bad_response"]
        assert "oh no" in calls["error"][0]
        assert '{"content": [{"ty' in calls["error"][1]
        assert calls["assumed_usd"][0] == 0
        assert calls["assumed_usd"][1] == calls["estimate_usd"][1] > 0, "an answer came, so it may be charged"
        assert calls["cost_usd"][2] == 15e-6
