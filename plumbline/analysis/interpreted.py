"""What a planned agent took a request to name, beside what it was about."""

from __future__ import annotations

import pandas as pd

from plumbline.base.canonical import parse_json
from plumbline.base.schema import KEYS
from plumbline.traces import Recording

__all__ = ["interpreted"]


def interpreted(recording: Recording) -> pd.DataFrame:
    """Return which document the agent named, one row a trial of arms that ask.

    Parameters
    ----------
    recording : Recording
        A run with arms made by ``plumbline.running.planned_agent``, which record the decision ``interpret_request``.

    Returns
    -------
    pandas.DataFrame
        Key columns, ``named`` (str; missing where no answer could be understood) and ``right`` (bool: it is the task's
        own document). No row if no arm asks.
    """
    steps = recording.steps[(recording.steps["kind"] == "decision") & (recording.steps["name"] == "interpret_request")]
    found = steps[["trial_id"]].assign(named=[parse_json(result)["invoice_id"] for result in steps["result"]])
    keys = [column.name for column in KEYS]
    rows = recording.trials[keys].merge(found, on="trial_id", how="inner", validate="one_to_one")
    rows["right"] = (rows["named"] == rows["task_id"]).to_numpy(bool)
    return rows
