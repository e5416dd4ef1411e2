"""What the functions of this floor accept: one place, one wording."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plumbline.base.errors import ParameterError

__all__ = [
    "choice",
    "confidence_level",
    "count_arrays",
    "count_pair",
    "finite_vector",
    "generator_required",
    "one_sided_alpha",
    "probability",
    "seed_of",
    "smallest",
    "two_arms",
    "whole",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def whole(value: Any, name: str, minimum: int = 0) -> int:
    """Return a whole number of at least ``minimum``; anything else raises."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"{name} is {value!r}; give a whole number of at least {minimum}")
    if not math.isfinite(value) or value != int(value) or value < minimum:
        raise ParameterError(f"{name} is {value!r}; give a whole number of at least {minimum}")
    return int(value)


def count_pair(successes: Any, n: Any) -> tuple[int, int]:
    """Return (successes, n) as whole numbers with 0 <= successes <= n."""
    c, total = whole(successes, "successes"), whole(n, "n")
    if c > total:
        raise ParameterError(f"successes is {c} and n is {total}; successes lie between 0 and n")
    return c, total


def two_arms(successes: Sequence[int], n: Sequence[int], minimum: int = 1) -> tuple[int, int, int, int]:
    """Return (x1, n1, x2, n2) for two arms that both have runs."""
    if len(successes) != 2 or len(n) != 2:
        raise ParameterError(f"two arms are needed: found {len(successes)} success counts and {len(n)} run counts")
    (x1, n1), (x2, n2) = count_pair(successes[0], n[0]), count_pair(successes[1], n[1])
    if n1 < minimum or n2 < minimum:
        raise ParameterError(f"the arms have {n1} and {n2} runs; each needs at least {minimum} to be compared")
    return x1, n1, x2, n2


def count_arrays(successes: ArrayLike, n: ArrayLike, minimum: int = 0, what: str = "cell") -> tuple[Ints, Ints]:
    """Return two integer arrays of one shape with 0 <= successes <= n and n >= minimum."""
    c, total = _integers(successes, "successes"), _integers(n, "n")
    if c.shape != total.shape:
        try:
            c, total = np.broadcast_arrays(c, total)
        except ValueError:
            raise ParameterError(f"successes has shape {c.shape} and n {total.shape}; they must agree") from None
    if c.size == 0:
        raise ParameterError(f"no {what} was given: successes and n are empty")
    if smallest(c) < 0 or smallest(total - c) < 0 or (minimum > 0 and smallest(total) < minimum):
        bad = (c < 0) | (c > total) | (total < minimum)
        at = np.unravel_index(int(np.argmax(bad)), bad.shape)
        raise ParameterError(
            f"{what} {at[0] if at else 0} has {c[at]} successes of {total[at]} runs; "
            f"successes lie between 0 and n, and n is at least {minimum}"
        )
    return c, total


def smallest(array: Ints) -> int:
    """Return the smallest entry; the plain reduction, because the array method costs more than the work on a table."""
    return int(np.minimum.reduce(array, axis=None))


def _integers(values: ArrayLike, name: str) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all():
        return array.astype(np.int64)
    raise ParameterError(f"{name} holds {array.dtype} values that are not all whole numbers; give counts")


def finite_vector(values: ArrayLike | Iterable[float], name: str, minimum: int = 1) -> Floats:
    """Return a one-dimensional array of finite numbers with at least ``minimum`` of them."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} holds something that is not a number; give numbers") from None
    if array.ndim != 1 or array.size < minimum:
        raise ParameterError(f"{name} has shape {array.shape}; give a list of at least {minimum} numbers")
    if not np.isfinite(array).all():
        at = int(np.argmax(~np.isfinite(array)))
        raise ParameterError(f"{name} holds {array[at]} at position {at}; missing values must be dealt with first")
    return array


def probability(value: Any, name: str, *, closed: bool = False) -> float:
    """Return a number in (0, 1), or in [0, 1] when ``closed``."""
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not (0 <= value <= 1) or (not closed and value in (0, 1)):
        span = "from 0 to 1" if closed else "between 0 and 1, both excluded"
        raise ParameterError(f"{name} is {value!r}; give a number {span}")
    return float(value)


def one_sided_alpha(alpha: Any) -> float:
    """Return the level of a one-sided test, in (0, 0.5)."""
    level = probability(alpha, "alpha")
    if level >= 0.5:
        raise ParameterError(f"alpha is {alpha!r}; give the level of a one-sided test, below 0.5")
    return level


def confidence_level(confidence: Any) -> float:
    """Return a confidence in (0, 1); 95 raises and says to write 0.95."""
    if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 50 <= confidence < 100:
        raise ParameterError(f"confidence is {confidence!r}; write it as a share: {confidence / 100:g}")
    return probability(confidence, "confidence")


def choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """Return a value that is one of ``allowed``."""
    options = tuple(allowed)
    if value not in options:
        raise ParameterError(f"{name} is {value!r}; choose one of {', '.join(map(repr, options))}")
    return str(value)


def generator_required(generator: Any, why: str) -> np.random.Generator:
    """Return the generator, or raise and say why chance is needed here."""
    if not isinstance(generator, np.random.Generator):
        raise ParameterError(f"generator is {generator!r}; {why}: pass generator=numpy.random.default_rng(SEED)")
    return generator


def seed_of(generator: np.random.Generator) -> int | None:
    """Return the seed a generator was made from, when it was made from one number."""
    entropy = getattr(getattr(generator.bit_generator, "seed_seq", None), "entropy", None)
    return int(entropy) if isinstance(entropy, int | np.integer) else None
