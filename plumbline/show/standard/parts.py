"""Between an analysis and its figure: the calls two arms have in common, and what is said below a figure."""

from __future__ import annotations

import pandas as pd

from plumbline.analysis import Equivalence, Grade, Rules
from plumbline.analysis.walks import argument_rules_of
from plumbline.compare import Alignment, align
from plumbline.rules import Verdicts
from plumbline.show.diff import diff
from plumbline.show.diff.static_html import diff_html
from plumbline.show.markup import Html
from plumbline.traces import Recording

__all__ = ["aligned_calls", "beside", "counterparts", "onset_note"]


def aligned_calls(recording: Recording, compared: Equivalence, argument_rules: Rules = None) -> Alignment:
    """Align the trials of a comparison again, call by call, so that their arguments can be counted by tool and field.

    Parameters
    ----------
    recording : Recording
        The run that was compared.
    compared : Equivalence
        From ``equivalence``; its pairs are used.
    argument_rules : ArgumentRules or mapping, optional
        How arguments are compared; exactly by default.

    Returns
    -------
    Alignment

    Raises
    ------
    ParameterError
        There is no pair.
    """
    pairs = dict(zip(compared.pairs["trial_id"], compared.pairs["against"], strict=True))
    steps = recording.steps
    walked = set(steps["trial_id"])
    return align(
        steps[steps["trial_id"].isin(pairs)],
        steps[steps["trial_id"].isin(pairs.values())],
        pairs=pairs,
        rules=argument_rules_of(argument_rules, "plumbline"),
        empty=[trial for trial in dict.fromkeys([*pairs, *pairs.values()]) if trial not in walked],
    )


def counterparts(recording: Recording, trial_id: str) -> list[str]:
    """Return trials to set one trial beside: the same cell of other arms, then baseline trials of its own arm and task.

    Parameters
    ----------
    recording : Recording
        The run.
    trial_id : str
        A trial of it.

    Returns
    -------
    list of str
        Ids of trials that recorded a step; none if there is nothing to compare with.
    """
    trials = recording.trials.set_index("trial_id", drop=False)
    own = trials.loc[trial_id]
    cell = ["task_id", "perturbation", "variant", "repetition"]
    same = trials[(trials[cell] == own[cell]).all(axis=1) & (trials["arm"] != own["arm"])]
    plain = trials[(trials["arm"] == own["arm"]) & (trials["task_id"] == own["task_id"])]
    plain = plain[(plain["perturbation"] == recording.perturbations[0]) & (plain["trial_id"] != trial_id)]
    walked = set(recording.steps["trial_id"])
    return [str(name) for name in (*same["trial_id"], *plain["trial_id"]) if name in walked]


def beside(
    recording: Recording, verdicts: Verdicts, trial_id: str, other_id: str, *, grade: Grade | None = None
) -> Html:
    """Set one trial beside another, aligned step by step, with the rules that steps violate.

    Parameters
    ----------
    recording : Recording
        The run.
    verdicts : Verdicts
        Its verdicts.
    trial_id, other_id : str
        Two trials of it.
    grade : callable, optional
        ``grade(outcome, context)``, so that it says whose outcome is right.

    Returns
    -------
    Html
        The static form of the trace diff, also in a notebook.
    """
    return diff_html(diff((recording, trial_id), (recording, other_id), verdicts=verdicts, grade=grade))


def onset_note(onset: pd.DataFrame) -> str:
    """Say how many trials were compared, and how many differ nowhere or cannot be compared.

    Parameters
    ----------
    onset : pandas.DataFrame
        From ``divergence_onset_data``.

    Returns
    -------
    str
    """
    counts = onset.groupby("state")["trials"].sum()
    total, same, unsure = (int(onset["planned"].max()), int(counts["no difference"]), int(counts["cannot tell"]))
    lost = f", {unsure:,} cannot be compared in all arguments" if unsure else ""
    return f"{total:,} trials compared: {same:,} do not differ{lost}. A trial is counted where it differs first."
