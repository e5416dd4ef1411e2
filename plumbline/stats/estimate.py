"""The two answers of this floor: an estimate with its interval, and a contrast with its p-value.

Both say by which method, about what, on how many runs, and carry the sentences a reader must not miss. "Cannot tell"
is a state of its own: the value is None and ``caution`` says why. Numbers are never rounded here; only the text form
rounds, for reading.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Contrast", "Estimate", "Result"]

_SIDES = {"two-sided": "two-sided", "lower": "one-sided lower", "upper": "one-sided upper"}


def plain(value: Any) -> Any:
    """Return a value as plain JSON types: a Fraction as ``a/b``, a tuple as a list, a result as its dictionary."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class Result:
    """What every frozen result of this floor can do: a dictionary, a frame, and the same text in HTML."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON types, unrounded."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    def to_frame(self) -> pd.DataFrame:
        """Return the fields as a frame of one row, unrounded."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """A number with its interval, and everything needed to read it.

    Parameters
    ----------
    value : float or None
        The point estimate; None means "cannot tell", and ``caution`` says why.
    low, high : float or None
        Ends of the interval; None on a side for which nothing is claimed.
    n : int
        Runs (or pairs, or tasks) the estimate stands on.
    successes : int, optional
        Successes among ``n``, when the value is a plain proportion.
    confidence : float
        Confidence of the interval, in (0, 1).
    sidedness : {'two-sided', 'lower', 'upper'}
        Which ends the confidence is about.
    method : str
        How the interval was made.
    scope : {'suite', 'tasks', 'none'}
        ``suite``: these tasks, only the agent is random. ``tasks``: tasks like these, the tasks are a sample.
        ``none``: no claim.
    clusters, icc, rho, effective_n, se : optional
        Number of clusters, the estimated intra-cluster correlation, the declared one, runs in independent units, and
        the standard error; None when not used or not known.
    seed : int, optional
        Seed of the generator, when chance was used.
    caution : tuple of str
        Sentences a reader must not miss.

    Examples
    --------
    >>> print(Estimate(value=0.8125, low=0.70025, high=0.88936, n=64, successes=52, method="Wilson"))
    52/64 = 0.8125 [0.7003, 0.8894] Wilson 95% two-sided, suite
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    successes: int | None = None
    confidence: float = 0.95
    sidedness: str = "two-sided"
    method: str
    scope: str = "suite"
    clusters: int | None = None
    icc: float | None = None
    rho: float | None = None
    effective_n: float | None = None
    se: float | None = None
    seed: int | None = None
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the data answer the question at all."""
        return self.value is not None

    def __str__(self) -> str:
        counts = f"{self.successes}/{self.n}" if self.successes is not None else f"n={self.n}"
        how = f"{self.method} {100 * self.confidence:.6g}% {_SIDES.get(self.sidedness, self.sidedness)}, {self.scope}"
        if self.value is None:
            return f"{counts} = cannot tell ({'; '.join(self.caution) or 'no data'}) {how}"
        return f"{counts} = {self.value:.4f}{_interval(self)} {how}"


def _interval(estimate: Estimate) -> str:
    low, high = estimate.low, estimate.high
    if low is not None and high is not None:
        return f" [{low:.4f}, {high:.4f}]"
    if low is not None:
        return f", at least {low:.4f}"
    if high is not None:
        return f", at most {high:.4f}"
    return " (no interval)"


@dataclass(frozen=True, kw_only=True)
class Contrast(Result):
    """A p-value with its method, its unit of exchange and the smallest p it could have given.

    Parameters
    ----------
    p : float or None
        The p-value, in (0, 1]; None means "cannot tell", and ``caution`` says why.
    fraction : fractions.Fraction, optional
        The p-value exactly, when it is known as a fraction.
    difference : float, optional
        First minus second, in the unit of the data.
    statistic : float, optional
        The test statistic.
    method : str
        How the p-value was made.
    sidedness : {'two-sided', 'greater', 'less'}
        The alternative, about first minus second.
    unit : str
        What is exchanged under the null hypothesis: ``run``, ``pair``, ``task`` or ``session``.
    n : int
        Number of units.
    discordant : tuple of int, optional
        Pairs that differ: (only first, only second).
    smallest_attainable_p : float, optional
        The smallest p these margins could have given; above alpha, the test could never reject.
    mc_se : float, optional
        Standard error of the p-value, when chance was used.
    seed : int, optional
        Seed of the generator, when chance was used.
    caution : tuple of str
        Sentences a reader must not miss.

    Examples
    --------
    >>> print(Contrast(p=0.25, fraction=Fraction(1, 4), method="sign flip", unit="task", n=8))
    p = 0.25 (1/4) sign flip two-sided, 8 tasks
    """

    p: float | None
    fraction: Fraction | None = None
    difference: float | None = None
    statistic: float | None = None
    method: str
    sidedness: str = "two-sided"
    unit: str = "run"
    n: int
    discordant: tuple[int, int] | None = None
    smallest_attainable_p: float | None = None
    mc_se: float | None = None
    seed: int | None = None
    caution: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the data answer the question at all."""
        return self.p is not None

    def __str__(self) -> str:
        how = f"{self.method} {self.sidedness}, {self.n} {self.unit}{'' if self.n == 1 else 's'}"
        if self.p is None:
            return f"p = cannot tell ({'; '.join(self.caution) or 'no data'}) {how}"
        exact = ""
        if self.fraction is not None and self.fraction.denominator < 10**15:
            exact = f" ({self.fraction.numerator}/{self.fraction.denominator})"
        noise = f" ± {self.mc_se:.2g}" if self.mc_se is not None else ""
        return f"p = {self.p:.4g}{exact}{noise} {how}"
