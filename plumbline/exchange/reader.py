"""A reader of one format. The columns it reads are data, so that a person can add the names of their own stack."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.exchange.drafts import NOT_RECORDED, TrialDraft
from plumbline.exchange.source import Source

__all__ = ["Column", "Reader"]


@dataclass(frozen=True)
class Column:
    """Where one field is found in a format.

    Parameters
    ----------
    field : str
        Field of a step or of a trial, for example ``arguments`` or ``call_id``.
    paths : tuple of str or callable
        Attribute names or dotted paths, the first that is there counts; a callable takes the mapping and returns the
        value or ``NOT_RECORDED``.
    required : bool
        Whether a record without it is refused.
    doc : str
        Which convention the names come from.
    """

    field: str
    paths: tuple[str | Callable[[Mapping[str, Any]], Any], ...]
    required: bool = False
    doc: str = ""


@dataclass(frozen=True)
class Reader:
    """One format: how it is recognised, which columns it has, how it is read.

    Parameters
    ----------
    name : str
        What ``read_traces(format=…)`` calls it.
    title : str
        What a person calls it.
    columns : tuple of Column
        One a field.
    sniff : callable
        Takes a ``Source`` and returns why it looks like this format, None if it does not. Cheap.
    read : callable
        Takes a ``Source`` and the reader and returns drafts of trials.
    together : callable, optional
        As `read`, for several sources at once, where one trajectory may be spread over files.

    Examples
    --------
    >>> reader = Reader("mine", "My log", (Column("name", ("tool",)),), lambda s: None, lambda s, r: [])
    >>> reader.with_columns(Column("name", ("tool_title",))).find("name", {"tool_title": "pay"})
    'pay'
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    sniff: Callable[[Source], str | None]
    read: Callable[[Source, Reader], list[TrialDraft]]
    together: Callable[[Sequence[Source], Reader], list[TrialDraft]] | None = None

    def with_columns(self, *columns: Column) -> Reader:
        """Return a reader that looks in these places first, then where it looked before.

        Raises
        ------
        ParameterError
            A column of a field that this reader does not have.
        """
        known = {column.field: column for column in self.columns}
        for column in columns:
            if column.field not in known:
                raise ParameterError(
                    f"reader {self.name!r} has no field {column.field!r}; it has {', '.join(sorted(known))}"
                )
            old = known[column.field]
            known[column.field] = replace(
                old, paths=(*column.paths, *old.paths), required=column.required or old.required
            )
        return replace(self, columns=tuple(known[column.field] for column in self.columns))

    def paths(self, field: str) -> tuple[str | Callable[[Mapping[str, Any]], Any], ...]:
        """Return where a field is looked for."""
        return next((column.paths for column in self.columns if column.field == field), ())

    def find(self, field: str, mapping: Mapping[str, Any]) -> Any:
        """Return the first value found of a field, ``NOT_RECORDED`` if there is none."""
        for path in self.paths(field):
            found = path(mapping) if callable(path) else _at(mapping, path)
            if found is not NOT_RECORDED:
                return found
        return NOT_RECORDED

    @property
    def version(self) -> str:
        """Short digest of the columns, so that a run says with which it was read."""
        named = []
        for column in self.columns:
            names = [p if isinstance(p, str) else getattr(p, "__qualname__", "?") for p in column.paths]
            named.append(f"{column.field}={','.join(names)}")
        return hashlib.sha256("\n".join([self.name, *named]).encode()).hexdigest()[:12]


def _at(mapping: Mapping[str, Any], path: str) -> Any:
    if path in mapping:
        return mapping[path]
    head, dot, rest = path.partition(".")
    inner = mapping.get(head) if dot else None
    return _at(inner, rest) if isinstance(inner, Mapping) else NOT_RECORDED
