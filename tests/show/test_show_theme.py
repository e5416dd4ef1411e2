"""The theme: contrast, colour vision, and that charts use nothing the style sheet cannot follow."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.show import conditions, effect, exposure, theme
from plumbline.show.render import chart_svg

# Severity 1.0 matrices of Machado, Oliveira and Fernandes (2009), linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(colour: str) -> np.ndarray:
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_contrast_is_computed_as_in_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_arms_stand_out_from_the_page(mode):
    paper = getattr(theme.PAPER, mode)
    assert min(contrast(getattr(style, mode), paper) for style in theme.ARM_STYLES) >= 3


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_arms_stay_apart_for_every_kind_of_colour_vision(mode, vision):
    seen = [lab(VISION[vision] @ linear(getattr(style, mode))) for style in theme.ARM_STYLES]
    apart = {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(range(len(seen)), 2)}
    assert min(apart.values()) >= 15, apart
    assert min(distance for pair, distance in apart.items() if max(pair) < 3) >= 20, "the first three are used most"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_is_readable_on_every_ground_it_stands_on(mode):
    grounds = [theme.PAPER, theme.PANEL, *theme.TINTS]
    words = [theme.INK, theme.MUTED, theme.ACCENT, theme.GOOD, theme.BAD, theme.CAUTION]
    for word in words:
        for ground in grounds:
            assert contrast(getattr(word, mode), getattr(ground, mode)) >= 4.5, (word.name, ground.name)


def test_each_arm_has_a_shape_and_a_glyph_of_its_own():
    assert len({style.shape for style in theme.ARM_STYLES}) == len({s.glyph for s in theme.ARM_STYLES}) == 6


def test_arm_styles_follow_the_order_given_and_refuse_what_cannot_be_told_apart():
    assert list(theme.arm_styles(["b", "a"])) == ["b", "a"]
    for names, said in (([], "empty"), (["a", "a"], "twice"), (list("abcdefg"), "at most 6")):
        with pytest.raises(ParameterError, match=said):
            theme.arm_styles(names)


def test_every_colour_of_every_chart_is_one_the_page_can_follow():
    frame = pd.DataFrame(
        {
            "group": ["a", "a", "b"],
            "series": ["x", "y", "x"],
            "value": [0.5, None, 1.0],
            "n": [4, 0, 4],
            "low": [0.2, None, 0.4],
            "high": [0.9, None, 1.0],
        }
    )
    met = pd.DataFrame({"group": ["a"], "delivered": [1], "not_delivered": [2], "no_record": [3]})
    known = {token.light for token in theme.TOKENS} | {style.light for style in theme.ARM_STYLES}
    rules = theme.css_chart_colours()
    for chart in (
        conditions(frame, axis_title="share"),
        effect(frame.drop(columns="series").iloc[[0, 2]]),
        exposure(met),
    ):
        drawn = set(re.findall(r'(?:fill|stroke)="(#[^"]+|[a-z]+)"', chart_svg(chart))) - {"none"}
        assert drawn, "a chart without colour draws nothing"
        assert drawn <= known, f"colours that dark pages cannot follow: {drawn - known}"
        assert all(f"[fill='{colour}']" in rules for colour in drawn)


def test_light_dark_notebook_and_paper_each_set_every_variable():
    css = theme.css_variables()
    for line in css.splitlines():
        found = set(re.findall(r"--pl-([a-z0-9-]+):", line))
        assert found == {t.name for t in (*theme.TOKENS, *theme.TINTS)} | {f"arm-{n}" for n in range(1, 7)}
    assert "@media (prefers-color-scheme: dark)" in css
    assert "data-jp-theme-light='false'" in css
    assert css.splitlines()[-1].startswith("@media print")
