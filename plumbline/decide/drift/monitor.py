"""The monitor: sessions in, alerts in words out, and a state that survives a restart."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from plumbline.base.errors import InputError, NotFoundError, ParameterError, SchemaVersionError
from plumbline.decide.drift import looking
from plumbline.decide.drift.alerts import Alert, Alerts, span
from plumbline.decide.drift.ruling import DriftRules
from plumbline.decide.drift.sessions import Session, sessions_of
from plumbline.rules import Policy
from plumbline.traces import Recording, write_text

__all__ = ["SCHEMA", "DriftMonitor", "read_monitor"]

SCHEMA = "plumbline.drift/1"


class DriftMonitor:
    """Watch the completed sessions of one agent as they come.

    Parameters
    ----------
    rules : DriftRules, optional
        By default the sound ones.
    name : str
        What is watched, for its reader.

    Examples
    --------
    >>> monitor = DriftMonitor(DriftRules(method="public"))
    >>> usual = [Session(id=f"s{i}", tools=("read", "shell"), tokens_in=100 + i % 3) for i in range(10)]
    >>> [len(monitor.observe(one)) for one in usual] == [0] * 10
    True
    >>> print(monitor.observe(Session(id="s10", tools=("read", *["shell"] * 15), tokens_in=101))[0].text)
    called shell 14 times more than baseline (15 a session against 1): session s10 against 10 sessions s0 to s9
    """

    def __init__(self, rules: DriftRules | None = None, *, name: str = "agent") -> None:
        self.rules = rules or DriftRules()
        self.name = name
        self.baseline: list[Session] = []
        self.window: list[Session] = []
        self.failures = 0
        self.decided = 0
        self.cusum = self.rules.cusum()
        self.seen: dict[str, None] = {}
        self._alerts: list[Alert] = []

    @property
    def alerts(self) -> Alerts:
        """Every alert so far."""
        return Alerts(self._alerts)

    @property
    def ready(self) -> bool:
        """Whether the baseline is complete."""
        return len(self.baseline) >= self.rules.baseline

    def observe(self, session: Session) -> Alerts:
        """Take in one completed session and return what it sets off.

        Parameters
        ----------
        session : Session
            In the order in which sessions finish.

        Returns
        -------
        Alerts
            Empty while the baseline is being gathered; failures are watched from the first session on.

        Raises
        ------
        ParameterError
            The session was seen before.
        """
        if session.id in self.seen:
            raise ParameterError(f"session {session.id!r} was seen before; a monitor counts every session once")
        self.seen[session.id] = None
        found = self._conformance(session)
        if not self.ready:
            self.baseline.append(session)
        elif self.rules.method == "public":
            found += looking.public(session, self.baseline)
            self.baseline.append(session)
        else:
            found += looking.single(session, self.baseline, self.rules)
            self.window.append(session)
            if len(self.window) == self.rules.window:
                found += looking.window(self.window, self.baseline, self.rules, turn=len(self.seen))
                self.window = []
        self._alerts += found
        return Alerts(found)

    def observe_run(
        self, recording: Recording, *, policy: Policy | None = None, severity: str = "critical", arm: str | None = None
    ) -> Alerts:
        """Take in the sessions of a run that were not seen before, as a growing or received run hands them over.

        Parameters
        ----------
        recording, policy, severity, arm
            As in :func:`sessions_of`.

        Returns
        -------
        Alerts
            What the new sessions set off.
        """
        every = sessions_of(recording, policy=policy, severity=severity, arm=arm)
        fresh = [one for one in every if one.id not in self.seen]
        return Alerts([alert for one in fresh for alert in self.observe(one)])

    def _conformance(self, session: Session) -> list[Alert]:
        if session.conforms is None:
            return []
        self.decided += 1
        self.failures += not session.conforms
        self.cusum = self.cusum.after([not session.conforms])
        alarmed, rule = looking.failing(self.cusum, self.failures, self.decided, self.rules)
        if not alarmed:
            return []
        text = (
            f"{self.failures} of {self.decided} decided sessions up to {session.id} broke a rule, against an accepted "
            f"rate of {self.rules.usual:.3g}; the count starts again"
        )
        alert = Alert(
            feature="conformance", sessions=(session.id,), text=text, rule=rule,
            found=self.failures / self.decided, usual=self.rules.usual,
        )  # fmt: skip
        self.restart_conformance()
        return [alert]

    def restart_conformance(self) -> None:
        """Start counting failures again, as after a release."""
        self.failures, self.decided, self.cusum = 0, 0, self.rules.cusum()

    def false_alarms(self) -> pd.DataFrame:
        """Return the false alarms to expect in 100 sessions, see ``DriftRules.false_alarms``."""
        return self.rules.false_alarms(self.baseline[: self.rules.baseline])

    def not_watched(self) -> dict[str, str]:
        """Return what cannot be watched, with the reason; empty while the baseline is being gathered."""
        return looking.not_watched(self.baseline, self.rules) if self.ready else {}

    def to_dict(self) -> dict[str, Any]:
        """Return the whole state as JSON values."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "rules": self.rules.to_dict(),
            "baseline": [one.to_dict() for one in self.baseline],
            "window": [one.to_dict() for one in self.window],
            "seen": list(self.seen),
            "failures": self.failures,
            "decided": self.decided,
            "cusum": [self.cusum.value, self.cusum.seen],
            "alerts": [one.to_dict() for one in self._alerts],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DriftMonitor:
        """Read a monitor from JSON values; it goes on where it stopped."""
        if values.get("schema") != SCHEMA:
            raise SchemaVersionError(f"schema {values.get('schema')!r}; this version reads {SCHEMA!r}")
        made = cls(DriftRules.from_dict(values["rules"]), name=str(values["name"]))
        made.baseline = [Session.from_dict(one) for one in values["baseline"]]
        made.window = [Session.from_dict(one) for one in values["window"]]
        made.seen = dict.fromkeys(values["seen"])
        made.failures, made.decided = int(values["failures"]), int(values["decided"])
        value, seen = values["cusum"]
        start = made.rules.cusum()
        made.cusum = type(start)(usual=start.usual, feared=start.feared, limit=start.limit, value=value, seen=seen)
        made._alerts = [Alert.from_dict(one) for one in values["alerts"]]
        return made

    def save(self, path: str | Path) -> Path:
        """Write the state to a file, whole or not at all."""
        path = Path(path)
        write_text(path, json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        return path

    def summary(self) -> str:
        """Return what is watched, by which rules, with how many false alarms to expect."""
        if not self.ready:
            state = f"gathering its baseline, {len(self.baseline)} of {self.rules.baseline} sessions"
        else:
            state = f"baseline {span([one.id for one in self.baseline])}"
        expected = self.false_alarms()["per_100_sessions"].sum()
        lines = [
            f"drift monitor of {self.name}, {self.rules.method} rules: {len(self.seen)} sessions, {state}",
            f"expected false alarms in 100 sessions: {expected:.2f}",
            *(f"not watched: {name}, {why}" for name, why in self.not_watched().items()),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self._alerts)])

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return head + self.alerts._repr_html_()


def read_monitor(path: str | Path) -> DriftMonitor:
    """Read a monitor's state from a file.

    Parameters
    ----------
    path : path
        Written by ``DriftMonitor.save``.

    Returns
    -------
    DriftMonitor

    Raises
    ------
    NotFoundError
        There is no such file.
    SchemaVersionError
        Another version of the format.
    InputError
        Not JSON, or not a whole state.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no monitor state {path}; a new monitor starts with DriftMonitor()")
    try:
        return DriftMonitor.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except SchemaVersionError as error:
        raise SchemaVersionError(f"{path}: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is not a whole monitor state ({error!r}); start a new one: DriftMonitor()") from None
