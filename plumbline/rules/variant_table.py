"""The variants of a whole study, by task, perturbation and name, as a runner asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.rules.variant_sets import VariantSet
from plumbline.rules.variants import Variant

__all__ = ["VariantTable"]


class HasId(Protocol):
    """A task, as far as this table needs to know it."""

    @property
    def id(self) -> str:
        """Name of the task."""


@dataclass(frozen=True)
class VariantTable:
    """Frozen variants of every cell of a study; calling it gives a runner the variant of a trial.

    Parameters
    ----------
    sets : tuple of VariantSet
        One for each task and perturbation.

    Raises
    ------
    ParameterError
        Two sets for one cell.

    Examples
    --------
    >>> plain = (Variant("Cancel A-17."),)
    >>> cell = VariantSet(task_id="T", perturbation="baseline", version="1", planned=1, accepted=plain)
    >>> VariantTable((cell,)).names("T", "baseline")
    ('0',)
    """

    sets: tuple[VariantSet, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sets", tuple(self.sets))
        cells = [(one.task_id, one.perturbation) for one in self.sets]
        if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
            raise ParameterError(f"two sets of variants for one task and perturbation: {twice}")

    @cached_property
    def _cells(self) -> dict[tuple[str, str], VariantSet]:
        return {(one.task_id, one.perturbation): one for one in self.sets}

    def __call__(self, task: HasId, perturbation: str, variant: str) -> Variant:
        """Return the variant of a trial.

        Raises
        ------
        NotFoundError
            No such cell was made, or the cell has fewer variants; the message says why.
        """
        cell = self._cells.get((task.id, perturbation))
        if cell is None:
            known = sorted({one.perturbation for one in self.sets})
            raise NotFoundError(f"no variants were made for task {task.id!r} under {perturbation!r}; made were {known}")
        for one in cell.accepted:
            if one.name == variant:
                return one
        raise NotFoundError(f"there is no variant {variant!r}: {cell}")

    def names(self, task_id: str, perturbation: str) -> tuple[str, ...]:
        """Return the names of the variants that a cell has; empty if it has none or was not made."""
        cell = self._cells.get((task_id, perturbation))
        return tuple(one.name for one in cell.accepted) if cell else ()

    @property
    def shortfalls(self) -> tuple[VariantSet, ...]:
        """The cells that have fewer variants than planned."""
        return tuple(one for one in self.sets if one.shortfall)

    @property
    def digest(self) -> str:
        """SHA-256 of everything, to be sealed with the plan."""
        text = canonical_json(parse_json(canonical_json([one.to_dict() for one in self.sets])))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values, to be stored with the run."""
        return {"schema": "plumbline.variants/1", "sets": [one.to_dict() for one in self.sets]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> VariantTable:
        """Read a table from what ``to_dict`` gives; every variant is checked against its content hash."""
        if values.get("schema") != "plumbline.variants/1":
            raise ParameterError(
                f"stored variants are of format 'plumbline.variants/1'; found {values.get('schema')!r}"
            )
        return cls(tuple(map(VariantSet.from_dict, values["sets"])))
