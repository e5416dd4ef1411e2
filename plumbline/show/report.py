"""Reports: an executed notebook as one HTML page that opens offline, on paper and with a screen reader.

Registered as ``jupyter nbconvert --to plumbline-report``. The page asks the network for nothing, and its content policy
lets nothing else run. Importing this module loads nbconvert, so the room's ``__init__`` leaves it out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from traitlets import default
from traitlets.config import Config

from plumbline._version import __version__
from plumbline.base.errors import InputError, NotFoundError
from plumbline.show.checks import check_offline, find_maths, find_unfinished
from plumbline.show.markup import escape, strip_styles, template_text
from plumbline.show.page import (
    add_contents,
    check_provenance,
    content_policy,
    page_css,
    provenance_html,
    set_cover,
)
from plumbline.show.render import inline_svg
from plumbline.traces import write_text

__all__ = ["ReportExporter", "check_offline", "export_report"]

PAGE_WORDS = ("title", "eyebrow", "footer")
"""Entries of a notebook's ``plumbline`` metadata that are words of the page, not provenance."""
PRIORITY = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/plain"]

_WHOLE = "The page is complete by itself."


class ReportExporter(HTMLExporter):
    """Export an executed notebook as a self-contained report.

    Notebook metadata ``plumbline`` holds provenance, and as words of the page ``title``, ``eyebrow`` (above the title)
    and ``footer``. Cell tags: ``answer`` shows a cell's output on the cover; ``remove-cell``, ``remove-input`` and
    ``remove-output`` leave parts out.
    """

    export_from_notebook = "Plumbline report"

    @default("template_name")
    def _template_name_default(self) -> str:
        return "plumbline"

    @default("extra_template_basedirs")
    def _template_folders(self) -> list[str]:
        return [str(Path(__file__).parent / "_templates")]

    @property
    def default_config(self) -> Config:
        """No widget views and no JavaScript outputs; pictures in the page; no anchors beside headings."""
        config = super().default_config.copy()
        config.merge(
            Config(
                {
                    "NbConvertBase": {"display_data_priority": PRIORITY},
                    "HTMLExporter": {"embed_images": True, "exclude_anchor_links": True},
                    "TagRemovePreprocessor": {
                        "enabled": True,
                        "remove_cell_tags": {"remove-cell"},
                        "remove_input_tags": {"remove-input"},
                        "remove_all_outputs_tags": {"remove-output"},
                    },
                }
            )
        )
        return config

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        """Add the filters of the template."""
        yield from super().default_filters()
        yield "strip_styles", strip_styles
        yield "inline_svg", _svg_output
        yield "inline_image", _image_output

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        """Return the page of an executed notebook, which is left unchanged.

        Raises
        ------
        InputError
            A cell failed or none was run, a picture has no words, prose holds TeX, something would be fetched, or
            there is not exactly one title.
        """
        notebook = copy.deepcopy(nb)
        _refuse("the notebook is not finished", find_unfinished(notebook.cells))
        _refuse("a report is read without MathJax", find_maths(notebook.cells))
        told = notebook.metadata.get("plumbline", {})
        for name in ("widgets", "papermill"):
            notebook.metadata.pop(name, None)
        provenance = check_provenance({key: value for key, value in told.items() if key not in PAGE_WORDS})
        title = set_cover(notebook, told.get("title"))
        script = template_text("page.js").strip()
        page = {
            "title": title,
            "eyebrow": told.get("eyebrow") or _study_words(provenance),
            "provenance": provenance_html(provenance),
            "css": page_css(),
            "script": script,
            "policy": content_policy(script),
            "footer": told.get("footer") or f"Made by plumbline {__version__} from an executed notebook. {_WHOLE}",
        }
        made, resources = super().from_notebook_node(notebook, {**(resources or {}), "plumbline": page}, **kw)
        text = add_contents(made)
        _refuse("the page is not complete by itself", check_offline(text))
        return text, resources


def export_report(
    notebook_path: str | Path,
    html_path: str | Path,
    *,
    provenance: Mapping[str, Any],
    title: str | None = None,
) -> Path:
    """Write the report of an executed notebook; the same notebook gives the same bytes.

    Parameters
    ----------
    notebook_path : path
        An executed notebook.
    html_path : path
        The page to write; its folder is made if need be, and an old page stays until the new one is whole.
    provenance : mapping
        Where the figures come from: ``study``, ``question``, ``runs`` (name to digest), ``versions``, ``pins``
        (``{"checked": n, "of": n}`` or text), and other entries. No times.
    title : str, optional
        Title of the page; by default the notebook's first heading.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Raises
    ------
    NotFoundError
        No such notebook.
    InputError
        As :meth:`ReportExporter.from_notebook_node`.
    ParameterError
        The provenance is not usable.
    """
    import nbformat

    source, target = Path(notebook_path), Path(html_path)
    if not source.is_file():
        raise NotFoundError(f"no notebook at {source}")
    try:
        notebook = nbformat.read(source, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise InputError(f"{source} is not a notebook: {error}") from None
    notebook.metadata["plumbline"] = check_provenance(provenance) | ({"title": title} if title else {})
    try:
        page, _ = ReportExporter().from_notebook_node(notebook, {"metadata": {"path": str(source.parent)}})
    except InputError as error:
        raise type(error)(f"{source.name}: {error}") from None
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, page)
    return target


def _study_words(provenance: Mapping[str, Any]) -> str:
    return f"Study report · {provenance['study']}" if "study" in provenance else ""


def _refuse(summary: str, faults: list[str]) -> None:
    if faults:
        shown = [*faults[:5], *([f"… and {len(faults) - 5} more"] if len(faults) > 5 else [])]
        raise InputError("\n".join([summary, *(f"  {fault}" for fault in shown)]))


def _svg_output(output: Any) -> str:
    """Return an output's drawing with its words: from its metadata, or the description that stands as its text."""
    alt = _said(output, "image/svg+xml") or str(output["data"].get("text/plain", ""))
    return inline_svg(output["data"]["image/svg+xml"], "" if alt.startswith("<") else alt)


def _image_output(output: Any, kind: str, cell: Any) -> str:
    alt = _said(output, kind) or str(cell.get("metadata", {}).get("alt", ""))
    data = "".join(str(output["data"][kind]).split())
    image = f'<img src="data:{kind};base64,{escape(data)}" alt="{escape(alt)}">'
    return f'<figure class="pl-figure">{image}</figure>'


def _said(output: Any, kind: str) -> str:
    metadata = output.get("metadata", {})
    inner = metadata.get(kind, {})
    return str((inner.get("alt") if isinstance(inner, Mapping) else None) or metadata.get("alt") or "")
