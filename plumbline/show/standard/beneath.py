"""The data of a figure as the table beneath it: named, turned and cut so that it is read like the figure."""

from __future__ import annotations

import pandas as pd

__all__ = ["bound_table", "matrix_table", "wide_counts", "worded"]

_VERDICT_ORDER = ("violated", "unobservable", "held", "vacuous", "not_applicable")


def bound_table(growth: pd.DataFrame) -> pd.DataFrame:
    """Return how a bound grows as a table that fits a page: some numbers of runs down, failures across.

    Parameters
    ----------
    growth : pandas.DataFrame
        From ``bound_growth_data``.

    Returns
    -------
    pandas.DataFrame
        ``runs`` at about a dozen values, and the bound in percent under each number of failures, missing where more
        runs failed than were made.
    """
    most = int(growth["runs"].max())
    runs = [n for n in (10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 600, 800, 1000) if n < most] + [most]
    wide = growth[growth["runs"].isin(runs)].pivot_table(index="runs", columns="failures", values="bound")
    wide = wide.rename(columns=lambda n: f"{n} failure{'' if n == 1 else 's'}, %")
    return wide.reset_index().rename_axis(columns=None)


def matrix_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the data of a verdict matrix as a table that fits a page: rules down, arms across, groups named by number.

    Parameters
    ----------
    data : pandas.DataFrame
        From ``verdict_matrix_data``.

    Returns
    -------
    pandas.DataFrame
        ``rule, severity``, then one column an arm: which groups of its trials have which verdict. The groups of an arm
        are numbered from 1 as they stand in the figure; the first row holds their trials.
    """
    columns = data.drop_duplicates("column")
    number = dict(zip(columns["column"], columns.groupby("arm", sort=False).cumcount() + 1, strict=True))
    arms = list(dict.fromkeys(data["arm"]))
    first = {"rule": "trials in each group", "severity": ""}
    for arm in arms:
        own = columns[columns["arm"] == arm]
        sizes = [f"{number[c]}: {n:,}" for c, n in zip(own["column"], own["trials"], strict=True)]
        first[arm or "trials"] = ", ".join(sizes)
    rows = [first]
    for (rule, severity), part in data.groupby(["rule", "severity"], sort=False):
        row = {"rule": str(rule), "severity": str(severity)}
        for arm in arms:
            own = part[part["arm"] == arm]
            told = {word: own.loc[own["verdict"] == word, "column"].map(number) for word in _VERDICT_ORDER}
            listed = [f"{word.replace('_', ' ')} {', '.join(map(str, of))}" for word, of in told.items() if len(of)]
            row[arm or "trials"] = "; ".join(listed)
        rows.append(row)
    return pd.DataFrame(rows)


def wide_counts(data: pd.DataFrame) -> pd.DataFrame:
    """Return counts by group and state as a table that is read like the figure: groups down, states across.

    Parameters
    ----------
    data : pandas.DataFrame
        ``group``, ``state``, ``trials``: from ``divergence_onset_data``, ``discordance_data`` or ``exposure_data``.

    Returns
    -------
    pandas.DataFrame
        ``group``, then one column a state (int), zeros included.
    """
    groups, states = list(dict.fromkeys(data["group"])), list(dict.fromkeys(data["state"]))
    wide = data.pivot_table(index="group", columns="state", values="trials", aggfunc="sum", fill_value=0, sort=False)
    wide = wide.reindex(index=groups, columns=states, fill_value=0).astype("int64")
    return wide.rename(columns=lambda state: str(state).replace("_", " ")).reset_index().rename_axis(columns=None)


def worded(data: pd.DataFrame) -> pd.DataFrame:
    """Return the data of a figure with the columns named as a reader names them, remarks last.

    Parameters
    ----------
    data : pandas.DataFrame
        Of a figure over conditions and arms: ``group``, ``series`` and others.

    Returns
    -------
    pandas.DataFrame
        ``condition, arm`` and the others that hold anything, ``state`` only where one is no plain estimate; underscores
        become spaces.
    """
    names = [*(name for name in data.columns if name != "note"), *(name for name in data.columns if name == "note")]
    made = data[names].rename(columns={"group": "condition", "series": "arm"})
    if "state" in made and (made["state"] == "estimate").all():
        made = made.drop(columns="state")
    return made.rename(columns=lambda name: str(name).replace("_", " ")).dropna(axis="columns", how="all")
