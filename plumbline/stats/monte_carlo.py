"""What a published Monte Carlo p-value is worth: its distance from the exact one, in its own standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import probability, whole
from plumbline.stats.estimate import Result

__all__ = ["MonteCarloCheck", "monte_carlo_check"]


@dataclass(frozen=True, kw_only=True)
class MonteCarloCheck(Result):
    """A published random p beside the exact one.

    ``se`` is the Monte Carlo standard error, ``distance`` is published minus exact in those errors,
    ``compatible_counts`` are the hit counts that round to the published p, ``count_range`` and ``p_range`` hold 95% of
    what a rerun would give, and ``chance_at_least`` and ``chance_at_most`` are the chances of a rerun as high or low.
    """

    published: float
    exact: float
    draws: int
    se: float
    distance: float
    compatible_counts: tuple[int, ...]
    expected_count: float
    count_range: tuple[int, int]
    p_range: tuple[float, float]
    chance_at_least: float | None
    chance_at_most: float | None

    @property
    def within(self) -> bool:
        """Whether some count that rounds to the published p lies in the 95% range of a rerun."""
        return any(self.count_range[0] <= count <= self.count_range[1] for count in self.compatible_counts)

    def __str__(self) -> str:
        verdict = "within" if self.within else "outside"
        return (
            f"published {self.published:g}, exact {self.exact:.10g}: {self.distance:+.2f} Monte Carlo s.e. "
            f"({self.se:.6f}), {verdict} the 95% range of {self.draws} draws"
        )


def monte_carlo_check(published: float, exact: float, *, draws: int, decimals: int = 4) -> MonteCarloCheck:
    """Compare a published random p-value with the exact one.

    Parameters
    ----------
    published : float
        As printed, rounded to ``decimals``; in [0, 1].
    exact : float
        The exact p-value, in (0, 1].
    draws : int
        Random reassignments used for the published value, with p = (hits + 1) / (draws + 1).
    decimals : int
        Decimals the published value was rounded to.

    Returns
    -------
    MonteCarloCheck
        Standard error, distance in standard errors, counts that fit, and the range of a rerun.

    Raises
    ------
    ParameterError
        A p outside its range or draws below one.

    Examples
    --------
    >>> check = monte_carlo_check(0.4620, 7 / 15, draws=20_000)
    >>> round(check.distance, 2), check.within
    (-1.32, True)

    References
    ----------
    Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39.
    """
    from scipy.special import bdtr, bdtrc

    shown, size = probability(published, "published", closed=True), whole(draws, "draws", 1)
    places = whole(decimals, "decimals", 1)
    true = probability(exact, "exact", closed=True)
    if true == 0:
        raise ParameterError("exact is 0; an exact permutation p is never 0")
    half = 0.5 * 10.0**-places
    first = max(0, math.floor((shown - half) * (size + 1) - 1))
    last = min(size, math.ceil((shown + half) * (size + 1) - 1))
    fits = tuple(k for k in range(first, last + 1) if round((k + 1) / (size + 1), places) == round(shown, places))
    se = math.sqrt(true * (1 - true) / size)
    low, high = _quantile(0.025, size, true), _quantile(0.975, size, true)
    return MonteCarloCheck(
        published=shown,
        exact=true,
        draws=size,
        se=se,
        distance=(shown - true) / se if se > 0 else (0.0 if shown == true else math.copysign(math.inf, shown - true)),
        compatible_counts=fits,
        expected_count=size * true,
        count_range=(low, high),
        p_range=((low + 1) / (size + 1), (high + 1) / (size + 1)),
        chance_at_least=float(bdtrc(fits[0] - 1, size, true)) if fits else None,
        chance_at_most=float(bdtr(fits[-1], size, true)) if fits else None,
    )


def _quantile(share: float, n: int, rate: float) -> int:
    """Return the smallest count whose binomial distribution function reaches a share."""
    from scipy.special import bdtr

    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(bdtr(middle, n, rate)) >= share else (middle, high)
    return high
