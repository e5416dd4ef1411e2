"""The threshold of the text band from judged pairs: what separates them, at which cost, and whether anything does."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.decide.bands.judged import JudgedPair, pairs_digest
from plumbline.decide.bands.parts import CalibrationRecord
from plumbline.decide.bands.scorers import Scorer
from plumbline.stats import clopper_pearson, tasks_estimate
from plumbline.stats.estimate import Estimate
from plumbline.stats.thresholds import HeldOut, cost_threshold, held_out_errors, threshold_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RECOMMENDED", "AtThreshold", "Calibration", "calibrate"]

RECOMMENDED = 200
STARTING = 0.92


@dataclass(frozen=True, kw_only=True)
class AtThreshold:
    """What one threshold does on the judged pairs.

    Parameters
    ----------
    threshold : float
    false_alarms, equivalent : int
        Equivalent pairs below it, of all of them.
    misses, different : int
        Different pairs at or above it, of all of them.
    a_week : float
        Expected false alarms a week, if the cases of a week were like the equivalent pairs.
    at_least_one : float
        Probability of at least one a week, cases taken as independent.
    let_through : tuple of str
        Names of the missed pairs.
    """

    threshold: float
    false_alarms: int
    equivalent: int
    misses: int
    different: int
    a_week: float
    at_least_one: float
    let_through: tuple[str, ...]

    def __str__(self) -> str:
        alarm = f"{self.false_alarms} of {self.equivalent} equivalent pairs would alarm"
        week = f"{self.a_week:.1f} false alarms a week expected, at least one with probability {self.at_least_one:.2f}"
        missed = f"{self.misses} of {self.different} judged differences would pass"
        shown = (
            f" ({', '.join(self.let_through[:3])}{' …' if len(self.let_through) > 3 else ''})" if self.misses else ""
        )
        return f"{self.threshold:.4g}: {alarm} ({week}); {missed}{shown}"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A calibrated threshold, as ``calibrate`` returns it.

    Parameters
    ----------
    pairs : tuple of JudgedPair
    scores : tuple of float
        One a pair, all of one scorer.
    scorer, scorer_version : str
    cost_false_alarm, cost_miss : float
    threshold : float
        Costs least on all pairs.
    interval : (float, float)
        Percentile interval, whole families resampled.
    held_out : HeldOut
        Errors on families that a threshold was not fitted on.
    cases_a_week : int
        For expected alarms.
    confidence : float
    """

    pairs: tuple[JudgedPair, ...]
    scores: tuple[float, ...]
    scorer: str
    scorer_version: str
    cost_false_alarm: float
    cost_miss: float
    threshold: float
    interval: tuple[float, float]
    held_out: HeldOut
    cases_a_week: int
    confidence: float

    @cached_property
    def _split(self) -> tuple[np.ndarray, np.ndarray]:
        scores, different = np.array(self.scores), np.array([not pair.equivalent for pair in self.pairs])
        return scores[~different], scores[different]

    @property
    def overlap(self) -> tuple[int, int]:
        """Equivalent pairs that score no higher than the most alike different pair, and the reverse."""
        same, other = self._split
        return int((same <= other.max()).sum()), int((other >= same.min()).sum())

    @property
    def separates(self) -> bool:
        """Whether some threshold has every equivalent pair above it and every different one below."""
        return self.overlap == (0, 0)

    @cached_property
    def auc(self) -> float:
        """Probability that an equivalent pair scores higher than a different one, ties counted half."""
        same, other = self._split
        above = (same[:, None] > other[None, :]).mean() + 0.5 * (same[:, None] == other[None, :]).mean()
        return float(above)

    @property
    def constructed(self) -> bool:
        """Whether any pair was made for the purpose."""
        return any(pair.constructed for pair in self.pairs)

    def at(self, threshold: float) -> AtThreshold:
        """Say what a threshold would do on these pairs.

        Examples
        --------
        >>> from plumbline.decide.bands import LexicalScorer, example_pairs
        >>> chance = np.random.default_rng(1)
        >>> found = calibrate(example_pairs(seed=1), scorer=LexicalScorer(), generator=chance)
        >>> found.at(1.01).misses
        0
        """
        same, other = self._split
        missed = tuple(
            pair.pair
            for pair, score in zip(self.pairs, self.scores, strict=True)
            if not pair.equivalent and score >= threshold
        )
        share = float((same < threshold).mean())
        return AtThreshold(
            threshold=threshold,
            false_alarms=int((same < threshold).sum()),
            equivalent=same.size,
            misses=len(missed),
            different=other.size,
            a_week=share * self.cases_a_week,
            at_least_one=1 - (1 - share) ** self.cases_a_week,
            let_through=missed,
        )

    def error(self, which: str) -> Estimate:
        """Return a held-out error with its interval: ``false_alarm`` or ``miss``, families as the unit."""
        mine = [at for at, pair in enumerate(self.pairs) if pair.equivalent == (which == "false_alarm")]
        families: dict[str, list[bool]] = {}
        for at in mine:
            families.setdefault(self.pairs[at].family_id, []).append(self.held_out.wrong[at])
        counts = [sum(flags) for flags in families.values()], [len(flags) for flags in families.values()]
        if len(families) < 5:
            return clopper_pearson(sum(counts[0]), sum(counts[1]), confidence=self.confidence, sidedness="two-sided")
        return tasks_estimate(*counts, confidence=self.confidence)

    def cautions(self) -> tuple[str, ...]:
        """Sentences a reader must not miss."""
        found = []
        if self.constructed:
            found.append("these pairs are constructed: edits whose effect is known, not the outputs of an agent")
        if len(self.pairs) < RECOMMENDED:
            found.append(f"{len(self.pairs)} pairs were judged; at least {RECOMMENDED} are recommended")
        if not self.separates:
            below, above = self.overlap
            found.append(
                f"no threshold separates these pairs: {below} equivalent pairs score no higher than the most alike "
                f"difference, {above} differences no lower than the least alike equivalent pair"
            )
        if self.auc < 0.75:
            found.append(
                f"an equivalent pair outscores a difference with probability {self.auc:.2f} only: this scorer does not "
                "tell them apart, whatever the threshold"
            )
        start = self.at(STARTING)
        if start.a_week >= 1:
            found.append(f"0.92 would alarm weekly: {start.a_week:.1f} false alarms in {self.cases_a_week} cases")
        if start.misses:
            found.append(f"0.92 would let {start.misses} judged differences through, such as {start.let_through[0]}")
        return tuple(found)

    def record(self, *, made: date) -> CalibrationRecord:
        """Return the record that a band file holds."""
        return CalibrationRecord(
            made=made,
            pairs_digest=pairs_digest(self.pairs),
            pairs=len(self.pairs),
            equivalent=self.held_out.equivalent,
            families=len({pair.family_id for pair in self.pairs}),
            constructed=self.constructed,
            scorer=self.scorer,
            scorer_version=self.scorer_version,
            cost_false_alarm=self.cost_false_alarm,
            cost_miss=self.cost_miss,
            threshold=self.threshold,
            interval=self.interval,
            false_alarm=self.held_out.false_alarms / self.held_out.equivalent,
            miss=self.held_out.misses / self.held_out.different,
            separates=self.separates,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair: ``pair, family_id, equivalent, edit, score, held_out_wrong``."""
        import pandas as pd

        names = ("pair", "family_id", "equivalent", "edit")
        frame = pd.DataFrame({name: [getattr(pair, name) for pair in self.pairs] for name in names})
        return frame.assign(score=self.scores, held_out_wrong=self.held_out.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return threshold, errors and cautions as JSON values."""
        return {
            "threshold": self.threshold, "interval": list(self.interval), "separates": self.separates,
            "auc": self.auc, "overlap": list(self.overlap), "scorer": self.scorer,
            "scorer_version": self.scorer_version, "false_alarm": self.error("false_alarm").to_dict(),
            "miss": self.error("miss").to_dict(), "pairs": len(self.pairs), "cautions": list(self.cautions()),
        }  # fmt: skip

    def __str__(self) -> str:
        low, high = self.interval
        same, other = self._split
        costs = f"a false alarm costs {self.cost_false_alarm:g}, a miss {self.cost_miss:g}"
        lines = [
            f"threshold {self.threshold:.4f} [{low:.4f}, {high:.4f}]; {costs}",
            f"  scorer {self.scorer} {self.scorer_version}",
            f"  {same.size} equivalent pairs: {_spread(same)}",
            f"  {other.size} different pairs:  {_spread(other)}",
            f"  held out by family, false alarms: {self.error('false_alarm')}",
            f"  held out by family, misses:       {self.error('miss')}",
            f"  at {self.at(self.threshold)}",
            f"  at {self.at(STARTING)}",
        ]
        return "\n".join([*lines, *(f"  ! {said}" for said in self.cautions())])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _spread(scores: np.ndarray) -> str:
    ends = np.quantile(scores, [0.0, 0.05, 0.5, 0.95, 1.0])
    return "lowest {:.3f}, 5% {:.3f}, median {:.3f}, 95% {:.3f}, highest {:.3f}".format(*ends)


def calibrate(
    pairs: Sequence[JudgedPair],
    *,
    scorer: Scorer,
    cost_false_alarm: float = 1.0,
    cost_miss: float = 5.0,
    confidence: float = 0.95,
    folds: int = 5,
    draws: int = 1_000,
    cases_a_week: int = 300,
    generator: np.random.Generator,
) -> Calibration:
    """Find the threshold of a text band from judged pairs.

    Parameters
    ----------
    pairs : sequence of JudgedPair
        Pairs that reviewers called equivalent or not; at least 200 are recommended.
    scorer : Scorer
        Gives every score; its name and version go into the record.
    cost_false_alarm, cost_miss : float
        What an equivalent pair below the threshold costs, and a difference at or above it.
    confidence : float
        Of the intervals, in (0, 1).
    folds : int
        Parts into which families are split for the held-out error; no more than there are families.
    draws : int
        Resamples of families for the interval of the threshold.
    cases_a_week : int
        Cases that are compared in a week.
    generator : numpy.random.Generator
        Source of chance.

    Returns
    -------
    Calibration

    Raises
    ------
    ParameterError
        Fewer than two families, or pairs of one kind only.

    Examples
    --------
    >>> from plumbline.decide.bands import LexicalScorer, example_pairs
    >>> found = calibrate(example_pairs(seed=1), scorer=LexicalScorer(), generator=np.random.default_rng(1))
    >>> found.separates
    False
    """
    families = [pair.family_id for pair in pairs]
    if len(set(families)) < 2:
        raise ParameterError(f"{len(set(families))} families were judged; a held-out error needs at least 2")
    names = [pair.pair for pair in pairs]
    if len(set(names)) != len(names):
        raise ParameterError("a pair stands twice among the judged pairs; name each once")
    scores = [float(score) for score in scorer.scores([(pair.before, pair.after) for pair in pairs])]
    different = np.array([not pair.equivalent for pair in pairs])
    costs = {"cost_false_alarm": cost_false_alarm, "cost_miss": cost_miss}
    threshold = cost_threshold(scores, different, **costs)
    interval = threshold_interval(
        scores, different, families, **costs, confidence=confidence, draws=draws, generator=generator
    )
    held_out = held_out_errors(
        scores, different, families, **costs, folds=min(folds, len(set(families))), generator=generator
    )
    return Calibration(
        pairs=tuple(pairs),
        scores=tuple(scores),
        scorer=scorer.name,
        scorer_version=scorer.version,
        cost_false_alarm=cost_false_alarm,
        cost_miss=cost_miss,
        threshold=threshold,
        interval=interval,
        held_out=held_out,
        cases_a_week=cases_a_week,
        confidence=confidence,
    )
