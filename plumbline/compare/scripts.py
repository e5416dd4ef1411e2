"""The edit scripts of many pairs of paths; each different pair of paths is aligned once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.compare.kernel import Columns, Scoring, align_batch, batches
from plumbline.compare.paths import unique_paths

__all__ = ["OPS", "Scripts", "SequenceAlignment", "align_paths", "align_sequences"]

OPS: Final = ("match", "substitute", "skipped", "extra")
"""What stands at each code of a script."""

Flat = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Scripts:
    """Alignments of many pairs, kept once per different pair of paths.

    Parameters
    ----------
    of : ndarray of int64
        Which alignment each pair has.
    scores : ndarray of int64
        Score of each alignment.
    ops, offsets : ndarray of uint8, ndarray of int64
        Scripts one after the other, as indices into ``OPS``, and where each begins.
    """

    of: np.ndarray
    scores: np.ndarray
    ops: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return self.of.size

    def each(self) -> Scripts:
        """Return the same alignments with one script per pair."""
        lengths = np.diff(self.offsets)[self.of]
        ends = np.cumsum(lengths)
        first = self.offsets[self.of] - (ends - lengths)
        take = np.repeat(first, lengths)
        take += np.arange(take.size)
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        return Scripts(np.arange(self.of.size), self.scores[self.of], self.ops[take], offsets)

    def counts(self) -> np.ndarray:
        """Return how often each of ``OPS`` stands in the script of each pair, shape (pairs, 4)."""
        owner = np.repeat(np.arange(self.scores.size), np.diff(self.offsets))
        found = np.bincount(owner * len(OPS) + self.ops, minlength=self.scores.size * len(OPS))
        return found.reshape(self.scores.size, len(OPS))[self.of]


def align_paths(candidate: Flat, reference: Flat, of_reference: np.ndarray, scoring: Scoring | None = None) -> Scripts:
    """Align every candidate path with one reference path each.

    Parameters
    ----------
    candidate, reference : (codes, offsets)
        Paths one after the other in one vocabulary; codes are integers of at least 0.
    of_reference : ndarray of int
        For each candidate path, the position of its reference path.
    scoring : Scoring, optional
        As published by default.

    Returns
    -------
    Scripts

    References
    ----------
    Needleman, S. B. and Wunsch, C. D. (1970). A general method applicable to the search for similarities in the amino
    acid sequence of two proteins. Journal of Molecular Biology, 48(3), 443-453.
    """
    scoring = scoring or Scoring()
    chosen = np.asarray(of_reference, np.int64)
    count, references = candidate[1].size - 1, reference[1].size - 1
    if chosen.shape != (count,) or (count and not (chosen.min() >= 0 and chosen.max() < references)):
        raise ParameterError(f"{count} candidate paths need as many references, each from 0 to {references - 1}.")
    paths = unique_paths([candidate, reference])
    left, right = paths.of[:count].astype(np.int64), paths.of[count:].astype(np.int64)[chosen]
    references_taken, rank = _different(right, len(paths))
    pairs, of = _different(left * references_taken.size + rank, len(paths) * references_taken.size)
    left, right = pairs // max(references_taken.size, 1), references_taken[pairs % max(references_taken.size, 1)]
    columns = Columns(paths.codes, paths.offsets)
    scores = np.empty(pairs.size, np.int64)
    ops: list[np.ndarray] = [np.empty(0, np.uint8)]
    sizes, places = np.empty(pairs.size, np.int64), np.empty(pairs.size, np.int64)
    done = 0
    for batch in batches(columns.lengths[left], columns.lengths[right]):
        found, script, taken = align_batch(*columns.of(left[batch]), *columns.of(right[batch]), scoring)
        scores[batch], sizes[batch] = found, taken
        places[batch] = done + np.cumsum(taken) - taken
        done += script.size
        ops.append(script)
    return _in_pair_order(of, scores, np.concatenate(ops), sizes, places)


def _in_pair_order(
    of: np.ndarray, scores: np.ndarray, ops: np.ndarray, sizes: np.ndarray, places: np.ndarray
) -> Scripts:
    """Number the alignments as their scripts were laid down, so that no script has to be moved."""
    order = np.argsort(places, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    offsets = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    return Scripts(rank[of], scores[order], ops, offsets)


def _different(keys: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The different keys in order, and for each key which of them it is."""
    if size > 8 * keys.size + (1 << 20):
        found, back = np.unique(keys, return_inverse=True)
        return found, back
    seen = np.zeros(size, bool)
    seen[keys] = True
    found = np.flatnonzero(seen)
    slot = np.empty(size, np.int32)
    slot[found] = np.arange(found.size, dtype=np.int32)
    return found, slot[keys].astype(np.int64)


@dataclass(frozen=True)
class SequenceAlignment:
    """The alignment of one sequence with another.

    Parameters
    ----------
    score : int
        Sum of the scores of its edits.
    script : tuple of str
        ``match``, ``substitute``, ``skipped`` or ``extra``, in order.
    """

    score: int
    script: tuple[str, ...]

    def count(self, edit: str) -> int:
        """Return how often an edit stands in the script."""
        if edit not in OPS:
            raise ParameterError(f"edit is {edit!r}; allowed are {', '.join(OPS)}.")
        return self.script.count(edit)


def align_sequences(
    candidate: Sequence[Hashable], reference: Sequence[Hashable], *, scoring: Scoring | None = None
) -> SequenceAlignment:
    """Align two sequences of anything that can be told apart.

    Parameters
    ----------
    candidate, reference : sequence of hashable
        What was done, and what was expected.
    scoring : Scoring, optional
        Match 2, mismatch -1, gap -2 by default.

    Returns
    -------
    SequenceAlignment
        From the end, ties go to the diagonal, then to ``skipped``, then to ``extra``.

    Examples
    --------
    >>> align_sequences(["fetch", "pay"], ["fetch", "check", "pay"])
    SequenceAlignment(score=2, script=('match', 'skipped', 'match'))
    """
    codes: dict[Hashable, int] = {}
    flat: list[Flat] = []
    for sequence in (candidate, reference):
        numbers = [codes.setdefault(item, len(codes)) for item in sequence]
        flat.append((np.array(numbers, np.int32), np.array([0, len(numbers)], np.int64)))
    found = align_paths(flat[0], flat[1], np.zeros(1, np.int64), scoring)
    return SequenceAlignment(int(found.scores[0]), tuple(OPS[op] for op in found.ops))
