"""One arm against itself: does it behave the same when the request is repeated, reworded or disturbed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pandas as pd

from plumbline.analysis.agreement import PassTable, SelfAgreement, alone
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
from plumbline.analysis.modal import Modal, modal_references
from plumbline.analysis.outcomes import NOT_RECORDED, Outcome, outcome_divergences, outcomes_of, same_outcomes
from plumbline.analysis.reading import Reading
from plumbline.analysis.tallies import Grade
from plumbline.analysis.walks import (
    COUNTED,
    Definition,
    Rules,
    Walks,
    argument_rules_of,
    baseline_of,
    walks,
)
from plumbline.base.errors import ParameterError
from plumbline.stats import Estimate
from plumbline.traces import Recording

__all__ = ["Consistency", "consistency"]

Reference = Literal["modal_baseline", "modal"]
_REFERENCES = ("modal_baseline", "modal")
_COLUMNS = {
    "same path": "same_path",
    "same arguments, given the same path": "same_arguments",
    "same outcome": "same_outcome",
    "baseline runs on the reference path": "baseline_same_path",
    "same arguments at all matched steps": "matched_agree",
    "right by ground truth": "right",
}


@dataclass(frozen=True, eq=False, repr=False)
class Consistency(Reading):
    """How an arm's trials compare with the arm's own reference, as ``consistency`` returns it.

    Parameters
    ----------
    run_id, arm, definition, reference : str
        What was asked.
    trials : DataFrame
        One row a counted trial: key columns, ``status``, ``reference``, and as flags that are missing where they do not
        apply or cannot be told ``same_path``, ``same_arguments`` (given the same path), ``same_outcome``,
        ``baseline_same_path`` (baseline trials only), ``matched_agree`` (all steps that an alignment matches, whatever
        the path), ``right`` (ground truth); ``matched``, ``agreeing``, ``undecided`` count matched steps.
    rows : DataFrame
        One row a trial and divergence: keys, ``kind, step_index, name, field, expected, got, severity``.
    references : DataFrame
        One row a task: ``task_id, made_of, trials, path``.
    ties : DataFrame
        Choices that another order of completion could change: ``task_id, what, step_index, candidates``.
    missing : DataFrame
        Planned trials of the arm that do not count, with their status.
    agreement : SelfAgreement
        Two runs against each other, without any reference.
    passes : PassTable or None
        pass^k; None without a grader.
    groups : mapping
        Planned perturbations and tasks, in order.
    confidence : float
        Of every interval.
    """

    run_id: str
    arm: str
    definition: str
    reference: str
    trials: pd.DataFrame
    rows: pd.DataFrame
    references: pd.DataFrame
    ties: pd.DataFrame
    missing: pd.DataFrame
    agreement: SelfAgreement
    passes: PassTable | None
    groups: Mapping[str, Sequence[str]]
    confidence: float

    @cached_property
    def structural(self) -> Estimate:
        """Share of trials whose path is the reference path."""
        return self._share("same_path")

    @cached_property
    def arguments(self) -> Estimate:
        """Among those, share whose arguments agree with the reference's; the denominator is the other measure's."""
        return self._share("same_arguments")

    @cached_property
    def outcome(self) -> Estimate:
        """Share of trials whose outcome is the reference outcome."""
        return self._share("same_outcome")

    @cached_property
    def self_consistency(self) -> Estimate:
        """Share of baseline trials on the reference path; as published, the trials that made it count themselves."""
        return self._share("baseline_same_path")

    @cached_property
    def matched_arguments(self) -> Estimate:
        """Among all trials, share whose arguments agree at every step that an alignment with the reference matches."""
        return self._share("matched_agree")

    @cached_property
    def matched_steps(self) -> Estimate:
        """Share of matched steps, of all trials, whose arguments agree."""
        compared = self.trials["matched"] - self.trials["undecided"]
        return share_of_steps(self.trials["agreeing"].to_numpy(), compared.to_numpy(), confidence=self.confidence)

    @cached_property
    def right(self) -> Estimate:
        """Share of trials whose outcome is right by ground truth, whatever the arm usually does."""
        return self._share("right")

    def _share(self, column: str) -> Estimate:
        return of_flags(self.trials[column], confidence=self.confidence)

    @cached_property
    def divergences(self) -> pd.DataFrame:
        """Every divergence with ``count`` and ``trial_ids``, the same one of several trials merged."""
        return merged(self.rows)

    def by(self, key: Literal["perturbation", "task_id"]) -> pd.DataFrame:
        """Return every measure by perturbation or by task: ``measure, k, n, value, low, high, reads``."""
        return grouped(self.trials, key, self.groups, _COLUMNS, self.confidence)

    def title(self) -> str:
        """Say in one line what was compared."""
        counted = f"{len(self.trials)} trials counted, {len(self.missing)} missing"
        return f"consistency of {self.arm!r} in {self.run_id!r}, {self.definition} definition: {counted}"

    def measures(self) -> Mapping[str, Estimate]:
        """Return the published measures, and beside them what they hide."""
        shares = {name: self._share(column) for name, column in _COLUMNS.items()}
        return {**shares, "matched steps with the same arguments": self.matched_steps, **self.agreement.measures()}

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must not miss."""
        lines = []
        if len(self.ties):
            tasks = ", ".join(dict.fromkeys(self.ties["task_id"]))
            lines.append(f"{len(self.ties)} choices of a reference are ties, settled by which came first: {tasks}")
        for made_of, part in self.references[self.references["made_of"] != "baseline"].groupby("made_of"):
            tasks = ", ".join(part["task_id"])
            told = {"all": "the reference is made of all trials", "none": "no trial counts"}[str(made_of)]
            lines.append(f"{told}: {tasks}")
        if alone := int(self.trials["reference"].isna().sum()):
            lines.append(f"{alone} trials have no reference, being the only one that could make it")
        if lost := int((self.trials["undecided"] > 0).sum()):
            lines.append(f"{lost} trials hold matched steps whose arguments cannot be compared")
        return tuple(lines)


def consistency(
    recording: Recording,
    *,
    arm: str,
    reference: Reference = "modal_baseline",
    argument_rules: Rules = None,
    definition: Definition = "published",
    order: Sequence[str] | None = None,
    outcome_keys: Sequence[str] | None = None,
    grade: Grade | None = None,
    ks: Sequence[int] = (1, 2, 4, 8),
    confidence: float = 0.95,
) -> Consistency:
    """Compare every trial of an arm with what the arm most often does on the same task.

    Parameters
    ----------
    recording : Recording
        The run.
    arm : str
        The arm.
    reference : {'modal_baseline', 'modal'}
        The most common control path of a task's baseline trials, with the most common recorded arguments at each step
        (of all trials where there is no baseline trial); or of all its trials.
    argument_rules : ArgumentRules or mapping, optional
        How arguments are compared; a mapping of tool to field holds field rules, or pairs (kind, severity) which are
        published rules. By default the published comparison by type, or, under ``plumbline``, exact comparison.
    definition : {'published', 'plumbline'}
        ``published``: completed trials; a baseline trial is compared with a reference it helped to make; argument
        divergences only on equal paths, no outcome divergences; a missing outcome is a different one. ``plumbline``:
        also trials that ended in the agent's own error; a trial takes no part in its own reference; argument
        divergences at all matched steps, and outcome divergences; a missing outcome cannot be told.
    order : sequence of str, optional
        Trial ids in order of completion; trials not named follow in canonical order (task, perturbation, variant,
        repetition), which is the default. It matters on ties only, see ``ties`` of the result.
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
    Consistency

    Raises
    ------
    ParameterError
        An unknown arm, definition or reference; ``order`` or ``outcome_keys`` that do not fit the run.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": "a", "task_id": "t", "repetition": [0, 1, 2]})
    >>> ids, names = [f"a/t/baseline/0/{i}" for i in range(3)], ["pay", "pay", "hold"]
    >>> steps = pd.DataFrame({"trial_id": ids, "kind": "tool_call", "name": names, "arguments": "{}"})
    >>> found = consistency(Recording(trials, steps, run_id="r"), arm="a")
    >>> found.self_consistency.successes, found.agreement.tasks["agreement"].round(4).tolist()
    (2, [0.3333])

    References
    ----------
    Bhargs24/plumbline, release 0.3.0 (Apache-2.0), for the published definition.
    """
    if reference not in _REFERENCES:
        raise ParameterError(f"reference is {reference!r}; allowed are {', '.join(_REFERENCES)}.")
    rules = argument_rules_of(argument_rules, definition)
    published = definition == "published"
    found = walks(recording, arm=arm, path="control", statuses=COUNTED[definition], order=order)
    outcomes = outcomes_of(found.trials, outcome_keys)
    groups, baseline = planned_order(recording), baseline_of(recording)
    modal = modal_references(
        found,
        outcomes,
        tasks=groups["task_id"],
        baseline=baseline if reference == "modal_baseline" else None,
        leave_out=not published,
    )
    compared = compare_walks(found, modal.walks, modal.of, rules)
    expected = [modal.outcome.get(modal.of.get(trial, ""), NOT_RECORDED) for trial in found.ids]
    trials = _flags(found, modal, compared, (outcomes, expected), baseline, missing_differs=published)
    trials["right"] = right_of(recording, trials, grade).array
    others = [] if published else [outcome_divergences(found.ids, trials["same_outcome"].array, outcomes, expected)]
    rows = listed(compared, *others, everywhere=not published)
    right = None if grade is None else trials["right"]
    agreement, passes = alone(recording, found, arm=arm, right=right, ks=ks, confidence=confidence)
    return Consistency(
        run_id=recording.run_id,
        arm=arm,
        definition=definition,
        reference=reference,
        trials=trials,
        rows=with_keys(rows, trials, modal.of),
        references=modal.table,
        ties=modal.ties,
        missing=missing_of(recording, arm, COUNTED[definition]),
        agreement=agreement,
        passes=passes,
        groups=groups,
        confidence=confidence,
    )


def _flags(
    found: Walks,
    modal: Modal,
    compared: Comparison,
    outcomes: tuple[Sequence[Outcome], Sequence[Outcome]],
    baseline: str,
    *,
    missing_differs: bool,
) -> pd.DataFrame:
    """One row a trial, with a flag for each measure."""
    trials = found.trials.drop(columns="outcome")
    trials["reference"] = pd.Series([modal.of.get(trial) for trial in found.ids], dtype=object)
    has = trials["reference"].notna().to_numpy()
    told = compared.flags().set_index(trials.index[has]).reindex(trials.index)
    trials = trials.join(told)
    trials = trials.fillna({"matched": 0, "agreeing": 0, "undecided": 0})
    trials = trials.astype(dict.fromkeys(("matched", "agreeing", "undecided"), "int64"))
    trials["same_outcome"] = same_outcomes(*outcomes, missing_differs=missing_differs)
    trials["baseline_same_path"] = trials["same_path"].where(trials["perturbation"] == baseline)
    return trials
