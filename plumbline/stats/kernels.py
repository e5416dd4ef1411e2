"""Whether two sets of runs take the same paths: a spectrum kernel, MMD, and a permutation test for any distance.

Similarities from edit distance or longest common subsequences are not kernels: their Gram matrices can have negative
eigenvalues, and MMD^2 with them can be negative in truth. The spectrum kernel counts runs of tool names and is a kernel
by construction; a distance that is not a kernel goes to :func:`distance_test`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import Floats, generator_required, seed_of, whole
from plumbline.stats.estimate import Contrast

__all__ = ["distance_test", "mmd_squared", "mmd_test", "smallest_eigenvalue", "spectrum_gram"]

_SPLITS = 20_000
_NOISE = 1e-9


def spectrum_gram(
    sequences: Sequence[Sequence[Hashable]],
    *,
    lengths: Sequence[int] = (1, 2),
    extra: Sequence[Sequence[Hashable]] | None = None,
) -> Floats:
    """Return the Gram matrix of the cosine-normalised spectrum kernel of sequences.

    Parameters
    ----------
    sequences : sequence of sequences
        One a run, for example its tool names.
    lengths : sequence of int
        Lengths of the runs of names that are counted: (1,) sees composition only, (2,) order, (1, 2) both.
    extra : sequence of sequences, optional
        Further features of each run, for example digests of its arguments.

    Returns
    -------
    numpy.ndarray of float64, shape (n, n)
        In [0, 1], 1 on the diagonal; positive semi-definite. Two runs without any feature are alike.

    Raises
    ------
    ParameterError
        No sequences, no lengths, a length below 1, or extra features for another number of runs.

    Examples
    --------
    >>> round(float(spectrum_gram(["abc", "abd"])[0, 1]), 3)
    0.6

    References
    ----------
    Leslie, Eskin and Noble (2002), Pac. Symp. Biocomput. 7, 564.
    """
    sizes = [whole(length, "a length", 1) for length in lengths]
    if not sequences or not sizes:
        raise ParameterError("spectrum_gram needs at least one sequence and one length")
    if extra is not None and len(extra) != len(sequences):
        raise ParameterError(f"{len(sequences)} sequences and extra features of {len(extra)} runs; give one each")
    bags: list[Counter[Hashable]] = []
    for position, sequence in enumerate(sequences):
        names = tuple(sequence)
        bag: Counter[Hashable] = Counter()
        for size in sizes:
            bag.update(("names", *names[i : i + size]) for i in range(len(names) - size + 1))
        if extra is not None:
            bag.update(("extra", feature) for feature in extra[position])
        bags.append(bag if bag else Counter({("nothing",): 1}))
    index = {feature: column for column, feature in enumerate(dict.fromkeys(f for bag in bags for f in bag))}
    table = np.zeros((len(bags), len(index)))
    for row, bag in enumerate(bags):
        for feature, count in bag.items():
            table[row, index[feature]] = count
    norms = np.sqrt((table**2).sum(axis=1))
    gram = (table @ table.T) / np.outer(norms, norms)
    np.fill_diagonal(gram, 1.0)
    return np.asarray((gram + gram.T) / 2)


def smallest_eigenvalue(gram: ArrayLike) -> float:
    """Return the smallest eigenvalue of a symmetric matrix; clearly negative means that it is not a kernel's.

    Parameters
    ----------
    gram : array of float, shape (n, n)
        Symmetric.

    Returns
    -------
    float
        The smallest eigenvalue.

    Raises
    ------
    ParameterError
        A matrix that is not square, symmetric and finite.

    Examples
    --------
    >>> smallest_eigenvalue([[1.0, 2.0], [2.0, 1.0]])
    -1.0
    """
    return float(np.linalg.eigvalsh(_symmetric(gram, "gram")).min())


def _symmetric(matrix: ArrayLike, name: str) -> Floats:
    array = np.asarray(matrix, dtype=np.float64)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.size > 0
    if not square or not np.isfinite(array).all() or not np.allclose(array, array.T, atol=1e-12):
        raise ParameterError(f"{name} has shape {array.shape}; give a symmetric square matrix of finite numbers")
    return array


def _groups(matrix: Floats, first: ArrayLike) -> np.ndarray:
    mask = np.asarray(first)
    if mask.dtype != bool or mask.shape != (len(matrix),):
        raise ParameterError(f"first has shape {mask.shape} and type {mask.dtype}; give one true or false per run")
    if mask.sum() < 2 or (~mask).sum() < 2:
        raise ParameterError(f"the groups have {int(mask.sum())} and {int((~mask).sum())} runs; each needs two")
    return mask


def _within_and_between(matrix: Floats, mask: np.ndarray) -> tuple[float, float, float]:
    """Return the mean off-diagonal entry of each group and the mean entry between them."""
    m, k = int(mask.sum()), int((~mask).sum())
    one, two = matrix[np.ix_(mask, mask)], matrix[np.ix_(~mask, ~mask)]
    own = (one.sum() - one.trace()) / (m * (m - 1))
    other = (two.sum() - two.trace()) / (k * (k - 1))
    return float(own), float(other), float(matrix[np.ix_(mask, ~mask)].mean())


def mmd_squared(gram: ArrayLike, first: ArrayLike) -> float:
    """Return the unbiased squared maximum mean discrepancy of two groups of runs.

    Parameters
    ----------
    gram : array of float, shape (n, n)
        Of a kernel; a matrix with a negative eigenvalue is refused.
    first : array of bool, length n
        Which runs are in the first group; each group has at least two.

    Returns
    -------
    float
        Around 0, and possibly below, when the groups behave alike.

    Raises
    ------
    ParameterError
        A matrix that is not a kernel's, or groups that are too small.

    Examples
    --------
    >>> gram = spectrum_gram(["abc", "abc", "acb", "acb"])
    >>> round(mmd_squared(gram, np.array([True, True, False, False])), 3)
    0.8

    References
    ----------
    Gretton et al. (2012), J. Mach. Learn. Res. 13, 723.
    """
    matrix = _kernel(gram)
    own, other, between = _within_and_between(matrix, _groups(matrix, first))
    return own + other - 2 * between


def _kernel(gram: ArrayLike) -> Floats:
    matrix = _symmetric(gram, "gram")
    lowest = smallest_eigenvalue(matrix)
    if lowest < -_NOISE * max(1.0, float(np.abs(matrix).max())) * len(matrix):
        raise ParameterError(
            f"gram has a negative eigenvalue, {lowest:.6f}: this similarity is not a kernel and MMD with it means "
            "nothing; use spectrum_gram, or distance_test with a distance"
        )
    return matrix


def mmd_test(
    gram: ArrayLike,
    first: ArrayLike,
    *,
    blocks: Sequence[Hashable] | None = None,
    draws: int = 9_999,
    generator: np.random.Generator | None = None,
) -> Contrast:
    """Test whether two groups of runs take the same paths, by reassigning runs to groups (MMD).

    Parameters
    ----------
    gram, first
        As in :func:`mmd_squared`.
    blocks : sequence, optional
        The task of each run: runs are then reassigned only within their task.
    draws : int
        Random reassignments, used only above 20,000 possible ones.
    generator : numpy.random.Generator, optional
        Needed only then.

    Returns
    -------
    Contrast
        ``statistic`` is MMD^2; unit ``session``; ``fraction`` is exact when all reassignments were made.

    Raises
    ------
    ParameterError
        As in :func:`mmd_squared`, or random reassignments without a generator.

    Examples
    --------
    >>> gram = spectrum_gram(["abc", "abc", "abc", "abd", "acb", "acb", "abc", "abd"])
    >>> mmd_test(gram, np.arange(8) < 4).fraction
    Fraction(23, 35)

    References
    ----------
    Gretton et al. (2012), J. Mach. Learn. Res. 13, 723.
    """
    matrix = _kernel(gram)

    def discrepancy(mask: np.ndarray) -> float:
        own, other, between = _within_and_between(matrix, mask)
        return own + other - 2 * between

    return _reassign(matrix, first, blocks, discrepancy, draws, generator, "MMD, spectrum or other kernel")


def distance_test(
    distance: ArrayLike,
    first: ArrayLike,
    *,
    blocks: Sequence[Hashable] | None = None,
    draws: int = 9_999,
    generator: np.random.Generator | None = None,
) -> Contrast:
    """Test whether two groups of runs take the same paths, with any distance between runs.

    Parameters
    ----------
    distance : array of float, shape (n, n)
        Symmetric, for example edit distances of tool sequences.
    first, blocks, draws, generator
        As in :func:`mmd_test`.

    Returns
    -------
    Contrast
        ``statistic`` is the mean distance between groups minus the mean within them; unit ``session``.

    Raises
    ------
    ParameterError
        A matrix that is not symmetric, groups that are too small, or random reassignments without a generator.

    Examples
    --------
    >>> distance_test(1 - spectrum_gram(["ab", "ab", "ab", "ba", "ba", "ba"]), np.arange(6) < 3).fraction
    Fraction(1, 10)

    References
    ----------
    Szekely and Rizzo (2013), J. Stat. Plan. Inference 143, 1249.
    """
    matrix = _symmetric(distance, "distance")

    def gap(mask: np.ndarray) -> float:
        own, other, between = _within_and_between(matrix, mask)
        return between - (own + other) / 2

    return _reassign(matrix, first, blocks, gap, draws, generator, "between minus within distance")


def _reassign(
    matrix: Floats,
    first: ArrayLike,
    blocks: Sequence[Hashable] | None,
    statistic: Callable[[np.ndarray], float],
    draws: int,
    generator: np.random.Generator | None,
    words: str,
) -> Contrast:
    mask = _groups(matrix, first)
    members = _members(blocks, len(mask))
    splits = math.prod(math.comb(len(part), int(mask[part].sum())) for part in members)
    observed, tie = statistic(mask), 1e-12 * (1 + float(np.abs(matrix).max()))
    where = "" if blocks is None else f", within {len(members)} blocks"
    if splits <= _SPLITS:
        hits = sum(statistic(other) >= observed - tie for other in _all_masks(mask, members))
        exact = Fraction(int(hits), splits)
        caution = () if splits > 1 else ("no reassignment is possible: every block is of one group",)
        return Contrast(
            p=float(exact), fraction=exact, statistic=observed, method=f"exact permutation of {words}{where}",
            sidedness="greater", unit="session", n=len(mask), smallest_attainable_p=1 / splits, caution=caution,
        )  # fmt: skip
    size = whole(draws, "draws", 1)
    chance = generator_required(generator, f"{splits} reassignments are too many to make all")
    hits = 0
    for _ in range(size):
        other = mask.copy()
        for part in members:
            other[part] = chance.permutation(mask[part])
        hits += statistic(other) >= observed - tie
    p = (int(hits) + 1) / (size + 1)
    return Contrast(
        p=p, statistic=observed, method=f"permutation of {words}{where}, {size} random draws", sidedness="greater",
        unit="session", n=len(mask), smallest_attainable_p=1 / (size + 1), mc_se=math.sqrt(p * (1 - p) / size),
        seed=seed_of(chance),
    )  # fmt: skip


def _members(blocks: Sequence[Hashable] | None, n: int) -> list[np.ndarray]:
    if blocks is None:
        return [np.arange(n)]
    if len(blocks) != n:
        raise ParameterError(f"{n} runs and {len(blocks)} block labels; give one per run")
    found: dict[Hashable, list[int]] = {}
    for position, label in enumerate(blocks):
        found.setdefault(label, []).append(position)
    return [np.array(part) for part in found.values()]


def _all_masks(mask: np.ndarray, members: list[np.ndarray]) -> Iterator[np.ndarray]:
    for choice in product(*(combinations(part.tolist(), int(mask[part].sum())) for part in members)):
        other = np.zeros_like(mask)
        other[[position for part in choice for position in part]] = True
        yield other
