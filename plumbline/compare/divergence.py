"""Where two trajectories part, what was expected, what came, and where they meet again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from plumbline.compare.verdicts import SEVERITIES, as_html

__all__ = ["Divergence", "find_divergences"]


@dataclass(frozen=True)
class Divergence:
    """One stretch in which a candidate trial departs from its reference.

    Parameters
    ----------
    pair : int
        Pair of the alignment.
    candidate, reference : str
        Trial ids.
    candidate_step, reference_step : int or None
        First step of the stretch on each side; None if a side has no step in it.
    edits : tuple of str
        The edits of the stretch; ``arguments`` for a step that both made with other arguments.
    expected, came : tuple of str
        Names of the reference's and of the candidate's steps in the stretch.
    fields : tuple of str
        Argument differences, as sentences.
    severity : str
        The gravest in the stretch.
    meets : tuple of (int, int) or None
        Steps (reference, candidate) at which the paths meet again; None if they do not.
    meets_at : str or None
        Name of that step.
    """

    pair: int
    candidate: str
    reference: str
    candidate_step: int | None
    reference_step: int | None
    edits: tuple[str, ...]
    expected: tuple[str, ...]
    came: tuple[str, ...]
    fields: tuple[str, ...]
    severity: str
    meets: tuple[int, int] | None
    meets_at: str | None

    def __str__(self) -> str:
        where = f"step {self.candidate_step}" if self.candidate_step is not None else "no step"
        told = f" (reference step {self.reference_step})" if self.reference_step is not None else ""
        lines = [f"{self.candidate}, {where}{told}: {', '.join(self.edits)}, severity {self.severity}"]
        lines.append(f"  expected {', '.join(self.expected) or 'nothing'}; came {', '.join(self.came) or 'nothing'}")
        lines += [f"  {field}" for field in self.fields]
        if self.meets is None:
            lines.append("  the paths do not meet again")
        else:
            lines.append(
                f"  the paths meet again at step {self.meets[1]} (reference step {self.meets[0]}): {self.meets_at}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_html(self)


def find_divergences(pairs: pd.DataFrame, edits: pd.DataFrame, differences: pd.DataFrame) -> tuple[Divergence, ...]:
    """Return every stretch of edits that are no plain match, in the order of the pairs.

    Parameters
    ----------
    pairs, edits, differences : DataFrame
        Of one alignment. Arguments that could not be judged are no divergence; they stand in ``differences``.
    """
    parted = (edits["edit"] != "match") | (edits["arguments"] == "different")
    if not parted.any():
        return ()
    counted = differences[differences["counted"]]
    fields: dict[tuple[int, int], list[Any]] = {}
    rows: list[Any] = list(counted.itertuples())
    for row in rows:
        fields.setdefault((row.pair, row.candidate_step), []).append(row)
    trials = list(zip(pairs["candidate"], pairs["reference"], strict=True))
    found: list[Divergence] = []
    concerned = edits[edits["pair"].isin(edits.loc[parted, "pair"].unique())].assign(parted=parted)
    every: list[Any] = list(concerned.itertuples())
    for pair, of_pair in groupby(every, key=lambda row: int(row.pair)):
        for stretch, following in _stretches(list(of_pair)):
            found.append(_divergence(pair, trials[pair], stretch, following, fields))
    return tuple(found)


def _stretches(rows: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Yield each run of rows in which the paths are parted, and the row at which they meet again."""
    run: list[Any] = []
    for row in rows:
        if row.parted:
            run.append(row)
        elif run:
            yield run, row
            run = []
    if run:
        yield run, None


def _divergence(
    pair: int, trials: tuple[str, str], stretch: list[Any], following: Any, fields: dict[tuple[int, int], list[Any]]
) -> Divergence:
    told = [
        field
        for row in stretch
        if row.edit in ("match", "moved")
        for field in fields.get((pair, row.candidate_step), [])
    ]
    grave = [row.severity for row in stretch if not pd.isna(row.severity)] + [field.severity for field in told]
    return Divergence(
        pair,
        *trials,
        _first(row.candidate_step for row in stretch),
        _first(row.reference_step for row in stretch),
        tuple("arguments" if row.edit == "match" else row.edit for row in stretch),
        tuple(row.name_reference for row in stretch if not pd.isna(row.reference_step)),
        tuple(row.name_candidate for row in stretch if not pd.isna(row.candidate_step)),
        tuple(_sentence(field) for field in told),
        min(grave, key=SEVERITIES.index, default="low"),
        None if following is None else (int(following.reference_step), int(following.candidate_step)),
        None if following is None else following.name_candidate,
    )


def _first(steps: Iterator[Any]) -> int | None:
    return next((int(step) for step in steps if not pd.isna(step)), None)


def _sentence(field: Any) -> str:
    times = f" ({field.times})" if field.times else ""
    one, other = (
        "not recorded" if pd.isna(value) else value for value in (field.value_reference, field.value_candidate)
    )
    return f"{field.tool}.{field.field}: expected {one}, came {other}{times}; {field.reason}"
