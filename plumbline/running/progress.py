"""How far a study is: counts, rate, spend and what is left, and one line on the error stream that says so."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Progress", "ProgressLine"]


@dataclass(frozen=True)
class Progress:
    """Where a study stands.

    Parameters
    ----------
    done, due : int
        Trials finished by this process, and how many it set out to run.
    kept : int
        Trials that an earlier process had finished.
    unanswered : int
        Trials of this process that ended by infrastructure.
    seconds : float
        Time since it began.
    spent_usd : float or None
        Money spent so far; None if nobody counts it.
    """

    done: int
    due: int
    kept: int
    unanswered: int
    seconds: float
    spent_usd: float | None

    @property
    def rate(self) -> float:
        """Trials a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at this rate; None before the first trial."""
        return (self.due - self.done) / self.rate if self.rate > 0 else None

    def __str__(self) -> str:
        left = self.seconds_left
        parts = [f"{self.done:,} of {self.due:,} trials", f"{self.rate:.1f}/s"]
        parts += [] if left is None else [f"{_clock(left)} left"]
        parts += [] if self.spent_usd is None else [f"{self.spent_usd:.4f} USD spent"]
        parts += [f"{self.kept:,} kept from before"] if self.kept else []
        parts += [f"{self.unanswered:,} without an answer"] if self.unanswered else []
        return ", ".join(parts)


class ProgressLine:
    """Shows progress on one line of a stream: with tqdm where it is installed, else as plain text.

    Parameters
    ----------
    stream : file
        Where to write; on anything but a terminal a line is written at most every ten seconds.
    clock : callable
        Gives seconds.
    """

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._last: float | None = None
        self._bar: Any = None
        self._live = self.stream.isatty()

    def __call__(self, progress: Progress) -> None:
        """Show where the study stands."""
        now, last = self._clock(), progress.done == progress.due
        if self._live and self._tqdm(progress):
            return
        every = 0.2 if self._live else 10.0
        if not last and self._last is not None and now - self._last < every:
            return
        self._last = now
        ends = "\n" if last or not self._live else ""
        self.stream.write(f"\r\x1b[K{progress}{ends}" if self._live else f"{progress}{ends}")
        self.stream.flush()

    def _tqdm(self, progress: Progress) -> bool:
        if self._bar is None:
            try:
                tqdm = importlib.import_module("tqdm").tqdm
            except ImportError:
                self._bar = False
            else:
                self._bar = tqdm(total=progress.due, unit="trial", file=self.stream, dynamic_ncols=True)
        if self._bar is False:
            return False
        spent = "" if progress.spent_usd is None else f"{progress.spent_usd:.4f} USD"
        lost = f"{progress.unanswered} without an answer" if progress.unanswered else ""
        self._bar.set_postfix_str(", ".join(part for part in (spent, lost) if part), refresh=False)
        self._bar.update(progress.done - self._bar.n)
        return True

    def close(self) -> None:
        """End the line, also where a study stopped short of its plan."""
        if self._bar:
            self._bar.close()
        elif self._live and self._last is not None:
            self.stream.write("\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
