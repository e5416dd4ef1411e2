"""One page over all reports of a folder."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from plumbline._version import __version__
from plumbline.base.errors import NotFoundError
from plumbline.show.markup import Html, escape
from plumbline.show.standard.book import Book
from plumbline.traces import write_text

__all__ = ["INDEX_FILE", "index_page"]

INDEX_FILE = "index.html"
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_MARK = 'class="pl-page"'


def index_page(folder: str | Path) -> Path:
    """Write ``index.html``, a list of the reports in a folder, by title.

    Parameters
    ----------
    folder : path
        Where the reports are; pages that plumbline did not make are left out.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    NotFoundError
        There is no such folder, or no report in it.
    """
    from plumbline.show.report import ReportExporter

    place = Path(folder)
    if not place.is_dir():
        raise NotFoundError(f"no folder at {folder}")
    found = []
    for page in sorted(place.rglob("*.html")):
        text = page.read_text(encoding="utf-8", errors="replace")
        title = _TITLE.search(text)
        if page != place / INDEX_FILE and title and _MARK in text[:2000]:
            found.append((title.group(1).strip(), page.relative_to(place)))
    if not found:
        raise NotFoundError(
            f"no report in {folder}; write one with 'plumbline report RUN' or 'plumbline study run NAME'"
        )
    items = "".join(
        f'<li><a href="{quote(p.as_posix())}">{t}</a> <code>{escape(p.as_posix())}</code></li>' for t, p in found
    )
    told = "\n".join(f"{p.as_posix()}: {t}" for t, p in found)
    listed = Html(f'<nav aria-label="Reports"><ul>{items}</ul></nav>', told)
    book = Book({"listed": listed})
    many = "one report" if len(found) == 1 else f"{len(found)} reports"
    book.prose(f"# Reports\n\n{many[0].upper()}{many[1:]}; each is one page that is complete by itself.")
    book.code("listed", name="reports", tags=("remove-input",))
    notebook = book.notebook()
    notebook.metadata["plumbline"] = {"title": "Reports", "versions": {"plumbline": __version__}}
    page_text, _ = ReportExporter().from_notebook_node(notebook)
    write_text(place / INDEX_FILE, page_text)
    return place / INDEX_FILE
