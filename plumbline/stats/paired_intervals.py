"""Intervals and equivalence for a difference of two paired proportions: Tango's score and Newcombe's hybrid."""

from __future__ import annotations

import math
from statistics import NormalDist

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, confidence_level, one_sided_alpha
from plumbline.stats.estimate import Estimate
from plumbline.stats.margins import Equivalence, margin_of, normal_tail
from plumbline.stats.paired import PairTable
from plumbline.stats.proportions import SIDES, lower_bounds

__all__ = ["newcombe_paired", "paired_equivalence", "tango"]

_HALVINGS = 60


def _tango_z(b: int, c: int, n: int, delta: float) -> float:
    """Return Tango's score statistic of b only-first and c only-second pairs against a difference ``delta``."""
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    second = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * second + delta * (1 - delta))
    gap = b - c - n * delta
    if gap == 0 or variance <= 0:
        return 0.0 if gap == 0 else math.copysign(math.inf, gap)
    return gap / math.sqrt(variance)


def _tango_lower(b: int, c: int, n: int, z: float) -> float:
    low, high = -1.0, (b - c) / n
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _tango_z(b, c, n, middle) > z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _newcombe_lower(table: PairTable, tail: float) -> float:
    """Return Newcombe's lower bound; the upper one is that of the table with the arms exchanged, mirrored."""
    n, a, b, c, d = table.n, table.both, table.only_first, table.only_second, table.neither
    p1, p2 = (a + b) / n, (a + c) / n
    below = p1 - float(lower_bounds(a + b, n, tail=tail, method="wilson"))
    above = 1 - float(lower_bounds(n - a - c, n, tail=tail, method="wilson")) - p2
    product = (a + b) * (c + d) * (a + c) * (b + d)
    cross = float(a * d - b * c)
    if cross > 0:
        cross = max(cross - n / 2, 0)
    phi = cross / math.sqrt(product) if product else 0.0
    return p1 - p2 - math.sqrt(max(0.0, below**2 - 2 * phi * below * above + above**2))


def _exchanged(table: PairTable) -> PairTable:
    return PairTable(both=table.both, only_first=table.only_second, only_second=table.only_first, neither=table.neither)


def _interval(table: PairTable, confidence: float, sidedness: str, method: str) -> Estimate:
    level = confidence_level(confidence)
    tail = (1 - level) / 2 if choice(sidedness, "sidedness", SIDES) == "two-sided" else 1 - level
    if table.n == 0:
        return Estimate(
            value=None,
            low=None,
            high=None,
            n=0,
            confidence=level,
            sidedness=sidedness,
            method=method,
            scope="none",
            caution=("no complete pair",),
        )
    b, c = table.discordant
    if min(table.both, b, c, table.neither) < 0:
        raise ParameterError(f"a pair table holds counts, found {table}")
    if method.startswith("Tango"):
        z = NormalDist().inv_cdf(1 - tail)
        low, high = _tango_lower(b, c, table.n, z), -_tango_lower(c, b, table.n, z)
    else:
        low, high = _newcombe_lower(table, tail), -_newcombe_lower(_exchanged(table), tail)
    caution = (f"{table.incomplete} incomplete pairs left out",) if table.incomplete else ()
    return Estimate(
        value=(b - c) / table.n,
        low=None if sidedness == "upper" else low,
        high=None if sidedness == "lower" else high,
        n=table.n,
        confidence=level,
        sidedness=sidedness,
        method=method,
        caution=caution,
    )


def tango(table: PairTable, *, confidence: float = 0.95, sidedness: str = "two-sided") -> Estimate:
    """Estimate a difference of paired proportions with Tango's score interval.

    Parameters
    ----------
    table : PairTable
        From :func:`plumbline.stats.pair_table`.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        First minus second, scope ``suite``; cannot tell without a complete pair.

    Examples
    --------
    >>> print(tango(PairTable(both=47, only_first=1, only_second=8, neither=0)))
    n=56 = -0.1250 [-0.2436, -0.0252] Tango paired difference 95% two-sided, suite

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891.
    """
    return _interval(table, confidence, sidedness, "Tango paired difference")


def newcombe_paired(table: PairTable, *, confidence: float = 0.95, sidedness: str = "two-sided") -> Estimate:
    """Estimate a difference of paired proportions with Newcombe's paired hybrid score interval.

    Parameters
    ----------
    table : PairTable
        From :func:`plumbline.stats.pair_table`.
    confidence : float
        In (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.

    Returns
    -------
    Estimate
        First minus second, scope ``suite``; cannot tell without a complete pair.

    Examples
    --------
    >>> newcombe_paired(PairTable(both=47, only_first=1, only_second=8, neither=0)).known
    True

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 2635, method 10.
    """
    return _interval(table, confidence, sidedness, "Newcombe paired difference")


def paired_equivalence(table: PairTable, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test whether a replacement is within a margin of an incumbent, on pairs (Tango's score tests).

    Parameters
    ----------
    table : PairTable
        Replacement first, incumbent second.
    margin : float
        The largest difference that does not matter, as a share in (0, 1).
    alpha : float
        Level of each one-sided test, in (0, 0.5).

    Returns
    -------
    Equivalence
        Unit ``pair``; cannot tell without a complete pair.

    Raises
    ------
    ParameterError
        A margin outside (0, 1) or an alpha outside (0, 0.5).

    Examples
    --------
    >>> paired_equivalence(PairTable(both=55, only_first=0, only_second=1, neither=0), margin=0.1).verdict
    'equivalent'

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891.
    """
    limit, level = margin_of(margin), one_sided_alpha(alpha)
    interval = tango(table, confidence=1 - 2 * level)
    b, c = table.discordant
    z_lower = _tango_z(b, c, table.n, -limit) if interval.known else None
    z_upper = _tango_z(b, c, table.n, limit) if interval.known else None
    return Equivalence(
        margin=limit,
        alpha=level,
        difference=interval.value,
        z_lower=z_lower,
        z_upper=z_upper,
        p_noninferior=None if z_lower is None else normal_tail(z_lower),
        p_nonsuperior=None if z_upper is None else normal_tail(-z_upper),
        interval=interval,
        method="Tango paired score",
        unit="pair",
        n=table.n,
        caution=interval.caution,
    )
