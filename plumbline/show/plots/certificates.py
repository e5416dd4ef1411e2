"""What can be claimed: the rules of certification side by side, and how a bound grows with the number of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.show.drawing import dots
from plumbline.show.lines import staircase
from plumbline.show.plots.frames import describe, needed, records, share_label, texts
from plumbline.stats import proportion_bounds

__all__ = ["bound_growth", "bound_growth_data", "certificate_ladder", "certificate_ladder_data"]

RULE_WORDS = {
    ("published", "suite"): "published, release 0.3.0",
    ("published_fail_all", "suite"): "published, release 0.2.0",
    ("completed_minimum", "suite"): "true minimum, completed runs only",
    ("planned_minimum", "suite"): "true minimum, missing runs as failures",
    ("planned_minimum", "tasks"): "the same, about tasks like these",
}
"""Rules of certification in a reader's words, by rule and scope."""

_MOST = 100_000


def certificate_ladder_data(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return the rules of certification as a figure shows them: what is certified, or that nothing is.

    Parameters
    ----------
    ladder : pandas.DataFrame
        From ``plumbline.ladder``.

    Returns
    -------
    pandas.DataFrame
        In the order of the rules: ``group`` (rule in words), ``series`` (empty), ``percent`` (certified lower bound),
        ``low``, ``high`` (from the bound to 100), ``state`` (``estimate`` or ``cannot tell``), ``grade`` (published
        rules), ``covered`` (percent; the bound without the conditions that cannot be claimed), ``attained_by``,
        ``note`` (the reason).

    Raises
    ------
    ParameterError
        Another frame.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/retry")
    >>> rules = plumb.ladder(run, arm="react", policy=plumb.load_domain(run.domain).policy)
    >>> certificate_ladder_data(rules)["state"].tolist()
    ['estimate', 'estimate', 'estimate', 'cannot tell', 'cannot tell']
    """
    rows = needed(ladder, ("rule", "scope", "bound", "grade", "covered_bound", "attained_by", "reason"), "ladder")
    bound = rows["bound"].astype("float64") * 100
    data = pd.DataFrame(
        {
            "group": [
                RULE_WORDS.get((rule, scope), f"{rule}, {scope}")
                for rule, scope in zip(rows["rule"], rows["scope"], strict=True)
            ],
            "series": "",
            "percent": bound,
            "low": bound,
            "high": bound.where(bound.isna(), 100.0),
            "state": ["cannot tell" if math.isnan(value) else "estimate" for value in bound],
            "grade": rows["grade"],
            "covered": rows["covered_bound"].astype("float64") * 100,
            "attained_by": rows["attained_by"],
            "note": rows["reason"],
        }
    )
    return data.reset_index(drop=True)


def certificate_ladder(
    data: pd.DataFrame, *, axis_title: str = "certified lower bound, %", description: str | None = None
) -> Any:
    """Draw what each rule of certification claims of the same runs: a bound and all above it, or nothing.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`certificate_ladder_data`.
    axis_title : str
        What is certified, with unit and confidence.
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
    wanted = ("group", "series", "percent", "low", "high", "state", "grade", "covered", "attained_by")
    data = needed(data, wanted, "certificate_ladder_data")
    rows = records(data)
    data["label"] = [
        f"at least {share_label(row['percent'])}" if row["state"] == "estimate" else _not_available(row) for row in rows
    ]
    data["n_label"] = [
        texts([f"grade {row['grade']}" if row["grade"] else "", f"at {row['attained_by']}"])
        if row["state"] == "estimate"
        else ""
        for row in rows
    ]
    lowest = data["low"].min()
    start = 0.0 if math.isnan(lowest) else max(0.0, min(90.0, math.floor((lowest - 2) / 10) * 10.0))
    words = description or describe("Bounds by rule", axis_title, data)
    drawn = dots(data, column="percent", axis_title=axis_title, domain=(start, 100.0), width=260)
    return drawn.properties(description=words)


def bound_growth_data(
    most: int,
    *,
    failures: Sequence[int] = (0, 1, 2),
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    sidedness: str = "lower",
) -> pd.DataFrame:
    """Return the lower bound that each number of runs can give, for a few numbers of failures.

    Parameters
    ----------
    most : int
        Most runs of one condition, from 2 to 100,000.
    failures : sequence of int
        Numbers of failures, each once, below ``most``; at most six.
    method, confidence, sidedness
        As in :func:`plumbline.stats.proportion`; ``lower`` is the one-sided bound.

    Returns
    -------
    pandas.DataFrame
        One row a number of runs and of failures: ``failures``, ``runs`` (int), ``bound`` (float, percent).

    Raises
    ------
    ParameterError
        A value outside its range.

    Examples
    --------
    >>> data = bound_growth_data(93)
    >>> [round(float(data.query("failures == @f and bound >= 95")["runs"].min())) for f in (0, 1)]
    [59, 93]

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404.
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= _MOST:
        raise ParameterError(f"most is {most!r}; give a whole number of runs from 2 to {_MOST:,}")
    wrong = [f for f in failures if isinstance(f, bool) or not isinstance(f, int) or not 0 <= f < most]
    if not failures or wrong or len(set(failures)) != len(failures) or len(failures) > 6:
        raise ParameterError(
            f"failures is {list(failures)!r}; give one to six whole numbers from 0 to {most - 1}, each once"
        )
    if sidedness not in ("lower", "two-sided"):
        raise ParameterError(f"sidedness is {sidedness!r}; a lower bound is read from 'lower' or 'two-sided'")
    parts = []
    for lost in failures:
        runs = np.arange(max(1, lost), most + 1)
        low, _ = proportion_bounds(runs - lost, runs, method=method, confidence=confidence, sidedness=sidedness)
        parts.append(pd.DataFrame({"failures": lost, "runs": runs, "bound": 100 * low}))
    return pd.concat(parts, ignore_index=True)


def bound_growth(
    data: pd.DataFrame,
    *,
    thresholds: Sequence[float] = (0.9, 0.95),
    axis_title: str = "certified lower bound, %",
    description: str | None = None,
) -> Any:
    """Draw how a bound grows with the number of runs, one line per number of failures, against thresholds.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`bound_growth_data`.
    thresholds : sequence of float
        Shares in (0, 1) to mark; where a line reaches one, the number of runs is written.
    axis_title : str
        What is certified, with unit and confidence.
    description : str, optional
        What the figure says in words; by default how many runs each threshold needs.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    ParameterError
        Another frame, a threshold outside (0, 1), or no axis title.
    """
    data = needed(data, ("failures", "runs", "bound"), "bound_growth_data")
    if not axis_title.strip():
        raise ParameterError("axis_title is empty; say what is certified, its unit and the confidence")
    if wrong := [value for value in thresholds if not 0 < value < 1]:
        raise ParameterError(f"thresholds hold {wrong[0]!r}; write each as a share between 0 and 1, such as 0.95")
    most = int(data["runs"].max())
    reached = [
        {"threshold": 100 * share, "failures": lost, "runs": int(enough["runs"].iloc[0])}
        for share in thresholds
        for lost, part in data.groupby("failures", sort=False)
        if len(enough := part[part["bound"] >= 100 * share])
    ]
    words = description or _growth_words(data, reached, thresholds, most, axis_title)
    marks = pd.DataFrame(reached, columns=["threshold", "failures", "runs"])
    levels = [100 * share for share in thresholds]
    return staircase(data, marks, levels, axis_title=axis_title).properties(description=words)


def _not_available(row: dict[str, Any]) -> str:
    said = "no claim can be made"
    return said if math.isnan(row["covered"]) else f"{said}; {share_label(row['covered'])} without what was not met"


def _growth_words(
    data: pd.DataFrame, reached: list[dict[str, Any]], thresholds: Sequence[float], most: int, axis_title: str
) -> str:
    parts = [f"Lines of {axis_title.strip()} against runs of one condition, up to {most:,}."]
    for lost, part in data.groupby("failures", sort=False):
        ends = [f"{row['threshold']:g} % from {row['runs']:,} runs" for row in reached if row["failures"] == lost]
        lacking = [f"{100 * share:g} % not reached" for share in thresholds if 100 * share > part["bound"].max()]
        parts.append(f"{lost} failures: {', '.join([*ends, *lacking, f'at the end {part.bound.iloc[-1]:.1f} %'])}.")
    return " ".join(parts)
