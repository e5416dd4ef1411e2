"""The live viewer of a diff; imported only where a widget is asked for, since anywidget is slow to load."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import anywidget
import pandas as pd
import traitlets

from plumbline.show.diff.payload import content_of, whole_value
from plumbline.show.markup import squeeze
from plumbline.show.theme import FONT, MONO, css_variables

if TYPE_CHECKING:
    from plumbline.show.diff.model import TraceDiff

__all__ = ["DiffWidget", "viewer_css", "viewer_script"]


OUTSIDE: Final = "body:not([data-jp-theme-light], .vscode-light, .vscode-dark) .pl-diff"
"""A host without a theme of its own: there the reader's system decides between light and dark."""


def viewer_script() -> str:
    """Return the viewer's JavaScript module: its two parts, one after the other, as written."""
    return "\n".join(_packaged(name) for name in ("nodes.js", "diff.js"))


@cache
def viewer_css() -> str:
    """Return the viewer's style sheet, the theme's colours in front."""
    fonts = f".pl {{ --pl-font: {FONT}; --pl-mono: {MONO}; }}"
    return squeeze("\n".join([fonts, css_variables(OUTSIDE), _packaged("diff.css")]))


def _packaged(name: str) -> str:
    return files("plumbline.show.diff").joinpath(name).read_text(encoding="utf-8")


class DiffWidget(anywidget.AnyWidget):
    """A diff to walk through with mouse or keys.

    Parameters
    ----------
    made : TraceDiff
        What to show.

    Attributes
    ----------
    selected : int
        The aligned row that is chosen, from 0; -1 where there is none. Set it here or by click or key there.
    trials : list of str
        The pairs of trials of the cell.
    trial : int
        Which of them is shown; setting it here or there shows another pair.
    """

    _esm = viewer_script()
    _css = viewer_css()

    selected = traitlets.Int(-1).tag(sync=True)
    trial = traitlets.Int(0).tag(sync=True)
    trials = traitlets.List(traitlets.Unicode()).tag(sync=True)
    content = traitlets.Dict().tag(sync=True)

    def __init__(self, made: TraceDiff) -> None:
        self._made = made
        super().__init__(
            content=content_of(made), selected=made.first, trials=list(made.cell.labels), trial=made.cell.here
        )
        self.on_msg(self._asked)

    @property
    def diff(self) -> TraceDiff:
        """The diff that is shown."""
        return self._made

    @property
    def selected_steps(self) -> pd.DataFrame:
        """The steps of the chosen row, ``side`` in front; without a row, an error says so."""
        return self._made.steps(self.selected)

    @traitlets.validate("selected")
    def _check_row(self, proposal: Any) -> int:
        row, count = int(proposal["value"]), len(self._made.rows)
        if not (0 <= row < count or (row == -1 and count == 0)):
            raise traitlets.TraitError(f"row {row} does not exist; rows run from 0 to {count - 1}")
        return row

    @traitlets.validate("trial")
    def _check_trial(self, proposal: Any) -> int:
        place, count = int(proposal["value"]), len(self._made.cell.pairs)
        if not 0 <= place < count:
            raise traitlets.TraitError(f"trial {place} does not exist; the cell has places 0 to {count - 1}")
        return place

    @traitlets.observe("trial")
    def _walk(self, change: Any) -> None:
        if change["new"] == self._made.cell.here:
            return
        self._made = self._made.walk(change["new"])
        with self.hold_sync():
            self.content = content_of(self._made)
            self.selected = self._made.first

    def _asked(self, widget: Any, asked: Any, buffers: Any) -> None:
        """Answer a front end that asks for a value in full."""
        if not isinstance(asked, dict) or asked.get("ask") != "value":
            return
        names = ("row", "side", "field")
        row, side, field = (found if isinstance(found := asked.get(name), int) else -1 for name in names)
        text = whole_value(self._made, row, side, str(asked.get("which")), field)
        self.send({"answer": "value", "id": asked.get("id"), "text": text})

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget view, and the same diff as HTML and as text for where there are no widgets."""
        made = super()._repr_mimebundle_(**kwargs)
        data, metadata = made if isinstance(made, tuple) else (made or {}, {})
        return {**data, "text/html": self._made._repr_html_(), "text/plain": str(self._made)}, metadata
