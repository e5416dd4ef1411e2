"""A run at a glance: what was planned, what is on record, where it comes from."""

from __future__ import annotations

import pandas as pd

from plumbline.show.markup import Html
from plumbline.show.tables import table_html
from plumbline.traces import Recording

__all__ = ["run_card"]


def run_card(run: Recording) -> Html:
    """Return a table of a run's arms: planned, recorded, completed and missing trials, faults met, provenance.

    Parameters
    ----------
    run : Recording
        The run.

    Returns
    -------
    Html

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    >>> "1 task" in run_card(Recording(trials, run_id="mine")).html
    True
    """
    trials = run.trials
    rows = []
    for arm in run.arms:
        own, counts = trials[trials["arm"] == arm], run.counts(arm=arm)
        met = own["exposure"].value_counts()
        faulted = int(met.get("delivered", 0)), int(met.get("delivered", 0) + met.get("not_delivered", 0))
        rows.append({
            "arm": arm, "planned": counts.planned, "recorded": counts.recorded, "completed": counts.completed,
            "missing": counts.missing, "faults met": f"{faulted[0]} of {faulted[1]}" if faulted[1] else "none planned",
            "provenance": ", ".join(sorted(own["provenance"].unique())) or "no trial on record",
        })  # fmt: skip
    tasks, steps = trials["task_id"].nunique(), len(run.steps)
    caption = (
        f"Run {run.run_id}: {tasks:,} {'task' if tasks == 1 else 'tasks'}, {', '.join(run.perturbations)}; {steps:,} "
        f"{'step' if steps == 1 else 'steps'}"
    )
    return table_html(pd.DataFrame(rows), caption=caption, notes=[f"Digest of all rows: {run.digest}"])
