"""What has broken notebooks of others, each as a test: widget state, kernels, strings, fonts, MIME types of charts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import altair as alt
import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import plumbline as plumb
from plumbline import show
from plumbline.show import check_offline
from plumbline.show.render import chart_spec, svg_bundle
from plumbline.show.report import export_report
from plumbline.show.theme import FONT
from plumbline.study import runner

ROOT = Path(__file__).resolve().parents[2]
WIDGET = "application/vnd.jupyter.widget-view+json"
ODD = "</script><script>document.title='run'</script> \u202eabc\u202c 👩‍👩‍👧 \x00 $p < 0.05$ `x` " + "long " * 20_000


def step(text):
    return pd.DataFrame({"name": ["pay"], "arguments": [json.dumps({"note": text})], "status": ["ok"]})


def report_of(tmp_path, cells, **metadata):
    nbformat.write(new_notebook(cells=cells, metadata=metadata), tmp_path / "a.ipynb")
    return export_report(tmp_path / "a.ipynb", tmp_path / "a.html", provenance={"study": "tiny"}).read_text("utf-8")


def test_widget_state_in_a_notebook_does_not_empty_its_report_or_ask_the_network(tmp_path):
    pair = plumb.diff(step("one"), step("two"))
    bundle = {**pair._repr_mimebundle_(), WIDGET: {"model_id": "abc", "version_major": 2, "version_minor": 0}}
    state = {"application/vnd.jupyter.widget-state+json": {"version_major": 2, "version_minor": 0, "state": {}}}
    out = new_output("display_data", data={k: v for k, v in bundle.items() if not k.startswith("application/vnd.any")})
    text = report_of(
        tmp_path,
        [new_markdown_cell("# T\n\nLead."), new_code_cell("w", outputs=[out], execution_count=1)],
        widgets=state,
    )
    assert check_offline(text) == []
    assert "pl-pair" in text
    assert "require" not in text
    assert "widget-state" not in text


def test_a_study_runs_in_this_interpreter_whatever_kernel_its_author_used(tmp_path, monkeypatch):
    study = plumb.load_study("retry", studies=ROOT / "studies")
    folder = tmp_path / "retry"
    shutil.copytree(study.folder, folder)
    book = nbformat.read(folder / study.notebook.name, as_version=4)
    book.metadata["kernelspec"] = {"name": "conda-env-of-the-author", "display_name": "Theirs", "language": "python"}
    nbformat.write(book, folder / study.notebook.name)
    asked = {}
    monkeypatch.setattr("papermill.execute_notebook", lambda *args, **given: asked.update(given))
    runner._execute(plumb.load_study("retry", studies=tmp_path), {}, tmp_path / "made.ipynb", tmp_path, bar=False)
    assert asked["kernel_name"] == "python3"
    assert asked["store_widget_state"] is False


@pytest.mark.parametrize("form", ["text/html", "text/plain"])
def test_odd_strings_reach_a_reader_and_are_not_run(form):
    shown = plumb.diff(step("plain"), step(ODD))._repr_mimebundle_()
    assert "<script" not in shown["text/html"]
    assert len(shown[form]) < 100_000, "a long argument is folded"
    assert "p < 0.05" in shown[form] or "p &lt; 0.05" in shown[form]
    assert not re.search("[\x00\u202d\u202e]", shown["text/plain"]), "text that turns the line around is spelled out"


def test_dollar_signs_in_prose_stay_dollars(tmp_path):
    text = report_of(tmp_path, [new_markdown_cell("# T\n\nLead: from $5 to $6 an hour.")])
    assert "from $5 to $6 an hour" in text
    assert "mathjax" not in text.lower()


def test_charts_name_the_fonts_that_their_text_was_measured_with():
    drawn = show.chart_svg(chart())
    fonts = set(re.findall(r'font-family="([^"]+)"', drawn))
    assert {one.replace("&apos;", "'") for one in fonts} == {FONT}
    assert FONT.startswith("Arial, 'Liberation Sans'"), "the widths vl-convert measures with"


def chart():
    data = pd.DataFrame({"v": [1.0, 2.0], "w": ["a", "b"]})
    return alt.Chart(data).mark_point().encode(x="v", y="w").properties(description="Two points.")


def test_what_a_chart_puts_into_a_notebook_is_valid_and_altairs_own_way_is_not():
    bundle = svg_bundle(chart_spec(chart()))[0]

    def saved(data):
        cell = new_code_cell("c", outputs=[new_output("display_data", data=data)], execution_count=1)
        nbformat.validate(new_notebook(cells=[cell]))

    saved(bundle)
    with pytest.raises(nbformat.ValidationError):
        saved({"application/vnd.vegalite.v6.json": chart().to_dict()})
