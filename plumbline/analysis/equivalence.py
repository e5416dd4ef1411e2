"""Does the replacement do what the incumbent did, and was what the incumbent did right?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pandas as pd

from plumbline.analysis.agreement import PassTable, SelfAgreement, alone
from plumbline.analysis.counterparts import (
    Counterparts,
    canonical_counterparts,
    repetition_counterparts,
    unpaired,
)
from plumbline.analysis.counting import (
    grouped,
    missing_of,
    of_flags,
    planned_order,
    right_of,
    share_of_steps,
    with_keys,
)
from plumbline.analysis.divergences import Comparison, compare_walks, listed, merged
from plumbline.analysis.outcomes import outcome_divergences, outcomes_of, same_outcomes
from plumbline.analysis.reading import Reading
from plumbline.analysis.retirement import PublishedRetirement, published_retirement
from plumbline.analysis.tallies import Grade
from plumbline.analysis.walks import (
    COUNTED,
    Definition,
    Rules,
    Walks,
    argument_rules_of,
    walks,
)
from plumbline.stats import Estimate
from plumbline.traces import Recording

__all__ = ["Equivalence", "equivalence"]

_COLUMNS = {
    "same outcome": "same_outcome",
    "same path": "same_path",
    "same arguments, given the same path": "same_arguments",
    "same arguments at all matched steps": "matched_agree",
    "replacement right by ground truth": "replacement_right",
    "incumbent right by ground truth": "incumbent_right",
    "same outcome, or right where the incumbent is wrong": "no_worse",
}
_WORDS = ("right", "wrong", "cannot tell")


@dataclass(frozen=True, eq=False, repr=False)
class Equivalence(Reading):
    """How a replacement compares with an incumbent, pair by pair, as ``equivalence`` returns it.

    Parameters
    ----------
    incumbent, replacement : str
        ``run/arm`` of each.
    definition : str
        What was asked.
    pairs : DataFrame
        One row a pair: key columns of the replacement trial, ``against`` (the incumbent trial), ``incumbent_runs`` (it
        was chosen among), and as flags that are missing where they do not apply or cannot be told ``same_outcome``,
        ``same_path``, ``same_arguments`` (given the same path), ``matched_agree`` (all steps that an alignment matches,
        whatever the path), ``incumbent_right``, ``replacement_right`` (ground truth), ``no_worse`` (same outcome, or
        right where the incumbent is wrong); ``matched``, ``agreeing``, ``undecided`` count matched steps.
    rows : DataFrame
        One row a pair and divergence: keys, ``kind, step_index, name, field, expected, got, severity``.
    self_consistency : Estimate
        As published, the share of incumbent runs on the path of their canonical run, which counts itself; under
        ``plumbline`` the chance that two incumbent runs of one variant take the same path.
    ties : DataFrame
        Cells whose canonical incumbent run another order of completion could change.
    unpaired : DataFrame
        Counted replacement trials without a counterpart; ``incumbent`` says what became of it.
    unused : tuple of str
        Counted incumbent trials whose cell no replacement trial met.
    missing : DataFrame
        Planned replacement trials that do not count, with their status.
    incumbent_agreement, replacement_agreement : SelfAgreement
        Each arm's runs against each other, without any reference.
    incumbent_passes, replacement_passes : PassTable or None
        pass^k; None without a grader.
    retirement : PublishedRetirement or None
        The published bound and verdict band; None under ``plumbline``.
    groups : mapping
        Planned perturbations and tasks, in order.
    confidence : float
        Of every interval.
    """

    incumbent: str
    replacement: str
    definition: str
    pairs: pd.DataFrame
    rows: pd.DataFrame
    self_consistency: Estimate
    ties: pd.DataFrame
    unpaired: pd.DataFrame
    unused: tuple[str, ...]
    missing: pd.DataFrame
    incumbent_agreement: SelfAgreement
    replacement_agreement: SelfAgreement
    incumbent_passes: PassTable | None
    replacement_passes: PassTable | None
    retirement: PublishedRetirement | None
    groups: Mapping[str, Sequence[str]]
    confidence: float

    @cached_property
    def outcome(self) -> Estimate:
        """Share of pairs with the same outcome."""
        return self._share("same_outcome")

    @cached_property
    def path(self) -> Estimate:
        """Share of pairs with the same path of tool calls."""
        return self._share("same_path")

    @cached_property
    def arguments(self) -> Estimate:
        """Among pairs with the same path, share whose arguments agree; the denominator is the other measure's."""
        return self._share("same_arguments")

    @cached_property
    def matched_arguments(self) -> Estimate:
        """Among all pairs, share whose arguments agree at every step that an alignment matches."""
        return self._share("matched_agree")

    @cached_property
    def matched_steps(self) -> Estimate:
        """Share of matched steps, of all pairs, whose arguments agree."""
        compared = self.pairs["matched"] - self.pairs["undecided"]
        return share_of_steps(self.pairs["agreeing"].to_numpy(), compared.to_numpy(), confidence=self.confidence)

    @cached_property
    def no_worse(self) -> Estimate:
        """Share of pairs with the same outcome, or a right one where the incumbent's is wrong."""
        return self._share("no_worse")

    def _share(self, column: str) -> Estimate:
        return of_flags(self.pairs[column], confidence=self.confidence)

    @cached_property
    def divergences(self) -> pd.DataFrame:
        """Every divergence with ``count`` and ``trial_ids``, the same one of several pairs merged."""
        return merged(self.rows)

    @cached_property
    def against_truth(self) -> pd.DataFrame:
        """Count pairs by what ground truth says of each side.

        Returns
        -------
        DataFrame
            Nine rows: ``incumbent, replacement`` (``right``, ``wrong``, ``cannot tell``), ``same, different,
            cannot_tell`` (pairs by equality of outcome).
        """
        sides = [_words(self.pairs[f"{side}_right"], _WORDS) for side in ("incumbent", "replacement")]
        equal = _words(self.pairs["same_outcome"], ("same", "different", "cannot_tell"))
        frame = pd.DataFrame({"incumbent": sides[0], "replacement": sides[1], "equal": equal})
        counts = frame.value_counts()
        rows = [
            {"incumbent": one, "replacement": other}
            | {word: int(counts.get((one, other, word), 0)) for word in ("same", "different", "cannot_tell")}
            for one in _WORDS
            for other in _WORDS
        ]
        return pd.DataFrame(rows)

    def by(self, key: Literal["perturbation", "task_id"]) -> pd.DataFrame:
        """Return every measure by perturbation or by task: ``measure, k, n, value, low, high, reads``."""
        return grouped(self.pairs, key, self.groups, _COLUMNS, self.confidence)

    def title(self) -> str:
        """Say in one line what was compared."""
        counts = (
            f"{len(self.pairs)} pairs, {len(self.unpaired)} unpaired, {len(self.missing)} replacement trials missing"
        )
        return f"{self.replacement} against incumbent {self.incumbent}, {self.definition} definition: {counts}"

    def measures(self) -> Mapping[str, Estimate]:
        """Return the published measures, and beside them what they hide."""
        shares = {name: self._share(column) for name, column in _COLUMNS.items()}
        alone = {f"incumbent, {name}": found for name, found in self.incumbent_agreement.measures().items()}
        alone |= {f"replacement, {name}": found for name, found in self.replacement_agreement.measures().items()}
        own = {"incumbent runs like their canonical run": self.self_consistency}
        steps = {"matched steps with the same arguments": self.matched_steps}
        return {**shares, **steps, **(own if self.definition == "published" else {}), **alone}

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must not miss."""
        table = self.against_truth
        parted = [
            f"{different} where the incumbent is {one} and the replacement {two}"
            for one, two, different in table[["incumbent", "replacement", "different"]].itertuples(
                index=False, name=None
            )
            if different
        ]
        lines = [f"different outcomes: {'; '.join(parted)}"] if parted else []
        if self.retirement is not None:
            lines.append(str(self.retirement))
        if len(self.ties):
            lines.append(f"{len(self.ties)} canonical runs are ties, settled by which run finished first")
        if self.unused:
            lines.append(f"{len(self.unused)} incumbent trials met no replacement trial, the first {self.unused[0]}")
        if lost := int((self.pairs["undecided"] > 0).sum()):
            lines.append(f"{lost} pairs hold matched steps whose arguments cannot be compared")
        return tuple(lines)


def equivalence(
    recording: Recording,
    *,
    incumbent: str,
    replacement: str,
    other: Recording | None = None,
    argument_rules: Rules = None,
    definition: Definition = "published",
    order: Sequence[str] | None = None,
    outcome_keys: Sequence[str] | None = None,
    grade: Grade | None = None,
    ks: Sequence[int] = (1, 2, 4, 8),
    confidence: float = 0.95,
) -> Equivalence:
    """Compare every run of a replacement with a run of the incumbent that was asked the same thing.

    Parameters
    ----------
    recording : Recording
        The run that holds the incumbent.
    incumbent, replacement : str
        The two arms.
    other : Recording, optional
        The run that holds the replacement; the same one by default.
    argument_rules : ArgumentRules or mapping, optional
        How arguments are compared; a mapping of tool to field holds field rules, or pairs (kind, severity) which are
        published rules. By default the published comparison by type, or, under ``plumbline``, exact comparison.
    definition : {'published', 'plumbline'}
        ``published``: completed trials, each paired with the canonical incumbent run of its task and variant; a missing
        outcome is a different one; argument divergences only on equal paths. ``plumbline``: also trials that ended in
        the agent's own error, paired by repetition; a missing outcome cannot be told; argument divergences at all
        matched steps.
    order : sequence of str, optional
        Incumbent trial ids in order of completion; trials not named follow in canonical order (task, perturbation,
        variant, repetition), which is the default. It matters on ties of the published definition only, see ``ties``.
    outcome_keys : sequence of str, optional
        Keys of the outcome that are compared; all by default.
    grade : callable, optional
        ``grade(outcome, context) -> bool``; without it, nothing is said of right and wrong.
    ks : sequence of int
        Numbers of runs for pass^k.
    confidence : float
        Of every interval, in (0, 1).

    Returns
    -------
    Equivalence
        Replacement trials without a counterpart are ``unpaired`` and in no share.

    Raises
    ------
    ParameterError
        An unknown arm or definition; ``order`` or ``outcome_keys`` that do not fit the run.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["old", "new"], "task_id": "t", "outcome": '{"paid":true}'})
    >>> ids, names = ["old/t/baseline/0/0", "new/t/baseline/0/0"], ["pay", "hold"]
    >>> steps = pd.DataFrame({"trial_id": ids, "kind": "tool_call", "name": names, "arguments": "{}"})
    >>> found = equivalence(Recording(trials, steps, run_id="r"), incumbent="old", replacement="new")
    >>> found.outcome.successes, found.path.successes, found.divergences["kind"].tolist()
    (1, 0, ['substitute'])

    References
    ----------
    Bhargs24/plumbline, release 0.3.0 (Apache-2.0), for the published definition.
    """
    rules, published = argument_rules_of(argument_rules, definition), definition == "published"
    second = recording if other is None else other
    statuses, groups = COUNTED[definition], planned_order(second)
    old = walks(recording, arm=incumbent, path="effect", statuses=statuses, order=order)
    new = walks(second, arm=replacement, path="effect", statuses=statuses)
    found = (canonical_counterparts if published else repetition_counterparts)(old, new)
    right = right_of(recording, old.trials, grade), right_of(second, new.trials, grade)
    judged = (None, None) if grade is None else right
    own = alone(recording, old, arm=incumbent, right=judged[0], ks=ks, confidence=confidence)
    its = alone(second, new, arm=replacement, right=judged[1], ks=ks, confidence=confidence)
    compared = compare_walks(new, old, found.of, rules)
    pairs, outcomes = _pairs(old, new, found, compared, right, outcome_keys, missing_differs=published)
    rows = with_keys(listed(compared, outcomes, everywhere=not published), pairs, found.of)
    canonical = of_flags(found.as_canonical, confidence=confidence)
    return Equivalence(
        incumbent=f"{recording.run_id}/{incumbent}",
        replacement=f"{second.run_id}/{replacement}",
        definition=definition,
        pairs=pairs,
        rows=rows,
        self_consistency=canonical if published else own[0].same_variant,
        ties=found.ties,
        unpaired=unpaired(new, found.of, recording, incumbent, repetition=not published),
        unused=found.unused,
        missing=missing_of(second, replacement, statuses),
        incumbent_agreement=own[0],
        replacement_agreement=its[0],
        incumbent_passes=own[1],
        replacement_passes=its[1],
        retirement=_retirement(pairs, rows, groups["perturbation"], confidence) if published else None,
        groups=groups,
        confidence=confidence,
    )


def _pairs(
    old: Walks,
    new: Walks,
    found: Counterparts,
    compared: Comparison,
    right: tuple[pd.Series, pd.Series],
    outcome_keys: Sequence[str] | None,
    *,
    missing_differs: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row a pair with a flag for each measure; and the divergences of outcomes."""
    expected_of = dict(zip(old.ids, outcomes_of(old.trials, outcome_keys), strict=True))
    own_of = dict(zip(new.ids, outcomes_of(new.trials, outcome_keys), strict=True))
    pairs = new.trials[new.trials["trial_id"].isin(found.of)].drop(columns=["status", "outcome"])
    pairs = pairs.reset_index(drop=True)
    trials, against = list(found.of), list(found.of.values())
    pairs["against"] = pd.Series(against, dtype=pairs["trial_id"].dtype)
    pairs["incumbent_runs"] = pd.Series(list(found.runs.values()), dtype="int64")
    own, expected = [own_of[trial] for trial in trials], [expected_of[trial] for trial in against]
    pairs["same_outcome"] = same_outcomes(own, expected, missing_differs=missing_differs)
    pairs = pairs.join(compared.flags())
    pairs["incumbent_right"] = right[0].reindex(against).array
    pairs["replacement_right"] = right[1].reindex(trials).array
    pairs["no_worse"] = pairs["same_outcome"] | (pairs["replacement_right"] & ~pairs["incumbent_right"])
    return pairs, outcome_divergences(trials, pairs["same_outcome"].array, own, expected)


def _retirement(
    pairs: pd.DataFrame, rows: pd.DataFrame, perturbations: Sequence[str], confidence: float
) -> PublishedRetirement:
    cells = {
        name: of_flags(pairs.loc[pairs["perturbation"] == name, "same_outcome"], confidence=confidence)
        for name in perturbations
    }
    return published_retirement(cells, planned=list(perturbations), diverged=not rows.empty)


def _words(flags: pd.Series, words: tuple[str, str, str]) -> list[str]:
    return [words[2] if pd.isna(flag) else words[0] if flag else words[1] for flag in flags]
