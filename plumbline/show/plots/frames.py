"""What the figures share: estimates as rows of a frame in percent, the texts beside a mark, the words of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.estimates import EstimateRow, Unit, estimate_rows, format_share, in_order

__all__ = ["describe", "estimate_frame", "labelled", "needed", "ordered", "records", "share_label", "texts", "told"]


def ordered(
    frame: pd.DataFrame, group_order: Sequence[str] | None, series_order: Sequence[str] | None, unit: Unit
) -> list[EstimateRow]:
    """Check a frame of estimates and return its rows in the order asked for."""
    rows = estimate_rows(frame, unit=unit)
    groups = in_order((row.group for row in rows), group_order, "groups")
    series = in_order((row.series for row in rows), series_order, "series")
    return sorted(rows, key=lambda row: (groups.index(row.group), series.index(row.series)))


def estimate_frame(rows: Sequence[EstimateRow], column: str) -> pd.DataFrame:
    """Return rows of estimates as a frame, in percent or points."""
    table = pd.DataFrame({"group": [row.group for row in rows], "series": [row.series for row in rows]})
    for name, numbers in (
        (column, [row.value for row in rows]),
        ("low", [row.low for row in rows]),
        ("high", [row.high for row in rows]),
    ):
        table[name] = pd.Series([None if x is None else x * 100 for x in numbers], dtype="float64")
    for name, counts in (("k", [row.k for row in rows]), ("n", [row.n for row in rows])):
        table[name] = pd.Series(counts, dtype="Int64")
    table["state"] = ["cannot tell" if row.value is None else "estimate" for row in rows]
    table["note"] = [row.note for row in rows]
    return table


def labelled(rows: Sequence[EstimateRow], column: str, unit: Unit) -> pd.DataFrame:
    """Return the data with the texts that stand beside each mark."""
    n_label = ["" if row.n is None or row.value is None else f"n={row.n:,}" for row in rows]
    return estimate_frame(rows, column).assign(label=[row.value_text(unit) for row in rows], n_label=n_label)


def describe(kind: str, axis_title: str, data: pd.DataFrame) -> str:
    """Say every number of a figure in words, group by group; ``data`` holds the labels that are drawn."""
    parts = [f"{kind} of {axis_title.strip()}."]
    for group in dict.fromkeys(data["group"]):
        rows = data[data["group"] == group]
        said = [
            ", ".join(filter(None, [f"{row.series} {row.label}".strip(), row.n_label])) for row in rows.itertuples()
        ]
        parts.append(f"{group}: {'; '.join(said)}.")
    return " ".join(parts)


def needed(data: pd.DataFrame, columns: Iterable[str], maker: str) -> pd.DataFrame:
    """Return a copy of what a ``*_data`` function made, or say that this is something else.

    Raises
    ------
    ParameterError
        Not a frame, no row, or a column lacks.
    """
    if not isinstance(data, pd.DataFrame):
        raise ParameterError(f"this figure draws the frame of {maker}, not a {type(data).__name__}")
    lacking = [name for name in columns if name not in data.columns]
    if lacking or data.empty:
        what = f"columns lack: {lacking}" if lacking else "it has no row"
        raise ParameterError(f"this figure draws the frame of {maker}; {what}")
    return data.copy()


def share_label(percent: float, unit: Unit = "percent") -> str:
    """Return a percentage or a difference in points as it is written beside its mark."""
    return f"{format_share(float(percent) / 100, unit=unit)} {'%' if unit == 'percent' else 'points'}"


def told(row: Mapping[str, Any], column: str = "percent") -> str:
    """Return what stands beside a mark: the value with its unit, or that it cannot be told, of how many."""
    if row["state"] != "estimate":
        return f"cannot tell ({row['k']} of {row['n']})"
    return share_label(row[column], "points" if column == "points" else "percent")


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in data.to_dict("records")]


def texts(labels: Iterable[str]) -> str:
    """Join the parts of a label that are there."""
    return ", ".join(filter(None, labels))
