"""Faults of a model's provider, planned per trial and turn and delivered by a client around another client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from plumbline.base.errors import ParameterError
from plumbline.running.clients.failures import ModelFailureError
from plumbline.running.clients.protocol import ModelClient, ModelReply, ModelRequest
from plumbline.running.clients.records import encode_reply

__all__ = ["CLIENT_FAULTS", "ClientFault", "FaultyClient"]

CLIENT_FAULTS: Mapping[str, str] = {
    "rate_limit": "HTTP 429 with a hint how long to wait; nothing is asked",
    "server_error": "HTTP 500; nothing is asked",
    "closed_socket": "the connection breaks after the request was sent; the answer is lost",
    "timeout": "the answer comes after the time allowed; it is lost",
    "half_json": "the answer breaks off in the middle",
    "slow": "the answer comes late, but comes",
    "broken_arguments": "the arguments of the first tool call break off in the middle",
    "empty_content": "the answer holds neither words nor calls",
    "unknown_stop": "the answer stopped for a reason nobody knows",
}
"""Faults that can be planned. The first five give no answer, the others change it."""


@dataclass(frozen=True)
class ClientFault:
    """One fault of one turn.

    Parameters
    ----------
    kind : str
        One of ``CLIENT_FAULTS``.
    times : int
        How many attempts in a row meet it, at least 1.
    wait_s : float
        The hint of ``rate_limit`` or the delay of ``slow``, in seconds, at least 0.
    """

    kind: str
    times: int = 1
    wait_s: float = 0.0

    def __post_init__(self) -> None:
        whole = isinstance(self.times, int) and not isinstance(self.times, bool) and self.times >= 1
        if self.kind not in CLIENT_FAULTS or not whole or not self.wait_s >= 0:
            raise ParameterError(
                f"a client fault is one of {', '.join(CLIENT_FAULTS)}; times at least 1, wait_s at least 0 s; "
                f"found {self}"
            )


class FaultyClient:
    """Deliver planned faults around another client.

    Parameters
    ----------
    inner : ModelClient
        Answers where no fault strikes.
    plan : mapping of (trial_id, turn) to ClientFault
        Which turn of which trial meets what; a fault of one trial never serves another.
    sleep : callable
        Waits that many seconds.

    Attributes
    ----------
    delivered : dict
        How many attempts met their fault, by (trial_id, turn). A planned fault that is not in it was never met.

    Examples
    --------
    >>> from plumbline.running.clients.scripted import ScriptedClient
    >>> client = FaultyClient(ScriptedClient(["hello"]), {("t", 0): ClientFault("unknown_stop")})
    >>> client.complete(ModelRequest("m", [], trial_id="t")).stop, client.delivered
    ('planned_unknown_stop', {('t', 0): 1})
    """

    def __init__(
        self,
        inner: ModelClient,
        plan: Mapping[tuple[str, int], ClientFault],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.inner = inner
        self.plan = dict(plan)
        self.delivered: dict[tuple[str, int], int] = {}
        self._sleep = sleep
        self._lock = threading.Lock()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no record may hold: those of the client inside."""
        return tuple(getattr(self.inner, "secrets", ()))

    def complete(self, request: ModelRequest) -> ModelReply:
        """Answer, or deliver the fault planned for this trial and turn."""
        key = (request.trial_id, request.turn)
        fault = self.plan.get(key)
        if fault is None or self.delivered.get(key, 0) >= fault.times:
            return self.inner.complete(request)
        if fault.kind in ("rate_limit", "server_error"):
            self._met(key)
            raise _refusal(fault)
        if fault.kind == "slow":
            self._met(key)
            self._sleep(fault.wait_s)
            return self.inner.complete(request)
        reply = self.inner.complete(request)
        if fault.kind == "broken_arguments" and not reply.calls:
            return reply  # no call, so nothing to break: not delivered
        self._met(key)
        return _damaged(reply, fault)

    def _met(self, key: tuple[str, int]) -> None:
        with self._lock:
            self.delivered[key] = self.delivered.get(key, 0) + 1


def _refusal(fault: ClientFault) -> ModelFailureError:
    if fault.kind == "rate_limit":
        return ModelFailureError(
            "rate_limited", "HTTP 429, planned fault", http_status=429, retry_after_s=fault.wait_s, evidence="planned"
        )
    return ModelFailureError("server_error", "HTTP 500, planned fault", http_status=500, evidence="planned")


def _damaged(reply: ModelReply, fault: ClientFault) -> ModelReply:
    """Return what is left of an answer, or raise what its loss looks like from here."""
    if fault.kind == "closed_socket":
        raise ModelFailureError("connection", "the connection broke, planned fault", may_be_billed=True)
    if fault.kind == "timeout":
        raise ModelFailureError("timeout", "no answer in time, planned fault", may_be_billed=True)
    if fault.kind == "half_json":
        body = encode_reply(reply)
        raise ModelFailureError(
            "bad_response", "the answer broke off, planned fault", evidence=body[: len(body) // 2], may_be_billed=True
        )
    if fault.kind == "broken_arguments":
        first = reply.calls[0]
        cut = first.arguments[: max(1, len(first.arguments) // 2)]
        return replace(reply, calls=(replace(first, arguments=cut), *reply.calls[1:]))
    if fault.kind == "empty_content":
        return replace(reply, text="", calls=())
    return replace(reply, stop="planned_unknown_stop")
