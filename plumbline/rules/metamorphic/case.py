"""The input of one trial as plain rows, and exactly how two of them differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import RelationError

__all__ = ["Case", "Change", "apply_changes", "difference", "resolve"]

Row = Mapping[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """What one trial is given: the request, the rows of the system of record, the tools and the settings.

    Parameters
    ----------
    task_id : str
        The task it belongs to.
    prompt : str or None
        What the agent is asked.
    tables : mapping
        Table to its rows, each a mapping of column to JSON value; money as ``Decimal``.
    keys : mapping
        Table to the columns that name a row; by default the first column.
    tools : tuple of str
        Names of the tools offered, in their order.
    settings : mapping
        Sampling settings that are sent.
    facts : mapping
        What is known to be true of the case, such as the domain's ground truth; transformations refer to it as
        ``$name`` and it is never shown to an agent.
    family_id : str
        Family of the seed; the task's own by default.

    Examples
    --------
    >>> case = Case("A-1", "Pay A-1.", tables={"bills": [{"id": "A-1", "sum": 5}]})
    >>> [str(c) for c in difference(case, case.changed(prompt="Bitte zahlen: A-1."))]
    ["prompt: 'Pay A-1.' -> 'Bitte zahlen: A-1.'"]
    """

    task_id: str
    prompt: str | None
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict, kw_only=True)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    tools: tuple[str, ...] = field(default=(), kw_only=True)
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    facts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    family_id: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "tables", {name: tuple(dict(row) for row in rows) for name, rows in self.tables.items()}
        )
        object.__setattr__(self, "tools", tuple(self.tools))
        if not self.family_id:
            object.__setattr__(self, "family_id", self.task_id)
        for name, rows in self.tables.items():
            if len({self.key(name, row) for row in rows}) != len(rows):
                raise RelationError(f"case {self.task_id}: table {name!r} has two rows with one key; name its keys=")

    def key(self, table: str, row: Row) -> Key:
        """Return what names a row of a table."""
        return tuple(row[column] for column in self.keys.get(table) or tuple(row)[:1])

    def changed(self, **fields: Any) -> Case:
        """Return the case with some fields replaced."""
        return replace(self, **fields)

    def with_rows(self, table: str, rows: Sequence[Row]) -> Case:
        """Return the case with other rows in one table."""
        if table not in self.tables:
            raise RelationError(
                f"case {self.task_id} has no table {table!r}; it has {', '.join(self.tables) or 'none'}"
            )
        return replace(self, tables={**self.tables, table: rows})

    def shown(self) -> dict[str, Any]:
        """Return what the agent and its surroundings meet, as JSON values; facts are not part of it."""
        return {
            "task_id": self.task_id, "prompt": self.prompt, "tools": list(self.tools), "settings": dict(self.settings),
            "tables": {name: [dict(row) for row in rows] for name, rows in self.tables.items()},
        }  # fmt: skip

    @property
    def digest(self) -> str:
        """SHA-256 of what is shown, as ``sha256:…``."""
        text = canonical_json(parse_json(canonical_json(self.shown())))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True)
class Change:
    """One difference between two cases.

    Parameters
    ----------
    field : str
        ``prompt``, ``tools``, ``settings.temperature``, ``invoices.total``; ``invoices.+`` and ``invoices.-`` for a row
        added and removed, ``invoices.order`` for rows in another order.
    row : tuple
        Key of the row, empty where there is none.
    before, after : JSON value
        What stood there and what stands there now.
    """

    field: str
    row: Key
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON values."""
        return {"field": self.field, "row": list(self.row), "before": self.before, "after": self.after}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Change:
        """Read a change from what ``to_dict`` gives."""
        return cls(values["field"], tuple(values["row"]), values["before"], values["after"])

    def __str__(self) -> str:
        at = f"[{'/'.join(map(str, self.row))}]" if self.row else ""
        return f"{self.field}{at}: {self.before!r} -> {self.after!r}"


def difference(base: Case, follow: Case) -> tuple[Change, ...]:
    """Return everything that differs between two cases, so that ``apply_changes`` makes one of the other.

    Parameters
    ----------
    base, follow : Case
        The seed's case and its follow-up.

    Returns
    -------
    tuple of Change
        Empty if an agent would meet the same thing twice.
    """
    return tuple(_changes(base, follow))


def _changes(base: Case, follow: Case) -> Iterator[Change]:
    for name in ("task_id", "prompt"):
        before, after = getattr(base, name), getattr(follow, name)
        if before != after:
            yield Change(name, (), before, after)
    if base.tools != follow.tools:
        yield Change("tools", (), list(base.tools), list(follow.tools))
    for name in sorted({*base.settings, *follow.settings}):
        before, after = base.settings.get(name), follow.settings.get(name)
        if not _same(before, after):
            yield Change(f"settings.{name}", (), before, after)
    for name in sorted({*base.tables, *follow.tables}):
        yield from _of_table(name, base, follow)


def _same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def _of_table(name: str, base: Case, follow: Case) -> Iterator[Change]:
    old = {base.key(name, row): row for row in base.tables.get(name, ())}
    new = {base.key(name, row): row for row in follow.tables.get(name, ())}
    places = {key: n for n, key in enumerate(new)}
    behind = list(new)
    renamed: dict[Key, Key] = {}
    for n, key in enumerate(old):  # a row whose key changed stands in its old place
        if key not in new and n < len(behind) and behind[n] not in old and set(old[key]) == set(new[behind[n]]):
            renamed[key] = behind[n]
    after: list[Key] = []
    for key, row in old.items():
        now = renamed.get(key, key)
        if now not in places:
            yield Change(f"{name}.-", key, dict(row), None)
            continue
        after.append(now)
        for column in sorted({*row, *new[now]}):
            if not _same(row.get(column), new[now].get(column)) or (column in row) != (column in new[now]):
                yield Change(f"{name}.{column}", key, row.get(column), new[now].get(column))
    for key, row in new.items():
        if key not in old and key not in renamed.values():
            yield Change(f"{name}.+", key, None, dict(row))
            after.append(key)
    if after != behind:
        yield Change(f"{name}.order", (), [list(key) for key in after], [list(key) for key in behind])


def apply_changes(base: Case, changes: Sequence[Change]) -> Case:
    """Return the follow-up of a case from the changes that a contract stores.

    Parameters
    ----------
    base : Case
        The seed's case.
    changes : sequence of Change
        As ``difference`` gives them.

    Raises
    ------
    RelationError
        A change says that something stood there which does not: this is not the case it was made for.
    """
    fields: dict[str, Any] = {}
    settings = dict(base.settings)
    tables = {name: {base.key(name, row): dict(row) for row in rows} for name, rows in base.tables.items()}
    for change in changes:
        head, _, tail = change.field.partition(".")
        if not tail:
            _stood(base, change, list(base.tools) if head == "tools" else getattr(base, head, None))
            fields[head] = tuple(change.after) if head == "tools" else change.after
        elif head == "settings":
            _stood(base, change, settings.get(tail))
            settings = {k: v for k, v in {**settings, tail: change.after}.items() if v is not None}
        else:
            _in_table(base, change, tables.setdefault(head, {}), head, tail)
    rows = {name: list(found.values()) for name, found in tables.items()}
    for change in (c for c in changes if c.field.endswith(".order")):
        name = change.field.partition(".")[0]
        by_key = {base.key(name, row): row for row in rows[name]}
        rows[name] = [by_key[tuple(key)] for key in change.after]
    return base.changed(settings=settings, tables=rows, **fields)


def _in_table(base: Case, change: Change, rows: dict[Key, dict[str, Any]], table: str, column: str) -> None:
    if column == "+":
        rows[change.row] = dict(change.after)
    elif column == "-":
        _stood(base, change, rows.get(change.row))
        del rows[change.row]
    elif column != "order":
        _stood(base, change, rows.get(change.row, {}).get(column))
        rows[change.row][column] = change.after


def _stood(base: Case, change: Change, found: Any) -> None:
    if not _same(found, change.before):
        raise RelationError(
            f"case {base.task_id}: a change was made where {change.field} was {change.before!r}, here it is {found!r}; "
            "the contract belongs to another version of the case"
        )


def resolve(value: Any, facts: Mapping[str, Any]) -> Any:
    """Return a value with every ``$name.of.a.fact`` replaced by the fact.

    Raises
    ------
    RelationError
        There is no such fact.

    Examples
    --------
    >>> resolve({"po_id": "$invoice.po_id"}, {"invoice": {"po_id": "PO-1"}})
    {'po_id': 'PO-1'}
    """
    if isinstance(value, Mapping):
        return {resolve(key, facts): resolve(inner, facts) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(inner, facts) for inner in value]
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    found: Any = facts
    for part in value[1:].split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise RelationError(f"no fact {value!r}; the case has {', '.join(sorted(map(str, facts))) or 'none'}")
        found = found[part]
    return found
