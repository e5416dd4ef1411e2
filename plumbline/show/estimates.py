"""Rows of estimates as they come from an analysis, checked once, and the one way a figure is written.

A value that cannot be told stays a value that cannot be told: it is never drawn or written as zero. A share that is not
quite 0 or 1 never rounds to ``0.0`` or ``100.0``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

import pandas as pd

from plumbline.base.errors import ParameterError

__all__ = ["EstimateRow", "Unit", "estimate_rows", "format_estimate", "format_share", "in_order", "whole_number"]

Unit = Literal["percent", "points"]
MINUS = "\u2212"
CLOSE = 5e-4  # half of one printed decimal of a percentage


@dataclass(frozen=True)
class EstimateRow:
    """One estimate: which group and series, value and interval as shares (1 is 100 %), counts, note."""

    group: str
    series: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    k: int | None
    note: str

    def text(self, unit: Unit = "percent") -> str:
        """Return value, interval and n in words and figures."""
        return format_estimate(self.value, self.low, self.high, n=self.n, k=self.k, unit=unit)

    def value_text(self, unit: Unit = "percent") -> str:
        """Return the value with its unit, or that it cannot be told."""
        return format_estimate(self.value, n=self.n, k=self.k, unit=unit).split("  n=")[0]

    def range_text(self, unit: Unit = "percent") -> str:
        """Return interval and n, which stand below the value in a table."""
        return "" if self.value is None else self.text(unit).removeprefix(self.value_text(unit)).strip()


def estimate_rows(frame: pd.DataFrame, *, unit: Unit = "percent") -> list[EstimateRow]:
    """Check a frame of estimates and return its rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``group`` (label of the row) and ``value`` (share from 0 to 1, for ``points`` a difference from -1 to
        1; missing for "cannot tell"); optional ``series`` (arm), ``low``, ``high``, ``n``, ``k``, ``note``.
    unit : {'percent', 'points'}
        Share or difference of two shares.

    Returns
    -------
    list of EstimateRow

    Raises
    ------
    ParameterError
        A column lacks or is not known, no row, a pair of group and series twice, a value, interval or count that is
        impossible, or a missing value that neither ``n = 0`` nor a note explains.
    """
    known = ("group", "series", "value", "low", "high", "n", "k", "note")
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"estimates come as a DataFrame, not {type(frame).__name__}")
    lacking = [name for name in ("group", "value") if name not in frame.columns]
    strange = [str(name) for name in frame.columns if name not in known]
    if lacking or strange:
        raise ParameterError(f"columns lacking: {lacking}, not known: {strange}; allowed are {list(known)}")
    if frame.empty:
        raise ParameterError("no estimate to show: the frame has no row")
    rows = [_row(record, position, unit) for position, record in enumerate(frame.to_dict("records"))]
    seen: set[tuple[str, str]] = set()
    for position, row in enumerate(rows):
        if (row.group, row.series) in seen:
            raise ParameterError(f"row {position}: group {row.group!r} with series {row.series!r} stands twice")
        seen.add((row.group, row.series))
    return rows


def _row(record: dict, position: int, unit: Unit) -> EstimateRow:
    where = f"row {position}"
    note = record.get("note")
    row = EstimateRow(
        group=_label(record["group"], where, "group"),
        series=_label(record.get("series", ""), where, "series", empty="series" not in record),
        value=_share(record["value"], where, "value", unit),
        low=_share(record.get("low"), where, "low", unit),
        high=_share(record.get("high"), where, "high", unit),
        n=whole_number(record.get("n"), where, "n"),
        k=whole_number(record.get("k"), where, "k"),
        note="" if _missing(note) else str(note),
    )
    _check_estimate(row.value, row.low, row.high, row.n, row.k, f"{where} ({row.group}, {row.series})", unit)
    if row.value is None and row.n != 0 and not row.note:
        raise ParameterError(
            f"{where} ({row.group}, {row.series}): value is missing, but n is {row.n} and no note says why. "
            "Give n = 0, or a note."
        )
    return row


def format_estimate(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    n: int | None = None,
    k: int | None = None,
    unit: Unit = "percent",
) -> str:
    """Write an estimate with its interval and its n.

    Parameters
    ----------
    value, low, high : float or None
        Shares from 0 to 1, or for ``points`` differences from -1 to 1. None as value means "cannot tell".
    n, k : int or None
        Trials and successes.
    unit : {'percent', 'points'}
        How to write it.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        NaN, out of range, an interval that is half given or does not hold the value, or k above n.

    Examples
    --------
    >>> format_estimate(52 / 64, 0.700256, 0.889354, n=64, k=52)
    '81.2 % [70.0, 88.9]  n=64'
    >>> format_estimate(None, n=0, k=0)
    'cannot tell (0 of 0)'
    """
    _check_estimate(value, low, high, n, k, "estimate", unit)
    if value is None:
        return _cannot_tell(n, k)
    parts = [f"{format_share(value, unit=unit)} {'%' if unit == 'percent' else 'points'}"]
    if low is not None and high is not None:
        parts.append(f" [{format_share(low, unit=unit)}, {format_share(high, unit=unit)}]")
    if n is not None:
        parts.append(f"  n={n:,}")
    return "".join(parts)


def format_share(value: float, *, unit: Unit = "percent") -> str:
    """Write a share in percent (or a difference in signed points) with one decimal, never rounding onto 0 or 100.

    Examples
    --------
    >>> format_share(1.0), format_share(0.9999), format_share(-0.0179, unit="points")
    ('100.0', '>99.9', '−1.8')
    """
    text = f"{abs(value) * 100:.1f}"
    if unit == "points":
        if text == "0.0" and value != 0:
            return "<0.1" if value > 0 else f">{MINUS}0.1"
        return ("" if value == 0 else "+" if value > 0 else MINUS) + text
    if text == "100.0" and value < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and value > 0 else text


def in_order(found: Iterable[str], given: Sequence[str] | None, what: str) -> list[str]:
    """Return labels in the order given, or in the order found.

    Raises
    ------
    ParameterError
        The order lacks a label that occurs, or names one that does not.
    """
    labels = list(dict.fromkeys(found))
    if given is None:
        return labels
    if sorted(given) != sorted(labels):
        raise ParameterError(f"the order of {what} is {list(given)}, but the frame holds {labels}; name each once")
    return list(given)


def _cannot_tell(n: int | None, k: int | None) -> str:
    if n is None:
        return "cannot tell"
    return f"cannot tell ({k if k is not None else 0 if n == 0 else '?'} of {n:,})"


def _check_estimate(
    value: float | None, low: float | None, high: float | None, n: int | None, k: int | None, where: str, unit: Unit
) -> None:
    if unit not in ("percent", "points"):
        raise ParameterError(f"unit is {unit!r}; allowed are 'percent' and 'points'")
    least = 0.0 if unit == "percent" else -1.0
    for name, number in (("value", value), ("low", low), ("high", high)):
        if number is not None and not (math.isfinite(number) and least <= number <= 1.0):
            raise ParameterError(f"{where}: {name} is {number}; a share lies from {least:g} to 1 (None: cannot tell)")
    if (low is None) != (high is None):
        raise ParameterError(f"{where}: half an interval, low {low} and high {high}; give both or neither")
    if value is None and low is not None:
        raise ParameterError(f"{where}: an interval [{low}, {high}] without a value")
    if value is not None and low is not None and high is not None and not low - 1e-9 <= value <= high + 1e-9:
        raise ParameterError(f"{where}: value {value} lies outside its interval [{low}, {high}]")
    for name, count in (("n", n), ("k", k)):
        if count is not None and count < 0:
            raise ParameterError(f"{where}: {name} is {count}; a count is 0 or more")
    if n is not None and k is not None and k > n:
        raise ParameterError(f"{where}: k is {k} of n {n}; more successes than trials")
    if n == 0 and value is not None:
        raise ParameterError(f"{where}: value {value} from no trial; 0 of 0 is None, cannot tell")
    if unit == "percent" and value is not None and n and k is not None and abs(k / n - value) > CLOSE:
        raise ParameterError(f"{where}: value {value} is not {k} of {n} ({k / n:.4f})")


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _label(value: object, where: str, name: str, *, empty: bool = False) -> str:
    if _missing(value) or (str(value).strip() == "" and not empty):
        raise ParameterError(f"{where}: {name} is empty; every row needs its label")
    return str(value)


def _share(value: object, where: str, name: str, unit: Unit) -> float | None:
    if _missing(value):
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{where}: {name} is {value!r}; a number is needed for {unit}")
    return float(value)


def whole_number(value: object, where: str, name: str) -> int | None:
    """Return a count, or None where it is missing; a number with a fraction or a truth value is not a count."""
    if _missing(value):
        return None
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise ParameterError(f"{where}: {name} is {value!r}; a count is a whole number")
    return int(value)  # type: ignore[call-overload]
