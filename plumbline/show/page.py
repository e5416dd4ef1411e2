"""The parts of a report page around its cells: cover, provenance, contents."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.errors import InputError, ParameterError
from plumbline.show.markup import escape, output_css, squeeze, template_text

__all__ = ["add_contents", "check_provenance", "content_policy", "page_css", "provenance_html", "set_cover"]

ANSWER = "answer"
HEADING = re.compile(r"\A\s*# +(?P<title>[^\n]+?)\s*#*\s*(?:\n|\Z)")
DIGEST = re.compile(r"(sha256:)?[0-9a-f]{16,64}")
TIMES = ("created_at", "created", "date", "time", "timestamp", "generated_at")
LABELS = {"study": "Study", "question": "Question", "pins": "Pins", "runs": "Runs", "versions": "Versions"}


def set_cover(notebook: Any, title: str | None) -> str:
    """Move title, lead and answer of a notebook to its start, in place.

    The first cell may open with ``# Title``; what follows it is the lead. A cell tagged ``answer`` may stand anywhere,
    since it needs the figures: its output is shown on the cover, its code stays where it is.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Changed in place.
    title : str or None
        Title of the page; None takes the first heading.

    Returns
    -------
    str
        The title of the page.

    Raises
    ------
    InputError
        Neither a title nor a first heading.
    """
    lead: list[Any] = []
    if notebook.cells and notebook.cells[0].cell_type == "markdown":
        first = notebook.cells[0]
        found = HEADING.match(first.source)
        if found:
            title = title or found.group("title")
            first.source = first.source[found.end() :].strip()
            lead = [notebook.cells.pop(0)] if first.source else []
            if not first.source:
                notebook.cells.pop(0)
    if not title or not title.strip():
        raise InputError("the report has no title: give one, or start the first cell with '# Title'")
    for cell in lead:
        cell.metadata["plumbline_lead"] = True
    answers = [_taken_answer(cell) for cell in notebook.cells if ANSWER in cell.metadata.get("tags", [])]
    moved = [cell for cell in notebook.cells if not cell.metadata.get("plumbline_moved")]
    notebook.cells = [*lead, *answers, *moved]
    return title.strip()


def _taken_answer(cell: Any) -> Any:
    """Return the cell for the cover; a text cell moves there, of a code cell only the outputs do."""
    shown = copy.deepcopy(cell)
    shown.metadata["plumbline_answer"] = True
    shown["id"] = f"cover-{cell.get('id', 'cell')}"[:64]
    if cell.cell_type == "code":
        shown.metadata["transient"] = {"remove_source": True}
        cell["outputs"] = []
    else:
        cell.metadata["plumbline_moved"] = True
    return shown


def check_provenance(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Check where a report says it comes from.

    Parameters
    ----------
    provenance : mapping of str
        ``study``, ``question``, ``runs`` (name to digest), ``versions`` (name to version), ``pins`` (text, or
        ``{"checked": n, "of": n}``), and any other entry with text, a number, a mapping or a list of text.

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        Not a mapping, an empty key or value, a time (two equal builds must give equal bytes), or more pins checked
        than there are.
    """
    if not isinstance(provenance, Mapping):
        raise ParameterError(f"provenance is a mapping, not {type(provenance).__name__}")
    for key, value in provenance.items():
        if not isinstance(key, str) or not key.strip():
            raise ParameterError(f"provenance key {key!r} is not a word")
        if key.lower() in TIMES:
            raise ParameterError(f"provenance names a time ({key!r}); then no two builds of a report would be equal")
        if value is None or value == "" or value == {} or value == []:
            raise ParameterError(f"provenance {key!r} is empty; leave it out, or say that it is not known")
    pins = provenance.get("pins")
    if isinstance(pins, Mapping):
        numbers = [pins.get("checked"), pins.get("of")]
        whole = all(isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in numbers)
        if set(pins) != {"checked", "of"} or not whole or numbers[0] > numbers[1]:  # type: ignore[operator]
            raise ParameterError(
                f"pins are {{'checked': n, 'of': n}}, whole and checked at most of; found {dict(pins)}"
            )
    return dict(provenance)


def provenance_html(provenance: Mapping[str, Any]) -> str:
    """Return the provenance block: where the figures come from, as a definition list."""
    if not provenance:
        body = "<p>No provenance was recorded in this notebook.</p>"
    else:
        ordered = [*(key for key in LABELS if key in provenance), *(key for key in provenance if key not in LABELS)]
        entries = [f"<dt>{escape(_label(key))}</dt><dd>{_entry(key, provenance[key])}</dd>" for key in ordered]
        body = f"<dl>{''.join(entries)}</dl>"
    return f'<section class="pl-provenance" aria-label="Provenance"><p class="pl-kind">Provenance</p>{body}</section>'


def _label(key: str) -> str:
    words = key.replace("_", " ")
    return LABELS.get(key, words[:1].upper() + words[1:])


def _entry(key: str, value: Any) -> str:
    if key == "pins" and isinstance(value, Mapping):
        missing = value["of"] - value["checked"]
        return f"{value['checked']} of {value['of']} checked" + (f"; {missing} not checked" if missing else "")
    if isinstance(value, Mapping):
        if key == "versions":
            return escape(", ".join(f"{name} {version}" for name, version in value.items()))
        return _items([f"{escape(name)} {_value(inner)}" for name, inner in value.items()])
    if isinstance(value, list | tuple):
        return _items([_value(inner) for inner in value])
    return _value(value)


def _items(markup: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{one}</li>" for one in markup) + "</ul>"


def _value(value: Any) -> str:
    text = escape(value)
    return f'<span class="pl-digest">{text}</span>' if DIGEST.fullmatch(str(value)) else text


def add_contents(html_text: str) -> str:
    """Give headings their anchors, fill the table of contents, and check that there is one title.

    Raises
    ------
    InputError
        More than one first-level heading.
    """
    import bs4

    page = bs4.BeautifulSoup(html_text, "html.parser")
    titles = [heading.get_text(" ", strip=True) for heading in page.find_all("h1")]
    if len(titles) != 1:
        raise InputError(f"a report has one title, found {len(titles)}: {titles}; use ## below the first heading")
    headings = page.select(".pl-main h2, .pl-main h3")
    taken: set[str] = {"main"}
    for heading in headings:
        heading["id"] = _anchor(heading.get_text(" ", strip=True), taken)
    contents = page.select_one(".pl-toc")
    if contents is not None and headings:
        contents.append(bs4.BeautifulSoup(_contents(headings), "html.parser"))
    elif contents is not None:
        contents.decompose()
    return str(page)


def _contents(headings: Sequence[Any]) -> str:
    """Nest h3 below the h2 before it."""
    parts: list[str] = []
    inner = False
    for heading in headings:
        link = f'<li><a href="#{heading["id"]}">{escape(heading.get_text(" ", strip=True))}</a>'
        deeper = heading.name == "h3" and bool(parts)
        if deeper and not inner:
            parts.append("<ol>")
        elif not deeper and inner:
            parts.append("</li></ol></li>")
        elif parts:
            parts.append("</li>")
        inner = deeper
        parts.append(link)
    parts.append("</li></ol></li>" if inner else "</li>")
    return f"<details open><summary>Contents</summary><ol>{''.join(parts)}</ol></details>"


def _anchor(text: str, taken: set[str]) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    base = "s-" + (re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "section")
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def page_css() -> str:
    """Return the style sheet of a report page."""
    return output_css() + squeeze(template_text("page.css"))


def content_policy(script: str) -> str:
    """Return the content security policy: nothing is fetched, and only our own script runs, named by its hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
