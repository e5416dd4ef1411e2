"""A piece of HTML with its plain-text twin, and the style sheet it carries with it."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from plumbline.show.theme import FONT, MONO, css_chart_colours, css_variables

__all__ = ["Html", "escape", "output_css", "squeeze", "strip_styles", "template_text", "visible"]

_STYLE = re.compile(r"<style data-plumbline>.*?</style>\s*", re.DOTALL)


@dataclass(frozen=True)
class Html:
    """Something to look at: ``markup`` for a notebook or a page, ``text`` for a terminal, a diff or a plain viewer.

    Parameters
    ----------
    markup : str
        HTML, already escaped.
    text : str
        The same content as plain text.
    svg : str, optional
        The drawing alone, for viewers that show images but no HTML.
    """

    markup: str
    text: str
    svg: str | None = None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<style data-plumbline>{output_css()}</style>\n<div class="pl">{self.markup}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = {"text/html": self._repr_html_(), "text/plain": self.text}
        if self.svg is not None:
            bundle["image/svg+xml"] = self.svg
        return bundle


def escape(value: object) -> str:
    """Return text that is safe inside an element and inside a quoted attribute.

    Control characters that HTML cannot hold, and the marks that reorder text, are spelled out: an agent's output may
    hold anything, and a reader must see what is there.

    Examples
    --------
    >>> escape('</script><b a="1">')
    '&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;'
    """
    return html.escape(visible(value), quote=True)


def visible(value: object) -> str:
    """Return text in which control characters and the marks that reorder text are spelled out.

    Examples
    --------
    >>> visible("a\x07")
    'a⟨U+0007⟩'
    """
    return "".join(map(_visible, str(value)))


def _visible(character: str) -> str:
    if character in "\n\t\u200c\u200d" or character.isprintable():  # joiners hold emoji and scripts together
        return character
    return f"⟨U+{ord(character):04X}⟩" if unicodedata.category(character) in {"Cc", "Cf", "Cs"} else character


def strip_styles(markup: str) -> str:
    """Return HTML without the style sheets that outputs carry; a report has them once in its head."""
    return _STYLE.sub("", markup)


def template_text(name: str) -> str:
    """Return one packaged file of the report template."""
    return files("plumbline.show").joinpath("_templates", "plumbline", name).read_text(encoding="utf-8")


@cache
def output_css() -> str:
    """Return the style sheet of every output: variables, chart colours and the rules of ``outputs.css``."""
    fonts = f".pl, .pl-page {{ --pl-font: {FONT}; --pl-mono: {MONO}; }}"
    return squeeze("\n".join([fonts, css_variables(), css_chart_colours(), template_text("outputs.css")]))


def squeeze(css: str) -> str:
    """Return CSS without comments and idle space."""
    without_comments = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", without_comments)).replace(";}", "}").strip()
