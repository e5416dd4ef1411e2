"""The ledger's file: one SQLite database, opened once per process, written in short immediate transactions.

Write-ahead log, so readers never wait. Threads of a process queue on a lock rather than poll the database; processes
wait on SQLite's own lock. A commit survives ``kill -9``; where money is at stake it is also forced to the disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plumbline.base.errors import NotFoundError, RunError, SchemaVersionError
from plumbline.running.stops import HarnessError

__all__ = ["FORMAT", "Store"]

FORMAT = "plumbline.ledger/1"
_PATIENCE_S = 60.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS calls (
        id INTEGER PRIMARY KEY, digest TEXT NOT NULL, trial_id TEXT NOT NULL, turn INTEGER NOT NULL,
        attempt INTEGER NOT NULL, model TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('open', 'answered', 'failed', 'lost')),
        failure TEXT, error TEXT, response TEXT,
        tokens_in INTEGER, tokens_out INTEGER, cache_read INTEGER, cache_write INTEGER,
        estimate INTEGER NOT NULL, cost INTEGER, assumed INTEGER NOT NULL DEFAULT 0, price_version TEXT NOT NULL,
        owner TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS by_digest ON calls (digest, attempt)",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_live ON calls (digest) WHERE status IN ('open', 'answered')",
    "CREATE INDEX IF NOT EXISTS by_trial ON calls (trial_id, turn)",
    """CREATE TABLE IF NOT EXISTS totals (
        only INTEGER PRIMARY KEY CHECK (only = 1), settled INTEGER NOT NULL, assumed INTEGER NOT NULL,
        reserved INTEGER NOT NULL)""",
    "INSERT OR IGNORE INTO totals VALUES (1, 0, 0, 0)",
    """CREATE TABLE IF NOT EXISTS statements (id INTEGER PRIMARY KEY, at TEXT NOT NULL, statement TEXT NOT NULL)""",
)


class Store:
    """Connection to a ledger's file that outlives a fork and can be shared by threads."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._pid = 0
        self._closed = False
        self._forced: bool | None = None
        if read_only and not path.is_file():
            raise NotFoundError(f"there is no ledger at {path}; offline, only recorded answers are given")
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            self._check(self._connection())

    def close(self) -> None:
        """Close the file; the log is folded into it."""
        with self._lock:
            if self._db is not None and self._pid == os.getpid():
                self._db.close()
            self._db = None
            self._closed = True

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read, seeing only what is committed."""
        with self._lock:
            yield self._connection()

    @contextmanager
    def writing(self, *, forced: bool) -> Iterator[sqlite3.Connection]:
        """Write in one transaction, all of it or nothing.

        Parameters
        ----------
        forced : bool
            Whether the commit waits for the disk, so that it survives a loss of power too.

        Raises
        ------
        HarnessError
            The file cannot be written; nothing of the transaction stands.
        """
        with self._lock:
            db = self._connection()
            try:
                if forced != self._forced:
                    db.execute(f"PRAGMA synchronous = {'FULL' if forced else 'NORMAL'}")
                    self._forced = forced
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise HarnessError(
                    f"the ledger {self.path} cannot be written ({error}); nothing was changed"
                ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise HarnessError(f"the ledger {self.path} was closed; open it anew")
        if self._db is None or self._pid != os.getpid():  # a connection must not be carried into a forked process
            self._db, self._pid, self._forced = self._connect(), os.getpid(), None
        return self._db

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._connect_read_only() if self.read_only else self._connect_writing()
        except sqlite3.Error as error:
            raise RunError(f"{self.path} is not a ledger that can be opened ({error})") from error

    def _connect_read_only(self) -> sqlite3.Connection:
        """Open without writing; a file that nobody has open, on a disk that cannot be written, is taken as it lies."""
        address = f"{self.path.resolve().as_uri()}?mode=ro"
        db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE_S)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db.close()
            if Path(f"{self.path}-wal").exists():
                raise
            address += "&immutable=1"
            db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return db

    def _connect_writing(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=_PATIENCE_S)
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:  # another process is just switching the new file to its log
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        db.execute("PRAGMA wal_autocheckpoint = 4000")
        known = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if known and "about" not in known:
            db.close()
            raise RunError(
                f"{self.path} is a database but no ledger (its tables: {', '.join(known)}); name another file"
            )
        if not known:
            db.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                db.execute(statement)
            db.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (FORMAT,))
            db.execute("COMMIT")
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        try:
            found = db.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
        except sqlite3.Error as error:
            raise RunError(f"{self.path} is a database but no ledger ({error})") from error
        if found is None or found[0] != FORMAT:
            raise SchemaVersionError(f"{self.path} is of format {found and found[0]!r}; this version reads {FORMAT}")
