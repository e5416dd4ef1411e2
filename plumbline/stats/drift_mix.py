"""Has a window of sessions another mix of tools, or other numbers, than its baseline? Permutation, sessions as units.

Calls within a session depend on each other, so that a chi-square over calls sees far too many independent units. Here
whole sessions change sides: G of the pooled mix, and for each tool the calls per session, with Holm over tools.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, finite_vector, generator_required, probability, seed_of, whole
from plumbline.stats.estimate import Contrast, Result
from plumbline.stats.multiplicity import Adjusted, Family, adjust

__all__ = ["ToolMix", "tool_mix_test", "window_rank_test"]

_SPLITS = 20_000


@dataclass(frozen=True, kw_only=True)
class ToolMix(Result):
    """Whether the mix of tools differs between a baseline and a window, as a whole and tool by tool.

    ``overall`` tests the G statistic of the pooled counts, ``tools`` holds the Holm-adjusted p of calls per session of
    each tool, ``baseline`` and ``window`` the mean calls per session.
    """

    overall: Contrast
    tools: Adjusted
    baseline: dict[str, float]
    window: dict[str, float]

    def __str__(self) -> str:
        lines = [f"tool mix: {self.overall}"]
        for name in self.baseline:
            held = self.tools.adjusted.get(name)
            p = "cannot alarm with so few sessions" if held is None else f"adjusted p {held:.4g}"
            lines.append(f"  {name}: {self.baseline[name]:.4g} -> {self.window[name]:.4g} calls a session, {p}")
        return "\n".join(lines)


@lru_cache(maxsize=4)
def _every(n: int, size: int) -> np.ndarray:
    chosen = np.array(list(combinations(range(n), size)))
    rows = np.zeros((len(chosen), n))
    np.put_along_axis(rows, chosen, 1.0, axis=1)
    return rows


def _memberships(n: int, size: int, draws: int, generator: np.random.Generator | None) -> tuple[np.ndarray, bool]:
    """Return windows as rows of a 0/1 matrix: every choice of sessions where there are few, else random ones."""
    splits = math.comb(n, size)
    if splits <= _SPLITS:
        return _every(n, size), True
    count = whole(draws, "draws", 1)
    chance = generator_required(generator, f"{splits} reassignments are too many to make all")
    order = chance.random((count, n)).argsort(axis=1)[:, :size]
    rows = np.zeros((count, n))
    np.put_along_axis(rows, order, 1.0, axis=1)
    return rows, False


def _contrast(
    values: Floats, observed: float, exact: bool, method: str, n: int, seed: int | None, difference: float | None = None
) -> Contrast:
    tie = 1e-9 * max(1.0, abs(observed))
    hits, count = int((values >= observed - tie).sum()), len(values)
    if exact:
        share = Fraction(hits, count)
        p, error, smallest = float(share), None, 1 / count
    else:
        share, p, smallest = None, (hits + 1) / (count + 1), 1 / (count + 1)
        error = math.sqrt(p * (1 - p) / count)
        method = f"{method}, {count} random draws"
    return Contrast(
        p=p, fraction=share, statistic=observed, method=method, unit="session", n=n, mc_se=error,
        smallest_attainable_p=smallest, seed=None if exact else seed, difference=difference,
    )  # fmt: skip


def _g(inside: Floats, every: Floats) -> Floats:
    """Return the G statistic of tables window / rest x tools; rows of ``inside`` are windows."""
    outside = every - inside
    total = every.sum()
    found = np.zeros(len(inside))
    for part in (inside, outside):
        size = part.sum(axis=1, keepdims=True)
        expected = size * every / total if total else size
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(part > 0, part * np.log(part / expected), 0.0)
        found += 2 * terms.sum(axis=1)
    return found


def tool_mix_test(
    counts: Mapping[str, Sequence[int]], window: ArrayLike, *, alpha: float = 0.05, draws: int = 9_999,
    generator: np.random.Generator | None = None,
) -> ToolMix:  # fmt: skip
    """Test whether a window of sessions mixes its tools otherwise than the baseline.

    Parameters
    ----------
    counts : mapping of str to sequence of int
        For each tool its calls in every session, baseline and window together.
    window : array of bool
        Which sessions are the window; both sides have at least one.
    alpha : float
        Level of the Holm correction over tools, in (0, 1).
    draws : int
        Random reassignments, used only above 20,000 possible ones.
    generator : numpy.random.Generator, optional
        Needed only then.

    Returns
    -------
    ToolMix
        Tools that could not reach alpha with so few sessions are dropped by name.

    Raises
    ------
    ParameterError
        No tools, counts below 0 or of another number of sessions, or an empty side.

    Examples
    --------
    >>> mix = tool_mix_test({"read": [3] * 8, "shell": [0] * 5 + [4] * 3}, np.arange(8) >= 5)
    >>> mix.overall.fraction, mix.tools.rejected
    (Fraction(1, 56), ('shell',))

    References
    ----------
    Sokal and Rohlf (2012), Biometry, chapter 17 (G). Good (2005), Permutation, Parametric and Bootstrap Tests.
    """
    level = probability(alpha, "alpha")
    names = tuple(counts)
    mask = np.asarray(window)
    if not names or mask.dtype != bool or mask.ndim != 1 or not mask.any() or mask.all():
        raise ParameterError("tool_mix_test needs at least one tool, and true or false for each session, some of both")
    table = np.array([finite_vector(counts[name], f"counts of {name!r}", 0) for name in names]).T
    if table.shape[:1] != mask.shape or (table < 0).any():
        raise ParameterError(f"{len(mask)} sessions need {len(mask)} counts of at least 0 for every tool")
    size, n = int(mask.sum()), len(mask)
    rows, exact = _memberships(n, size, draws, generator)
    seed = None if generator is None else seed_of(generator)
    every, own = table.sum(axis=0), mask.astype(float) @ table
    inside = rows @ table
    overall = _contrast(
        _g(inside, every), float(_g(own[None, :], every)[0]), exact, "permutation of G over sessions", n, seed
    )
    gaps = np.abs(inside / size - (every - inside) / (n - size))
    means = own / size - (every - own) / (n - size)
    each = {
        name: _contrast(gaps[:, i], abs(float(means[i])), exact, f"permutation of calls of {name}", n, seed)
        for i, name in enumerate(names)
    }
    adjusted = adjust(
        {name: float(found.p or 1.0) for name, found in each.items()},
        family=Family(name="tools", members=names),
        alpha=level,
        smallest_attainable={name: float(found.smallest_attainable_p or 0.0) for name, found in each.items()},
    )
    before = {name: float((every - own)[i] / (n - size)) for i, name in enumerate(names)}
    after = {name: float(own[i] / size) for i, name in enumerate(names)}
    return ToolMix(overall=overall, tools=adjusted, baseline=before, window=after)


def window_rank_test(
    baseline: ArrayLike, window: ArrayLike, *, draws: int = 9_999, generator: np.random.Generator | None = None
) -> Contrast:
    """Test whether a window of sessions ranks higher or lower than its baseline, for any distribution.

    Parameters
    ----------
    baseline, window : array of float
        One number a session, at least one each; ties share their rank.
    draws, generator
        As in :func:`tool_mix_test`.

    Returns
    -------
    Contrast
        Two-sided permutation test of the mean rank, ``difference`` window minus baseline median, unit ``session``.

    Raises
    ------
    ParameterError
        Values that are not finite, an empty side, or random reassignments without a generator.

    Examples
    --------
    >>> window_rank_test([1, 2, 3, 4, 5], [9, 10, 11]).fraction
    Fraction(1, 28)

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1, 80.
    """
    from scipy.stats import rankdata

    before, after = finite_vector(baseline, "baseline"), finite_vector(window, "window")
    ranks = rankdata(np.concatenate([before, after]))
    centred = ranks - ranks.mean()
    n, size = len(ranks), len(after)
    rows, exact = _memberships(n, size, draws, generator)
    observed = abs(float(centred[len(before) :].sum()))
    return _contrast(
        np.abs(rows @ centred), observed, exact, "permutation of ranks over sessions", n,
        None if generator is None else seed_of(generator), difference=float(np.median(after) - np.median(before)),
    )  # fmt: skip
