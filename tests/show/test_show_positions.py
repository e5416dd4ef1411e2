"""Compliance by position: the figure shows its frame, and what cannot be told is said in words."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.decide.drift import compliance_by_position
from plumbline.rules import CallAtMost, Policy
from plumbline.show.plots import compliance_positions, compliance_positions_data
from plumbline.show.render import chart_svg
from plumbline.traces import Recording

AXIS = "sessions without a violation there, % (95 % Wilson interval)"


def sessions() -> Recording:
    """Constructed: thirty short sessions, twelve long ones of which four pay twice after a compaction."""
    rows = []
    for i in range(42):
        names = ["pay", *["read"] * (4 + i % 3 if i < 30 else 58)]
        if i >= 38:
            names[30], names[40] = "compaction", "pay"
        rows += [(f"a/t{i}/baseline/0/0", name) for name in names]
    steps = pd.DataFrame(rows, columns=["trial_id", "name"])
    steps["kind"] = ["message" if name == "compaction" else "tool_call" for name in steps["name"]]
    trials = pd.DataFrame({"arm": "a", "task_id": [f"t{i}" for i in range(42)]})
    return Recording(trials, steps, run_id="constructed")


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return compliance_positions_data(compliance_by_position(sessions(), Policy("p", [CallAtMost("pay", 1)])))


def test_the_frame_says_where_and_how_many(data):
    rows = {row["group"]: row for row in data.to_dict("records")}
    late, after = rows["calls 21-50"], rows["compactions: after one"]
    assert (late["percent"], late["n"]) == (pytest.approx(100 * 8 / 12), 12)
    assert (after["percent"], after["n"], after["k"]) == (0.0, 4, 0)
    assert rows["compactions: before any"]["percent"] == 100.0
    assert rows["compactions: after two or more"]["state"] == "cannot tell"
    assert (rows["sessions: long"]["n"], rows["sessions: compacted"]["n"], rows["sessions: other"]["n"]) == (8, 4, 30)


def test_the_figure_draws_the_frame(data):
    chart = compliance_positions(data, axis_title=AXIS)
    seen = re.findall(r"<text[^>]*>([^<]*)</text>", chart_svg(chart))
    assert any("cannot tell: no session came so far" in text for text in seen)
    assert any("n=4 sessions" in text for text in seen)
    assert "compactions: after one" in chart.to_dict()["description"]
    with pytest.raises(ParameterError, match="compliance_positions_data"):
        compliance_positions(data.drop(columns="calls"), axis_title=AXIS)
