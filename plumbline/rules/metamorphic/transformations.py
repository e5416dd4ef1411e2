"""Controlled changes of a case. Each is exact, versioned and has a digest of its code; none asks a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from plumbline.base.errors import RelationError
from plumbline.rules.fingerprint import callable_digest
from plumbline.rules.metamorphic.case import Case, resolve

__all__ = [
    "Transformation", "Transformed", "add_row", "drop_rows", "exactly", "rename", "reorder", "reword", "scale",
    "set_value", "together",
]  # fmt: skip

Where = Mapping[str, Any]


@dataclass(frozen=True)
class Transformed:
    """A follow-up case, and what the expectation needs to know of how it was made.

    Parameters
    ----------
    case : Case
        The follow-up.
    parameters : mapping
        Names for ``$name`` in expectations, such as ``{"names": {"V-100": "V-900"}}``.
    """

    case: Case
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Transformation:
    """One controlled change.

    Parameters
    ----------
    name, version : str
        What it is called; the version moves when what it does moves.
    apply : callable
        ``apply(case)`` gives a ``Transformed``, or a ``Case``.

    Examples
    --------
    >>> louder = Transformation("louder", "1", lambda case: case.changed(prompt=case.prompt.upper()))
    >>> louder(Case("t", "Pay it.")).case.prompt
    'PAY IT.'
    """

    name: str
    version: str
    apply: Callable[[Case], Case | Transformed] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.name or not self.version or not callable(self.apply):
            raise RelationError(f"a transformation needs a name, a version and apply=; found {self.name!r}")

    def __call__(self, case: Case) -> Transformed:
        """Return the follow-up of a case."""
        found = self.apply(case)
        return found if isinstance(found, Transformed) else Transformed(found)

    @property
    def digest(self) -> str:
        """Digest of its code and of the plain values it was made with."""
        return callable_digest(self.apply)

    def to_dict(self) -> dict[str, str]:
        """Return name, version and digest."""
        return {"name": self.name, "version": self.version, "digest": self.digest}


def _hit(case: Case, table: str, where: Where) -> list[int]:
    wanted = resolve(where, case.facts)
    rows = case.tables.get(table, ())
    return [n for n, row in enumerate(rows) if all(row.get(k) == v for k, v in wanted.items())]


def drop_rows(table: str, where: Where, *, name: str = "", version: str = "1") -> Transformation:
    """Withdraw rows from the system of record.

    Parameters
    ----------
    table : str
        Of the case.
    where : mapping
        Column to value; ``$name`` is a fact of the case.
    """
    return Transformation(name or f"drop_{table}", version, partial(_drop, table=table, where=where))


def _drop(case: Case, *, table: str, where: Where) -> Case:
    gone = set(_hit(case, table, where))
    return case.with_rows(table, [row for n, row in enumerate(case.tables.get(table, ())) if n not in gone])


def set_value(
    table: str, column: str, value: Any, where: Where, *, name: str = "", version: str = "1"
) -> Transformation:
    """Put a value into a column of the rows that fit."""
    name = name or f"set_{table}_{column}"
    return Transformation(name, version, partial(_set, table=table, column=column, value=value, where=where))


def _set(case: Case, *, table: str, column: str, value: Any, where: Where) -> Case:
    hit, given = set(_hit(case, table, where)), resolve(value, case.facts)
    rows = [{**row, column: given} if n in hit else row for n, row in enumerate(case.tables.get(table, ()))]
    return case.with_rows(table, rows)


def add_row(table: str, row: Mapping[str, Any], *, name: str = "", version: str = "1") -> Transformation:
    """Add a row at the end of a table."""
    return Transformation(name or f"add_{table}", version, partial(_add, table=table, row=row))


def _add(case: Case, *, table: str, row: Mapping[str, Any]) -> Case:
    return case.with_rows(table, [*case.tables.get(table, ()), resolve(row, case.facts)])


def reorder(table: str, *, name: str = "", version: str = "1") -> Transformation:
    """Turn the rows of a table round."""
    return Transformation(name or f"reorder_{table}", version, partial(_reorder, table=table))


def _reorder(case: Case, *, table: str) -> Case:
    return case.with_rows(table, case.tables.get(table, ())[::-1])


def exactly(value: Any, factor: Fraction) -> Any:
    """Return a number times a factor, exactly, in the type it came in.

    Raises
    ------
    RelationError
        The product has no exact value of that type: parts of a cent, or of a piece.

    Examples
    --------
    >>> exactly(Decimal("2.50"), Fraction(3)), exactly(40, Fraction(1, 4))
    (Decimal('7.50'), 10)
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise RelationError(f"only whole numbers and decimals are converted exactly; found {value!r}")
    product = Fraction(value) * factor
    if isinstance(value, int):
        if product.denominator != 1:
            raise RelationError(f"{value} times {factor} is {product}, which is no whole number")
        return int(product)
    digits = max(-int(value.as_tuple().exponent), 0)
    whole = product * 10**digits
    if whole.denominator != 1:
        raise RelationError(f"{value} times {factor} is {product}, which has no {digits} decimals")
    return Decimal(int(whole)).scaleb(-digits)


def scale(
    columns: Sequence[tuple[str, str, Where]], factor: str, *, name: str = "", version: str = "1"
) -> Transformation:
    """Multiply numbers exactly, a conversion of unit or currency among them.

    Parameters
    ----------
    columns : sequence of (table, column, where)
        What is multiplied.
    factor : str
        As a fraction, ``"3"`` or ``"1/4"``; in expectations it is ``$factor``.
    """
    apply = partial(_scale, columns=[list(c) for c in columns], factor=factor)
    return Transformation(name or f"scale_by_{factor}", version, apply)


def _scale(case: Case, *, columns: Sequence[Sequence[Any]], factor: str) -> Transformed:
    by = Fraction(factor)
    for table, column, where in columns:
        hit = set(_hit(case, table, where))
        rows = case.tables.get(table, ())
        case = case.with_rows(
            table, [{**row, column: exactly(row[column], by)} if n in hit else row for n, row in enumerate(rows)]
        )
    return Transformed(case, {"factor": factor})


def rename(names: Mapping[str, str], *, name: str = "", version: str = "1") -> Transformation:
    """Give an entity another name everywhere: in the request and in every row.

    Parameters
    ----------
    names : mapping
        Old name to new; both may refer to facts. In expectations it is ``$names``.
    """
    return Transformation(name or "rename", version, partial(_rename_all, names=names))


def _rename_all(case: Case, *, names: Mapping[str, str]) -> Transformed:
    known = {str(resolve(old, case.facts)): str(resolve(new, case.facts)) for old, new in names.items()}
    held = [new for new in known.values() if _mentions(case, new)]
    if held:
        raise RelationError(f"case {case.task_id}: {held[0]!r} is taken; a new name must be new")

    def of(value: Any) -> Any:
        if isinstance(value, str):
            for old in sorted(known, key=len, reverse=True):
                value = value.replace(old, known[old])
        return value

    tables = {t: [{k: of(v) for k, v in row.items()} for row in rows] for t, rows in case.tables.items()}
    return Transformed(case.changed(prompt=of(case.prompt), tables=tables), {"names": known})


def _mentions(case: Case, name: str) -> bool:
    values = [v for rows in case.tables.values() for row in rows for v in row.values()]
    return any(isinstance(v, str) and name in v for v in [case.prompt, *values])


def reword(
    template: str, *, name: str = "", version: str = "1", parameters: Mapping[str, Any] | None = None
) -> Transformation:
    """Put the request in other words.

    Parameters
    ----------
    template : str
        With ``{name.of.a.fact}`` where the seed's own facts go.
    parameters : mapping, optional
        For ``$name`` in expectations.
    """
    return Transformation(
        name or "reword", version, partial(_reword, template=template, parameters=dict(parameters or {}))
    )


def _reword(case: Case, *, template: str, parameters: Mapping[str, Any]) -> Transformed:
    said = re.sub(r"\{([\w.]+)\}", lambda m: str(resolve(f"${m[1]}", case.facts)), template)
    return Transformed(case.changed(prompt=said), dict(parameters))


def together(*stages: Transformation, name: str, version: str = "1") -> Transformation:
    """Make several changes, one after the other, as one transformation."""
    apply = partial(_together, stages=[s.apply for s in stages], said=[s.digest for s in stages])
    return Transformation(name, version, apply)


def _together(case: Case, *, stages: Sequence[Callable[[Case], Any]], said: Sequence[str]) -> Transformed:
    known: dict[str, Any] = {}
    for stage in stages:
        found = stage(case)
        done = found if isinstance(found, Transformed) else Transformed(found)
        case, known = done.case, {**known, **done.parameters}
    return Transformed(case, known)
