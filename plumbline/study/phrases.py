"""What the views of several studies have in common: figures as words, and the tables every study shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

__all__ = ["exposures", "of", "origins", "percent", "points"]

Found = Mapping[str, Any]


def of(counts: Mapping[str, Any]) -> str:
    """Return ``20 of 32``, or that it cannot be told.

    Examples
    --------
    >>> of({"k": 20, "n": 32}), of({"k": 0, "n": 0})
    ('20 of 32', 'cannot tell (0 of 0)')
    """
    return f"{counts['k']} of {counts['n']}" if counts["n"] else "cannot tell (0 of 0)"


def percent(share: Mapping[str, Any]) -> str:
    """Return a share in percent, ``81.2%``."""
    return f"{100 * share['value']:.1f}%"


def points(estimate: Mapping[str, Any]) -> str:
    """Return a difference of shares in percentage points with its interval."""
    value, low, high = (100 * estimate[k] for k in ("value", "low", "high"))
    return f"{value:.1f} points [{low:.1f}, {high:.1f}]"


def exposures(found: Found, arms: Mapping[str, str]) -> pd.DataFrame:
    """Return who met a fault, from figures ``exposure/<study>/<arm>``, in the form the exposure figure takes.

    Parameters
    ----------
    found : mapping
        Figures of a study.
    arms : mapping
        Name of each arm to how it is called.

    Returns
    -------
    DataFrame
        ``group, delivered, not_delivered, no_record``: counts of trials.
    """
    rows = []
    for key, counts in found.items():
        if key.startswith("exposure/"):
            _, study, arm = key.split("/")
            met = counts["delivered_completed"]
            rows.append(
                {
                    "group": f"{study}: {arms[arm]}",
                    "delivered": met,
                    "not_delivered": counts["completed"] - met,
                    "no_record": counts["planned"] - counts["completed"],
                }
            )
    return pd.DataFrame(rows)


def origins(found: Found) -> pd.DataFrame:
    """Return which runs the figures come from: counts and the start of each digest."""
    rows = []
    for key, counts in found.items():
        if key.startswith("counts/") and key.count("/") == 1:
            name = key.split("/")[1]
            rows.append({"run": name, **counts, "digest of rows": found.get(f"digest/{name}", "")[:19]})
    return pd.DataFrame(rows)
