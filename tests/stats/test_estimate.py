"""What an answer looks like: text, dictionary, frame, and the state that says "cannot tell"."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from plumbline.stats import Contrast, Estimate, clopper_pearson, exact_permutation, missing_bounds, wilson


def test_text_forms():
    assert str(wilson(52, 64)) == "52/64 = 0.8125 [0.7003, 0.8894] Wilson 95% two-sided, suite"
    assert str(clopper_pearson(64, 64)) == (
        "64/64 = 1.0000, at least 0.9543 Clopper-Pearson 95% one-sided lower, suite"
    )
    assert str(wilson(0, 0)) == "0/0 = cannot tell (no finished runs) Wilson 95% two-sided, none"
    assert str(exact_permutation([64, 55], [64, 56])) == "p = 0.4667 (7/15) exact permutation two-sided, 120 runs"
    assert str(Contrast(p=None, method="x", n=0, caution=("nothing ran",))).startswith("p = cannot tell (nothing ran)")
    assert "± 0.01" in str(Contrast(p=0.01, mc_se=0.01, method="x", n=24))


def test_rounding_is_for_display_only():
    found = wilson(52, 64)
    assert found.low == 0.7002563943589848
    assert found.to_dict()["low"] == found.low


def test_results_are_frozen_plain_and_framed():
    found = exact_permutation([64, 55], [64, 56])
    with pytest.raises(FrozenInstanceError):
        found.p = 0.5
    assert json.loads(json.dumps(found.to_dict()))["fraction"] == "7/15"
    frame = found.to_frame()
    assert frame.shape[0] == 1
    assert frame.loc[0, "p"] == found.p
    assert json.dumps(missing_bounds(55, 56, 64).to_dict())
    html = Estimate(value=0.5, low=0.1, high=0.9, n=2, method="<b>")._repr_html_()
    assert "&lt;b&gt;" in html
    assert found.fraction == Fraction(7, 15)


def test_importing_the_room_loads_no_heavy_library():
    program = (
        "import sys, plumbline.stats as s; s.wilson(52, 64); s.exact_permutation([52, 55], [64, 56]); "
        "s.mcnemar(12, 0); s.sign_flip([4, 0, 4]); s.newcombe([64, 55], [64, 56]); "
        "print([m for m in ('scipy', 'statsmodels', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
