"""A run as an event log: the columns that process-mining tools read, one row an event."""

from __future__ import annotations

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.base.schema import KINDS
from plumbline.traces import Recording

__all__ = ["EVENT_COLUMNS", "event_log"]

EVENT_COLUMNS = (
    "case:concept:name", "concept:name", "time:timestamp", "lifecycle:transition", "org:resource", "case:arm",
    "case:task", "case:family", "case:perturbation", "case:variant", "case:repetition", "case:status",
    "case:provenance", "step", "group", "kind", "arguments", "result", "status", "error", "injected",
)  # fmt: skip
"""XES names where there is one; the others keep ours. Rows stand in the order of steps, whatever the clocks say."""
_TRANSITIONS = {"ok": "complete", "failed": "ate_abort", "no_result": "unknown", "blocked": "pi_abort"}


def event_log(recording: Recording, *, kinds: tuple[str, ...] = ("tool_call",)) -> pd.DataFrame:
    """Return a run as an event log.

    Parameters
    ----------
    recording : Recording
        The run.
    kinds : tuple of str
        Kinds of steps that become events; by default calls of tools.

    Returns
    -------
    DataFrame
        The columns ``EVENT_COLUMNS``. ``time:timestamp`` is UTC, NaT where a step has no time: none is made up.
        ``lifecycle:transition`` is ``complete`` for calls that happened, ``ate_abort`` for failed ones, ``unknown`` for
        calls without a result, ``pi_abort`` for refused ones. A trial without such a step has no row, as in every
        event log; compare with ``recording.counts()``.

    Raises
    ------
    ParameterError
        An unknown kind, or none.

    References
    ----------
    IEEE 1849-2023, eXtensible Event Stream (XES): concept, lifecycle, time and organizational extensions.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    >>> steps = pd.DataFrame({"trial_id": ["a/t/baseline/0/0"], "kind": ["tool_call"], "name": ["pay"]})
    >>> event_log(Recording(trials, steps, run_id="r"))[["case:concept:name", "concept:name"]].values.tolist()
    [['a/t/baseline/0/0', 'pay']]
    """
    if not kinds or (odd := [kind for kind in kinds if kind not in KINDS]):
        raise ParameterError(f"kinds must be some of {', '.join(KINDS)}; found {kinds if not kinds else odd}")
    steps = recording.steps[recording.steps["kind"].isin(kinds)].reset_index(drop=True)
    trials = recording.trials.set_index("trial_id").loc[steps["trial_id"]].reset_index()
    log = pd.DataFrame({
        "case:concept:name": steps["trial_id"], "concept:name": steps["name"].fillna(steps["kind"]),
        "time:timestamp": pd.to_datetime(steps["started_at"], format="ISO8601", utc=True),
        "lifecycle:transition": steps["status"].map(_TRANSITIONS), "org:resource": steps["agent"].fillna(steps["arm"]),
    })  # fmt: skip
    own = {"arm": "arm", "task": "task_id", "family": "family_id", "status": "status", "provenance": "provenance"}
    own |= {name: name for name in ("perturbation", "variant", "repetition")}
    for name, column in own.items():
        log[f"case:{name}"] = trials[column].to_numpy()
    for name in ("step", "group", "kind", "arguments", "result", "status", "error", "injected"):
        log[name] = steps[name]
    return log[list(EVENT_COLUMNS)]
