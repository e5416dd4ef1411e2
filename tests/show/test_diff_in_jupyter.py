"""The viewer in real JupyterLab and in Notebook 7: run all, click, walk by key, read the selection back in Python."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.browser import missing
from tests.lab import missing_lab, opened_notebook, run_again, run_all, serve

ROOT = Path(__file__).resolve().parents[2]
WHY_NOT = missing() or missing_lab()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "browser and JupyterLab are there"),
]

MAKE = """import plumbline as plumb
from plumbline.show.diff import diff_run
run = plumb.read_run({run!r})
policy = plumb.Policy("no payment", [plumb.MustNotCall("schedule_payment", severity="critical")])
made = diff_run(run, task="INV-7002", arms=("plan_execute", "react"), perturbation="tool_fault", policy=policy)
viewer = made.widget()
viewer"""
READ = "print('chosen', viewer.selected, made.rows[viewer.selected].violates, *viewer.selected_steps['name'])"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    source = MAKE.format(run=str(ROOT / "data" / "procure_to_pay" / "parity"))
    for kind in ("lab", "notebook"):
        cells = [new_code_cell(source), new_code_cell(READ)]
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / f"{kind}.ipynb")
    with serve(folder) as found:
        yield found


def chosen(page) -> int:
    return int(page.locator(".pl-diff [aria-selected='true']").get_attribute("data-row"))


@pytest.mark.parametrize("kind", ["lab", "notebook"])
def test_run_all_click_walk_to_the_violation_and_read_it_in_python(server, tmp_path, kind):
    with opened_notebook(server, kind, f"{kind}.ipynb") as (page, wrong):
        run_all(page)
        page.locator(".pl-diff [data-row]").first.wait_for()
        cells = page.locator(".jp-Notebook .jp-Cell").count()

        page.locator(".pl-diff [data-row='0'] .pl-cell").first.click()
        assert run_again(page, 1, until="chosen 0 ").split()[:3] == ["chosen", "0", "False"]

        page.locator(".pl-diff .pl-box").focus()
        page.keyboard.press("v")
        at = chosen(page)
        assert at > 0
        assert "violation" in page.locator(f".pl-diff [data-row='{at}']").inner_text()
        said = run_again(page, 1, until=f"chosen {at} ").split()
        assert said[:3] == ["chosen", str(at), "True"]
        assert len(said) in (4, 5)

        page.locator(".pl-diff .pl-box").focus()
        for key in ("b", "a", "d", "d", "x", "Enter", "End", "Home"):
            page.keyboard.press(key)
        assert chosen(page) == 0
        assert page.locator(".jp-Notebook .jp-Cell").count() == cells, "a shortcut of the notebook fired"
        assert wrong == []
        _picture(page, tmp_path, kind)


def _picture(page, tmp_path: Path, kind: str) -> None:
    """Keep a picture, where ``PLUMBLINE_SHOTS`` says so, to be looked at."""
    target = Path(os.environ.get("PLUMBLINE_SHOTS", str(tmp_path))) / f"diff-in-{kind}.png"
    page.locator(".pl-diff").screenshot(path=target)
    assert target.stat().st_size > 5_000
    page.screenshot(path=target.with_name(f"page-in-{kind}.png"))
