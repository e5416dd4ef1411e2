"""The data side of the figures, and that the drawing shows what the data say."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.show import conditions, conditions_data, effect, effect_data, exposure, exposure_data
from plumbline.show.render import chart_svg


def published() -> pd.DataFrame:
    """The tool_fault row of the published table, and one cell nobody can tell."""
    return pd.DataFrame(
        [
            {
                "group": "fault",
                "series": "no retry",
                "value": 52 / 64,
                "low": 0.700256,
                "high": 0.889354,
                "n": 64,
                "k": 52,
            },
            {"group": "fault", "series": "three", "value": 1.0, "low": 0.943376, "high": 1.0, "n": 64, "k": 64},
            {"group": "met", "series": "no retry", "value": 20 / 32, "low": 0.4525, "high": 0.7707, "n": 32, "k": 20},
            {"group": "met", "series": "three", "value": None, "n": 0, "k": 0},
        ]
    )


@pytest.fixture(scope="module")
def drawn():
    return conditions(published(), axis_title="outcome correct, %")


@pytest.fixture(scope="module")
def seen(drawn) -> list[str]:
    return texts(chart_svg(drawn))


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_conditions_are_in_percent_in_the_order_given():
    data = conditions_data(published(), group_order=["met", "fault"], series_order=["three", "no retry"])
    assert data["group"].tolist() == ["met", "met", "fault", "fault"]
    assert data["series"].tolist() == ["three", "no retry"] * 2
    assert data["percent"].tolist()[1:] == [62.5, 100.0, 81.25]
    assert data["state"].tolist() == ["cannot tell", "estimate", "estimate", "estimate"]
    assert pd.isna(data["percent"][0])
    assert str(data["n"].dtype) == "Int64"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12))
def test_conditions_data_keeps_every_row_and_every_number(counts):
    rows = [
        {"group": f"g{i}", "series": "s", "value": min(k, n) / n if n else None, "n": n, "k": min(k, n)}
        for i, (k, n) in enumerate(counts)
    ]
    data = conditions_data(pd.DataFrame(rows))
    assert data["group"].tolist() == [row["group"] for row in rows]
    assert data["n"].tolist() == [row["n"] for row in rows]
    for shown, row in zip(data["percent"], rows, strict=True):
        assert pd.isna(shown) if row["value"] is None else shown == row["value"] * 100


def test_what_cannot_be_told_is_drawn_hollow_with_words_and_not_at_zero(drawn, seen):
    assert seen.count("cannot tell (0 of 0)") == 2, "the words and their halo"
    spec = drawn.to_dict()
    filled = [layer for layer in spec["layer"] if layer["mark"].get("filled") is True]
    told = [row for layer in filled for row in spec["datasets"][layer["data"]["name"]]]
    assert [row["percent"] for row in told] == [81.25, 100.0, 62.5]
    hollow = [layer for layer in spec["layer"] if "strokeDash" in layer["mark"]]
    assert [row["label"] for row in spec["datasets"][hollow[0]["data"]["name"]]] == ["cannot tell (0 of 0)"]


def test_value_and_n_stand_beside_every_mark(seen):
    assert {"81.2 %", "100.0 %", "62.5 %", "n=64", "n=32", "fault", "met", "no retry", "three"} <= set(seen)


def test_the_description_says_every_number_and_where_the_axis_starts(drawn):
    assert drawn.description == (
        "Dot plot of outcome correct, %. fault: no retry 81.2 %, n=64; three 100.0 %, n=64. "
        "met: no retry 62.5 %, n=32; three cannot tell (0 of 0). The axis starts at 40 %."
    )
    assert conditions(published(), axis_title="%", description="Mine.").description == "Mine."
    with pytest.raises(ParameterError, match="axis_title is empty"):
        conditions(published(), axis_title=" ")


def test_an_axis_holds_every_interval_and_never_crops_a_mark():
    frame = pd.DataFrame({"group": ["a", "b"], "value": [0.03, 1.0], "low": [0.001, 0.9], "high": [0.1, 1.0], "n": 40})
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in conditions(frame, axis_title="%").to_dict()["layer"]
        if "scale" in layer["encoding"].get("x", {})
    ]
    assert domains
    assert all(domain == [0.0, 100.0] for domain in domains)


def test_effects_are_in_points_beside_the_line_of_no_difference():
    frame = pd.DataFrame(
        {
            "group": ["gain", "loss"],
            "value": [0.1875, -0.0179],
            "low": [0.09, -0.0945],
            "high": [0.3, 0.04],
            "n": [128, 120],
        }
    )
    assert effect_data(frame)["points"].tolist() == pytest.approx([18.75, -1.79])
    chart = effect(frame)
    domain = chart.to_dict()["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert domain[0] <= -9.45
    assert domain[1] >= 30
    assert {"+18.8 points", "−1.8 points", "n=128"} <= set(texts(chart_svg(chart)))
    assert "gain: +18.8 points, n=128." in chart.description


def test_a_long_row_label_is_broken_into_lines_and_not_cut():
    name = "free-form agent against no retry, among trials that met a fault"
    svg = chart_svg(effect(pd.DataFrame({"group": [name], "value": [0.1]})))
    lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", svg)
    assert len(lines) == 3
    assert " ".join(lines) == name


def met() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "group": ["executor", "react"],
            "delivered": [32, 0],
            "not_delivered": [32, 56],
            "no_record": [0, 8],
            "n": [64, 64],
        }
    )


def test_exposure_counts_every_state_zero_included():
    data = exposure_data(met(), group_order=["react", "executor"])
    assert data["trials"].tolist() == [0, 56, 8, 32, 32, 0]
    assert set(data["planned"]) == {64}
    shown = texts(chart_svg(exposure(met())))
    assert {"fault delivered", "not delivered", "no completed record", "0 of 64", "56 of 64", "8 of 64"} <= set(shown)
    assert shown.count("32 of 64") == 2
    assert "react: fault delivered 0 of 64" in exposure(met()).description


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": [64, 63]}, "add up to 64, but n is 63"),
        ({"delivered": [32, -1]}, "react: delivered is -1"),
        ({"delivered": [32, None]}, "react: delivered is nan"),
        ({"delivered": [32, 0.5]}, "whole number"),
        ({"group": ["react", "react"]}, "stands twice"),
        ({"group": ["", "react"]}, "is empty"),
        ({"lost": [0, 0]}, "not known \\['lost'\\]"),
    ],
)
def test_counts_that_cannot_be_are_refused(change, said):
    with pytest.raises(ParameterError, match=said):
        exposure_data(met().assign(**change))


def test_exposure_without_rows_or_columns_is_refused():
    for frame in (met().iloc[:0], met().drop(columns="no_record")):
        with pytest.raises(ParameterError, match="lacking"):
            exposure_data(frame)
