"""Trying again: how long to wait after which failure, and a client that does it where no ledger does."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from plumbline.base.errors import ParameterError
from plumbline.running.clients.failures import ModelFailureError
from plumbline.running.clients.protocol import ModelClient, ModelReply, ModelRequest

__all__ = ["Backoff", "RetryingClient"]


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """How often to try, and how long to wait between attempts.

    The wait grows by ``factor`` from ``first_s``, is never shorter than the server's hint, and is spread by up to a
    quarter by a draw that depends on the request alone, so that parallel trials do not return in step and a rerun
    waits as long.

    Parameters
    ----------
    attempts : int
        Attempts in all, at least 1.
    first_s : float
        Seconds before the second attempt.
    factor : float
        Growth from one wait to the next, at least 1.
    longest_s : float
        A wait longer than this is not made: a hint beyond it ends the trial with the failure.

    Examples
    --------
    >>> hint = ModelFailureError("rate_limited", "slow down", retry_after_s=7.0)
    >>> Backoff().wait_s(1, hint, key="react/INV-1/baseline/0/0") >= 7.0
    True
    """

    attempts: int = 4
    first_s: float = 2.0
    factor: float = 2.0
    longest_s: float = 120.0

    def __post_init__(self) -> None:
        whole = isinstance(self.attempts, int) and not isinstance(self.attempts, bool) and self.attempts >= 1
        if not whole or not (self.first_s >= 0 and self.factor >= 1 and self.longest_s >= 0):
            raise ParameterError(f"attempts, factor at least 1 and first_s, longest_s at least 0; found {self}")

    def wait_s(self, attempt: int, failure: ModelFailureError, *, key: str) -> float | None:
        """Return the seconds to wait after an attempt (from 1), or None if there shall be no other."""
        if attempt >= self.attempts or not failure.may_be_repeated:
            return None
        draw = int.from_bytes(hashlib.sha256(f"{key}|{attempt}".encode()).digest()[:4], "big") / 2**32
        planned = min(self.first_s * self.factor ** (attempt - 1), self.longest_s)
        asked = failure.retry_after_s or 0.0
        if asked > self.longest_s:
            return None
        return max(planned, asked) * (1 + draw / 4)


class RetryingClient:
    """Repeat failed attempts of another client; for use without a ledger, which repeats them itself.

    Parameters
    ----------
    inner : ModelClient
        Makes one attempt at a time.
    backoff : Backoff
        How often and how long.
    sleep : callable
        Waits that many seconds.
    """

    def __init__(
        self, inner: ModelClient, *, backoff: Backoff | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.inner = inner
        self.backoff = Backoff() if backoff is None else backoff
        self._sleep = sleep

    def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request, trying again where that can help.

        Raises
        ------
        ModelFailureError
            The last attempt failed, or the failure cannot be mended by another.
        """
        attempt = 1
        while True:
            try:
                return self.inner.complete(request)
            except ModelFailureError as failure:
                wait = self.backoff.wait_s(attempt, failure, key=f"{request.trial_id}/{request.turn}")
                if wait is None:
                    raise
            self._sleep(wait)
            attempt += 1
