"""The ledger: every answer kept under the trial and turn that asked, every dollar reserved before it is spent.

How a call goes: ``reserve`` writes an open row with the most the call can cost, then the call is made, then ``settle``
writes the answer and its cost in one transaction and only then hands the answer on. So an answer that was used is on
disk, and what is spent and what is reserved never pass the cap together, however many threads and processes share the
file.

What a crash leaves is an open row. Its owner is named by host, boot, process and start time, so whether it still lives
is known, not guessed; the row of a dead owner becomes ``lost``, with a statement. Nobody can say whether the provider
did the work, so a lost call counts at its estimate until ``write_off`` records why it need not. An owner on another
host or in another container cannot be seen; its row is given up after ``abandon_after_s``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from plumbline.base.errors import ParameterError, PlumblineError
from plumbline.running.clients.accounts import read_answer, read_calls, read_replies, read_spend, read_trial
from plumbline.running.clients.failures import ModelFailureError
from plumbline.running.clients.owners import is_alive, this_process
from plumbline.running.clients.protocol import ModelReply, ModelRequest
from plumbline.running.clients.records import (
    Claim,
    Recorded,
    Spend,
    TrialUsage,
    decode_reply,
    digest_of,
    encode_reply,
    from_pico,
    request_text,
    to_pico,
)
from plumbline.running.clients.secrets import Secrets
from plumbline.running.clients.store import Store
from plumbline.running.stops import BudgetStopError, HarnessError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Ledger"]

_OPEN = ("id", "digest", "owner", "started_at", "estimate", "trial_id", "turn")


class Ledger:
    """One file of recorded answers and spend, shared by threads and processes.

    Parameters
    ----------
    path : path
        The SQLite file; made if it is not there.
    cap_usd : float, optional
        The most that may be spent, over the life of the file, in US dollars; None for no cap.
    offline : bool
        Only give what is recorded: the file is opened for reading and must exist.
    abandon_after_s : float
        Age in seconds at which a reservation is given up whose owner cannot be seen from here.
    clock : callable
        Gives the time with its zone.

    Raises
    ------
    ParameterError
        The cap is negative or no number.
    NotFoundError
        Offline, and there is no such file.
    RunError
        The file is no ledger.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/l.sqlite") as ledger:
    ...     claim = ledger.reserve(ModelRequest("m", [], trial_id="t"), estimate_usd=Decimal("0.02"), price_version="1")
    ...     _ = ledger.settle(claim.call, ModelReply("yes"), cost_usd=Decimal("0.01"))
    ...     ledger.spend().settled_usd
    0.01
    """

    def __init__(
        self,
        path: str | Path,
        *,
        cap_usd: float | Decimal | None = None,
        offline: bool = False,
        abandon_after_s: float = 1800.0,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        cap = None if cap_usd is None else Decimal(str(cap_usd))
        if cap is not None and not (cap.is_finite() and cap >= 0):
            raise ParameterError(f"cap_usd must be at least 0 dollars, or None for no cap; found {cap_usd!r}")
        if not abandon_after_s > 0:
            raise ParameterError(f"abandon_after_s must be above 0 seconds; found {abandon_after_s!r}")
        self.path = Path(path)
        self.offline = offline
        self._cap = None if cap is None else to_pico(cap)
        self._abandon = timedelta(seconds=abandon_after_s)
        self._clock = clock or _utc_now
        self._secrets = Secrets()
        self._serial = next(_serials)
        self._flying: set[int] = set()
        self._store = Store(self.path, read_only=offline)
        if not offline:
            self.reconcile()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def keep_out(self, *secrets: str) -> None:
        """Name keys that must not reach the file; a text shorter than 12 characters is no key and is ignored."""
        self._secrets.add(*secrets)

    def key(self, request: ModelRequest) -> str:
        """Return the digest under which the answer to a request is kept.

        Raises
        ------
        ParameterError
            The request has no trial id, is no JSON, or carries a key, so that it must be neither sent nor recorded.
        """
        text = request_text(request)
        self._secrets.refuse(request, text)
        return digest_of(text)

    def lookup(self, request: ModelRequest, *, key: str | None = None) -> ModelReply | None:
        """Return the recorded answer to a request, None if there is none; ``key`` saves working it out again."""
        with self._store.reading() as db:
            return read_answer(db, key or self.key(request))

    def reserve(
        self, request: ModelRequest, *, estimate_usd: Decimal, price_version: str, key: str | None = None
    ) -> Claim:
        """Ask to make a call that costs at most ``estimate_usd``.

        Parameters
        ----------
        request : ModelRequest
            What will be asked.
        estimate_usd : Decimal
            The most the call can cost, at least 0.
        price_version : str
            Version of the price it was estimated with.
        key : str, optional
            Digest of the request, if it is known already.

        Returns
        -------
        Claim
            A reservation; or the answer, if someone else got it meanwhile; or what it waits for: the same request is
            under way, or money is reserved that may come free.

        Raises
        ------
        BudgetStopError
            What is spent leaves no room for the estimate.
        """
        if not (estimate_usd.is_finite() and estimate_usd >= 0):
            raise ParameterError(f"estimate_usd must be at least 0; found {estimate_usd}")
        digest, estimate = key or self.key(request), to_pico(estimate_usd)
        with self._store.writing(forced=estimate > 0) as db:
            tried = db.execute("SELECT status, response FROM calls WHERE digest = ?", (digest,)).fetchall()
            states = dict(tried)
            if "answered" in states:
                return Claim(reply=decode_reply(states["answered"]))
            if "open" in states and not self._release(db, digest):
                return Claim(waits_for="the same request is under way elsewhere")
            if not self._fits(db, estimate):
                return Claim(waits_for="money that other calls have reserved")
            _move(db, -estimate)
            made = db.execute(
                "INSERT INTO calls (digest, trial_id, turn, attempt, model, status, estimate, price_version, owner,"
                " started_at) VALUES (?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)",
                (digest, request.trial_id, request.turn, len(tried) + 1, request.model, estimate, price_version,
                 self._me(), self._now()),
            )  # fmt: skip
        self._flying.add(int(made.lastrowid or 0))
        return Claim(call=made.lastrowid)

    def settle(self, call: int | None, reply: ModelReply, *, cost_usd: Decimal | None) -> ModelReply:
        """Record an answer and its cost, then hand the answer on; it must not be used before.

        Parameters
        ----------
        call : int
            The reservation.
        reply : ModelReply
            The answer; keys in it are scrubbed.
        cost_usd : Decimal or None
            Its cost; None if it is not known, so that the estimate counts.

        Returns
        -------
        ModelReply
            The answer as it will be replayed, with source ``live``.

        Raises
        ------
        HarnessError
            The reservation is not open, or the file cannot be written.
        """
        text = self._secrets.strip(encode_reply(reply))
        usage = reply.usage
        with self._landing(call), self._store.writing(forced=cost_usd is None or cost_usd > 0) as db:
            estimate = _reserved(db, call)
            cost = None if cost_usd is None else to_pico(cost_usd)
            assumed = estimate if cost is None else 0
            db.execute(
                "UPDATE calls SET status = 'answered', response = ?, tokens_in = ?, tokens_out = ?, cache_read = ?,"
                " cache_write = ?, cost = ?, assumed = ?, ended_at = ? WHERE id = ?",
                (text, usage.tokens_in, usage.tokens_out, usage.cache_read, usage.cache_write, cost, assumed,
                 self._now(), call),
            )  # fmt: skip
            _move(db, estimate, settled=cost or 0, assumed=assumed)
        return decode_reply(text, source=reply.source)

    def fail(self, call: int | None, failure: BaseException) -> None:
        """Record that an attempt gave no answer; one that may have been charged counts at its estimate."""
        if isinstance(failure, ModelFailureError):
            kind, billed, words = failure.kind, failure.may_be_billed, f"{failure}\n{failure.evidence}"
        elif isinstance(failure, PlumblineError):
            kind, billed, words = "not_sent", False, repr(failure)
        else:
            kind, billed, words = "interrupted", True, repr(failure)
        with self._landing(call), self._store.writing(forced=billed) as db:
            estimate = _reserved(db, call)
            assumed = estimate if billed else 0
            db.execute(
                "UPDATE calls SET status = 'failed', failure = ?, error = ?, cost = ?, assumed = ?, ended_at = ?"
                " WHERE id = ?",
                (kind, self._secrets.strip_error(words.strip()), None if billed else 0, assumed, self._now(), call),
            )
            _move(db, estimate, assumed=assumed)

    def reconcile(self) -> int:
        """Give up the reservations of processes that have ended; return how many calls that lost."""
        with self._store.reading() as db:
            if not db.execute("SELECT 1 FROM calls WHERE status = 'open' LIMIT 1").fetchone():
                return 0
        with self._store.writing(forced=True) as db:
            return self._release(db)

    def write_off(self, reason: str) -> float:
        """Stop counting money that is only assumed to be spent, because the provider's bill says otherwise.

        Parameters
        ----------
        reason : str
            How it is known; recorded as a statement.

        Returns
        -------
        float
            US dollars no longer counted.
        """
        if not reason.strip():
            raise ParameterError("write_off needs a reason, such as what the provider's bill shows")
        with self._store.writing(forced=True) as db:
            total = db.execute("SELECT assumed FROM totals").fetchone()[0]
            db.execute("UPDATE calls SET assumed = 0 WHERE assumed > 0")
            db.execute("UPDATE totals SET assumed = 0")
            self._state(db, f"written off {from_pico(total)} USD of assumed cost: {reason.strip()}")
        return from_pico(total)

    def spend(self) -> Spend:
        """Return what is spent, assumed and reserved."""
        with self._store.reading() as db:
            return read_spend(db, cap=self._cap)

    def trial_usage(self, trial_id: str) -> TrialUsage:
        """Return calls, tokens and cost of one trial's answers; None where a provider did not say."""
        with self._store.reading() as db:
            return read_trial(db, trial_id)

    def calls(self) -> pd.DataFrame:
        """Return every attempt, one row each, in order of reservation; amounts in US dollars."""
        with self._store.reading() as db:
            return read_calls(db)

    def replies(self) -> Iterator[Recorded]:
        """Yield every recorded answer in order of trial and turn, a thousand read at a time."""
        last: tuple[str, int, int] = ("", -1, 0)
        while True:
            with self._store.reading() as db:
                page, last = read_replies(db, after=last)
            if not page:
                return
            yield from page

    def statements(self) -> list[str]:
        """Return what was decided about money without an answer: calls lost, amounts written off."""
        with self._store.reading() as db:
            return [f"{at} {said}" for at, said in db.execute("SELECT at, statement FROM statements ORDER BY id")]

    def _fits(self, db: Connection, estimate: int) -> bool:
        """Say whether the estimate fits under the cap now; raise if it never will."""
        if self._cap is None or estimate == 0:
            return True
        for last in (False, True):
            settled, assumed, reserved = db.execute("SELECT settled, assumed, reserved FROM totals").fetchone()
            if settled + assumed + reserved + estimate <= self._cap:
                return True
            if settled + assumed + estimate > self._cap:
                raise BudgetStopError(
                    f"the cap of {from_pico(self._cap)} USD is reached: {from_pico(settled)} spent, "
                    f"{from_pico(assumed)} assumed, and the next call can cost {from_pico(estimate)}. What is recorded "
                    f"is kept: raise the budget and resume"
                )
            if not last and not self._release(db):
                break
        return False

    def _release(self, db: Connection, digest: str | None = None) -> int:
        """Turn the open rows of processes that have ended into lost ones."""
        where = "" if digest is None else " AND digest = ?"
        rows = db.execute(
            f"SELECT {', '.join(_OPEN)} FROM calls WHERE status = 'open'{where}", () if digest is None else (digest,)
        ).fetchall()
        lost = [row for row in rows if self._given_up(row[0], owner=row[2], started=row[3])]
        for call, _, owner, started, estimate, trial_id, turn in lost:
            words = (
                f"lost: trial {trial_id}, turn {turn}, begun {started}; its process ({owner}) ended without an answer. "
                f"Counted at its estimate of {from_pico(estimate)} USD"
            )
            db.execute(
                "UPDATE calls SET status = 'lost', error = ?, assumed = ?, ended_at = ? WHERE id = ?",
                (words, estimate, self._now(), call),
            )
            _move(db, estimate, assumed=estimate)
            self._state(db, words)
        return len(lost)

    def _given_up(self, call: int, *, owner: str, started: str) -> bool:
        if owner == self._me():  # of this very ledger: still open on disk only if writing its end failed
            return call not in self._flying
        alive = is_alive(owner.rpartition("#")[0])
        if alive is None:
            return self._clock() - datetime.fromisoformat(started) > self._abandon
        return not alive

    @contextmanager
    def _landing(self, call: int | None) -> Iterator[None]:
        try:
            yield
        finally:
            self._flying.discard(call or 0)

    def _me(self) -> str:
        return f"{this_process()}#{self._serial}"

    def _state(self, db: Connection, words: str) -> None:
        db.execute("INSERT INTO statements (at, statement) VALUES (?, ?)", (self._now(), words))

    def _now(self) -> str:
        return self._clock().isoformat()


_serials = count()


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _reserved(db: Connection, call: int | None) -> int:
    found: Any = db.execute("SELECT estimate FROM calls WHERE id = ? AND status = 'open'", (call,)).fetchone()
    if found is None:
        raise HarnessError(f"call {call} of the ledger is not open; every reservation is settled or failed once")
    return int(found[0])


def _move(db: Connection, estimate: int, *, settled: int = 0, assumed: int = 0) -> None:
    if not (estimate or settled or assumed):
        return
    db.execute(
        "UPDATE totals SET reserved = reserved - ?, settled = settled + ?, assumed = assumed + ?",
        (estimate, settled, assumed),
    )
