"""Two arms paired by what they were asked: same task, perturbation, variant and repetition.

The published tests treated the two arms as unrelated samples. The pairs are known, so they are used: McNemar for these
pairs, block sign flips for tasks like these. A pair of which one side says nothing is named, never dropped silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
import pandas as pd

from plumbline.analysis.reading import Reading
from plumbline.analysis.tallies import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.stats import Contrast, Estimate, PairTable, mcnemar, pair_table, sign_flip, wilson
from plumbline.traces import Recording

__all__ = ["PairedOutcomes", "paired_outcomes"]

_KEY: Final = ["task_id", "perturbation", "variant", "repetition"]


@dataclass(frozen=True, eq=False, repr=False)
class PairedOutcomes(Reading):
    """Pairs of trials with both outcomes, as ``paired_outcomes`` returns them.

    Parameters
    ----------
    first, second : str
        ``run/arm`` of each side.
    perturbation : str or None
        The one perturbation looked at, None for all.
    pairs : DataFrame
        One row a pair: ``task_id, perturbation, variant, repetition, first, second`` (boolean, missing where that side
        says nothing), ``complete``, ``why`` (what is missing, null for a complete pair).
    """

    first: str
    second: str
    perturbation: str | None
    pairs: pd.DataFrame

    @cached_property
    def table(self) -> PairTable:
        """The four counts of complete pairs, and the incomplete ones."""
        sides = [
            self.pairs[side].astype("Float64").to_numpy(dtype=float, na_value=np.nan) for side in ("first", "second")
        ]
        return pair_table(sides[0], sides[1])

    @property
    def incomplete(self) -> pd.DataFrame:
        """The pairs of which a side says nothing, with the reason."""
        return self.pairs[~self.pairs["complete"]].reset_index(drop=True)

    @cached_property
    def by_task(self) -> pd.DataFrame:
        """One row a task: ``pairs``, ``incomplete``, successes of ``first`` and ``second`` in pairs, ``difference``."""
        rows = self.pairs.assign(
            first=self.pairs["first"].where(self.pairs["complete"]),
            second=self.pairs["second"].where(self.pairs["complete"]),
            incomplete=~self.pairs["complete"],
        )
        table = rows.groupby("task_id")[["complete", "incomplete", "first", "second"]].sum().astype("int64")
        table["difference"] = table["first"] - table["second"]
        return table.rename(columns={"complete": "pairs"}).reset_index()

    def mcnemar(self, *, method: Literal["exact", "midp"] = "exact") -> Contrast:
        """Test the complete pairs against each other, for this suite of tasks.

        Returns
        -------
        Contrast
            Unit ``pair``; cannot tell without a complete pair.
        """
        if not self.table.n:
            return Contrast(p=None, method="McNemar", unit="pair", n=0, caution=("no pair is complete",))
        return mcnemar(*self.table.discordant, pairs=self.table.n, method=method)

    def sign_flip(self) -> Contrast:
        """Test the per-task differences in successes of complete pairs, for tasks like these.

        Returns
        -------
        Contrast
            Unit ``task``; tasks without a complete pair are left out and named in the caution.
        """
        told = self.by_task[self.by_task["pairs"] > 0]
        left_out = list(self.by_task.loc[self.by_task["pairs"] == 0, "task_id"])
        caution = (f"left out, no complete pair: {', '.join(left_out)}",) if left_out else ()
        if told.empty:
            return Contrast(p=None, method="block sign flip", unit="task", n=0, caution=caution)
        found = sign_flip(told["difference"].tolist())
        return Contrast(**{**vars(found), "caution": (*found.caution, *caution)})

    def title(self) -> str:
        """Say in one line what was paired."""
        where = "all perturbations" if self.perturbation is None else self.perturbation
        return f"{self.first} paired with {self.second}, {where}: {self.table}"

    def measures(self) -> Mapping[str, Estimate]:
        """Return the success rate of each side over complete pairs."""
        both, n = self.table.both, self.table.n
        return {
            f"first: {self.first}": wilson(both + self.table.only_first, n),
            f"second: {self.second}": wilson(both + self.table.only_second, n),
        }

    def notes(self) -> tuple[str, ...]:
        """Return the two tests, and what is missing."""
        counts = self.incomplete["why"].value_counts(sort=False)
        lacking = tuple(f"{count} pairs incomplete: {why}" for why, count in counts.items())
        tests = (self.mcnemar(), self.sign_flip())
        return (*map(str, tests), *(line for test in tests for line in test.caution), *lacking)


def paired_outcomes(
    first: Recording,
    first_arm: str,
    second: Recording,
    second_arm: str,
    *,
    ok_first: pd.Series,
    ok_second: pd.Series,
    perturbation: str | None = None,
) -> PairedOutcomes:
    """Pair the trials of two arms that were asked the same thing, and keep both outcomes.

    Parameters
    ----------
    first, second : Recording
        The run of each side; they may be the same.
    first_arm, second_arm : str
        The arm of each side.
    ok_first, ok_second : Series of boolean
        Whether each trial succeeded, indexed by ``trial_id``, from ``graded``; missing where it cannot be told.
    perturbation : str, optional
        Only this perturbation; by default all of them.

    Returns
    -------
    PairedOutcomes
        Every planned trial of either arm stands in a pair; a side that was not planned, has no record or cannot be
        judged leaves the pair incomplete.

    Raises
    ------
    ParameterError
        An unknown arm or perturbation, or outcomes that do not cover the arm's trials.

    Examples
    --------
    >>> run = Recording(pd.DataFrame({"arm": ["a", "a", "b"], "task_id": ["t", "u", "t"]}), run_id="r")
    >>> ok = pd.Series([True, True, False], index=run.trials["trial_id"])
    >>> found = paired_outcomes(run, "a", run, "b", ok_first=ok, ok_second=ok)
    >>> found.table.discordant, found.incomplete["why"].tolist()
    ((1, 0), ['second not planned'])
    """
    one = _side("first", first, first_arm, ok_first, perturbation)
    other = _side("second", second, second_arm, ok_second, perturbation)
    pairs = one.join(other, how="outer").sort_index().reset_index()
    lacks = [pairs.pop(f"lacks_{name}").fillna(f"{name} not planned") for name in ("first", "second")]
    why = [", ".join(filter(None, each)) for each in zip(*lacks, strict=True)]
    pairs["complete"] = [not reason for reason in why]
    pairs["why"] = pd.Series([reason or None for reason in why], dtype=object)
    return PairedOutcomes(f"{first.run_id}/{first_arm}", f"{second.run_id}/{second_arm}", perturbation, pairs)


def _side(name: str, recording: Recording, arm: str, ok: pd.Series, perturbation: str | None) -> pd.DataFrame:
    if arm not in recording.arms:
        raise ParameterError(f"run {recording.run_id!r} has no arm {arm!r}; it has {', '.join(recording.arms)}")
    rows = recording.planned()
    rows = rows[rows["arm"] == arm]
    if perturbation is not None:
        if perturbation not in recording.perturbations:
            there = ", ".join(recording.perturbations)
            raise ParameterError(f"run {recording.run_id!r} has no perturbation {perturbation!r}; it has {there}")
        rows = rows[rows["perturbation"] == perturbation]
    recorded = rows["trial_id"][rows["trial_id"].isin(recording.trials["trial_id"])]
    if absent := sorted(set(recorded) - set(ok.index)):
        raise ParameterError(
            f"ok_{name} lacks {len(absent)} of {len(recorded)} trials, the first {absent[0]!r}; "
            "give one value a trial, missing where it cannot be told."
        )
    if ok.index.has_duplicates:
        raise ParameterError(f"ok_{name} holds {ok.index[ok.index.duplicated()][0]!r} twice; give one value a trial.")
    told = ok.astype("boolean").reindex(rows["trial_id"]).array
    lacks = [
        ""
        if status in BEHAVIOUR and value is not pd.NA
        else f"{name} {status if status not in BEHAVIOUR else 'undecided'}"
        for value, status in zip(told, rows["status"], strict=True)
    ]
    known = pd.array([pd.NA if lack else value for value, lack in zip(told, lacks, strict=True)], dtype="boolean")
    side = rows[_KEY].copy()
    side[name] = known
    side[f"lacks_{name}"] = lacks
    return side.set_index(_KEY)
