"""A system of record in SQLite: tables of one domain, money exact, one copy in memory for every trial."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from plumbline.base.errors import ParameterError

__all__ = ["TableSchema", "TableWorld", "Tables", "to_cents", "to_money"]

_LARGEST = 10**15
_DIGITS = 400

Tables = Mapping[str, Sequence[tuple[Any, ...]]]
"""Table name to opening rows, money as text or ``Decimal``."""


def to_cents(amount: Decimal | int | str) -> int:
    """Return an amount as whole cents.

    Raises
    ------
    ParameterError
        The amount is not a finite number, has parts of a cent, or is larger than any ledger holds.

    Examples
    --------
    >>> to_cents("2.35"), to_cents(4500)
    (235, 450000)
    """
    try:
        number = Decimal(amount)
    except InvalidOperation:
        raise ParameterError(f"{amount!r} is not an amount of money") from None
    if not number.is_finite() or abs(number) > _LARGEST or number.adjusted() < -_DIGITS:
        raise ParameterError(f"{amount} is not an amount of money of at most {_LARGEST:,}")
    whole, parts = number.as_integer_ratio()  # exact whatever the context's precision, unlike scaleb
    cents, rest = divmod(whole * 100, parts)
    if rest:
        raise ParameterError(f"{amount} has parts of a cent; amounts have at most two decimals")
    return cents


def to_money(cents: int) -> Decimal:
    """Return whole cents as an amount with two decimals.

    Examples
    --------
    >>> to_money(450000)
    Decimal('4500.00')
    """
    return Decimal(cents).scaleb(-2)


@dataclass(frozen=True)
class TableSchema:
    """The tables of a domain.

    Parameters
    ----------
    ddl : str
        ``CREATE TABLE`` statements; columns of money are whole cents.
    columns : mapping
        Table to its columns, in the order of opening rows.
    money : frozenset of str
        Columns that hold money: ``Decimal`` outside the tables, in every table that has them.
    written : tuple of str
        Tables that the tools write to.

    Examples
    --------
    >>> schema = TableSchema("CREATE TABLE pay (id TEXT, amount INTEGER);", {"pay": ("id", "amount")},
    ...                      frozenset({"amount"}), ("pay",))
    >>> TableWorld(schema, schema.image({"pay": [("P-1", "2.35")]})).all("SELECT * FROM pay")
    [{'id': 'P-1', 'amount': Decimal('2.35')}]
    """

    ddl: str
    columns: Mapping[str, tuple[str, ...]]
    money: frozenset[str]
    written: tuple[str, ...]

    def image(self, tables: Tables) -> bytes:
        """Return a system of record with these opening rows as bytes that ``TableWorld`` starts from.

        Parameters
        ----------
        tables : mapping
            Table name to rows, columns as in ``columns``; a table that is not named starts empty.

        Raises
        ------
        ParameterError
            A table is unknown, or a row has the wrong number of columns.
        """
        db = sqlite3.connect(":memory:", isolation_level=None)
        try:
            db.executescript(self.ddl)
            for table, rows in tables.items():
                columns = self.columns.get(table)
                if columns is None or any(len(row) != len(columns) for row in rows):
                    allowed = {name: len(found) for name, found in self.columns.items()}
                    raise ParameterError(f"table {table!r} does not fit; tables and their columns: {allowed}")
                places = ",".join("?" * len(columns))
                stored = [
                    [to_cents(v) if n in self.money and v is not None else v for n, v in zip(columns, row, strict=True)]
                    for row in rows
                ]
                db.executemany(f"INSERT INTO {table} ({','.join(columns)}) VALUES ({places})", stored)
            return db.serialize()
        finally:
            db.close()


class TableWorld:
    """One trial's own copy of a system of record.

    Parameters
    ----------
    schema : TableSchema
        The tables.
    opening : bytes
        The image it starts from, see ``TableSchema.image``.
    """

    def __init__(self, schema: TableSchema, opening: bytes) -> None:
        # one trial owns it, but an agent framework may call from a thread of its own; the toolbox lets one in at a time
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.deserialize(opening)
        self._money, self._written = schema.money, schema.written
        self._counted_at, self._counts = -1, dict.fromkeys(schema.written, 0)

    def all(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Return the rows of a query; columns that hold money come as ``Decimal``."""
        cursor = self._db.execute(query, values)
        names = [column[0] for column in cursor.description]
        return [
            {n: to_money(v) if n in self._money and v is not None else v for n, v in zip(names, row, strict=True)}
            for row in cursor
        ]

    def one(self, query: str, *values: Any) -> dict[str, Any] | None:
        """Return the first row of a query, None if there is none."""
        rows = self.all(query, *values)
        return rows[0] if rows else None

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def add(self, table: str, row: Mapping[str, Any]) -> None:
        """Add one row; money is given as ``Decimal``."""
        values = [to_cents(v) if name in self._money else v for name, v in row.items()]
        self._db.execute(f"INSERT INTO {table} ({','.join(row)}) VALUES ({','.join('?' * len(row))})", values)

    def effects(self) -> dict[str, int]:
        """Return the rows of every table that the tools write to."""
        if self._db.total_changes == self._counted_at:
            return self._counts
        self._counted_at = self._db.total_changes
        counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in self._written)
        self._counts = dict(zip(self._written, self._db.execute(f"SELECT {counts}").fetchone(), strict=True))
        return self._counts

    def close(self) -> None:
        """Give the memory back."""
        self._db.close()
