"""The one theme: colours, shapes and sizes of every figure, table and page.

Charts are drawn with the light colours as plain attributes, so a saved SVG is complete by itself. On a page the style
sheet maps exactly those attribute values to custom properties (:func:`css_chart_colours`), and the same drawing follows
the page into dark mode and back to black on white on paper.

Arm colours are the Okabe-Ito hues, moved in lightness until each has a contrast of at least 3:1 to its page and any two
stay apart under simulated protanopia, deuteranopia and tritanopia (``tests/show`` measures both). A shape goes with
each colour, because no figure may need its colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plumbline.base.errors import ParameterError

__all__ = [
    "ARM_STYLES",
    "FONT",
    "MONO",
    "SIZES",
    "TOKENS",
    "ArmStyle",
    "Token",
    "arm_styles",
    "chart_config",
    "css_chart_colours",
    "css_variables",
]

FONT = "Arial, 'Liberation Sans', sans-serif"
MONO = "'SFMono-Regular', Menlo, Consolas, 'Liberation Mono', monospace"
SIZES = {"label": 13, "title": 13, "value": 13}
"""Text sizes in a chart, in px; a chart is shown at its natural width, so these are the sizes a reader meets."""


@dataclass(frozen=True)
class Token:
    """One named colour, on a light and on a dark page, as lower-case ``#rrggbb``."""

    name: str
    light: str
    dark: str


@dataclass(frozen=True)
class ArmStyle:
    """How one arm is drawn everywhere: colour on a light page, colour on a dark page, Vega shape, the same as text."""

    light: str
    dark: str
    shape: str
    glyph: str


INK = Token("ink", "#1b1f24", "#e6e8eb")
MUTED = Token("muted", "#565f6b", "#a9b2bd")
LINE = Token("line", "#d5dae0", "#3a424c")
AXIS = Token("axis", "#7d8794", "#7e8997")
PAPER = Token("paper", "#ffffff", "#15181c")
PANEL = Token("panel", "#f5f7f9", "#1d2228")
ACCENT = Token("accent", "#0b5c8f", "#6cb6e8")
GOOD = Token("good", "#0c6b50", "#4ecfa6")
BAD = Token("bad", "#a63d00", "#ff9d66")
CAUTION = Token("caution", "#7a5700", "#efc14e")
GOOD_TINT = Token("good-tint", "#e9f5f0", "#15302a")
BAD_TINT = Token("bad-tint", "#fcefe6", "#3a2418")
CAUTION_TINT = Token("caution-tint", "#fbf4df", "#332b14")
ACCENT_TINT = Token("accent-tint", "#eaf2f8", "#172a38")

TOKENS = (INK, MUTED, LINE, AXIS, PAPER, PANEL, ACCENT, GOOD, BAD, CAUTION)
TINTS = (GOOD_TINT, BAD_TINT, CAUTION_TINT, ACCENT_TINT)

ARM_STYLES = (
    ArmStyle("#1b76c4", "#4a9fee", "circle", "●"),
    ArmStyle("#d05208", "#ff7f30", "square", "■"),
    ArmStyle("#00573f", "#9af0cd", "triangle-up", "▲"),
    ArmStyle("#8c2a80", "#f2b0ea", "diamond", "◆"),
    ArmStyle("#5a4a00", "#f0dc6a", "triangle-down", "▼"),
    ArmStyle("#838a93", "#78828d", "cross", "✚"),
)


def arm_styles(names: Sequence[str]) -> dict[str, ArmStyle]:
    """Give every arm its colour and shape, in the order given.

    Parameters
    ----------
    names : sequence of str
        Arm labels, each once, at most six. Pass the same order to every figure of a study.

    Returns
    -------
    dict of str to ArmStyle

    Raises
    ------
    ParameterError
        No name, a name twice, or more names than there are styles that can be told apart.

    Examples
    --------
    >>> styles = arm_styles(["no retry", "three retries"])
    >>> styles["no retry"].shape, styles["three retries"].shape
    ('circle', 'square')
    """
    if not names:
        raise ParameterError("no arm to draw: the list of names is empty")
    if len(set(names)) != len(names):
        raise ParameterError(f"an arm is named twice in {list(names)}; name each once")
    if len(names) > len(ARM_STYLES):
        raise ParameterError(
            f"{len(names)} arms in one figure; at most {len(ARM_STYLES)} can be told apart. Split the figure."
        )
    return dict(zip(names, ARM_STYLES, strict=False))


def css_variables(follows: str = ".pl-page, .pl-page .pl") -> str:
    """Return the custom properties for light pages, dark pages, notebooks and paper.

    A page of ours follows the reader's system. A notebook has its own light and dark setting, which decides there.

    Parameters
    ----------
    follows : str
        Selector of what follows the reader's system.
    """
    light = _declare("light")
    dark = _declare("dark")
    return "\n".join(
        [
            f".pl, .pl-page {{ color-scheme: light; {light} }}",
            f"@media (prefers-color-scheme: dark) {{ {follows} {{ color-scheme: dark; {dark} }} }}",
            f"body[data-jp-theme-light='false'] .pl, body.vscode-dark .pl {{ color-scheme: dark; {dark} }}",
            f"@media print {{ {follows} {{ color-scheme: light; {light} }} }}",
        ]
    )


def css_chart_colours() -> str:
    """Return the rules that let an inlined chart follow the page: attribute value to custom property."""
    rules = []
    for token in TOKENS:
        rules += _follow(token.light, f"--pl-{token.name}")
    for number, style in enumerate(ARM_STYLES, 1):
        rules += _follow(style.light, f"--pl-arm-{number}")
    return "\n".join(rules)


def chart_config() -> dict[str, Any]:
    """Return the Vega-Lite configuration of every chart, in light colours."""
    text = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK.light, "titleColor": MUTED.light}
    sizes = {"labelFontSize": SIZES["label"], "titleFontSize": SIZES["title"], "titleFontWeight": "normal"}
    return {
        "aria": False,  # the drawing carries one description as a whole; a label per mark would only be read over it
        "background": PAPER.light,
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            **text,
            **sizes,
            "domainColor": AXIS.light,
            "tickColor": AXIS.light,
            "gridColor": LINE.light,
            "labelPadding": 6,
            "titlePadding": 8,
            "labelLimit": 260,
        },
        "legend": {**text, **sizes, "symbolSize": 90, "symbolStrokeWidth": 1.8, "labelLimit": 260, "columnPadding": 18},
        "header": {**text, **sizes},
        "text": {"font": FONT, "fontSize": SIZES["value"], "fill": INK.light},
        "title": {"font": FONT, "fontSize": 13, "color": INK.light, "anchor": "start", "fontWeight": "normal"},
    }


def _declare(mode: str) -> str:
    pairs = [(token.name, token.light if mode == "light" else token.dark) for token in (*TOKENS, *TINTS)]
    pairs += [(f"arm-{n}", style.light if mode == "light" else style.dark) for n, style in enumerate(ARM_STYLES, 1)]
    return " ".join(f"--pl-{name}: {colour};" for name, colour in pairs)


def _follow(colour: str, name: str) -> list[str]:
    return [
        f".pl-chart svg [fill='{colour}'] {{ fill: var({name}); }}",
        f".pl-chart svg [stroke='{colour}'] {{ stroke: var({name}); }}",
    ]
