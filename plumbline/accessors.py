"""``steps.trace`` and ``steps.args`` on any steps frame: one line a method, no state, no maths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from plumbline.compare import Alignment, ArgumentComparison, ArgumentRules
    from plumbline.compare.frames import ArgumentType

__all__ = ["ArgsAccessor", "TraceAccessor", "register"]

_NEEDED = ("trial_id", "step", "kind", "name", "arguments", "status")


def register() -> None:
    """Register the accessors with pandas; called once pandas is loaded."""
    import pandas as pd

    for name, accessor in (("trace", TraceAccessor), ("args", ArgsAccessor)):
        if not hasattr(pd.DataFrame, name):
            pd.api.extensions.register_dataframe_accessor(name)(accessor)


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

    def align(
        self,
        reference: pd.DataFrame,
        *,
        pairs: Mapping[str, str] | None = None,
        path: Literal["effect", "control"] = "effect",
        rules: ArgumentRules | None = None,
        tools: Mapping[str, Any] | None = None,
    ) -> Alignment:
        """Return these trials aligned with reference trials, step by step, see ``plumbline.compare.align``."""
        from plumbline.compare import align

        return align(self._frame, reference, pairs=pairs, path=path, rules=rules, tools=tools)


class ArgsAccessor:
    """Typed arguments of a steps frame.

    Parameters
    ----------
    frame : DataFrame
        Steps, grain: one row an event, with ``name`` and ``arguments`` (canonical JSON text or null).

    Raises
    ------
    AttributeError
        The frame lacks one of these columns, so it is not a steps frame.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        if lacking := [c for c in ("name", "arguments") if c not in frame.columns]:
            raise AttributeError(f"not a steps frame: it lacks the columns {lacking}")
        self._frame = frame

    def get(self, path: str, *, dtype: ArgumentType | None = None) -> pd.Series:
        """Return one argument of every step, see ``plumbline.compare.get``."""
        from plumbline.compare import get

        return get(self._frame, path, dtype=dtype)

    def expand(self) -> pd.DataFrame:
        """Return the arguments of every step as columns, one per field."""
        from plumbline.compare import expand

        return expand(self._frame)

    def compare(self, reference: pd.DataFrame, rules: ArgumentRules | None = None) -> ArgumentComparison:
        """Return these steps compared with a reference's, row by row, see ``plumbline.compare.compare_arguments``."""
        from plumbline.compare import compare_arguments

        return compare_arguments(self._frame, reference, rules)
