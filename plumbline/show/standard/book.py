"""A report written cell by cell: every output is what the code beside it gave, run here, without a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.errors import ParameterError

__all__ = ["Book"]


class Book:
    """Cells of a report, in order; code is run when it is added, and its last expression is its output.

    Parameters
    ----------
    names : mapping of str to object
        What the code may use by name; the code of one cell sees what the cells before it made.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict(names)
        self._cells: list[Any] = []
        self._ids: set[str] = set()

    def prose(self, text: str) -> None:
        """Add a text in Markdown."""
        from nbformat.v4 import new_markdown_cell

        self._cells.append(new_markdown_cell(text, id=self._named("text")))

    def shown(self, source: str) -> None:
        """Add code that is only shown: what was done before the report began."""
        self._add(source, [], "setup", ())

    def code(self, source: str, *, name: str, tags: Sequence[str] = ()) -> Any:
        """Run code, add it with its output, and return the value of its last expression.

        Parameters
        ----------
        source : str
            Python; the value of its last expression is shown, if it has one and that is not None.
        name : str
            Id of the cell.
        tags : sequence of str
            Tags of the cell, see ``ReportExporter``.

        Raises
        ------
        ParameterError
            A cell of this name is there already.
        """
        value = _run(source, self._names)
        self._add(source, [] if value is None else [_output(value)], name, tags)
        return value

    def __getitem__(self, name: str) -> Any:
        """Return what the code calls ``name``."""
        return self._names[name]

    def notebook(self) -> Any:
        """Return the cells as an executed notebook."""
        from nbformat.v4 import new_notebook

        return new_notebook(cells=list(self._cells))

    def sources(self) -> list[str]:
        """Return the code of every cell that was run, in order."""
        return [cell.source for cell in self._cells if cell.cell_type == "code" and not cell.id.startswith("setup")]

    def _add(self, source: str, outputs: list[Any], name: str, tags: Sequence[str]) -> None:
        from nbformat.v4 import new_code_cell

        count = 1 + sum(cell.cell_type == "code" for cell in self._cells)
        metadata = {"tags": list(tags)} if tags else {}
        cell = new_code_cell(source, id=self._named(name), outputs=outputs, execution_count=count, metadata=metadata)
        self._cells.append(cell)

    def _named(self, name: str) -> str:
        if name in ("text", "setup"):
            name = f"{name}-{len(self._cells)}"
        if name in self._ids:
            raise ParameterError(f"the report has a cell {name!r} already; give each its own name")
        self._ids.add(name)
        return name


def _run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell in its names and return the value of its last expression, None if it ends with something else."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<report>", "exec"), names)
        return None
    tree.body.pop()
    exec(compile(tree, "<report>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<report>", "eval"), names)


def _output(value: Any) -> Any:
    from nbformat.v4 import new_output

    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
    else:
        bundle = {"text/plain": str(value)}
    return new_output("display_data", data=bundle)
