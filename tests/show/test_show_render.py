"""Charts become SVG with words: MIME bundle, description, ids."""

from __future__ import annotations

import re

import altair as alt
import pandas as pd
import pytest

from plumbline.base.errors import InputError, ParameterError
from plumbline.show import chart_svg, enable, figure
from plumbline.show.render import inline_svg, svg_bundle


@pytest.fixture
def restored():
    before = alt.renderers.active, alt.theme.active
    yield
    alt.renderers.enable(before[0])
    alt.theme.enable(before[1])


def chart(description: str | None = "One dot at 1.") -> alt.Chart:
    drawn = alt.Chart(pd.DataFrame({"v": [1.0]})).mark_point(clip=True).encode(x="v")
    return drawn if description is None else drawn.properties(description=description)


def test_the_renderer_gives_svg_and_words_and_nothing_else(restored):
    assert enable() is None
    assert alt.renderers.active == alt.theme.active == "plumbline"
    bundle = chart()._repr_mimebundle_(None, None)
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert sorted(data) == ["image/svg+xml", "text/plain"]
    assert data["text/plain"] == "One dot at 1."
    assert "Arial" in data["image/svg+xml"], "the theme was not used"


@pytest.mark.parametrize("description", [None, "", "  \n "])
def test_a_chart_without_words_is_refused(restored, description):
    enable()
    with pytest.raises(ParameterError, match="no description"):
        chart(description)._repr_mimebundle_(None, None)
    with pytest.raises(ParameterError, match="no description"):
        chart_svg(chart(description))
    with pytest.raises(ParameterError, match="no description"):
        svg_bundle({"description": description})


def test_the_drawing_carries_its_words_escaped():
    svg = chart_svg(chart('5 < 6 & "quoted" </svg><script>'))
    assert svg.count("<svg ") == 1
    assert 'role="img" aria-label="5 &lt; 6 &amp; &quot;quoted&quot; &lt;/svg&gt;&lt;script&gt;"' in svg
    assert "<script" not in svg


def test_two_charts_on_one_page_do_not_share_an_id():
    one, other = chart_svg(chart()), chart_svg(chart().properties(width=99))
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (one, other)]
    assert all(ids), "no clip path; this test needs one"
    assert not ids[0] & ids[1]
    for svg, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= own


def test_the_same_chart_gives_the_same_bytes():
    assert chart_svg(chart()) == chart_svg(chart())


def test_drawings_of_other_makers_get_words_and_lose_their_prolog():
    foreign = '<?xml version="1.0"?><!DOCTYPE svg><svg width="9"><g id="a"></g><use href="#a"/></svg>'
    placed = inline_svg(foreign, "nine")
    assert placed.startswith("<svg ")
    assert 'aria-label="nine"' in placed
    name = re.search(r'id="([^"]+)"', placed).group(1)
    assert name != "a"
    assert f'href="#{name}"' in placed
    assert "aria-label" not in inline_svg(foreign, "")
    assert inline_svg(placed, "other words") == placed
    with pytest.raises(InputError, match="no <svg>"):
        inline_svg("<p>", "x")


def test_a_figure_is_drawing_caption_and_data():
    shown = figure(chart(), pd.DataFrame({"v": [1.5], "note": [""]}), title="A <dot>", notes=["from here"])
    bundle = shown._repr_mimebundle_()
    assert sorted(bundle) == ["image/svg+xml", "text/html", "text/plain"]
    assert bundle["image/svg+xml"] in bundle["text/html"]
    assert "<figcaption>A &lt;dot&gt;</figcaption>" in bundle["text/html"]
    assert "<details" in bundle["text/html"]
    assert "<td" in bundle["text/html"] or '<th scope="row"' in bundle["text/html"]
    assert "note</th>" not in bundle["text/html"], "a column that holds nothing is left out"
    assert bundle["text/plain"].splitlines()[:3] == ["A <dot>", "One dot at 1.", "from here"]


def test_a_figure_needs_title_words_and_a_chart():
    data = pd.DataFrame({"v": [1]})
    with pytest.raises(ParameterError, match="needs a title"):
        figure(chart(), data, title=" ")
    with pytest.raises(ParameterError, match="no description"):
        figure(chart(None), data, title="dots")
    with pytest.raises(ParameterError, match="only repeats the title"):
        figure(chart(), data, title="dots", description="dots.")
    with pytest.raises(ParameterError, match="not str"):
        figure("a picture", data, title="dots")
    assert 'aria-label="Two words."' in figure(chart(None), data, title="dots", description="Two words.").svg
