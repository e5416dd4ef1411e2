"""A misbehaving provider on loopback, and clients of either dialect for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plumbline.running.clients import AnthropicClient, Ledger, OpenAICompatibleClient
from tests.running.clients.http_help import KEY
from tests.running.clients.loopback import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.stop()


@pytest.fixture
def connect(provider):
    """Make a client of either dialect for the server; all are closed afterwards."""
    made = []

    def make(dialect: str, *, timeout_s: float = 5.0):
        if dialect == "messages":
            made.append(AnthropicClient(api_key=KEY, base_url=provider.url, timeout_s=timeout_s))
        else:
            made.append(OpenAICompatibleClient(api_key=KEY, base_url=f"{provider.url}/v1", timeout_s=timeout_s))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        yield ledger
