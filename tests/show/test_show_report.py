"""The report of an executed notebook: complete by itself, folded, described, equal on every build."""

from __future__ import annotations

import base64
import hashlib
import re

import altair as alt
import bs4
import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from plumbline.base.errors import InputError, NotFoundError, ParameterError
from plumbline.show import callout, check_offline, figure, table_html
from plumbline.show.checks import find_maths
from plumbline.show.report import ReportExporter, export_report

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PROVENANCE = {
    "study": "tiny",
    "question": "Does it hold?",
    "runs": {"parity": "sha256:" + "ab" * 32},
    "versions": {"plumbline": "0.1.0", "pandas": "3.1.1"},
    "pins": {"checked": 3, "of": 4},
    "plan": "sha256:" + "cd" * 32,
}


def shown(bundle: dict, **metadata):
    return new_output("display_data", data=bundle, metadata=metadata)


def code(source: str, *outputs, tags=(), number=1):
    return new_code_cell(source, outputs=list(outputs), execution_count=number, metadata={"tags": list(tags)})


def dot():
    frame = pd.DataFrame({"v": [1.0]})
    chart = alt.Chart(frame).mark_point(clip=True).encode(x="v").properties(description="One dot at 1.")
    return figure(chart, frame, title="A dot")


@pytest.fixture(scope="module")
def drawing():
    return dot()


@pytest.fixture
def notebook(drawing):
    return made_notebook(drawing)


def made_notebook(drawing):
    cells = [
        new_markdown_cell("# Does it hold?\n\nA lead of **one** sentence."),
        code("x = 1  # parameters", tags=["parameters"]),
        new_markdown_cell("## First part\n\nIt costs $5 and $10."),
        code("table", shown(table_html(pd.DataFrame({"arm": ["a"], "n": [3]}), caption="Counts")._repr_mimebundle_())),
        new_markdown_cell("### Inside\n\n## First part"),
        code("figure", shown(drawing._repr_mimebundle_())),
        code(
            "png",
            shown({"image/png": PIXEL, "text/plain": "<Figure size 640x480>"}, **{"image/png": {"alt": "A pixel."}}),
        ),
        code("print(1)", new_output("stream", name="stdout", text="<plain> \x1b[31mred\x1b[0m")),
        code("widget", shown({"application/vnd.jupyter.widget-view+json": {"model_id": "m1"}, "text/plain": "Slider"})),
        code("answer", shown(callout("answer", "It holds.", "3 of 3.")._repr_mimebundle_()), tags=["answer"]),
    ]
    made = new_notebook(cells=cells)
    made.metadata.update(
        {
            "widgets": {
                "application/vnd.jupyter.widget-state+json": {
                    "state": {"m1": {}},
                    "version_major": 2,
                    "version_minor": 0,
                }
            },
            "papermill": {"start_time": "now"},
        }
    )
    return made


def small(*outputs, text="## First part"):
    """A notebook of three cells, for what does not need more."""
    return new_notebook(cells=[new_markdown_cell("# Small"), new_markdown_cell(text), code("x", *outputs)])


def export(notebook) -> tuple[str, bs4.BeautifulSoup]:
    text, _ = ReportExporter().from_notebook_node(notebook)
    return text, bs4.BeautifulSoup(text, "html.parser")


@pytest.fixture(scope="module")
def page(drawing):
    notebook = made_notebook(drawing)
    notebook.metadata["plumbline"] = PROVENANCE
    return export(notebook)


def test_the_page_is_complete_by_itself(page):
    text, soup = page
    assert check_offline(text) == []
    assert not re.findall(r"https?://(?!www\.w3\.org/)", text)
    for word in ("require", "MathJax", "widget-state", "unpkg", "cdnjs"):
        assert word not in text.replace("required", "")
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert "default-src 'none'" in policy
    assert "script-src 'unsafe-inline'" not in policy
    script = soup.find("script").string
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy, "the page's own script would be refused"
    assert len(soup.find_all("script")) == 1
    assert len(text.encode()) < 150_000


def test_dark_and_print_styles_are_there_once(page):
    _, soup = page
    assert len(soup.find_all("style")) == 1, "outputs keep no style sheet of their own"
    css = soup.style.string
    assert "prefers-color-scheme:dark" in css.replace(" ", "")
    assert re.search(r"@page *\{size: *A4", css)
    assert "@media print" in css


def test_code_is_folded_and_outputs_are_not(page):
    _, soup = page
    folds = soup.select("details.pl-code")
    assert len(folds) == 7, "seven code cells; the answer's code stays in its place"
    assert not any(fold.has_attr("open") for fold in folds)
    assert soup.find(id="pl-show-code").name == "button"
    assert not soup.select("details.pl-code .pl-output")


def test_structure_for_reading_aloud(page):
    _, soup = page
    assert soup.html["lang"] == "en"
    assert [h.get_text() for h in soup.find_all("h1")] == ["Does it hold?"]
    assert soup.select_one("a.pl-skip")["href"] == "#main"
    assert soup.find("main")["id"] == "main"
    assert soup.title.get_text() == "Does it hold?"
    assert soup.select_one(".pl-chart svg")["aria-label"] == "One dot at 1."
    assert soup.find("img")["alt"] == "A pixel."
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))


def test_the_answer_comes_first_then_provenance_then_the_rest(page):
    text, soup = page
    cover = soup.select_one("header.pl-cover")
    assert "A lead of one sentence." in cover.get_text()
    assert "It holds." in cover.get_text()
    assert text.count("It holds.") == 1, "moved, not copied"
    order = [text.index(part) for part in ("It holds.", 'class="pl-provenance"', ">First part</h2>", "Counts</span>")]
    assert order == sorted(order)


def test_provenance_is_a_definition_list(page):
    _, soup = page
    block = soup.select_one(".pl-provenance dl")
    found = {dt.get_text(): dt.find_next_sibling("dd").get_text(" ") for dt in block.find_all("dt")}
    assert found["Study"] == "tiny"
    assert found["Pins"] == "3 of 4 checked; 1 not checked"
    assert found["Versions"] == "plumbline 0.1.0, pandas 3.1.1"
    assert "ab" * 32 in found["Runs"]
    assert found["Plan"].startswith("sha256:")


def test_without_provenance_the_page_says_so():
    assert "No provenance was recorded" in export(small())[0]


def test_contents_follow_the_headings_and_anchors_are_unique(page):
    _, soup = page
    links = soup.select(".pl-toc a")
    assert [(a.get_text(), a["href"]) for a in links] == [
        ("First part", "#s-first-part"), ("Inside", "#s-inside"), ("First part", "#s-first-part-2"),
    ]  # fmt: skip
    assert links[1].find_parent("ol").find_parent("ol") is not None, "a third-level heading is nested"
    assert all(soup.find(id=a["href"][1:]).get_text() == a.get_text() for a in links)


def test_plain_outputs_are_escaped_and_widgets_fall_back_to_text(page):
    text, soup = page
    assert "&lt;plain&gt;" in text
    assert "Slider" in [pre.get_text().strip() for pre in soup.find_all("pre")]


def test_the_same_notebook_gives_the_same_bytes(notebook, tmp_path):
    pages = []
    for build in ("one", "two"):
        notebook.metadata["papermill"] = {"start_time": build}
        for cell in notebook.cells:
            cell["id"] = f"{build}-{len(pages)}{id(cell)}"[:60]
            cell.metadata["papermill"] = {"duration": build}
        nbformat.write(notebook, tmp_path / f"{build}.ipynb")
        target = export_report(tmp_path / f"{build}.ipynb", tmp_path / "out" / f"{build}.html", provenance=PROVENANCE)
        pages.append(target.read_bytes())
    assert pages[0] == pages[1]


def test_the_notebook_given_is_left_as_it_was(notebook):
    before = nbformat.writes(notebook)
    export(notebook)
    assert nbformat.writes(notebook) == before


def test_a_title_given_replaces_the_heading(tmp_path):
    nbformat.write(small(), tmp_path / "a.ipynb")
    made = export_report(tmp_path / "a.ipynb", tmp_path / "a.html", provenance={"study": "x"}, title="Mine & yours")
    soup = bs4.BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser")
    assert [h.get_text() for h in soup.find_all("h1")] == ["Mine & yours"]


def test_cells_can_be_left_out_by_tag(notebook):
    notebook.cells[1].metadata["tags"] = ["remove-cell"]
    notebook.cells[3].metadata["tags"] = ["remove-input"]
    notebook.cells[7].metadata["tags"] = ["remove-output"]
    text, soup = export(notebook)
    assert "parameters" not in text
    assert len(soup.select("details.pl-code")) == 5
    assert "Counts" in text
    assert "&lt;plain&gt;" not in text


SVG = "<svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (shown({"image/png": PIXEL, "text/plain": "<Figure size 640x480 with 1 Axes>"}), "<img> .*says what it shows"),
        (shown({"image/svg+xml": SVG, "text/plain": "<altair.Chart>"}), "<svg> .*says what it shows"),
        (shown({"image/svg+xml": SVG}), "<svg> .*says what it shows"),
        (shown({"text/html": "<img src='data:image/png;base64,x'>"}), "<img> under 'First part'"),
        (shown({"text/html": "<script src='https://example.org/a.js'></script>"}), "fetches from outside"),
        (shown({"text/html": "<link rel='stylesheet' href='//example.org/a.css'>"}), "fetches from outside"),
        (shown({"text/html": "<style>@import 'https://example.org/a.css';</style>"}), "@import"),
        (shown({"text/html": "<h1>Another</h1>"}), "one title, found 2"),
        (
            new_output("error", ename="PinError", evalue="81.2 is not 81.3", traceback=["x"]),
            "stopped with PinError: 81.2",
        ),
    ],
)
def test_a_page_that_would_mislead_is_refused(output, said):
    with pytest.raises(InputError, match=said):
        export(small(output))


def test_drawings_with_words_pass():
    assert (
        export(small(shown({"image/svg+xml": SVG, "text/plain": "A square."})))[1].find("svg")["aria-label"]
        == "A square."
    )


def test_raw_mathematics_is_refused():
    with pytest.raises(InputError, match=r"without MathJax\n.*'\$p = 0.05\$'"):
        export(small(text="with $p = 0.05$ it holds"))


@pytest.mark.parametrize(
    "text", ["$p$", "$$x$$", "a $x_1$ b", r"\(x\)", r"\[x\]", r"\begin{align}", "$0 < p$", "$2^n$"]
)
def test_tex_is_found(text):
    assert find_maths([{"cell_type": "markdown", "source": text, "id": "c"}])


@pytest.mark.parametrize(
    "text", ["$5 and $10", "from $5 to $10.", "`$p$`", "```\n$p$\n```", "a $ b $ c", r"\$p\$", "US$ 5"]
)
def test_prices_and_code_are_not_tex(text):
    assert find_maths([{"cell_type": "markdown", "source": text, "id": "c"}]) == []


def test_a_notebook_that_was_not_run_is_refused(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with pytest.raises(InputError, match="no code cell was run"):
        export(notebook)


def test_a_report_needs_a_title(notebook):
    notebook.cells[0].source = "no heading"
    with pytest.raises(InputError, match="has no title"):
        export(notebook)


def test_a_failed_build_leaves_the_old_page(tmp_path):
    target = tmp_path / "a.html"
    target.write_text("old")
    nbformat.write(small(shown({"image/png": PIXEL})), tmp_path / "a.ipynb")
    with pytest.raises(InputError, match=r"^a\.ipynb: the page is not complete"):
        export_report(tmp_path / "a.ipynb", target, provenance=PROVENANCE)
    assert target.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "a.ipynb"]


def test_what_is_not_a_notebook_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="no notebook at"):
        export_report(tmp_path / "none.ipynb", tmp_path / "a.html", provenance={})
    (tmp_path / "bad.ipynb").write_text("{not json")
    with pytest.raises(InputError, match="is not a notebook"):
        export_report(tmp_path / "bad.ipynb", tmp_path / "a.html", provenance={})


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        ({"created_at": "2026-11-30"}, "names a time"),
        ({"study": ""}, "is empty"),
        ({"runs": {}}, "is empty"),
        ({"pins": {"checked": 5, "of": 4}}, "checked at most of"),
        ({"pins": {"checked": True, "of": 1}}, "whole"),
        ({"pins": {"checked": 1}}, "whole"),
        ({1: "x"}, "not a word"),
        (["study"], "a mapping, not list"),
    ],
)
def test_provenance_that_cannot_stand_is_refused(tmp_path, provenance, said):
    nbformat.write(small(), tmp_path / "a.ipynb")
    with pytest.raises(ParameterError, match=said):
        export_report(tmp_path / "a.ipynb", tmp_path / "a.html", provenance=provenance)


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ('<a href="https://example.org">read</a>', 0),
        ('<img src="data:image/png;base64,x" alt="words">', 0),
        ('<img src="data:image/png;base64,x" alt=" ">', 1),
        ('<img src="data:,x" alt="No description has been provided for this image">', 1),
        ('<img src="chart.png" alt="words">', 1),
        ('<img src="data:,x" srcset="a.png 1x, data:,b 2x" alt="words">', 1),
        ('<svg aria-label="words"></svg>', 0),
        ("<svg><title>words</title></svg>", 0),
        ('<div role="img" aria-label="words"><svg></svg></div>', 0),
        ('<svg aria-hidden="true"></svg>', 0),
        ("<svg></svg>", 1),
        ('<svg aria-label="words"><image href="https://example.org/a.png"/></svg>', 1),
        ('<p style="background: url(https://example.org/a.png)">', 1),
        ("<style>p { background: url('data:image/png;base64,x') }</style>", 0),
        ('<iframe srcdoc="<p>"></iframe>', 1),
        ('<meta http-equiv="refresh" content="0; url=https://example.org">', 1),
    ],
)
def test_the_offline_check_finds_each_fault_and_nothing_else(html, count):
    assert len(check_offline(html)) == count


def test_the_exporter_is_registered_with_nbconvert():
    from nbconvert.exporters import get_exporter

    assert get_exporter("plumbline-report") is ReportExporter
