"""Between a study and its model: a ledger with a cap, or the one the client brings."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.running.clients.ledger import Ledger
from plumbline.running.clients.ledgered import LedgeredClient, ReplayClient
from plumbline.running.clients.prices import Prices
from plumbline.running.clients.protocol import ModelClient

__all__ = ["GuardedClient", "cost_of", "guard_client", "spending"]


@dataclass(frozen=True)
class GuardedClient:
    """A client that records what it is answered, with the prices it counts by."""

    client: ModelClient | None
    prices: Prices | None = None
    own: Ledger | None = None

    def close(self) -> None:
        """Close the ledger if it was opened here."""
        if self.own is not None:
            self.own.close()


def guard_client(
    client: ModelClient | None, path: Path, *, model: str | None, prices: Prices | None, budget: float | None,
    offline: bool,
) -> GuardedClient:  # fmt: skip
    """Give a client a ledger, unless it has one.

    Parameters
    ----------
    client : ModelClient or None
        Who answers; None with a model and ``offline`` means the ledger alone.
    path : Path
        The ledger's file.
    model : str or None
        Model that will be asked.
    prices : Prices or None
        What it costs; by default the dated table.
    budget : float or None
        Cap in US dollars.
    offline : bool
        Never ask, only replay.

    Raises
    ------
    ParameterError
        A client is given without a model; the client's own ledger disagrees with ``budget`` or ``offline``; the price
        of the model is not known.
    NotFoundError
        Offline, and there is no ledger.
    """
    if client is None and not (offline and model is not None):
        return GuardedClient(None)
    if model is None:
        raise ParameterError("a client needs the name of the model that it is asked for: give model=")
    own = getattr(client, "ledger", None)
    if own is not None:
        if budget is not None:
            raise ParameterError("the client has a ledger with a cap of its own; give the budget in one place only")
        if offline and not getattr(own, "offline", False):
            raise ParameterError("offline needs a ledger that is opened offline: Ledger(path, offline=True)")
        return GuardedClient(client, getattr(client, "prices", prices))
    prices = Prices() if prices is None else prices
    prices.of(model)  # an unknown price is an error before anything is asked
    if not offline:
        path.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(path, cap_usd=budget, offline=offline)
    guarded = ReplayClient(ledger) if client is None else LedgeredClient(client, ledger, prices)
    return GuardedClient(guarded, prices, ledger)


def spending(client: ModelClient | None, *, every: float = 0.5) -> Callable[[], float | None]:
    """Return a function that gives the money spent so far; the ledger is asked at most twice a second."""
    ledger = getattr(client, "ledger", None)
    if ledger is None:
        return lambda: None
    lock, known = threading.Lock(), {"at": float("-inf"), "usd": 0.0}

    def spent() -> float:
        with lock:
            if time.monotonic() - known["at"] >= every:
                known.update(at=time.monotonic(), usd=ledger.spend().total_usd)
            return known["usd"]

    return spent


def cost_of(client: Any, model: str, usage: Any) -> float | None:
    """Return what an answer cost, None if nobody knows."""
    prices = getattr(client, "prices", None)
    if prices is None:
        return None
    found = prices.cost(model, usage)
    return None if found is None else float(found)
