"""Which rules a monitor alarms by, and how many false alarms they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.decide.drift.sessions import NUMBERS, Session
from plumbline.stats import NOMINAL_Z3, BernoulliCusum, jaccard_false_alarm, zscore_false_alarm, zscore_threshold

__all__ = ["DriftRules"]

METHODS = ("sound", "public")
CONFORMANCE = ("cusum", "e_process")


@dataclass(frozen=True, kw_only=True)
class DriftRules:
    """How a monitor decides.

    ``sound``, the default: a session alarms when one of its numbers, on the log scale, is beyond the t-based threshold
    *and* beyond every baseline session; every ``window`` sessions are tested as one against the baseline, numbers by
    rank, tools by G, order by MMD, sessions as units, Holm over the questions; failures by a CUSUM or an e-process.
    ``public``: |z| above 3 on an expanding baseline, and Jaccard below 0.5 between successive tool sets.

    Parameters
    ----------
    method : {'sound', 'public'}
        See above.
    baseline : int, optional
        First sessions that are taken as usual; by default 20, for ``public`` 10; ``sound`` needs at least 20.
    window : int
        Sessions that are tested together, at least 4.
    alpha : float
        Chance that a window alarms though nothing changed, in (0, 1).
    session_rate : float
        Chance that a single session alarms though nothing changed, over all numbers, in (0, 1).
    conformance : {'cusum', 'e_process'}
        How failures are watched.
    usual, feared, limit : float
        Of the CUSUM; ``usual`` also is the rate the e-process must exceed.
    draws, seed : int
        Random reassignments of a permutation test, and where they start.

    Examples
    --------
    >>> DriftRules(method="public").baseline, DriftRules().baseline
    (10, 20)
    """

    method: str = "sound"
    baseline: int = 0
    window: int = 10
    alpha: float = 0.01
    session_rate: float = NOMINAL_Z3
    conformance: str = "cusum"
    usual: float = 0.02
    feared: float = 0.10
    limit: float = 3.0
    draws: int = 1_999
    seed: int = 20260701

    def __post_init__(self) -> None:
        if self.method not in METHODS or self.conformance not in CONFORMANCE:
            found = f"method {self.method!r}, conformance {self.conformance!r}"
            raise ParameterError(f"{found}; choose from {', '.join(METHODS)} and from {', '.join(CONFORMANCE)}")
        sound = self.method == "sound"
        if self.baseline == 0:
            object.__setattr__(self, "baseline", 20 if sound else 10)
        least = {"baseline": 20 if sound else 2, "window": 4, "draws": 99, "seed": 0}
        for name, lowest in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
                why = "; with fewer sessions a t threshold finds nothing" if name == "baseline" else ""
                raise ParameterError(f"{name} is {value!r}; give a whole number of at least {lowest}{why}")
        for name in ("alpha", "session_rate"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                raise ParameterError(f"{name} is {value!r}; give a number between 0 and 1, both excluded")
        self.cusum()

    def cusum(self) -> BernoulliCusum:
        """Return the CUSUM at 0."""
        return BernoulliCusum(usual=self.usual, feared=self.feared, limit=self.limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DriftRules:
        """Read the rules from JSON values."""
        return cls(**values)

    def false_alarms(self, baseline: Sequence[Session] = ()) -> pd.DataFrame:
        """Say how many false alarms each rule is expected to give in 100 sessions of an agent that does not change.

        Parameters
        ----------
        baseline : sequence of Session
            What the Jaccard rule depends on; without it that rule's rate is not known (NaN).

        Returns
        -------
        DataFrame
            ``rule, per_session, per_100_sessions, basis``.
        """
        rows = self._public(baseline) if self.method == "public" else self._sound()
        frame = pd.DataFrame(rows, columns=["rule", "per_session", "basis"]).astype({"per_session": "float64"})
        frame.insert(2, "per_100_sessions", 100 * frame["per_session"])
        return frame

    def _public(self, baseline: Sequence[Session]) -> list[list[Any]]:
        rate = zscore_false_alarm(self.baseline)
        basis = f"exact for normal data after {self.baseline} sessions, not the {NOMINAL_Z3:.2%} it is believed to be"
        rows: list[list[Any]] = [[f"z above 3: {word}", rate, basis] for word in NUMBERS.values()]
        names = sorted({tool for one in baseline for tool in one.tools})
        use = [sum(name in one.tools for one in baseline) / len(baseline) for name in names]
        known = jaccard_false_alarm(use) if baseline else float("nan")
        words = "exact for tools used as often as in the baseline, each on its own" if baseline else "no baseline yet"
        return [*rows, ["Jaccard below 0.5: tool set", known, words]]

    def _sound(self) -> list[list[Any]]:
        each = self.session_rate / len(NUMBERS)
        single = f"exact for log-normal numbers; at most 1/{self.baseline + 1} for any"
        rows: list[list[Any]] = [[f"t threshold: {word}", each, single] for word in NUMBERS.values()]
        rows.append(
            [f"window of {self.window}: Holm over numbers, mix and order", self.alpha / self.window,
             f"at most {self.alpha:g} a window for any distribution"]
        )  # fmt: skip
        if self.conformance == "cusum":
            every = self.cusum().false_alarm_every()
            words = f"exact: one in {every:.0f} sessions at {self.usual:g} failures"
            rows.append(["CUSUM of failures", 1 / every, words])
        else:
            rows.append(
                ["e-process of failures", 0.0, f"at most {self.alpha:g} ever, however often one looks, until restarted"]
            )
        return rows

    def threshold(self, sessions: int) -> float:
        """Return the |z| at which a single session alarms with this many baseline sessions."""
        return 3.0 if self.method == "public" else zscore_threshold(sessions, rate=self.session_rate / len(NUMBERS))
