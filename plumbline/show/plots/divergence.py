"""Where trials leave what they are compared with: the first step that differs, merged along the alignment."""

from __future__ import annotations

from typing import Any

import pandas as pd

from plumbline.analysis import Consistency, Equivalence
from plumbline.base.errors import ParameterError
from plumbline.show.drawing import count_bars
from plumbline.show.plots.frames import needed

__all__ = ["DIVERGENCES", "divergence_onset", "divergence_onset_data"]

DIVERGENCES = {
    "skipped": "step left out",
    "extra": "step added",
    "substitute": "another step",
    "arg": "other arguments",
    "outcome": "other outcome",
}
"""Kinds of a first divergence, and how the figure calls them."""

_NOWHERE = {"none": "no difference", "cannot_tell": "cannot tell"}
_END = "outcome alone"
_COLUMNS = ("group", "position", "state", "trials", "planned")


def divergence_onset_data(result: Equivalence | Consistency) -> pd.DataFrame:
    """Count trials by the step at which they first differ from what they are compared with.

    Every compared trial stands in exactly one count. A step is named by its place in the reference path and by its
    name, so the same divergence of many trials is one row, whatever came before it in the trial itself.

    Parameters
    ----------
    result : Equivalence or Consistency
        From ``run.equivalence(...)`` or ``run.consistency(...)``; ``definition="plumbline"`` also finds arguments that
        differ on paths that part later.

    Returns
    -------
    pandas.DataFrame
        One row a place and kind, zeros included: ``group`` (the place in words), ``position`` (float; 1 is the first
        step of the reference, 1.5 lies after it, missing for what has no place), ``state`` (kind in words), ``trials``
        (that begin to differ here), ``planned`` (trials compared). The last rows are trials that differ nowhere, and
        trials of which arguments cannot be compared and nothing else differs.

    Raises
    ------
    ParameterError
        No trial was compared.

    Examples
    --------
    >>> import plumbline as plumb
    >>> run = plumb.read_run("data/procure_to_pay/parity")
    >>> data = divergence_onset_data(run.consistency(arm="react"))
    >>> int(data["trials"].sum()), int(data["planned"].max())
    (354, 354)
    """
    compared = result.pairs if isinstance(result, Equivalence) else result.trials
    ids = compared["trial_id"]
    if isinstance(result, Consistency):
        ids = ids[compared["reference"].notna()]
    if ids.empty:
        raise ParameterError("no trial was compared with anything, so nothing can begin to differ")
    first = _first(result.rows)
    first = first[first["trial_id"].isin(ids)]
    unsure = set(compared.loc[compared["undecided"] > 0, "trial_id"]) & set(ids) - set(first["trial_id"])
    counts = first.groupby(["position", "group", "kind"], sort=True).size()
    places = first[["position", "group"]].drop_duplicates().sort_values(["position", "group"], kind="stable")
    rows = [
        {"group": group, "position": position, "state": words, "trials": int(counts.get((position, group, kind), 0))}
        for position, group in places.itertuples(index=False, name=None)
        for kind, words in DIVERGENCES.items()
    ]
    numbers = {"none": len(ids) - len(first) - len(unsure), "cannot_tell": len(unsure)}
    rows += [
        {"group": words, "position": None, "state": words, "trials": numbers[kind]} for kind, words in _NOWHERE.items()
    ]
    data = pd.DataFrame(rows).assign(planned=len(ids))
    end = data["position"] == float("inf")
    return data.assign(position=data["position"].astype("Float64").mask(end))


def divergence_onset(data: pd.DataFrame, *, most: int = 16, description: str | None = None) -> Any:
    """Draw at which step trials begin to differ, one column of bars per kind of difference.

    Parameters
    ----------
    data : pandas.DataFrame
        From :func:`divergence_onset_data`.
    most : int
        How many places to draw, at least 1; the places with the fewest trials are drawn together as "other places".
    description : str, optional
        What the figure says in words; by default all its numbers.

    Returns
    -------
    altair.HConcatChart

    Raises
    ------
    ParameterError
        Another frame, a number of places below 1, or trials that differ nowhere: then there is nothing to draw.
    """
    data = needed(data, _COLUMNS, "divergence_onset_data")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError(f"most is {most!r}; draw at least one place")
    total = int(data["planned"].max())
    nowhere = data[data["state"].isin(_NOWHERE.values())].set_index("state")["trials"]
    shown = _most(data[data["state"].isin(DIVERGENCES.values())], most)
    if shown.empty:
        raise ParameterError(f"none of the {total:,} trials differs from its reference; say so in words")
    shown["planned"] = shown["trials"].max()
    shown["label"] = [f"{count:,}" if count else "0" for count in shown["trials"]]
    kinds = [words for words in DIVERGENCES.values() if shown.loc[shown["state"] == words, "trials"].any()]
    shown = shown[shown["state"].isin(kinds)]
    words = description or (
        f"Where {total:,} trials begin to differ. {_said(shown)} No difference: {nowhere.get('no difference', 0):,}; "
        f"cannot tell: {nowhere.get('cannot tell', 0):,}."
    )
    return count_bars(shown, kinds, width=84).properties(description=words)


def _first(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a trial: its first divergence; an added step lies after the step of the reference that it follows."""
    order = {kind: place for place, kind in enumerate(DIVERGENCES)}
    found = rows[["trial_id", "kind", "step_index", "name"]].copy()
    found["position"] = found["step_index"].astype("float64") + 1
    found.loc[found["kind"] == "extra", "position"] += 0.5
    found.loc[found["kind"] == "outcome", "position"] = float("inf")
    found["rank"] = found["kind"].map(order)
    found = found.sort_values(["trial_id", "position", "rank"], kind="stable").drop_duplicates("trial_id")
    places = zip(found["kind"].tolist(), found["step_index"].tolist(), found["name"].fillna(""), strict=True)
    found["group"] = [_place(str(kind), int(index), str(name)) for kind, index, name in places]
    return found


def _place(kind: str, index: int, name: str) -> str:
    if kind == "outcome":
        return _END
    named = f" {name}" if name else ""
    if kind == "extra":
        return f"before step 1:{named}" if index < 0 else f"after step {index + 1}:{named}"
    return f"step {index + 1}:{named}"


def _most(data: pd.DataFrame, most: int) -> pd.DataFrame:
    sums = data.groupby("group", sort=False)["trials"].sum()
    kept = sums.sort_values(ascending=False, kind="stable").index[:most]
    rest = data[~data["group"].isin(kept)]
    drawn = data[data["group"].isin(kept)].copy()
    if rest.empty:
        return drawn
    others = rest.groupby("state", sort=False)["trials"].sum().reset_index()
    others["group"] = f"{len(sums) - len(kept)} other places"
    columns = ["group", "state", "trials"]
    return pd.concat([drawn[columns], others[columns]], ignore_index=True)


def _said(shown: pd.DataFrame) -> str:
    parts = []
    for group in dict.fromkeys(shown["group"]):
        rows = shown[(shown["group"] == group) & (shown["trials"] > 0)]
        if len(rows):
            parts.append(f"{group}: " + ", ".join(f"{row.state} {row.trials:,}" for row in rows.itertuples()) + ".")
    return " ".join(parts)
