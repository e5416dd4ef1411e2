"""Optimal one-to-one pairing, never the first partner that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plumbline.compare.quantities import identity_key

__all__ = ["best_pairing", "cheapest_pairing", "pair_items"]


def best_pairing(cost: np.ndarray) -> list[tuple[int, int]]:
    """Pair rows with columns so that as many pairs as possible cost nothing, and the rest as little as possible.

    Parameters
    ----------
    cost : ndarray of float, shape (rows, columns)
        0 for a pair that agrees; 1 or more, at most 2, for one that does not.

    Returns
    -------
    list of (row, column)
        As many pairs as the shorter side has, in the order of the rows.

    Examples
    --------
    >>> best_pairing(np.array([[0.0, 0.0], [0.0, 2.0]]))
    [(0, 1), (1, 0)]

    References
    ----------
    Crouse, D. F. (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions on Aerospace and
    Electronic Systems, 52(4), 1679-1696 (the algorithm of ``scipy.optimize.linear_sum_assignment``).
    """
    if cost.size == 0:
        return []
    disagreeing = cost > 0
    # Excess is scaled so that all of it together weighs less than one more pair that agrees.
    return cheapest_pairing(disagreeing + np.where(disagreeing, cost - 1.0, 0.0) / (4.0 * min(cost.shape)))


def cheapest_pairing(cost: np.ndarray) -> list[tuple[int, int]]:
    """Pair rows with columns at the least total cost, as many pairs as the shorter side has."""
    rows, columns = cost.shape
    if min(rows, columns) == 1:  # no need to load scipy
        best = int(cost.argmin())
        return [(best, 0) if columns == 1 else (0, best)]
    from scipy.optimize import linear_sum_assignment

    chosen = linear_sum_assignment(cost)
    return [(int(row), int(column)) for row, column in zip(*chosen, strict=True)]


def pair_items(
    candidate: Sequence[Any],
    reference: Sequence[Any],
    cost: Callable[[Any, Any], float],
    *,
    repeats: bool,
    carries_over: bool,
) -> list[tuple[int | None, int | None]]:
    """Pair the items of two lists one to one, whatever their order.

    Parameters
    ----------
    candidate, reference : sequence of JSON values
        The two lists.
    cost : callable
        0 for two items that agree, else between 1 and 2.
    repeats : bool
        Whether an item that stands twice counts twice.
    carries_over : bool
        Whether agreement carries over (if a agrees with b and b with c, then a with c). Only then may items that are
        the same recorded value be paired at once, or repetitions that agree be dropped.

    Returns
    -------
    list of (candidate position or None, reference position or None)
        None stands for an item that is left over.
    """
    left = list(range(len(candidate))) if repeats else _each_once(candidate, cost, carries_over)
    right = list(range(len(reference))) if repeats else _each_once(reference, cost, carries_over)
    pairs: list[tuple[int | None, int | None]] = []
    if carries_over:
        waiting: dict[Any, list[int]] = {}
        for j in reversed(right):
            waiting.setdefault(identity_key(reference[j]), []).append(j)
        for i in left:
            alike = waiting.get(identity_key(candidate[i]))
            if alike:
                pairs.append((i, alike.pop()))
    done, gone = {i for i, _ in pairs}, {j for _, j in pairs}
    left, right = [i for i in left if i not in done], [j for j in right if j not in gone]
    matrix = np.array([[cost(candidate[i], reference[j]) for j in right] for i in left])
    found = [(left[i], right[j]) for i, j in best_pairing(matrix)]
    pairs += found
    pairs += [(i, None) for i in left if i not in {i for i, _ in found}]
    pairs.sort(key=lambda pair: pair[0] or 0)
    return pairs + [(None, j) for j in right if j not in {j for _, j in found}]


def _each_once(items: Sequence[Any], cost: Callable[[Any, Any], float], carries_over: bool) -> list[int]:
    """Positions of the items of a set: the first of each recorded value; of agreeing values if that carries over."""
    first: dict[Any, int] = {}
    for position, item in enumerate(items):
        first.setdefault(identity_key(item), position)
    kept: list[int] = []
    for position in first.values():
        if not (carries_over and any(cost(items[i], items[position]) == 0 for i in kept)):
            kept.append(position)
    return kept
