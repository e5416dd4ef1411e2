"""The widget where a notebook can show one, and the static renderings everywhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plumbline.show.diff.model import TraceDiff

__all__ = ["in_kernel", "with_widget"]


def in_kernel() -> bool:
    """Say whether this process is a Jupyter kernel, whose front end may show a widget."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def with_widget(made: TraceDiff, static: dict[str, str]) -> Any:
    """Return the static renderings, with the widget view in front of them inside a kernel."""
    if not in_kernel():
        return static
    return made.widget()._repr_mimebundle_()
