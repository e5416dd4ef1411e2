"""A trial's own copy of the tables."""

from __future__ import annotations

from functools import lru_cache

from plumbline.domains.questions.data import OPENING, SCHEMA
from plumbline.running.tables import TableWorld

__all__ = ["new_world"]


@lru_cache(maxsize=1)
def _opening() -> bytes:
    return SCHEMA.image(OPENING)


def new_world() -> TableWorld:
    """Return a fresh copy of the system of record."""
    return TableWorld(SCHEMA, _opening())
