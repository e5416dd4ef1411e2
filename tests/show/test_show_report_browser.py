"""A report opened offline in a real browser: nothing fails, every figure is seen, in light and in dark."""

from __future__ import annotations

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from plumbline import show
from tests.browser import missing, page

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    from plumbline.show.report import export_report

    frame = pd.DataFrame(
        {
            "group": ["fault"] * 2,
            "series": ["no retry", "react"],
            "value": [0.8125, None],
            "low": [0.7, None],
            "high": [0.889, None],
            "n": [64, 0],
        }
    )
    met = pd.DataFrame({"group": ["react"], "delivered": [0], "not_delivered": [56], "no_record": [8]})
    step = pd.DataFrame(
        {"name": ["pay"], "arguments": ['{"note":"</script><script>document.title=1</script>"}'], "status": ["ok"]}
    )
    outputs = [
        show.figure(show.conditions(frame, axis_title="%"), show.conditions_data(frame), title="Conditions"),
        show.figure(show.exposure(met), show.exposure_data(met), title="Exposure"),
        show.trace_pair(step, step, titles=("left", "right")),
    ]
    cells = [new_markdown_cell("# A report\n\nLead."), new_markdown_cell("## Part")]
    for number, one in enumerate(outputs, 1):
        bundle = new_output("display_data", data=one._repr_mimebundle_())
        cells.append(new_code_cell("pass", outputs=[bundle], execution_count=number))
    folder = tmp_path_factory.mktemp("report")
    nbformat.write(new_notebook(cells=cells), folder / "a.ipynb")
    return export_report(folder / "a.ipynb", folder / "a.html", provenance={"study": "tiny"})


SEEN = """() => [...document.querySelectorAll('.pl-chart svg')].map(svg => {
  const box = svg.getBoundingClientRect(), text = svg.querySelector('text');
  const paper = svg.querySelector('rect');
  return {wide: box.width, high: box.height, ink: getComputedStyle(text).fill, paper: getComputedStyle(paper).fill};
})"""


def test_it_opens_offline_and_every_figure_is_seen_in_light_dark_and_narrow(report):
    inks = {}
    with page() as (opened, wrong):
        for colour, width in (("light", 1200), ("dark", 1200), ("light", 420)):
            opened.emulate_media(color_scheme=colour)
            opened.set_viewport_size({"width": width, "height": 900})
            opened.goto(report.as_uri())
            figures = opened.evaluate(SEEN)
            assert len(figures) == 2
            assert all(f["wide"] > 200 and f["high"] > 40 for f in figures)
            assert all(f["ink"] != f["paper"] for f in figures)
            assert opened.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
            inks.setdefault(colour, {f["ink"] for f in figures})
        assert inks["light"].isdisjoint(inks["dark"]), "charts do not follow the page into dark mode"

        opened.set_viewport_size({"width": 1200, "height": 900})
        folds = opened.locator("details.pl-code")
        assert opened.locator("details.pl-code[open]").count() == 0
        opened.get_by_role("button", name="Show all code").click()
        assert opened.locator("details.pl-code[open]").count() == folds.count() == 3
        assert opened.title() == "A report", "what an agent wrote was run"
        assert opened.evaluate("getComputedStyle(document.querySelector('.pl-num, .pl-pair td')).textAlign") in (
            "right",
            "left",
        )

        opened.emulate_media(media="print")
        assert not opened.locator("details.pl-code").first.is_visible()
        assert not opened.locator("#pl-show-code").is_visible()
        assert wrong == []


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_study_report(report, colour):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with page(colour=colour) as (opened, _):
        opened.goto(report.as_uri())
        found = axe.Axe().run(opened).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []


def test_the_watch_itself_sees_what_goes_wrong(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='https://example.invalid/a.png'><script>nothing.at.all()</script>", encoding="utf-8")
    with page() as (opened, wrong):
        opened.goto(bad.as_uri())
        opened.wait_for_timeout(100)
    assert any(said.startswith("failed request: https://example.invalid") for said in wrong)
    assert any(said.startswith("script error") for said in wrong)
