"""Did trials that were meant to meet a fault meet one? Three states in three columns, zero seen as zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.drawing import count_bars
from plumbline.show.estimates import in_order, whole_number

__all__ = ["EXPOSURE_STATES", "exposure", "exposure_data"]

EXPOSURE_STATES = {
    "delivered": "fault delivered",
    "not_delivered": "not delivered",
    "no_record": "no completed record",
}
"""States of a trial that was meant to meet a fault, and how a figure calls them."""


def exposure_data(frame: pd.DataFrame, *, group_order: Sequence[str] | None = None) -> pd.DataFrame:
    """Return what :func:`exposure` draws: one row per arm and state, zeros included.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row an arm: ``group`` (its label) and the number of trials ``delivered``, ``not_delivered`` and
        ``no_record``; optionally ``n``, the trials planned, which the three must add up to.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``state`` (in words), ``trials``, ``planned`` (int).

    Raises
    ------
    ParameterError
        A column lacks or is not known, no row, an arm twice, a count that is missing or impossible, or three counts
        that do not add up.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["react"], "delivered": [0], "not_delivered": [56], "no_record": [8], "n": [64]})
    >>> exposure_data(frame)["trials"].tolist()
    [0, 56, 8]
    """
    lacking = [name for name in ("group", *EXPOSURE_STATES) if name not in frame.columns]
    strange = [str(name) for name in frame.columns if name not in ("group", *EXPOSURE_STATES, "n")]
    if lacking or strange or frame.empty:
        raise ParameterError(
            f"exposure needs rows of group, {', '.join(EXPOSURE_STATES)}, n; lacking {lacking}, not known {strange}"
        )
    found: dict[str, dict[str, int]] = {}
    for position, record in enumerate(frame.to_dict("records")):
        group = str(record["group"])
        if group in found or not group.strip():
            raise ParameterError(f"row {position}: group {group!r} is empty or stands twice; one row an arm")
        found[group] = counts = {state: _trials(record[state], group, state) for state in EXPOSURE_STATES}
        if "n" in record and _trials(record["n"], group, "n") != sum(counts.values()):
            raise ParameterError(f"{group}: {counts} add up to {sum(counts.values())}, but n is {record['n']}")
    return pd.DataFrame(
        [
            {"group": group, "state": words, "trials": found[group][state], "planned": sum(found[group].values())}
            for group in in_order(found, group_order, "groups")
            for state, words in EXPOSURE_STATES.items()
        ]
    )


def exposure(
    frame: pd.DataFrame,
    *,
    group_order: Sequence[str] | None = None,
    description: str | None = None,
) -> Any:
    """Draw, per arm, how many trials met their planned fault, how many did not, and how many have no record.

    The three states stand in three columns with a count each, so zero is seen as zero and no colour has to be read.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`exposure_data` takes it.
    group_order : sequence of str, optional
        Order of rows; by default as they occur.
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.HConcatChart

    Raises
    ------
    ParameterError
        As :func:`exposure_data`.
    """
    data = exposure_data(frame, group_order=group_order)
    groups = list(dict.fromkeys(data["group"]))
    data["label"] = [
        f"{trials:,} of {planned:,}" for trials, planned in zip(data["trials"], data["planned"], strict=True)
    ]
    words = description or "Trials meant to meet an injected fault. " + " ".join(
        f"{group}: " + ", ".join(f"{row.state} {row.label}" for row in data[data["group"] == group].itertuples()) + "."
        for group in groups
    )
    return count_bars(data, list(EXPOSURE_STATES.values())).properties(description=words)


def _trials(value: object, group: str, name: str) -> int:
    count = whole_number(value, group, name)
    if count is None or count < 0:
        raise ParameterError(f"{group}: {name} is {value!r}; give the number of trials, 0 if none")
    return count
