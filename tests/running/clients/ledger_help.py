"""What the ledger tests share: a price, a request, an answer of known cost, and a model that never repeats itself."""

from __future__ import annotations

import threading
from collections.abc import Callable

from plumbline.running.clients import (
    Ledger,
    LedgeredClient,
    ModelReply,
    ModelRequest,
    Prices,
    ScriptedClient,
    Usage,
    parse_price,
)

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
