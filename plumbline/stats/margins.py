"""Non-inferiority and equivalence of two arms, with an explicit margin. "Not significant" is neither.

The difference is the first arm minus the second: replacement minus incumbent. Non-inferior means its lower one-sided
bound is above -margin; equivalent means the whole two-sided interval at twice the error lies inside (-margin, margin).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, choice, one_sided_alpha, probability, two_arms
from plumbline.stats.differences import miettinen_nurminen, score_z, score_z_table
from plumbline.stats.estimate import Estimate, Result

__all__ = ["Equivalence", "equivalence", "margin_of", "normal_tail"]

_METHODS = {"miettinen_nurminen": "Miettinen-Nurminen score", "exact": "exact unconditional (Chan-Zhang)"}
_TABLES = 1_000_000
_NUISANCE = 2001


@dataclass(frozen=True, kw_only=True)
class Equivalence(Result):
    """Two one-sided tests of a difference against a margin, with their interval.

    ``p_noninferior`` tests "the first is worse by the margin or more", ``p_nonsuperior`` "better by the margin or
    more"; ``p`` is the larger and decides equivalence. Every p is None when the data cannot tell.
    """

    margin: float
    alpha: float
    difference: float | None
    z_lower: float | None
    z_upper: float | None
    p_noninferior: float | None
    p_nonsuperior: float | None
    interval: Estimate
    method: str
    unit: str = "run"
    n: int
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the data answer the question at all."""
        return self.p_noninferior is not None and self.p_nonsuperior is not None

    @property
    def p(self) -> float | None:
        """The p-value of equivalence: the larger of the two one-sided ones."""
        if self.p_noninferior is None or self.p_nonsuperior is None:
            return None
        return max(self.p_noninferior, self.p_nonsuperior)

    @property
    def noninferior(self) -> bool:
        """Whether "not worse by the margin" is shown; False also when the data cannot tell."""
        return self.p_noninferior is not None and self.p_noninferior <= self.alpha

    @property
    def equivalent(self) -> bool:
        """Whether equivalence is shown; False also when the data cannot tell."""
        return self.p is not None and self.p <= self.alpha

    @property
    def verdict(self) -> str:
        """One of ``equivalent``, ``non-inferior only``, ``not shown`` and ``cannot tell``."""
        if not self.known:
            return "cannot tell"
        if self.equivalent:
            return "equivalent"
        return "non-inferior only" if self.noninferior else "not shown"

    def __str__(self) -> str:
        head = f"{self.verdict} at margin {self.margin:g} ({self.method}, alpha {self.alpha:g})"
        if self.p_noninferior is None or self.p_nonsuperior is None:
            return f"{head}: {'; '.join(self.caution) or 'no data'}"
        return f"{head}: p not worse {self.p_noninferior:.4g}, p not better {self.p_nonsuperior:.4g}; {self.interval}"


def normal_tail(z: float) -> float:
    """Return the upper tail of the standard normal; never 0, however far out."""
    return max(NormalDist().cdf(-z), sys.float_info.min)


def margin_of(margin: Any) -> float:
    """Return a margin in (0, 1); 5 raises and says to write 0.05."""
    if isinstance(margin, int | float) and not isinstance(margin, bool) and 1 <= margin < 100:
        raise ParameterError(f"margin is {margin!r}; write points as a share: {margin / 100:g}")
    return probability(margin, "margin")


def equivalence(
    successes: Sequence[int],
    n: Sequence[int],
    *,
    margin: float,
    alpha: float = 0.05,
    method: str = "miettinen_nurminen",
) -> Equivalence:
    """Test whether a replacement is within a margin of an incumbent, runs unpaired.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the replacement, then of the incumbent.
    margin : float
        The largest difference that does not matter, as a share in (0, 1); chosen before the data.
    alpha : float
        Level of each one-sided test, in (0, 0.5).
    method : {'miettinen_nurminen', 'exact'}
        Score tests, or their exact unconditional version (slower, up to a million tables).

    Returns
    -------
    Equivalence
        Both p-values and the Miettinen-Nurminen interval at confidence 1 - 2 alpha.

    Raises
    ------
    ParameterError
        Impossible counts, a margin outside (0, 1), or too many tables for the exact method.

    Examples
    --------
    >>> answer = equivalence([64, 55], [64, 56], margin=0.05)
    >>> answer.verdict, round(answer.p_noninferior, 4), round(answer.p, 4)
    ('non-inferior only', 0.0162, 0.1359)

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657. Farrington and Manning (1990), Statistics in Medicine 9,
    1447. Chan and Zhang (1999), Biometrics 55, 1202 (exact unconditional).
    """
    x1, n1, x2, n2 = two_arms(successes, n)
    limit, level = margin_of(margin), one_sided_alpha(alpha)
    choice(method, "method", _METHODS)
    z_lower = score_z((x1, x2), (n1, n2), delta=-limit)
    z_upper = score_z((x1, x2), (n1, n2), delta=limit)
    if method == "exact":
        below = _exact_upper_tail(x1, n1, x2, n2, -limit)
        above = _exact_upper_tail(x2, n2, x1, n1, -limit)
    else:
        below, above = normal_tail(z_lower), normal_tail(-z_upper)
    return Equivalence(
        margin=limit,
        alpha=level,
        difference=x1 / n1 - x2 / n2,
        z_lower=z_lower,
        z_upper=z_upper,
        p_noninferior=below,
        p_nonsuperior=above,
        interval=miettinen_nurminen((x1, x2), (n1, n2), confidence=1 - 2 * level),
        method=_METHODS[method],
        n=n1 + n2,
    )


def _exact_upper_tail(x1: int, n1: int, x2: int, n2: int, delta: float) -> float:
    """Return the largest chance, over the nuisance rate, of a score at least the observed one when p1 - p2 = delta."""
    from scipy.optimize import minimize_scalar

    if (n1 + 1) * (n2 + 1) > _TABLES:
        raise ParameterError(
            f"{n1} and {n2} runs give {(n1 + 1) * (n2 + 1)} tables; the exact method takes up to {_TABLES}: "
            "use method='miettinen_nurminen'"
        )
    z = score_z_table(n1, n2, delta)
    extreme = (z >= z[x1, x2] - 1e-9).astype(np.float64)
    lowest, highest = max(0.0, -delta), min(1.0, 1.0 - delta)
    grid = np.linspace(lowest, highest, _NUISANCE)

    def chance(second: Floats) -> Floats:
        first = np.clip(second + delta, 0, 1)
        return ((_binomial(n1, first) @ extreme) * _binomial(n2, second)).sum(axis=1)

    on_grid = chance(grid)
    top = int(on_grid.argmax())
    around = (float(grid[max(0, top - 1)]), float(grid[min(_NUISANCE - 1, top + 1)]))
    finer = minimize_scalar(
        lambda second: -float(chance(np.array([second]))[0]), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return min(1.0, max(float(on_grid[top]), -float(finer.fun)))


def _binomial(n: int, rates: Floats) -> Floats:
    """Return binomial probabilities, one row a rate."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1.0)
    ways = math.lgamma(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    rate = rates[:, None]
    return np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate))
