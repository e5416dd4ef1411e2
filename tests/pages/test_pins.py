"""Every study's pins hold, and those that call themselves published stand in the published tables."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path

import pytest

from plumbline.study import check_study, list_studies, load_study

ROOT = Path(__file__).resolve().parents[2]
STUDIES = list_studies(studies=ROOT / "studies")


def table(name: str) -> list[dict[str, str]]:
    with open(ROOT / "data" / "published" / f"{name}.csv", newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


@cache
def report(name: str):
    return check_study(load_study(name, studies=ROOT / "studies"))


@pytest.mark.parametrize("name", STUDIES)
def test_every_pin_holds_and_every_figure_has_one(name):
    assert report(name).ok, str(report(name))


def test_the_published_headline_is_pinned_as_published():
    pins = load_study("retry", studies=ROOT / "studies").pins
    rows = table("headline")
    assert len(rows) == 18
    for row in rows:
        pin = pins[f"headline/{row['perturbation']}/{row['column']}"]
        assert pin.source.startswith("published")
        assert (pin.value["k"], pin.value["n"]) == (int(row["ok"]), int(row["n"]))
        assert (pin.value["low"], pin.value["high"]) == (float(row["low"]), float(row["high"]))


def test_the_exact_contrasts_are_the_known_fractions():
    pins = load_study("retry", studies=ROOT / "studies").pins
    known = {
        "no_retry_vs_three_retries": ("87609/316455425", 0.0005),
        "three_retries_vs_free_form_agent": ("7/15", 0.4620),
        "no_retry_vs_free_form_agent": ("15521119483/5792779977851", 0.0029),
    }
    for name, (fraction, published) in known.items():
        assert pins[f"contrast/{name}/exact_fraction"].value == fraction
        assert pins[f"contrast/{name}/published_p"].value == published


@pytest.mark.parametrize("name", STUDIES)
def test_no_number_is_typed_into_a_notebook(name):
    """Prose may name counts that the design fixes; a measured figure comes from the figures."""
    book = json.loads((ROOT / "studies" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = "\n".join("".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code")
    assert not re.findall(r"\b0\.\d{3,}|\b\d{2,}\.\d", code), "a figure is typed into a code cell"


@pytest.mark.parametrize("name", STUDIES)
def test_the_notebook_and_the_study_agree_on_parameters(name):
    from plumbline.study.spec import notebook_parameters

    study = load_study(name, studies=ROOT / "studies")
    declared = notebook_parameters(study.notebook)
    assert set(declared) == set(study.parameters)
    for key, entry in declared.items():
        assert entry["help"], f"{name}: parameter {key} has no help in the notebook"
        default = study.parameters[key].default
        assert json.loads(entry["default"].replace("'", '"') or '""') == default
