"""The arguments of whole steps frames against others, or against one expected record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare.argument_rules import ArgumentRules
from plumbline.compare.quick import QuickVerdict, canonical_arguments
from plumbline.compare.texts import TEXT, Texts, arrow_text, distinct, need_columns, no_text
from plumbline.compare.values import CallComparison, compare_call
from plumbline.compare.verdicts import VERDICTS, FieldComparison, as_html, show_ratio, show_value

__all__ = ["ArgumentComparison", "compare_arguments", "judge_calls"]

_EQUAL, _UNREADABLE, _NOT_RECORDED = (VERDICTS.index(word) for word in ("equal", "unreadable", "not_recorded"))
_COLUMNS = (
    *("field", "verdict", "severity", "counted", "value_candidate", "value_reference"),
    *("distance", "ratio", "times", "reason"),
)


@dataclass(frozen=True, eq=False)
class ArgumentComparison:
    """Calls of a candidate against calls of a reference, row by row.

    Parameters
    ----------
    verdicts : Series of categories
        One per pair of rows, on the candidate's index: ``equal``, ``different``, ``unreadable`` or ``not_recorded``.
    differences : DataFrame
        One row per field that is not the same: ``row`` (position of the pair), ``tool``, ``field``, ``verdict``,
        ``severity``, ``counted``, ``value_candidate``, ``value_reference`` (canonical JSON text), ``distance``,
        ``ratio``, ``times`` (the ratio as read), ``reason``.
    rules : ArgumentRules
        The rules that were applied.
    """

    verdicts: pd.Series
    differences: pd.DataFrame
    rules: ArgumentRules

    @property
    def counts(self) -> dict[str, int]:
        """Pairs by verdict, each verdict named even where it is zero."""
        words = ("equal", "different", "unreadable", "not_recorded")
        return {word: int((self.verdicts == word).sum()) for word in words}

    def to_frame(self) -> pd.DataFrame:
        """Return the differences."""
        return self.differences

    def __str__(self) -> str:
        found = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        return f"{len(self.verdicts)} pairs of calls under {self.rules.name} rules: {found}"

    def _repr_html_(self) -> str:
        return as_html(self)


def compare_arguments(
    candidate: pd.DataFrame, reference: pd.DataFrame, rules: ArgumentRules | None = None
) -> ArgumentComparison:
    """Compare the arguments of two steps frames row by row.

    Rows are paired by position, so the two frames must hold the same calls in the same order; align trajectories
    first where they may not. Each distinct pair of texts is judged once.

    Parameters
    ----------
    candidate, reference : DataFrame
        Steps of equal length with ``name`` and ``arguments``; ``unread`` tells unreadable from not recorded.
    rules : ArgumentRules, optional
        Exact comparison of every field by default.

    Returns
    -------
    ArgumentComparison

    Raises
    ------
    ParameterError
        The frames differ in length, or a row pairs calls of two tools.
    ArgumentsError
        Arguments are not a JSON object.

    Examples
    --------
    >>> new = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":48200.00}']})
    >>> old = pd.DataFrame({"name": ["pay"], "arguments": ['{"amount":4820.00}']})
    >>> compare_arguments(new, old).differences["times"].tolist()
    ['x10']
    """
    rules = rules or ArgumentRules()
    need_columns(candidate, ["name", "arguments"], "candidate")
    need_columns(reference, ["name", "arguments"], "reference")
    if len(candidate) != len(reference):
        raise ParameterError(
            f"the candidate has {len(candidate)} rows and the reference {len(reference)}; rows are paired by position."
        )
    names, expected_names = distinct(candidate["name"], reference["name"], name="name")
    _same_tools(names, expected_names)
    new, old = distinct(candidate["arguments"], reference["arguments"], name="arguments")
    codes = np.full(len(candidate), _EQUAL, np.int8)
    absent = (new.codes < 0) | (old.codes < 0)
    judged = np.flatnonzero(~absent & (new.codes != old.codes))
    found, back = _judge_pairs(names, new, old, judged, rules)
    codes[judged] = np.array([VERDICTS.index(each.verdict) for each in found], np.int8)[back]
    unread = [candidate.get("unread"), reference.get("unread")]
    lost = [(text.codes < 0) & ~no_text(why, len(candidate)) for text, why in zip((new, old), unread, strict=True)]
    codes[absent] = np.where((lost[0] | lost[1])[absent], _UNREADABLE, _NOT_RECORDED)
    gone = np.flatnonzero(absent)
    whole = [_absent_call(int(row), new, old, unread, VERDICTS[codes[row]]) for row in gone]
    rows = np.concatenate([judged, gone])
    order = np.argsort(rows, kind="stable")
    which = np.concatenate([back, np.arange(len(whole)) + len(found)])[order]
    differences = _difference_rows(rows[order], which, [*found, *whole], names)
    verdicts = pd.Series(pd.Categorical.from_codes(codes, pd.Index(VERDICTS)), index=candidate.index, name="arguments")
    return ArgumentComparison(verdicts, differences, rules)


def judge_calls(
    steps: pd.DataFrame,
    tool: str,
    expected: Mapping[str, Any] | str,
    *,
    rules: ArgumentRules | None = None,
    extra: str = "different",
) -> pd.Series:
    """Compare every call of one tool with one expected record.

    Parameters
    ----------
    steps : DataFrame
        Steps with ``name`` and ``arguments``.
    tool : str
        Only this tool's rows are read.
    expected : mapping or JSON text
        The arguments each call should have.
    rules : ArgumentRules, optional
        Exact comparison of every field by default.
    extra : {'different', 'ignored'}
        What a key that only the call has counts as.

    Returns
    -------
    Series of categories
        A verdict per call of the tool, on those rows of the index; empty if the tool was never called.

    Examples
    --------
    >>> steps = pd.DataFrame({"name": ["pay", "log"], "arguments": ['{"amount":1}', "{}"]})
    >>> judge_calls(steps, "pay", {"amount": 2}).tolist()
    ['different']
    """
    import pyarrow.compute as pc

    need_columns(steps, ["name", "arguments"])
    if not isinstance(tool, str):
        raise ParameterError(f"tool is {tool!r}; give the name of one tool.")
    hits = pc.fill_null(pc.equal(arrow_text(steps["name"], "name"), tool), False)
    rows = np.flatnonzero(hits.to_numpy(zero_copy_only=False))
    chosen = steps.iloc[rows]
    (texts,) = distinct(chosen["arguments"], name="arguments")
    wanted = canonical_arguments(expected)
    shortcut = QuickVerdict(wanted, rules or ArgumentRules(), tool, extra)
    found = [
        shortcut.of(each) or compare_call(each, wanted, tool=tool, rules=rules, extra=extra).verdict
        for each in texts.objects
    ]
    table = np.array([VERDICTS.index(word) for word in found] + [_NOT_RECORDED], np.int8)
    codes = table[texts.codes]
    codes[(texts.codes < 0) & ~no_text(chosen.get("unread"), len(chosen))] = _UNREADABLE
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(VERDICTS)), index=chosen.index, name=tool)


def _same_tools(names: Texts, expected: Texts) -> None:
    wrong = np.flatnonzero(names.codes != expected.codes)
    if wrong.size:
        row = int(wrong[0])
        one, other = (texts.values[texts.codes[row]] if texts.codes[row] >= 0 else None for texts in (names, expected))
        raise ParameterError(
            f"row {row} pairs a call of {one!r} with a call of {other!r} ({wrong.size} such rows); "
            "arguments are compared between calls of one tool: align the trajectories first."
        )


def _judge_pairs(
    names: Texts, new: Texts, old: Texts, rows: np.ndarray, rules: ArgumentRules
) -> tuple[list[CallComparison], np.ndarray]:
    """Judge each distinct pair of texts of the given rows once; the comparisons, and which one each row has."""
    size = max(len(new.values), 1)
    keys = ((names.codes[rows].astype(np.int64) + 1) * size + new.codes[rows]) * size + old.codes[rows]
    each, back = np.unique(keys, return_inverse=True)
    found = []
    new.read(np.unique(new.codes[rows]).tolist())
    old.read(np.unique(old.codes[rows]).tolist())
    for key in each.tolist():
        rest, right = divmod(key, size)
        name, left = divmod(rest, size)
        tool = names.values[name - 1] if name else None
        found.append(compare_call(new.object(left), old.object(right), tool=tool, rules=rules))
    return found, back


def _absent_call(row: int, new: Texts, old: Texts, unread: Sequence[pd.Series | None], verdict: str) -> CallComparison:
    """The comparison of a pair of which at least one side has no arguments."""
    values: list[Any] = []
    reasons = []
    for side, texts, why in zip(("candidate", "reference"), (new, old), unread, strict=True):
        here = texts.codes[row] >= 0
        values.append(texts.object(int(texts.codes[row])) if here else None)
        lost = None if here or why is None or pd.isna(why.iloc[row]) else str(why.iloc[row])
        if not here:
            reasons.append(f"{side} not recorded" if lost is None else f"{side} unreadable: {lost[:80]}")
    word: Any = verdict
    whole = FieldComparison("", word, "high", values[0], values[1], reason="; ".join(reasons), counted=True)
    return CallComparison(None, word, (whole,))


def _difference_rows(rows: np.ndarray, which: np.ndarray, found: list[CallComparison], names: Texts) -> pd.DataFrame:
    """One row per field that is not the same, in the order of the pairs."""
    listed = [[field for field in each.fields if not field.agrees] for each in found]
    table = [_cells(field) for fields in listed for field in fields]
    counts = np.array([len(fields) for fields in listed], np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    repeat = counts[which] if which.size else np.empty(0, np.int64)
    ends = np.cumsum(repeat)
    inside = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - repeat, repeat)
    take = np.repeat(starts[:-1][which], repeat) + inside if which.size else np.empty(0, np.int64)
    at = np.repeat(rows, repeat)
    tools = np.array([*names.values, None], object)
    columns: dict[str, Any] = {"row": at, "tool": tools[names.codes[at]]}
    for position, column in enumerate(_COLUMNS):
        cells = np.empty(len(table), object)
        cells[:] = [row[position] for row in table]
        columns[column] = cells[take]
    kinds = {"counted": "bool", "distance": "Float64", "ratio": "Float64"}
    texts = {name: TEXT for name in ("tool", *_COLUMNS) if name not in kinds}
    return pd.DataFrame(columns).astype({**kinds, **texts})


def _cells(field: FieldComparison) -> tuple[Any, ...]:
    return (
        field.field,
        field.verdict,
        field.severity,
        field.counted,
        *(_shown(value, whole=not field.field) for value in (field.candidate, field.reference)),
        pd.NA if field.distance is None else field.distance,
        pd.NA if field.ratio is None else field.ratio,
        show_ratio(field.ratio),
        field.reason,
    )


def _shown(value: Any, *, whole: bool) -> Any:
    """A value as text; NA for a whole call without arguments, which is not the value null."""
    return pd.NA if whole and value is None else show_value(value, limit=2**62)
