"""Which incumbent run each replacement run is compared with, and who has no counterpart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from plumbline.analysis.modal import first_modal
from plumbline.analysis.walks import Walks
from plumbline.traces import Recording

__all__ = ["Counterparts", "canonical_counterparts", "repetition_counterparts", "unpaired"]

_CELL: Final = ["task_id", "perturbation", "variant"]
_REPETITION: Final = [*_CELL, "repetition"]
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Counterparts:
    """Pairs of trials.

    Parameters
    ----------
    of : mapping of replacement trial to incumbent trial
        In the order of the replacement's trials.
    runs : mapping of replacement trial to int
        Incumbent runs among which its counterpart was chosen.
    as_canonical : Series of boolean
        For each incumbent run whether it took the path of its canonical run; missing where there is none.
    ties : DataFrame
        Cells whose canonical run another order of completion could change: the cell, ``candidates`` (paths that share
        the lead), ``runs``, ``chosen``.
    unused : tuple of str
        Incumbent trials of cells, or repetitions, that no replacement trial met.
    """

    of: dict[str, str]
    runs: dict[str, int]
    as_canonical: pd.Series
    ties: pd.DataFrame
    unused: tuple[str, ...]


def canonical_counterparts(incumbent: Walks, replacement: Walks) -> Counterparts:
    """Pair each replacement run with the canonical incumbent run of its task and variant, as published.

    The canonical run is the first, in order of completion, whose path is the most common of the cell; on a tie of
    paths, the path that was seen first.
    """
    cells: dict[Key, list[int]] = {}
    for row, cell in enumerate(_keys(incumbent.trials, _CELL)):
        cells.setdefault(cell, []).append(row)
    chosen: dict[Key, str] = {}
    same = np.zeros(len(incumbent), bool)
    ties = []
    for cell, rows in cells.items():
        taken = [incumbent.took[row] for row in rows]
        place, leaders = first_modal(taken)
        chosen[cell] = incumbent.ids[rows[place]]
        same[rows] = [path == taken[place] for path in taken]
        if leaders > 1:
            ties.append((*cell, leaders, len(rows), chosen[cell]))
    met = dict(zip(replacement.ids, _keys(replacement.trials, _CELL), strict=True))
    of = {trial: chosen[cell] for trial, cell in met.items() if cell in chosen}
    runs = {trial: len(cells[met[trial]]) for trial in of}
    asked = set(met.values())
    unused = tuple(incumbent.ids[row] for cell in cells if cell not in asked for row in cells[cell])
    table = pd.DataFrame(ties, columns=[*_CELL, "candidates", "runs", "chosen"])
    return Counterparts(of, runs, pd.Series(pd.array(same, "boolean"), index=list(incumbent.ids)), table, unused)


def repetition_counterparts(incumbent: Walks, replacement: Walks) -> Counterparts:
    """Pair each replacement run with the incumbent run of the same task, variant and repetition."""
    where = dict(zip(_keys(incumbent.trials, _REPETITION), incumbent.ids, strict=True))
    own = zip(replacement.ids, _keys(replacement.trials, _REPETITION), strict=True)
    of = {trial: where[key] for trial, key in own if key in where}
    used = set(of.values())
    unused = tuple(trial for trial in incumbent.ids if trial not in used)
    nothing = pd.Series(pd.array([pd.NA] * len(incumbent), "boolean"), index=list(incumbent.ids))
    ties = pd.DataFrame(columns=[*_CELL, "candidates", "runs", "chosen"])
    return Counterparts(of, dict.fromkeys(of, 1), nothing, ties, unused)


def unpaired(
    replacement: Walks, of: dict[str, str], incumbent: Recording, arm: str, *, repetition: bool
) -> pd.DataFrame:
    """Name the replacement trials without a counterpart, and what became of the incumbent's runs of that cell."""
    key = _REPETITION if repetition else _CELL
    planned = incumbent.planned()
    planned = planned[planned["arm"] == arm]
    found: dict[Key, list[str]] = {}
    for cell, status in zip(_keys(planned, key), planned["status"], strict=True):
        found.setdefault(cell, []).append(status)
    rows = replacement.trials[~replacement.trials["trial_id"].isin(of)]
    rows = rows[["trial_id", *_REPETITION]].reset_index(drop=True)
    told = [", ".join(found.get(cell, ["not planned"])) for cell in _keys(rows, key)]
    rows["incumbent"] = pd.Series(told, dtype=object)
    return rows


def _keys(frame: pd.DataFrame, columns: list[str]) -> list[Key]:
    return list(frame[columns].itertuples(index=False, name=None))
