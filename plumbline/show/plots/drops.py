"""How far each perturbation lies below the baseline of the same arm, and in how many tasks the two differ."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from plumbline.analysis import tally
from plumbline.base.errors import ParameterError
from plumbline.show.drawing import dots
from plumbline.show.estimates import estimate_rows
from plumbline.show.plots.frames import describe, estimate_frame, needed, records, told
from plumbline.stats import miettinen_nurminen
from plumbline.traces import Recording

__all__ = ["drop", "drop_data"]


def drop_data(
    recording: Recording, ok: pd.Series, *, baseline: str | None = None, confidence: float = 0.95
) -> pd.DataFrame:
    """Compare every perturbation with the baseline of the same arm, in percentage points.

    Parameters
    ----------
    recording : Recording
        The run.
    ok : Series of boolean
        As in :func:`conformance_data`.
    baseline : str, optional
        The perturbation that changes nothing; by default the first of the plan, without a plan ``baseline``.
    confidence : float
        Of the Miettinen-Nurminen interval, which takes trials as independent, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        ``group`` (perturbation), ``series`` (arm), ``points`` (perturbed minus baseline), ``low, high``, ``k, n`` (of
        the perturbed trials), ``state``, ``note``, ``baseline_k, baseline_n``, ``tasks`` (that have both),
        ``tasks_differ`` (whose rate is another one than at baseline).

    Raises
    ------
    ParameterError
        No such baseline, or nothing else to compare with it.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": "a", "task_id": "t", "perturbation": ["baseline", "noise"]})
    >>> run = Recording(trials, run_id="r")
    >>> data = drop_data(run, pd.Series([True, False], index=["a/t/baseline/0/0", "a/t/noise/0/0"]))
    >>> data[["points", "n", "baseline_n", "tasks_differ"]].to_dict("records")
    [{'points': -100.0, 'n': 1, 'baseline_n': 1, 'tasks_differ': 1}]

    References
    ----------
    Miettinen and Nurminen (1985), Statistics in Medicine 4, 213.
    """
    plain = _baseline(recording, baseline)
    counts = tally(recording, ok, by=("arm", "perturbation"), confidence=confidence)
    counted = {(row["arm"], row["perturbation"]): (int(row["k"]), int(row["n"])) for row in records(counts)}
    rates = _task_rates(recording, ok)
    rows: list[dict[str, Any]] = []
    more: list[dict[str, int]] = []
    for perturbation in (name for name in recording.perturbations if name != plain):
        for arm in recording.arms:
            if not {(arm, perturbation), (arm, plain)} <= set(counted):
                continue
            (k, n), (k0, n0) = counted[arm, perturbation], counted[arm, plain]
            rows.append({"group": perturbation, "series": arm, **_gap((k, n), (k0, n0), confidence)})
            more.append({"baseline_k": k0, "baseline_n": n0, **_by_task(rates, arm, perturbation, plain)})
    if not rows:
        raise ParameterError(
            f"run {recording.run_id!r} holds nothing but its baseline {plain!r}; there is no drop to show"
        )
    data = estimate_frame(estimate_rows(pd.DataFrame(rows), unit="points"), "points")
    return data.join(pd.DataFrame(more).astype("Int64"))


def drop(data: pd.DataFrame, *, axis_title: str, description: str | None = None) -> Any:
    """Draw how far each perturbation lies from the baseline, with interval, beside the line of no difference.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`drop_data`.
    axis_title : str
        What differs, in which direction, with the kind of interval.
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
    wanted = ("group", "series", "points", "low", "high", "n", "state", "note", "baseline_n", "tasks", "tasks_differ")
    data = needed(data, wanted, "drop_data")
    data["label"] = [
        told(row, "points") if row["state"] == "estimate" else f"cannot tell: {row['note']}" for row in records(data)
    ]
    data["n_label"] = [
        ""
        if row["state"] != "estimate"
        else f"n={row['n']:,} vs {row['baseline_n']:,}, {row['tasks_differ']} of {row['tasks']} tasks differ"
        for row in records(data)
    ]
    lowest, highest = min(0.0, *data["low"].fillna(0.0)), max(0.0, *data["high"].fillna(0.0))
    domain = (math.floor((lowest - 1) / 10) * 10.0, math.ceil((highest + 1) / 10) * 10.0)
    words = description or describe("Differences from baseline", axis_title, data)
    drawn = dots(data, column="points", axis_title=axis_title, domain=domain, zero=True, width=280)
    return drawn.properties(description=words)


def _baseline(recording: Recording, named: str | None) -> str:
    known = recording.perturbations
    if named is None and recording.plan is not None:
        return known[0]
    plain = "baseline" if named is None else named
    if plain not in known:
        raise ParameterError(
            f"run {recording.run_id!r} has no perturbation {plain!r}; name its baseline, one of {', '.join(known)}"
        )
    return plain


def _gap(perturbed: tuple[int, int], plain: tuple[int, int], confidence: float) -> dict[str, Any]:
    (k, n), (k0, n0) = perturbed, plain
    if not n or not n0:
        side = "under the perturbation" if not n else "at baseline"
        return {"value": None, "low": None, "high": None, "k": k, "n": n, "note": f"no decided trial {side}"}
    found = miettinen_nurminen((k, k0), (n, n0), confidence=confidence)
    return {"value": found.value, "low": found.low, "high": found.high, "k": k, "n": n, "note": ""}


def _task_rates(recording: Recording, ok: pd.Series) -> pd.Series:
    rows = recording.trials[["arm", "task_id", "perturbation", "trial_id"]]
    rows = rows.assign(ok=ok.astype("Float64").reindex(rows["trial_id"]).to_numpy(dtype=float, na_value=math.nan))
    return rows.groupby(["arm", "perturbation", "task_id"])["ok"].mean().dropna()


def _by_task(rates: pd.Series, arm: str, perturbation: str, plain: str) -> dict[str, int]:
    held = [rates.loc[[(a, p) == (arm, name) for a, p, _ in rates.index]] for name in (perturbation, plain)]
    gaps = (held[0].droplevel([0, 1]) - held[1].droplevel([0, 1])).dropna()
    return {"tasks": len(gaps), "tasks_differ": int((gaps.abs() > 1e-12).sum())}
