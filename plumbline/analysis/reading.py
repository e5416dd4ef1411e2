"""How a result of this room shows itself: a title, one line a measure, notes; the same words in text and in HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping

import pandas as pd

from plumbline.stats import Estimate

__all__ = ["Reading", "cannot_tell"]


class Reading:
    """What every result of this room can do: a frame of its measures, and the same table as text and as HTML."""

    def title(self) -> str:
        """Say in one line what was compared."""
        raise NotImplementedError

    def measures(self) -> Mapping[str, Estimate]:
        """Return every measure by its name."""
        raise NotImplementedError

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must not miss."""
        return ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row a measure, unrounded.

        Returns
        -------
        DataFrame
            ``measure, k, n, value, low, high, method, scope, caution``; ``value`` is missing where nothing can be told.
        """
        rows = [
            {
                "measure": name, "k": found.successes, "n": found.n, "value": found.value, "low": found.low,
                "high": found.high, "method": found.method, "scope": found.scope, "caution": "; ".join(found.caution),
            }
            for name, found in self.measures().items()
        ]  # fmt: skip
        kinds = {"k": "Int64", "n": "int64", "value": "Float64", "low": "Float64", "high": "Float64"}
        return pd.DataFrame(rows).astype(kinds)

    def __str__(self) -> str:
        lines = {name: str(found) for name, found in self.measures().items()}
        width = max(map(len, lines), default=0)
        body = [f"{name:<{width}}  {line}" for name, line in lines.items()]
        return "\n".join([self.title(), *body, *(f"note: {note}" for note in self.notes())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        cells = [(html.escape(name), html.escape(str(found))) for name, found in self.measures().items()]
        body = "".join(f'<tr><th scope="row">{name}</th><td>{line}</td></tr>' for name, line in cells)
        head = '<thead><tr><th scope="col">measure</th><th scope="col">estimate</th></tr></thead>'
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes())
        caption = f"<caption>{html.escape(self.title())}</caption>"
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")


def cannot_tell(reason: str, *, method: str, n: int = 0, confidence: float = 0.95) -> Estimate:
    """Return an estimate that claims nothing and says why."""
    return Estimate(
        value=None, low=None, high=None, n=n, confidence=confidence, method=method, scope="none", caution=(reason,)
    )
