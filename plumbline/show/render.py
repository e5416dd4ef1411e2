"""Charts as self-contained SVG: no browser, no network, the same bytes for the same chart.

Altair's own renderers ask a CDN for JavaScript or emit a MIME type that nbformat refuses. This one gives
``image/svg+xml`` and, as ``text/plain``, the chart's description, which every chart must have.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from plumbline.base.errors import InputError, ParameterError
from plumbline.show.markup import escape
from plumbline.show.theme import chart_config

__all__ = ["chart_spec", "chart_svg", "enable", "inline_svg", "svg_bundle", "svg_of"]

_PART_ROLES = re.compile(r' (?:role|aria-roledescription|aria-label|aria-hidden)="[^"]*"(?=[^<>]*>)')
_IDS = re.compile(r'\bid="([^"]+)"')
_USES = re.compile(r"""(\bid="|url\(["']?#|\bhref="#)([^"')]+)(["')])""")


def enable() -> None:
    """Make every Altair chart of this notebook use the theme and show as SVG with its description.

    Raises
    ------
    ParameterError
        Later, when a chart without a description is shown.
    """
    import altair as alt

    alt.theme.register("plumbline", enable=True)(lambda: alt.theme.ThemeConfig(config=chart_config()))
    alt.renderers.register("plumbline", svg_bundle)
    alt.renderers.enable("plumbline")


def svg_bundle(spec: dict[str, Any], **_options: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the MIME bundle of one chart: the drawing, and its description as text.

    Altair calls this with a finished Vega-Lite specification (and with options of other renderers, which do not apply).
    """
    return {"image/svg+xml": svg_of(spec), "text/plain": _described(spec.get("description"))}, {}


def chart_svg(chart: Any) -> str:
    """Return an Altair chart as SVG in the theme's light colours.

    Parameters
    ----------
    chart : altair.Chart
        Any Altair chart with a description.

    Returns
    -------
    str
        One ``<svg>`` element with ``role="img"`` and the description as its accessible name.

    Raises
    ------
    ParameterError
        Not a chart, or a chart without a description.
    """
    return svg_of(chart_spec(chart))


def chart_spec(chart: Any, *, description: str | None = None) -> dict[str, Any]:
    """Return an Altair chart as a Vega-Lite specification that says what it shows.

    Raises
    ------
    ParameterError
        Not a chart, or a chart without a description when none is given.
    """
    if not hasattr(chart, "to_dict") or not hasattr(chart, "properties"):
        raise ParameterError(f"a chart is an Altair chart, not {type(chart).__name__}")
    spec = chart.to_dict()
    return {**spec, "description": _described(spec.get("description") if description is None else description)}


def svg_of(spec: dict[str, Any]) -> str:
    """Return a Vega-Lite specification as SVG."""
    import vl_convert

    description = _described(spec.get("description"))
    themed = {**spec, "config": _merged(chart_config(), spec.get("config", {}))}
    drawn = vl_convert.vegalite_to_svg(themed)
    return _named(_own_ids(drawn), description)


def inline_svg(svg: str, alt: str) -> str:
    """Return any drawing as an element for a page: no prolog, ids of its own, and its words unless it carries some.

    Parameters
    ----------
    svg : str
        An SVG document of any maker.
    alt : str
        What it shows; empty if nobody said, which the report's check then finds.
    """
    start = svg.find("<svg")
    if start < 0:
        raise InputError(f"an image/svg+xml output holds no <svg> element but {svg[:40]!r}")
    element = svg[start:].strip()
    if "aria-label=" in element.split(">", 1)[0] or not alt.strip():
        return element
    return _named(_own_ids(element), " ".join(alt.split()))


def _described(description: object) -> str:
    text = description.strip() if isinstance(description, str) else ""
    if not text:
        raise ParameterError(
            "the chart has no description, so a reader who cannot see it learns nothing. "
            "Say what it shows: chart.properties(description='...')"
        )
    return " ".join(text.split())


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _merged(result[key], value) if both else value
    return result


def _own_ids(svg: str) -> str:
    """Rename ids by order and content: Vega counts clip paths through a whole process, and a page holds many charts."""
    order = {name: str(place) for place, name in enumerate(dict.fromkeys(_IDS.findall(svg)))}

    def renamed(text: str, prefix: str) -> str:
        return _USES.sub(lambda use: f"{use[1]}{prefix}{order[use[2]]}{use[3]}" if use[2] in order else use[0], text)

    return renamed(svg, "c" + hashlib.sha256(renamed(svg, "").encode()).hexdigest()[:10] + "-")


def _named(svg: str, description: str) -> str:
    """Make a drawing one image with one name: its marks have no words of their own, so they get no roles either."""
    label = escape(description)
    head, body = svg.split(">", 1)
    return f'{head} role="img" aria-label="{label}">{_PART_ROLES.sub("", body)}'
