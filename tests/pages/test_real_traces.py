"""The notebook on real trajectories: it explains itself without them, and gives these counts with them."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import papermill
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks" / "07_real_traces.ipynb"
TRACES = ROOT.parent / "shared" / "tau-bench" / "gpt-4o-airline.json.gz"


def run(tmp_path, **parameters):
    out = tmp_path / "out.ipynb"
    papermill.execute_notebook(
        str(NOTEBOOK), str(out), parameters, cwd=str(tmp_path), kernel_name="python3", progress_bar=False,
        store_widget_state=False, extra_arguments=["--log-level=40"],
    )  # fmt: skip
    return nbformat.read(out, as_version=4)


def test_without_traces_it_says_what_is_missing_and_computes_nothing(tmp_path):
    book = run(tmp_path)
    told = [o for c in book.cells if c.cell_type == "code" for o in c.outputs if "text/markdown" in o.get("data", {})]
    assert "No traces given" in told[0]["data"]["text/markdown"]
    assert book.cells[-1].outputs[0]["data"]["text/plain"] == "{}"


@pytest.mark.skipif(not TRACES.is_file(), reason="../shared/tau-bench is not here")
def test_the_published_table_comes_out_and_every_failure_is_sorted(tmp_path):
    results = tmp_path / "found.json"
    run(tmp_path, traces=str(TRACES), rules=str(NOTEBOOK.parent / "airline_policy.yaml"), results=str(results))
    found = json.loads(results.read_text())
    assert found["pass"] == pytest.approx([21 / 50, 41 / 150, 11 / 50, 1 / 5], rel=1e-12)
    assert found["icc"] == "1465/3621"
    assert found["cross"] == {
        "failure, a rule broken": 21, "failure, every rule kept": 95, "success, a rule broken": 2,
        "success, every rule kept": 82,
    }  # fmt: skip
    assert sum(found["failures"].values()) == 116
    assert found["failures"] == {
        "rules kept, writes as expected": 4, "rules kept, writes differ": 91, "rule broken, writes differ": 21,
    }  # fmt: skip
    assert found["successes_with_other_writes"] == 1
