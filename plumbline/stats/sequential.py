"""Looking more than once: bounds that stay valid however often the runs are looked at.

A fixed-sample bound read after every run passes far too often; ``peeking_probability`` says how often. The e-process
here may be read after every run; it pays for that with about half as many runs again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, confidence_level, count_pair, finite_vector, probability, whole
from plumbline.stats.estimate import Estimate, Result

__all__ = [
    "EProcess",
    "anytime_lower",
    "clean_runs_anytime",
    "combine_e_values",
    "confidence_sequence",
    "e_process",
]

_HALVINGS = 70
_MIXTURES = {"uniform": (1.0, 1.0), "half": (0.5, 0.5)}


@dataclass(frozen=True, kw_only=True)
class EProcess(Result):
    """Evidence that a rate is above a threshold, valid at any time.

    ``e`` is a fair bet's gain if the rate were at most the threshold; ``anytime_p`` is min(1, 1 / e).
    """

    successes: int
    failures: int
    threshold: float
    log_e: float

    @property
    def e(self) -> float:
        """The e-value; infinite when it exceeds what a float holds."""
        return math.exp(self.log_e) if self.log_e < 709 else math.inf

    @property
    def anytime_p(self) -> float:
        """A p-value that stays valid under any stopping rule, when this is the largest e seen so far or the last."""
        return min(1.0, math.exp(-self.log_e)) if self.log_e > 0 else 1.0

    def rejects(self, alpha: float = 0.05) -> bool:
        """Whether "the rate is at most the threshold" is rejected at a level."""
        return self.log_e >= -math.log(probability(alpha, "alpha"))

    def __str__(self) -> str:
        runs = self.successes + self.failures
        return f"{self.successes}/{runs} against {self.threshold:g}: e = {self.e:.4g}, anytime p = {self.anytime_p:.4g}"


def _log_e(s: int, f: int, p0: float) -> float:
    """Return the log e-value of H0: p <= p0 under a uniform mixture over (p0, 1]."""
    from scipy.special import betaincc, betaln

    upper = float(betaincc(s + 1, f + 1, p0))
    if upper > 0:
        log_integral = float(betaln(s + 1, f + 1)) + math.log(upper)
        return log_integral - math.log1p(-p0) - s * math.log(p0) - f * math.log1p(-p0)
    # So few successes that the integral underflows: the integrand falls from p0 on, at least as fast as this slope.
    slope = f / (1 - p0) - s / p0
    return -math.log1p(-p0) - math.log(slope)


def e_process(successes: int, failures: int, *, threshold: float) -> EProcess:
    """Weigh the evidence that a rate is above a threshold, after any number of looks.

    Parameters
    ----------
    successes, failures : int
        Runs so far. Runs must be exchangeable within the task mix: interleave tasks, or keep one process a task.
    threshold : float
        The rate that must be exceeded, in (0, 1).

    Returns
    -------
    EProcess
        Reject "rate <= threshold" at level alpha as soon as e >= 1 / alpha.

    Raises
    ------
    ParameterError
        Negative counts or a threshold outside (0, 1).

    Examples
    --------
    >>> print(e_process(88, 0, threshold=0.95))
    88/88 against 0.95: e = 20.3, anytime p = 0.04927

    References
    ----------
    Ramdas, Grunwald, Vovk and Shafer (2023), Statistical Science 38, 576.
    """
    s, f = whole(successes, "successes"), whole(failures, "failures")
    p0 = probability(threshold, "threshold")
    return EProcess(successes=s, failures=f, threshold=p0, log_e=_log_e(s, f, p0))


def combine_e_values(values: ArrayLike, *, dependence: str) -> float:
    """Combine e-values into one.

    Parameters
    ----------
    values : array of float
        E-values, at least 0.
    dependence : {'independent', 'arbitrary'}
        Multiply across independent new data; average when anything may depend on anything.

    Returns
    -------
    float
        An e-value.

    Raises
    ------
    ParameterError
        No values, a negative one, or an unknown dependence.

    Examples
    --------
    >>> combine_e_values([4.0, 10.0], dependence="independent"), combine_e_values([4.0, 10.0], dependence="arbitrary")
    (40.0, 7.0)

    References
    ----------
    Vovk and Wang (2021), Annals of Statistics 49, 1736.
    """
    array = finite_vector(values, "values")
    if (array < 0).any():
        raise ParameterError(f"values holds {float(array.min())}; e-values are at least 0")
    way = choice(dependence, "dependence", ("independent", "arbitrary"))
    return float(array.prod()) if way == "independent" else float(array.mean())


def anytime_lower(successes: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """Bound a rate from below, valid after any number of looks.

    Parameters
    ----------
    successes, n : int
        Successes among n runs so far.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        Sidedness ``lower``, scope ``suite``; cannot tell without runs.

    Raises
    ------
    ParameterError
        Impossible counts or confidence.

    Examples
    --------
    >>> round(anytime_lower(64, 64).low, 7)
    0.9322714

    References
    ----------
    Howard, Ramdas, McAuliffe and Sekhon (2021), Annals of Statistics 49, 1055.
    """
    c, runs = count_pair(successes, n)
    wall = -math.log(1 - confidence_level(confidence))
    words = "e-process, uniform mixture"
    if runs == 0:
        return _nothing_yet(words, confidence, "lower")
    low, high = 0.0, c / runs
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle > 0 and _log_e(c, runs - c, middle) >= wall:
            low = middle
        else:
            high = middle
    bound = 0.0 if c == 0 else (low + high) / 2
    return Estimate(
        value=c / runs,
        low=bound,
        high=None,
        n=runs,
        successes=c,
        confidence=confidence,
        sidedness="lower",
        method=words,
    )


def _nothing_yet(words: str, confidence: float, sidedness: str) -> Estimate:
    return Estimate(
        value=None,
        low=None,
        high=None,
        n=0,
        successes=0,
        confidence=confidence,
        sidedness=sidedness,
        method=words,
        scope="none",
        caution=("no finished runs",),
    )


def confidence_sequence(successes: int, n: int, *, confidence: float = 0.95, mixture: str = "uniform") -> Estimate:
    """Estimate a rate on both sides, valid after any number of looks (beta-binomial mixture).

    Parameters
    ----------
    successes, n : int
        Successes among n runs so far.
    confidence : float
        In (0, 1).
    mixture : {'uniform', 'half'}
        Beta(1, 1) or Beta(1/2, 1/2); chosen before the runs.

    Returns
    -------
    Estimate
        Two-sided, scope ``suite``; cannot tell without runs.

    Raises
    ------
    ParameterError
        Impossible counts, confidence or mixture.

    Examples
    --------
    >>> round(confidence_sequence(64, 64).low, 10)
    0.8940146492

    References
    ----------
    Robbins (1970), Annals of Mathematical Statistics 41, 1397.
    """
    from scipy.special import betaln

    c, runs = count_pair(successes, n)
    a, b = _MIXTURES[choice(mixture, "mixture", _MIXTURES)]
    wall = -math.log(1 - confidence_level(confidence))
    words = f"mixture martingale Beta({a:g}, {b:g})"
    if runs == 0:
        return _nothing_yet(words, confidence, "two-sided")

    def lower(s: int, f: int, own: float, other: float) -> float:
        if s == 0:
            return 0.0
        constant = float(betaln(own + s, other + f) - betaln(own, other))
        low, high = 0.0, s / (s + f)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            log_m = constant - s * math.log(middle) - (f * math.log1p(-middle) if f else 0.0)
            low, high = (middle, high) if log_m >= wall else (low, middle)
        return (low + high) / 2

    return Estimate(
        value=c / runs,
        low=lower(c, runs - c, a, b),
        high=1 - lower(runs - c, c, b, a),
        n=runs,
        successes=c,
        confidence=confidence,
        method=words,
    )


def clean_runs_anytime(
    threshold: float, *, alpha: float = 0.05, method: str = "e_process", alternative: float = 0.99
) -> int:
    """Return how many clean runs in a row certify a rate above a threshold when every run is looked at.

    Parameters
    ----------
    threshold : float
        The rate that must be exceeded, in (0, 1).
    alpha : float
        Level, in (0, 1).
    method : {'e_process', 'confidence_sequence', 'sprt'}
        The one-sided e-process; the two-sided Beta(1, 1) mixture; Wald's test against one alternative.
    alternative : float
        The alternative of ``sprt``, above the threshold and at most 1.

    Returns
    -------
    int
        Runs, all successful.

    Raises
    ------
    ParameterError
        A threshold, level or alternative outside its range.

    Examples
    --------
    >>> clean_runs_anytime(0.95), clean_runs_anytime(0.95, method="confidence_sequence")
    (88, 158)

    References
    ----------
    Wald (1945), Annals of Mathematical Statistics 16, 117.
    """
    p0, wall = probability(threshold, "threshold"), -math.log(probability(alpha, "alpha"))
    way = choice(method, "method", ("e_process", "confidence_sequence", "sprt"))
    if way == "sprt":
        other = probability(alternative, "alternative", closed=True)
        if other <= p0:
            raise ParameterError(f"alternative is {other} and threshold {p0}; the alternative lies above the threshold")
        return max(1, math.ceil(wall / math.log(other / p0)))

    def enough(n: int) -> bool:
        if way == "e_process":
            return _log_e(n, 0, p0) >= wall
        return -math.log(n + 1) - n * math.log(p0) >= wall

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
