"""Between an analysis and its figure: the calls two arms have in common, and what is said below a figure."""

from __future__ import annotations

import pandas as pd

from plumbline.analysis import Equivalence, Rules
from plumbline.analysis.walks import argument_rules_of
from plumbline.compare import Alignment, align
from plumbline.traces import Recording

__all__ = ["aligned_calls", "onset_note"]


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
