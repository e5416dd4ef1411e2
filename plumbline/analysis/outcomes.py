"""Terminal states of trials: what each equals by, whether it equals another, and where it does not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from plumbline.analysis.divergences import divergence_rows
from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError

__all__ = ["NOT_RECORDED", "Outcome", "outcome_divergences", "outcomes_of", "same_outcomes"]


class Outcome(NamedTuple):
    """What an outcome equals by, and its canonical JSON text; both None if it was not recorded."""

    key: Hashable
    text: str | None


NOT_RECORDED: Final = Outcome(None, None)


def outcomes_of(trials: pd.DataFrame, keys: Sequence[str] | None) -> list[Outcome]:
    """Return the outcome of each trial, restricted to some keys.

    Two outcomes are equal if they hold the same values under the same keys; numbers are equal by value, and a boolean
    is no number.

    Parameters
    ----------
    trials : DataFrame
        With ``outcome``.
    keys : sequence of str or None
        Which keys are compared; None for all.

    Raises
    ------
    ParameterError
        A key that no outcome holds, no key at all, or keys for an outcome that is no object.
    """
    if keys is not None and (isinstance(keys, str) or not keys):
        raise ParameterError(f"outcome_keys is {keys!r}; give a sequence of names, for example ('paid',).")
    known: dict[str, Outcome] = {}
    held: set[str] = set()
    listed = [None if pd.isna(text) else str(text) for text in trials["outcome"]]
    for text in dict.fromkeys(text for text in listed if text is not None):
        value = parse_json(text)
        if keys is not None:
            if not isinstance(value, dict):
                raise ParameterError(f"the outcome {text[:80]} is no object, so outcome_keys cannot choose from it.")
            held |= set(value)
            value = {key: value[key] for key in keys if key in value}
        known[text] = Outcome(_equal_by(value), canonical_json(value))
    if keys is not None and known and (absent := [key for key in keys if key not in held]):
        raise ParameterError(f"no outcome holds the key {absent[0]!r}; the keys are {', '.join(sorted(held))}.")
    return [NOT_RECORDED if text is None else known[text] for text in listed]


def _equal_by(value: Any) -> Hashable:
    if isinstance(value, dict):
        return ("object", frozenset((key, _equal_by(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(_equal_by(item) for item in value))
    return (isinstance(value, bool), value)


def same_outcomes(
    own: Sequence[Outcome], expected: Sequence[Outcome], *, missing_differs: bool
) -> pd.arrays.BooleanArray:
    """Say of each outcome whether it is the expected one; one that is not recorded differs, or cannot be told."""
    unknown = False if missing_differs else pd.NA
    same = [
        one.key == other.key if one.text is not None and other.text is not None else unknown
        for one, other in zip(own, expected, strict=True)
    ]
    return pd.array(same, dtype="boolean")


def outcome_divergences(
    trials: Sequence[str], same: Sequence[Any], own: Sequence[Outcome], expected: Sequence[Outcome]
) -> pd.DataFrame:
    """Return one divergence for each trial whose outcome is not the expected one; texts are canonical JSON."""
    at = [row for row, equal in enumerate(same) if equal is not pd.NA and not equal]
    columns = {
        "trial_id": [trials[row] for row in at],
        "kind": "outcome",
        "step_index": -1,
        "expected": [expected[row].text for row in at],
        "got": [own[row].text for row in at],
        "severity": "critical",
    }
    return divergence_rows(columns)
