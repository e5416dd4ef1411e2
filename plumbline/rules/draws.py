"""Chance by name: one seed, and a stream of random numbers for every (study, task, perturbation, variant).

The key of a stream is the SHA-256 of its seed and names, so a stream depends on nothing that is drawn elsewhere: adding
an arm, a task or a variant changes no other draw, in any process and in any order of asking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, factorial
from typing import TYPE_CHECKING, Any, TypeVar

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Draw", "draw_for", "nth_arrangement", "nth_subset", "stream"]

_Item = TypeVar("_Item")


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random numbers that belong to a seed and a path of names.

    Parameters
    ----------
    seed : int
        Seed of the study, at least 0.
    *names : str
        What the numbers are for, from the general to the particular: study, task, perturbation, variant.

    Returns
    -------
    numpy.random.Generator
        A Philox generator in its initial state; equal names give equal numbers in every process.

    Raises
    ------
    ParameterError
        The seed is not a whole number of at least 0, or there is no name, or a name is not text or is empty.

    Examples
    --------
    >>> one, same = (stream(7, "parity", "INV-7002", "distractor", "0") for _ in range(2))
    >>> bool(one.integers(10**9) == same.integers(10**9))
    True

    References
    ----------
    Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC'11 (Philox).
    """
    import numpy as np

    key = hashlib.sha256(canonical_json([_seed(seed), *_names(names)]).encode()).digest()
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(int.from_bytes(key, "big"))))


def _seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"a seed is a whole number of at least 0; found {seed!r}")
    return seed


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(f"a stream is named by texts, for example 'parity', 'INV-7002'; found {tuple(names)!r}")
    return tuple(names)


def _below(generator: np.random.Generator, size: int) -> int:
    """Return a whole number in [0, size), each equally likely, for any size."""
    width = (size - 1).bit_length()
    count = (width + 7) // 8
    while True:
        found = int.from_bytes(generator.bytes(count), "big") >> (8 * count - width) if width else 0
        if found < size:
            return found


def _shuffled(generator: np.random.Generator, size: int, position: int) -> int:
    """Return one place of a random order of ``range(size)``, drawing no further than that place."""
    moved: dict[int, int] = {}
    for place in range(position + 1):
        other = place + _below(generator, size - place)
        chosen, held = moved.get(other, other), moved.get(place, place)
        moved[other] = held
    return chosen


@dataclass(frozen=True)
class Draw:
    """The chance that one candidate of one cell (task x perturbation) is given.

    Parameters
    ----------
    seed : int
        Seed of the study.
    names : tuple of str
        Study, task, perturbation.
    candidate : int
        Which candidate of the cell, from 0. A candidate that the guard rejects keeps its number.
    size : int or None
        How many different outputs the perturbation has for this task; None if that is not known.
    fixed : int, optional
        The choice, where a composition has made it.
    """

    seed: int
    names: tuple[str, ...]
    candidate: int
    size: int | None = None
    fixed: int | None = None

    def __post_init__(self) -> None:
        _seed(self.seed)
        _names(self.names)
        for name, value, least in (("candidate", self.candidate, 0), ("size", self.size, 1)):
            if name == "size" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"draw.{name} must be a whole number of at least {least}; found {value!r}")

    @property
    def choice(self) -> int:
        """Which of the ``size`` outputs this candidate is: each comes up once before any comes up again.

        Raises
        ------
        ParameterError
            The size is not known.
        """
        if self.size is None:
            raise ParameterError("this perturbation states no size, so nothing can be chosen; draw from .generator")
        if self.fixed is not None:
            return self.fixed % self.size
        turn, place = divmod(self.candidate, self.size)
        return _shuffled(stream(self.seed, *self.names, "order", str(turn)), self.size, place)

    @property
    def exhausted(self) -> bool:
        """Whether every output has already come up, so that this one is a repeat."""
        return self.size is not None and self.candidate >= self.size

    @property
    def path(self) -> tuple[str, ...]:
        """Names of this candidate's own stream."""
        return (*self.names, str(self.candidate))

    @property
    def generator(self) -> np.random.Generator:
        """This candidate's own random numbers, from the start at every call."""
        return stream(self.seed, *self.path)


def draw_for(seed: int, *names: str, candidate: int, size: int | None = None) -> Draw:
    """Return the chance of one candidate; see :class:`Draw`.

    Examples
    --------
    >>> sorted(draw_for(7, "s", "t", "p", candidate=i, size=5).choice for i in range(5))
    [0, 1, 2, 3, 4]
    """
    return Draw(seed, names, candidate, size)


def nth_arrangement(items: Sequence[_Item], number: int) -> tuple[_Item, ...]:
    """Return one of the n! orders of n items; number 0 is the order given.

    Examples
    --------
    >>> nth_arrangement("abc", 0), nth_arrangement("abc", 5)
    (('a', 'b', 'c'), ('c', 'b', 'a'))
    """
    _within(number, factorial(len(items)))
    left, found = list(items), []
    for remaining in range(len(items), 0, -1):
        place, number = divmod(number, factorial(remaining - 1))
        found.append(left.pop(place))
    return tuple(found)


def nth_subset(items: Sequence[_Item], size: int, number: int) -> tuple[_Item, ...]:
    """Return one of the subsets of a given size, its items in the order given.

    Examples
    --------
    >>> [nth_subset("abc", 2, i) for i in range(3)]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    _within(number, comb(len(items), size))
    found: list[_Item] = []
    for place, item in enumerate(items):
        if len(found) == size:
            break
        with_item = comb(len(items) - place - 1, size - len(found) - 1)
        if number < with_item:
            found.append(item)
        else:
            number -= with_item
    return tuple(found)


def _within(number: Any, size: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < size:
        raise ParameterError(f"there are {size} of them, numbered from 0; found {number!r}")
