"""How often drift rules alarm when nothing has changed: exact where exact, with the threshold that mends it.

A z-score whose mean and deviation come from k sessions is not normal but ``sqrt(1 + 1/k) t_{k-1}``: "z above 3" after
ten sessions alarms in 1.88% of sessions, not in 0.27%. A Jaccard rule on tool sets depends only on how optional the
tools are. A rank p-value holds for any distribution and can be no smaller than 1 / (m + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import finite_vector, probability, whole
from plumbline.stats.drift_cusum import BernoulliCusum
from plumbline.stats.estimate import Contrast

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "NOMINAL_Z3",
    "false_alarm_table",
    "jaccard_false_alarm",
    "rank_p_value",
    "zscore_false_alarm",
    "zscore_threshold",
]

NOMINAL_Z3 = math.erfc(3 / math.sqrt(2))
"""What "z above 3" is believed to mean: 0.27% of sessions."""


def _positive(value: float, name: str) -> float:
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value <= 0:
        raise ParameterError(f"{name} is {value!r}; give a number above 0")
    return float(value)


def zscore_false_alarm(sessions: int, *, threshold: float = 3.0) -> float:
    """Return how often |z| exceeds a threshold in the next session though nothing changed.

    Parameters
    ----------
    sessions : int
        Baseline sessions that gave the mean and the standard deviation (divisor k - 1), at least 2.
    threshold : float
        Above 0.

    Returns
    -------
    float
        Probability per session, exact for normal data; skewed data alarm more often.

    Raises
    ------
    ParameterError
        Fewer than two sessions, or a threshold of 0 or less.

    Examples
    --------
    >>> round(zscore_false_alarm(10), 11)
    0.01876852206

    References
    ----------
    Hahn and Meeker (1991), Statistical Intervals, section 4.7 (the prediction interval of one further observation).
    """
    from scipy.stats import t

    k = whole(sessions, "sessions", 2)
    return float(2 * t.sf(_positive(threshold, "threshold") / math.sqrt(1 + 1 / k), k - 1))


def zscore_threshold(sessions: int, *, rate: float = NOMINAL_Z3) -> float:
    """Return the |z| that alarms at a wanted rate when mean and deviation come from few sessions.

    Parameters
    ----------
    sessions : int
        Baseline sessions, at least 2.
    rate : float
        Wanted false alarms per session, in (0, 1); by default what "z above 3" is believed to give.

    Returns
    -------
    float
        The threshold, exact for normal data.

    Raises
    ------
    ParameterError
        Fewer than two sessions, or a rate outside (0, 1).

    Examples
    --------
    >>> round(zscore_threshold(10), 10)
    4.2940911918
    """
    from scipy.stats import t

    k = whole(sessions, "sessions", 2)
    return float(t.isf(probability(rate, "rate") / 2, k - 1) * math.sqrt(1 + 1 / k))


def jaccard_false_alarm(use: ArrayLike, *, always: int = 0, threshold: float = 0.5, times: int = 1) -> float:
    """Return how often the tool sets of two sessions of one agent are less alike than a threshold.

    Parameters
    ----------
    use : array of float
        For each optional tool, the chance that a session uses it, independently, in [0, 1].
    always : int
        Tools that every session uses.
    threshold : float
        Jaccard similarity below which the rule alarms, in (0, 1). Two empty sets are alike.
    times : int
        How often the given list of optional tools is repeated.

    Returns
    -------
    float
        Probability per comparison, exact.

    Raises
    ------
    ParameterError
        A chance outside [0, 1], or a threshold outside (0, 1).

    Examples
    --------
    >>> jaccard_false_alarm([0.5], times=6), jaccard_false_alarm([0.5], times=6, always=2)
    (0.693359375, 0.32421875)
    """
    chances = finite_vector(use, "use", 0).tolist() * whole(times, "times", 1)
    kept, edge = whole(always, "always"), probability(threshold, "threshold")
    n = len(chances)
    table = np.zeros((n + 1, n + 1))  # tools of both sessions x tools of exactly one
    table[0, 0] = 1.0
    for chance in chances:
        u = probability(chance, "use", closed=True)
        moved = table * (1 - u) ** 2
        moved[1:, :] += table[:-1, :] * u**2
        moved[:, 1:] += table[:, :-1] * 2 * u * (1 - u)
        table = moved
    both, one = np.indices(table.shape)
    every = both + one + kept
    return float(table[(both + kept) < edge * every - 1e-12].sum())


def rank_p_value(value: float, baseline: ArrayLike, *, alternative: str = "two-sided") -> Contrast:
    """Rank a session among baseline sessions; right for any distribution.

    Parameters
    ----------
    value : float
        Of the new session.
    baseline : array of float
        Of m baseline sessions, at least one.
    alternative : {'two-sided', 'greater', 'less'}
        Two-sided ranks by the distance from the median of all m + 1 values.

    Returns
    -------
    Contrast
        Ties count against a change; no p is below 1 / (m + 1), so 0.05 needs m = 19.

    Raises
    ------
    ParameterError
        Values that are not finite numbers, or an unknown alternative.

    Examples
    --------
    >>> print(rank_p_value(9.0, range(19), alternative="greater"))
    p = 0.55 (11/20) rank among 19 baseline sessions greater, 20 sessions
    >>> rank_p_value(100.0, range(19)).p
    0.05

    References
    ----------
    Vovk, Gammerman and Shafer (2005), Algorithmic Learning in a Random World, chapter 2.
    """
    from fractions import Fraction

    from plumbline.stats._checks import choice
    from plumbline.stats.two_arms import ALTERNATIVES

    choice(alternative, "alternative", ALTERNATIVES)
    known = finite_vector(baseline, "baseline")
    new = float(finite_vector([value], "value")[0])
    if alternative == "two-sided":
        middle = float(np.median(np.append(known, new)))
        scores, own = np.abs(known - middle), abs(new - middle)
    else:
        sign = 1.0 if alternative == "greater" else -1.0
        scores, own = sign * known, sign * new
    tie = 1e-12 * max(1.0, abs(own))
    exact = Fraction(1 + int((scores >= own - tie).sum()), len(known) + 1)
    return Contrast(
        p=float(exact),
        fraction=exact,
        difference=new - float(np.median(known)),
        statistic=new,
        method=f"rank among {len(known)} baseline sessions",
        sidedness=alternative,
        unit="session",
        n=len(known) + 1,
        smallest_attainable_p=1 / (len(known) + 1),
    )


def false_alarm_table(
    *,
    sessions: Sequence[int] = (5, 10, 20, 50),
    tools: Sequence[tuple[int, float, int]] = ((6, 0.5, 0), (6, 0.5, 2), (6, 0.9, 0), (1, 0.5, 1)),
    cusums: Sequence[BernoulliCusum] = (BernoulliCusum(),),
) -> pd.DataFrame:
    """Tabulate how often the public drift rules alarm though nothing changed, beside what is believed or mends it.

    Parameters
    ----------
    sessions : sequence of int
        Baseline sizes for "z above 3", each at least 2.
    tools : sequence of (optional, chance, always)
        Tool sets for "Jaccard below 0.5": optional tools, the chance that a session uses each, tools always used.
    cusums : sequence of BernoulliCusum
        CUSUMs of failures, a session counted as one trial.

    Returns
    -------
    DataFrame
        ``rule, setting, false_alarm`` (per session; for a CUSUM one over the mean time to a false alarm),
        ``per_100_sessions``, ``believed`` (per session), ``mended_threshold`` (restores it), ``method``.

    Raises
    ------
    ParameterError
        A number outside its range.

    Examples
    --------
    >>> table = false_alarm_table(sessions=[10], tools=[])
    >>> table[["setting", "false_alarm"]].iloc[0].to_dict()
    {'setting': '10 baseline sessions', 'false_alarm': 0.018768522060029734}
    """
    import pandas as pd

    rows: list[list[object]] = []
    for k in sessions:
        rate = zscore_false_alarm(k)
        mended = zscore_threshold(k)
        rows.append(["z above 3", f"{k} baseline sessions", rate, NOMINAL_Z3, mended, "exact, normal data"])
    for optional, chance, always in tools:
        rate = jaccard_false_alarm([chance], times=optional, always=always)
        words = f"{optional} optional tool{'' if optional == 1 else 's'} used with {chance:g}, {always} always used"
        rows.append(["Jaccard below 0.5", words, rate, None, None, "exact"])
    for one in cusums:
        words = f"fail {one.usual:g} -> {one.feared:g}, limit {one.limit:g}"
        rows.append(["CUSUM of failures", words, 1 / one.false_alarm_every(), None, None, "exact mean time"])
    names = ["rule", "setting", "false_alarm", "believed", "mended_threshold", "method"]
    frame = pd.DataFrame(rows, columns=names).astype(
        {"false_alarm": "float64", "believed": "float64", "mended_threshold": "float64"}
    )
    frame.insert(3, "per_100_sessions", 100 * frame["false_alarm"])
    return frame
