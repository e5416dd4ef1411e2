"""How often each arm did right under each perturbation, and what missing trials leave open."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from plumbline.analysis import exposure, tally
from plumbline.show.drawing import dots
from plumbline.show.estimates import estimate_rows
from plumbline.show.plots.frames import describe, estimate_frame, needed, records, texts, told
from plumbline.stats import missing_bounds
from plumbline.traces import Recording

__all__ = ["conformance", "conformance_data", "missing_ends", "missing_ends_data"]

_SHARE = ("group", "series", "percent", "low", "high", "k", "n", "state")
_COUNTS = ("planned", "missing", "faults_planned", "faults_met")


def conformance_data(recording: Recording, ok: pd.Series, *, confidence: float = 0.95) -> pd.DataFrame:
    """Count what went right by perturbation and arm, with what is missing and how many planned faults were met.

    Parameters
    ----------
    recording : Recording
        The run; its plan decides which conditions there are, also those without a record.
    ok : Series of boolean
        Whether each trial did right, indexed by ``trial_id``: ``verdicts.conforms()`` or ``graded(...)``. Missing where
        that cannot be told.
    confidence : float
        Of the Wilson interval, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        In plan order: ``group`` (perturbation), ``series`` (arm), ``percent, low, high`` (float, percent of ``n``),
        ``k, n`` (Int64), ``state`` (``estimate`` or ``cannot tell``), ``note``, ``planned``, ``missing`` (trials that
        say nothing about the agent), ``faults_planned``, ``faults_met`` (Int64; missing where no fault was planned).

    Raises
    ------
    ParameterError
        ``ok`` does not cover the trials of the run.

    Examples
    --------
    >>> run = Recording(pd.DataFrame({"arm": ["a", "a"], "task_id": ["t", "u"]}), run_id="r")
    >>> data = conformance_data(run, pd.Series([True, False], index=run.trials["trial_id"]))
    >>> data[["percent", "n", "missing"]].to_dict("records")
    [{'percent': 50.0, 'n': 2, 'missing': 0}]
    """
    counts = tally(recording, ok, by=("perturbation", "arm"), confidence=confidence)
    places = {name: place for place, name in enumerate(recording.perturbations)}
    arms = {name: place for place, name in enumerate(recording.arms)}
    order = [(places[p], arms[a]) for p, a in zip(counts["perturbation"], counts["arm"], strict=True)]
    counts = counts.iloc[sorted(range(len(order)), key=order.__getitem__)].reset_index(drop=True)
    frame = counts.rename(columns={"perturbation": "group", "arm": "series"})
    frame = frame[["group", "series", "value", "low", "high", "k", "n"]]
    frame["note"] = [_unsaid(row) for row in records(counts)]
    data = estimate_frame(estimate_rows(frame), "percent")
    data[["planned", "missing"]] = counts[["planned", "missing"]].astype("Int64")
    met = _faults(recording)
    for name in ("faults_planned", "faults_met"):
        found = [met.get((row["group"], row["series"]), {}).get(name) for row in records(data)]
        data[name] = pd.Series(found, dtype="Int64")
    return data


def conformance(data: pd.DataFrame, *, axis_title: str, description: str | None = None) -> Any:
    """Draw the share that did right by perturbation and arm, with interval, n, what is missing, and the faults met.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`conformance_data`.
    axis_title : str
        What is measured, with unit and kind of interval: "no critical violation, % (95 % Wilson interval)".
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
    data = needed(data, (*_SHARE, *_COUNTS), "conformance_data")
    data["label"] = [told(row) for row in records(data)]
    data["n_label"] = [_reading(row) for row in records(data)]
    domain = (_start(data), 100.0)
    words = description or describe("Dot plot", axis_title, data) + _axis_start(domain[0])
    return dots(data, column="percent", axis_title=axis_title, domain=domain, width=280).properties(description=words)


def missing_ends_data(recording: Recording, ok: pd.Series) -> pd.DataFrame:
    """Return between which ends the share of planned trials lies: all missing ones fail, or all succeed.

    Parameters
    ----------
    recording : Recording
        The run; its plan says how many trials there should be.
    ok : Series of boolean
        As in :func:`conformance_data`; a recorded trial that cannot be decided counts as open, like a missing one.

    Returns
    -------
    pandas.DataFrame
        ``group`` (perturbation), ``series`` (arm), ``percent`` (of decided trials), ``low`` (every open trial fails),
        ``high`` (every open trial succeeds), ``k, n`` (Int64, decided), ``state``, ``note``, ``planned``, ``open``.

    Raises
    ------
    ParameterError
        ``ok`` does not cover the trials of the run.

    Examples
    --------
    >>> run = Recording(pd.DataFrame({"arm": "a", "task_id": ["t", "u"]}), run_id="r")
    >>> ok = pd.Series([True, pd.NA], index=run.trials["trial_id"], dtype="boolean")
    >>> missing_ends_data(run, ok)[["percent", "low", "high", "open"]].to_dict("records")
    [{'percent': 100.0, 'low': 50.0, 'high': 100.0, 'open': 1}]

    References
    ----------
    Manski (2003), Partial Identification of Probability Distributions, chapter 1.
    """
    data = conformance_data(recording, ok)
    ends = [missing_bounds(int(row["k"]), int(row["n"]), int(row["planned"])) for row in records(data)]
    for name, side in (("low", "worst"), ("high", "best")):
        values = [getattr(found, side).value for found in ends]
        data[name] = pd.Series([None if value is None else 100 * value for value in values], dtype="float64")
    data["open"] = (data["planned"] - data["n"]).astype("Int64")
    return data.drop(columns=["missing", "faults_planned", "faults_met"])


def missing_ends(data: pd.DataFrame, *, axis_title: str, description: str | None = None) -> Any:
    """Draw the share of decided trials as a dot, and what the open ones leave possible as a bar around it.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`missing_ends_data`.
    axis_title : str
        What is measured; say that the bar is not an interval of confidence.
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
    data = needed(data, ("group", "series", "percent", "low", "high", "planned", "open", "state"), "missing_ends_data")
    data["label"] = [f"{row['low']:.1f} to {row['high']:.1f} %" if row["open"] else told(row) for row in records(data)]
    data["n_label"] = [f"{row['open']:,} of {row['planned']:,} open" for row in records(data)]
    domain = (_start(data), 100.0)
    words = description or describe("Ends", axis_title, data) + _axis_start(domain[0])
    return dots(data, column="percent", axis_title=axis_title, domain=domain, width=280).properties(description=words)


def _unsaid(row: dict[str, Any]) -> str:
    parts = [f"{row['missing']:,} of {row['planned']:,} planned trials missing" if row["missing"] else ""]
    return texts([*parts, f"{row['undecided']:,} undecided" if row["undecided"] else ""])


def _faults(recording: Recording) -> dict[tuple[str, str], dict[str, int]]:
    """Planned and met faults by perturbation and arm, for perturbations in which any trial had a fault to meet."""
    armed = recording.trials[recording.trials["exposure"] != "none_planned"]["perturbation"].unique()
    return {
        (name, str(row["arm"])): {"faults_planned": int(row["planned"]), "faults_met": int(row["delivered"])}
        for name in map(str, armed)
        for row in exposure(recording, perturbation=name).to_dict("records")
    }


def _reading(row: dict[str, Any]) -> str:
    n = f"n={row['n']:,}" + (f" of {row['planned']:,}" if row["n"] != row["planned"] else "")
    met = "" if pd.isna(row["faults_planned"]) else f"{row['faults_met']:,} of {row['faults_planned']:,} faults met"
    return texts([n if row["state"] == "estimate" else "", met])


def _start(data: pd.DataFrame) -> float:
    lowest = data["low"].fillna(data["percent"]).min()
    return 0.0 if math.isnan(lowest) else max(0.0, min(90.0, math.floor((lowest - 2) / 10) * 10.0))


def _axis_start(start: float) -> str:
    return f" The axis starts at {start:g} %." if start else ""
