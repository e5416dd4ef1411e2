"""How often the arguments of aligned calls agree, by tool and field."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.compare import Alignment, FieldRule, expand
from plumbline.show.drawing import dots
from plumbline.show.plots.frames import describe, needed, records, texts, told

__all__ = ["argument_agreement", "argument_agreement_data"]

_INSIDE = re.compile(r"\[\d+\].*$")
_DIFFERS = ("different", "missing", "extra")
_UNTOLD = ("unreadable", "not_recorded")
_COLUMNS = ("group", "series", "percent", "low", "high", "k", "n", "state", "cannot_compare", "differ_in")


def argument_agreement_data(found: Alignment) -> pd.DataFrame:
    """Count, for every field of every tool, aligned calls that agree on it.

    Only calls that the published script matches are compared; a call that one side did not make agrees on nothing and
    is counted elsewhere. A list counts as one field, and a field that the rules ignore as none.

    Parameters
    ----------
    found : Alignment
        From ``align``, with the argument rules of the study.

    Returns
    -------
    pandas.DataFrame
        One row a tool and field, tools by number of calls: ``group`` (``tool.field``), ``series`` (empty), ``tool``,
        ``field``, ``percent`` (agreeing of compared), ``low, high`` (missing: calls of one trial are not independent),
        ``k, n`` (Int64, calls), ``state``, ``note``, ``cannot_compare`` (calls whose arguments were not recorded or
        cannot be read), ``differ_in`` (pairs of trials with a call that differs), ``pairs`` (that hold such a call).

    Raises
    ------
    ParameterError
        No call is matched, or no matched call has an argument.

    Examples
    --------
    >>> from plumbline.compare import align
    >>> step = {"step": [0], "kind": "tool_call", "name": "pay"}
    >>> one = pd.DataFrame({"trial_id": "a", **step, "arguments": '{"x":1,"y":1}'})
    >>> two = pd.DataFrame({"trial_id": "b", **step, "arguments": '{"x":1,"y":2}'})
    >>> argument_agreement_data(align(two, one))[["field", "k", "n"]].values.tolist()
    [['x', 1, 1], ['y', 0, 1]]
    """
    calls = _matched(found)
    present = _present(calls, found)
    if present.empty:
        raise ParameterError("no matched call has an argument on either side, so nothing agrees or differs")
    judged = _judged(found)
    keys = present[["pair", "at", "field"]].itertuples(index=False, name=None)
    return _counted(present.assign(told=[_told_of(judged.get((pair, at), {}), field) for pair, at, field in keys]))


def argument_agreement(data: pd.DataFrame, *, axis_title: str, description: str | None = None) -> Any:
    """Draw the share of aligned calls that agree, one row a tool and field.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`argument_agreement_data`, or some of its rows.
    axis_title : str
        What agrees with what: "calls with the same argument, % of aligned calls".
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        Another frame, or no axis title.
    """
    data = needed(data, _COLUMNS, "argument_agreement_data")
    data["label"] = [told(row) for row in records(data)]
    data["n_label"] = [
        texts(
            [
                f"n={row['n']:,} calls" if row["state"] == "estimate" else "",
                f"differs in {row['differ_in']:,} pairs" if row["differ_in"] else "",
                f"{row['cannot_compare']:,} cannot be compared" if row["cannot_compare"] else "",
            ]
        )
        for row in records(data)
    ]
    words = description or describe("Dot plot", axis_title, data)
    drawn = dots(data, column="percent", axis_title=axis_title, domain=(0.0, 100.0), width=220)
    return drawn.properties(description=words)


def _matched(found: Alignment) -> pd.DataFrame:
    script = found.script
    calls = script[script["edit"] == "match"][["pair", "at", "reference_step", "candidate_step", "name_reference"]]
    if calls.empty:
        raise ParameterError("no call of the two sides is matched, so there are no arguments to compare")
    pairs = found.pairs.set_index("pair")
    for side in ("candidate", "reference"):
        calls = calls.assign(**{side: pairs[side].reindex(calls["pair"]).to_numpy(object)})
    return calls.rename(columns={"name_reference": "tool"}).reset_index(drop=True)


def _present(calls: pd.DataFrame, found: Alignment) -> pd.DataFrame:
    """One row a matched call and field that either side has: ``pair, at, tool, field``."""
    parts = []
    for side in ("candidate", "reference"):
        steps = getattr(found, side).reset_index(drop=True)
        at = pd.Series(steps.index, index=pd.MultiIndex.from_frame(steps[["trial_id", "step"]]))
        keys = pd.MultiIndex.from_arrays([calls[side], calls[f"{side}_step"].astype("int64")])
        taken = steps.iloc[at.reindex(keys).to_numpy(np.int64)].reset_index(drop=True)
        fields = expand(taken) if "arguments" in taken else pd.DataFrame(index=taken.index)
        for name in fields.columns:
            has = np.array([value is not pd.NA for value in fields[name]])
            parts.append(calls.loc[has, ["pair", "at", "tool"]].assign(field=_INSIDE.sub("", str(name))))
    every = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["pair", "at", "tool", "field"])
    every = every.drop_duplicates(ignore_index=True)
    ignored = {(tool, name) for tool, fields in found.rules.tools.items() for name in fields if _ignored(fields[name])}
    kept = [key not in ignored for key in every[["tool", "field"]].itertuples(index=False, name=None)]
    return every[kept].reset_index(drop=True)


def _ignored(rule: FieldRule) -> bool:
    return rule.kind == "ignore"


def _judged(found: Alignment) -> dict[tuple[int, int], dict[str, str]]:
    """What was found of the fields that are not the same, by call; the worst of what was found inside a list."""
    rows = found.script_differences
    rows = rows[rows["counted"] & rows["verdict"].isin((*_DIFFERS, *_UNTOLD))]
    judged: dict[tuple[int, int], dict[str, str]] = {}
    for pair, at, field, verdict in rows[["pair", "at", "field", "verdict"]].itertuples(index=False, name=None):
        fields, name = judged.setdefault((pair, at), {}), _INSIDE.sub("", str(field))
        if verdict in _DIFFERS or name not in fields:
            fields[name] = "differs" if verdict in _DIFFERS else "cannot"
    return judged


def _told_of(judged: dict[str, str], field: str) -> str:
    """What holds for a field: what was found of it, of an object around it, or of the call as a whole."""
    for name, told_ in judged.items():
        if name in ("", field) or field.startswith(f"{name}."):
            return told_
    return "equal"


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    sizes = rows.drop_duplicates(["pair", "at"])["tool"].value_counts(sort=False).to_dict()
    made = []
    for key, part in rows.groupby(["tool", "field"], sort=False):
        tool, name = map(str, key)
        agree, differ = int((part["told"] == "equal").sum()), part[part["told"] == "differs"]
        n = agree + len(differ)
        made.append(
            {
                "group": f"{tool}.{name}", "series": "", "tool": tool, "field": name,
                "percent": 100 * agree / n if n else None, "low": None, "high": None, "k": agree, "n": n,
                "state": "estimate" if n else "cannot tell", "note": "" if n else "no call could be compared",
                "cannot_compare": len(part) - n, "differ_in": differ["pair"].nunique(),
                "pairs": part["pair"].nunique(),
            }
        )  # fmt: skip
    made.sort(key=lambda row: (-sizes.get(str(row["tool"]), 0), str(row["tool"]), str(row["field"])))
    data = pd.DataFrame(made).astype({"percent": "float64", "low": "float64", "high": "float64"})
    return data.astype(dict.fromkeys(("k", "n", "cannot_compare", "differ_in", "pairs"), "Int64"))
