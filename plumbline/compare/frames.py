"""Typed access to the arguments of a whole steps frame: one field, all fields, and what became of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare.fields import at_path, join_key, parse_path
from plumbline.compare.quantities import as_exact, is_number, json_type, read_date, read_instant
from plumbline.compare.texts import Texts, distinct, need_columns, no_text
from plumbline.compare.verdicts import MISSING, show_value

__all__ = ["DTYPES", "ArgumentType", "expand", "get", "state"]

ArgumentType = Literal["Int64", "Float64", "decimal", "boolean", "string", "date", "instant", "json"]
STATES = ("value", "null", "missing", "unreadable", "not_recorded")


def get(steps: pd.DataFrame, path: str, *, dtype: ArgumentType | None = None) -> pd.Series:
    """Return one argument of every step.

    Parameters
    ----------
    steps : DataFrame
        Steps with the column ``arguments`` (canonical JSON text or null).
    path : str
        Field path; ``items[].sku`` gives a list per step.
    dtype : str, optional
        ``Int64``, ``Float64``, ``decimal`` (exact, Python Decimals), ``boolean``, ``string``, ``date``, ``instant``
        (UTC) or ``json`` (canonical text). Without it, Python values: numbers with a point as Decimal, null as None,
        an absent key as NA. With it, null and absent are both missing values; ``state`` tells them apart.

    Returns
    -------
    Series
        On the index of ``steps``, named ``path``.

    Raises
    ------
    ParameterError
        A value does not fit the dtype (a boolean is no number, a text is none either), or the path cannot be read.

    Examples
    --------
    >>> frame = pd.DataFrame({"arguments": ['{"amount":4500.00}', '{"amount":null}', "{}"]})
    >>> get(frame, "amount").tolist()
    [Decimal('4500.00'), None, <NA>]
    """
    need_columns(steps, ["arguments"])
    if dtype is not None and dtype not in DTYPES:
        raise ParameterError(f"dtype is {dtype!r}; allowed are {', '.join(DTYPES)}, or None for Python values.")
    (texts,) = distinct(steps["arguments"], name="arguments")
    parts = parse_path(path)
    found = [at_path(arguments, parts) for arguments in texts.objects]
    if dtype is None:
        return _spread(found, texts, steps.index, path)
    convert, kind = DTYPES[dtype]
    values: list[Any] = []
    for code, value in enumerate(found):
        try:
            values.append(pd.NA if value is None or value is MISSING else convert(value))
        except (TypeError, ValueError, OverflowError) as error:
            row = int(np.flatnonzero(texts.codes == code)[0])
            raise ParameterError(
                f"{_where(steps, row)}: {path} is {show_value(value)}, which is no {dtype} ({error}); "
                "choose another dtype, or none for the values as recorded."
            ) from None
    series = _spread(values, texts, steps.index, path)
    return series if kind == "object" else series.astype(kind)  # type: ignore[call-overload]


def state(steps: pd.DataFrame, path: str) -> pd.Series:
    """Return what became of one argument in every step.

    Parameters
    ----------
    steps : DataFrame
        Steps with the column ``arguments`` and, if there is one, ``unread``.
    path : str
        Field path without ``[]``.

    Returns
    -------
    Series of categories
        ``value``, ``null``, ``missing`` (the key is absent), ``unreadable`` (something is there and could not be read)
        or ``not_recorded``.

    Examples
    --------
    >>> frame = pd.DataFrame({"arguments": ['{"a":null}', "{}", None], "unread": [None, None, "{'a'"]})
    >>> state(frame, "a").tolist()
    ['null', 'missing', 'unreadable']
    """
    need_columns(steps, ["arguments"])
    parts = parse_path(path)
    (texts,) = distinct(steps["arguments"], name="arguments")
    found = [at_path(arguments, parts) for arguments in texts.objects]
    kinds = np.array([2 if value is MISSING else 1 if value is None else 0 for value in found] + [4], np.int8)
    codes = kinds[texts.codes]
    absent = texts.codes < 0
    unread = ~no_text(steps.get("unread"), len(steps))
    codes[absent & unread] = 3
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(STATES)), index=steps.index, name=path)


def expand(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the arguments of every step as columns, one per field.

    Parameters
    ----------
    steps : DataFrame
        Steps with the column ``arguments``.

    Returns
    -------
    DataFrame
        On the index of ``steps``; objects are opened (``address.city``), lists stay Python lists, columns in the order
        of their names. Values are Python values: null is None, an absent key is NA. A step without readable arguments
        has NA in every column; ``state`` says why.

    Examples
    --------
    >>> frame = pd.DataFrame({"arguments": ['{"b":{"c":1}}', '{"a":null}']})
    >>> expand(frame).columns.tolist()
    ['a', 'b.c']
    """
    need_columns(steps, ["arguments"])
    (texts,) = distinct(steps["arguments"], name="arguments")
    rows: list[dict[str, Any]] = []
    for arguments in texts.objects:
        flat: dict[str, Any] = {}
        _flatten(arguments, "", flat)
        rows.append(flat)
    names = sorted({name for row in rows for name in row})
    columns = {name: _spread([row.get(name, MISSING) for row in rows], texts, steps.index, name) for name in names}
    return pd.DataFrame(columns, index=steps.index)


def _flatten(value: Any, path: str, flat: dict[str, Any]) -> None:
    for key, inner in value.items():
        where = join_key(path, key)
        if isinstance(inner, Mapping) and inner:
            _flatten(inner, where, flat)
        else:
            flat[where] = inner


def _spread(values: list[Any], texts: Texts, index: pd.Index, name: str) -> pd.Series:
    """Give each row the value of its text; NA where there is no text or no value."""
    table = np.empty(len(values) + 1, object)
    table[-1] = pd.NA
    for code, value in enumerate(values):
        table[code] = pd.NA if value is MISSING else value
    return pd.Series(table[texts.codes], index=index, name=name, dtype=object)


def _where(steps: pd.DataFrame, row: int) -> str:
    known = [f"{name} {steps[name].iloc[row]}" for name in ("trial_id", "step") if name in steps]
    return ", ".join([f"row {row}", *known])


def _integer(value: Any) -> int:
    if not is_number(value) or not isinstance(value, int):
        raise TypeError(f"found {json_type(value)}")
    if not -(2**63) <= value < 2**63:
        raise OverflowError("it does not fit 64 bits")
    return value


def _float(value: Any) -> float:
    if not is_number(value):
        raise TypeError(f"found {json_type(value)}")
    return float(value)


def _decimal(value: Any) -> Decimal:
    if not is_number(value):
        raise TypeError(f"found {json_type(value)}")
    return Decimal(as_exact(value))


def _typed(kind: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"found {json_type(value)}")
        return value

    return convert


def _date(value: Any) -> date:
    found = read_date(value)
    if found is None:
        raise ValueError("not a date in ISO 8601")
    return found


def _instant(value: Any) -> pd.Timestamp:
    found = read_instant(value)
    if found is None or not found.zoned:
        raise ValueError("not a time in ISO 8601 with an offset")
    return pd.Timestamp(found.when)


DTYPES: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "Int64": (_integer, "Int64"),
    "Float64": (_float, "Float64"),
    "decimal": (_decimal, "object"),
    "boolean": (_typed(bool), "boolean"),
    "string": (_typed(str), "string"),
    "date": (_date, "object"),
    "instant": (_instant, "datetime64[us, UTC]"),
    "json": (lambda value: show_value(value, limit=2**62), "string"),
}
"""Name to how a value is read and the pandas dtype it is stored in."""
