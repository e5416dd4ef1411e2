"""Many trials at once: threads that take the next trial, try again where infrastructure failed, and write each down."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from plumbline.running.journal import Journal
from plumbline.running.progress import Progress
from plumbline.running.system import TrialKey
from plumbline.running.trial import TrialRecord

__all__ = ["RERUN", "Pool"]

RERUN = ("not_run", "no_response", "harness_error", "budget_stop")
"""Statuses that say nothing of the agent; a resumed study runs such trials again."""


class Pool:
    """Runs trials in threads and writes each to the journal before the next is begun.

    Parameters
    ----------
    run : callable
        Runs one trial.
    journal : Journal
        Where finished trials go.
    workers : int
        Threads.
    retries : int
        How often a trial that infrastructure ended is tried again at once.
    tell : callable, optional
        Told after every trial where the study stands.
    spent : callable
        Gives the money spent so far, None if nobody counts it.
    kept : int
        Trials that were finished before.
    """

    def __init__(
        self, run: Callable[[TrialKey], TrialRecord], journal: Journal, *, workers: int, retries: int,
        tell: Callable[[Progress], None] | None, spent: Callable[[], float | None], kept: int,
    ) -> None:  # fmt: skip
        self._run, self._journal, self._workers, self._retries = run, journal, workers, retries
        self._tell, self._spent, self._kept = tell, spent, kept
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._done = self._unanswered = self._due = 0
        self._began = 0.0
        self.out_of_money = False

    def work(self, keys: Sequence[TrialKey]) -> None:
        """Run the trials; return when all are done, or when the cap on spending was reached.

        Raises
        ------
        Exception
            What broke in a worker; trials that were finished are in the journal.
        """
        self._due, self._began = len(keys), time.monotonic()
        queue = iter(keys)
        threads = [
            threading.Thread(target=self._take, args=(queue,), name=f"plumbline-{n}", daemon=True)
            for n in range(min(self._workers, len(keys)))
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.5)  # in slices, so that an interrupt is heard
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def _take(self, queue: Iterator[TrialKey]) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    key = next(queue, None)
                if key is None:
                    return
                record = self._attempt(key)
                self._journal.append(record)
                self._note(record)
        except BaseException as problem:
            self._failure = self._failure or problem
            self._stop.set()

    def _attempt(self, key: TrialKey) -> TrialRecord:
        ended: list[str] = []
        while True:
            record = self._run(key)
            if len(ended) >= self._retries or not _worth_another(record) or self._stop.is_set():
                return dataclasses.replace(record, attempts=tuple(ended))
            ended.append(f"{record.trial['status']}: {record.trial['error']}")

    def _note(self, record: TrialRecord) -> None:
        status = record.trial["status"]
        with self._lock:
            if status == "budget_stop":
                self.out_of_money = True
                self._stop.set()
            self._done += 1
            self._unanswered += status in RERUN
            if self._tell is not None:
                seconds = time.monotonic() - self._began
                self._tell(Progress(self._done, self._due, self._kept, self._unanswered, seconds, self._spent()))


def _worth_another(record: TrialRecord) -> bool:
    """Infrastructure may work the second time; a mistake in a tool's code will not mend itself."""
    bug = any(step["error_type"] == "tool_bug" for step in record.steps)
    return record.trial["status"] in ("no_response", "harness_error") and not bug
