"""A diff as text, as a static table and as the values of the widget: complete, safe and small."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import bs4
import pytest

from plumbline.show.diff import diff
from plumbline.show.diff.payload import content_of, whole_value
from plumbline.show.diff.widget import DiffWidget, viewer_css, viewer_script
from plumbline.show.diff.words import KIND_WORDS, MARKS, STATUS_WORDS
from tests.traces_to_show import HOSTILE, LONG, call, everything, many_steps

ROOT = Path(__file__).resolve().parents[2]
OVERRIDE = "\u202e"


@pytest.fixture(scope="module")
def made():
    return everything()


def page_of(made) -> bs4.BeautifulSoup:
    return bs4.BeautifulSoup(made._repr_html_(), "html.parser")


def test_every_mark_has_a_sign_and_words_of_its_own():
    assert len({words for _, words in MARKS.values()}) == len(MARKS)
    assert all(sign and words for sign, words in MARKS.values())
    from plumbline.base.schema import KINDS, STEP_STATUSES

    assert set(KIND_WORDS) == set(KINDS)
    assert set(STATUS_WORDS) == set(STEP_STATUSES)


def test_text_table_and_widget_say_the_same_of_every_row(made):
    expected = [" ".join(MARKS[row.mark]) for row in made.rows]
    lines = str(made).splitlines()
    assert lines[0] == made.summary
    assert [line.split(" | ")[0] for line in lines if " | " in line][1:] == expected
    heads = [" ".join(th.get_text().split()) for th in page_of(made).select("tbody th")]
    assert heads == expected
    assert [f"{row['sign']} {row['words']}" for row in content_of(made)["rows"]] == expected


@pytest.mark.parametrize(
    "render",
    [str, lambda made: page_of(made).get_text(" "), lambda made: json.dumps(content_of(made), ensure_ascii=False)],
)
def test_each_rendering_tells_everything(made, render):
    told = " ".join(render(made).split())
    for words in (
        "lines[0].n: 3 → 30 (x10)",
        "injected fault: http_503",
        "failed: HTTP 503",
        "no result; may have happened",
        "✗ violates must_not_call:delete_vendor (critical)",
        "expected at most 1 successful call",
        "✗ violates must_call:request_approval (high)",
        "now on the other side of match_order (step 8)",
        "the same call as step 3, which failed",
        "the two results differ",
        "✓ right",
        "✗ wrong",
        "amount 48200.0 (x10)",
        "final words",
        "2 of 3 in parallel" if "in parallel" in told else "∥2/3",
    ):
        assert words in told, words


def test_what_an_agent_wrote_is_shown_and_never_run(made):
    markup = made._repr_html_()
    assert "<img" not in markup
    assert markup.count("</script") == 0
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; שלום ⟨U+202E⟩abc 👩‍💻" in markup
    for shown in (markup, str(made), json.dumps(content_of(made), ensure_ascii=False)):
        assert OVERRIDE not in shown, "a mark that reorders text reached the reader"
        assert "x" * 400 not in shown, "a long value was not cut"
    for tag in page_of(made).find_all("bdi"):
        assert tag.find() is None, "text only inside what is isolated"
    values = [tag.get_text() for tag in page_of(made).select(".pl-arg bdi")]
    assert any("שלום" in value for value in values)


def test_hostile_names_and_titles_are_escaped_everywhere():
    step = call("<b>pay</b>", {"<i>k</i>": "v"}) | {"error": "<u>e</u>", "injected": "<s>f</s>"}
    import pandas as pd

    made = diff(pd.DataFrame([step]), pd.DataFrame([step | {"name": "z"}]), titles=("<p>l</p>", OVERRIDE + "r"))
    markup = made._repr_html_()
    assert not [tag for tag in ("<b>pay", "<i>k<", "<u>e", "<s>f", "<p>l", OVERRIDE) if tag in markup]
    assert content_of(made)["titles"] == ["<p>l</p>", "⟨U+202E⟩r"]


def test_the_static_table_reads_aloud(made):
    page = page_of(made)
    table = page.find("table")
    assert table.caption.get_text()
    assert [th["scope"] for th in table.thead.find_all("th")] == ["col"] * 3
    assert {th["scope"] for th in [*table.tbody.find_all("th"), *table.tfoot.find_all("th")]} == {"row"}
    assert all(len(row.find_all(["th", "td"], recursive=False)) == 3 for row in table.tbody.find_all("tr"))


def test_widget_state_stays_small_whatever_the_values_hold(made):
    widget = DiffWidget(made)
    state = widget.get_state()
    own = len(json.dumps({name: state[name] for name in ("content", "selected", "trials", "trial")}))
    assert own < 12_000, "two values of 100,000 characters travel with the widget"
    assert len(state["_esm"]) + len(state["_css"]) < 32_000
    wide = {f"field_{n}": n for n in range(5_000)}
    import pandas as pd

    frames = [pd.DataFrame([call("a", wide | {"z": side})]) for side in "lr"]
    assert len(json.dumps(content_of(diff(*frames)))) < 15_000
    assert len(json.dumps(content_of(many_steps()))) < 150_000


def test_a_value_is_handed_over_whole_when_it_is_asked_for(made):
    at = next(n for n, row in enumerate(made.rows) if row.left is not None and row.left.name == "schedule_payment")
    assert len(whole_value(made, at, 0, "argument", 1)) == LONG + 2
    assert whole_value(made, at, 0, "argument", 0) == "4820.0"
    assert whole_value(made, at, 0, "arguments", 0).startswith("amount 4820.0\nmemo ")
    note = next(n for n, row in enumerate(made.rows) if row.left is not None and row.left.name == "request_approval")
    assert whole_value(made, note, 0, "argument", 0) == json.dumps(HOSTILE, ensure_ascii=False).replace(
        OVERRIDE, "⟨U+202E⟩"
    )
    for odd in (
        (99, 0, "argument", 0),
        (at, 2, "argument", 0),
        (at, 0, "argument", 9),
        (at, 0, "result", 0),
        (at, 0, "x", 0),
    ):
        assert whole_value(made, *odd) is None


def test_selection_and_walk_go_both_ways(made):
    widget = made.widget()
    assert (widget.selected, widget.trial) == (made.first, 0)
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "selected")
    widget.set_state({"selected": 2})
    assert seen == [2]
    assert widget.selected_steps["name"].tolist() == ["fetch_invoice", "fetch_invoice"]
    widget.set_state({"trial": 1})
    assert widget.content["titles"] == list(made.walk(1).titles)
    assert widget.diff.cell.here == 1
    assert 0 <= widget.selected < len(widget.content["rows"])
    widget.trial = 0
    assert widget.content == content_of(made)


def test_a_row_or_trial_that_does_not_exist_is_refused(made):
    import traitlets

    widget = made.widget()
    for name, value in (("selected", 99), ("selected", -1), ("trial", 2)):
        before = getattr(widget, name)
        with pytest.raises(traitlets.TraitError, match="does not exist"):
            setattr(widget, name, value)
        assert getattr(widget, name) == before


def test_the_kernel_answers_only_what_it_understands(made):
    widget = made.widget()
    sent = []
    widget.send = lambda content, buffers=None: sent.append(content)
    widget._handle_custom_msg({"ask": "value", "id": "7", "row": 2, "side": 0, "which": "argument", "field": 0}, [])
    widget._handle_custom_msg({"ask": "value", "id": "8", "row": "2", "side": None, "which": 3}, [])
    widget._handle_custom_msg({"ask": "files"}, [])
    widget._handle_custom_msg("value", [])
    assert sent == [
        {"answer": "value", "id": "7", "text": '"INV-1"'},
        {"answer": "value", "id": "8", "text": None},
    ]


def test_outside_a_kernel_the_static_renderings_stand_alone(made):
    bundle = made._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == str(made)


def test_inside_a_kernel_the_widget_comes_with_both_fallbacks(made, monkeypatch):
    monkeypatch.setattr("plumbline.show.diff.live.in_kernel", lambda: True)
    data, _ = made._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert data["text/plain"] == str(made)
    assert data["text/html"] == made._repr_html_()


def test_the_viewer_asks_nothing_of_a_network_and_builds_no_markup():
    script, css = viewer_script(), viewer_css()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "http:",
        "https:",
        "fetch(",
        "import ",
    ):
        assert word not in script, word
    assert "url(" not in css
    assert "@import" not in css


def test_the_viewers_style_knows_light_dark_and_the_notebooks_own_theme():
    css = viewer_css()
    assert "body[data-jp-theme-light='false'] .pl" in css
    assert "@media (prefers-color-scheme: dark)" in css
    assert "body:not([data-jp-theme-light],.vscode-light,.vscode-dark) .pl-diff" in css
    assert "var(--jp-layout-color0" in css


def test_a_diff_is_frozen_and_names_itself(made):
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.rows = ()
    assert repr(made).startswith("TraceDiff('old/INV-1/baseline/0/0', 'new/INV-1/baseline/0/0': 13 rows")


def test_anywidget_is_loaded_only_for_a_widget():
    code = "import sys, plumbline.show.diff; sys.exit('anywidget' in sys.modules or 'ipywidgets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("exporter", ["report", "stock"])
def test_a_saved_notebook_shows_the_diff_without_widgets(made, monkeypatch, tmp_path, exporter):
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    monkeypatch.setattr("plumbline.show.diff.live.in_kernel", lambda: True)
    data, _ = made._repr_mimebundle_()
    cell = new_code_cell("made", outputs=[new_output("display_data", data=data)], execution_count=1)
    notebook = new_notebook(cells=[new_markdown_cell("# A diff\n\nLead."), cell])
    if exporter == "report":
        from plumbline.show.report import export_report

        nbformat.write(notebook, tmp_path / "a.ipynb")
        text = export_report(tmp_path / "a.ipynb", tmp_path / "a.html", provenance={}).read_text(encoding="utf-8")
    else:
        from nbconvert import HTMLExporter

        text = HTMLExporter().from_notebook_node(notebook)[0]
    page = bs4.BeautifulSoup(text, "html.parser")
    heads = [" ".join(th.get_text().split()) for th in page.select(".pl-pair tbody th")]
    assert heads == [" ".join(MARKS[row.mark]) for row in made.rows]
    assert not page.select("img[src=x]")
