"""How alike the paths of one cell are, over all pairs of its trials: the input of a U-statistic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare.kernel import SCORES_A_BATCH, Columns, batches, common_batch
from plumbline.compare.paths import UniquePaths, unique_paths
from plumbline.compare.verdicts import as_html

__all__ = ["PairSimilarity", "pair_similarity"]

_PAIRS_AT_ONCE: Final = 1 << 18
Flat = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class PairSimilarity:
    """Similarity of paths over all pairs of trials within each cell.

    Parameters
    ----------
    cells : ndarray of int64
        Label of each cell, ascending.
    trials : ndarray of int64
        Trials in each cell.
    similarity : ndarray of float64
        Mean over the pairs of 1 - Levenshtein distance / longer length (1 for two empty paths); NaN where a cell holds
        fewer than two trials, because nothing can be told.
    identical : ndarray of float64
        Share of the pairs whose paths are the same; NaN as above.
    per_trial, per_trial_identical : ndarray of float64
        For each trial, the mean over the other trials of its cell: the first-order projection that a variance of the
        U-statistic needs. NaN in a cell of one.
    """

    cells: np.ndarray
    trials: np.ndarray
    similarity: np.ndarray
    identical: np.ndarray
    per_trial: np.ndarray
    per_trial_identical: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """Pairs in each cell."""
        return self.trials * (self.trials - 1) // 2

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: ``cell, trials, pairs, similarity, identical``; NA where it cannot be told."""
        values = {"similarity": self.similarity, "identical": self.identical}
        told = {name: pd.Series(value).astype("Float64") for name, value in values.items()}
        return pd.DataFrame({"cell": self.cells, "trials": self.trials, "pairs": self.pairs, **told})

    def __str__(self) -> str:
        untold = int(np.isnan(self.similarity).sum())
        return f"{self.cells.size} cells, {int(self.pairs.sum())} pairs of trials; {untold} cells without a pair"

    def _repr_html_(self) -> str:
        return as_html(self)


def pair_similarity(paths: Flat, cells: np.ndarray) -> PairSimilarity:
    """Compare the path of every trial with that of every other trial of its cell.

    Each different pair of paths of a cell is compared once and weighted by how many trials took them.

    Parameters
    ----------
    paths : (codes, offsets)
        Paths one after the other in one vocabulary.
    cells : ndarray of int
        Label of the cell of each path, at least 0.

    Returns
    -------
    PairSimilarity

    Raises
    ------
    ParameterError
        The labels are not as many as the paths, or negative.

    Examples
    --------
    >>> paths = np.array([0, 1, 0, 1, 0], np.int8), np.array([0, 2, 4, 5])
    >>> pair_similarity(paths, np.zeros(3, int)).similarity.round(3).tolist()
    [0.667]

    References
    ----------
    Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution. Annals of Mathematical
    Statistics, 19(3), 293-325.
    """
    labels = np.asarray(cells)
    if labels.shape != (paths[1].size - 1,) or labels.dtype.kind not in "iu" or labels.min(initial=0) < 0:
        raise ParameterError(
            f"cells holds {labels.dtype} of shape {labels.shape}; give one label, an integer of at least 0, "
            f"for each of the {paths[1].size - 1} paths."
        )
    unique = unique_paths([paths])
    lengths = np.diff(unique.offsets)
    by_length = np.argsort(lengths, kind="stable")  # paths are numbered by length from here on
    rank = np.empty(by_length.size, np.int64)
    rank[by_length] = np.arange(by_length.size)
    path_of = rank[unique.of]
    order = np.lexsort((path_of, labels))
    cell_of, path_of = labels[order], path_of[order]
    new = np.ones(order.size, bool)  # a member is a path of a cell, with the trials that took it
    new[1:] = (cell_of[1:] != cell_of[:-1]) | (path_of[1:] != path_of[:-1])
    heads = np.flatnonzero(new)
    weight = np.diff(np.append(heads, order.size)).astype(np.float64)
    names, begin = np.unique(cell_of[heads], return_index=True)
    size = np.diff(np.append(begin, heads.size))
    columns = _columns_of(unique, by_length[path_of[heads]])
    summed = weight - 1.0  # the trials on the same path, each at similarity 1
    for first, second in _member_pairs(begin, size):
        alike = _similarity(columns, first, second)
        low, high = int(first[0]), int(second.max()) + 1
        summed[low:high] += np.bincount(first - low, alike * weight[second], minlength=high - low)
        summed[low:high] += np.bincount(second - low, alike * weight[first], minlength=high - low)
    member = np.empty(order.size, np.int64)
    member[order] = np.cumsum(new) - 1
    trials = np.add.reduceat(weight, begin) if begin.size else np.empty(0)
    others = np.where(trials > 1, trials - 1, np.nan)
    per_member, same = summed / np.repeat(others, size), (weight - 1.0) / np.repeat(others, size)
    return PairSimilarity(
        names.astype(np.int64),
        trials.astype(np.int64),
        _mean(per_member, weight, begin, trials),
        _mean(same, weight, begin, trials),
        per_member[member],
        same[member],
    )


def _mean(per_member: np.ndarray, weight: np.ndarray, begin: np.ndarray, trials: np.ndarray) -> np.ndarray:
    return np.add.reduceat(per_member * weight, begin) / trials if begin.size else np.empty(0)


def _member_pairs(begin: np.ndarray, size: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield all pairs of members of one cell, as many cells at once as fit; a large cell comes in several parts."""
    remaining = np.repeat(begin + size, size) - np.arange(int(size.sum())) - 1  # partners after each member
    ends = np.cumsum(remaining)
    start = 0
    while start < remaining.size:
        stop = int(np.searchsorted(ends, (ends[start - 1] if start else 0) + _PAIRS_AT_ONCE, side="right"))
        stop = max(stop, start + 1)
        counts = remaining[start:stop]
        first = np.repeat(np.arange(start, stop, dtype=np.int32), counts)
        second = np.arange(1, first.size + 1, dtype=np.int32)
        second += np.repeat((np.arange(start, stop) - (np.cumsum(counts) - counts)).astype(np.int32), counts)
        if first.size:
            yield first, second
        start = stop


def _columns_of(unique: UniquePaths, chosen: np.ndarray) -> Columns:
    """The chosen paths, one after the other, so that what is compared together lies together."""
    lengths = np.diff(unique.offsets)[chosen]
    ends = np.cumsum(lengths)
    flat = np.repeat(unique.offsets[chosen] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    return Columns(unique.codes[flat], np.concatenate([[0], ends]).astype(np.int64))


def _similarity(columns: Columns, short: np.ndarray, long: np.ndarray) -> np.ndarray:
    """1 - Levenshtein distance / longer length of different paths, of which ``long`` is never the shorter."""
    out = np.empty(short.size)
    size = columns.lengths
    size = size.astype(np.uint8) if size.max(initial=0) < 255 else size
    for batch in batches(size[short], size[long], SCORES_A_BATCH):
        left, right = columns.of(short[batch]), columns.of(long[batch])
        out[batch] = (common_batch(*left, *right) - left[1]) / right[1]
    return out
