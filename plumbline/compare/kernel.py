"""Needleman-Wunsch for many pairs at once: one vector step a row of the matrix, for all pairs of a batch.

With S = score - gap * (steps used on both sides), a gap costs nothing and the recurrence along a row is a running
maximum. Divided by the common divisor, the published weights become 2 for a match and 1 for a mismatch, so short paths
fit 8-bit integers. What each cell chose is kept in one byte, from which the script is walked back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from plumbline.base.errors import ParameterError

__all__ = [
    "EXTRA",
    "MATCH",
    "SCORES_A_BATCH",
    "SKIPPED",
    "SUBSTITUTE",
    "Columns",
    "Scoring",
    "align_batch",
    "batches",
    "common_batch",
]

MATCH, SUBSTITUTE, SKIPPED, EXTRA, _STOP = range(5)

CELLS_A_BATCH: Final = 1 << 20
PAIRS_A_BATCH: Final = 8192
SCORES_A_BATCH: Final = 32_768
CELLS_A_PAIR: Final = 200_000_000
LARGEST_MATRIX: Final = 1 << 25


@dataclass(frozen=True)
class Scoring:
    """What an aligned pair of steps and an unaligned step score.

    Parameters
    ----------
    match, mismatch, gap : int
        2, -1 and -2 as published. A match scores more than a mismatch, and more than the two gaps that would replace
        it.

    Raises
    ------
    ParameterError
        The scores are not integers, or would never let equal steps match.

    Examples
    --------
    >>> Scoring(match=1, mismatch=-1, gap=-1).gap
    -1
    """

    match: int = 2
    mismatch: int = -1
    gap: int = -2

    def __post_init__(self) -> None:
        for name in ("match", "mismatch", "gap"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 1000:
                raise ParameterError(f"{name} is {value!r}; give an integer between -1000 and 1000.")
        if self.match <= max(self.mismatch, 2 * self.gap):
            raise ParameterError(
                f"match {self.match} must exceed mismatch {self.mismatch} and twice the gap {self.gap}; "
                "the published scores are 2, -1 and -2."
            )

    @property
    def weights(self) -> tuple[int, int, int]:
        """Gain of a match and of a mismatch over two gaps, and the divisor taken out of both."""
        match, mismatch = self.match - 2 * self.gap, self.mismatch - 2 * self.gap
        divisor = math.gcd(match, mismatch)
        return match // divisor, mismatch // divisor, divisor

    def dtype(self, shorter: int) -> type[np.signedinteger]:
        """The smallest integer that holds the units of paths of which the shorter has this length."""
        match, mismatch, _ = self.weights
        largest = match * (shorter + 1) + abs(mismatch)
        return np.int8 if largest < 127 else np.int16 if largest < 32_767 else np.int32


class Columns:
    """Paths as columns of a matrix, position by position, so that one vector step meets all pairs of a batch.

    What fills a column below the end of its path does not matter: a cell of the alignment matrix depends only on the
    cells before it, and each pair is read at its own lengths.
    """

    def __init__(self, codes: np.ndarray, offsets: np.ndarray) -> None:
        self.codes, self.offsets = codes, offsets
        self.lengths = np.diff(offsets)
        longest = int(self.lengths.max(initial=0))
        fits = longest * self.lengths.size <= LARGEST_MATRIX
        self.matrix = self._pad(np.arange(self.lengths.size)) if fits else None

    def of(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chosen paths as columns, and their lengths."""
        if self.matrix is None:
            return self._pad(chosen), self.lengths[chosen]
        lengths = self.lengths[chosen]
        rows = self.matrix[: int(lengths.max(initial=0))]
        return rows.take(chosen, axis=1, mode="clip"), lengths  # clip spares numpy a check; no index is out of range

    def _pad(self, chosen: np.ndarray) -> np.ndarray:
        lengths, starts = self.lengths[chosen], self.offsets[chosen]
        out = np.zeros((int(lengths.max(initial=0)), chosen.size), self.codes.dtype)
        if chosen.size < out.shape[0]:
            for column, (start, length) in enumerate(zip(starts, lengths, strict=True)):
                out[:length, column] = self.codes[start : start + length]
            return out
        for position in range(out.shape[0]):
            here = np.flatnonzero(lengths > position)
            out[position, here] = self.codes[starts[here] + position]
        return out


def batches(candidate: np.ndarray, reference: np.ndarray, at_once: int = PAIRS_A_BATCH) -> Iterator[np.ndarray]:
    """Yield positions of pairs of similar lengths, few enough that their matrix stays in the cache.

    Within a batch the pairs ascend by the length of the candidate, then of the reference.

    Raises
    ------
    ParameterError
        One pair is too long to align.
    """
    longest = max(int(candidate.max(initial=0)), int(reference.max(initial=0)))
    width = np.dtype(np.uint16 if longest < 255 else np.int64)  # 16 bits: numpy sorts by radix
    key = candidate.astype(width)
    key *= width.type(longest + 1)
    key += reference.astype(width)
    order = np.argsort(key, kind="stable")
    start = 0
    while start < order.size:
        taken = order[start : start + at_once]
        cells = (int(candidate[taken].max()) + 1) * (int(reference[taken].max()) + 1)
        taken = taken[: max(1, CELLS_A_BATCH * at_once // (PAIRS_A_BATCH * cells))]
        if taken.size == 1 and (int(candidate[taken[0]]) + 1) * (int(reference[taken[0]]) + 1) > CELLS_A_PAIR:
            raise ParameterError(
                f"two paths of {int(candidate[taken[0]])} and {int(reference[taken[0]])} steps are too long to align; "
                f"the product of their lengths may be at most {CELLS_A_PAIR:,}."
            )
        yield taken
        start += taken.size


def _rows(
    candidate: np.ndarray, reference: np.ndarray, scoring: Scoring, choices: np.ndarray | None
) -> Iterator[np.ndarray]:
    """Yield the rows of the unit matrix, one per step of the candidate and one before it; fill ``choices`` on the way.

    A row is overwritten when the next but one is asked for.
    """
    match, mismatch, _ = scoring.weights
    columns, pairs = reference.shape
    dtype = scoring.dtype(min(candidate.shape[0], columns))
    row, after = np.zeros((columns + 1, pairs), dtype), np.zeros((columns + 1, pairs), dtype)
    diagonal = np.empty((columns, pairs), dtype)
    unequal, flag = np.empty((columns, pairs), bool), np.empty((columns, pairs), bool)
    unequal_byte, flag_byte = unequal.view(np.uint8), flag.view(np.uint8)
    loss, gain, behind = dtype(mismatch - match), dtype(match), np.uint8(SKIPPED)
    by_one = dtype is np.int8 and loss == -1  # the published weights on short paths: one pass less
    yield row
    for i in range(candidate.shape[0]):
        np.not_equal(reference, candidate[i], out=unequal)
        if by_one:
            np.subtract(row[:-1], unequal.view(np.int8), out=diagonal)
        else:
            np.multiply(unequal, loss, out=diagonal)
            diagonal += row[:-1]
        diagonal += gain
        np.maximum(diagonal, row[1:], out=after[1:])
        if pairs < 256:
            np.maximum.accumulate(after, axis=0, out=after)
        else:  # along the first axis, numpy's own running maximum is slower than one call a column
            for j in range(1, columns + 1):
                np.maximum(after[j], after[j - 1], out=after[j])
        if choices is not None:
            here = choices[i + 1, 1:]
            np.not_equal(after[1:], after[:-1], out=flag)
            np.add(flag_byte, behind, out=here)  # skipped if the column before scores as much
            np.equal(after[1:], diagonal, out=flag)
            np.copyto(here, unequal_byte, where=flag)  # the diagonal before either gap
        row, after = after, row
        yield row


def align_batch(
    candidate: np.ndarray,
    candidate_length: np.ndarray,
    reference: np.ndarray,
    reference_length: np.ndarray,
    scoring: Scoring,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Align each column of one padded matrix with the same column of another.

    Returns
    -------
    scores : ndarray of int64
    ops : ndarray of uint8
        All scripts one after the other: ``MATCH``, ``SUBSTITUTE``, ``SKIPPED``, ``EXTRA``. Walked from the end, the
        diagonal is preferred, then a gap in the candidate (skipped), then a gap in the reference (extra).
    lengths : ndarray of int64
        Length of each script.
    """
    long, wide, pairs = candidate.shape[0], reference.shape[0], candidate.shape[1]
    choices = np.empty((long + 1, wide + 1, pairs), np.uint8)
    choices[0], choices[:, 0], choices[0, 0] = SKIPPED, EXTRA, _STOP
    for _ in _rows(candidate, reference, scoring, choices):
        pass
    stride = (wide + 1) * pairs
    at = candidate_length.astype(np.int64) * stride + reference_length.astype(np.int64) * pairs + np.arange(pairs)
    back = np.array([stride + pairs, stride + pairs, pairs, stride, 0])
    flat, steps = choices.reshape(-1), []
    for taken in range(long + wide):
        choice = flat[at]
        if taken >= min(long, wide) and (choice == _STOP).all():
            break
        steps.append(choice)
        at -= back[choice]
    script = np.array(steps, np.uint8).reshape(len(steps), pairs)[::-1].T
    used = script != _STOP
    ops, lengths = script[used], used.sum(axis=1)
    match, mismatch, divisor = scoring.weights
    owner = np.repeat(np.arange(pairs), lengths)
    units = np.bincount(owner[ops == MATCH], minlength=pairs) * match
    units += np.bincount(owner[ops == SUBSTITUTE], minlength=pairs) * mismatch
    return units * divisor + scoring.gap * (candidate_length + reference_length).astype(np.int64), ops, lengths


def common_batch(
    candidate: np.ndarray, candidate_length: np.ndarray, reference: np.ndarray, reference_length: np.ndarray
) -> np.ndarray:
    """Return, for the published scores, the length of both paths together less their Levenshtein distance.

    Score only: no script is kept. The pairs ascend by the length of the candidate.
    """
    out = np.zeros(candidate.shape[1], np.int64)
    ends = np.searchsorted(candidate_length, np.arange(candidate.shape[0] + 1), side="right")
    even = bool(reference_length.size) and int(reference_length.min()) == reference.shape[0]
    start = 0
    for end, row in zip(ends, _rows(candidate, reference, Scoring(), None), strict=True):
        if end > start:
            here = np.arange(start, end)
            out[start:end] = row[-1, start:end] if even else row[reference_length[start:end], here]
        start = end
    return out
