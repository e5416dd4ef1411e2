"""One page over all reports of a folder: title and answer of each, read from the reports themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from plumbline._version import __version__
from plumbline.base.errors import NotFoundError
from plumbline.show.markup import Html, escape
from plumbline.show.standard.book import Book
from plumbline.traces import write_text

__all__ = ["INDEX_FILE", "index_page"]

INDEX_FILE = "index.html"
_MARK = 'class="pl-page"'


@dataclass(frozen=True)
class _Entry:
    """What the index says of one report."""

    place: str
    title: str
    kind: str
    answer: str


def index_page(folder: str | Path) -> Path:
    """Write ``index.html``, a table of the reports in a folder with the answer of each; the same reports, same bytes.

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
    pages = [page for page in sorted(place.rglob("*.html")) if page != place / INDEX_FILE]
    found = [entry for page in pages if (entry := _read(page, page.relative_to(place).as_posix()))]
    if not found:
        raise NotFoundError(
            f"no report in {folder}; write one with 'plumbline report RUN' or 'plumbline study run NAME'"
        )
    book = Book({"listed": _table(found)})
    many = "one report" if len(found) == 1 else f"{len(found)} reports"
    book.prose(f"# Reports\n\n{many[0].upper()}{many[1:]}; each is one page that is complete by itself.")
    book.code("listed", name="reports", tags=("remove-input",))
    notebook = book.notebook()
    notebook.metadata["plumbline"] = {
        "title": "Reports", "eyebrow": "Index", "versions": {"plumbline": __version__},
        "footer": f"Made by plumbline {__version__} from the reports of a folder. The page is complete by itself.",
    }  # fmt: skip
    page_text, _ = ReportExporter().from_notebook_node(notebook)
    write_text(place / INDEX_FILE, page_text)
    return place / INDEX_FILE


def _read(page: Path, place: str) -> _Entry | None:
    """Return what a report says of itself, None for a page that plumbline did not make."""
    import bs4

    text = page.read_text(encoding="utf-8", errors="replace")
    if _MARK not in text[:2000]:
        return None
    read = bs4.BeautifulSoup(text, "html.parser")
    found = [read.select_one(name) for name in ("h1", ".pl-eyebrow", ".pl-answer .pl-title")]
    title, kind, answer = ("" if one is None else one.get_text(" ", strip=True) for one in found)
    return _Entry(place, title or place, kind or "Report", answer or "no answer on its cover")


def _table(found: list[_Entry]) -> Html:
    rows = "".join(
        f'<tr><th scope="row"><a href="{escape(quote(one.place))}">{escape(one.title)}</a></th>'
        f"<td>{escape(one.kind)}</td><td>{escape(one.answer)}</td></tr>"
        for one in found
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Report", "Kind", "Answer"))
    markup = (
        '<div class="pl-table"><div class="pl-scroll" role="group" aria-label="Reports of this folder" tabindex="0">'
        f"<table><caption><span>Reports of this folder</span></caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></div>"
    )
    return Html(markup, "\n".join(f"{one.place}: {one.title}: {one.answer}" for one in found))
