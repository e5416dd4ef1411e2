"""What a report must not do: fetch anything, show a picture without words, or leave raw mathematics in its prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["NO_DESCRIPTION", "check_offline", "find_maths", "find_unfinished"]

NO_DESCRIPTION = "No description has been provided for this image"
"""What nbconvert writes where a picture has no alternative text."""
LOADS = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src", "srcdoc"), "image": ("href", "xlink:href"),
    "img": ("src", "srcset"), "input": ("src",), "link": ("href",), "object": ("data",), "script": ("src",),
    "source": ("src", "srcset"), "track": ("src",), "use": ("href", "xlink:href"), "video": ("src", "poster"),
}  # fmt: skip
INSIDE = ("", "#", "data:")
CSS_IMPORT = re.compile(r"@import\b", re.IGNORECASE)
CSS_URL = re.compile(r"url\(\s*['\"]?\s*([^'\")\s]*)", re.IGNORECASE)
CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)[^\n]*$|`+[^`\n]+`+", re.DOTALL | re.MULTILINE)
MATHS = re.compile(
    r"\$\$.+?\$\$|(?<![\\$\w])\$(?=[^\s$\d])[^$\n]*?[^\s\\$]\$(?![\d$])|(?<![\\$\w])\$\d[^$\n]*?[=+^_\\<>][^$\n]*?\$(?!\d)"
    r"|\\\(.+?\\\)|\\\[.+?\\\]|\\begin\{",
    re.DOTALL,
)


def check_offline(html_text: str) -> list[str]:
    """List what a page would fetch from elsewhere, and every picture without words.

    Parameters
    ----------
    html_text : str
        A whole HTML page.

    Returns
    -------
    list of str
        One sentence a fault; empty when the page is complete by itself. Links that a reader may follow are no fault.

    Examples
    --------
    >>> check_offline('<img src="https://example.org/a.png" alt="a chart">')
    ['<img src="https://example.org/a.png"> fetches from outside the page']
    >>> check_offline("<p>no picture, no request</p>")
    []
    """
    import bs4

    page = bs4.BeautifulSoup(html_text, "html.parser")
    faults = []
    for element in page.find_all(True):
        faults += _fetches(element)
        faults += _css_faults(str(element.get("style", "")), "style attribute")
        if element.name in ("img", "svg") and not _has_words(element):
            faults.append(f"<{element.name}> {_place(element)} has no text that says what it shows")
    for sheet in page.find_all("style"):
        faults += _css_faults(sheet.get_text(), "style sheet")
    for meta in page.find_all("meta", attrs={"http-equiv": re.compile("^refresh$", re.IGNORECASE)}):
        faults.append(f"<meta http-equiv=refresh> leads the reader away: {meta.get('content')!r}")
    return faults


def find_maths(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """List markdown cells that hold TeX, which a page without MathJax shows raw.

    A price is not mathematics: ``$5 and $10`` is left alone.

    Examples
    --------
    >>> find_maths([{"cell_type": "markdown", "source": "so $p = 0.05$ here", "id": "s1"}])
    ["cell s1 holds '$p = 0.05$'; write it in words, Unicode or HTML (p = 0.05, <i>p</i>)"]
    """
    faults = []
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "markdown":
            continue
        found = MATHS.search(CODE.sub("", cell["source"]))
        if found:
            text = found.group(0)[:60]
            faults.append(
                f"cell {cell.get('id', number)} holds {text!r}; write it in words, Unicode or HTML (p = 0.05, <i>p</i>)"
            )
    return faults


def find_unfinished(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """List why a notebook is not an executed one: a cell that failed, or no cell that ran."""
    code = [cell for cell in cells if cell["cell_type"] == "code" and cell["source"].strip()]
    faults = []
    for cell in code:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                name = cell.get("id", "without id")
                faults.append(f"cell {name} stopped with {output.get('ename')}: {output.get('evalue')}")
    if code and not any(cell.get("outputs") or cell.get("execution_count") for cell in code):
        faults.append("no code cell was run, so there is nothing to report; run the notebook first, with papermill")
    return faults


def _fetches(element: Any) -> list[str]:
    faults = []
    for name in LOADS.get(element.name, ()):
        value = str(element.get(name, "")).strip()
        candidates = [part.split(" ")[0] for part in re.split(r",\s+", value)] if name == "srcset" else [value]
        if name == "srcdoc" and value:
            faults.append("<iframe srcdoc> holds a page of its own, which this check does not read")
            continue
        for target in candidates:
            if target and not target.lower().startswith(INSIDE[1:]):
                faults.append(f'<{element.name} {name}="{target[:80]}"> fetches from outside the page')
    return faults


def _css_faults(css: str, where: str) -> list[str]:
    faults = [f"a {where} uses @import"] if CSS_IMPORT.search(css) else []
    outside = [target for target in CSS_URL.findall(css) if target and not target.lower().startswith(INSIDE[1:])]
    return faults + [f"a {where} fetches url({target[:80]})" for target in outside]


def _has_words(element: Any) -> bool:
    if element.name == "img":
        words = str(element.get("alt", "")).strip()
        return bool(words) and words != NO_DESCRIPTION
    if element.get("aria-hidden") == "true" or element.find_parent(attrs={"aria-hidden": "true"}):
        return True
    if element.find_parent("svg"):
        return True  # the outermost drawing carries the words
    named = [element, *element.find_parents(attrs={"role": "img"})]
    title = element.find("title", recursive=False)
    return any(str(one.get("aria-label", "")).strip() for one in named) or bool(title and title.get_text().strip())


def _place(element: Any) -> str:
    heading = element.find_previous(["h1", "h2", "h3"])
    return f"under {heading.get_text(' ', strip=True)!r}" if heading else "at the top of the page"
