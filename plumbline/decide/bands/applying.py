"""Bands applied to two runs of the same fixtures: cases paired, the incumbent's own noise first, then every field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.decide.bands.file import BandFile
from plumbline.decide.bands.granted import grant_rows
from plumbline.decide.bands.measures import MEASURES, Pair, check_name, text_of
from plumbline.decide.bands.noise import NoiseFound, noise_of
from plumbline.decide.bands.ratios import fixture_ratio, suite_ratio
from plumbline.decide.bands.report import BandReport
from plumbline.decide.bands.rows import SUITE, WORST, Found, Row, row
from plumbline.decide.bands.scorers import CachedScorer, Scorer, scorer_named
from plumbline.decide.bands.trials import Trial, fixtures_of, one_arm
from plumbline.rules import MustNotCall, Ordering, Policy, Precedence, check
from plumbline.traces import Recording

__all__ = ["RATIOS", "apply_bands"]

RATIOS = ("latency", "tokens", "cost", "steps")
_MISSING = "not judged: "


@dataclass(frozen=True, eq=False)
class Side:
    """One arm of one run, by fixture."""

    recording: Recording
    arm: str
    fixtures: Mapping[str, Sequence[Trial]]
    tasks: Mapping[str, str]
    judged: Mapping[tuple[str, str], tuple[str, str]]


def apply_bands(
    bands: BandFile,
    *,
    baseline: Recording,
    candidate: Recording,
    baseline_arm: str | None = None,
    candidate_arm: str | None = None,
    rerun: Recording | None = None,
    scorer: Scorer | None = None,
    event: str | None = None,
) -> BandReport:
    """Judge a candidate run against a baseline run of the same fixtures, field by field.

    Trials of one fixture and repetition are paired. The incumbent's own re-runs, which are its further repetitions or
    those of ``rerun``, are measured with the same bands first: a band that the incumbent does not keep is unusable.

    Parameters
    ----------
    bands : BandFile
        The bands.
    baseline, candidate : Recording
        Run of the incumbent and of the changed agent.
    baseline_arm, candidate_arm : str, optional
        Needed where a run holds several arms.
    rerun : Recording, optional
        Another run of the incumbent on the same fixtures (the baseline's arm).
    scorer : Scorer, optional
        A scorer of your own with the name that the band file gives; by default the one of that name.
    event : str, optional
        ``pull_request`` refuses fixtures that may delete and are not allowed by name.

    Returns
    -------
    BandReport

    Raises
    ------
    ParameterError
        No such arm, no common fixture, a scorer other than the one of the file or of its calibration.
    """
    kept = _scorer(bands, scorer)
    old = _side(bands, baseline, one_arm(baseline, baseline_arm, "baseline"))
    new = _side(bands, candidate, one_arm(candidate, candidate_arm, "candidate"))
    if not set(old.fixtures) & set(new.fixtures):
        raise ParameterError(
            f"{baseline.run_id!r} and {candidate.run_id!r} have no fixture in common; run the same tasks on both sides"
        )
    judge = _Judge(bands, kept, baseline)
    noise = noise_of(bands, judge.again(old, rerun))
    rows = judge.rows(old, new)
    rows += grant_rows(bands, new.fixtures, event=event)
    return BandReport(
        bands=bands,
        baseline=baseline,
        baseline_arm=old.arm,
        candidate=candidate,
        candidate_arm=new.arm,
        scorer=(kept.name, kept.version),
        rows=tuple(_usable(rows, noise)),
        noise=tuple(noise),
        only_baseline=tuple(name for name in old.fixtures if name not in new.fixtures),
        only_candidate=tuple(name for name in new.fixtures if name not in old.fixtures),
    )


def _scorer(bands: BandFile, given: Scorer | None) -> CachedScorer:
    texts = [bands.rules.text, *(override.rules.text for override in bands.overrides)]
    wanted = next((rule.scorer for rule in texts if rule is not None), "lexical")
    found = given if given is not None else scorer_named(wanted)
    if found.name != wanted:
        raise ParameterError(f"the band file scores text with {wanted!r}, not {found.name!r}; scores are never mixed")
    record = bands.calibration
    if record is not None and record.scorer_version != found.version:
        raise ParameterError(
            f"the text band was calibrated with {record.scorer} {record.scorer_version} and this is {found.version}; "
            "calibrate again: plumbline bands calibrate"
        )
    return found if isinstance(found, CachedScorer) else CachedScorer(found)


def _side(bands: BandFile, recording: Recording, arm: str) -> Side:
    fixtures, tasks = fixtures_of(recording, arm)
    return Side(recording, arm, fixtures, tasks, _checked(bands, recording))


def _checked(bands: BandFile, recording: Recording) -> dict[tuple[str, str], tuple[str, str]]:
    """Judge required checks and forbidden tools of every trial with the rules of a policy, by trial and rule."""
    scopes = [bands.rules, *(override.rules for override in bands.overrides)]
    ruled = [rules[field].pass_ for rules in scopes for field in ("checks", "forbidden") if field in rules]
    items = dict.fromkeys(item for passed in ruled for item in passed)
    if not items:
        return {}
    contexts: dict[str, dict[str, Any]] = {task: {} for task in recording.trials["task_id"].unique()}
    frame = check(recording, Policy("bands", [_rule_of(item) for item in items]), contexts=contexts).to_frame()
    frame = frame[frame["verdict"].isin(["violated", "unobservable"])]
    found = {}
    for told in frame.to_dict("records"):
        if told["verdict"] == "violated":
            step = told["witness"]
            place = "" if pd.isna(step) else f" (step {step})"
            found[told["trial_id"], told["rule"]] = "fail", f"not held: {told['rule']}{place}"
        else:
            found[told["trial_id"], told["rule"]] = "cannot_tell", f"{told['rule']}: {told['reason']}"
    return found


def _rule_of(item: Any) -> Any:
    name = check_name(item)
    if isinstance(item, str):
        return MustNotCall(item, id=name)
    if item.by is None:
        return Ordering(item.call, item.before, id=name)
    return Precedence(item.call, before=item.before, by=item.by, id=name)


@dataclass(frozen=True, eq=False)
class _Judge:
    bands: BandFile
    scorer: CachedScorer
    baseline: Recording

    def rows(self, old: Side, new: Side) -> list[Row]:
        """Return the rows of every fixture of the baseline, then those of the suite and its slices."""
        self._score_ahead(old, new)
        found: list[Row] = []
        of_slices: dict[str, list[str]] = {name: [] for name in self.bands.slices}
        fields = [field for field in self.bands.fields if field in MEASURES]
        for fixture, before in old.fixtures.items():
            slices = self.slices(old, fixture)
            for name in slices:
                of_slices[name].append(fixture)
            after = new.fixtures.get(fixture, ())
            scored = self.bands.rule_for("text", fixture, slices)
            text = None if scored is None else scored[0]
            for field in fields:
                ruled = self.bands.rule_for(field, fixture, slices)
                if ruled is not None:
                    found.append(self._worst(fixture, field, ruled, before, after, new.judged, text))
            for field in RATIOS:
                ruled = self.bands.rule_for(field, fixture, slices)
                if ruled is not None and ruled[0].grain == "fixture":
                    outcome = fixture_ratio(field, ruled[0], before, after)
                    found.append(row(fixture, field, *ruled, outcome, **_ids(before, after)))
        return found + self._suite_rows(old, new, of_slices)

    def slices(self, side: Side, fixture: str) -> tuple[str, ...]:
        """Return the slices of a fixture."""
        held = side.recording.tasks.get(side.tasks[fixture], {})
        return self.bands.slices_of(fixture, held.get("context", {}))

    def _suite_rows(self, old: Side, new: Side, of_slices: Mapping[str, Sequence[str]]) -> list[Row]:
        found = []
        for field in RATIOS:
            for name, members in ((SUITE, list(old.fixtures)), *of_slices.items()):
                slices = () if name == SUITE else (name,)
                ruled = self.bands.rule_for(field, "", slices)
                if ruled is None or ruled[0].grain != "suite" or not members:
                    continue
                outcome = suite_ratio(field, ruled[0], [(old.fixtures[m], new.fixtures.get(m, ())) for m in members])
                found.append(row(name if name == SUITE else f"(slice {name})", field, *ruled, outcome))
        return found

    def _score_ahead(self, old: Side, new: Side) -> None:
        """Score all answers at once: a model is faster on many texts."""
        pairs = []
        for fixture, before in old.fixtures.items():
            ruled = self.bands.rule_for("text", fixture, self.slices(old, fixture))
            for one, two in zip(before, new.fixtures.get(fixture, ()), strict=False):
                texts = (text_of(one, ruled[0].at), text_of(two, ruled[0].at)) if ruled else (None, None)
                if texts[0] is not None and texts[1] is not None:
                    pairs.append((texts[0], texts[1]))
        self.scorer.scores(pairs)

    def _worst(
        self,
        fixture: str,
        field: str,
        ruled: tuple[Any, str],
        before: Sequence[Trial],
        after: Sequence[Trial],
        judged: Mapping[tuple[str, str], tuple[str, str]],
        text_rule: Any,
    ) -> Row:
        """Return the worst of the pairs of repetitions."""
        rule, scope = ruled
        if not after:
            return row(fixture, field, rule, scope, Found("cannot_tell", note=f"{_MISSING}no trial of the candidate"))
        worst: Row | None = None
        for at, new in enumerate(after):
            old = before[min(at, len(before) - 1)]
            strange = [f"the {who} ended as {t.status}" for who, t in _both(old, new) if not t.behaved]
            if strange:
                found = Found("cannot_tell", note=_MISSING + "; ".join(strange))
            else:
                found = MEASURES[field](rule, Pair(old, new, self.bands.tools, self.scorer, text_rule, judged))
            rank = WORST[found.verdict], bool(found.note)
            if worst is None or rank > (WORST[worst.verdict], bool(worst.note)):
                worst = row(fixture, field, rule, scope, found, baseline=old.trial_id, candidate=new.trial_id)
        assert worst is not None
        return worst

    def again(self, old: Side, rerun: Recording | None) -> list[tuple[str, Row]]:
        """Judge the incumbent against itself: rows of its further repetitions, each with its field."""
        if rerun is not None:
            other = _side(self.bands, rerun, one_arm(rerun, old.arm if old.arm in rerun.arms else None, "rerun"))
            first = {name: list(trials) for name, trials in old.fixtures.items() if name in other.fixtures}
            second = {name: list(other.fixtures[name]) for name in first}
            judged = other.judged
        else:
            several = {name: trials for name, trials in old.fixtures.items() if len(trials) > 1}
            first = {name: list(trials[0::2])[: len(trials) // 2] for name, trials in several.items()}
            second = {name: list(trials[1::2]) for name, trials in several.items()}
            judged = old.judged
        if not first:
            return []
        one = Side(old.recording, old.arm, first, old.tasks, judged)
        two = Side(old.recording, old.arm, second, old.tasks, judged)
        return [(found.field, found) for found in self.rows(one, two)]


def _both(old: Trial, new: Trial) -> tuple[tuple[str, Trial], tuple[str, Trial]]:
    return ("baseline", old), ("candidate", new)


def _ids(before: Sequence[Trial], after: Sequence[Trial]) -> dict[str, str]:
    return {
        "baseline": before[0].trial_id if before else "",
        "candidate": after[0].trial_id if after else "",
    }


def _usable(rows: Iterable[Row], noise: Sequence[NoiseFound]) -> list[Row]:
    """Say ``unusable`` instead of a verdict where the incumbent does not keep the band itself."""
    bad = {found.key: found for found in noise if found.state == "unusable"}
    out = []
    for each in rows:
        found = bad.get((each.field, each.scope))
        if found is not None:
            each = replace(each, verdict="unusable", note=f"the incumbent does not keep this band itself: {found.said}")
        out.append(each)
    return out
