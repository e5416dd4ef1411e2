"""Plain-Python truth for alignments and pairings, written without the module under test."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations


def needleman_wunsch(
    candidate: Sequence[Hashable], reference: Sequence[Hashable], match: int = 2, mismatch: int = -1, gap: int = -2
) -> tuple[int, tuple[str, ...]]:
    """Score and script by the full table; from the end diagonal, then a gap in the candidate, then in the reference."""
    n, m = len(candidate), len(reference)
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            options = []
            if i and j:
                options.append(table[i - 1][j - 1] + (match if candidate[i - 1] == reference[j - 1] else mismatch))
            if j:
                options.append(table[i][j - 1] + gap)
            if i:
                options.append(table[i - 1][j] + gap)
            table[i][j] = max(options) if options else 0
    script: list[str] = []
    i, j = n, m
    while i or j:
        equal = bool(i and j) and candidate[i - 1] == reference[j - 1]
        if i and j and table[i][j] == table[i - 1][j - 1] + (match if equal else mismatch):
            script.append("match" if equal else "substitute")
            i, j = i - 1, j - 1
        elif j and table[i][j] == table[i][j - 1] + gap:
            script.append("skipped")
            j -= 1
        else:
            script.append("extra")
            i -= 1
    return table[n][m], tuple(reversed(script))


def levenshtein(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Edit distance by the full table."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def similarity(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """1 - edit distance / longer length; two empty paths are alike."""
    longer = max(len(one), len(other))
    return 1 - levenshtein(one, other) / longer if longer else 1.0


def most_pairs(fits: Sequence[Sequence[bool]]) -> int:
    """The largest number of rows that can each have a column of their own, by trying every order."""
    if not fits or not fits[0]:
        return 0
    wide = [list(row) for row in fits]
    if len(wide) > len(wide[0]):
        wide = [list(column) for column in zip(*wide, strict=True)]
    return max(
        sum(wide[row][column] for row, column in enumerate(order))
        for order in permutations(range(len(wide[0])), len(wide))
    )


def greedy_pairs(fits: Sequence[Sequence[bool]]) -> int:
    """How many pairs the first-that-fits rule finds."""
    taken: set[int] = set()
    for row in fits:
        free = [column for column, fit in enumerate(row) if fit and column not in taken]
        taken |= set(free[:1])
    return len(taken)
