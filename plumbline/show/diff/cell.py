"""From a cell of the plan to its trials: walking from one pair of trials to the next, and diffs by task and arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.diff.sides import Source, trial_row
from plumbline.traces import Recording

__all__ = ["Cell", "cell_of"]


@dataclass(frozen=True, eq=False)
class Cell:
    """The pairs of trials of one cell: same task and perturbation on both sides, same variant and repetition.

    Parameters
    ----------
    labels : tuple of str
        ``variant 0, repetition 1``, in order; one label, ``this pair``, where nothing can be walked to.
    pairs : tuple of (source, source)
    here : int
        Place of the pair shown.
    """

    labels: tuple[str, ...]
    pairs: tuple[tuple[Source, Source], ...]
    here: int

    def sources(self, place: int) -> tuple[Source, Source]:
        """Return the two sources at a place.

        Raises
        ------
        ParameterError
            There is no such place.
        """
        if isinstance(place, bool) or not 0 <= place < len(self.pairs):
            raise ParameterError(f"trial {place!r} does not exist; the cell has places 0 to {len(self.pairs) - 1}")
        return self.pairs[place]


def cell_of(left: Source, right: Source) -> Cell:
    """Return the pairs of trials that stand in the same cell as this one."""
    alone = Cell(("this pair",), ((left, right),), 0)
    if isinstance(left, pd.DataFrame) or isinstance(right, pd.DataFrame):
        return alone
    rows = [trial_row(*source) for source in (left, right)]
    places = [(str(row["variant"]), int(row["repetition"])) for row in rows]
    if places[0] != places[1]:
        return alone
    known = [_places(run, row) for (run, _), row in zip((left, right), rows, strict=True)]
    both = [place for place in known[0] if place in known[1]]
    labels = tuple(f"variant {variant}, repetition {repetition}" for variant, repetition in both)
    pairs = tuple(((left[0], known[0][place]), (right[0], known[1][place])) for place in both)
    return Cell(labels, pairs, both.index(places[0]))


def _places(run: Recording, row: dict[str, Any]) -> dict[tuple[str, int], str]:
    """Trials of one arm, task and perturbation, by variant and repetition."""
    here = (run.trials[["arm", "task_id", "perturbation"]] == [row["arm"], row["task_id"], row["perturbation"]]).all(
        axis=1
    )
    found = run.trials.loc[here, ["variant", "repetition", "trial_id"]].itertuples(index=False, name=None)
    return {(str(variant), int(repetition)): str(name) for variant, repetition, name in found}
