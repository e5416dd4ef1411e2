"""Times as the records hold them: ISO 8601 with a zone, given by the caller, never read from a clock here."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from plumbline.base.errors import ParameterError

__all__ = ["moment", "moment_of", "spelled"]


def moment(value: datetime | date, name: str = "at") -> datetime:
    """Return a moment in UTC; a day counts from its first moment.

    Raises
    ------
    ParameterError
        A time without its zone, or something else.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ParameterError(f"{name} is {value.isoformat()} without a zone; write it as 2026-08-01T12:00:00+00:00")
        return value.astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    raise ParameterError(f"{name} is {value!r}; give a date or a time with its zone")


def moment_of(text: str, name: str = "at") -> datetime:
    """Read a day or a time with its zone."""
    try:
        return moment(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text), name)
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"{name} is {text!r}; write a day as 2026-08-01 or a time with its zone") from None


def spelled(value: datetime | date) -> str:
    """Return a moment as the records hold it."""
    return moment(value).isoformat()
