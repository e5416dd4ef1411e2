"""Which client speaks to a provider."""

from __future__ import annotations

import contextlib

import pytest

from plumbline.base.errors import ParameterError
from plumbline.running.clients import AnthropicClient, OpenAICompatibleClient, model_client


@pytest.mark.parametrize(("said", "made"), [
    ({}, AnthropicClient), ({"api": "openai"}, OpenAICompatibleClient),
    ({"base_url": "http://127.0.0.1:1/v1"}, OpenAICompatibleClient),
    ({"api": "anthropic", "base_url": "http://127.0.0.1:1"}, AnthropicClient),
])  # fmt: skip
def test_the_api_follows_from_what_is_said(said, made, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with contextlib.closing(model_client(**said)) as client:
        assert type(client) is made


def test_an_unknown_api_is_refused():
    with pytest.raises(ParameterError, match="api must be one of anthropic, openai; found 'soap'"):
        model_client(api="soap")
