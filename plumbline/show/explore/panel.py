"""The explorer's widgets: a thin layer that shows the state and changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from plumbline.show.explore.state import FIELDS, Filters
from plumbline.show.markup import escape, output_css
from plumbline.show.tables import table_html

if TYPE_CHECKING:
    from plumbline.show.explore.explorer import Explorer

__all__ = ["Panel"]

_MOST = 200
_COLUMNS = ["step", "kind", "name", "arguments", "status", "injected", "error"]


class Panel:
    """Filters on top, then the groups, the trials of one, and the chosen trial beside another arm."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._quiet = False
        self._filters = {name: self._filter(name, explorer.choices[name]) for name in FIELDS}
        self._table, self._code, self._trial_view = (widgets.HTML() for _ in range(3))
        self._group = widgets.Dropdown(description="Group", layout=_wide(), style=_label())
        self._trial = widgets.Dropdown(description="Trial", layout=_wide(), style=_label())
        self._against = widgets.Dropdown(description="Beside", layout=_wide(), style=_label())
        self._diff = widgets.VBox([])
        for widget, act in ((self._group, self._chose_group), (self._trial, self._chose_trial),
                            (self._against, self._chose_partner)):  # fmt: skip
            widget.observe(act, "value")
        columns = widgets.Layout(display="flex", flex_flow="row wrap", width="100%")
        self.box = widgets.VBox([
            widgets.HTML(f"<style>{output_css()}</style>"), widgets.Box(list(self._filters.values()), layout=columns),
            self._table, self._code, self._group, self._trial, self._against, self._trial_view, self._diff,
        ], layout=widgets.Layout(width="100%"))  # fmt: skip
        self.show()

    def _filter(self, name: str, values: tuple[str, ...]) -> Any:
        width = "420px" if name == "rule" else "290px"
        made = widgets.SelectMultiple(
            options=values, description=name, rows=min(5, max(2, len(values))), style=_label(),
            layout=widgets.Layout(width=width, margin="2px 10px 2px 0"), tooltip=f"{name}: nothing chosen means all",
        )  # fmt: skip
        made.add_class(f"plumbline-filter-{name}")
        made.observe(self._chose_filter, "value")
        return made

    def show(self) -> None:
        """Show the explorer's state: what is chosen, the groups, and the first trial of the first group."""
        explorer = self._explorer
        self._quiet = True
        chosen = explorer.filters.chosen()
        for name, widget in self._filters.items():
            widget.value = chosen.get(name, ())
        table = explorer.table()
        self._table.value = f'<div class="pl">{table.markup}</div>'
        self._code.value = (
            f'<div class="pl"><p>This selection in code:</p><pre><code>{escape(explorer.code)}</code></pre></div>'
        )
        found = explorer.groups.head(_MOST)
        told = [
            f"{g['violated']} of {g['decided']} · {g['rule']} · {g['arm']} · {g['perturbation']}"
            for _, g in found.iterrows()
        ]
        self._group.options = [(text, place) for place, text in enumerate(told)]
        self._group.value = 0 if told else None
        self._quiet = False
        self._chose_group()

    def _chose_filter(self, change: Any) -> None:
        if not self._quiet:
            self._explorer.filters = Filters(**{name: tuple(w.value) for name, w in self._filters.items()})

    def _chose_group(self, change: Any = None) -> None:
        if self._quiet:
            return
        self._quiet = True
        group = self._group.value
        rows = None if group is None else self._explorer.trials(group).head(_MOST)
        options = [] if rows is None else [(str(t), place) for place, t in enumerate(rows["trial_id"])]
        self._trial.options = options
        self._trial.value = 0 if options else None
        self._quiet = False
        self._chose_trial()

    def _row(self) -> Any:
        if self._group.value is None or self._trial.value is None:
            return None
        return self._explorer.trials(self._group.value).iloc[self._trial.value]

    def _chose_trial(self, change: Any = None) -> None:
        if self._quiet:
            return
        self._quiet = True
        row = self._row()
        partners = [] if row is None else self._explorer.partners(row["trial_id"])
        self._against.options = [("the trial alone", ""), *((f"the same trial of {arm}", arm) for arm in partners)]
        self._against.value = partners[0] if partners else ""
        self._quiet = False
        self._chose_partner()

    def _chose_partner(self, change: Any = None) -> None:
        if self._quiet:
            return
        row = self._row()
        self._diff.children = ()
        self._trial_view.value = ""
        if row is None:
            return
        if self._against.value:
            self._diff.children = (self._explorer.diff(row, against=self._against.value).widget(),)
            return
        steps = self._explorer.run.steps
        own = steps[steps["trial_id"] == row["trial_id"]][_COLUMNS].astype(object)
        if own.empty:
            self._trial_view.value = '<div class="pl"><p>This trial left no step.</p></div>'
            return
        table = table_html(
            own.where(own.notna(), ""), caption=f"Steps of {row['trial_id']}; {row['rule']}: {row['verdict']}"
        )
        self._trial_view.value = f'<div class="pl">{table.markup}</div>'


def _wide() -> Any:
    return widgets.Layout(width="100%", max_width="760px")


def _label() -> dict[str, str]:
    return {"description_width": "90px"}
