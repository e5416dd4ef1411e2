"""Typed columns against one expected record, without reading any text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.field_rules import FieldRule
from plumbline.compare.quantities import is_number

__all__ = ["equal_columns"]

_KINDS = ("exact", "identifier", "number", "enumeration", "ignore")


def equal_columns(
    columns: pd.DataFrame | Mapping[str, pd.Series],
    expected: Mapping[str, Any],
    *,
    rules: ArgumentRules | None = None,
    tool: str | None = None,
) -> np.ndarray:
    """Return where every typed column equals its field of one expected record.

    For columns made once (``get`` with a dtype) and asked often: it is as fast as comparing the columns. A binary
    float column compares as binary floats, so it takes no ``money`` rule; ask ``judge_calls`` for exact amounts.

    Parameters
    ----------
    columns : DataFrame or mapping of field to Series
        Integer, float, boolean, text or categorical columns of equal length. NA equals nothing.
    expected : mapping of field to value
        A value for each column, and no other.
    rules : ArgumentRules, optional
        ``exact``, ``identifier``, ``number``, ``enumeration`` and ``ignore`` without normalisers; exact by default.
    tool : str, optional
        Which rules hold.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    ParameterError
        Fields differ, a rule or a dtype is not supported, or an expected value does not fit its column's type.

    Examples
    --------
    >>> columns = pd.DataFrame({"amount": [10.0, 12.5], "currency": ["EUR", "EUR"]})
    >>> equal_columns(columns, {"amount": Decimal("10.00"), "currency": "EUR"}).tolist()
    [True, False]
    """
    fields = list(columns.keys())
    if set(fields) != set(expected):
        raise ParameterError(
            f"the columns are {sorted(map(str, fields))} and the record has {sorted(expected)}; name the same fields."
        )
    if not fields:
        raise ParameterError("no column was given; an empty record is no comparison.")
    rules = rules or ArgumentRules()
    tree = rules.tree(tool)
    answer: np.ndarray | None = None
    for name in fields:
        node = tree.fields.get(name)
        rule = (node.rule if node else None) or rules.default
        hit = _column(columns[name], expected[name], rule, name)
        if answer is not None and len(hit) != len(answer):
            raise ParameterError(f"column {name!r} has {len(hit)} rows, the others {len(answer)}.")
        answer = hit if answer is None else answer & hit
    assert answer is not None
    return answer


def _column(column: pd.Series, value: Any, rule: FieldRule, name: str) -> np.ndarray:
    if rule.kind not in _KINDS or rule.normalise:
        raise ParameterError(
            f"column {name!r} has the rule {rule.kind!r}; on typed columns only {', '.join(_KINDS)} without "
            "normalisers can be applied. Use judge_calls for the arguments as recorded."
        )
    dtype = column.dtype
    if rule.kind == "ignore":
        return np.ones(len(column), bool)
    if isinstance(dtype, pd.CategoricalDtype):
        where = column.cat.categories.get_indexer(pd.Index([value]))[0] if isinstance(value, str) else -1
        return column.cat.codes.to_numpy() == (where if where >= 0 else -2)
    if pd.api.types.is_bool_dtype(dtype):
        _fits(isinstance(value, bool), value, name, dtype)
        return _plain(column == value)
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(column, value, rule, name)
    if isinstance(dtype, pd.StringDtype) or (pd.api.types.is_object_dtype(dtype) and isinstance(value, str)):
        _fits(isinstance(value, str), value, name, dtype)
        return _plain(column == value)
    raise ParameterError(
        f"column {name!r} has dtype {dtype}; give an integer, float, boolean, text or categorical column."
    )


def _numbers(column: pd.Series, value: Any, rule: FieldRule, name: str) -> np.ndarray:
    _fits(is_number(value), value, name, column.dtype)
    whole = pd.api.types.is_integer_dtype(column.dtype)
    if rule.kind != "number":  # JSON types count: an integer column holds integers, a float column numbers with a point
        _fits(isinstance(value, int) == whole, value, name, column.dtype)
    if rule.absolute == 0 and rule.relative == 0:
        if whole and not isinstance(value, int):
            if not math.isfinite(value) or value != int(value):
                return np.zeros(len(column), bool)
            value = int(value)
        return _plain(column == (value if whole else float(value)))
    apart = (column - float(value)).abs()
    larger = column.abs().clip(lower=abs(float(value)))
    return _plain((apart <= float(rule.absolute)) | (apart <= float(rule.relative) * larger))


def _plain(hits: pd.Series) -> np.ndarray:
    return hits.to_numpy(dtype=bool, na_value=False) if hits.dtype != bool else hits.to_numpy()


def _fits(ok: bool, value: Any, name: str, dtype: Any) -> None:
    if not ok:
        shown = str(value) if isinstance(value, Decimal) else repr(value)
        raise ParameterError(f"column {name!r} holds {dtype} and {shown} was expected; these are two JSON types.")
