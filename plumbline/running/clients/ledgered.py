"""The client everyone uses: recorded answers are replayed, others are reserved, asked for, recorded, then given."""

from __future__ import annotations

import time
from collections.abc import Callable

from plumbline.base.errors import PlumblineError
from plumbline.running.clients.backoff import Backoff
from plumbline.running.clients.failures import ModelFailureError
from plumbline.running.clients.ledger import Ledger
from plumbline.running.clients.prices import Prices
from plumbline.running.clients.protocol import ModelClient, ModelReply, ModelRequest
from plumbline.running.stops import HarnessError, NoResponseError

__all__ = ["LedgeredClient", "ReplayClient"]


class ReplayClient:
    """Answer from a ledger alone.

    Parameters
    ----------
    ledger : Ledger
        Where the answers are recorded.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def complete(self, request: ModelRequest) -> ModelReply:
        """Return the recorded answer.

        Raises
        ------
        NoResponseError
            None is recorded for this model, conversation, tools, settings, trial and turn.
        """
        reply = self.ledger.lookup(request)
        if reply is None:
            raise NoResponseError(
                f"trial {request.trial_id}, turn {request.turn}: no answer of {request.model} is recorded in "
                f"{self.ledger.path} for this request. Run it with a live client, or from the ledger that recorded it"
            )
        return reply


class LedgeredClient:
    """Put a ledger between a study and a model.

    Safe to call from several threads, with several processes on the same ledger: the same request is paid once, the cap
    is never passed, and each attempt has its row.

    Parameters
    ----------
    inner : ModelClient
        Makes one attempt at a time; its ``secrets``, if it has any, are kept out of the ledger.
    ledger : Ledger
        Where answers and spend are kept. If it is offline, ``inner`` is never asked.
    prices : Prices, optional
        What calls cost; by default the dated table.
    backoff : Backoff, optional
        How often to try and how long to wait.
    sleep : callable
        Waits that many seconds.
    """

    def __init__(
        self,
        inner: ModelClient,
        ledger: Ledger,
        prices: Prices | None = None,
        *,
        backoff: Backoff | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.inner = inner
        self.ledger = ledger
        self.prices = Prices() if prices is None else prices
        self.backoff = Backoff() if backoff is None else backoff
        self._sleep = sleep
        if not ledger.offline:  # offline nobody is asked, so no key is needed
            ledger.keep_out(*getattr(inner, "secrets", ()))

    def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request from the record, or live and then recorded.

        Raises
        ------
        BudgetStopError
            The cap leaves no room for the call.
        NoResponseError
            Offline without a record; or, as ``ModelFailureError``, every attempt failed.
        HarnessError
            The client inside broke, or the ledger cannot be written.
        ParameterError
            The price is not known, or the request carries a key.
        """
        key = self.ledger.key(request)
        if self.ledger.offline:
            return ReplayClient(self.ledger).complete(request)
        if (reply := self.ledger.lookup(request, key=key)) is not None:
            return reply
        attempt = 1
        while True:
            try:
                return self._once(request, key)
            except ModelFailureError as failure:
                wait = self.backoff.wait_s(attempt, failure, key=f"{request.trial_id}/{request.turn}")
                if wait is None:
                    raise
            self._sleep(wait)
            attempt += 1

    def _once(self, request: ModelRequest, key: str) -> ModelReply:
        price = self.prices.of(request.model)
        estimate = self.prices.estimate(request)
        pause = 0.001
        while True:
            claim = self.ledger.reserve(request, estimate_usd=estimate, price_version=price.version, key=key)
            if claim.reply is not None:
                return claim.reply
            if claim.call is not None:
                break
            time.sleep(pause)  # not the injected sleep: another thread or process has to move on
            pause = min(pause * 2, 0.05)
        try:
            reply = self.inner.complete(request)
        except BaseException as failure:
            self.ledger.fail(claim.call, failure)
            if isinstance(failure, PlumblineError) or not isinstance(failure, Exception):
                raise
            what = f"{type(failure).__name__}: {failure}"
            raise HarnessError(
                f"trial {request.trial_id}, turn {request.turn}: the model client broke ({what})"
            ) from failure
        return self.ledger.settle(claim.call, reply, cost_usd=price.cost(reply.usage))
