"""Alerts in words: what changed, by how much, against which baseline."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

__all__ = ["Alert", "Alerts", "span", "times_more"]


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One change that a monitor reports.

    Parameters
    ----------
    feature : str
        ``tokens_in``, ``tokens_out``, ``duration_ms``, ``tool_calls``, ``tool_mix``, ``tool_set``, ``order``,
        ``conformance``.
    sessions : tuple of str
        The sessions that changed.
    text : str
        What changed, by how much, against which baseline.
    rule : str
        The rule that alarmed, with its threshold.
    found, usual : float, optional
        The two numbers the text compares.
    p : float, optional
        Of the test, where the rule is one.
    """

    feature: str
    sessions: tuple[str, ...]
    text: str
    rule: str
    found: float | None = None
    usual: float | None = None
    p: float | None = None

    def __str__(self) -> str:
        return f"{self.text} [{self.rule}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the alert as JSON values."""
        return asdict(self) | {"sessions": list(self.sessions)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Alert:
        """Read an alert from JSON values."""
        return cls(**{**values, "sessions": tuple(values["sessions"])})


class Alerts(tuple[Alert, ...]):
    """Alerts in the order in which they were given."""

    __slots__ = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row an alert."""
        names = ["feature", "text", "rule", "found", "usual", "p", "sessions"]
        return pd.DataFrame([{name: getattr(one, name) for name in names} for one in self], columns=names)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no alert"

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no alert</p>"
        rows = "".join(
            f'<tr><th scope="row">{html.escape(one.feature)}</th><td>{html.escape(one.text)}</td>'
            f"<td>{html.escape(one.rule)}</td></tr>"
            for one in self
        )
        head = '<tr><th scope="col">feature</th><th scope="col">what changed</th><th scope="col">rule</th></tr>'
        return f"<table><caption>{len(self)} alerts</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def span(ids: Sequence[str]) -> str:
    """Name a row of sessions by its ends."""
    if len(ids) == 1:
        return f"session {ids[0]}"
    return f"{len(ids)} sessions {ids[0]} to {ids[-1]}"


def times_more(tool: str, found: float, usual: float) -> str:
    """Say how much more or less often a tool was called than in the baseline."""
    gap = found - usual
    if gap == 0:
        return f"called {tool} as often as baseline ({usual:.3g} a session)"
    if usual == 0:
        return f"called {tool} {_times(found)} a session; baseline never did"
    if found == 0:
        return f"never called {tool}; baseline called it {_times(usual)} a session"
    word = "more" if gap > 0 else "less"
    return f"called {tool} {_times(abs(gap))} {word} than baseline ({found:.3g} a session against {usual:.3g})"


def _times(number: float) -> str:
    return f"{number:.3g} time{'' if f'{number:.3g}' == '1' else 's'}"
