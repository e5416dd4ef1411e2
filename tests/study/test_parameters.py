"""A parameter that is unknown or impossible is refused before anything runs, with the sentence that mends it."""

from __future__ import annotations

import pytest

from plumbline.base.errors import InputError, NotFoundError, ParameterError
from plumbline.study.parameters import Parameter, checked, from_text

CONFIDENCE = Parameter("confidence", "float", 0.95, "help", 0, 1, True)
RUNS = Parameter("runs", "int", 2, "help", 1, 50)
ARM = Parameter("arm", "choice", "react", "help", allowed=("react", "guarded"))
ARMS = Parameter("arms", "choices", ["react"], "help", allowed=("react", "guarded"))
DATA = Parameter("data", "folder", "", "help")
ALL = {p.name: p for p in (CONFIDENCE, RUNS, ARM, ARMS, DATA)}


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), 0, 1, 1.5, -0.1, True, "0.9", None, [0.9]]
)
def test_an_impossible_confidence_is_refused(value):
    with pytest.raises(ParameterError, match="confidence"):
        CONFIDENCE.check(value)


@pytest.mark.parametrize("value", [0, 51, 2.0, True, "2", float("nan"), None])
def test_an_impossible_count_is_refused(value):
    with pytest.raises(ParameterError, match="runs"):
        RUNS.check(value)


def test_possible_values_keep_their_type():
    given = {"confidence": 0.9, "runs": 3, "arm": "guarded", "arms": ["guarded"], "data": ""}
    assert checked(ALL, given, study="s") == given
    assert checked(ALL, {}, study="s")["confidence"] == 0.95


MARGINS = Parameter("margins", "numbers", [0.05], "help", 0, 1, True)


@pytest.mark.parametrize("value", [[], [0.05, float("nan")], [0.05, 1], 0.05, "0.05", [True], None])
def test_an_impossible_list_of_numbers_is_refused(value):
    with pytest.raises(ParameterError, match="margins"):
        MARGINS.check(value)


def test_a_list_of_numbers_from_a_command_line():
    assert MARGINS.check(from_text(MARGINS, "0.05,0.1")) == [0.05, 0.1]
    with pytest.raises(ParameterError, match="a list of numbers, each above 0 and below 1"):
        MARGINS.check(from_text(MARGINS, "0.05,high"))


def test_an_unknown_name_is_refused_with_the_close_one():
    with pytest.raises(ParameterError, match=r"no parameter 'confidnce'.*Did you mean 'confidence'"):
        checked(ALL, {"confidnce": 0.9}, study="s")


@pytest.mark.parametrize(("parameter", "value"), [(ARM, "reakt"), (ARMS, ["reakt"]), (ARMS, []), (ARMS, "react")])
def test_an_unknown_arm_is_refused(parameter, value):
    with pytest.raises(ParameterError, match="react, guarded"):
        parameter.check(value)


def test_a_missing_folder_is_refused(tmp_path):
    assert DATA.check(str(tmp_path)) == str(tmp_path)
    with pytest.raises(NotFoundError, match="no such folder"):
        DATA.check(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [(RUNS, "3", 3), (CONFIDENCE, "0.9", 0.9), (ARMS, "react, guarded", ["react", "guarded"]), (ARM, "react", "react")],
)
def test_text_from_a_command_line_becomes_a_value(parameter, text, value):
    assert from_text(parameter, text) == value


def test_text_that_is_no_number_is_refused_by_its_own_sentence():
    with pytest.raises(ParameterError, match="a number above 0 and below 1"):
        CONFIDENCE.check(from_text(CONFIDENCE, "high"))
    with pytest.raises(ParameterError, match="confidence"):
        CONFIDENCE.check(from_text(CONFIDENCE, "nan"))


def test_a_badly_declared_parameter_is_named():
    with pytest.raises(InputError, match="needs type, default and help"):
        Parameter.from_dict("x", {"type": "int"})
    with pytest.raises(InputError, match="allowed: int"):
        Parameter.from_dict("x", {"type": "complex", "default": 1, "help": "h"})


def test_c18_nan_infinity_and_none_are_refused_by_name_and_the_rest_keeps_its_type():
    """A margin left empty comes from a frame as NaN; a notebook that held it could not be opened again."""
    n = Parameter("n", "int", 20, "help", 1, 100)
    limit = Parameter("limit", "float", 0.5, "help", 0, 1, True)
    label = Parameter("baseline", "choice", "été — 100%", "help", allowed=("été — 100%", "b"))
    declared = {p.name: p for p in (limit, n, label)}
    for name, value in (
        ("limit", float("nan")),
        ("limit", float("inf")),
        ("limit", None),
        ("baseline", None),
        ("n", None),
    ):
        with pytest.raises(ParameterError, match=name):
            checked(declared, {name: value}, study="s")
    assert checked(declared, {"n": 20, "baseline": "été — 100%"}, study="s")["baseline"] == "été — 100%"
