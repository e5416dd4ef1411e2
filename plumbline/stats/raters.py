"""How far two raters agree, before anything was adjudicated: the table first, kappa last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Ints, confidence_level
from plumbline.stats.estimate import Estimate, Result
from plumbline.stats.proportions import clopper_pearson

__all__ = ["RaterAgreement", "rater_agreement", "rating_table"]

_PREVALENT = 0.8


@dataclass(frozen=True, kw_only=True)
class RaterAgreement(Result):
    """Agreement of two raters on the same items.

    Parameters
    ----------
    labels : tuple of str
        Categories, in the order of the table.
    table : tuple of tuple of int
        Counts: rows the first rater, columns the second.
    observed : Estimate
        Share of items on which both say the same, with its Clopper-Pearson interval.
    ac1, alpha, kappa : float or None
        Gwet's AC1, Krippendorff's alpha (nominal), Cohen's kappa, in [-1, 1]; None where chance alone always agrees.
    caution : tuple of str
        What a reader must not miss, among it when kappa says nothing.
    """

    labels: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    observed: Estimate
    ac1: float | None
    alpha: float | None
    kappa: float | None
    caution: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max(9, *(len(label) for label in self.labels)) + 2
        head = "".ljust(width) + "".join(label.rjust(width) for label in self.labels)
        rows = [
            label.ljust(width) + "".join(str(count).rjust(width) for count in counts)
            for label, counts in zip(self.labels, self.table, strict=True)
        ]
        measures = [f"agree   {self.observed}"]
        for name, value in (("AC1", self.ac1), ("alpha", self.alpha), ("kappa", self.kappa)):
            measures.append(f"{name:8}{'cannot tell' if value is None else f'{value:.4f}'}")
        return "\n".join(["rows: first rater, columns: second", head, *rows, *measures, *self.caution])


def rating_table(
    first: Sequence[str], second: Sequence[str], *, labels: Sequence[str] | None = None
) -> tuple[tuple[str, ...], Ints]:
    """Count two raters' labels of the same items.

    Parameters
    ----------
    first, second : sequence of str
        Labels of the same items in the same order.
    labels : sequence of str, optional
        Categories; by default those that occur, sorted.

    Returns
    -------
    tuple
        The labels and a square array of counts, rows the first rater.

    Raises
    ------
    ParameterError
        The raters labelled different numbers of items, none at all, or with a label that is not listed.

    Examples
    --------
    >>> rating_table(["pass", "fail", "pass"], ["pass", "pass", "pass"])[1].tolist()
    [[0, 1], [0, 2]]
    """
    if len(first) != len(second) or not len(first):
        raise ParameterError(f"two raters label the same items; found {len(first)} and {len(second)} labels")
    known = tuple(sorted({*first, *second})) if labels is None else tuple(labels)
    if odd := [label for label in (*first, *second) if label not in known]:
        raise ParameterError(f"label {odd[0]!r} is none of {', '.join(known)}")
    counts = np.zeros((len(known), len(known)), np.int64)
    for one, other in zip(first, second, strict=True):
        counts[known.index(one), known.index(other)] += 1
    return known, counts


def rater_agreement(
    table: ArrayLike, *, labels: Sequence[str] | None = None, confidence: float = 0.95
) -> RaterAgreement:
    """Say how far two raters agree.

    Read the table first, then the share of items on which they agree, then AC1. Kappa compares with the agreement of
    raters who label at random with the same margins: where nearly everything has one label, that is nearly all, and
    kappa can be near zero or below although the raters hardly ever differ.

    Parameters
    ----------
    table : k x k array of int
        Counts of items, rows the first rater, columns the second; at least two categories and one item.
    labels : sequence of str, optional
        Names of the categories.
    confidence : float
        Of the interval of the observed agreement, in (0, 1).

    Returns
    -------
    RaterAgreement
        With a warning where one label prevails.

    Raises
    ------
    ParameterError
        The table is not square, smaller than 2 x 2, empty, or holds something else than counts.

    Examples
    --------
    >>> found = rater_agreement([[118, 1], [1, 0]], labels=["pass", "fail"])
    >>> round(found.observed.value, 4), round(found.ac1, 4), round(found.kappa, 4)
    (0.9833, 0.9831, -0.0084)

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29; Feinstein and Cicchetti (1990),
    Journal of Clinical Epidemiology 43, 543; Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    counts, level = _square(table), confidence_level(confidence)
    size, n = len(counts), int(counts.sum())
    names = tuple(str(k) for k in range(size)) if labels is None else tuple(labels)
    if len(names) != size or len(set(names)) != size:
        raise ParameterError(f"labels must name the {size} categories, each once; found {list(names)}")
    same = int(np.trace(counts))
    observed = same / n
    rows, columns = counts.sum(1) / n, counts.sum(0) / n
    both = (rows + columns) / 2
    kappa = _corrected(observed, float(rows @ columns))
    ac1 = _corrected(observed, float((both * (1 - both)).sum()) / (size - 1))
    values = counts.sum(0) + counts.sum(1)
    expected = float((values * (2 * n - values)).sum()) / (2 * n * (2 * n - 1))
    alpha = None if expected == 0 else 1 - (1 - observed) / expected
    return RaterAgreement(
        labels=names, table=tuple(tuple(int(c) for c in row) for row in counts), ac1=ac1, alpha=alpha, kappa=kappa,
        observed=clopper_pearson(same, n, confidence=level, sidedness="two-sided"),
        caution=_cautions(names, both, kappa),
    )  # fmt: skip


def _square(table: ArrayLike) -> Ints:
    given: Any = np.asarray(table)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] < 2:
        raise ParameterError(f"an agreement table is square, at least 2 x 2; found shape {given.shape}")
    if given.dtype.kind not in "iu" or (given < 0).any() or not given.sum():
        raise ParameterError("an agreement table holds counts of items, at least one in all")
    return np.asarray(given, np.int64)


def _corrected(observed: float, chance: float) -> float | None:
    return None if chance >= 1 else (observed - chance) / (1 - chance)


def _cautions(names: Sequence[str], both: Any, kappa: float | None) -> tuple[str, ...]:
    most = int(np.argmax(both))
    if both[most] < _PREVALENT:
        return ()
    shown = "cannot be told" if kappa is None else f"is {kappa:.2f}"
    return (
        f"{100 * both[most]:.0f}% of the labels are {names[most]!r}: raters at random would agree on most items, "
        f"so that kappa ({shown}) says little; read the table and AC1.",
    )
