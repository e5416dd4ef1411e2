"""A key goes to its provider and nowhere else: not into the ledger, not into an error, not to another server."""

from __future__ import annotations

import json

import pytest

from plumbline.base.errors import ParameterError
from plumbline.running.clients import (
    AnthropicClient,
    Ledger,
    LedgeredClient,
    ModelFailureError,
    OpenAICompatibleClient,
    Prices,
    parse_price,
)
from tests.running.clients.http_help import DIALECTS, KEY, ask, plain
from tests.running.clients.loopback import Act


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_key_reaches_the_ledger(provider, connect, dialect, tmp_path):
    """The server repeats the key in an error, in a header and in its answer."""
    told = f'{{"error":{{"message":"bad key {KEY}, authorization: Bearer {KEY}"}}}}'
    echo = plain(dialect).replace("hello", f"your key is {KEY}")
    provider.will(Act(told, 500, {"x-echo": KEY}), Act(echo))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        prices = Prices({"m-1": parse_price("in=1,out=1", as_of="2026-11-30")})
        client = LedgeredClient(connect(dialect), ledger, prices, sleep=lambda s: None)
        assert client.complete(ask()).text == "your key is [redacted]"
        with pytest.raises(ParameterError, match="API key"):
            client.complete(ask(system=f"use {KEY}", turn=1))
        with pytest.raises(ParameterError, match="settings are recorded"):
            client.complete(ask(settings={"max_tokens": 5, "extra_headers": {"x": "y"}}, turn=2))
        assert len(provider.asked) == 2
        assert KEY in json.dumps(provider.headers[0]), "the key does go to the provider"
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert b"redacted" in stored


def test_a_key_of_the_environment_is_not_sent_to_a_server_of_ones_own(provider, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    provider.will(Act(plain("chat")), Act(plain("messages")))
    for client in (OpenAICompatibleClient(base_url=f"{provider.url}/v1"), AnthropicClient(base_url=provider.url)):
        assert client.complete(ask()).text == "hello"
        assert client.secrets == ()
        client.close()
    assert len(provider.headers) == 2
    assert KEY not in json.dumps(provider.headers)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_of_any_shape_stays_out_of_what_the_trial_says(provider, dialect):
    """A trial's error is written into the run; a key without the usual shape must not stand there."""
    key = "correct horse battery"
    client = (
        AnthropicClient(api_key=key, base_url=provider.url)
        if dialect == "messages"
        else OpenAICompatibleClient(api_key=key, base_url=f"{provider.url}/v1")
    )
    provider.will(Act(f'{{"error":{{"message":"not a key: {key}"}}}}', 401), Act(f"half of {key}"))
    for _ in range(2):
        with pytest.raises(ModelFailureError) as caught:
            client.complete(ask())
        assert key not in f"{caught.value} {caught.value.evidence} {caught.value.__cause__}"
        assert "[redacted]" in caught.value.evidence
    client.close()
