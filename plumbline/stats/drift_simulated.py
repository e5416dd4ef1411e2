"""How often "z above 3" alarms at least once in a hundred sessions when its baseline grows: by simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, generator_required, whole
from plumbline.stats.estimate import Estimate
from plumbline.stats.proportions import wilson

__all__ = ["SESSION_KINDS", "any_false_alarm"]

_Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
SESSION_KINDS: dict[str, _Draw] = {
    "normal": lambda chance, shape: chance.normal(size=shape),
    "poisson": lambda chance, shape: chance.poisson(3.0, size=shape).astype(float),
    "lognormal": lambda chance, shape: chance.lognormal(0.0, 0.6, size=shape),
    "almost_constant": lambda chance, shape: (chance.random(shape) < 0.05).astype(float),
}
"""Sessions of an agent that never changes: normal, a count of mean 3, a latency (log deviation 0.6), and a count that
is 0 except in every twentieth session."""


def any_false_alarm(
    kind: str, *, first: int = 10, last: int = 100, threshold: float = 3.0, draws: int = 2_000,
    generator: np.random.Generator | None = None,
) -> Estimate:  # fmt: skip
    """Estimate the chance of at least one false alarm of "z above a threshold" on an expanding baseline.

    Parameters
    ----------
    kind : {'normal', 'poisson', 'lognormal', 'almost_constant'}
        How sessions are distributed, see ``SESSION_KINDS``.
    first, last : int
        Sessions before the first look, at least 2; the last session looked at.
    threshold : float
        Of |z|, above 0. With a deviation of 0 every change alarms.
    draws : int
        Simulated agents.
    generator : numpy.random.Generator
        The source of chance.

    Returns
    -------
    Estimate
        Share of simulated agents with an alarm in sessions first + 1 to last, Wilson interval.

    Raises
    ------
    ParameterError
        An unknown kind, no generator, or no session to look at.

    Examples
    --------
    >>> found = any_false_alarm("normal", draws=500, generator=np.random.default_rng(1))
    >>> 0.3 < found.value < 0.5
    True
    """
    draw = SESSION_KINDS[choice(kind, "kind", SESSION_KINDS)]
    start, end, size = whole(first, "first", 2), whole(last, "last", 3), whole(draws, "draws", 1)
    if end <= start:
        raise ParameterError(f"first is {start} and last {end}; there is no session to look at")
    if not threshold > 0:
        raise ParameterError(f"threshold is {threshold!r}; give a number above 0")
    values = draw(generator_required(generator, "a simulation is random"), (size, end))
    alarmed = np.zeros(size, bool)
    for k in range(start, end):
        before = values[:, :k]
        gap = np.abs(values[:, k] - before.mean(axis=1))
        alarmed |= gap > threshold * before.std(axis=1, ddof=1) + 1e-12
    return wilson(int(alarmed.sum()), size)
