"""A Bernoulli CUSUM of failures: how long until a false alarm, how long until a true one, and the statistic itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import generator_required, probability, whole
from plumbline.stats.estimate import Estimate, Result

__all__ = ["BernoulliCusum", "cusum_run_length", "simulated_run_length"]

_DUST = 1e-15
_LONGEST = 2_000_000


@dataclass(frozen=True, kw_only=True)
class BernoulliCusum(Result):
    """The running sum that alarms when failures have become more frequent.

    Parameters
    ----------
    usual, feared : float
        Failure rate that is accepted, and the one to be found, ``usual < feared``, both in (0, 1).
    limit : float
        The sum at which the alarm is given, above 0.
    value, seen : float, int
        The sum so far and the trials so far; the alarm stands while ``value >= limit``.

    Examples
    --------
    >>> cusum = BernoulliCusum(usual=0.02, feared=0.10, limit=3.0)
    >>> cusum.after([False, True, True]).alarm
    True
    """

    usual: float = 0.02
    feared: float = 0.10
    limit: float = 3.0
    value: float = 0.0
    seen: int = 0

    def __post_init__(self) -> None:
        if probability(self.usual, "usual") >= probability(self.feared, "feared"):
            raise ParameterError(f"usual is {self.usual} and feared {self.feared}; the feared failure rate is higher")
        if not math.isfinite(self.limit) or self.limit <= 0 or not math.isfinite(self.value) or self.value < 0:
            raise ParameterError(
                f"limit is {self.limit} and value {self.value}; the limit is above 0, the value at least 0"
            )
        whole(self.seen, "seen")

    @property
    def on_failure(self) -> float:
        """What a failure adds."""
        return math.log(self.feared / self.usual)

    @property
    def on_success(self) -> float:
        """What a success adds, below 0."""
        return math.log((1 - self.feared) / (1 - self.usual))

    @property
    def alarm(self) -> bool:
        """Whether the sum has reached its limit."""
        return self.value >= self.limit

    def after(self, failed: Iterable[bool]) -> BernoulliCusum:
        """Return the sum after further trials, in the order in which they finished; it stays where it alarms."""
        value, seen = self.value, self.seen
        for one in failed:
            if value >= self.limit:
                break
            value = max(0.0, value + (self.on_failure if one else self.on_success))
            seen += 1
        return replace(self, value=value, seen=seen)

    def restarted(self) -> BernoulliCusum:
        """Return the sum at 0, as after a release or an alarm that was dealt with."""
        return replace(self, value=0.0, seen=0)

    def false_alarm_every(self) -> float:
        """Return the mean number of trials until a false alarm at the usual rate."""
        return cusum_run_length(self, self.usual)

    def delay(self) -> float:
        """Return the mean number of trials until the alarm when the feared rate holds from the start."""
        return cusum_run_length(self, self.feared)

    def __str__(self) -> str:
        state = "alarm" if self.alarm else "no alarm"
        return (
            f"CUSUM {self.value:.3f} of {self.limit:g} after {self.seen:,} trials: {state} "
            f"(fail {self.usual:g} -> {self.feared:g}; false alarm every {self.false_alarm_every():.0f} trials, "
            f"delay {self.delay():.0f})"
        )


def cusum_run_length(cusum: BernoulliCusum, rate: float) -> float:
    """Return the mean number of trials until a Bernoulli CUSUM alarms, started at 0.

    Parameters
    ----------
    cusum : BernoulliCusum
        Its rates and its limit.
    rate : float
        The true failure rate, in [0, 1].

    Returns
    -------
    float
        Mean trials, infinite where no failure ever happens. Exact to about twelve digits: the sum is followed from 0
        until it returns there or alarms; the mean is the mean length of such an excursion over its chance to alarm.

    Raises
    ------
    ParameterError
        A rate outside [0, 1].

    Examples
    --------
    >>> cusum = BernoulliCusum(usual=0.02, feared=0.10, limit=3.0)
    >>> round(cusum_run_length(cusum, 0.02)), round(cusum_run_length(cusum, 0.10))
    (567, 31)

    References
    ----------
    Page (1954), Biometrika 41, 100. Reynolds and Stoumbos (1999), Journal of Quality Technology 31, 87.
    """
    p = probability(rate, "rate", closed=True)
    if p == 0:
        return math.inf
    up, down = cusum.on_failure, cusum.on_success
    mass: dict[int, float] = {0: 1.0}  # failures of the excursion so far -> probability that it goes on
    length, reached, n = 0.0, 0.0, 0
    while (alive := sum(mass.values())) > _DUST:
        if n == _LONGEST:
            raise ParameterError(f"limit {cusum.limit:g} is too high for an exact run length; simulate it")
        length += alive
        n += 1
        further: dict[int, float] = {}
        for failures, chance in mass.items():
            for gained, part in ((1, p), (0, 1 - p)):
                total = failures + gained
                value = total * up + (n - total) * down
                if value >= cusum.limit:
                    reached += chance * part
                elif value > 0:
                    further[total] = further.get(total, 0.0) + chance * part
        mass = further
    return length / reached if reached > 0 else math.inf


def simulated_run_length(cusum: BernoulliCusum, rate: float, *, runs: int, generator: np.random.Generator) -> Estimate:
    """Estimate the mean number of trials until a Bernoulli CUSUM alarms, by simulation.

    Parameters
    ----------
    cusum : BernoulliCusum
        Its rates and its limit.
    rate : float
        The true failure rate, in (0, 1].
    runs : int
        Simulated sequences, at least 2.
    generator : numpy.random.Generator
        The source of chance.

    Returns
    -------
    Estimate
        Mean trials with its standard error and a normal 95% interval.

    Raises
    ------
    ParameterError
        A rate of 0, or no generator.

    Examples
    --------
    >>> cusum = BernoulliCusum(usual=0.02, feared=0.10, limit=3.0)
    >>> found = simulated_run_length(cusum, 0.10, runs=2000, generator=np.random.default_rng(1))
    >>> found.low < 31 < found.high
    True
    """
    p = probability(rate, "rate", closed=True)
    size, chance = whole(runs, "runs", 2), generator_required(generator, "a simulation is random")
    if p == 0:
        raise ParameterError("rate is 0: the sum never alarms; give a rate above 0")
    value, lengths, n = np.zeros(size), np.zeros(size), 0
    going = np.arange(size)
    while len(going):
        n += 1
        step = np.where(chance.random(len(going)) < p, cusum.on_failure, cusum.on_success)
        value[going] = np.maximum(0.0, value[going] + step)
        done = value[going] >= cusum.limit
        lengths[going[done]] = n
        going = going[~done]
    mean, se = float(lengths.mean()), float(lengths.std(ddof=1) / math.sqrt(size))
    half = 1.959963984540054 * se
    return Estimate(
        value=mean, low=mean - half, high=mean + half, n=size, se=se, method="simulated run length, normal",
    )  # fmt: skip
