"""``steps.trace`` and ``steps.args`` on any steps frame: one line a method, no state, no maths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TraceAccessor", "register"]

_NEEDED = ("trial_id", "step", "kind", "name", "arguments", "status")


def register() -> None:
    """Register the accessors with pandas; called once pandas is loaded."""
    import pandas as pd

    if not hasattr(pd.DataFrame, "trace"):
        pd.api.extensions.register_dataframe_accessor("trace")(TraceAccessor)


class TraceAccessor:
    """Whole trajectories of a steps frame.

    Parameters
    ----------
    frame : DataFrame
        Steps, grain: one row an event, with ``trial_id, step, kind, name, arguments, status``.

    Raises
    ------
    AttributeError
        The frame lacks one of these columns, so it is not a steps frame.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        if lacking := [c for c in _NEEDED if c not in frame.columns]:
            raise AttributeError(f"not a steps frame: it lacks the columns {lacking}")
        self._frame = frame

    def calls(self, tool: str | None = None) -> pd.DataFrame:
        """Return the tool calls, of all tools or of one, in order."""
        from plumbline.traces import calls

        return calls(self._frame, tool=tool)

    def paths(self, *, happened: bool = False) -> pd.Series:
        """Return each trial's path as one text, ``fetch_invoice > check_duplicate > …``."""
        from plumbline.traces import paths

        return paths(self._frame, happened=happened)

    def counts(self) -> pd.DataFrame:
        """Return calls by tool and status."""
        from plumbline.traces import call_counts

        return call_counts(self._frame)
