"""Two arms with pairs: McNemar for these pairs, block sign flips for tasks like these.

A pair is the same task, variant and repetition run by both arms. Pairs that agree carry no information about a
difference; margins alone do not determine a paired p, so the pairs themselves are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, whole
from plumbline.stats.estimate import Contrast, Result

__all__ = ["CompatiblePairing", "PairTable", "mcnemar", "mcnemar_compatible", "pair_table"]

_MCNEMAR = {
    "exact": "McNemar exact",
    "midp": "McNemar mid-p",
    "chi2": "McNemar chi-square",
    "chi2_cc": "McNemar chi-square, continuity correction",
}


@dataclass(frozen=True, kw_only=True)
class PairTable(Result):
    """Pairs by outcome: both arms succeeded, only the first, only the second, neither; and pairs left incomplete."""

    both: int
    only_first: int
    only_second: int
    neither: int
    incomplete: int = 0

    @property
    def n(self) -> int:
        """Complete pairs."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def discordant(self) -> tuple[int, int]:
        """Pairs that differ: (only first, only second)."""
        return self.only_first, self.only_second

    @property
    def difference(self) -> float | None:
        """First rate minus second on complete pairs; None without a complete pair."""
        return (self.only_first - self.only_second) / self.n if self.n else None

    def __str__(self) -> str:
        return (
            f"{self.n} pairs: both {self.both}, only first {self.only_first}, only second {self.only_second}, "
            f"neither {self.neither}; {self.incomplete} incomplete"
        )


def pair_table(first: ArrayLike, second: ArrayLike) -> PairTable:
    """Count pairs by outcome; a pair with a missing side is counted as incomplete and left out.

    Parameters
    ----------
    first, second : array of bool, 0/1, with None or NaN where a run is missing
        Outcomes of the two arms, aligned pair by pair.

    Returns
    -------
    PairTable
        The four counts and the incomplete pairs.

    Raises
    ------
    ParameterError
        Arrays of different length, empty arrays, or a value that is neither 0/1 nor missing.

    Examples
    --------
    >>> pair_table([1, 1, 0, None], [1, 0, 0, 1]).discordant
    (1, 0)
    """
    a, b = _outcomes(first, "first"), _outcomes(second, "second")
    if a.size != b.size or a.size == 0:
        raise ParameterError(f"first has {a.size} outcomes and second {b.size}; give one of each per pair")
    whole_pairs = ~(np.isnan(a) | np.isnan(b))
    x, y = a[whole_pairs] == 1, b[whole_pairs] == 1
    return PairTable(
        both=int((x & y).sum()),
        only_first=int((x & ~y).sum()),
        only_second=int((~x & y).sum()),
        neither=int((~x & ~y).sum()),
        incomplete=int((~whole_pairs).sum()),
    )


def _outcomes(values: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.array([np.nan if value is None else float(value) for value in np.asarray(values, dtype=object)])
    except (TypeError, ValueError):
        raise ParameterError(f"{name} holds something other than true, false and missing") from None
    wrong = ~(np.isnan(array) | (array == 0) | (array == 1))
    if wrong.any():
        at = int(wrong.argmax())
        raise ParameterError(f"{name} holds {array[at]:g} at position {at}; outcomes are 0, 1 or missing")
    return array


def mcnemar(only_first: int, only_second: int, *, pairs: int | None = None, method: str = "exact") -> Contrast:
    """Test two arms on pairs, from the pairs that differ.

    Parameters
    ----------
    only_first, only_second : int
        Pairs in which only the first, or only the second, arm succeeded.
    pairs : int, optional
        Complete pairs in all, to report the difference in rates.
    method : {'exact', 'midp', 'chi2', 'chi2_cc'}
        Exact conditional binomial; mid-p, less conservative; chi-square, only to check against other reports.

    Returns
    -------
    Contrast
        ``fraction`` is exact for ``exact`` and ``midp``. The chi-square forms cannot tell when no pair differs.

    Raises
    ------
    ParameterError
        Negative counts, fewer pairs than discordant ones, or an unknown method.

    Examples
    --------
    >>> mcnemar(12, 0).fraction, mcnemar(12, 0, method="midp").fraction
    (Fraction(1, 2048), Fraction(1, 4096))

    References
    ----------
    McNemar (1947), Psychometrika 12, 153. Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13, 91 (mid-p).
    """
    b, c = whole(only_first, "only_first"), whole(only_second, "only_second")
    total = b + c
    n = total if pairs is None else whole(pairs, "pairs")
    if n < total:
        raise ParameterError(f"pairs is {n} but {total} pairs differ; count every complete pair")
    fraction, p, statistic, caution = _mcnemar_p(b, c, choice(method, "method", _MCNEMAR))
    smallest = float(min(Fraction(1), Fraction(2, 2**total))) if method == "exact" else None
    if method == "midp":
        smallest = float(Fraction(1, 2**total))
    return Contrast(
        p=p,
        fraction=fraction,
        difference=(b - c) / n if pairs is not None and n else None,
        statistic=statistic,
        method=_MCNEMAR[method],
        unit="pair",
        n=n,
        discordant=(b, c),
        smallest_attainable_p=smallest,
        caution=caution,
    )


def _lower_tail(successes: int, total: int) -> Fraction:
    return Fraction(sum(math.comb(total, k) for k in range(successes + 1)), 2**total)


def _exact_tail(b: int, c: int) -> Fraction:
    return min(Fraction(1), 2 * _lower_tail(min(b, c), b + c))


def _mcnemar_p(b: int, c: int, method: str) -> tuple[Fraction | None, float | None, float, tuple[str, ...]]:
    total, less = b + c, min(b, c)
    if method in ("exact", "midp"):
        exact = _exact_tail(b, c)
        if method == "midp":
            exact = 2 * _lower_tail(less, total) - Fraction(math.comb(total, less), 2**total)
        none = ("no pair differs",) if total == 0 else ()
        return exact, float(exact), float(b - c), none
    if total == 0:
        return None, None, 0.0, ("no pair differs: chi-square is not defined",)
    gap = abs(b - c) - (1 if method == "chi2_cc" else 0)
    chi2 = max(0, gap) ** 2 / total
    return None, math.erfc(math.sqrt(chi2 / 2)), chi2, ("an approximation; use the exact or the mid-p form",)


@dataclass(frozen=True, kw_only=True)
class CompatiblePairing(Result):
    """One way two margins can be paired: pairs that failed in both arms, discordant pairs, and the exact p."""

    both_failed: int
    only_first: int
    only_second: int
    p: float


def mcnemar_compatible(failures_first: int, failures_second: int, pairs: int) -> tuple[CompatiblePairing, ...]:
    """List every McNemar p that two margins allow, because margins alone do not determine it.

    Parameters
    ----------
    failures_first, failures_second : int
        Failures of each arm among the complete pairs.
    pairs : int
        Complete pairs.

    Returns
    -------
    tuple of CompatiblePairing
        One a possible number of pairs that failed in both arms, from fewest to most.

    Raises
    ------
    ParameterError
        More failures than pairs.

    Examples
    --------
    >>> [pairing.p for pairing in mcnemar_compatible(8, 1, 56)]
    [0.0390625, 0.015625]
    """
    a, b, n = whole(failures_first, "failures_first"), whole(failures_second, "failures_second"), whole(pairs, "pairs")
    if max(a, b) > n:
        raise ParameterError(f"{a} and {b} failures do not fit in {n} pairs")
    found = []
    for shared in range(max(0, a + b - n), min(a, b) + 1):
        p = float(_exact_tail(b - shared, a - shared))
        found.append(CompatiblePairing(both_failed=shared, only_first=b - shared, only_second=a - shared, p=p))
    return tuple(found)
