"""A catalog of relations over cases: which pairs there are, and how many of each entry are invalid or in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plumbline.base.errors import RelationError
from plumbline.rules.metamorphic.case import Case
from plumbline.rules.metamorphic.contract import Contract, make_contract
from plumbline.rules.metamorphic.relation import Relation
from plumbline.rules.metamorphic.seed import Seed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EntryCount", "Validation", "validate_relations"]

_COUNTS = ("relation", "planned", "valid", "invalid", "abstained", "not_applicable")


@dataclass(frozen=True)
class EntryCount:
    """How one catalog entry fared before any model saw it; seeds it does not apply to are counted apart."""

    relation: str
    planned: int
    valid: int
    invalid: int
    abstained: int
    not_applicable: int
    reasons: tuple[str, ...]

    @property
    def mostly_invalid(self) -> bool:
        """Whether more than half of its transformations are invalid."""
        return self.invalid * 2 > self.planned

    def __str__(self) -> str:
        named = "  MOSTLY INVALID" if self.mostly_invalid else ""
        parts = f"{self.valid} valid, {self.invalid} invalid, {self.abstained} abstained"
        return f"{self.relation}: {self.planned} planned; {parts}; {self.not_applicable} not applicable{named}"


@dataclass(frozen=True)
class Validation:
    """The contracts of a catalog, and the count of each entry; invalid and abstained are two rates."""

    contracts: tuple[Contract, ...]
    entries: tuple[EntryCount, ...]

    @property
    def mostly_invalid(self) -> tuple[str, ...]:
        """Names of the entries that are mostly invalid."""
        return tuple(each.relation for each in self.entries if each.mostly_invalid)

    @property
    def unused(self) -> tuple[str, ...]:
        """Names of the entries that apply to no seed."""
        return tuple(each.relation for each in self.entries if not each.planned)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per entry, with both rates; a rate of nothing is missing."""
        import pandas as pd

        rows = [
            {
                "relation": e.relation, "planned": e.planned, "valid": e.valid, "invalid": e.invalid,
                "abstained": e.abstained, "not_applicable": e.not_applicable,
                "invalid_rate": e.invalid / e.planned if e.planned else None,
                "abstained_rate": e.abstained / e.planned if e.planned else None,
                "mostly_invalid": e.mostly_invalid, "reasons": "; ".join(e.reasons),
            }
            for e in self.entries
        ]  # fmt: skip
        columns = (*_COUNTS, "invalid_rate", "abstained_rate", "mostly_invalid", "reasons")
        return pd.DataFrame(rows, columns=columns).astype({"invalid_rate": "Float64", "abstained_rate": "Float64"})

    def __str__(self) -> str:
        return "\n".join(map(str, self.entries))

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return str(frame.to_html(index=False, border=0, na_rep="no pair"))


def validate_relations(
    relations: Sequence[Relation], cases: Iterable[Case], *, seeds: Mapping[str, Seed] | None = None
) -> Validation:
    """Transform every seed by every relation that applies, and check each before any model sees one.

    Parameters
    ----------
    relations : sequence of Relation
        The catalog; ids are unique.
    cases : iterable of Case
        One per seed.
    seeds : mapping, optional
        Task id to seed, where more is known of it.

    Returns
    -------
    Validation

    Raises
    ------
    RelationError
        Two entries have one id, or two cases one task.
    """
    names = [each.relation_id for each in relations]
    held = list(cases)
    for what, found in {"relation": names, "case": [case.task_id for case in held]}.items():
        if twice := sorted({name for name in found if found.count(name) > 1}):
            raise RelationError(f"the {what} {twice[0]!r} stands twice")
    contracts: list[Contract] = []
    entries = []
    for relation in relations:
        mine = [
            make_contract(relation, case, seed=(seeds or {}).get(case.task_id))
            for case in held
            if not relation.applies(case)
        ]
        count = {state: sum(c.validity == state for c in mine) for state in ("valid", "invalid", "abstained")}
        reasons = tuple(dict.fromkeys(reason for c in mine for reason in c.reasons))
        entries.append(
            EntryCount(relation.name, len(mine), **count, not_applicable=len(held) - len(mine), reasons=reasons)
        )
        contracts += mine
    return Validation(tuple(contracts), tuple(entries))
