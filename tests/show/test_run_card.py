"""A run at a glance."""

from __future__ import annotations

import pandas as pd

import plumbline as plumb


def test_a_run_shows_its_counts_by_arm_and_escapes_names():
    plan = plumb.Plan(("<b>", "b"), ("t",), ("baseline", "tool_fault"), ("0",), 1)
    trials = pd.DataFrame({
        "arm": ["<b>", "<b>"], "task_id": ["t", "t"], "perturbation": ["baseline", "tool_fault"],
        "exposure": ["none_planned", "delivered"], "provenance": ["live", "imported"],
    })  # fmt: skip
    run = plumb.Run(trials, run_id="mine", plan=plan)
    page = run._repr_html_()
    assert "<b>" not in page.replace("&lt;b&gt;", "")
    for text in ("&lt;b&gt;", "1 of 1", "none planned", "imported, live", "no trial on record", run.digest):
        assert text in page
