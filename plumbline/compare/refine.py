"""One published script refined: calls that moved, calls that were repeated, and orders that do not matter.

The published script aligns names only, so a swap of two calls is two substitutions and an argument given to the wrong
one of two calls is two differences. Here the calls of one name are first paired one to one, by equal arguments where
there are any; what the published script matched stays in place, what can join it in order joins it, and the rest has
moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from plumbline.compare.kernel import EXTRA, MATCH, SKIPPED, SUBSTITUTE
from plumbline.compare.pairing import cheapest_pairing

__all__ = ["EDITS", "Edit", "Side", "refine"]

EDITS = ("match", "substitute", "skipped", "extra", "moved", "repeated")


class Side(NamedTuple):
    """The steps of one path: which step, which argument text (-1 if none), which parallel group (-1 if alone)."""

    symbols: Sequence[int]
    arguments: Sequence[int]
    groups: Sequence[int]


class Edit(NamedTuple):
    """One row of a refined script; positions in the two paths, None where a side has nothing."""

    edit: str
    at: int
    reference: int | None
    candidate: int | None
    note: str = ""
    of: int | None = None


Pair = tuple[int, int]
Same = Callable[[int, int, int], bool]
"""Whether two argument texts of one step agree: (symbol, text, text)."""
Swap = Callable[[Pair, Pair], str | None]
"""Why two pairs of steps may stand in either order, or None."""


def refine(reference: Side, candidate: Side, ops: Sequence[int], same: Same, swap: Swap) -> list[Edit]:
    """Return the refined script of one pair of paths.

    Parameters
    ----------
    reference, candidate : Side
        The two paths.
    ops : sequence of int
        The published script.
    same, swap : callable
        Whether arguments agree, and whether an order matters.

    Returns
    -------
    list of Edit
        In the order of the reference, extra steps after the reference step they follow.
    """
    matched, substituted = _published_pairs(ops)
    pairs = _pair_calls(reference, candidate, matched, same)
    pairs = _first_of_repeats(pairs, candidate, same)
    paired_r, paired_c = {r for r, _ in pairs}, {c for _, c in pairs}
    kept = [(r, c) for r, c in substituted if r not in paired_r and c not in paired_c]
    fixed = sorted({*(set(pairs) & set(matched)), *kept})
    joined = _joining([pair for pair in pairs if pair not in matched], fixed)
    anchors = sorted([*fixed, *joined])
    kept += _new_substitutes(anchors, len(reference.symbols), len(candidate.symbols), paired_r, paired_c)
    rows = [Edit("substitute", r, r, c) for r, c in kept]
    in_order = set(anchors)
    for pair in pairs:
        rows.append(_placed(pair, pairs, kept, pair in in_order, swap))
    done_r, done_c = paired_r | {r for r, _ in kept}, paired_c | {c for _, c in kept}
    rows += [Edit("skipped", r, r, None) for r in range(len(reference.symbols)) if r not in done_r]
    rows += [
        _additional(c, _before(anchors, c), candidate, paired_c, same)
        for c in range(len(candidate.symbols))
        if c not in done_c
    ]
    return sorted(rows, key=lambda row: (row.at, row.reference is None, -1 if row.candidate is None else row.candidate))


def _published_pairs(ops: Sequence[int]) -> tuple[list[Pair], list[Pair]]:
    matched, substituted = [], []
    r = c = 0
    for op in ops:
        if op == MATCH:
            matched.append((r, c))
        elif op == SUBSTITUTE:
            substituted.append((r, c))
        r += op != EXTRA
        c += op != SKIPPED
    return matched, substituted


def _pair_calls(reference: Side, candidate: Side, matched: list[Pair], same: Same) -> list[Pair]:
    """Pair the calls of each name one to one: most with equal arguments, then as published, then nearest."""
    pairs: list[Pair] = []
    for symbol in dict.fromkeys(reference.symbols):
        rows = [r for r, each in enumerate(reference.symbols) if each == symbol]
        columns = [c for c, each in enumerate(candidate.symbols) if each == symbol]
        already = [(r, c) for r, c in matched if reference.symbols[r] == symbol]
        agree = all(same(symbol, candidate.arguments[c], reference.arguments[r]) for r, c in already)
        if len(already) == min(len(rows), len(columns)) and agree:
            pairs += already
        else:
            pairs += _assign(symbol, rows, columns, set(already), reference, candidate, same)
    return sorted(pairs)


def _assign(
    symbol: int, rows: list[int], columns: list[int], already: set[Pair], reference: Side, candidate: Side, same: Same
) -> list[Pair]:
    if not rows or not columns:
        return []
    far = len(reference.symbols) + len(candidate.symbols) + 1
    near = np.array([[abs(r - c) for c in columns] for r in rows], float)
    unpublished = np.array([[(r, c) not in already for c in columns] for r in rows])
    unequal = np.array(
        [[not same(symbol, candidate.arguments[c], reference.arguments[r]) for c in columns] for r in rows]
    )
    most = min(len(rows), len(columns)) + 1
    chosen = cheapest_pairing(near + far * most * (unpublished + most * unequal))
    return [(rows[i], columns[j]) for i, j in chosen]


def _first_of_repeats(pairs: list[Pair], candidate: Side, same: Same) -> list[Pair]:
    """Of several equal calls let the first be the expected one, where that puts no pair out of order."""
    found = list(pairs)
    taken = {c for _, c in found}
    for unpaired in (c for c in range(len(candidate.symbols)) if c not in taken):
        for position, (r, c) in enumerate(found):
            alike = c > unpaired and candidate.symbols[c] == candidate.symbols[unpaired]
            if not alike or not same(candidate.symbols[c], candidate.arguments[unpaired], candidate.arguments[c]):
                continue
            others = found[:position] + found[position + 1 :]
            if _crossings((r, unpaired), others) <= _crossings((r, c), others):
                found[position] = (r, unpaired)
                break
    return found


def _crosses(one: Pair, other: Pair) -> bool:
    return (one[0] - other[0]) * (one[1] - other[1]) < 0


def _crossings(pair: Pair, others: Sequence[Pair]) -> int:
    return sum(_crosses(pair, other) for other in others)


def _joining(loose: list[Pair], fixed: Sequence[Pair]) -> list[Pair]:
    """The longest run of loose pairs that stand in order with each other and with all that is fixed."""
    free = [pair for pair in sorted(loose) if not _crossings(pair, fixed)]
    best: list[list[Pair]] = []
    for pair in free:
        before = [run for run in best if run[-1][1] < pair[1]]
        best.append([*max(before, key=len, default=[]), pair])
    return max(best, key=len, default=[])


def _new_substitutes(
    anchors: list[Pair], references: int, candidates: int, paired_r: set[int], paired_c: set[int]
) -> list[Pair]:
    """Pairs of steps left over between the same two anchors, from the end as the published tie rule has it."""
    found: list[Pair] = []
    edges = [(-1, -1), *anchors, (references, candidates)]
    anchored_r, anchored_c = {r for r, _ in anchors}, {c for _, c in anchors}
    for (r0, c0), (r1, c1) in pairwise(edges):
        rows = [r for r in range(r0 + 1, r1) if r not in paired_r and r not in anchored_r]
        columns = [c for c in range(c0 + 1, c1) if c not in paired_c and c not in anchored_c]
        found += zip(reversed(rows), reversed(columns), strict=False)
    return sorted(found)


def _placed(pair: Pair, pairs: Sequence[Pair], substituted: Sequence[Pair], in_order: bool, swap: Swap) -> Edit:
    """A paired call: in place, or moved past others; it has not moved if no order it changed matters."""
    if in_order:
        return Edit("match", pair[0], *pair)
    reasons = {other: swap(pair, other) for other in pairs if _crosses(pair, other)}
    reasons |= {other: None for other in substituted if _crosses(pair, other)}
    if None not in reasons.values():
        said = " and ".join(dict.fromkeys(filter(None, reasons.values())))
        return Edit("match", pair[0], *pair, f"another order, which does not matter: {said}")
    passed = next(other for other, reason in reasons.items() if reason is None)
    return Edit("moved", pair[0], *pair, of=passed[1])


def _before(anchors: Sequence[Pair], c: int) -> int:
    return max((r for r, column in anchors if column < c), default=-1)


def _additional(c: int, at: int, candidate: Side, paired: set[int], same: Same) -> Edit:
    """A call nobody expected: a repetition if an equal call stands before it, or after it as an expected one."""
    symbol = candidate.symbols[c]
    for other, each in enumerate(candidate.symbols):
        if other == c or each != symbol or (other > c and other not in paired):
            continue
        if same(symbol, candidate.arguments[c], candidate.arguments[other]):
            return Edit("repeated", at, None, c, of=other)
    return Edit("extra", at, None, c)
