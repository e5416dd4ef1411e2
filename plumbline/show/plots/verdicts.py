"""Verdicts as a matrix, trials by rule; trials with the same verdicts stand in one column with their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules import SEVERITIES, VERDICTS, Verdicts
from plumbline.show.estimates import in_order
from plumbline.show.grids import Cell, grid
from plumbline.show.plots.frames import needed
from plumbline.show.theme import AXIS, BAD, CAUTION, INK, PAPER

__all__ = ["VERDICT_MARKS", "verdict_matrix", "verdict_matrix_data"]

VERDICT_MARKS = {"held": "✓", "violated": "✗", "vacuous": "–", "not_applicable": "", "unobservable": "?"}
"""What stands for a verdict in the matrix, so that no colour has to be read; what does not apply stays empty."""

_CELLS = {
    "held": Cell(AXIS),
    "violated": Cell(PAPER, "bold", fill=BAD, border=BAD),
    "vacuous": Cell(AXIS),
    "not_applicable": Cell(AXIS),
    "unobservable": Cell(CAUTION, "bold", fill=PAPER, border=CAUTION),
}
_COLUMNS = ("arm", "column", "trials", "rule", "severity", "verdict")


def verdict_matrix_data(verdicts: Verdicts, *, arms: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the verdicts of every trial and rule, trials of one arm with the same verdicts merged.

    Nothing is left out: the numbers of an arm's columns add up to its trials.

    Parameters
    ----------
    verdicts : Verdicts
        From ``run.check(policy)``.
    arms : sequence of str, optional
        Order of the arms; by default as the trials stand.

    Returns
    -------
    pandas.DataFrame
        One row a column and rule: ``arm``, ``column`` (int, from 1 over the whole matrix; of an arm the columns with
        the worst violations first, then those of most trials), ``trials``, ``rule``, ``severity``, ``verdict``,
        ``example`` (the first trial of the column). Rules by severity, then in policy order.

    Raises
    ------
    ParameterError
        ``arms`` does not name each arm once.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/parity")
    >>> data = verdict_matrix_data(run.check(plumb.load_domain(run.domain).policy))
    >>> int(data.drop_duplicates("column")["trials"].sum()) == len(run.trials)
    True
    """
    keys, rules = verdicts.table.keys, list(verdicts.policy)
    places = sorted(range(len(rules)), key=lambda place: SEVERITIES.index(rules[place].severity))
    seen: dict[tuple[str, bytes], list[int]] = {}
    own = [str(arm) for arm in keys["arm"]] if "arm" in keys else [""] * verdicts.table.n_trials
    for trial, (arm, codes) in enumerate(zip(own, verdicts.verdict[places].T, strict=True)):
        seen.setdefault((arm, codes.tobytes()), []).append(trial)
    first = {arm: place for place, arm in enumerate(in_order(own, arms, "arms"))}
    order = sorted(seen, key=lambda key: (first[key[0]], _harm(key[1]), -len(seen[key])))
    ids = keys["trial_id"].to_numpy(object)
    rows = [
        {
            "arm": key[0], "column": column, "trials": len(seen[key]), "rule": rules[place].id,
            "severity": rules[place].severity, "verdict": VERDICTS[code], "example": ids[seen[key][0]],
        }
        for column, key in enumerate(order, 1)
        for place, code in zip(places, np.frombuffer(key[1], np.int8).tolist(), strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def verdict_matrix(data: pd.DataFrame, *, most: int = 24, description: str | None = None) -> Any:
    """Draw rules as rows and groups of trials with the same verdicts as columns, a mark for the verdict in each cell.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`verdict_matrix_data`, or the rows of some arms or rules.
    most : int
        Most columns to draw, at least 1; the description says how many trials stand in columns left out.
    description : str, optional
        What the figure says in words; by default which rules are violated, in how many trials.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        Another frame, or a number of columns below 1.
    """
    data = needed(data, _COLUMNS, "verdict_matrix_data")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError(f"most is {most!r}; draw at least one column")
    columns = list(dict.fromkeys(data["column"]))
    data, left_out = data[data["column"].isin(columns[:most])], data[data["column"].isin(columns[most:])]
    words = description or _said(data, left_out)
    cells = data.rename(columns={"rule": "row", "severity": "part", "arm": "block", "verdict": "kind"})
    cells = cells.assign(
        head=[f"{n:,}" for n in data["trials"]], mark=[VERDICT_MARKS[word] for word in data["verdict"]]
    )
    found = set(data["verdict"])
    legend = [f"{mark or 'empty'} {word.replace('_', ' ')}" for word, mark in VERDICT_MARKS.items() if word in found]
    foot = f"number of trials above each column; {', '.join(legend)}"
    return grid(cells, kinds=_CELLS, ink=INK, foot=foot).properties(description=words)


def _harm(codes: bytes) -> tuple[int, ...]:
    """Sort key: a violation of the worst rule first; rules stand in order of severity."""
    violated = VERDICTS.index("violated")
    return tuple(-int(code == violated) for code in np.frombuffer(codes, np.int8).tolist())


def _said(data: pd.DataFrame, left_out: pd.DataFrame) -> str:
    columns = data.drop_duplicates("column")
    parts = [f"Verdicts of {columns['trials'].sum():,} trials in {len(columns)} groups with the same verdicts."]
    for arm in dict.fromkeys(data["arm"]):
        broken = data[(data["arm"] == arm) & (data["verdict"] == "violated")]
        sums = broken.groupby(["rule", "severity"], sort=False)["trials"].sum()
        listed = "; ".join(f"{rule} ({severity}) in {n:,}" for (rule, severity), n in sums.items())
        parts.append(f"{arm or 'trials'}: {f'violated {listed}' if listed else 'no rule violated'}.")
    if len(left_out):
        rest = left_out.drop_duplicates("column")
        parts.append(f"{rest['trials'].sum():,} trials in {len(rest)} further groups are not drawn.")
    return " ".join(parts)
