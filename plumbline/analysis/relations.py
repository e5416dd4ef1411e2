"""How often behaviour did not move as a relation says, with families as the unit and the arm's own noise beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules.metamorphic import PAIR_COLUMNS, check_pairs
from plumbline.stats import carried_rate, clopper_pearson

__all__ = ["UNITS", "relation_rates"]

UNITS = ("ever", "share")
"""``ever``: a family counts as violating if any of its judged pairs does; ``share``: by the share that does."""
_FEWEST = 5
_SEVERE = ("critical", "high")


def relation_rates(
    pairs: pd.DataFrame, *, by: Sequence[str] = ("relation_id", "arm"), unit: str = "ever", confidence: float = 0.95
) -> pd.DataFrame:
    """Count violations by relation, arm or any slice.

    Parameters
    ----------
    pairs : DataFrame
        One row a pair and repetition, from ``judge_pairs``.
    by : sequence of str
        Columns of it that make a group, such as ``purpose`` or ``locale``.
    unit : {'ever', 'share'}
        What is counted of a family; declare it before the run.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row a group in order of appearance: the keys; ``planned``, ``invalid``, ``abstained``, ``infrastructure``,
        ``judged`` and ``violated`` (pairs; the first is the sum of the next four); ``confirmed`` (violations of high
        or critical severity that a deterministic layer or a person confirmed); ``families`` and ``violating`` (with a
        judged pair, and with a violated one); ``value, low, high, method``; ``noise_families`` and ``noise_violating``
        (base against base: what plain re-runs do to the same oracle); ``note``. With fewer than five families there is
        no rate, and the counts stand alone.

    Raises
    ------
    ParameterError
        A key is no column of the pairs, the unit is not known, or there is no row.
    """
    check_pairs(pairs)
    if odd := [key for key in by if key not in PAIR_COLUMNS]:
        raise ParameterError(f"pairs cannot be grouped by {odd[0]!r}; their columns are {', '.join(PAIR_COLUMNS)}")
    if not by or unit not in UNITS:
        raise ParameterError(f"give at least one key, and a unit of {', '.join(UNITS)}; found {list(by)}, {unit!r}")
    if pairs.empty:
        raise ParameterError("there is no pair to count; nothing planned is no pass")
    told = pairs[pairs["comparison"] == "relation"]
    noise = dict(iter(pairs[pairs["comparison"] == "noise"].groupby(list(by), sort=False)))
    rows = []
    for key, part in told.groupby(list(by), sort=False):
        own: dict[str, Any] = dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True))
        again = noise.get(key)
        counts = part["result"].value_counts()
        judged = part[part["result"].isin(["satisfied", "violated"])]
        severe = judged[(judged["result"] == "violated") & judged["confirmed"] & judged["severity"].isin(_SEVERE)]
        rows.append({
            **own, "planned": len(part),
            **{name: int(counts.get(name, 0)) for name in ("invalid", "abstained", "infrastructure")},
            "judged": len(judged), "violated": int(counts.get("violated", 0)), "confirmed": len(severe),
            **_rate(judged, unit, confidence),
            **dict(zip(("noise_families", "noise_violating"), _families(again), strict=True)),
        })  # fmt: skip
    table = pd.DataFrame(rows)
    table["note"] = [_note(row) for row in rows]
    return table.astype({"value": "Float64", "low": "Float64", "high": "Float64"})


def _families(rows: pd.DataFrame | None) -> tuple[int, int]:
    if rows is None:
        return 0, 0
    judged = rows[rows["result"].isin(["satisfied", "violated"])]
    violated = (judged["result"] == "violated").groupby(judged["family_id"]).any()
    return len(violated), int(violated.sum())


def _rate(judged: pd.DataFrame, unit: str, confidence: float) -> dict[str, Any]:
    families, violating = _families(judged)
    known: dict[str, Any] = {"families": families, "violating": violating, "value": pd.NA, "low": pd.NA, "high": pd.NA}
    if families < _FEWEST:
        return known | {"method": "none"}
    if unit == "ever":
        made = clopper_pearson(violating, families, confidence=confidence, sidedness="two-sided")
    else:
        groups = (judged["result"] == "violated").groupby(judged["family_id"])
        made = carried_rate(groups.sum().to_numpy(), groups.size().to_numpy(), confidence=confidence)
    return known | {"value": made.value, "low": made.low, "high": made.high, "method": f"{made.method}, {unit}"}


def _note(row: dict[str, Any]) -> str:
    if not row["judged"]:
        return "cannot tell: no pair was judged"
    told = []
    if row["families"] < _FEWEST:
        told.append(f"{row['families']} families are too few for a rate")
    if row["confirmed"]:
        told.append(f"{row['confirmed']} confirmed severe violations stand whatever the rate")
    if row["noise_violating"]:
        told.append(f"plain re-runs differ in {row['noise_violating']} of {row['noise_families']} families")
    return "; ".join(told)
