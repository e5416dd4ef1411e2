"""The figures of a study as they are computed: value by id, and the trials each one was counted from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plumbline.base.errors import NotFoundError, ParameterError

__all__ = ["Figures"]


class Figures(Mapping[str, Any]):
    """An ordered mapping of figure id to plain JSON value that remembers the trials behind each figure.

    Examples
    --------
    >>> figures = Figures()
    >>> figures.add("failed", 1, trials=["react/t1/baseline/0/0"])
    1
    >>> figures.behind("failed")
    ['react/t1/baseline/0/0']
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._trials: dict[str, list[str]] = {}

    def add(self, name: str, value: Any, *, trials: Sequence[str] = ()) -> Any:
        """Record a figure once and return it."""
        if name in self._values:
            raise ParameterError(f"figure {name!r} is computed twice")
        self._values[name] = value
        if len(trials):
            self._trials[name] = [str(t) for t in trials]
        return value

    def behind(self, name: str) -> list[str]:
        """Return the ids of the trials a figure was counted from, empty if it was not counted from single trials."""
        if name not in self._values:
            near = [n for n in self._values if name in n][:8]
            hint = f" Like it: {', '.join(near)}." if near else ""
            raise NotFoundError(f"no figure {name!r}; there are {len(self)}.{hint}")
        return self._trials.get(name, [])

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
