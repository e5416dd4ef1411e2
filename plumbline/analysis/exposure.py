"""Whether a planned fault was met, and what happened to those that met it.

Comparing arms "under fault" means nothing where one arm never met one. The table of exposure therefore stands before
any such comparison, and the as-treated figures after it.
"""

from __future__ import annotations

import pandas as pd

from plumbline.analysis.tallies import BEHAVIOUR
from plumbline.base.errors import ParameterError
from plumbline.stats import wilson
from plumbline.traces import Recording

__all__ = ["as_treated", "exposure"]


def exposure(recording: Recording, *, perturbation: str) -> pd.DataFrame:
    """Count, by arm, how many trials of a perturbation met the fault that was planned for them.

    Parameters
    ----------
    recording : Recording
        With ``exposure`` filled.
    perturbation : str
        The perturbation that plans faults, such as ``tool_fault``.

    Returns
    -------
    DataFrame
        One row an arm: ``planned, recorded, completed, delivered, delivered_completed, not_delivered, unknown``;
        ``unknown`` counts planned trials without a record.

    Raises
    ------
    ParameterError
        The run has no such perturbation.
    """
    rows = _rows(recording, perturbation)
    planned = recording.planned()
    planned = planned[planned["perturbation"] == perturbation]
    behaved = rows["status"].isin(BEHAVIOUR)
    counts = {
        "planned": planned.groupby("arm").size(),
        "recorded": rows.groupby("arm").size(),
        "completed": rows[rows["status"] == "completed"].groupby("arm").size(),
        "delivered": rows[rows["exposure"] == "delivered"].groupby("arm").size(),
        "delivered_completed": rows[(rows["exposure"] == "delivered") & behaved].groupby("arm").size(),
        "not_delivered": rows[rows["exposure"] != "delivered"].groupby("arm").size(),
    }
    table = pd.DataFrame(counts).reindex(list(recording.arms)).fillna(0).astype("int64")
    table["unknown"] = table["planned"] - table["recorded"]
    return table.rename_axis("arm").reset_index()


def as_treated(recording: Recording, ok: pd.Series, *, perturbation: str, confidence: float = 0.95) -> pd.DataFrame:
    """Count successes by arm, apart for trials that met their fault and trials that did not.

    Parameters
    ----------
    recording : Recording
        With ``exposure`` filled.
    ok : Series of boolean
        One value a trial, indexed by ``trial_id``.
    perturbation : str
        The perturbation that plans faults.
    confidence : float
        Confidence of the Wilson score interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row an arm and exposure: ``k, n, value, low, high, reads``; with ``n`` of 0 the value is missing and
        ``reads`` says "cannot tell".
    """
    rows = _rows(recording, perturbation)
    rows = rows.assign(ok=ok.astype("boolean").reindex(rows["trial_id"]).to_numpy())
    made = []
    for arm in recording.arms:
        for state in ("delivered", "not_delivered"):
            part = rows[(rows["arm"] == arm) & (rows["exposure"] == state)]["ok"].dropna()
            found = wilson(int(part.sum()), len(part), confidence=confidence)
            reads = f"{found.successes}/{found.n}" if found.known else f"cannot tell ({found.successes}/{found.n})"
            interval = {"value": found.value, "low": found.low, "high": found.high}
            made.append({"arm": arm, "exposure": state, "k": found.successes, "n": found.n, **interval, "reads": reads})
    return pd.DataFrame(made).astype({"value": "Float64", "low": "Float64", "high": "Float64"})


def _rows(recording: Recording, perturbation: str) -> pd.DataFrame:
    if perturbation not in recording.perturbations:
        known = ", ".join(recording.perturbations)
        raise ParameterError(f"run {recording.run_id!r} has no perturbation {perturbation!r}; it has {known}")
    return recording.trials[recording.trials["perturbation"] == perturbation]
